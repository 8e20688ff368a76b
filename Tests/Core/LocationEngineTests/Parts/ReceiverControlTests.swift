import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

@Suite("Receiver control: mode, loss, drain, acquisition")
struct ReceiverControlTests {
  private static func setup(_ receiver: ReceiverSetup?) -> EngineSetup {
    var setup = EngineBench.setup()
    setup.receiver = receiver
    return setup
  }
  private let passive = ReceiverControlTests.setup(ReceiverSetup(family: .passive))
  private let ublox = ReceiverControlTests.setup(ReceiverSetup(family: .ubloxM10))
  private func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

  /// Passes a fix to the schedule.
  private func acceptFix(_ control: inout ReceiverControl, at now: Instant) {
    control.handle(
      .fix(accuracy: 2, measured: now, FixNeed()), passive.parameters, at: now)
  }

  @Test("the receiver is awake exactly in the modes that acquire or track")
  func awake() {
    var control = ReceiverControl(passive)
    #expect(control.mode == nil && !control.isAwake == true)
    let modes: [(ReceiverMode, Bool)] = [
      (.tracking, true), (.standby, false), (.powersave, true), (.off, false),
      (.batching(watermark: 5), true), (.tracking, true), (.off, false), (.standby, false),
    ]
    for (index, (mode, isAwake)) in modes.enumerated() {
      control.setMode(mode, at: at(Double(index)))
      #expect(control.mode == mode)
      #expect(control.isAwake == isAwake)
    }
  }

  @Test("an acquisition begins when the receiver wakes, not at a change between awake modes")
  func acquisition() {
    var control = ReceiverControl(passive)
    #expect(control.acquiringSince == nil)
    control.setMode(.tracking, at: at(5))
    #expect(control.acquiringSince == at(5))
    control.setMode(.powersave, at: at(6))
    #expect(control.acquiringSince == at(5))
    acceptFix(&control, at: at(8))
    #expect(control.acquiringSince == nil)
    control.setMode(.standby, at: at(9))
    #expect(control.acquiringSince == nil)
    control.setMode(.tracking, at: at(19))
    #expect(control.acquiringSince == at(19))
  }

  @Test("the time in standby counts from the command that ended the last awake mode")
  func standbyTime() {
    var control = ReceiverControl(passive)
    control.setMode(.standby, at: at(0))
    control.setMode(.tracking, at: at(1))
    #expect(control.standbyTime == nil)
    control.setMode(.standby, at: at(10))
    #expect(control.standbyTime == nil)
    control.setMode(.off, at: at(12))
    control.setMode(.standby, at: at(14))
    control.setMode(.tracking, at: at(25))
    #expect(control.standbyTime == .seconds(15))
    acceptFix(&control, at: at(26))
    #expect(control.standbyTime == nil)
    control.setMode(.off, at: at(30))
    control.setMode(.standby, at: at(31))
    control.setMode(.tracking, at: at(40))
    #expect(control.standbyTime == nil)
  }

  @Test("of a wake-up, a loss and a fix at the same time, the order counts")
  func sameTime() {
    let input = InputStage(passive)
    var control = ReceiverControl(passive)
    acceptFix(&control, at: at(5))
    control.setMode(.tracking, at: at(5))
    #expect(control.acquiringSince == at(5))
    acceptFix(&control, at: at(5))
    #expect(control.acquiringSince == nil)
    var isWithout = control.isWithoutFix(input, at: at(5))
    #expect(!isWithout)
    _ = control.lose()
    isWithout = control.isWithoutFix(input, at: at(5))
    #expect(isWithout)
    acceptFix(&control, at: at(5))
    isWithout = control.isWithoutFix(input, at: at(5))
    #expect(!isWithout)
    // A new start is a new acquisition; a loss before it no longer counts.
    _ = control.lose()
    control.setMode(.standby, at: at(5))
    control.setMode(.tracking, at: at(5))
    #expect(control.acquiringSince == at(5))
    control.handle(.drained, passive.parameters, at: at(5))
    #expect(control.acquiringSince == nil)
    isWithout = control.isWithoutFix(input, at: at(5))
    #expect(!isWithout)
  }

  @Test("a u-blox receiver that batches may hold fixes, so that reaching the mode ends no drain")
  func holdsFixes() {
    var setup = ublox
    setup.receiver?.batch = BatchSetup(capacity: 100)
    var control = ReceiverControl(setup)
    #expect(control.mayHoldFixes == false)
    control.expectBufferedFixes()
    #expect(control.mayHoldFixes == true)
    #expect(control.isIdle == false)
    control.requestDrain()
    #expect(control.apply(.reached(.tracking), head: 0, at: at(1)) == .none)
    #expect(control.drain.isRequested == true)
    #expect(control.apply(.drained, head: 0, at: at(2)) == .drainFinished)
    #expect(control.drain.isRequested == false)
    #expect(control.minimumEntryAge(.seconds(1)) == .zero)
  }

  @Test("no fix can come from a lost receiver, nor from a silent one that is needed")
  func unavailable() {
    var control = ReceiverControl(passive)
    let input = InputStage(passive)
    control.setMode(.tracking, at: at(5))
    var effects = Effects()
    _ = control.command(.goal(.tracking), at: at(5), &effects)
    var isUnavailable = [true, false].map {
      control.isUnavailable(isNeeded: $0, input, at: at(10))
    }
    #expect(isUnavailable == [false, false])
    isUnavailable = [true, false].map { control.isUnavailable(isNeeded: $0, input, at: at(10.1)) }
    #expect(isUnavailable == [true, false])
    _ = control.lose()
    isUnavailable = [true, false].map { control.isUnavailable(isNeeded: $0, input, at: at(6)) }
    #expect(isUnavailable == [true, true])
    #expect(control.isStreaming(at: at(6)) == false)
  }

  @Test("STD-10: without a fix since the last fix, the wake-up or unread input, the latest counts")
  func withoutFix() {
    var control = ReceiverControl(passive)
    var input = InputStage(passive)
    #expect(control.withoutFixSince(input) == nil)
    control.setMode(.tracking, at: at(5))
    #expect(control.withoutFixSince(input) == at(5))
    acceptFix(&control, at: at(7))
    #expect(control.withoutFixSince(input) == at(7))
    input.noteDiscarded(at: at(9))
    #expect(control.withoutFixSince(input) == at(9))
    control.setMode(.off, at: at(10))
    #expect(control.withoutFixSince(input) == nil)
  }

  @Test("an awake receiver is without a fix from its start or loss to its next fix")
  func isWithoutFix() {
    var control = ReceiverControl(passive)
    let input = InputStage(passive)
    let isIdle = control.isWithoutFix(input, at: at(1))
    #expect(!isIdle)
    control.setMode(.tracking, at: at(5))
    var isWithout = control.isWithoutFix(input, at: at(5))
    #expect(isWithout)
    acceptFix(&control, at: at(6))
    isWithout = control.isWithoutFix(input, at: at(6))
    #expect(!isWithout)
    #expect(control.lose() == .lost)
    isWithout = control.isWithoutFix(input, at: at(7))
    #expect(isWithout)
    acceptFix(&control, at: at(8))
    isWithout = control.isWithoutFix(input, at: at(13))
    #expect(!isWithout)
    // Longer than the silence timeout of 5 s.
    isWithout = control.isWithoutFix(input, at: at(13.1))
    #expect(isWithout)
  }

  @Test("DEF-43: a loss is reported once, ends a requested drain, and ends with new data")
  func loss() {
    var control = ReceiverControl(passive)
    control.requestDrain()
    #expect(control.lose() == .lost)
    #expect(control.isLost && !control.drain.isRequested == true)
    #expect(control.lose() == .none)
    var epoch = Epoch()
    epoch.origin = .batch
    _ = control.admit(epoch, at: at(5))
    #expect(control.isLost == true)
    epoch.origin = .live
    _ = control.admit(epoch, at: at(6))
    #expect(control.isLost == false)
  }

  @Test("a mode that was reached ends a loss, except off; a refusal ends it too")
  func observations() {
    let cases: [(DriverObservation, isLost: Bool, ReceiverControl.Change)] = [
      (.none, true, .none), (.reached(.off), true, .drainFinished),
      (.reached(.standby), false, .drainFinished), (.reached(.tracking), false, .drainFinished),
      (.recovered, false, .drainFinished), (.drained, true, .drainFinished), (.lost, true, .none),
      (.refused(.powersave), false, .drainFinished),
    ]
    for (observation, isLost, change) in cases {
      var control = ReceiverControl(passive)
      _ = control.lose()
      control.requestDrain()
      #expect(control.apply(observation, head: 0, at: at(2)) == change, "\(observation)")
      #expect(control.isLost == isLost, "\(observation)")
      let isRequested = control.drain.isRequested
      #expect(isRequested == (observation == .none), "\(observation)")
    }
  }

  @Test("a refused mode is not requested for a minute; reaching it or a recovery ends that")
  func refusals() {
    var control = ReceiverControl(ublox)
    func modes(_ now: Double) -> [Bool] {
      [control.mayBatch(at: at(now)), control.mayUseDutyCycle(at: at(now))]
    }
    #expect(modes(0) == [true, true])
    _ = control.apply(.refused(.batching(watermark: 9)), head: 0, at: at(10))
    #expect(modes(69.9) == [false, true] && modes(70) == [true, true])
    _ = control.apply(.refused(.powersave), head: 0, at: at(20))
    #expect(modes(30) == [false, false])
    _ = control.apply(.reached(.batching(watermark: 9)), head: 0, at: at(31))
    #expect(modes(31) == [true, false])
    _ = control.apply(.reached(.powersave), head: 0, at: at(32))
    #expect(modes(32) == [true, true])
    _ = control.apply(.refused(.powersave), head: 0, at: at(40))
    _ = control.apply(.refused(.batching(watermark: 9)), head: 0, at: at(40))
    _ = control.apply(.refused(.standby), head: 0, at: at(40))
    _ = control.apply(.recovered, head: 0, at: at(41))
    #expect(modes(41) == [true, true])
  }

  @Test("a lost receiver does not batch")
  func lostDoesNotBatch() {
    var control = ReceiverControl(ublox)
    #expect(control.mayBatch(at: at(1)) == true)
    _ = control.lose()
    #expect(control.mayBatch(at: at(1)) == false)
  }

  @Test("without a receiver nothing is commanded, and no fix can come")
  func absent() {
    var control = ReceiverControl(Self.setup(nil))
    var effects = Effects()
    #expect(control.command(.goal(.tracking), at: at(1), &effects) == .none)
    #expect(!effects.hasDriverActed)
    #expect(control.isPresent == false)
    #expect(control.isQuiescent && !control.isIdle && !control.mayHoldFixes == true)
    #expect(control.deadline == .distantFuture)
    let isUnavailable = control.isUnavailable(isNeeded: false, InputStage(passive), at: at(1))
    #expect(isUnavailable)
    #expect(control.nextReleasedEpoch() == nil)
  }

  @Test("DEF-43: a receiver without commands that is needed and silent for long is lost")
  func check() {
    var control = ReceiverControl(passive)
    let input = InputStage(passive)
    control.setMode(.tracking, at: at(5))
    var effects = Effects()
    _ = control.command(.goal(.tracking), at: at(5), &effects)
    #expect(control.planCheck(isNeeded: false, input, at: at(5)) == .distantFuture)
    let due = control.planCheck(isNeeded: true, input, at: at(5))
    #expect(due == at(65))
    let isEarly = control.isCheckDue(isNeeded: true, input, at: at(64.9))
    let isDue = control.isCheckDue(isNeeded: true, input, at: at(65))
    let isUnneeded = control.isCheckDue(isNeeded: false, input, at: at(65))
    #expect(!isEarly && isDue && !isUnneeded)
    let isSilent = [10, 10.1].map { control.isSilent(input, at: at($0)) }
    #expect(isSilent == [false, true])
  }

  @Test("DEF-43: a lost receiver that is needed is checked at the driver's next attempt")
  func lostCheck() {
    var control = ReceiverControl(ublox)
    let input = InputStage(ublox)
    var now = at(1)
    var effects = Effects()
    control.setMode(.tracking, at: now)
    _ = control.command(.goal(.tracking), at: now, &effects)
    var observation = DriverObservation.none
    for _ in 0..<200 where observation != .lost {
      now = max(now, control.deadline)
      effects = Effects()
      observation = control.command(.deadline, at: now, &effects)
    }
    #expect(observation == .lost)
    #expect(control.apply(.lost, head: 0, at: now) == .lost)
    let retry = control.deadline
    #expect(retry > now && retry < .distantFuture)
    #expect(control.planCheck(isNeeded: true, input, at: now) == retry)
    #expect(control.planCheck(isNeeded: true, input, at: retry) == .distantFuture)
    #expect(control.planCheck(isNeeded: false, input, at: now) == .distantFuture)
  }

  @Test("a driver's deadline waits for bytes that have just arrived, but not for ever")
  func overdue() {
    var control = ReceiverControl(ublox)
    #expect(control.mustHandleDeadline(lastByteTime: at(1), at: at(1)) == false)
    var effects = Effects()
    control.setMode(.tracking, at: at(1))
    _ = control.command(.goal(.tracking), at: at(1), &effects)
    let deadline = control.deadline
    #expect(deadline > at(1) && deadline < .distantFuture)
    let early = deadline - .milliseconds(1)
    #expect(control.mustHandleDeadline(lastByteTime: at(1), at: early) == false)
    let timeout = ublox.epochs.silenceTimeout
    #expect(control.mustHandleDeadline(lastByteTime: deadline, at: deadline) == false)
    let nearly = deadline + timeout - .milliseconds(1)
    #expect(control.mustHandleDeadline(lastByteTime: nearly, at: nearly) == false)
    let over = deadline + timeout
    #expect(control.mustHandleDeadline(lastByteTime: over, at: over) == true)
    #expect(control.mustHandleDeadline(lastByteTime: at(1), at: over) == true)
    // The postponement ends when the deadline moves.
    #expect(control.mustHandleDeadline(lastByteTime: deadline, at: deadline) == false)
    #expect(control.mustHandleDeadline(lastByteTime: early, at: early) == false)
    #expect(control.mustHandleDeadline(lastByteTime: over, at: over) == false)
  }
}
