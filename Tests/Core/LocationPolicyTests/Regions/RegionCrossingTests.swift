import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Crossing of one circle")
struct RegionCrossingTests {
  @Test(
    "REG-5: past is beyond max(accuracy, 10 m), at most half a radius, both ways; astride is undecided",
    arguments: [
      // Accurate fixes, radius 100: 10 m.
      (89.9, 3, 100, .wellInside), (90, 3, 100, .wellInside), (90.1, 3, 100, .justInside),
      (97, 3, 100, .justInside), (97.1, 3, 100, .astride), (100, 3, 100, .astride),
      (102.9, 3, 100, .astride), (103, 3, 100, .justOutside), (109.9, 3, 100, .justOutside),
      (110, 3, 100, .wellOutside), (0, 3, 100, .wellInside),
      // Less accurate than 10 m: the accuracy.
      (70, 30, 100, .wellInside), (70.1, 30, 100, .astride), (129.9, 30, 100, .astride),
      (130, 30, 100, .wellOutside),
      // A small circle: half its radius.
      (6, 2, 12, .wellInside), (6.1, 2, 12, .justInside), (17.9, 2, 12, .justOutside),
      (18, 2, 12, .wellOutside),
      // Less accurate than half a radius: the whole accuracy circle must be past the boundary.
      (20, 80, 100, .wellInside), (20.1, 80, 100, .astride), (179.9, 80, 100, .astride),
      (180, 80, 100, .wellOutside), (0, 101, 100, .astride), (201, 101, 100, .wellOutside),
      // No error at all, on the boundary.
      (100, 0, 100, .justInside), (100.1, 0, 100, .justOutside),
    ] as [(Double, Double, Double, RegionPlacement)])
  func placements(
    _ distance: Double, _ accuracy: Double, _ radius: Double, _ placement: RegionPlacement
  ) {
    let circle = Circle(center: equator, radius: radius)
    #expect(
      RegionPlacement(
        beyondBoundary: distance - radius, accuracy: accuracy, leastMargin: circle.leastMargin)
        == placement)
  }

  struct Row: Sendable, CustomStringConvertible {
    var state: RegionState
    var pending: Double?
    var placement: RegionPlacement
    var time: Double
    var change: RegionCrossing.Change
    var next: RegionState
    var nextPending: Double?
    var description: String { "\(state) since \(pending ?? -1): \(placement) at \(time)" }

    init(
      _ state: RegionState, _ pending: Double?, _ placement: RegionPlacement, _ time: Double,
      _ change: RegionCrossing.Change, _ next: RegionState, _ nextPending: Double?
    ) {
      (self.state, self.pending, self.placement, self.time) = (state, pending, placement, time)
      (self.change, self.next, self.nextPending) = (change, next, nextPending)
    }
  }

  static let table = [
    Row(.unknown, nil, .wellInside, 1, .decided, .inside, nil),
    Row(.unknown, nil, .justInside, 1, .decided, .inside, nil),
    Row(.unknown, nil, .astride, 1, .none, .unknown, nil),
    Row(.unknown, nil, .justOutside, 1, .decided, .outside, nil),
    Row(.unknown, nil, .wellOutside, 1, .decided, .outside, nil),
    Row(.inside, nil, .wellInside, 1, .none, .inside, nil),
    Row(.inside, nil, .justInside, 1, .none, .inside, nil),
    Row(.inside, nil, .astride, 1, .none, .inside, nil),
    Row(.inside, nil, .justOutside, 1, .none, .inside, nil),
    Row(.inside, nil, .wellOutside, 1, .none, .inside, 1),
    Row(.inside, 1, .wellInside, 30, .none, .inside, nil),
    Row(.inside, 1, .justInside, 30, .none, .inside, nil),
    Row(.inside, 1, .astride, 30, .none, .inside, 1),
    Row(.inside, 1, .justOutside, 30, .none, .inside, nil),
    Row(.inside, 1, .wellOutside, 20.999_999, .none, .inside, 1),
    Row(.inside, 1, .wellOutside, 21, .crossed, .outside, nil),
    Row(.outside, nil, .wellInside, 1, .none, .outside, 1),
    Row(.outside, nil, .justInside, 1, .none, .outside, nil),
    Row(.outside, nil, .astride, 1, .none, .outside, nil),
    Row(.outside, nil, .justOutside, 1, .none, .outside, nil),
    Row(.outside, nil, .wellOutside, 1, .none, .outside, nil),
    Row(.outside, 1, .wellInside, 20.999_999, .none, .outside, 1),
    Row(.outside, 1, .wellInside, 21, .crossed, .inside, nil),
    Row(.outside, 1, .justInside, 30, .none, .outside, nil),
    Row(.outside, 1, .astride, 30, .none, .outside, 1),
    Row(.outside, 1, .justOutside, 30, .none, .outside, nil),
    Row(.outside, 1, .wellOutside, 30, .none, .outside, nil),
  ]

  @Test("REG-4, REG-6: each placement has one defined result in each state", arguments: table)
  func handle(_ row: Row) {
    var crossing = RegionCrossing(state: row.state)
    if let pending = row.pending {
      let far: RegionPlacement = row.state == .inside ? .wellOutside : .wellInside
      #expect(crossing.handle(far, at: Instant(seconds: pending)) == .none)
    }
    #expect(crossing.handle(row.placement, at: Instant(seconds: row.time)) == row.change)
    #expect(crossing.state == row.next)
    #expect(crossing.pendingSince == row.nextPending.map { Instant(seconds: $0) })
  }

  @Test("REG-10: raw values are Apple's, and the two kinds of state convert to each other")
  func rawValues() {
    #expect(
      [RegionState.unknown, .inside, .outside].map(\.rawValue) == [0, 1, 2])
    #expect(
      [MonitorState.unknown, .satisfied, .unsatisfied, .unmonitored].map(\.rawValue) == [
        0, 1, 2, 3,
      ]
    )
    #expect(
      [RegionState.unknown, .inside, .outside].map(\.monitorState)
        == [.unknown, .satisfied, .unsatisfied])
    #expect(
      [MonitorState.unknown, .satisfied, .unsatisfied, .unmonitored].map(\.regionState)
        == [.unknown, .inside, .outside, .unknown])
  }
}
