import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// The example of Docs/Reference/regions.md: all positions within a distance of a straight line. No product code
/// contains it; it shows that a shape is one type.
private struct Corridor: RegionShape {
  var start: Coordinate
  var end: Coordinate
  /// Half the width, metres.
  var reach: Double

  private func distanceBeyondBoundary(_ position: Coordinate) -> Double {
    let line = start.localOffset(to: end)
    let offset = start.localOffset(to: position)
    let length2 = line.east * line.east + line.north * line.north
    let along = (offset.east * line.east + offset.north * line.north) / length2
    let part = min(max(along, 0), 1)
    let (east, north) = (offset.east - part * line.east, offset.north - part * line.north)
    return (east * east + north * north).squareRoot() - reach
  }

  func classify(_ position: Coordinate, accuracy: Double) -> RegionPlacement {
    RegionPlacement(
      beyondBoundary: distanceBeyondBoundary(position), accuracy: accuracy,
      leastMargin: leastMargin)
  }

  func distanceToChange(of crossing: RegionCrossing, at position: Coordinate) -> Double {
    crossing.distanceToChange(distanceBeyondBoundary(position), leastMargin: leastMargin)
  }

  var boundingBox: BoundingBox {
    Circle(center: start, radius: start.localDistance(to: end) + reach).boundingBox
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
      let placement = shape.classify(position, accuracy: accuracy)
      placements.insert(placement)
      if !shape.boundingBox.contains(position) {
        let exact = shape.classify(position, accuracy: 0)
        #expect(exact == .justOutside || exact == .wellOutside)
      }
      let states: [(RegionState, RegionPlacement)] = [
        (.inside, .wellOutside), (.outside, .wellInside),
      ]
      for (state, opposite) in states {
        var crossing = RegionCrossing(state: state)
        for isPending in [false, true] {
          if isPending { _ = crossing.handle(opposite, at: .boot) }
          let distance = shape.distanceToChange(of: crossing, at: position)
          // It changes by no more than the device travels.
          let change = shape.distanceToChange(of: crossing, at: next) - distance
          #expect(abs(change) <= step + 0.02)
          guard distance - 0.05 > step else { continue }
          // Within that distance, no fix of any accuracy changes the region before the 20 s are over.
          var changed = crossing
          let effect = changed.handle(
            shape.classify(next, accuracy: accuracy), at: Instant(seconds: 19))
          #expect(effect == .none && changed == crossing)
        }
      }
    }
    #expect(placements.count == 5, "all classes were reached")
    #expect(shape.leastMargin > 0 && shape.leastMargin <= RegionPlacement.minimumDistance)
    #expect(shape.distanceToChange(of: RegionCrossing(), at: middle) == 0)
  }

  @Test("REG-4, REG-5, REG-16: a circle", arguments: [12.0, 100, 400])
  func circle(_ radius: Double) {
    let circle = Circle(center: equator, radius: radius)
    check(circle, equator, size: 2 * radius + 60)
    check(Region.Shape.circle(circle), equator, size: 2 * radius + 60)
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

  @Test(
    "the bounding box of a circle contains it anywhere on the globe, and little else",
    arguments: [0.0, 47, -60, 85, 89.9, -90])
  func boundingBox(_ latitude: Double) throws {
    var random = SplitMix64(seed: 7)
    for longitude in [0.0, 179.999, -180, 103] {
      let center = try #require(Coordinate(latitude: latitude, longitude: longitude))
      for radius in [1.0, 500, 100_000] {
        let box = Circle(center: center, radius: radius).boundingBox
        for _ in 0..<200 {
          let position = center.destination(
            bearing: Double.random(in: 0...360, using: &random),
            distance: Double.random(in: 0...radius, using: &random))
          #expect(box.contains(position), "\(center) \(radius) \(position)")
        }
        guard abs(latitude) < 80 else { continue }
        for bearing in [0.0, 90, 180, 270] {
          let position = center.destination(bearing: bearing, distance: radius * 1.1 + 1)
          #expect(!box.contains(position), "\(center) \(radius) \(position)")
        }
      }
    }
  }
}
