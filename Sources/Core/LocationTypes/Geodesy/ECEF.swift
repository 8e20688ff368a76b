import CCore

/// A place or velocity in the frame that turns with the Earth: x through 0° N 0° E, z through the
/// north pole. Metres or m/s.
public struct ECEF: Equatable, Sendable {
  /// Towards 0° N 0° E.
  public var x: Double
  /// Towards 0° N 90° E.
  public var y: Double
  /// Towards the north pole.
  public var z: Double

  /// Creates a vector.
  public init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Creates the vector of a place `height` metres above the ellipsoid.
  public init(_ place: Coordinate, height: Double) {
    let latitude = Double(place.latitude_e9) * WGS84.radiansPerUnit
    let longitude = Double(place.longitude_e9) * WGS84.radiansPerUnit
    let e2 = WGS84.eccentricitySquared
    let sine = sin(latitude)
    let prime = WGS84.semiMajorAxis / sqrt(1 - e2 * sine * sine)
    let radius = (prime + height) * cos(latitude)
    x = radius * cos(longitude)
    y = radius * sin(longitude)
    z = (prime * (1 - e2) + height) * sine
  }

  /// Latitude, longitude and height above the ellipsoid; nil within 1,000 km of the Earth's centre
  /// and beyond 100,000 km, where nobody has a receiver.
  ///
  /// Bowring's formula, taken twice: within 1 mm of the inverse up to there, and within the 1e-9
  /// degree of a ``Coordinate`` near the ground. O(1). Source: B. R. Bowring, Survey Review 181 (1976)
  /// and 218 (1985, for the height).
  public var geodetic: (place: Coordinate, height: Double)? {
    let p = sqrt(x * x + y * y)
    let radius = sqrt(p * p + z * z)
    guard radius >= 1e6, radius <= 1e8 else { return nil }
    let a = WGS84.semiMajorAxis
    let e2 = WGS84.eccentricitySquared
    let ratio = 1 - WGS84.flattening
    let b = a * ratio
    // β, the reduced latitude, first as on a sphere of that radius.
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
    let place = Coordinate(
      latitude_e9: Int64((latitude / WGS84.radiansPerUnit).rounded()),
      longitude_e9: Int64((longitude / WGS84.radiansPerUnit).rounded()))
    return (place, height)
  }

  /// Degrees clockwise from true north, 0 ..< 360, of a way north and east; 0 for none at all.
  public static func course(north: Double, east: Double) -> Double {
    let degrees = atan2(east, north) / WGS84.radiansPerUnit / 1e9
    return degrees < 0 ? max(degrees + 360, 0).truncatingRemainder(dividingBy: 360) : degrees
  }

  /// This velocity as seen from a place: metres per second north, east and up.
  public func seen(from place: Coordinate) -> (north: Double, east: Double, up: Double) {
    let latitude = Double(place.latitude_e9) * WGS84.radiansPerUnit
    let longitude = Double(place.longitude_e9) * WGS84.radiansPerUnit
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
