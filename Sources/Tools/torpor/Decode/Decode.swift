import ArgumentParser
import GNSSProtocols
import Glibc
import LinuxHAL
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
        torpor decode --format csv --baud 9600 /dev/ttyAMA0
        torpor decode --follow growing.nmea

      What comes from a device or a pipe, and with --follow from a file that grows, is answered \
      epoch by epoch until an interrupt (Ctrl-C), which ends the output as it should be.
      """)

  @Option(
    help: ArgumentHelp(
      "tpv (gpsd's JSON; if not given), jsonl (JSON, units in the names), csv, or gpx (a track).",
      valueName: "format"))
  var format: EpochFormat?

  @Flag(help: "The same as --format jsonl.")
  var json = false

  @Flag(
    name: .shortAndLong,
    help: """
      Go on at the end of a file as it grows, also when it begins anew, and wait for a device that \
      goes away.
      """)
  var follow = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Speed of the serial line to set; as it is if not given.", valueName: "baud"),
    completion: .list(NamedSpeed.all.map { String($0.baud) }), transform: ArgumentValues.baud)
  var baud: Int?

  @OptionGroup var recorded: RecordingOptions

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file instead of standard output; it appears when it is complete.",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(name: .shortAndLong, help: "Do not tell on standard error what was met.")
  var quiet = false

  @Argument(
    help: ArgumentHelp("The recording, a device, or - for standard input.", valueName: "file"),
    completion: .file())
  var file: String

  mutating func validate() throws {
    if json, let format, format != .jsonl {
      throw ValidationError("--json is --format jsonl: give one of them")
    }
  }

  mutating func run() throws {
    try OutputPlaces.check([("--output", outputPath)], inputs: [("the recording", file)])
    if follow || baud != nil || LiveInput.isLive(file) { return try runLive() }
    var input = try InputFile(file)
    var result = try makeOutput()
    var recording = RecordingDecoder(dateGiven: recorded.date, recorded.checking)
    var writer = makeWriter()
    var progress = Progress(recordsOnTerminal: result.isTerminal)
    var block: [UInt8] = []
    while try input.read(into: &block) {
      recording.decode(block) { writer.write($0) }
      try result.write(writer.text.bytes)
      writer.text.removeAll()
      if progress.isDue { progress.show(Progress.share(input.bytesRead, of: input.length)) }
    }
    recording.finish { writer.write($0) }
    progress.clear()
    if let error = recording.inputError(of: input.name, reader: Decode.reader) { throw error }
    writer.finish()
    try result.write(writer.text.bytes)
    try result.finish()
    if !quiet { POSIX.tell(recording.report) }
  }

  /// Where to write; nil for standard output.
  private var outputPath: String? { output == "-" ? nil : output }

  /// How it reads a pipe.
  static let reader = "torpor decode -"

  private func makeOutput() throws -> Output {
    if let outputPath { return try Output(path: outputPath) }
    return Output()
  }

  private func makeWriter() -> EpochWriter {
    let name = file == "-" ? nil : file.split(separator: "/").last.map(String.init)
    return EpochWriter(json ? .jsonl : format ?? .tpv, name: name)
  }
}

extension Decode {
  /// Decodes what comes as it is made, epoch by epoch, until it ends or somebody interrupts.
  private func runLive() throws {
    var input = try LiveInput(file, follow: follow, baud: baud)
    var result = try makeOutput()
    input.reader = result.reader
    try StopSignals.install()
    var recording = RecordingDecoder(
      dateGiven: recorded.date, source: input.isDevice ? .device : .live, recorded.checking)
    var writer = makeWriter()
    var block: [UInt8] = []
    var end: End?
    var isDateTold = false
    while end == nil {
      do throws(CommandError) {
        let silence = recording.silence
        let event = try input.next(into: &block, pause: silence)
        switch event {
        case .bytes: recording.decode(block, at: POSIX.bootClock) { writer.write($0) }
        case .pause: recording.fallSilent(for: silence ?? .zero) { writer.write($0) }
        case .end, .gone, .back, .truncated, .replaced, .stopped, .readerGone:
          end = try self.end(event, input.name)
        }
      } catch { end = .failure(error) }
      try result.write(writer.text.bytes)
      writer.text.removeAll()
      try result.flush()
      if input.isDevice, recording.uncertain > 0, !isDateTold, !quiet {
        isDateTold = true
        POSIX.tell(
          "torpor: the receiver's date was put right, for it lies before the day of this build, or "
            + "cannot be checked; where it is right as it is, say so with --date")
      }
    }
    recording.finish { writer.write($0) }
    let inputError = inputError(recording, input)
    if inputError == nil {
      writer.finish()
      try result.write(writer.text.bytes)
      try result.finish()
      if !quiet { POSIX.tell(recording.report) }
    }
    switch end {
    case .failure(let error): throw error
    case .stopped(let number):
      if let inputError { POSIX.tell("torpor: \(inputError.message)") }
      Interrupts.end(number)
    case nil, .input: if let inputError { throw inputError }
    }
  }

  /// Why a live run ends.
  private enum End {
    case input
    case stopped(Int32)
    case failure(CommandError)
  }

  /// Tells what became of the input; nil where it goes on.
  private func end(_ event: LiveInput.Event, _ name: String) throws(CommandError) -> End? {
    switch event {
    case .bytes, .pause: return nil
    case .end: return .input
    case .stopped(let number): return .stopped(number)
    case .readerGone: return .input
    case .gone:
      guard follow else {
        throw CommandError(
          .io, "\(name) went away; is it still plugged in? With --follow it is waited for")
      }
      POSIX.tell("torpor: \(name) went away; waiting for it")
    case .back: POSIX.tell("torpor: \(name) is back")
    case .truncated: POSIX.tell("torpor: \(name) was cut; reading it from its start")
    case .replaced: POSIX.tell("torpor: \(name) is another file now; reading it from its start")
    }
    return nil
  }

  private func inputError(
    _ recording: borrowing RecordingDecoder, _ input: borrowing LiveInput
  ) -> CommandError? {
    if input.bytesRead == 0 {
      return CommandError(
        .data, "\(input.name) is empty: it should be \(InputFile.recording)")
    }
    let hint = input.isDevice ? "; is its speed right? --baud sets it" : ""
    return recording.inputError(of: input.name, reader: Decode.reader, hint: hint)
  }
}
