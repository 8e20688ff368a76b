/// A place on the WGS 84 ellipsoid, in billionths of a degree.
///
/// Integers with a scale: decoding needs no floating point, storing loses nothing, and 1e-9° is
/// 0.1 mm. Valid when |latitude| ≤ 90° and |longitude| ≤ 180°; (0, 0) is valid (LOC-10).
@frozen public struct Coordinate: Hashable, Sendable {
  /// Degrees north × 1e9; negative is south.
  public var latitude_e9: Int64
  /// Degrees east × 1e9; negative is west.
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

  /// Degrees north, −90 to 90.
  @inlinable public var latitude: Double { Double(latitude_e9) / 1e9 }
  /// Degrees east, −180 to 180.
  @inlinable public var longitude: Double { Double(longitude_e9) / 1e9 }

  /// Whether latitude and longitude lie on the globe (LOC-10).
  @inlinable public var isValid: Bool {
    latitude_e9 >= -90_000_000_000 && latitude_e9 <= 90_000_000_000
      && longitude_e9 >= -180_000_000_000 && longitude_e9 <= 180_000_000_000
  }
}
