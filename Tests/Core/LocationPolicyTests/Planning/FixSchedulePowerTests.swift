import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Receiver duty cycle for single fixes")
struct FixSchedulePowerTests {
  /// 30 mW tracking, 10 mW in its duty cycle; a need at 0 s.
  static func bench(_ powersave_mW: Double? = 10, accuracy: Double = 20)
    -> FixScheduleTests.ScheduleBench
  {
    let bench = FixScheduleTests.ScheduleBench()
    bench.parameters.receiver.powersave_mW = powersave_mW
    bench.need = FixScheduleTests.need(at: 0, accuracy: accuracy)
    return bench
  }

  /// The same after its cold start, with the next need in `seconds`.
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

  @Test("PWR-8: reading the ephemeris needs full power; tracking afterwards uses the duty cycle")
  func cold() {
    let bench = Self.bench()
    #expect(bench.plan(0) == .acquiring && !bench.schedule.usesDutyCycle)
    bench.fix(28.2)
    #expect(bench.plan() == .tracking && bench.schedule.usesDutyCycle)
  }

  @Test("PWR-1: the duty cycle makes staying on cheaper and moves the break-even time")
  func breakEven() {
    // The break-even time is 3.3 s at 30 mW and 9.7 s at 10 mW.
    #expect(Self.warm(next: 9).schedule.state == .tracking)
    #expect(Self.warm(next: 9).schedule.usesDutyCycle)
    #expect(Self.warm(next: 10).schedule.state == .asleep)
    #expect(Self.warm(nil, next: 9).schedule.state == .asleep)
    #expect(Self.warm(accuracy: 9, next: 9).schedule.state == .asleep)
    #expect(Self.warm(nil, next: 3).schedule.state == .tracking)
    #expect(!Self.warm(nil, next: 3).schedule.usesDutyCycle)
  }

  @Test("PWR-1: the duty cycle is used if 10 m is accurate enough and it saves power")
  func accuracy() {
    #expect(Self.warm(accuracy: 10, next: 3).schedule.usesDutyCycle)
    #expect(!Self.warm(accuracy: 9.99, next: 3).schedule.usesDutyCycle)
    #expect(!Self.warm(30, next: 3).schedule.usesDutyCycle)
    #expect(Self.warm(29.9, next: 3).schedule.usesDutyCycle)
  }

  @Test("PWR-6: a start selects the duty cycle; a search at full power keeps its mode")
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

  @Test("PWR-1: it is not used while a client needs every fix, and used again afterwards")
  func liveClient() {
    let bench = Self.warm(next: 3)
    bench.plan(29, isKeptOn: true)
    #expect(!bench.schedule.usesDutyCycle)
    bench.plan(30)
    #expect(bench.schedule.state == .tracking && bench.schedule.usesDutyCycle)
  }

  @Test("PWR-8: an ephemeris that expires soon is read at full power")
  func ephemeris() {
    // Read at 28.2 s, valid for 14,400 s, renewed in the last eighth.
    let early = Self.warm(next: 12_500)
    #expect(early.plan(12_528) == .acquiring && early.schedule.usesDutyCycle)
    let late = Self.warm(next: 12_700)
    #expect(late.plan(12_728) == .acquiring && !late.schedule.usesDutyCycle)
    late.fix(12_731.2)
    late.need = FixScheduleTests.need(at: 12_900)
    #expect(late.plan() == .tracking && !late.schedule.usesDutyCycle, "it is being completed")
    late.fix(12_755)
    #expect(late.plan(12_762) == .asleep)
    #expect(late.plan(12_899) == .acquiring && late.schedule.usesDutyCycle)
  }

  @Test("The planner uses the mode of the schedule and wakes on input as for any fix")
  func plan() {
    let bench = Self.warm(next: 3)
    var input = PlannerInput()
    input.schedule = bench.schedule
    let now = Instant(seconds: bench.now)
    var planner = Planner(bench.parameters)
    var plan = planner.plan(input, isInhibited: false, at: now)
    #expect(plan.receiver == .powersave && plan.wakesOnInput && plan.board == .idle)
    planner.parameters.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(1), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    plan = planner.plan(input, isInhibited: false, at: now)
    #expect(plan.receiver == .powersave && plan.wakesOnInput && plan.board == .idle)
    input.schedule = Self.warm(nil, next: 3).schedule
    #expect(planner.plan(input, isInhibited: false, at: now).receiver == .tracking)
    input.demand.add(.live(isWatched: false))
    #expect(planner.plan(input, isInhibited: false, at: now).receiver == .tracking)
  }

  @Test("The cost of one more second on is that of the duty cycle")
  func movement() {
    func off(_ parameters: ReceiverParameters, speed: Double) -> [Double] {
      var model = MovementModel(within: 50, hasMotionLine: false)
      return (0..<20).map { second in
        let sample = MovementHistory.Sample(
          time: Double(second) * 4, east: Double(second) * 4 * speed, north: 0, speed: speed,
          accuracy: 2.5, isMoving: true, motionSeconds: 0, secondsSinceLineChange: 0)
        return model.offTime(
          after: sample, parameters, TimeToFixPredictor(), MovementTuning(hasMotionLine: false))
      }
    }
    let full = MovementModelTests.receiver(MovementModelTests.steps)
    var saving = full
    saving.powersave_mW = 5
    #expect(off(full, speed: 12).last == 2)
    #expect(off(saving, speed: 12).last == 0)
    #expect(off(saving.withDutyCycle(false), speed: 12) == off(full, speed: 12))
    // If the receiver sleeps longer, the duty cycle changes nothing: right after a fix it is not
    // active yet.
    saving.powersave_mW = 15
    for speed in [0.5, 1, 1.5, 2, 3] {
      #expect(off(full, speed: speed).allSatisfy { $0 > 2 })
      #expect(off(saving, speed: speed) == off(full, speed: speed))
    }
    saving.powersave_mW = 50
    #expect(off(saving, speed: 12) == off(full, speed: 12), "a higher power is not used")
  }
}
