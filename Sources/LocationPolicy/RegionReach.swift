import LocationTypes

/// A neighbourhood of a place that can be asked without trigonometry whether it was left.
struct RegionReach: Sendable {
  /// Metres by which two distances of one circle may be wrong together, doubled and rounded up:
  /// each is exact to 1 cm (``Coordinate/regionDistance(to:)``).
  static let error = 0.05
  /// No degree of latitude or longitude is longer: metres in 1e-9° on the polar radius of curvature.
  private static let metresPerUnit = 6_399_594 * 3.141_592_653_589_793 / 180e9

  /// The middle.
  var origin = Coordinate(latitude_e9: 0, longitude_e9: 0)
  /// A degree of the longest parallel in reach, over the longest of all degrees.
  private var shrink = 1.0
  /// The square of the reach, in 1e-9° of latitude: 0 when any place is beyond it.
  private var limit = Double.infinity

  /// Sets how far it goes from the origin, metres; not above 0 for a reach that ends at once.
  mutating func extend(to metres: Double) {
    guard metres > 0 else {
      limit = 0
      return
    }
    let units = metres / RegionReach.metresPerUnit
    limit = units * units
    // A degree of latitude is nowhere shorter than 0.98 times the longest one.
    let lowest = Double(origin.latitude_e9.magnitude) - units / 0.98
    guard lowest > 0 else {
      shrink = 1
      return
    }
    // Parallels are the longer the nearer to the equator; this is what a short piece of one measures.
    let west = Coordinate(latitude_e9: Int64(lowest), longitude_e9: 0)
    let east = Coordinate(latitude_e9: Int64(lowest), longitude_e9: 1_000_000)
    shrink = west.localOffset(to: east).east / 1e6 / RegionReach.metresPerUnit
  }

  /// Whether a place may lie beyond the reach; never false for one that does.
  ///
  /// The straight line on the map of latitude and longitude is a way to the place, and each of its
  /// steps is at most as long as it is taken for here: the geodesic is not longer.
  func ends(before place: Coordinate) -> Bool { square(to: place) >= limit }

  /// Metres to a place within the reach, or more.
  func metres(to place: Coordinate) -> Double {
    square(to: place).squareRoot() * RegionReach.metresPerUnit
  }

  private func square(to place: Coordinate) -> Double {
    var turn = abs(place.longitude_e9 - origin.longitude_e9)
    if turn > 180_000_000_000 { turn = 360_000_000_000 - turn }
    let north = Double(place.latitude_e9 - origin.latitude_e9)
    let east = Double(turn) * shrink
    return north * north + east * east
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
