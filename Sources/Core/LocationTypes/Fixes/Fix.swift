/// How many dimensions a position has.
@frozen public enum FixMode: UInt8, Sendable {
  /// Latitude and longitude; the altitude, if any, was assumed.
  case twoDimensional = 2
  /// Latitude, longitude and altitude.
  case threeDimensional = 3
}

/// How the position was made. Raw values are this project's own and part of the ring format.
@frozen public enum FixQuality: UInt8, Sendable {
  /// The receiver does not say.
  case unknown = 0
  /// Satellites alone.
  case autonomous = 1
  /// Code corrections (SBAS, DGPS).
  case differential = 2
  /// Carrier phase, ambiguities fixed.
  case rtkFixed = 3
  /// Carrier phase, ambiguities not fixed.
  case rtkFloat = 4
  /// Carried on without satellites: dead reckoning alone.
  case deadReckoning = 5
  /// Typed in.
  case manual = 6
  /// The receiver's own simulator.
  case simulated = 7
  /// A surveyed place of a timing receiver, which computes time alone.
  case surveyed = 8
  /// Satellites and dead reckoning together.
  case combined = 9
}

/// One position of the receiver with all that is known of it.
///
/// Integers with a scale, so that a slot of the ring gives back the same value (ring-format.md).
/// Stored compactly: a field's smallest value stands for "not known" and never leaves this type;
/// the accessors are optional. A Fix always has a valid ``coordinate``.
@frozen public struct Fix: Equatable, Sendable {
  /// When the position was true, on the boot clock; never when it was delivered (STD-7).
  public var acquired: Instant
  /// Where, on WGS 84.
  public var coordinate: Coordinate
  @usableFromInline var utc_us: Int64
  @usableFromInline var ellipsoidalAltitude_raw: Int32
  @usableFromInline var altitude_raw: Int32
  @usableFromInline var speed_raw: Int32
  @usableFromInline var course_raw: Int32
  @usableFromInline var horizontalAccuracy_raw: Int32
  @usableFromInline var verticalAccuracy_raw: Int32
  @usableFromInline var speedAccuracy_raw: Int32
  @usableFromInline var courseAccuracy_raw: Int32
  @usableFromInline var satellites_raw: Int16
  /// Two or three dimensions.
  public var mode: FixMode
  /// How it was made.
  public var quality: FixQuality
  /// The UTC date was repaired or could not be checked (STD-13).
  public var isDateUncertain: Bool
  /// The position comes from a simulation or a replay (LOC-8).
  public var isSimulated: Bool
  /// The receiver is an accessory, on USB or Bluetooth, and no part of the board (LOC-8).
  public var isFromAccessory: Bool

  /// Creates a fix of which only place and moment are known.
  ///
  /// - Precondition: `coordinate` is valid (LOC-10).
  @inlinable public init(
    acquired: Instant, coordinate: Coordinate, mode: FixMode = .threeDimensional
  ) {
    precondition(coordinate.isValid, "a fix needs a place on the globe")
    self.acquired = acquired
    self.coordinate = coordinate
    self.mode = mode
    utc_us = .min
    ellipsoidalAltitude_raw = .min
    altitude_raw = .min
    speed_raw = .min
    course_raw = .min
    horizontalAccuracy_raw = .min
    verticalAccuracy_raw = .min
    speedAccuracy_raw = .min
    courseAccuracy_raw = .min
    satellites_raw = .min
    quality = .unknown
    isDateUncertain = false
    isSimulated = false
    isFromAccessory = false
  }
}

extension Fix {
  /// Largest value of ``horizontalAccuracy_mm`` and ``verticalAccuracy_mm``: 16.777 km.
  public static let accuracyLimit_mm: Int32 = 0xFF_FFFE
  /// Largest value of ``speed_mmps``: 16.777 km/s.
  public static let speedLimit_mmps: Int32 = 0xFF_FFFE
  /// Largest value of ``speedAccuracy_mmps``: 65.5 m/s.
  public static let speedAccuracyLimit_mmps: Int32 = 0xFFFE
  /// Largest value of ``courseAccuracy_e2``: 360°.
  public static let courseAccuracyLimit_e2: Int32 = 36_000

  /// UTC of the position, where known (STD-13).
  @inlinable public var utc: UTCTime? {
    get { utc_us == .min ? nil : UTCTime(microseconds: utc_us) }
    set { utc_us = newValue?.microseconds ?? .min }
  }
  /// Altitude above the ellipsoid, millimetres (LOC-5).
  @inlinable public var ellipsoidalAltitude_mm: Int32? {
    get { ellipsoidalAltitude_raw == .min ? nil : ellipsoidalAltitude_raw }
    set { ellipsoidalAltitude_raw = newValue ?? .min }
  }
  /// Altitude above mean sea level, millimetres (LOC-5).
  @inlinable public var altitude_mm: Int32? {
    get { altitude_raw == .min ? nil : altitude_raw }
    set { altitude_raw = newValue ?? .min }
  }
  /// Speed over ground, mm/s, 0 to ``speedLimit_mmps``; clamped (LOC-3).
  @inlinable public var speed_mmps: Int32? {
    get { speed_raw == .min ? nil : speed_raw }
    set { speed_raw = Fix.held(newValue, to: Fix.speedLimit_mmps) }
  }
  /// Course over ground, 1e-4 degree clockwise from true north, 0 ..< 3,600,000 (LOC-3).
  ///
  /// Any value is brought into that range: 360° is 0°.
  @inlinable public var course_e4: Int32? {
    get { course_raw == .min ? nil : course_raw }
    set {
      guard let newValue else {
        course_raw = .min
        return
      }
      // Nearly all are in it, and a division takes longer than to see that.
      if newValue >= 0, newValue < 3_600_000 {
        course_raw = newValue
        return
      }
      let rest = newValue % 3_600_000
      course_raw = rest < 0 ? rest + 3_600_000 : rest
    }
  }
  /// √(σe² + σn²), millimetres (LOC-4); clamped to 0 … ``accuracyLimit_mm``.
  @inlinable public var horizontalAccuracy_mm: Int32? {
    get { horizontalAccuracy_raw == .min ? nil : horizontalAccuracy_raw }
    set { horizontalAccuracy_raw = Fix.held(newValue, to: Fix.accuracyLimit_mm) }
  }
  /// One sigma of the altitude, millimetres (LOC-2); clamped to 0 … ``accuracyLimit_mm``.
  @inlinable public var verticalAccuracy_mm: Int32? {
    get { verticalAccuracy_raw == .min ? nil : verticalAccuracy_raw }
    set { verticalAccuracy_raw = Fix.held(newValue, to: Fix.accuracyLimit_mm) }
  }
  /// One sigma of the speed, mm/s; clamped to 0 … ``speedAccuracyLimit_mmps``.
  @inlinable public var speedAccuracy_mmps: Int32? {
    get { speedAccuracy_raw == .min ? nil : speedAccuracy_raw }
    set { speedAccuracy_raw = Fix.held(newValue, to: Fix.speedAccuracyLimit_mmps) }
  }
  /// One sigma of the course, hundredths of a degree; clamped to 0 … 36,000.
  @inlinable public var courseAccuracy_e2: Int32? {
    get { courseAccuracy_raw == .min ? nil : courseAccuracy_raw }
    set { courseAccuracy_raw = Fix.held(newValue, to: Fix.courseAccuracyLimit_e2) }
  }
  /// Satellites used, 0 to 254; clamped.
  @inlinable public var satellites: Int16? {
    get { satellites_raw == .min ? nil : satellites_raw }
    set { satellites_raw = newValue.map { min(max($0, 0), 254) } ?? .min }
  }

  /// Horizontal accuracy in metres.
  @inlinable public var horizontalAccuracy: Double? {
    horizontalAccuracy_mm.map { Double($0) / 1e3 }
  }
  /// Speed over ground in m/s.
  @inlinable public var speed: Double? { speed_mmps.map { Double($0) / 1e3 } }
  /// Course over ground in degrees.
  @inlinable public var course: Double? { course_e4.map { Double($0) / 1e4 } }

  @inlinable static func held(_ value: Int32?, to limit: Int32) -> Int32 {
    guard let value else { return .min }
    return min(max(value, 0), limit)
  }
}

/// The name of a fix: no two fixes ever bear the same (RNG-2).
@frozen public struct FixName: Hashable, Sendable {
  /// Advanced durably at each start of the service, before the first append.
  public var generation: UInt32
  /// Counts fixes; at most 2⁴⁰ − 1, which lasts 3,400 years at 10 Hz.
  public var sequence: UInt64

  /// Creates a name.
  @inlinable public init(generation: UInt32, sequence: UInt64) {
    self.generation = generation
    self.sequence = sequence
  }
}
