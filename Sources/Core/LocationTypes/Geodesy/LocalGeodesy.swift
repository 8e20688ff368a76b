import CCore

/// Constants of the WGS 84 ellipsoid.
public enum WGS84 {
  /// Semi-major axis, metres (NIMA TR8350.2).
  public static let semiMajorAxis = 6_378_137.0
  /// Flattening.
  public static let flattening = 1 / 298.257223563
  /// Semi-minor axis b = a (1 − f), metres.
  static let semiMinorAxis = 6_356_752.314_245_179_497_6
  /// b / a = 1 − f.
  static let axisRatio = 0.996_647_189_335_252_519_28
  /// First eccentricity squared, f (2 − f).
  static let eccentricitySquared = 0.006_694_379_990_141_316_996_1
  /// Second eccentricity squared, f (2 − f) / (1 − f)².
  static let secondEccentricitySquared = 0.006_739_496_742_276_434_954_8
  /// Third flattening, f / (2 − f).
  static let thirdFlattening = 0.001_679_220_386_383_704_695_10
  /// Radians per 1e-9 degree.
  static let radiansPerUnit = 3.141_592_653_589_793 / 180e9
}

extension Coordinate {
  /// Distance to `other` in metres, on the tangent plane at the mean latitude. Fast, for short distances. O(1).
  ///
  /// Uses the radii of curvature at the mean latitude. Compared with ``distance(to:)``, the error of a distance d is
  /// below d³ / 20 r², where r is 6,357 km × cos φ at the point nearer to a pole and d ≤ r / 10: below 1e-6 of the
  /// distance up to 10 km, and 1e-4 up to 100 km, for |φ| ≤ 70°. Not accurate farther away or nearer to a pole.
  /// Symmetric, 0 for equal coordinates, never NaN, correct across the antimeridian (LOC-7).
  ///
  /// - Precondition: Both coordinates are valid; not checked.
  public func localDistance(to other: Coordinate) -> Double {
    let offset = localOffset(to: other)
    return (offset.east * offset.east + offset.north * offset.north).squareRoot()
  }

  /// Offset to `other` in metres east and north, on the same plane as ``localDistance(to:)``.
  public func localOffset(to other: Coordinate) -> (east: Double, north: Double) {
    var dLongitude = other.longitude_e9 - longitude_e9
    if dLongitude > 180_000_000_000 { dLongitude -= 360_000_000_000 }
    if dLongitude < -180_000_000_000 { dLongitude += 360_000_000_000 }
    let dLatitude = other.latitude_e9 - latitude_e9
    let middle = Double(latitude_e9 + other.latitude_e9) / 2 * WGS84.radiansPerUnit
    // Adjacent calls let the compiler combine sin and cos.
    let (sine, cosine) = (sin(middle), cos(middle))
    let w2 = 1 - WGS84.eccentricitySquared * sine * sine
    let prime = WGS84.semiMajorAxis / w2.squareRoot()
    let meridional = prime * (1 - WGS84.eccentricitySquared) / w2
    let east = Double(dLongitude) * WGS84.radiansPerUnit * prime * cosine
    let north = Double(dLatitude) * WGS84.radiansPerUnit * meridional
    return (east, north)
  }

  /// The coordinate at this offset in metres, on the same plane; for offsets up to 100 km.
  ///
  /// Clamps the latitude to ±90° and wraps the longitude to ±180°.
  public func moved(east: Double, north: Double) -> Coordinate {
    let sine0 = sin(Double(latitude_e9) * WGS84.radiansPerUnit)
    let w0 = 1 - WGS84.eccentricitySquared * sine0 * sine0
    let meridional0 =
      WGS84.semiMajorAxis * (1 - WGS84.eccentricitySquared) / (w0 * w0.squareRoot())
    let half = Double(latitude_e9) * WGS84.radiansPerUnit + north / meridional0 / 2
    let sine = sin(half)
    let w2 = 1 - WGS84.eccentricitySquared * sine * sine
    let prime = WGS84.semiMajorAxis / w2.squareRoot()
    let meridional = prime * (1 - WGS84.eccentricitySquared) / w2
    let cosine = cos(half)
    let dLatitude = north / meridional / WGS84.radiansPerUnit
    let dLongitude = fabs(cosine) < 1e-9 ? 0 : east / (prime * cosine) / WGS84.radiansPerUnit
    var latitude = Double(latitude_e9) + dLatitude
    latitude = latitude > 90e9 ? 90e9 : (latitude < -90e9 ? -90e9 : latitude)
    var longitude = Double(longitude_e9) + dLongitude
    if longitude > 180e9 || longitude < -180e9 {
      longitude -= 360e9 * (longitude / 360e9).rounded()
    }
    return Coordinate(
      latitude_e9: Int64(latitude.rounded()), longitude_e9: Int64(longitude.rounded()))
  }
}
