import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationSimulation

@Suite("How far the last report was from the truth")
struct BoundTallyTests {
  /// A metre a second.
  static let line = Ways.track((0...10).map { Double($0) })

  static func place(_ metres: Double) -> Coordinate { Ways.origin.moved(east: metres, north: 0) }

  static func summary(
    _ reports: [(metres: Double, at: Double)], within bound: Double = 4.5, track: Track = line,
    start: Double = 0, end: Double? = nil, grace: Interval = .zero
  ) -> BoundSummary {
    var tally = BoundTally(
      track, within: bound, start: Instant(seconds: start), gapLimit: .seconds(3), grace: grace)
    for report in reports {
      tally.add(place(report.metres), at: Instant(seconds: report.at))
    }
    return end.map { tally.finish(at: Instant(seconds: $0)) } ?? tally.finish()
  }

  @Test("the first report starts the count, and a report holds until the next one")
  func twoReports() {
    // Errors 2, 3, 4, 5, then 1 to 5.
    let found = Self.summary([(0, 2), (5, 5.5)])
    #expect(found.seconds == 9 && found.exceededSeconds == 2)
    #expect(found.exceededShare == 2.0 / 9)
    #expect(abs(found.maximum_m - 5) < 1e-3 && abs(found.p95_m - 5) < 1e-3)
  }

  @Test("a report holds at the second at which it comes; of two at once the later one")
  func wholeSeconds() {
    #expect(Self.summary([(0, 0), (3, 3), (6, 6), (9, 9)], within: 2.5).exceededSeconds == 0)
    #expect(Self.summary([(0, 0), (3, 3), (6, 6), (9, 9)], within: 1.5).exceededSeconds == 3)
    #expect(Self.summary([(0, 3), (3, 3), (6, 6)], within: 3.5).exceededSeconds == 1)
    #expect(Self.summary([(0, 3.000_001)], within: 3.5).seconds == 7)
  }

  @Test("as far away as allowed is not broken")
  func boundary() {
    let distance = Self.place(0).localDistance(to: Self.place(10))
    #expect(Self.summary([(0, 0)], within: distance).exceededSeconds == 0)
    #expect(Self.summary([(0, 0)], within: distance.nextDown).exceededSeconds == 1)
  }

  @Test(
    "the 95th percentile is the nearest rank", arguments: [(1, 1), (19, 19), (20, 19), (100, 95)])
  func percentile(count: Int, rank: Int) {
    let track = Ways.track((1...count).map { Double($0) })
    let found = Self.summary([(0, 0)], track: track)
    #expect(found.seconds == count)
    #expect(abs(found.p95_m - Double(rank)) < 1e-3)
    #expect(abs(found.maximum_m - Double(count)) < 1e-3)
  }

  @Test("the error of each second is told, and a gap's seconds are no numbers")
  func errors() {
    let track = Ways.track([0, 1, 2, 3, nil, nil, nil, nil, 8, 9].map { $0.map(Double.init) })
    var tally = BoundTally(track, within: 4.5, gapLimit: .seconds(3))
    #expect(tally.firstSecond == nil)
    tally.add(Self.place(0), at: Instant(seconds: 1.5))
    let summary = tally.finish()
    #expect(tally.firstSecond == 1)
    #expect(
      tally.errors.map { $0.isNaN ? -1 : Int($0.rounded()) } == [1, 2, 3, -1, -1, -1, -1, 8, 9])
    #expect(summary.seconds == 5 && summary.exceededSeconds == 2)
  }

  @Test("gaps, and what lies outside the track and the run, are left out")
  func leftOut() {
    let gap = Ways.track([0, 1, nil, nil, nil, nil, 6, 7])
    #expect(Self.summary([(0, 0)], track: gap).seconds == 4)
    #expect(Self.summary([(0, 0)], track: gap).exceededSeconds == 2)
    #expect(Self.summary([(0, 0)], end: 4).seconds == 5)
    #expect(Self.summary([(0, 0)], end: 3.9).seconds == 4)
    #expect(Self.summary([(0, 20)]).seconds == 0)
    #expect(Self.summary([]) == BoundSummary())
    #expect(BoundSummary().exceededShare == 0)
  }

  @Test("the track may begin later or earlier than the clock of the reports")
  func start() {
    let found = Self.summary([(0, 5), (3, 103)], start: 100)
    #expect(found.seconds == 11 && found.exceededSeconds == 3)
    #expect(Self.summary([(0, 102.5)], start: 100).seconds == 8)
  }

  @Test("a report counts for the second before it, up to the grace; one later for the next")
  func grace() {
    let half = Interval.milliseconds(500)
    func seconds(_ at: Double) -> Int { Self.summary([(0, at)], grace: half).seconds }
    #expect(seconds(3) == 8 && seconds(3.1) == 8 && seconds(3.5) == 8)
    #expect(seconds(3.500_001) == 7 && seconds(0) == 11 && seconds(0.5) == 11)
    // It counts for second 3, at which the one before would be 3 m off.
    func broken(late: Double) -> Int {
      Self.summary(
        [(0, 0), (3, 3 + late), (6, 6 + late), (9, 9 + late)], within: 2.5, grace: half
      ).exceededSeconds
    }
    #expect(broken(late: 0.4) == 0 && broken(late: 0.6) == 3)
    // The run's last second counts when its grace is over.
    #expect(Self.summary([(0, 0)], end: 4.5, grace: half).seconds == 5)
    #expect(Self.summary([(0, 0)], end: 4.4, grace: half).seconds == 4)
    #expect(Self.summary([(0, 5), (3, 103.5)], start: 100, grace: half).seconds == 11)
  }

  @Test("where nothing is said, the grace is half a second")
  func standardGrace() {
    func seconds(_ at: Double) -> Int {
      var tally = BoundTally(Self.line, within: 4.5)
      tally.add(Self.place(0), at: Instant(seconds: at))
      return tally.finish().seconds
    }
    #expect(seconds(3.5) == 8 && seconds(3.500_001) == 7)
  }
}
