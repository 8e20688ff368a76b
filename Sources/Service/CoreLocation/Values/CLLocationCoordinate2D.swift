import Foundation
import LocationTypes

/// Latitude and longitude on the WGS 84 ellipsoid, degrees.
///
/// As in Apple's framework, the type is neither `Equatable` nor `Hashable` nor `Codable`: programs and packages declare
/// these conformances themselves.
@frozen public struct CLLocationCoordinate2D: Sendable, BitwiseCopyable {
  /// Latitude, degrees, north positive; −90 to 90 if valid.
  public var latitude: CLLocationDegrees
  /// Longitude, degrees, east positive; −180 to 180 if valid.
  public var longitude: CLLocationDegrees

  /// Creates the coordinate at latitude and longitude 0.
  @inlinable public init() { self.init(latitude: 0, longitude: 0) }

  /// Creates a coordinate; it is not validated.
  @inlinable public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// Creates a coordinate; it is not validated.
@inlinable public func CLLocationCoordinate2DMake(
  _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
  CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether latitude and longitude are finite, |latitude| ≤ 90° and |longitude| ≤ 180° (LOC-10).
@inlinable public func CLLocationCoordinate2DIsValid(_ coord: CLLocationCoordinate2D) -> Bool {
  abs(coord.latitude) <= 90 && abs(coord.longitude) <= 180
}

extension CLLocationCoordinate2D {
  /// Converts from billionths of a degree.
  init(_ coordinate: Coordinate) {
    self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
  }
}

extension Coordinate {
  /// Converts to billionths of a degree; nil if the coordinate is not valid (LOC-10).
  init?(_ coordinate: CLLocationCoordinate2D) {
    self.init(latitude: coordinate.latitude, longitude: coordinate.longitude)
  }

  /// Distance between two coordinates of programs, metres (LOC-6). Never NaN for finite values: latitudes are clamped
  /// to ±90°, longitudes reduced modulo 360°. NaN if a value is not finite.
  static func distance(_ a: CLLocationCoordinate2D, _ b: CLLocationCoordinate2D) -> Double {
    guard let start = Coordinate(nearest: a), let end = Coordinate(nearest: b) else { return .nan }
    return start.distance(to: end)
  }

  /// Clamps the latitude, and reduces the longitude to ±180°; nil if a value is not finite.
  private init?(nearest coordinate: CLLocationCoordinate2D) {
    guard coordinate.latitude.isFinite, coordinate.longitude.isFinite else { return nil }
    self.init(
      latitude: min(max(coordinate.latitude, -90), 90),
      longitude: coordinate.longitude.remainder(dividingBy: 360))
  }
}
