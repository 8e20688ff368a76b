import LocationTypes

/// A circle around an origin for which one can check, without trigonometry, whether a position lies beyond it.
///
/// ``RegionMonitor`` uses it to skip fixes that cannot change any of its circles.
struct CheckRadius: Sendable {
  /// Upper bound, metres, of the sum of the errors of two distances of one circle, doubled and rounded up: each is
  /// exact to 1 cm (``Coordinate/regionDistance(to:)``).
  static let distanceError = 0.05

  /// Centre of the circle.
  private(set) var origin = Coordinate(latitude_e9: 0, longitude_e9: 0)
  /// Band of latitudes that contains the whole circle.
  private var band = LatitudeBand()
  /// Whether the band is narrow enough to measure the movement of the origin in it.
  private var isNarrow = false
  /// Square of the radius, square metres: 0 if every position counts as beyond it.
  private var limit = Double.infinity

  /// Sets the radius, metres; 0 or less makes every position count as beyond it.
  mutating func setRadius(_ metres: Double) {
    let metres = max(metres, 0)
    limit = metres * metres
    guard metres < .infinity else {
      isNarrow = false
      return
    }
    guard !isNarrow || !band.contains(origin, metres: metres) else { return }
    let narrow = LatitudeBand.narrowExtent(around: origin)
    isNarrow = metres <= narrow
    band = LatitudeBand(around: origin, metres: isNarrow ? narrow : metres)
  }

  /// Moves the origin; the radius must then be set again. Returns the distance to the new origin, metres: exact to 1
  /// cm, or up to 0.2 % too long (3 % near a pole) where that can be computed without trigonometry.
  mutating func move(to point: Coordinate) -> Double {
    defer { origin = point }
    return isNarrow && band.contains(point) ? metres(to: point) : origin.regionDistance(to: point)
  }

  /// Whether a position may lie beyond the radius; never false if it does.
  @inline(__always) func isExceeded(at coordinate: Coordinate) -> Bool {
    band.squaredDistance(from: origin, to: coordinate) >= limit
  }

  /// Upper bound of the distance from the origin to a position within the radius, metres.
  func metres(to coordinate: Coordinate) -> Double {
    band.squaredDistance(from: origin, to: coordinate).squareRoot()
  }

  /// Lower bound of the distance that can be travelled from a position within the radius before the radius is exceeded,
  /// metres.
  func slack(at coordinate: Coordinate) -> Double { limit.squareRoot() - metres(to: coordinate) }
}

extension Region {
  /// Distance from the centre to a position with the given accuracy, metres, exact to 1 cm. If the position is
  /// certainly far outside the circle, the result may be up to 0.01 % too short.
  func distance(to coordinate: Coordinate, _ accuracy: Double) -> Double {
    let limit: Int64 = 70_000_000_000
    guard abs(center.latitude_e9) <= limit && abs(coordinate.latitude_e9) <= limit else {
      return center.distance(to: coordinate)
    }
    let planeDistance = center.localDistance(to: coordinate)
    if planeDistance <= 10_000 { return planeDistance }
    let lowerBound = planeDistance * 0.9999
    let isFarOutside =
      planeDistance <= 50_000
      && lowerBound - max(accuracy, RegionPlacement.minimumDistance) >= radius
    return isFarOutside ? lowerBound : center.distance(to: coordinate)
  }
}

extension Coordinate {
  /// Distance to `other`, metres, exact to 1 cm: computed in the plane if it is at most 10 km and the latitude is
  /// below 70°, otherwise along the geodesic.
  func regionDistance(to other: Coordinate) -> Double {
    let limit: Int64 = 70_000_000_000
    if abs(latitude_e9) <= limit && abs(other.latitude_e9) <= limit {
      let planeDistance = localDistance(to: other)
      if planeDistance <= 10_000 { return planeDistance }
    }
    return distance(to: other)
  }
}
