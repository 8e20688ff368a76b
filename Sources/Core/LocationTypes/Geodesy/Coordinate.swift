/// A position on the WGS 84 ellipsoid, in billionths of a degree.
///
/// Scaled integers: decoding needs no floating point, and storage is lossless; 1e-9° is 0.1 mm. Valid if
/// |latitude| ≤ 90° and |longitude| ≤ 180°; (0, 0) is valid (LOC-10).
@frozen public struct Coordinate: Hashable, Sendable {
  /// Latitude in 1e-9 degree, north positive.
  public var latitude_e9: Int64
  /// Longitude in 1e-9 degree, east positive.
  public var longitude_e9: Int64

  /// Creates a coordinate from billionths of a degree.
  @inlinable public init(latitude_e9: Int64, longitude_e9: Int64) {
    self.latitude_e9 = latitude_e9
    self.longitude_e9 = longitude_e9
  }

  /// Creates a coordinate from degrees, rounded to 1e-9°; nil if not finite or out of range.
  @inlinable public init?(latitude: Double, longitude: Double) {
    guard latitude >= -90, latitude <= 90, longitude >= -180, longitude <= 180 else { return nil }
    latitude_e9 = Int64((latitude * 1e9).rounded())
    longitude_e9 = Int64((longitude * 1e9).rounded())
  }

  /// Latitude in degrees, north positive, −90 to 90.
  @inlinable public var latitude: Double { Double(latitude_e9) / 1e9 }
  /// Longitude in degrees, east positive, −180 to 180.
  @inlinable public var longitude: Double { Double(longitude_e9) / 1e9 }

  /// Whether |latitude| ≤ 90° and |longitude| ≤ 180° (LOC-10).
  @inlinable public var isValid: Bool {
    latitude_e9 >= -90_000_000_000 && latitude_e9 <= 90_000_000_000
      && longitude_e9 >= -180_000_000_000 && longitude_e9 <= 180_000_000_000
  }
}
