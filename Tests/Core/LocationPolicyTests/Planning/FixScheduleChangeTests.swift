import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Changes before a scheduled fix")
struct FixScheduleChangeTests {
  typealias ScheduleBench = FixScheduleTests.ScheduleBench

  /// A bench after a failed search from a cold start.
  static func afterFailedSearch() -> ScheduleBench {
    let bench = ScheduleBench()
    bench.need = FixScheduleTests.need(at: 0)
    bench.plan(0)
    bench.plan(bench.schedule.wake.seconds)
    return bench
  }

  @Test("PWR-7: a new request shortens the pause after a failed search to an eighth, once")
  func requestDuringPause() {
    let bench = Self.afterFailedSearch()
    let end = bench.now
    #expect(bench.schedule.state == .backedOff && bench.schedule.wake == Instant(seconds: end + 60))
    bench.requestSearch(end + 1)
    bench.requestSearch(end + 5)
    #expect(bench.plan() == .backedOff)
    #expect(bench.schedule.wake == Instant(seconds: end + 7.5))
    #expect(bench.plan(end + 7.4) == .backedOff)
    #expect(bench.plan(end + 7.5) == .acquiring)
    bench.plan(bench.schedule.wake.seconds)
    let second = bench.now
    #expect(
      bench.schedule.wake == Instant(seconds: second + 120), "the next pause is longer")
    bench.requestSearch(second + 100)
    #expect(bench.plan() == .acquiring)
  }

  @Test("PWR-7: a request does not change a running search or a sleep")
  func requestDuringSearch() {
    let bench = ScheduleBench.warm()
    bench.need = FixScheduleTests.need(at: 1_000)
    bench.plan()
    let before = bench.schedule
    bench.requestSearch(bench.now + 1)
    #expect(bench.schedule == before)
    bench.plan(before.wake.seconds)
    let searching = bench.schedule
    bench.requestSearch(bench.now + 1)
    #expect(bench.schedule == searching)
  }

  @Test(
    "PWR-7: repeated requests without reception do not keep the receiver on, also if a search takes longer than a request",
    arguments: [28, 45])
  func repeatedRequests(cold: Int64) {
    let bench = ScheduleBench()
    bench.parameters.receiver.timeToFix = TimeToFixTable(cold: .seconds(cold))
    var searched = 0.0
    for second in 0..<3_600 {
      // Each call waits half a minute, and the next one follows immediately.
      bench.need = second % 31 == 30 ? FixNeed() : FixScheduleTests.need(at: Double(second))
      if second % 31 == 0 { bench.requestSearch(Double(second)) }
      bench.plan(Double(second))
      if bench.schedule.isOn { searched += 1 }
    }
    #expect(searched < 900, "\(searched) s of an hour")
    #expect(searched > 200)
    bench.need = FixNeed()
    #expect(bench.plan(3_600 + 1_800) == .idle)
    #expect(bench.schedule.wake == .distantFuture, "without a need a pause sets no wake time")
  }

  @Test("PWR-7: a search cancelled early causes no pause")
  func cancelledEarly() {
    let bench = ScheduleBench()
    bench.need = FixScheduleTests.need(at: 0)
    bench.plan(0)
    bench.need = FixNeed()
    #expect(bench.plan(28.1) == .idle)
    bench.need = FixScheduleTests.need(at: 0)
    #expect(bench.plan(29) == .acquiring)
    bench.need = FixNeed()
    #expect(bench.plan(29 + 28.2) == .backedOff)
    #expect(bench.schedule.wake == .distantFuture && !bench.schedule.isOn)
  }

  @Test("PWR-8: a failed search does not reset the time of the last fix")
  func lastFix() {
    let bench = ScheduleBench.warm()
    bench.need = FixNeed()
    bench.plan(28.2)
    for time in [7_000.0, 10_000] {
      bench.need = FixScheduleTests.need(at: time)
      bench.plan(time)
      bench.need = FixNeed()
      bench.plan(time + 1)
    }
    bench.need = FixScheduleTests.need(at: 14_428.2)
    bench.plan(14_000)
    // 14,400 s after the last fix an acquisition takes 28 s.
    #expect(bench.schedule.wake == Instant(seconds: 14_400))
  }

  @Test("PWR-8: a search after silence is no cold start and reads no ephemeris")
  func silence() {
    let bench = ScheduleBench.warm()
    bench.need = FixScheduleTests.need(at: 13_000)
    bench.plan()
    bench.plan(bench.schedule.wake.seconds)
    bench.fix(13_000)
    bench.need = FixScheduleTests.need(at: 13_001)
    bench.plan(13_001)
    #expect(bench.plan(13_010) == .acquiring)
    // 3 s × 2.7 × 2 + 10 s, after the start.
    #expect(bench.schedule.wake == Instant(seconds: 13_010 + 0.2 + 26.2))
    bench.fix(13_012)
    bench.need = FixScheduleTests.need(at: 13_200)
    #expect(bench.plan(13_013) == .tracking, "the ephemeris is due as before")
  }

  @Test("PWR-8: with the supply off, an earlier fix is planned with a cold start")
  func earlierNeedWhenOff() {
    let bench = ScheduleBench.warm()
    bench.parameters = FixScheduleTests.parameters(canSwitchOff: true)
    bench.need = FixScheduleTests.need(at: 20_000)
    bench.plan()
    #expect(bench.schedule.sleepMode == .off)
    bench.need = FixScheduleTests.need(at: 1_000)
    bench.plan(100)
    #expect(
      bench.schedule.sleepMode == .off && bench.schedule.wake == Instant(seconds: 1_000 - 28.2))
    #expect(bench.plan(971.8) == .acquiring)
    #expect(bench.schedule.wake == Instant(seconds: 971.8 + 120.2))
  }

  @Test("PWR-1: without a need a receiver that is off stays off; others go to standby")
  func idleSleepMode() {
    let bench = ScheduleBench.warm()
    bench.parameters = FixScheduleTests.parameters(canSwitchOff: true)
    bench.need = FixNeed()
    bench.plan()
    #expect(bench.schedule.state == .idle && bench.schedule.sleepMode == .standby)
    bench.need = FixScheduleTests.need(at: 20_000)
    bench.plan()
    bench.need = FixNeed()
    bench.plan(100)
    #expect(bench.schedule.state == .idle && bench.schedule.sleepMode == .off)
    bench.need = FixScheduleTests.need(at: 600)
    bench.plan(200)
    #expect(bench.schedule.sleepMode == .off && bench.schedule.wake == Instant(seconds: 600 - 28.2))
  }

  @Test("PWR-8: a receiver without standby is off without a need and after a failed search")
  func switchOffOnly() {
    let idle = ScheduleBench.warm()
    idle.parameters = FixScheduleTests.parameters(canStandby: false, canSwitchOff: true)
    idle.need = FixNeed()
    idle.plan()
    #expect(idle.schedule.sleepMode == .off)
    idle.need = FixScheduleTests.need(at: 1_000)
    idle.plan(100)
    #expect(idle.schedule.wake == Instant(seconds: 1_000 - 28.2), "the database is lost")
    let failed = ScheduleBench()
    failed.parameters = FixScheduleTests.parameters(canStandby: false, canSwitchOff: true)
    failed.need = FixScheduleTests.need(at: 0)
    failed.plan(0)
    failed.plan(failed.schedule.wake.seconds)
    #expect(failed.schedule.state == .backedOff && failed.schedule.sleepMode == .off)
  }

  @Test("A receiver without a sleep mode has never been off")
  func neverOff() {
    let bench = ScheduleBench.warm()
    bench.parameters = FixScheduleTests.parameters(canStandby: false)
    bench.need = FixNeed()
    bench.plan()
    #expect(bench.schedule.state == .idle && bench.schedule.sleepMode == .none)
    bench.fix(9_000)
    bench.need = FixScheduleTests.need(at: 9_001)
    #expect(bench.plan(9_001) == .acquiring)
    // 3 s × 2.7 × 2 + 10 s, after the start.
    #expect(bench.schedule.wake == Instant(seconds: 9_001 + 0.2 + 26.2))
  }

  @Test("PWR-7: a buffered fix ends a search and does not train the prediction")
  func drained() {
    let bench = ScheduleBench.warm()
    bench.need = FixScheduleTests.need(at: 200)
    bench.plan()
    bench.plan(196.8)
    #expect(bench.schedule.state == .acquiring)
    bench.drain(196.9)
    #expect(bench.schedule.state == .tracking && bench.schedule.predictor.scale == 1)
    bench.need = FixScheduleTests.need(at: 197)
    bench.plan(206.8)
    #expect(bench.schedule.state == .tracking, "the last fix is less than 10 s old")
    bench.drain(206.85)
    #expect(bench.plan(216.8) == .tracking)
    #expect(bench.plan(216.85) == .acquiring)
  }

  @Test("PWR-7: the prediction uses the fix time, not the time of reading")
  func readLate() {
    func scale(read: Double) -> Double {
      let bench = ScheduleBench.warm()
      bench.need = FixScheduleTests.need(at: 200)
      bench.plan()
      bench.plan(196.8)
      bench.fix(200, read: read)
      return bench.schedule.predictor.scale
    }
    #expect(scale(read: 200) == scale(read: 207))
    #expect(scale(read: 200) == 1)
  }

  @Test("PWR-7: no fix is held beyond the deadline of its need")
  func deadline() {
    func decision(until seconds: Double) -> FixSchedule.Decision {
      let bench = ScheduleBench()
      bench.need.add(due: .boot, accuracy: 20, until: Instant(seconds: seconds))
      bench.plan(0)
      return bench.fix(28, accuracy: 80)
    }
    #expect(decision(until: 29.9) == .use)
    #expect(decision(until: 30) == .hold)
  }

  @Test("PWR-1, PWR-8: a due ephemeris is completed before the sleep, within the hold limit")
  func held() {
    func bench(hold: Int64) -> ScheduleBench {
      let bench = ScheduleBench.warm()
      bench.parameters.receiver.ephemerisHoldLimit = .seconds(hold)
      bench.need = FixScheduleTests.need(at: 13_000)
      bench.plan()
      bench.plan(bench.schedule.wake.seconds)
      bench.fix(13_000)
      bench.plan(13_000)
      bench.need = FixNeed()
      return bench
    }
    let whole = bench(hold: 40)
    #expect(whole.plan(13_001) == .tracking && whole.schedule.wake == Instant(seconds: 13_030))
    #expect(whole.plan(13_029) == .tracking)
    #expect(whole.plan(13_030) == .idle)
    let short = bench(hold: 20)
    #expect(short.plan(13_001) == .tracking && short.schedule.wake == Instant(seconds: 13_020))
    #expect(short.plan(13_020) == .idle)
    let fresh = ScheduleBench.warm()
    fresh.need = FixNeed()
    #expect(fresh.plan(28.3) == .idle, "a fresh ephemeris is not read again")
  }

  @Test("PWR-7: the search timeout starts when no other demand keeps the receiver on")
  func timeoutStart() {
    let bench = ScheduleBench()
    bench.need = FixScheduleTests.need(at: 0)
    for time in [0.0, 300, 600] { bench.plan(time, isKeptOn: true) }
    #expect(bench.plan(601) == .acquiring)
    #expect(bench.schedule.wake == Instant(seconds: 600 + 120.2))
  }
}
