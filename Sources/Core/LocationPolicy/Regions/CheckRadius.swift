import LocationTypes

/// A circle around an origin for which one can check, without trigonometry, whether a position lies beyond it.
///
/// ``RegionMonitor`` uses it to ignore fixes that cannot change any of its regions.
struct CheckRadius: Sendable {
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
    let circle = Circle(center: origin, radius: isNarrow ? narrow : metres)
    band = LatitudeBand(circle.boundingBox)
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
}
