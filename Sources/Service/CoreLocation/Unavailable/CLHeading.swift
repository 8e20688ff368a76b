import Foundation

/// A direction that a compass measured.
///
/// No board has a compass, so the service never delivers a heading; the type exists so that programs which handle
/// headings compile.
/// Source: Apple's documentation of `CLHeading`.
open class CLHeading: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  /// Direction relative to magnetic north, degrees, 0 ≤ heading < 360; negative if invalid.
  open var magneticHeading: CLLocationDirection { -1 }
  /// Direction relative to true north, degrees, 0 ≤ heading < 360; negative if invalid.
  open var trueHeading: CLLocationDirection { -1 }
  /// Greatest deviation from the magnetic heading, degrees; negative if the heading is invalid.
  open var headingAccuracy: CLLocationDirectionAccuracy { -1 }
  /// Component of the magnetic field along the x axis, microtesla.
  open var x: CLHeadingComponentValue { 0 }
  /// Component of the magnetic field along the y axis, microtesla.
  open var y: CLHeadingComponentValue { 0 }
  /// Component of the magnetic field along the z axis, microtesla.
  open var z: CLHeadingComponentValue { 0 }
  /// Time of the measurement.
  open var timestamp: Date { .distantPast }

  /// Creates an invalid heading; for subclasses.
  public override init() { super.init() }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads an invalid heading from an archive.
  public required init?(coder: NSCoder) { super.init() }

  /// Writes nothing, because a heading has no values.
  open func encode(with coder: NSCoder) {}

  /// Returns the heading itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
