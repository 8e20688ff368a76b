import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Receiver schedule for single fixes")
struct FixScheduleTests {
  /// 30 mW awake, 0.1 mW asleep, a start of 0.2 s, 3 s to a fix, 28 s from a cold start.
  static func parameters(canStandby: Bool = true, canSwitchOff: Bool = false) -> PlannerParameters {
    var table = TimeToFixTable(cold: .seconds(28))
    table.append(off: .zero, fix: .seconds(3))
    table.append(off: .seconds(7_200), fix: .seconds(3))
    table.append(off: .seconds(14_400), fix: .seconds(28))
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 10, timeToFix: table)
    parameters.canStandby = canStandby
    parameters.canSwitchOff = canSwitchOff
    return parameters
  }

  static func need(at seconds: Double, accuracy: Double = 20) -> FixNeed {
    var need = FixNeed()
    need.add(due: Instant(seconds: seconds), accuracy: accuracy)
    return need
  }

  /// A schedule with its parameters, the current need and a clock in seconds.
  final class ScheduleBench {
    var schedule = FixSchedule()
    var parameters = FixScheduleTests.parameters()
    var now = 0.0
    var need = FixNeed()

    @discardableResult
    func plan(_ time: Double? = nil, isKeptOn: Bool = false) -> FixSchedule.State {
      if let time { now = time }
      schedule.handle(.plan(need, isKeptOn: isKeptOn), parameters, at: Instant(seconds: now))
      return schedule.state
    }

    @discardableResult
    func fix(
      _ time: Double, read: Double? = nil, accuracy: Double = 5
    ) -> FixSchedule.Decision {
      now = read ?? time
      return schedule.handle(
        .fix(accuracy: accuracy, measured: Instant(seconds: time), need), parameters,
        at: Instant(seconds: now))
    }

    func drain(_ time: Double) {
      now = time
      schedule.handle(.drained, parameters, at: Instant(seconds: now))
    }

    func requestSearch(_ time: Double) {
      now = time
      schedule.handle(.searchRequested, parameters, at: Instant(seconds: now))
    }

    /// Cold start at 0 s, fix at 28.2 s, ephemeris read.
    static func warm() -> ScheduleBench {
      let bench = ScheduleBench()
      bench.need = FixScheduleTests.need(at: 0)
      bench.plan(0)
      bench.fix(28.2)
      bench.plan()
      return bench
    }
  }

  @Test("PWR-1: without a need the receiver is not on")
  func idle() {
    let bench = ScheduleBench()
    #expect(bench.plan(0) == .idle)
    #expect(!bench.schedule.isOn && bench.schedule.wake == .distantFuture)
    bench.need = Self.need(at: 0)
    #expect(bench.plan(1) == .acquiring)
    bench.need = FixNeed()
    #expect(bench.plan(2) == .idle)
    #expect(!bench.schedule.isOn)
  }

  @Test("The receiver starts early enough to have the fix when it is due")
  func early() {
    let bench = ScheduleBench.warm()
    bench.need = Self.need(at: 128.2)
    #expect(bench.plan() == .asleep)
    #expect(bench.schedule.sleepMode == .standby)
    // 3 s to the fix and 0.2 s to start.
    #expect(bench.schedule.wake == Instant(seconds: 125))
    #expect(bench.plan(124.9) == .asleep)
    #expect(bench.plan(125) == .acquiring)
    #expect(bench.fix(128.2) == .use)
    #expect(bench.schedule.state == .tracking)
  }

  @Test("The receiver stays on if a new start would cost more, and sleeps otherwise")
  func breakEven() {
    // Tracking takes 30 mW; a start 0.2 s and 3 s of 30 mW: 96 mJ, as much as 3.2 s of tracking.
    for (due, state) in [
      (3.0, FixSchedule.State.tracking), (3.2, .tracking), (3.5, .asleep), (60, .asleep),
    ] {
      let bench = ScheduleBench.warm()
      bench.need = Self.need(at: bench.now + due)
      #expect(bench.plan() == state, "due in \(due) s")
    }
  }

  @Test("A need due now or within half an interval keeps the receiver on")
  func dueNow() {
    for ahead in [-5, 0, 0.4, 0.5] {
      let bench = ScheduleBench.warm()
      bench.need = Self.need(at: bench.now + ahead)
      #expect(bench.plan() == .tracking)
    }
  }

  @Test("An earlier need makes the wake time earlier, a later one later")
  func changes() {
    let bench = ScheduleBench.warm()
    bench.need = Self.need(at: 1_000)
    bench.plan()
    bench.need = Self.need(at: 500)
    bench.plan(100)
    #expect(bench.schedule.wake == Instant(seconds: 496.8))
    bench.need = Self.need(at: 2_000)
    bench.plan(200)
    #expect(bench.schedule.wake == Instant(seconds: 1_996.8))
  }

  @Test("The supply is switched off if that is cheaper, which loses the navigation database")
  func switchedOff() {
    let bench = ScheduleBench.warm()
    bench.parameters = Self.parameters(canSwitchOff: true)
    // 0.1 mW saved for 1,000 s is 100 mJ, a cold start costs 750 mJ more.
    bench.need = Self.need(at: bench.now + 1_000)
    bench.plan()
    #expect(bench.schedule.sleepMode == .standby)
    let other = ScheduleBench.warm()
    other.parameters = Self.parameters(canStandby: false, canSwitchOff: true)
    other.need = Self.need(at: other.now + 1_000)
    other.plan()
    #expect(other.schedule.sleepMode == .off)
    #expect(other.schedule.wake == Instant(seconds: other.now + 1_000 - 28.2))
    let withBackup = ScheduleBench.warm()
    withBackup.parameters = Self.parameters(canStandby: false, canSwitchOff: true)
    withBackup.parameters.receiver.keepsDataWhenOff = true
    withBackup.need = Self.need(at: withBackup.now + 1_000)
    withBackup.plan()
    #expect(withBackup.schedule.wake == Instant(seconds: withBackup.now + 1_000 - 3.2))
  }

  @Test("PWR-8: a navigation database saved on the host takes time to save and restore")
  func savedDatabase() {
    func bench(_ restoring: Interval) -> ScheduleBench {
      let bench = ScheduleBench.warm()
      bench.parameters = Self.parameters(canSwitchOff: true)
      bench.parameters.receiver.keepsDataWhenOff = true
      bench.parameters.receiver.saveTime = .seconds(5)
      bench.parameters.receiver.restoreTime = restoring
      return bench
    }
    // 5 s at 30 mW to save, and a search 5 s longer: the energy of 3,000 s of standby.
    for (seconds, mode) in [(2_000.0, ReceiverSleepMode.standby), (3_400, .off)] {
      let bench = bench(.seconds(5))
      bench.need = Self.need(at: bench.now + seconds)
      bench.plan()
      #expect(bench.schedule.sleepMode == mode, "\(seconds)")
    }
    let cut = bench(.seconds(5))
    cut.need = Self.need(at: cut.now + 5_000)
    cut.plan()
    #expect(cut.schedule.wake == Instant(seconds: cut.now + 5_000 - 8.2))
    // A restore slower than a cold start costs no more than the cold start.
    let slow = bench(.seconds(60))
    slow.parameters.canStandby = false
    slow.need = Self.need(at: slow.now + 5_000)
    slow.plan()
    #expect(slow.schedule.wake == Instant(seconds: slow.now + 5_000 - 28.2))
    // A search during the restore does not train the prediction.
    let trained = bench(.seconds(5))
    let before = trained.schedule.predictor
    trained.need = Self.need(at: trained.now + 5_000)
    trained.plan()
    trained.plan(trained.schedule.wake.seconds)
    #expect(trained.schedule.state == .acquiring)
    trained.fix(trained.now + 8.2)
    #expect(abs(trained.schedule.predictor.scale - before.scale) < 0.01)
  }

  @Test("PWR-8: a receiver in standby cannot save its database and is not switched off")
  func standbyIsKept() {
    let bench = ScheduleBench.warm()
    bench.parameters = Self.parameters(canSwitchOff: true)
    bench.parameters.receiver.keepsDataWhenOff = true
    bench.parameters.receiver.saveTime = .seconds(1)
    bench.need = FixNeed()
    bench.plan(bench.now + 60)
    #expect(bench.schedule.state == .idle && bench.schedule.sleepMode == .standby)
    bench.need = Self.need(at: bench.now + 7_000)
    bench.plan()
    #expect(bench.schedule.state == .asleep && bench.schedule.sleepMode == .standby)
  }

  @Test("A receiver without standby and supply switch stays on")
  func noSleepMode() {
    let bench = ScheduleBench.warm()
    bench.parameters = Self.parameters(canStandby: false)
    bench.need = Self.need(at: bench.now + 5_000)
    #expect(bench.plan() == .tracking)
  }

  @Test("PWR-7: a first fix is held until its accuracy stabilises or its time is over")
  func refining() {
    let bench = ScheduleBench.warm()
    bench.need = Self.need(at: 100, accuracy: 20)
    bench.plan()
    bench.plan(96.8)
    #expect(bench.fix(100, accuracy: 80) == .hold)
    #expect(bench.fix(101, accuracy: 50) == .hold)
    #expect(bench.fix(102, accuracy: 20) == .use)
    #expect(bench.fix(103, accuracy: 90) == .use)
    let steady = ScheduleBench()
    steady.need = Self.need(at: 0, accuracy: 20)
    steady.plan(0)
    #expect(steady.fix(28, accuracy: 60) == .hold)
    #expect(steady.fix(29, accuracy: 58) == .use)
    let slow = ScheduleBench()
    slow.need = Self.need(at: 0, accuracy: 20)
    slow.plan(0)
    for (time, accuracy) in [(28, 900.0), (29, 700), (30, 500), (31, 400), (32, 300)] {
      #expect(slow.fix(Double(time), accuracy: accuracy) == .hold)
    }
    #expect(slow.fix(33, accuracy: 200) == .use)
  }

  @Test("PWR-7: a failed search ends and is retried with back-off")
  func backOff() {
    let bench = ScheduleBench()
    bench.need = Self.need(at: 0)
    bench.plan(0)
    var pauses: [Double] = []
    for _ in 0..<8 {
      bench.plan(bench.schedule.wake.seconds)
      #expect(bench.schedule.state == .backedOff && !bench.schedule.isOn)
      pauses.append((bench.schedule.wake.seconds - bench.now).rounded())
      #expect(bench.plan(bench.schedule.wake.seconds - 0.1) == .backedOff)
      #expect(bench.plan(bench.schedule.wake.seconds) == .acquiring)
    }
    #expect(pauses == [60, 120, 240, 480, 960, 1_800, 1_800, 1_800])
    bench.fix(bench.now + 20)
    bench.need = Self.need(at: bench.now)
    bench.plan()
    // A receiver that becomes silent searches again, starting with a short pause.
    bench.plan(bench.now + 10)
    #expect(bench.schedule.state == .acquiring)
    bench.plan(bench.schedule.wake.seconds)
    #expect(bench.schedule.wake.seconds - bench.now == 60)
  }

  @Test(
    "PWR-7: a search times out after twice the 90th percentile and 10 s, or the profile's limit")
  func limit() {
    let cold = ScheduleBench()
    cold.need = Self.need(at: 0)
    cold.plan(0)
    #expect(cold.schedule.wake == Instant(seconds: 120.2))
    let bench = ScheduleBench.warm()
    bench.need = Self.need(at: 128.2)
    bench.plan()
    bench.plan(125)
    // 3 s × 2.7 × 2 + 10 s, after the start.
    #expect(bench.schedule.wake == Instant(seconds: 125 + 0.2 + 26.2))
  }

  @Test("PWR-7: failures never train the prediction, nor does the first fix; slow searches do")
  func training() {
    let bench = ScheduleBench.warm()
    #expect(bench.schedule.predictor.scale == 1)
    bench.need = Self.need(at: 200)
    bench.plan()
    bench.plan(196.8)
    bench.plan(196.8 + 30)
    #expect(bench.schedule.state == .backedOff && bench.schedule.predictor.scale == 1)
    var slow = TimeToFixPredictor()
    let receiver = Self.parameters().receiver
    slow.update(off: .seconds(60), acquisition: .seconds(30), receiver)
    #expect(slow.scale == 1)
    for _ in 0..<40 { slow.update(off: .seconds(60), acquisition: .seconds(7), receiver) }
    #expect(slow.scale > 1.9 && slow.scale <= 2)
    for _ in 0..<60 { slow.update(off: .seconds(60), acquisition: .seconds(300), receiver) }
    #expect(slow.scale <= TimeToFixPredictor.maximumScale && slow.scale > 3.9)
    for _ in 0..<90 { slow.update(off: .seconds(60), acquisition: .zero, receiver) }
    #expect(slow.scale >= 1 / TimeToFixPredictor.maximumScale && slow.scale < 0.3)
  }

  @Test("PWR-8: an ephemeris that expires soon is read again before the receiver sleeps")
  func renewal() {
    let bench = ScheduleBench.warm()
    bench.need = Self.need(at: 13_000)
    bench.plan()
    bench.plan(bench.schedule.wake.seconds)
    bench.fix(13_000)
    bench.need = Self.need(at: 13_100)
    #expect(bench.plan() == .tracking)
    bench.fix(13_015)
    #expect(bench.plan() == .tracking)
    bench.fix(13_030)
    #expect(bench.plan() == .asleep)
  }

  @Test("The schedule decides nothing while another demand keeps the receiver on")
  func keptOn() {
    let bench = ScheduleBench()
    bench.plan(0, isKeptOn: true)
    #expect(bench.schedule.isOn && bench.schedule.wake == .distantFuture)
    bench.fix(30)
    bench.need = Self.need(at: 1_000)
    bench.plan(31, isKeptOn: true)
    #expect(bench.schedule.isOn)
    #expect(bench.plan(32) == .asleep)
  }
}
