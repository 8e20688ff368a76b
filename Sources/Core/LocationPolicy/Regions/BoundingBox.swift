import LocationTypes

/// Latitudes and longitudes that contain a shape.
struct BoundingBox: Equatable, Sendable {
  /// Lower bound of the metres in 1e-9° of latitude, rounded down; also of those in 1e-9° of longitude at the equator.
  static let leastMetres = 0.000_110_5
  /// Latitude of a pole, 1e-9°.
  static let pole = 90_000_000_000.0
  /// Half of all longitudes, 1e-9°.
  static let halfCircle = 180_000_000_000.0

  /// Southern and northern limit, 1e-9°.
  let south: Double
  let north: Double
  /// Western and eastern limit, 1e-9°; western > eastern if the box contains the antimeridian.
  let west: Double
  let east: Double

  /// Whether a coordinate lies in the box.
  func contains(_ coordinate: Coordinate) -> Bool {
    let latitude = Double(coordinate.latitude_e9)
    let longitude = Double(coordinate.longitude_e9)
    guard latitude >= south && latitude <= north else { return false }
    return west <= east
      ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
  }
}
