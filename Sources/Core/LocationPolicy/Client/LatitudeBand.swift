import LocationTypes

/// A band of latitudes in which a degree is nowhere longer than it is taken for here: ways between its
/// places are measured without trigonometry, and never too short.
///
/// The straight line on the map of latitude and longitude is a way, and each of its steps is at most as
/// long as it is taken for: the geodesic is not longer.
struct LatitudeBand: Sendable {
  /// Metres that a narrow band goes to the north and to the south of where it was laid: below 55° it takes
  /// no degree for 0.2 % longer than it is, and nowhere for 3 %.
  private static let narrow = 4_000.0
  /// Metres in 1e-9° of latitude, at the least and rounded down.
  private static let leastNorth = 0.000_110_5
  /// Latitude of a pole, 1e-9°.
  private static let pole = 90_000_000_000.0

  /// Where it begins and ends, 1e-9°; one that was not laid holds no place.
  private var south = Double.infinity
  private var north = -Double.infinity
  /// Metres in 1e-9° of latitude and of longitude, at the most.
  private var metresNorth = 0.0
  private var metresEast = 0.0

  /// Holds no place.
  init() {}

  /// Lays it around a place.
  ///
  /// - Parameter metres: How far it goes to the north and to the south, finite and not below 0.
  init(around place: Coordinate, metres: Double) {
    let latitude = Double(place.latitude_e9)
    let units = metres / LatitudeBand.leastNorth
    south = max(latitude - units, -LatitudeBand.pole).rounded(.down)
    north = min(latitude + units, LatitudeBand.pole).rounded(.up)
    // Parallels are the longer the nearer to the equator, degrees of latitude the nearer to a pole.
    let lowest = Int64(south <= 0 && north >= 0 ? 0 : min(abs(south), abs(north)))
    let highest = Int64(max(abs(south), abs(north)))
    let west = Coordinate(latitude_e9: lowest, longitude_e9: 0)
    let east = Coordinate(latitude_e9: lowest, longitude_e9: 1_000_000)
    metresEast = west.localOffset(to: east).east / 1e6
    // The middle of this piece is the highest latitude.
    let below = Coordinate(latitude_e9: highest - 500_000, longitude_e9: 0)
    let above = Coordinate(latitude_e9: highest + 500_000, longitude_e9: 0)
    metresNorth = below.localOffset(to: above).north / 1e6
  }

  /// How far a band around a place may go to be a narrow one, metres.
  static func narrow(around place: Coordinate) -> Double {
    // Near a pole parallels grow fast.
    let toPole = (pole - Double(place.latitude_e9.magnitude)) * leastNorth
    return min(narrow, toPole / 50)
  }

  /// Whether a place lies in it.
  @inline(__always) func holds(_ place: Coordinate) -> Bool {
    let latitude = Double(place.latitude_e9)
    return latitude >= south && latitude <= north
  }

  /// Whether all places lie in it that are in so many metres of one.
  func holds(_ place: Coordinate, metres: Double) -> Bool {
    let latitude = Double(place.latitude_e9)
    let units = metres / LatitudeBand.leastNorth
    return max(latitude - units, -LatitudeBand.pole) >= south
      && min(latitude + units, LatitudeBand.pole) <= north
  }

  /// The square of the metres between two places of the band, or more.
  @inline(__always) func square(from: Coordinate, to: Coordinate) -> Double {
    var turn = abs(to.longitude_e9 - from.longitude_e9)
    if turn > 180_000_000_000 { turn = 360_000_000_000 - turn }
    let north = Double(to.latitude_e9 - from.latitude_e9) * metresNorth
    let east = Double(turn) * metresEast
    return north * north + east * east
  }
}
