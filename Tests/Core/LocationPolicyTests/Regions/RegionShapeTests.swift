import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// The example of Docs/Reference/regions.md: all positions within a distance of a straight line. No product code knows
/// it; it shows that a shape is one type with three members.
private struct Corridor: RegionShape {
  var start: Coordinate
  var end: Coordinate
  /// Half the width, metres.
  var reach: Double

  func distanceBeyondBoundary(_ position: Coordinate) -> Double {
    let line = start.localOffset(to: end)
    let offset = start.localOffset(to: position)
    let length2 = line.east * line.east + line.north * line.north
    let along = (offset.east * line.east + offset.north * line.north) / length2
    let part = min(max(along, 0), 1)
    let (east, north) = (offset.east - part * line.east, offset.north - part * line.north)
    return (east * east + north * north).squareRoot() - reach
  }

  var leastMargin: Double { min(RegionPlacement.minimumDistance, reach / 2) }

  func isValid(_ limits: RegionLimits) -> Bool { reach > 0 && reach <= limits.maximumRadius }
}

@Suite("Shapes of regions") struct RegionShapeTests {
  /// Properties of every shape that ``RegionMonitor`` relies on, at random positions around `middle`.
  private func check(_ shape: some RegionShape, _ middle: Coordinate, size: Double) {
    var random = SplitMix64(seed: 1)
    var placements: Set<RegionPlacement> = []
    for _ in 0..<3_000 {
      let position = middle.moved(
        east: Double.random(in: -size...size, using: &random),
        north: Double.random(in: -size...size, using: &random))
      let step = Double.random(in: 0...size, using: &random)
      let next = position.destination(
        bearing: Double.random(in: 0...360, using: &random), distance: step)
      let accuracy = Double.random(in: 0...30, using: &random)
      let (before, after) = (
        shape.distanceBeyondBoundary(position), shape.distanceBeyondBoundary(next)
      )
      // The distance changes by no more than the device travels.
      #expect(abs(after - before) <= step + 0.02)
      let placement = shape.placement(before, accuracy: accuracy)
      placements.insert(placement)
      for (state, start) in [(RegionState.inside, -1e3), (.outside, 1e3)] {
        var crossing = RegionCrossing(state: state)
        let opposite = shape.placement(-start, accuracy: 1)
        for isPending in [false, true] {
          if isPending { _ = crossing.handle(opposite, at: .boot) }
          guard shape.distanceToChange(of: crossing, before) - 0.05 > step else { continue }
          // Within that distance, no fix of any accuracy changes the region before the 20 s are over.
          var changed = crossing
          let change = changed.handle(
            shape.placement(after, accuracy: accuracy), at: Instant(seconds: 19))
          #expect(change == .none && changed == crossing)
        }
      }
    }
    #expect(placements.count == 5, "all classes were reached")
    #expect(shape.leastMargin > 0 && shape.leastMargin <= RegionPlacement.minimumDistance)
    #expect(shape.distanceToChange(of: RegionCrossing(), 1_000) == 0)
  }

  @Test("REG-4, REG-5, REG-16: a circle", arguments: [12.0, 100, 400])
  func circle(_ radius: Double) {
    check(Circle(center: equator, radius: radius), equator, size: 2 * radius + 60)
  }

  @Test("REG-4, REG-5, REG-16: another shape is one type")
  func corridor() {
    let end = equator.moved(east: 800, north: 300)
    check(
      Corridor(start: equator, end: end, reach: 40), equator.moved(east: 400, north: 150), size: 600
    )
  }

  @Test("REG-5: the least margin of a circle is 10 m, at most half its radius")
  func leastMargin() {
    for (radius, margin) in [(100.0, 10.0), (20, 10), (19, 9.5), (2, 1)] {
      #expect(Circle(center: equator, radius: radius).leastMargin == margin)
    }
  }
}
