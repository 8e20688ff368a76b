import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Time to first fix, and when a distance can have been travelled")
struct PlannerFiguresTests {
  @Test(
    "between the points lie straight lines, beyond them the ends",
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

  @Test("a table of one point says that, and a full one all eight")
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

  @Test("a motion line counts where the deepest sleep hears it, or there is none")
  func motionLine() {
    var figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 10, timeToFix: TimeToFixTable(cold: .seconds(30)))
    #expect(!figures.usesMotionLine)
    figures.hasMotionLine = true
    #expect(figures.usesMotionLine)
    var deep = SleepParameters(
      state: .suspended, resumeTime: .zero, alarmResolution: .zero, minimumDuration: .zero,
      wakesOnPin: true,
      wakesOnBytes: false)
    figures.deep = deep
    #expect(figures.usesMotionLine)
    deep.wakesOnMotion = false
    figures.deep = deep
    #expect(!figures.usesMotionLine)
  }

  @Test("tables are equal when they say the same")
  func equality() {
    func table(_ points: [(Int64, Int64)], cold: Int64 = 30) -> TimeToFixTable {
      var table = TimeToFixTable(cold: .seconds(cold))
      for (off, fix) in points { table.append(off: .seconds(off), fix: .seconds(fix)) }
      return table
    }
    #expect(table([(1, 2), (3, 4)]) == table([(1, 2), (3, 4)]))
    #expect(table([(1, 2), (3, 4)]) != table([(1, 2)]))
    #expect(table([(1, 2), (3, 4)]) != table([(1, 2), (3, 5)]))
    #expect(table([(1, 2), (3, 4)]) != table([(1, 2), (2, 4)]))
    #expect(table([(1, 2)]) != table([(2, 2)]))
    #expect(table([(1, 2)]) != table([(1, 2), (3, 4)]))
    #expect(table([], cold: 1) != table([], cold: 2))
  }

  static func planner(speed: Double = 70, acceleration: Double = 3, poll: Interval = .zero)
    -> Planner
  {
    var figures = PlannerTests.figures()
    figures.plausibleSpeed = speed
    figures.plausibleAcceleration = acceleration
    figures.minimumCheckInterval = poll
    return Planner(figures)
  }

  /// The farthest that can be travelled in `time`, stepped through in small pieces.
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
    "DEF-18, DEF-21: no plausible motion covers the distance before the look, and just after one does"
  )
  func kinematics() {
    for speed in [2.0, 15, 70] {
      for acceleration in [0.5, 3, 10] {
        let planner = Self.planner(speed: speed, acceleration: acceleration)
        for start in [0, 1, 1.4, speed / 2, speed, speed * 2] {
          for metres in [0.5, 5, 100, 816, 817, 850, 900, 1_000, 50_000] {
            let look = planner.distanceCheck(metresLeft: metres, speed: start, at: .boot).seconds
            let farthest = Self.farthest(
              look, from: start, speed: speed, acceleration: acceleration)
            // The look is neither late (unsafe) nor early (wasteful).
            #expect(abs(farthest - metres) < 1e-3 * metres + 1e-3, "\(start) \(metres) \(look)")
          }
        }
      }
    }
  }

  @Test("DEF-21: an unknown speed is the fastest, a negative one is none")
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

  @Test("DEF-21: looks are no closer together than the shortest poll")
  func shortestPoll() {
    let planner = Self.planner(poll: .seconds(5))
    #expect(planner.distanceCheck(metresLeft: 0, speed: 0, at: .boot) == Instant(seconds: 5))
    #expect(planner.distanceCheck(metresLeft: 6, speed: 0, at: .boot) == Instant(seconds: 5))
    #expect(planner.distanceCheck(metresLeft: 600, speed: 70, at: .boot) > Instant(seconds: 5))
  }
}
