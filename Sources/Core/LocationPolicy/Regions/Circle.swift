import CCore
import LocationTypes

/// A circle on the ellipsoid: the shape of a `CLCircularRegion` and of a circular condition.
public struct Circle: Equatable, Sendable {
  /// Centre of the circle.
  public var center: Coordinate
  /// Radius, metres; valid if finite, above 0 and at most ``RegionLimits/maximumRadius`` (REG-3).
  public var radius: Double

  /// Creates a circle.
  public init(center: Coordinate, radius: Double) {
    self.center = center
    self.radius = radius
  }
}

extension Circle: RegionShape {
  func classify(_ position: Coordinate, accuracy: Double) -> RegionPlacement {
    RegionPlacement(
      beyondBoundary: distanceBeyondBoundary(position), accuracy: accuracy,
      leastMargin: leastMargin)
  }

  func distanceToChange(of crossing: RegionCrossing, at position: Coordinate) -> Double {
    crossing.distanceToChange(distanceBeyondBoundary(position), leastMargin: leastMargin)
  }

  /// No point is farther from the centre than the radius, and degrees of latitude are at least as long as assumed. Each
  /// parallel within the box is at least as long as that of its highest latitude.
  var boundingBox: BoundingBox {
    let (latitude, longitude) = (Double(center.latitude_e9), Double(center.longitude_e9))
    let units = radius / BoundingBox.leastMetres
    let south = max(latitude - units, -BoundingBox.pole).rounded(.down)
    let north = min(latitude + units, BoundingBox.pole).rounded(.up)
    let highest = max(abs(south), abs(north)) / BoundingBox.pole
    let width = units / max(cos(highest * .pi / 2), 1e-9)
    guard width < BoundingBox.halfCircle else {
      return BoundingBox(
        south: south, north: north, west: -BoundingBox.halfCircle, east: BoundingBox.halfCircle)
    }
    let (west, east) = (longitude - width, longitude + width)
    return BoundingBox(
      south: south, north: north,
      west: west < -BoundingBox.halfCircle ? west + 2 * BoundingBox.halfCircle : west,
      east: east > BoundingBox.halfCircle ? east - 2 * BoundingBox.halfCircle : east)
  }

  /// Distance from a position to the boundary, metres: positive outside, negative inside. Exact to 1 cm, or at most
  /// 0.01 % too short more than 1 km outside.
  func distanceBeyondBoundary(_ position: Coordinate) -> Double {
    // Far outside the circle, a lower bound from the plane is sufficient.
    let planeDistance = center.planeDistance(to: position)
    if planeDistance > 10_000 && planeDistance <= 50_000 {
      let lowerBound = planeDistance * 0.9999 - radius
      if lowerBound >= 1_000 { return lowerBound }
    }
    return center.regionDistance(to: position) - radius
  }

  var leastMargin: Double { min(RegionPlacement.minimumDistance, radius / 2) }

  func isValid(_ limits: RegionLimits) -> Bool {
    center.isValid && radius > 0 && radius <= limits.maximumRadius && radius.isFinite
  }
}

extension Coordinate {
  /// Distance to `other`, metres, exact to 1 cm: computed in the plane if it is at most 10 km and the latitude is
  /// below 70°, otherwise along the geodesic.
  func regionDistance(to other: Coordinate) -> Double {
    let planeDistance = planeDistance(to: other)
    return planeDistance <= 10_000 ? planeDistance : distance(to: other)
  }

  /// Distance to `other` in the plane, metres; ∞ from 70° of latitude on, where the plane is not accurate.
  fileprivate func planeDistance(to other: Coordinate) -> Double {
    let limit: Int64 = 70_000_000_000
    guard abs(latitude_e9) <= limit && abs(other.latitude_e9) <= limit else { return .infinity }
    return localDistance(to: other)
  }
}
