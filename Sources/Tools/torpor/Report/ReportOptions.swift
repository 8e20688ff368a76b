import ArgumentParser
import LocationSimulation
import LocationTypes

/// Options for the HTML report of a run, and for running from a battery.
struct ReportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a report of the run to this file, an HTML page with map, power, fixes and energy.",
      valueName: "file"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Report the life of this battery: 3000mAh@3.7V, or 11.1Wh; full at the start, or charged as "
        + "given with --charge.",
      valueName: "battery"),
    transform: { try Battery($0) })
  var battery: Battery?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Simulate the battery of --battery with this charge at the start: as it discharges, services "
        + "are reduced according to the profile's [battery] table.",
      valueName: "percent"),
    transform: ArgumentValues.charge)
  var charge: Double?

  mutating func validate() throws {
    if report == "-" { throw ValidationError("--report writes a file; give it a name") }
    if charge != nil, battery == nil {
      throw ValidationError(
        "--charge needs a battery; add --battery with its energy, such as 11.1Wh")
    }
    if battery != nil, report == nil, charge == nil {
      throw ValidationError(
        "--battery is only used in a report; add --report FILE, or simulate it with --charge 100")
    }
  }
}

/// Collects the records of a run and writes the report to its file.
final class ReportFile {
  private var output: Output
  private var page: ReportPage

  /// Opens the output, so that a file that cannot be created is reported before the run.
  init(path: String, _ page: ReportPage) throws {
    output = try Output(path: path)
    self.page = page
  }

  /// Adds the next record of the run.
  func add(_ record: TraceRecord) { page.samples.add(record) }

  /// Writes the report and replaces the file atomically.
  ///
  /// - Throws: As ``Output/finish()``; an existing file then remains unchanged.
  func commit(
    _ summary: TraceSummary, _ boundResult: (summary: OptimumComparison, errors: BoundTally)?
  ) throws {
    page.summary = summary
    page.boundResult = boundResult
    page.samples.finish(at: .boot + summary.duration)
    try output.write(page.bytes)
    try output.finish()
  }
}
