import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Time to first fix and earliest time at which a distance can be travelled")
struct PlannerParametersTests {
  @Test(
    "The table interpolates linearly and is constant beyond its ends",
    arguments: [
      (nil, 30.0), (-1, 1), (0, 1), (5, 1), (10, 1), (15, 2), (20, 3), (20.000_001, 8), (40, 9),
      (60, 10), (1e9, 10),
    ] as [(Double?, Double)])
  func timeToFix(_ off: Double?, _ expected: Double) {
    var table = TimeToFixTable(cold: .seconds(30))
    #expect(table.expected(after: off.map { Interval(seconds: $0) }) == .seconds(30))
    table.append(off: .seconds(10), fix: .seconds(1))
    table.append(off: .seconds(20), fix: .seconds(3))
    table.append(off: .seconds(20), fix: .seconds(8))
    table.append(off: .seconds(60), fix: .seconds(10))
    let found = table.expected(after: off.map { Interval(seconds: $0) })
    #expect(abs(found.seconds - expected) < 1e-6)
  }

  @Test("A table works with one point and with all eight")
  func sizes() {
    var one = TimeToFixTable(cold: .seconds(30))
    one.append(off: .seconds(10), fix: .seconds(2))
    for off in [0, 10, 11, 1_000] as [Int64] {
      #expect(one.expected(after: .seconds(off)) == .seconds(2))
    }
    var full = TimeToFixTable(cold: .seconds(30))
    for i in 0..<8 { full.append(off: .seconds(Int64(i)), fix: .seconds(Int64(i * i))) }
    #expect(full.count == TimeToFixTable.capacity)
    for i in 0..<8 { #expect(full.expected(after: .seconds(Int64(i))) == .seconds(Int64(i * i))) }
    #expect(full.expected(after: .milliseconds(6_500)) == .milliseconds(42_500))
    #expect(full.expected(after: .seconds(9)) == .seconds(49))
  }

  @Test("A motion line is used if the deepest sleep wakes on it or no deep sleep exists")
  func motionLine() {
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 10, timeToFix: TimeToFixTable(cold: .seconds(30)))
    #expect(!parameters.usesMotionLine)
    parameters.hasMotionLine = true
    #expect(parameters.usesMotionLine)
    var deep = SleepParameters(
      state: .suspended, resumeTime: .zero, alarmResolution: .zero, minimumDuration: .zero,
      wakesOnPin: true,
      wakesOnBytes: false)
    parameters.deep = deep
    #expect(parameters.usesMotionLine)
    deep.wakesOnMotion = false
    parameters.deep = deep
    #expect(!parameters.usesMotionLine)
  }

  static func planner(speed: Double = 70, acceleration: Double = 3, poll: Interval = .zero)
    -> Planner
  {
    var parameters = PlannerTests.parameters()
    parameters.plausibleSpeed = speed
    parameters.plausibleAcceleration = acceleration
    parameters.minimumCheckInterval = poll
    return Planner(parameters)
  }

  /// Longest distance that can be travelled in `time`, integrated in small steps.
  static func farthest(_ time: Double, from start: Double, speed: Double, acceleration: Double)
    -> Double
  {
    let pieces = 20_000
    let dt = time / Double(pieces)
    var (v, path) = (min(start, speed), 0.0)
    for _ in 0..<pieces {
      let next = min(v + acceleration * dt, speed)
      path += (v + next) / 2 * dt
      v = next
    }
    return path
  }

  @Test(
    "DEF-18, DEF-21: the check falls on the earliest time that plausible motion covers the distance"
  )
  func kinematics() {
    for speed in [2.0, 15, 70] {
      for acceleration in [0.5, 3, 10] {
        let planner = Self.planner(speed: speed, acceleration: acceleration)
        for start in [0, 1, 1.4, speed / 2, speed, speed * 2] {
          for metres in [0.5, 5, 100, 816, 817, 850, 900, 1_000, 50_000] {
            let check = planner.distanceCheck(metresLeft: metres, speed: start, at: .boot).seconds
            let farthest = Self.farthest(
              check, from: start, speed: speed, acceleration: acceleration)
            // The check is neither late (unsafe) nor early (wasteful).
            #expect(abs(farthest - metres) < 1e-3 * metres + 1e-3, "\(start) \(metres) \(check)")
          }
        }
      }
    }
  }

  @Test("DEF-21: an unknown speed counts as the fastest, a negative one as zero")
  func oddSpeeds() {
    let planner = Self.planner()
    #expect(planner.distanceCheck(metresLeft: 700, speed: nil, at: .boot) == Instant(seconds: 10))
    #expect(planner.distanceCheck(metresLeft: 700, speed: 70, at: .boot) == Instant(seconds: 10))
    #expect(planner.distanceCheck(metresLeft: 700, speed: 900, at: .boot) == Instant(seconds: 10))
    #expect(
      planner.distanceCheck(metresLeft: 6, speed: -5, at: .boot)
        == planner.distanceCheck(metresLeft: 6, speed: 0, at: .boot))
    #expect(planner.distanceCheck(metresLeft: 6, speed: 0, at: .boot) == Instant(seconds: 2))
    #expect(
      planner.distanceCheck(metresLeft: 6, speed: 0, at: Instant(seconds: 40))
        == Instant(seconds: 42))
    #expect(
      planner.distanceCheck(metresLeft: .infinity, speed: 1, at: .boot) == .distantFuture)
    #expect(
      planner.distanceCheck(metresLeft: .greatestFiniteMagnitude, speed: 1, at: .boot)
        <= .distantFuture)
  }

  @Test("DEF-21: checks are at least the minimum interval apart")
  func minimumInterval() {
    let planner = Self.planner(poll: .seconds(5))
    #expect(planner.distanceCheck(metresLeft: 0, speed: 0, at: .boot) == Instant(seconds: 5))
    #expect(planner.distanceCheck(metresLeft: 6, speed: 0, at: .boot) == Instant(seconds: 5))
    #expect(planner.distanceCheck(metresLeft: 600, speed: 70, at: .boot) > Instant(seconds: 5))
  }
}
