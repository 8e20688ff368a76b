import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationSimulation

@Suite("Distance of the last report from the true position")
struct BoundTallyTests {
  /// One metre per second.
  static let line = TestTracks.track((0...10).map { Double($0) })

  static func position(_ metres: Double) -> Coordinate {
    TestTracks.origin.moved(east: metres, north: 0)
  }

  static func summary(
    _ reports: [(metres: Double, at: Double)], within bound: Double = 4.5, track: Track = line,
    start: Double = 0, end: Double? = nil, grace: Interval = .zero
  ) -> BoundSummary {
    var tally = BoundTally(
      track, within: bound, start: Instant(seconds: start), gapLimit: .seconds(3), grace: grace)
    for report in reports {
      tally.add(position(report.metres), at: Instant(seconds: report.at))
    }
    return end.map { tally.finish(at: Instant(seconds: $0)) } ?? tally.finish()
  }

  @Test("the count starts with the first report; a report applies until the next one")
  func twoReports() {
    // Errors 2, 3, 4, 5, then 1 to 5.
    let found = Self.summary([(0, 2), (5, 5.5)])
    #expect(found.seconds == 9 && found.exceededSeconds == 2)
    #expect(found.exceededShare == 2.0 / 9)
    #expect(abs(found.maximum_m - 5) < 1e-3 && abs(found.p95_m - 5) < 1e-3)
  }

  @Test("a report applies at its own second; of two in one second, the later one")
  func wholeSeconds() {
    #expect(Self.summary([(0, 0), (3, 3), (6, 6), (9, 9)], within: 2.5).exceededSeconds == 0)
    #expect(Self.summary([(0, 0), (3, 3), (6, 6), (9, 9)], within: 1.5).exceededSeconds == 3)
    #expect(Self.summary([(0, 3), (3, 3), (6, 6)], within: 3.5).exceededSeconds == 1)
    #expect(Self.summary([(0, 3.000_001)], within: 3.5).seconds == 7)
  }

  @Test("an error equal to the bound is not a violation")
  func boundary() {
    let distance = Self.position(0).localDistance(to: Self.position(10))
    #expect(Self.summary([(0, 0)], within: distance).exceededSeconds == 0)
    #expect(Self.summary([(0, 0)], within: distance.nextDown).exceededSeconds == 1)
  }

  @Test(
    "the 95th percentile is the nearest rank", arguments: [(1, 1), (19, 19), (20, 19), (100, 95)])
  func percentile(count: Int, rank: Int) {
    let track = TestTracks.track((1...count).map { Double($0) })
    let found = Self.summary([(0, 0)], track: track)
    #expect(found.seconds == count)
    #expect(abs(found.p95_m - Double(rank)) < 1e-3)
    #expect(abs(found.maximum_m - Double(count)) < 1e-3)
  }

  @Test("the error of each second is available; seconds in a gap are NaN")
  func errors() {
    let track = TestTracks.track(
      [0, 1, 2, 3, nil, nil, nil, nil, 8, 9].map { $0.map(Double.init) })
    var tally = BoundTally(track, within: 4.5, gapLimit: .seconds(3))
    #expect(tally.firstSecond == nil)
    tally.add(Self.position(0), at: Instant(seconds: 1.5))
    let summary = tally.finish()
    #expect(tally.firstSecond == 1)
    #expect(
      tally.errors.map { $0.isNaN ? -1 : Int($0.rounded()) } == [1, 2, 3, -1, -1, -1, -1, 8, 9])
    #expect(summary.seconds == 5 && summary.exceededSeconds == 2)
  }

  @Test("gaps and seconds outside the track or the run are excluded")
  func excluded() {
    let gap = TestTracks.track([0, 1, nil, nil, nil, nil, 6, 7])
    #expect(Self.summary([(0, 0)], track: gap).seconds == 4)
    #expect(Self.summary([(0, 0)], track: gap).exceededSeconds == 2)
    #expect(Self.summary([(0, 0)], end: 4).seconds == 5)
    #expect(Self.summary([(0, 0)], end: 3.9).seconds == 4)
    #expect(Self.summary([(0, 20)]).seconds == 0)
    #expect(Self.summary([]) == BoundSummary())
    #expect(BoundSummary().exceededShare == 0)
  }

  @Test("the track may start later or earlier than the clock of the reports")
  func start() {
    let found = Self.summary([(0, 5), (3, 103)], start: 100)
    #expect(found.seconds == 11 && found.exceededSeconds == 3)
    #expect(Self.summary([(0, 102.5)], start: 100).seconds == 8)
  }

  @Test("a report within the grace counts for the second before it; a later one does not")
  func grace() {
    let half = Interval.milliseconds(500)
    func seconds(_ at: Double) -> Int { Self.summary([(0, at)], grace: half).seconds }
    #expect(seconds(3) == 8 && seconds(3.1) == 8 && seconds(3.5) == 8)
    #expect(seconds(3.500_001) == 7 && seconds(0) == 11 && seconds(0.5) == 11)
    // The report counts for second 3, where the previous one would have an error of 3 m.
    func exceeded(late: Double) -> Int {
      Self.summary(
        [(0, 0), (3, 3 + late), (6, 6 + late), (9, 9 + late)], within: 2.5, grace: half
      ).exceededSeconds
    }
    #expect(exceeded(late: 0.4) == 0 && exceeded(late: 0.6) == 3)
    // The last second of the run counts once its grace has passed.
    #expect(Self.summary([(0, 0)], end: 4.5, grace: half).seconds == 5)
    #expect(Self.summary([(0, 0)], end: 4.4, grace: half).seconds == 4)
    #expect(Self.summary([(0, 5), (3, 103.5)], start: 100, grace: half).seconds == 11)
  }

  @Test("the default grace is half a second")
  func defaultGrace() {
    func seconds(_ at: Double) -> Int {
      var tally = BoundTally(Self.line, within: 4.5)
      tally.add(Self.position(0), at: Instant(seconds: at))
      return tally.finish().seconds
    }
    #expect(seconds(3.5) == 8 && seconds(3.500_001) == 7)
  }
}
