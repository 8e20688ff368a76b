import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Off-time clock and movement planner")
struct MovementPlannerTests {
  @Test("Without a motion line the clock follows the time")
  func plain() {
    let clock = OffClock(
      offTime: 100, pauseLimit: 300, usesMotionLine: false, at: Instant(seconds: 10))
    for line in [MotionLine.absent, .still, .moving] {
      #expect(clock.end(line, at: Instant(seconds: 10)) == Instant(seconds: 110))
    }
  }

  @Test("While the motion line is still the clock stops, up to the pause limit")
  func still() {
    var clock = OffClock(offTime: 100, pauseLimit: 300, usesMotionLine: true, at: .boot)
    #expect(clock.end(.still, at: .boot) == Instant(seconds: 300))
    clock.advance(.still, until: Instant(seconds: 200))
    #expect(clock.end(.still, at: Instant(seconds: 200)) == Instant(seconds: 300))
    // Motion starts: the whole off time remains.
    #expect(clock.end(.moving, at: Instant(seconds: 200)) == Instant(seconds: 300))
    clock.advance(.moving, until: Instant(seconds: 240))
    #expect(clock.end(.moving, at: Instant(seconds: 240)) == Instant(seconds: 300))
    // Still again after 40 s of 100: the clock runs at half speed.
    #expect(clock.end(.still, at: Instant(seconds: 240)) == Instant(seconds: 360))
  }

  @Test("Motion shorter than three tenths of the off time counts as a false alarm")
  func falseAlarm() {
    var clock = OffClock(offTime: 100, pauseLimit: 300, usesMotionLine: true, at: .boot)
    clock.advance(.moving, until: Instant(seconds: 30))
    #expect(clock.end(.still, at: Instant(seconds: 30)) == Instant(seconds: 330))
    clock.advance(.moving, until: Instant(seconds: 31))
    #expect(clock.end(.still, at: Instant(seconds: 31)) == Instant(seconds: 31 + 69 * 2))
  }

  @Test("An expired clock is due now")
  func over() {
    var clock = OffClock(offTime: 10, pauseLimit: 300, usesMotionLine: false, at: .boot)
    clock.advance(.absent, until: Instant(seconds: 9.5))
    #expect(clock.end(.absent, at: Instant(seconds: 9.5)) == Instant(seconds: 10))
    clock.advance(.absent, until: Instant(seconds: 12))
    #expect(clock.end(.absent, at: Instant(seconds: 12)) == Instant(seconds: 12))
    #expect(OffClock().end(.still, at: Instant(seconds: 5)) == Instant(seconds: 5))
  }

  static func planner(
    _ bound: Double, speed: Double, line: MotionLine = .absent, fixes: Int = 30
  ) -> Double {
    var planner = MovementPlanner()
    planner.motionLineChanged(line, at: .boot)
    var now = 0.0
    var east = 0.0
    var off = 0.0
    for _ in 0..<fixes {
      planner.accept(
        fix(at: now, east: east, speed_mmps: Int32(speed * 1_000)), within: bound, accuracy: 3,
        MovementModelTests.receiver(MovementModelTests.steps), TimeToFixPredictor(),
        at: Instant(seconds: now))
      off = planner.startTime(within: bound, at: Instant(seconds: now)).seconds - now
      let cycle = max(1, off + 4)
      now += cycle
      east += speed * cycle
    }
    return off
  }

  @Test("An off time applies to bounds of at least its width, and not after expire()")
  func bounds() {
    var planner = MovementPlanner()
    planner.accept(
      fix(at: 0, speed_mmps: 0), within: 500, accuracy: 3,
      MovementModelTests.receiver(MovementModelTests.steps), TimeToFixPredictor(), at: .boot)
    let now = Instant(seconds: 1)
    let due = planner.startTime(within: 500, at: now)
    #expect(due > now && planner.startTime(within: 501, at: now) == due)
    #expect(planner.startTime(within: 499.9, at: now) == now)
    planner.expire()
    #expect(planner.startTime(within: 500, at: now) == now)
  }

  @Test("A faster device and a narrower bound shorten the off time")
  func speeds() {
    let walk = Self.planner(100, speed: 1.4)
    let ride = Self.planner(100, speed: 6)
    let drive = Self.planner(100, speed: 25)
    #expect(walk > 20 && walk < 75 && ride < walk && drive <= 3 && drive < ride)
    #expect(Self.planner(500, speed: 6) > 3 * ride)
  }

  @Test("The off time is at most three times the travel time of the bound at the reported speed")
  func cap() {
    for bound in [20.0, 50, 100, 200, 500, 3_000] {
      for speed in [1.0, 3, 10, 30, 80] {
        for fixes in [1, 2, 3, 4, 10] {
          let off = Self.planner(bound, speed: speed, fixes: fixes)
          let limit = (fixes <= 3 ? 1 : MovementTuning.travelLimit) * bound / speed
          #expect(off <= limit, "\(bound) m at \(speed) m/s, \(fixes) fixes")
        }
      }
    }
  }

  @Test(
    "A stationary device is checked after a minute or more, with a still motion line much later")
  func stationary() {
    let alone = Self.planner(100, speed: 0, fixes: 40)
    let line = Self.planner(100, speed: 0, line: .still, fixes: 40)
    #expect(alone > 60)
    #expect(line >= MovementTuning.minimumPauseLimit)
  }

  @Test("A still motion line keeps the receiver off for 5 minutes at first, later for 2 hours")
  func pauseLimits() {
    #expect(Self.planner(100, speed: 0, line: .still, fixes: 1) == 300)
    #expect(Self.planner(100, speed: 0, line: .still, fixes: 60) == 7_200)
  }
}
