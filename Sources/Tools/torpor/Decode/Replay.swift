import ArgumentParser
import BoardProfiles
import LocationSimulation
import LocationTypes

/// `torpor replay`: runs a recording through the service's engine with one client.
struct Replay: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Run a recording through the service's engine, in the recording's time.",
    discussion: """
      A background client requests deferred updates, and requests them again after each end of a \
      deferral. Each delivery is printed with its time in the recording; the run itself takes \
      seconds at most. Without --distance and --timeout, only a full cache flushes.

        torpor replay drive.nmea --timeout 600
        torpor replay drive.nmea --distance 5km --board myboard.toml --json
      """)

  @OptionGroup var board: BoardOption
  @OptionGroup var deferral: DeferralOptions
  @OptionGroup var printing: PrintingOptions

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Number of cached fixes at which the client receives them; the profile's if not given.",
      valueName: "fixes"),
    transform: ArgumentValues.capacity)
  var capacity: Int?

  @OptionGroup var recordingOptions: RecordingOptions

  @Argument(
    help: ArgumentHelp("The recording, or - for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  func run() throws {
    try OutputPaths.check(
      [("--trace", printing.trace)],
      inputs: [("the recording", file), ("the profile", board.path)])
    let profile = try board.profile()
    var input = try InputFile(file)
    let bytes = try input.readAll()
    let scan = RecordingScan(
      bytes, date: recordingOptions.date, interval: profile.receiver?.fixInterval ?? .seconds(1),
      lineSpeed: UInt32(clamping: profile.receiver?.lineSpeed_baud ?? 115_200),
      recordingOptions.decoderOptions)
    guard scan.epochs > 0 else { throw emptyError(bytes, input.name) }
    var report = try RunReport(printing)
    report.writeHeadline(
      "\(input.name): \(HumanFormat.count(scan.epochs, of: "epoch")), \(HumanFormat.duration(scan.end - .boot)); "
        + deferral.text)
    var session = SimulationRun(profile, deferral.script)
    session.deferralLimit = capacity
    let result = session.replay(
      scan, progress: { report.updateProgress(to: $0) }, sink: { report.add($0) })
    try report.finish(result.summary)
    try RunCheck.check(result)
  }

  /// The error for input without an epoch: that of `torpor decode` if it rejects the input.
  private func emptyError(_ bytes: [UInt8], _ name: String) -> CommandError {
    var recording = RecordingDecoder(
      dateGiven: recordingOptions.date, recordingOptions.decoderOptions)
    recording.decode(bytes) { _ in }
    recording.finish { _ in }
    return recording.inputError(of: name, pipeCommand: "torpor replay -")
      ?? CommandError(
        .data,
        """
        there is no epoch in \(name); show its content with \
        `torpor decode --format jsonl \(file == "-" ? file : file.shellQuoted)`
        """)
  }
}
