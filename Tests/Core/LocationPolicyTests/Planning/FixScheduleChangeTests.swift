import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("What changes on the way to a fix")
struct FixScheduleChangeTests {
  typealias ScheduleBench = FixScheduleTests.ScheduleBench

  /// A bench that has searched in vain, from the cold.
  static func inVain() -> ScheduleBench {
    let bench = ScheduleBench()
    bench.need = FixScheduleTests.need(at: 0)
    bench.plan(0)
    bench.plan(bench.schedule.wake.seconds)
    return bench
  }

  @Test("PWR-7: a new reason cuts the pause after a search in vain to an eighth, once")
  func urged() {
    let bench = Self.inVain()
    let end = bench.now
    #expect(bench.schedule.state == .backedOff && bench.schedule.wake == Instant(seconds: end + 60))
    bench.urge(end + 1)
    bench.urge(end + 5)
    #expect(bench.plan() == .backedOff)
    #expect(bench.schedule.wake == Instant(seconds: end + 7.5))
    #expect(bench.plan(end + 7.4) == .backedOff)
    #expect(bench.plan(end + 7.5) == .acquiring)
    bench.plan(bench.schedule.wake.seconds)
    let second = bench.now
    #expect(
      bench.schedule.wake == Instant(seconds: second + 120), "the next pause is the longer one")
    bench.urge(second + 100)
    #expect(bench.plan() == .acquiring)
  }

  @Test("PWR-7: one that searches or rests is not hurried")
  func notUrged() {
    let bench = ScheduleBench.warm()
    bench.need = FixScheduleTests.need(at: 1_000)
    bench.plan()
    let before = bench.schedule
    bench.urge(bench.now + 1)
    #expect(bench.schedule == before)
    bench.plan(before.wake.seconds)
    let searching = bench.schedule
    bench.urge(bench.now + 1)
    #expect(bench.schedule == searching)
  }

  @Test("PWR-7: who asks again and again under a roof does not keep the receiver on")
  func askedAgain() {
    let bench = ScheduleBench()
    var searched = 0.0
    for second in 0..<3_600 {
      // Each call waits half a minute, and the next one follows at once.
      bench.need = second % 30 == 29 ? FixNeed() : FixScheduleTests.need(at: Double(second))
      if second % 30 == 0 { bench.urge(Double(second)) }
      bench.plan(Double(second))
      if bench.schedule.isOn { searched += 1 }
    }
    #expect(searched < 900, "\(searched) s of an hour")
    #expect(searched > 200)
    bench.need = FixNeed()
    #expect(bench.plan(3_600 + 1_800) == .idle)
    #expect(bench.schedule.wake == .distantFuture, "a pause wakes nobody who needs no fix")
  }

  @Test("PWR-7: a search that was called off early leaves no pause")
  func calledOff() {
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

  @Test("PWR-8: a search in vain does not make a receiver forget when it had its last fix")
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
    // 14,400 s after its last fix it needs 28 s.
    #expect(bench.schedule.wake == Instant(seconds: 14_400))
  }

  @Test("PWR-8: a silence on the way is no cold start: it reads no ephemeris")
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

  @Test("PWR-8: once the supply is cut, a nearer fix is reckoned with a cold start")
  func nearerAfterCut() {
    let bench = ScheduleBench.warm()
    bench.figures = FixScheduleTests.figures(canCut: true)
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

  @Test("PWR-1: with no need a receiver that is cut off stays so, and one that is not stands by")
  func idleRest() {
    let bench = ScheduleBench.warm()
    bench.figures = FixScheduleTests.figures(canCut: true)
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

  @Test("PWR-8: one that can only be cut off is, with no need and after a search in vain")
  func onlyCut() {
    let idle = ScheduleBench.warm()
    idle.figures = FixScheduleTests.figures(canStandby: false, canCut: true)
    idle.need = FixNeed()
    idle.plan()
    #expect(idle.schedule.sleepMode == .off)
    idle.need = FixScheduleTests.need(at: 1_000)
    idle.plan(100)
    #expect(idle.schedule.wake == Instant(seconds: 1_000 - 28.2), "what it knew is lost")
    let vain = ScheduleBench()
    vain.figures = FixScheduleTests.figures(canStandby: false, canCut: true)
    vain.need = FixScheduleTests.need(at: 0)
    vain.plan(0)
    vain.plan(vain.schedule.wake.seconds)
    #expect(vain.schedule.state == .backedOff && vain.schedule.sleepMode == .off)
  }

  @Test("one that nothing puts to rest has never been off")
  func neverOff() {
    let bench = ScheduleBench.warm()
    bench.figures = FixScheduleTests.figures(canStandby: false)
    bench.need = FixNeed()
    bench.plan()
    #expect(bench.schedule.state == .idle && bench.schedule.sleepMode == .none)
    bench.fix(9_000)
    bench.need = FixScheduleTests.need(at: 9_001)
    #expect(bench.plan(9_001) == .acquiring)
    // 3 s × 2.7 × 2 + 10 s, after the start.
    #expect(bench.schedule.wake == Instant(seconds: 9_001 + 0.2 + 26.2))
  }

  @Test("PWR-7: what comes out of a buffer ends a search and teaches nothing")
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
    #expect(bench.schedule.state == .tracking, "it has told a fix less than 10 s ago")
    bench.drain(206.85)
    #expect(bench.plan(216.8) == .tracking)
    #expect(bench.plan(216.85) == .acquiring)
  }

  @Test("PWR-7: what is learned is when the fix was made, however late it is read")
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

  @Test("PWR-7: nothing is held back for longer than those who wait for it do")
  func until() {
    func verdict(until seconds: Double) -> FixSchedule.Decision {
      let bench = ScheduleBench()
      bench.need.add(due: .boot, accuracy: 20, until: Instant(seconds: seconds))
      bench.plan(0)
      return bench.fix(28, accuracy: 80)
    }
    #expect(verdict(until: 29.9) == .use)
    #expect(verdict(until: 30) == .hold)
  }

  @Test(
    "PWR-1, PWR-8: an ephemeris that is due is completed before the receiver rests, in its time")
  func held() {
    func bench(hold: Int64) -> ScheduleBench {
      let bench = ScheduleBench.warm()
      bench.figures.receiver.ephemerisHoldLimit = .seconds(hold)
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
    #expect(fresh.plan(28.3) == .idle, "what was read just now is not read again")
  }

  @Test("PWR-7: patience begins when the last who kept it on anyway is gone")
  func patience() {
    let bench = ScheduleBench()
    bench.need = FixScheduleTests.need(at: 0)
    for time in [0.0, 300, 600] { bench.plan(time, isOnAnyway: true) }
    #expect(bench.plan(601) == .acquiring)
    #expect(bench.schedule.wake == Instant(seconds: 600 + 120.2))
  }
}
