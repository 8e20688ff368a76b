import CCore

/// A position (metres) or velocity (m/s) in the Earth-centred, Earth-fixed frame.
public struct ECEF: Equatable, Sendable {
  /// Component towards 0° N 0° E.
  public var x: Double
  /// Component towards 0° N 90° E.
  public var y: Double
  /// Component towards the north pole.
  public var z: Double

  /// Creates a vector.
  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Creates the position vector of a coordinate `height` metres above the ellipsoid.
  public init(_ coordinate: Coordinate, height: Double) {
    let latitude = Double(coordinate.latitude_e9) * WGS84.radiansPerUnit
    let longitude = Double(coordinate.longitude_e9) * WGS84.radiansPerUnit
    let e2 = WGS84.eccentricitySquared
    let sine = sin(latitude)
    let prime = WGS84.semiMajorAxis / sqrt(1 - e2 * sine * sine)
    let radius = (prime + height) * cos(latitude)
    x = radius * cos(longitude)
    y = radius * sin(longitude)
    z = (prime * (1 - e2) + height) * sine
  }

  /// Latitude, longitude and height above the ellipsoid in metres. O(1).
  ///
  /// Nil if the distance to the Earth's centre is below 1,000 km or above 100,000 km. Two iterations of Bowring's
  /// formula: accurate to 1 mm in that range, and to the 1e-9 degree of a ``Coordinate`` near the ground.
  /// Source: B. R. Bowring, Survey Review 181 (1976) and 218 (1985, for the height).
  public var geodetic: (coordinate: Coordinate, height: Double)? {
    let p = sqrt(x * x + y * y)
    let radius = sqrt(p * p + z * z)
    guard radius >= 1e6, radius <= 1e8 else { return nil }
    let a = WGS84.semiMajorAxis
    let e2 = WGS84.eccentricitySquared
    let ratio = 1 - WGS84.flattening
    let b = a * ratio
    // β, the reduced latitude; the first approximation is that of a sphere with this radius.
    var beta = atan2(z * (1 + e2 / (1 - e2) * b / radius), p / ratio)
    var latitude = 0.0
    for _ in 0..<2 {
      let (s, c) = (sin(beta), cos(beta))
      latitude = atan2(z + e2 / (1 - e2) * b * s * s * s, p - e2 * a * c * c * c)
      beta = atan2(ratio * sin(latitude), cos(latitude))
    }
    let sine = sin(latitude)
    let height = p * cos(latitude) + z * sine - a * sqrt(1 - e2 * sine * sine)
    let longitude = p == 0 ? 0 : atan2(y, x)
    let coordinate = Coordinate(
      latitude_e9: Int64((latitude / WGS84.radiansPerUnit).rounded()),
      longitude_e9: Int64((longitude / WGS84.radiansPerUnit).rounded()))
    return (coordinate, height)
  }

  /// Course of a displacement or velocity, degrees clockwise from true north, 0 ..< 360; 0 for the zero vector.
  public static func course(north: Double, east: Double) -> Double {
    let degrees = atan2(east, north) / WGS84.radiansPerUnit / 1e9
    return degrees < 0 ? max(degrees + 360, 0).truncatingRemainder(dividingBy: 360) : degrees
  }

  /// This velocity in the local frame of a coordinate: metres per second north, east and up.
  public func localVelocity(
    at coordinate: Coordinate
  ) -> (north: Double, east: Double, up: Double) {
    let latitude = Double(coordinate.latitude_e9) * WGS84.radiansPerUnit
    let longitude = Double(coordinate.longitude_e9) * WGS84.radiansPerUnit
    let (sinLatitude, cosLatitude) = (sin(latitude), cos(latitude))
    let (sinLongitude, cosLongitude) = (sin(longitude), cos(longitude))
    let outward = x * cosLongitude + y * sinLongitude
    return (
      z * cosLatitude - outward * sinLatitude,
      y * cosLongitude - x * sinLongitude,
      outward * cosLatitude + z * sinLatitude
    )
  }
}
