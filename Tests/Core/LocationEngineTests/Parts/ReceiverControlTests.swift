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

  @Test("the time off is known after standby only, and counts from the standby command")
  func offTime() {
    var control = ReceiverControl(passive)
    control.setMode(.tracking, at: at(1))
    #expect(control.previousOffTime == nil)
    control.setMode(.standby, at: at(10))
    #expect(control.previousOffTime == nil)
    control.setMode(.tracking, at: at(25))
    #expect(control.previousOffTime == .seconds(15))
    control.setMode(.off, at: at(30))
    control.setMode(.standby, at: at(31))
    control.setMode(.tracking, at: at(40))
    #expect(control.previousOffTime == nil)
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
    #expect(control.lose(at: at(7)) == .lost)
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
    #expect(control.lose(at: at(3)) == .lost)
    #expect(control.isLost && !control.drain.isRequested == true)
    #expect(control.lose(at: at(4)) == .none)
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
      _ = control.lose(at: at(1))
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
    _ = control.lose(at: at(1))
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

  @Test("a driver's deadline waits for bytes that have just arrived, but not for ever")
  func overdue() {
    var control = ReceiverControl(ublox)
    #expect(control.takesDeadline(lastByteTime: at(1), at: at(1)) == false)
    var effects = Effects()
    control.setMode(.tracking, at: at(1))
    _ = control.command(.goal(.tracking), at: at(1), &effects)
    let deadline = control.deadline
    #expect(deadline > at(1) && deadline < .distantFuture)
    let early = deadline - .milliseconds(1)
    #expect(control.takesDeadline(lastByteTime: at(1), at: early) == false)
    let timeout = ublox.epochs.silenceTimeout
    #expect(control.takesDeadline(lastByteTime: deadline, at: deadline) == false)
    let nearly = deadline + timeout - .milliseconds(1)
    #expect(control.takesDeadline(lastByteTime: nearly, at: nearly) == false)
    let over = deadline + timeout
    #expect(control.takesDeadline(lastByteTime: over, at: over) == true)
    #expect(control.takesDeadline(lastByteTime: at(1), at: over) == true)
  }
}
