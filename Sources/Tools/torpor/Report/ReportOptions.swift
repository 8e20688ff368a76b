import ArgumentParser
import LocationSimulation
import LocationTypes

/// The page of a run.
struct ReportOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write the run to this file as one page for a browser: map, power, fixes, energy.",
      valueName: "file"),
    completion: .file(extensions: ["html"]))
  var report: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Tell in the report how long this battery lasts: 3000mAh@3.7V, or 11.1Wh; full, or as "
        + "--charge says.",
      valueName: "battery"),
    transform: { try Battery($0) })
  var battery: Battery?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Run from the battery of --battery, so full when it begins: promises are given up as the "
        + "profile says.",
      valueName: "percent"),
    transform: ArgumentValues.charge)
  var charge: Double?

  mutating func validate() throws {
    if report == "-" { throw ValidationError("--report writes a file; give it a name") }
    if charge != nil, battery == nil {
      throw ValidationError("--charge is the battery's; add --battery 11.1Wh, or what it holds")
    }
    if battery != nil, report == nil, charge == nil {
      throw ValidationError(
        "--battery is told in the report; add --report FILE, or run from it with --charge 100")
    }
  }
}

/// A page on its way to a file.
final class ReportFile {
  private var output: Output
  private var page: ReportPage

  /// Begins; a file that cannot be made is refused before anything runs.
  init(path: String, _ page: ReportPage) throws {
    output = try Output(path: path)
    self.page = page
  }

  /// Takes the next record of the run.
  func add(_ record: TraceRecord) { page.sketch.add(record) }

  /// Writes it and puts it in its place.
  ///
  /// - Throws: What goes wrong; then what was there before stays.
  func commit(
    _ summary: TraceSummary, _ promise: (summary: PromiseSummary, errors: BoundTally)?
  ) throws {
    page.summary = summary
    page.promise = promise
    page.sketch.finish(at: .boot + summary.duration)
    try output.write(page.bytes)
    try output.finish()
  }
}
