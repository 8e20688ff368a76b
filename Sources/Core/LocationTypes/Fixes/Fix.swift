/// Number of dimensions of a position solution.
@frozen public enum FixMode: UInt8, Sendable {
  /// Latitude and longitude; the altitude, if present, is an assumed value.
  case twoDimensional = 2
  /// Latitude, longitude and altitude.
  case threeDimensional = 3
}

/// Method by which the receiver computed the position.
///
/// The raw values are specific to Torpor and part of the ring format.
@frozen public enum FixQuality: UInt8, Sendable {
  /// Not reported by the receiver.
  case unknown = 0
  /// Satellite measurements without corrections.
  case autonomous = 1
  /// Code-phase corrections (SBAS, DGPS).
  case differential = 2
  /// Carrier phase with fixed ambiguities (RTK fixed).
  case rtkFixed = 3
  /// Carrier phase with float ambiguities (RTK float).
  case rtkFloat = 4
  /// Dead reckoning without satellites.
  case deadReckoning = 5
  /// Manual input.
  case manual = 6
  /// The receiver's built-in simulator.
  case simulated = 7
  /// Fixed, surveyed position of a timing receiver, which computes time only.
  case surveyed = 8
  /// Satellites combined with dead reckoning.
  case combined = 9
}

/// A position fix: coordinate, time, altitude, velocity, accuracies and origin.
///
/// Values are scaled integers, so that storing a fix in the ring is lossless (`Docs/Reference/ring-format.md`). In
/// memory, each optional field uses its type's smallest value for "unknown"; the accessors return nil for it. A
/// fix always has a valid ``coordinate``.
@frozen public struct Fix: Equatable, Sendable {
  /// Time at which the position was measured, on the boot clock; never the time of delivery (STD-7).
  public var acquired: Instant
  /// Position on the WGS 84 ellipsoid.
  public var coordinate: Coordinate
  @usableFromInline var utc_us = Int64.min
  @usableFromInline var ellipsoidalAltitude_raw = Int32.min
  @usableFromInline var altitude_raw = Int32.min
  @usableFromInline var speed_raw = Int32.min
  @usableFromInline var course_raw = Int32.min
  @usableFromInline var horizontalAccuracy_raw = Int32.min
  @usableFromInline var verticalAccuracy_raw = Int32.min
  @usableFromInline var speedAccuracy_raw = Int32.min
  @usableFromInline var courseAccuracy_raw = Int32.min
  @usableFromInline var satellites_raw = Int16.min
  /// Whether the position has two or three dimensions.
  public var mode: FixMode
  /// Method by which the receiver computed the position.
  public var quality = FixQuality.unknown
  /// Whether the UTC date was corrected or could not be verified (STD-13).
  public var isDateUncertain = false
  /// Whether the position comes from a simulation or a replay (LOC-8).
  public var isSimulated = false
  /// Whether the receiver is an external accessory on USB or Bluetooth (LOC-8).
  public var isFromAccessory = false

  /// Creates a fix with coordinate and time only; all other fields are unknown.
  ///
  /// - Precondition: `coordinate` is valid (LOC-10).
  @inlinable public init(
    acquired: Instant, coordinate: Coordinate, mode: FixMode = .threeDimensional
  ) {
    precondition(coordinate.isValid, "a fix needs a valid coordinate")
    self.acquired = acquired
    self.coordinate = coordinate
    self.mode = mode
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

  /// UTC at which the position was measured; nil if unknown (STD-13).
  @inlinable public var utc: UTCTime? {
    get { utc_us == .min ? nil : UTCTime(microseconds: utc_us) }
    set { utc_us = newValue?.microseconds ?? .min }
  }
  /// Altitude above the WGS 84 ellipsoid, millimetres (LOC-5).
  @inlinable public var ellipsoidalAltitude_mm: Int32? {
    get { ellipsoidalAltitude_raw == .min ? nil : ellipsoidalAltitude_raw }
    set { ellipsoidalAltitude_raw = newValue ?? .min }
  }
  /// Altitude above mean sea level, millimetres (LOC-5).
  @inlinable public var altitude_mm: Int32? {
    get { altitude_raw == .min ? nil : altitude_raw }
    set { altitude_raw = newValue ?? .min }
  }
  /// Speed over ground, mm/s, clamped to 0 … ``speedLimit_mmps`` (LOC-3).
  @inlinable public var speed_mmps: Int32? {
    get { speed_raw == .min ? nil : speed_raw }
    set { speed_raw = Fix.clamped(newValue, to: Fix.speedLimit_mmps) }
  }
  /// Course over ground, 1e-4 degree clockwise from true north, 0 ..< 3,600,000 (LOC-3).
  ///
  /// The setter reduces any value modulo 360°.
  @inlinable public var course_e4: Int32? {
    get { course_raw == .min ? nil : course_raw }
    set {
      guard let newValue else {
        course_raw = .min
        return
      }
      // Nearly every value is in range; the comparison avoids a division.
      if newValue >= 0, newValue < 3_600_000 {
        course_raw = newValue
        return
      }
      let remainder = newValue % 3_600_000
      course_raw = remainder < 0 ? remainder + 3_600_000 : remainder
    }
  }
  /// Horizontal accuracy √(σe² + σn²), millimetres (LOC-4); clamped to 0 … ``accuracyLimit_mm``.
  @inlinable public var horizontalAccuracy_mm: Int32? {
    get { horizontalAccuracy_raw == .min ? nil : horizontalAccuracy_raw }
    set { horizontalAccuracy_raw = Fix.clamped(newValue, to: Fix.accuracyLimit_mm) }
  }
  /// Vertical accuracy, one sigma, millimetres (LOC-2); clamped to 0 … ``accuracyLimit_mm``.
  @inlinable public var verticalAccuracy_mm: Int32? {
    get { verticalAccuracy_raw == .min ? nil : verticalAccuracy_raw }
    set { verticalAccuracy_raw = Fix.clamped(newValue, to: Fix.accuracyLimit_mm) }
  }
  /// Speed accuracy, one sigma, mm/s; clamped to 0 … ``speedAccuracyLimit_mmps``.
  @inlinable public var speedAccuracy_mmps: Int32? {
    get { speedAccuracy_raw == .min ? nil : speedAccuracy_raw }
    set { speedAccuracy_raw = Fix.clamped(newValue, to: Fix.speedAccuracyLimit_mmps) }
  }
  /// Course accuracy, one sigma, hundredths of a degree; clamped to 0 … 36,000.
  @inlinable public var courseAccuracy_e2: Int32? {
    get { courseAccuracy_raw == .min ? nil : courseAccuracy_raw }
    set { courseAccuracy_raw = Fix.clamped(newValue, to: Fix.courseAccuracyLimit_e2) }
  }
  /// Number of satellites used in the solution, clamped to 0 … 254.
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

  @inlinable static func clamped(_ value: Int32?, to limit: Int32) -> Int32 {
    guard let value else { return .min }
    return min(max(value, 0), limit)
  }
}

/// Unique identifier of a fix, never reused (RNG-2).
@frozen public struct FixName: Hashable, Comparable, Sendable {
  /// Generation of the ring: increased durably at each start of the service, before the first append.
  public var generation: UInt32
  /// Sequence number of the fix; at most 2⁴⁰ − 1, which is enough for 3,400 years at 10 Hz.
  public var sequence: UInt64

  /// Creates a name.
  @inlinable public init(generation: UInt32, sequence: UInt64) {
    self.generation = generation
    self.sequence = sequence
  }

  /// Exclusive upper bound of sequence numbers, which have 40 bits: 2⁴⁰.
  @inlinable public static var sequenceLimit: UInt64 { 0x100_0000_0000 }

  /// Whether the fix `a` is older than the fix `b`.
  @inlinable public static func < (a: FixName, b: FixName) -> Bool {
    (a.generation, a.sequence) < (b.generation, b.sequence)
  }
}
