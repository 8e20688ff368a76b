import LocationTypes

/// A neighbourhood of a place that can be asked without trigonometry whether it was left.
struct RegionReach: Sendable {
  /// Metres by which two distances of one circle may be wrong together, doubled and rounded up:
  /// each is exact to 1 cm (``Coordinate/regionDistance(to:)``).
  static let error = 0.05

  /// The middle.
  private(set) var origin = Coordinate(latitude_e9: 0, longitude_e9: 0)
  /// All of the reach lies in it.
  private var band = LatitudeBand()
  /// It is narrow enough to measure the way of the origin in it.
  private var isNarrow = false
  /// The square of the reach, in square metres: 0 when any place is beyond it.
  private var limit = Double.infinity

  /// Sets how far it goes from the origin, metres; not above 0 for a reach that ends at once.
  mutating func extend(to metres: Double) {
    let metres = max(metres, 0)
    limit = metres * metres
    guard metres < .infinity else {
      isNarrow = false
      return
    }
    guard !isNarrow || !band.holds(origin, metres: metres) else { return }
    let narrow = LatitudeBand.narrow(around: origin)
    isNarrow = metres <= narrow
    band = LatitudeBand(around: origin, metres: isNarrow ? narrow : metres)
  }

  /// Goes to another place, from which it must be extended anew; gives the metres to it, exact to 1 cm,
  /// or up to 0.2 % more (3 % near a pole) where that much is known without trigonometry.
  mutating func move(to place: Coordinate) -> Double {
    defer { origin = place }
    return isNarrow && band.holds(place) ? metres(to: place) : origin.regionDistance(to: place)
  }

  /// Whether a place may lie beyond the reach; never false for one that does.
  @inline(__always) func ends(before place: Coordinate) -> Bool {
    band.square(from: origin, to: place) >= limit
  }

  /// Metres to a place within the reach, or more.
  func metres(to place: Coordinate) -> Double {
    band.square(from: origin, to: place).squareRoot()
  }

  /// Metres that may be travelled from a place within the reach before it can end.
  func slack(at place: Coordinate) -> Double { limit.squareRoot() - metres(to: place) }
}

extension Region {
  /// Metres from the centre to a place that is known to so many metres: exact to 1 cm; of a place far
  /// outside it is enough that it is one, and up to a ten-thousandth is missing.
  func distance(to place: Coordinate, _ accuracy: Double) -> Double {
    let limit: Int64 = 70_000_000_000
    guard abs(center.latitude_e9) <= limit && abs(place.latitude_e9) <= limit else {
      return center.distance(to: place)
    }
    let near = center.localDistance(to: place)
    if near <= 10_000 { return near }
    let least = near * 0.9999
    let isFarOutside =
      near <= 50_000 && least - max(accuracy, RegionPlace.minimumDistance) >= radius
    return isFarOutside ? least : center.distance(to: place)
  }
}

extension Coordinate {
  /// Metres to `other`, exact to 1 cm: on the plane up to 10 km below 70° of latitude, else along
  /// the geodesic.
  func regionDistance(to other: Coordinate) -> Double {
    let limit: Int64 = 70_000_000_000
    if abs(latitude_e9) <= limit && abs(other.latitude_e9) <= limit {
      let near = localDistance(to: other)
      if near <= 10_000 { return near }
    }
    return distance(to: other)
  }
}
