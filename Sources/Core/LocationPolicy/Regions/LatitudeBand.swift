import LocationTypes

/// A band of latitudes with upper bounds for the length of a degree, so that ``CheckRadius`` gets upper bounds of
/// distances within the band without trigonometry.
///
/// The computed length belongs to the straight line on the map of latitude and longitude; each of its steps is at most
/// as long as computed, and the geodesic is no longer than that line. Results are therefore never too short.
struct LatitudeBand: Sendable {
  /// Half the height of a narrow band, metres. In it, computed lengths exceed the true ones by at most 0.2 % below 55°
  /// of latitude and by at most 3 % elsewhere.
  private static let narrowExtent = 4_000.0

  /// Southern and northern limit, 1e-9°; an empty band contains no coordinate.
  private var south = Double.infinity
  private var north = -Double.infinity
  /// Upper bounds of the metres in 1e-9° of latitude and of longitude.
  private var metresNorth = 0.0
  private var metresEast = 0.0

  /// Creates an empty band.
  init() {}

  /// Creates the band of the latitudes of a box.
  init(_ box: BoundingBox) {
    (south, north) = (box.south, box.north)
    // Parallels are longest near the equator, degrees of latitude near the poles.
    let lowest = Int64(south <= 0 && north >= 0 ? 0 : min(abs(south), abs(north)))
    let highest = Int64(max(abs(south), abs(north)))
    let west = Coordinate(latitude_e9: lowest, longitude_e9: 0)
    let east = Coordinate(latitude_e9: lowest, longitude_e9: 1_000_000)
    metresEast = west.localOffset(to: east).east / 1e6
    // The middle of this segment is the highest latitude.
    let below = Coordinate(latitude_e9: highest - 500_000, longitude_e9: 0)
    let above = Coordinate(latitude_e9: highest + 500_000, longitude_e9: 0)
    metresNorth = below.localOffset(to: above).north / 1e6
  }

  /// Half the height of a narrow band around a coordinate, metres.
  static func narrowExtent(around coordinate: Coordinate) -> Double {
    // Near a pole the length of parallels changes quickly.
    let toPole =
      (BoundingBox.pole - Double(coordinate.latitude_e9.magnitude)) * BoundingBox.leastMetres
    return min(narrowExtent, toPole / 50)
  }

  /// Whether a coordinate lies in the band.
  @inline(__always) func contains(_ coordinate: Coordinate) -> Bool {
    let latitude = Double(coordinate.latitude_e9)
    return latitude >= south && latitude <= north
  }

  /// Whether all coordinates within `metres` of a coordinate lie in the band.
  func contains(_ coordinate: Coordinate, metres: Double) -> Bool {
    let latitude = Double(coordinate.latitude_e9)
    let units = metres / BoundingBox.leastMetres
    return max(latitude - units, -BoundingBox.pole) >= south
      && min(latitude + units, BoundingBox.pole) <= north
  }

  /// Upper bound of the squared distance between two coordinates of the band, square metres.
  @inline(__always) func squaredDistance(from: Coordinate, to: Coordinate) -> Double {
    var difference = abs(to.longitude_e9 - from.longitude_e9)
    if difference > 180_000_000_000 { difference = 360_000_000_000 - difference }
    let north = Double(to.latitude_e9 - from.latitude_e9) * metresNorth
    let east = Double(difference) * metresEast
    return north * north + east * east
  }
}
