import ArgumentParser
import GNSSProtocols
import LocationTypes

/// `torpor decode`.
struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Turn what a receiver said into one record per epoch.",
    discussion: """
      Reads NMEA 0183 and UBX, mixed as they come, from a file or, with -, from a pipe; memory \
      stays small however long it is. Each epoch, that is each moment for which the receiver \
      worked out a position or failed to, gives one record with all that its messages say of it. \
      Lines that start with # are passed over, but for `# Date: 2014-04-03`, the day of the \
      recording, by which the century and GPS week rollovers are put right.

        torpor decode drive.nmea
        torpor decode --format gpx -o drive.gpx drive.nmea
        torpor decode --format csv - < /dev/ttyAMA0
      """)

  @Option(
    help: ArgumentHelp(
      "tpv (gpsd's JSON; if not given), jsonl (JSON, units in the names), csv, or gpx (a track).",
      valueName: "format"))
  var format: EpochFormat?

  @Flag(help: "The same as --format jsonl.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "The day of the recording, YYYY-MM-DD; wins over its `# Date:` line.", valueName: "day"),
    transform: Values.date)
  var date: CalendarDate?

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file instead of standard output; it appears when it is complete.",
      valueName: "file"))
  var output: String?

  @Flag(name: .shortAndLong, help: "Do not tell on standard error what was met.")
  var quiet = false

  @Argument(
    help: ArgumentHelp("The recording, or - for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  mutating func validate() throws {
    if json, let format, format != .jsonl {
      throw ValidationError("--json is --format jsonl: give one of them")
    }
  }

  mutating func run() throws {
    try OutputPlaces.check([("--output", output)], inputs: [("the recording", file)])
    var input = try InputFile(file)
    var result = try makeOutput()
    var recording = RecordingDecoder(dateGiven: date)
    var writer = EpochWriter(json ? .jsonl : format ?? .tpv)
    var progress = Progress(recordsOnTerminal: result.isTerminal)
    var block: [UInt8] = []
    while try input.read(into: &block) {
      recording.decode(block) { writer.write($0) }
      try result.write(writer.text.bytes)
      writer.text.removeAll()
      if input.isLive { try result.flush() }
      if progress.isDue { progress.show(Progress.share(input.bytesRead, of: input.length)) }
    }
    recording.finish { writer.write($0) }
    progress.clear()
    try check(recording, input.name)
    writer.finish()
    try result.write(writer.text.bytes)
    try result.finish()
    if !quiet { System.tell(recording.report) }
  }

  private func makeOutput() throws -> Output {
    if let output { return try Output(path: output) }
    return Output()
  }

  /// Refuses input in which there is nothing a receiver would say.
  private func check(_ recording: borrowing RecordingDecoder, _ name: String) throws {
    guard !recording.hasMessages else { return }
    throw CommandError(
      .data,
      """
      nothing in \(name) is NMEA or UBX \
      (\(Words.count(Int(clamping: recording.counters.skippedBytes))) bytes passed over): \
      it should be what a receiver sent, bytes untouched
      """)
  }
}
