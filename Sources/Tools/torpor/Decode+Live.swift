import Glibc

extension Decode {
  /// Decodes what comes as it is made, epoch by epoch, until it ends or somebody interrupts.
  func runLive() throws {
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
        case .bytes: recording.decode(block, at: System.bootClock) { writer.write($0) }
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
        System.tell(
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
      if !quiet { System.tell(recording.report) }
    }
    switch end {
    case .failure(let error): throw error
    case .stopped(let number):
      if let inputError { System.tell("torpor: \(inputError.message)") }
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
      System.tell("torpor: \(name) went away; waiting for it")
    case .back: System.tell("torpor: \(name) is back")
    case .truncated: System.tell("torpor: \(name) was cut; reading it from its start")
    case .replaced: System.tell("torpor: \(name) is another file now; reading it from its start")
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
