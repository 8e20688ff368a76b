import Foundation
import LocationPolicy
import LocationTypes

/// A circle on the WGS 84 ellipsoid (contract section REG). Source: Apple's documentation of `CLCircularRegion`.
open class CLCircularRegion: CLRegion {
  private let middle: CLLocationCoordinate2D
  private let extent: CLLocationDistance

  /// Centre of the circle.
  open var center: CLLocationCoordinate2D { middle }
  /// Radius of the circle, metres; monitoring fails if it exceeds `maximumRegionMonitoringDistance` (REG-3).
  open var radius: CLLocationDistance { extent }

  /// Creates a circle; it is validated when its monitoring starts (REG-3).
  public init(center: CLLocationCoordinate2D, radius: CLLocationDistance, identifier: String) {
    middle = center
    extent = radius
    super.init(identifier: identifier)
  }

  /// Reads a circle from an archive; nil if it has no identifier.
  public required init?(coder: NSCoder) {
    middle = CLLocationCoordinate2D(
      latitude: coder.decodeDouble(forKey: "latitude"),
      longitude: coder.decodeDouble(forKey: "longitude"))
    extent = coder.decodeDouble(forKey: "radius")
    super.init(coder: coder)
  }

  /// Writes the circle to an archive.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(middle.latitude, forKey: "latitude")
    coder.encode(middle.longitude, forKey: "longitude")
    coder.encode(extent, forKey: "radius")
  }

  /// Returns a circle with the same identifier and properties.
  open override func copy(with zone: NSZone? = nil) -> Any {
    let region = CLCircularRegion(center: center, radius: radius, identifier: identifier)
    region.copyNotificationProperties(from: self)
    return region
  }

  /// Whether the geodesic from the centre to `coordinate` is not longer than the radius; false for invalid coordinates.
  open func contains(_ coordinate: CLLocationCoordinate2D) -> Bool {
    guard CLLocationCoordinate2DIsValid(coordinate) else { return false }
    return Coordinate.distance(center, coordinate) <= radius
  }

  /// Identifier, centre and radius.
  open override var description: String {
    super.description
      + String(
        format: " <center:<%+.8f,%+.8f>, radius:%.2fm>", center.latitude, center.longitude, radius)
  }
}
