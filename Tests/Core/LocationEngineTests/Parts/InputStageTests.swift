import GNSSProtocols
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Input stage: arrival times, pulses, waiting")
struct InputStageTests {
  private let setup = EngineBench.setup()
  private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

  /// A NAV-PVT frame, and the byte that completes its epoch.
  private func frame(_ seconds: Double) -> [UInt8] {
    var fix = Fix(acquired: .boot, coordinate: EngineBench.home)
    fix.horizontalAccuracy_mm = 2_000
    fix.utc = UTCTime(microseconds: EngineBench.base.microseconds + Int64(seconds * 1e6))
    var frame = FrameBuffer()
    frame.appendNavPVT(UBXSolution(fix))
    return (0..<frame.count).map { frame[$0] }
  }

  /// Receives bytes; returns the arrival time of each epoch, after the setting by the stage.
  private func epochs(_ input: inout InputStage, _ bytes: [UInt8], at now: Instant) -> [Instant] {
    input.receive(bytes.span, at: now)
    var times: [Instant] = []
    var epoch = Epoch()
    while let message = input.nextMessage() {
      guard input.add(message, at: now, into: &epoch) else { continue }
      input.setArrival(of: &epoch, at: now)
      times.append(epoch.fix?.acquired ?? .boot)
      if epoch.origin == .live { input.beginNextEpoch(at: now) }
    }
    return times
  }

  @Test("live bytes arrive when they are read")
  func live() {
    var input = InputStage(setup)
    #expect(epochs(&input, frame(1), at: at(101)) == [at(101)])
    #expect(input.lastByteTime == at(101) && input.lastEpochTime == at(101))
    #expect(epochs(&input, frame(2), at: at(102.3)) == [at(102.3)])
  }

  @Test("PWR-4: after bytes have woken the board, the next message is awaited for two intervals")
  func listening() {
    let end = at(50) + setup.parameters.fixInterval * 2
    var input = InputStage(setup)
    #expect(input.listeningEnd(at: at(50)) == nil)
    input.noteResume(byInput: true, at: at(50))
    #expect(input.discardTime == at(50))
    #expect(input.listeningEnd(at: end - .milliseconds(1)) == end)
    #expect(input.listeningEnd(at: end) == nil)
    #expect(epochs(&input, frame(51), at: at(51)) == [at(51)])
    #expect(input.listeningEnd(at: at(51)) == nil)
    // Bytes of another wake source are not awaited.
    input.noteResume(byInput: false, at: at(60))
    #expect(input.discardTime == at(60) && input.listeningEnd(at: at(60)) == nil)
  }

  @Test("of buffered messages one per fix interval is assumed, and none in the future")
  func buffered() {
    var input = InputStage(setup)
    #expect(epochs(&input, frame(1), at: at(101)) == [at(101)])
    input.setBuffering(true, at: at(101))
    #expect(epochs(&input, frame(2) + frame(3), at: at(104)) == [at(102), at(103)])
    #expect(epochs(&input, frame(4) + frame(5), at: at(104.5)) == [at(104), at(104.5)])
    // They were read; what follows without buffering is live again.
    input.setBuffering(false, at: at(104.5))
    #expect(epochs(&input, frame(6), at: at(106)) == [at(106)])
  }

  @Test("buffering that begins long after the last epoch counts from its beginning")
  func bufferingAfterPause() {
    var input = InputStage(setup)
    #expect(epochs(&input, frame(1), at: at(101)) == [at(101)])
    input.setBuffering(true, at: at(150))
    #expect(epochs(&input, frame(51), at: at(153)) == [at(151)])
    var prompt = InputStage(setup)
    #expect(epochs(&prompt, frame(1), at: at(101)) == [at(101)])
    prompt.setBuffering(true, at: at(102))
    #expect(epochs(&prompt, frame(2), at: at(104)) == [at(102)])
  }

  @Test("bytes right after a full chunk of buffered bytes belong to them")
  func continued() {
    var input = InputStage(setup)
    #expect(epochs(&input, frame(1), at: at(101)) == [at(101)])
    input.setBuffering(true, at: at(101))
    let bytes = frame(2) + frame(3) + frame(4)
    let first = Array(bytes.prefix(ByteChunk.capacity))
    #expect(first.count == ByteChunk.capacity)
    let times = epochs(&input, first, at: at(104))
    input.setBuffering(false, at: at(104))
    let rest = epochs(&input, Array(bytes.dropFirst(first.count)), at: at(104.005))
    #expect(times + rest == [at(102), at(103), at(104)])
  }

  @Test("STD-7: a pulse belongs to one live epoch after it, and to no buffered message")
  func pulse() {
    var input = InputStage(setup)
    func pulse(of utc: Double, received: Double) -> Instant? {
      let utc = UTCTime(microseconds: Int64(utc * 1e6))
      return input.takePulse(of: utc, received: at(received), at: at(received))?.time
    }
    #expect(pulse(of: 4, received: 5) == nil)
    input.recordPulse(at: at(4))
    #expect(pulse(of: 4, received: 3.9) == nil, "the epoch before the pulse")
    #expect(pulse(of: 4, received: 4.5) == at(4))
    #expect(pulse(of: 4, received: 4.5) == nil)
    input.recordPulse(at: at(6))
    input.setBuffering(true, at: at(6))
    _ = epochs(&input, frame(6), at: at(7))
    #expect(pulse(of: 6, received: 7) == nil)
    #expect(pulse(of: 7, received: 8) == nil)
  }

  @Test("STD-7: a pulse is kept for its fix if the one before the whole second arrives after it")
  func pulseBetweenFixes() {
    var input = InputStage(setup)
    func pulse(of utc: Double, received: Double) -> EpochTime.Pulse? {
      let utc = UTCTime(microseconds: Int64((utc * 1e6).rounded()))
      return input.takePulse(of: utc, received: at(received), at: at(received))
    }
    for second in [10.0, 11] {
      input.recordPulse(at: at(second))
      #expect(pulse(of: second - 0.1, received: second + 0.05) == nil)
      #expect(
        pulse(of: second, received: second + 0.15)
          == EpochTime.Pulse(time: at(second), utc: UTCTime(microseconds: Int64(second * 1e6))))
    }
    // The fix of the whole second is lost: its pulse is not that of the next second.
    input.recordPulse(at: at(12))
    #expect(pulse(of: 12.1, received: 12.25) == nil)
    #expect(pulse(of: 13, received: 13.15) == nil)
  }

  @Test("an open frame is closed after a silence, not before")
  func close() {
    var input = InputStage(setup)
    #expect(input.closeTime == nil)
    input.receive(Array(frame(1).dropLast(3)).span, at: at(10))
    #expect(input.nextMessage() == nil)
    #expect(input.isMidEpoch == true)
    let closeTime = input.closeTime ?? .boot
    #expect(closeTime > at(10) && closeTime < at(12))
    let timeout = EpochAssembler.messageTimeout
    #expect(input.finishMessage(at: at(10) + timeout - .milliseconds(1)) == nil)
    _ = input.finishMessage(at: at(10) + timeout)
    #expect(input.isMidEpoch == false)
    #expect(input.closeTime == nil)
  }

  @Test("the time of discarded input is kept")
  func discarded() {
    var input = InputStage(setup)
    #expect(input.discardTime == .boot)
    input.noteDiscarded(at: at(9))
    #expect(input.discardTime == at(9))
  }
}
