import ArgumentParser
import GNSSProtocols
import Glibc
import LocationTypes

/// `torpor decode`: decodes a recording or live input into one record per epoch. Options, input and output are here;
/// ``RecordingDecoder`` decodes, ``EpochWriter`` formats.
struct Decode: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Decode the output of a receiver into one record per epoch.",
    discussion: """
      Reads NMEA 0183 and UBX, in any mixture, from a file or, with -, from a pipe; memory use \
      does not depend on the length. Each epoch, that is each time at which the receiver computed \
      a position or failed to, gives one record with the data of all its messages. Lines that \
      start with # are ignored, except `# Date: 2014-04-03`, the day of the recording, which is \
      used to correct the century and GPS week rollovers.

        torpor decode drive.nmea
        torpor decode --format gpx -o drive.gpx drive.nmea
        torpor decode --format csv --baud 9600 /dev/ttyAMA0
        torpor decode --follow growing.nmea

      Input from a device or a pipe, and with --follow from a growing file, is decoded epoch by \
      epoch until it ends or an interrupt (Ctrl-C), which completes the output.
      """)

  @Option(
    help: ArgumentHelp(
      "tpv (gpsd's JSON, the default), jsonl (JSON, units in the names), csv, or gpx (a track).",
      valueName: "format"))
  var format: EpochFormat?

  @Flag(help: "The same as --format jsonl.")
  var json = false

  @Flag(
    name: .shortAndLong,
    help: """
      Continue at the end of a file as it grows, also after it is truncated or replaced, and wait \
      for a device that is disconnected.
      """)
  var follow = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Set the speed of the serial line; unchanged if not given.", valueName: "baud"),
    completion: .list(ArgumentValues.lineSpeeds.map { String($0) }), transform: ArgumentValues.baud)
  var baud: Int?

  @OptionGroup var recordingOptions: RecordingOptions

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp(
      "Write to this file instead of standard output; the file appears when it is complete.",
      valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(
    name: .shortAndLong, help: "Do not print the counts of epochs and messages on standard error.")
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
    try OutputPaths.check([("--output", outputPath)], inputs: [("the recording", file)])
    if follow || baud != nil || LiveInput.isLive(file) { return try runLive() }
    var input = try InputFile(file)
    var result = try makeOutput()
    var recording = RecordingDecoder(
      dateGiven: recordingOptions.date, recordingOptions.decoderOptions)
    var writer = makeWriter()
    var progress = Progress(recordsOnTerminal: result.isTerminal)
    var block: [UInt8] = []
    while try input.read(into: &block) {
      recording.decode(block) { writer.write($0) }
      try result.write(writer.output.bytes)
      writer.output.removeAll()
      if progress.isDue { progress.show(Progress.text(input.bytesRead, of: input.length)) }
    }
    recording.finish { writer.write($0) }
    progress.clear()
    if let error = recording.inputError(of: input.name, pipeCommand: Decode.pipeCommand) {
      throw error
    }
    writer.finish()
    try result.write(writer.output.bytes)
    try result.finish()
    if !quiet { POSIX.printError(recording.report) }
  }

  /// Path of the output file; nil for standard output.
  private var outputPath: String? { output == "-" ? nil : output }

  /// Command line that reads a pipe, for suggestions in messages.
  static let pipeCommand = "torpor decode -"

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
  /// Decodes live input epoch by epoch until it ends or a signal arrives.
  private func runLive() throws {
    var input = try LiveInput(file, follow: follow, baud: baud)
    var result = try makeOutput()
    input.outputPipe = result.outputPipe
    try StopSignals.install()
    var recording = RecordingDecoder(
      dateGiven: recordingOptions.date, source: input.isDevice ? .device : .live,
      recordingOptions.decoderOptions)
    var writer = makeWriter()
    var block: [UInt8] = []
    var end: EndReason?
    var isDateReported = false
    while end == nil {
      do throws(CommandError) {
        let silence = recording.silenceTimeout
        let event = try input.next(into: &block, timeout: silence)
        switch event {
        case .bytes: recording.decode(block, at: POSIX.bootClock) { writer.write($0) }
        case .timeout: recording.handleSilence(for: silence ?? .zero) { writer.write($0) }
        case .end, .disconnected, .reconnected, .truncated, .replaced, .stopped, .outputClosed:
          end = try self.endReason(event, input.name)
        }
      } catch { end = .failure(error) }
      try result.write(writer.output.bytes)
      writer.output.removeAll()
      try result.flush()
      if input.isDevice, recording.uncertain > 0, !isDateReported, !quiet {
        isDateReported = true
        POSIX.printError(
          "torpor: the receiver's date is before the build date of this program and was corrected, "
            + "or it cannot be checked; if it is right, confirm it with --date")
      }
    }
    recording.finish { writer.write($0) }
    let inputError = inputError(recording, input)
    if inputError == nil {
      writer.finish()
      try result.write(writer.output.bytes)
      try result.finish()
      if !quiet { POSIX.printError(recording.report) }
    }
    switch end {
    case .failure(let error): throw error
    case .stopped(let number):
      if let inputError { POSIX.printError("torpor: \(inputError.message)") }
      SignalCleanup.removeAllAndRaise(number)
    case nil, .endOfInput: if let inputError { throw inputError }
    }
  }

  /// Reason for which a live run ends.
  private enum EndReason {
    case endOfInput
    case stopped(Int32)
    case failure(CommandError)
  }

  /// Prints a message about a changed input, and returns why the run ends; nil if it continues.
  ///
  /// - Throws: ``CommandError`` with code 74 if a device was disconnected and is not followed.
  private func endReason(_ event: LiveInput.Event, _ name: String) throws(CommandError)
    -> EndReason?
  {
    switch event {
    case .bytes, .timeout: return nil
    case .end, .outputClosed: return .endOfInput
    case .stopped(let number): return .stopped(number)
    case .disconnected:
      guard follow else {
        throw CommandError(
          .io, "\(name) was disconnected; check its plug. With --follow, the command waits for it")
      }
      POSIX.printError("torpor: \(name) was disconnected; waiting for it")
    case .reconnected: POSIX.printError("torpor: \(name) is connected again")
    case .truncated: POSIX.printError("torpor: \(name) was truncated; reading it from its start")
    case .replaced:
      POSIX.printError("torpor: \(name) was replaced by another file; reading that from its start")
    }
    return nil
  }

  private func inputError(
    _ recording: borrowing RecordingDecoder, _ input: borrowing LiveInput
  ) -> CommandError? {
    if input.bytesRead == 0 {
      return CommandError(
        .data, "\(input.name) is empty; expected \(InputFile.recordingDescription)")
    }
    let hint = input.isDevice ? "; check the speed of the line, which --baud sets" : ""
    return recording.inputError(of: input.name, pipeCommand: Decode.pipeCommand, hint: hint)
  }
}
