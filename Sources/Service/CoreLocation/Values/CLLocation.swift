import Foundation
import LocationTypes

/// A position with its time, its accuracy, and altitude, speed and course where they are known.
///
/// Values are those of contract section 10 (LOC). As in Apple's framework, two locations are equal only if they are the
/// same object; compare ``distance(from:)`` or the values instead. Source: Apple's documentation of `CLLocation`.
open class CLLocation: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
  private let values: LocationValues

  /// Position; invalid if ``horizontalAccuracy`` is negative (LOC-1).
  open var coordinate: CLLocationCoordinate2D { values.coordinate }
  /// Altitude above mean sea level, metres (LOC-5); invalid if ``verticalAccuracy`` is 0 or less (LOC-2).
  open var altitude: CLLocationDistance { values.altitude }
  /// Altitude above the WGS 84 ellipsoid, metres (LOC-5); invalid if ``verticalAccuracy`` is 0 or less (LOC-2).
  ///
  /// 0 in a location that the program created, because no initializer has this value.
  open var ellipsoidalAltitude: CLLocationDistance { values.ellipsoidalAltitude }
  /// Radius of uncertainty of ``coordinate``, metres (LOC-4); negative if the coordinate is invalid (LOC-1).
  open var horizontalAccuracy: CLLocationAccuracy { values.horizontalAccuracy }
  /// Accuracy of the altitudes, one sigma, metres; 0 or less if they are invalid, −1 if not known (LOC-2).
  open var verticalAccuracy: CLLocationAccuracy { values.verticalAccuracy }
  /// Course over ground, degrees clockwise from true north, 0 ≤ course < 360; −1 if invalid (LOC-3).
  open var course: CLLocationDirection { values.course }
  /// Accuracy of ``course``, one sigma, degrees; −1 if not known.
  open var courseAccuracy: CLLocationDirectionAccuracy { values.courseAccuracy }
  /// Speed over ground, m/s; −1 if invalid (LOC-3).
  open var speed: CLLocationSpeed { values.speed }
  /// Accuracy of ``speed``, one sigma, m/s; −1 if not known.
  open var speedAccuracy: CLLocationSpeedAccuracy { values.speedAccuracy }
  /// Time at which the position was measured, not of its delivery (STD-7).
  open var timestamp: Date { values.timestamp }
  /// Floor of a building; nil, because no board has an indoor source (LOC-9).
  open var floor: CLFloor? { nil }
  /// Source of the location (LOC-8); nil in a location that the program created without one.
  open var sourceInformation: CLLocationSourceInformation? { values.source }

  /// Creates a location at a coordinate, with the current time.
  ///
  /// Altitude and horizontal accuracy are 0; vertical accuracy, course and speed are −1.
  public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    values = LocationValues(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude))
    super.init()
  }

  /// Creates a location without course and speed.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    values = LocationValues(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, timestamp: timestamp)
    super.init()
  }

  /// Creates a location with course and speed.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    speed: CLLocationSpeed, timestamp: Date
  ) {
    values = LocationValues(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, speed: speed, timestamp: timestamp)
    super.init()
  }

  /// Creates a location with course, speed and their accuracies.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date
  ) {
    values = LocationValues(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp)
    super.init()
  }

  /// Creates a location with all values and its source.
  public init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInfo: CLLocationSourceInformation
  ) {
    values = LocationValues(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, source: sourceInfo)
    super.init()
  }

  /// Creates the location at latitude and longitude 0, with the current time; for subclasses.
  public override init() {
    values = LocationValues(coordinate: CLLocationCoordinate2D())
    super.init()
  }

  /// Creates a location with these values.
  init(_ values: LocationValues) {
    self.values = values
    super.init()
  }

  /// Whether the class can be archived securely: true.
  open class var supportsSecureCoding: Bool { true }

  /// Reads a location from an archive.
  ///
  /// To read archives that Apple's framework wrote, call
  /// `NSKeyedUnarchiver.setClass(CLLocation.self, forClassName: "CLLocation")` before.
  public required init?(coder: NSCoder) {
    values = LocationValues(coder)
    super.init()
  }

  /// Writes the location to an archive, with the keys of Apple's framework.
  open func encode(with coder: NSCoder) { values.encode(with: coder) }

  /// Returns the location itself, because it cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Length of the geodesic to `location`, metres (LOC-6); NaN if a coordinate is not finite.
  open func distance(from location: CLLocation) -> CLLocationDistance {
    Coordinate.distance(coordinate, location.coordinate)
  }

  /// Coordinate, accuracy, speed, course and time.
  open override var description: String {
    let format = "<%+.8f,%+.8f> +/- %.2fm (speed %.2f mps / course %.2f) @ "
    return String(
      format: format, coordinate.latitude, coordinate.longitude, horizontalAccuracy, speed, course)
      + "\(timestamp)"
  }
}

/// The values of a ``CLLocation``.
struct LocationValues {
  var coordinate: CLLocationCoordinate2D
  var altitude: CLLocationDistance = 0
  var ellipsoidalAltitude: CLLocationDistance = 0
  var horizontalAccuracy: CLLocationAccuracy = 0
  var verticalAccuracy: CLLocationAccuracy = -1
  var course: CLLocationDirection = -1
  var courseAccuracy: CLLocationDirectionAccuracy = -1
  var speed: CLLocationSpeed = -1
  var speedAccuracy: CLLocationSpeedAccuracy = -1
  var timestamp = Date()
  var source: CLLocationSourceInformation?
}

extension LocationValues {
  /// The key of a value in an archive. Source: archives that Apple's framework wrote.
  private static func key(_ name: String) -> String { "kCLLocationCodingKey" + name }

  private static let source = "torporSourceInformation"
  private static let ellipsoidalAltitude = "torporEllipsoidalAltitude"

  /// Reads the values from an archive; missing ones are 0.
  init(_ coder: NSCoder) {
    func number(_ name: String) -> Double { coder.decodeDouble(forKey: Self.key(name)) }
    coordinate = CLLocationCoordinate2D(
      latitude: number("CoordinateLatitude"), longitude: number("CoordinateLongitude"))
    altitude = number("Altitude")
    ellipsoidalAltitude = coder.decodeDouble(forKey: Self.ellipsoidalAltitude)
    horizontalAccuracy = number("HorizontalAccuracy")
    verticalAccuracy = number("VerticalAccuracy")
    course = number("Course")
    courseAccuracy = number("CourseAccuracy")
    speed = number("Speed")
    speedAccuracy = number("SpeedAccuracy")
    timestamp = Date(timeIntervalSinceReferenceDate: number("Timestamp"))
    source = coder.decodeObject(of: CLLocationSourceInformation.self, forKey: Self.source)
  }

  /// Writes the values to an archive.
  func encode(with coder: NSCoder) {
    func write(_ value: Double, _ name: String) { coder.encode(value, forKey: Self.key(name)) }
    write(coordinate.latitude, "CoordinateLatitude")
    write(coordinate.longitude, "CoordinateLongitude")
    write(altitude, "Altitude")
    coder.encode(ellipsoidalAltitude, forKey: Self.ellipsoidalAltitude)
    write(horizontalAccuracy, "HorizontalAccuracy")
    write(verticalAccuracy, "VerticalAccuracy")
    write(course, "Course")
    write(courseAccuracy, "CourseAccuracy")
    write(speed, "Speed")
    write(speedAccuracy, "SpeedAccuracy")
    write(timestamp.timeIntervalSinceReferenceDate, "Timestamp")
    coder.encode(source, forKey: Self.source)
  }
}
