import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("The receiver's own duty cycle, where single fixes are wanted")
struct FixSchedulePowerTests {
  /// 30 mW tracking, 10 mW in its duty cycle; a need at 0 s.
  static func bench(_ powersave_mW: Double? = 10, accuracy: Double = 20)
    -> FixScheduleTests.ScheduleBench
  {
    let bench = FixScheduleTests.ScheduleBench()
    bench.figures.receiver.powersave_mW = powersave_mW
    bench.need = FixScheduleTests.need(at: 0, accuracy: accuracy)
    return bench
  }

  /// The same after its cold start, its next need in so many seconds.
  static func warm(
    _ powersave_mW: Double? = 10, accuracy: Double = 20, next seconds: Double
  ) -> FixScheduleTests.ScheduleBench {
    let bench = bench(powersave_mW, accuracy: accuracy)
    bench.plan(0)
    bench.fix(28.2)
    bench.need = FixScheduleTests.need(at: 28.2 + seconds, accuracy: accuracy)
    bench.plan()
    return bench
  }

  @Test("PWR-8: a search that reads the ephemeris is at full power; who stays on afterwards saves")
  func cold() {
    let bench = Self.bench()
    #expect(bench.plan(0) == .acquiring && !bench.schedule.usesDutyCycle)
    bench.fix(28.2)
    #expect(bench.plan() == .tracking && bench.schedule.usesDutyCycle)
  }

  @Test("PWR-1: it changes what is cheaper: staying on costs less, and so lasts longer")
  func breakEven() {
    // 30 mW are worth a rest of 3.3 s, 10 mW one of 9.7 s.
    #expect(Self.warm(next: 9).schedule.state == .tracking)
    #expect(Self.warm(next: 9).schedule.usesDutyCycle)
    #expect(Self.warm(next: 10).schedule.state == .asleep)
    #expect(Self.warm(nil, next: 9).schedule.state == .asleep)
    #expect(Self.warm(accuracy: 9, next: 9).schedule.state == .asleep)
    #expect(Self.warm(nil, next: 3).schedule.state == .tracking)
    #expect(!Self.warm(nil, next: 3).schedule.usesDutyCycle)
  }

  @Test("PWR-1: it is used where ten metres are good enough, and where it takes less")
  func accuracy() {
    #expect(Self.warm(accuracy: 10, next: 3).schedule.usesDutyCycle)
    #expect(!Self.warm(accuracy: 9.99, next: 3).schedule.usesDutyCycle)
    #expect(!Self.warm(30, next: 3).schedule.usesDutyCycle)
    #expect(Self.warm(29.9, next: 3).schedule.usesDutyCycle)
  }

  @Test("PWR-6: a start brings it; a search that began at full power is not told otherwise")
  func start() {
    let bench = Self.warm(next: 100)
    #expect(bench.schedule.state == .asleep)
    #expect(bench.plan(125) == .acquiring && bench.schedule.usesDutyCycle)
    bench.need = FixScheduleTests.need(at: 128.2, accuracy: 5)
    #expect(bench.plan(126) == .acquiring && !bench.schedule.usesDutyCycle)
    bench.need = FixScheduleTests.need(at: 128.2, accuracy: 20)
    #expect(bench.plan(127) == .acquiring && !bench.schedule.usesDutyCycle)
    bench.fix(128.2)
    #expect(bench.plan() == .tracking && bench.schedule.usesDutyCycle)
  }

  @Test("PWR-1: beside a client that wants every fix it is not used, and again without")
  func beside() {
    let bench = Self.warm(next: 3)
    bench.plan(29, isOnAnyway: true)
    #expect(!bench.schedule.usesDutyCycle)
    bench.plan(30)
    #expect(bench.schedule.state == .tracking && bench.schedule.usesDutyCycle)
  }

  @Test("PWR-8: an ephemeris that would soon be too old is read at full power")
  func ephemeris() {
    // It was new at 28.2 s, lives 14,400 s and is renewed in the last eighth.
    let early = Self.warm(next: 12_500)
    #expect(early.plan(12_528) == .acquiring && early.schedule.usesDutyCycle)
    let late = Self.warm(next: 12_700)
    #expect(late.plan(12_728) == .acquiring && !late.schedule.usesDutyCycle)
    late.fix(12_731.2)
    late.need = FixScheduleTests.need(at: 12_900)
    #expect(late.plan() == .tracking && !late.schedule.usesDutyCycle, "it is completed")
    late.fix(12_755)
    #expect(late.plan(12_762) == .asleep)
    #expect(late.plan(12_899) == .acquiring && late.schedule.usesDutyCycle)
  }

  @Test("the planner asks for what the schedule chose, and listens to it as to any fix")
  func plan() {
    let bench = Self.warm(next: 3)
    var situation = PlannerInput()
    situation.schedule = bench.schedule
    let now = Instant(seconds: bench.now)
    var planner = Planner(bench.figures)
    var plan = planner.plan(situation, isInhibited: false, at: now)
    #expect(plan.receiver == .powersave && plan.wakesOnInput && plan.board == .idle)
    planner.parameters.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(1), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    plan = planner.plan(situation, isInhibited: false, at: now)
    #expect(plan.receiver == .powersave && plan.wakesOnInput && plan.board == .idle)
    situation.schedule = Self.warm(nil, next: 3).schedule
    #expect(planner.plan(situation, isInhibited: false, at: now).receiver == .tracking)
    situation.demand.add(.live(isWatched: false))
    #expect(planner.plan(situation, isInhibited: false, at: now).receiver == .tracking)
  }

  @Test("staying on one more second is weighed at what it costs in the duty cycle")
  func movement() {
    func off(_ figures: ReceiverParameters, speed: Double) -> [Double] {
      var model = MovementModel(within: 50, hasMotionLine: false)
      return (0..<20).map { second in
        let seen = MovementHistory.Sample(
          time: Double(second) * 4, east: Double(second) * 4 * speed, north: 0, speed: speed,
          accuracy: 2.5, isMoving: true, motionSeconds: 0, secondsSinceLineChange: 0)
        return model.offTime(after: seen, figures, TimeToFixPredictor())
      }
    }
    let full = MovementModelTests.receiver(MovementModelTests.steps)
    var saving = full
    saving.powersave_mW = 5
    #expect(off(full, speed: 12).last == 2)
    #expect(off(saving, speed: 12).last == 0)
    #expect(off(saving.withDutyCycle(false), speed: 12) == off(full, speed: 12))
    // Who sleeps all the same gains nothing: after a fix the cycle has not begun yet.
    saving.powersave_mW = 15
    for speed in [0.5, 1, 1.5, 2, 3] {
      #expect(off(full, speed: speed).allSatisfy { $0 > 2 })
      #expect(off(saving, speed: speed) == off(full, speed: speed))
    }
    saving.powersave_mW = 50
    #expect(off(saving, speed: 12) == off(full, speed: 12), "what takes more is not used")
  }
}
