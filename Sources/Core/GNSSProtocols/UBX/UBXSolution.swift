import LocationTypes

/// Navigation solution in the fields that NAV-PVT, HNR-PVT and LOG-BATCH share.
///
/// Units are the protocol's own: degrees × 1e7, millimetres, mm/s, degrees × 1e5. Values that a frame
/// does not contain, or marks as invalid, are nil.
///
/// Two 32-bit fields are stored in one word, as in the frames, so that a solution is read, passed and
/// copied in a few wide moves. One bit per optional field says whether it is known; unknown fields are
/// zero. There are no stored optionals or Booleans: the compiler would use their spare bits for the
/// case of a ``GNSSMessage``, and every message would be packed and unpacked with masks.
///
/// Depends on `LocationTypes`.
public struct UBXSolution: Equatable, Sendable {
  // The words of NAV-PVT from the longitude on.
  var coordinates = WordPair()
  var heights = WordPair()
  var accuracies = WordPair()
  var velocities = WordPair()
  var downAndGround = WordPair()
  var headingAndSpeedAccuracy = WordPair()
  // Second field: position DOP, and above it the bits of ``Known``.
  var headingAccuracyAndDOP = WordPair()
  var utc_us = Int64.min
  var timeOfWeekAndTimeAccuracy = WordPair()
  // First field as in NAV-PVT: fixType, flags, flags2, numSV.
  var state = WordPair()

  /// Creates a solution with position and time; the other fields are unknown, or zero if the protocol
  /// has no unknown value.
  public init(
    utc: UTCTime?, fixType: UInt8, isFixOK: Bool, longitude_e7: Int32, latitude_e7: Int32,
    height_mm: Int32, horizontalAccuracy_mm: UInt32
  ) {
    utc_us = utc?.microseconds ?? .min
    self.fixType = fixType
    self.longitude_e7 = longitude_e7
    self.latitude_e7 = latitude_e7
    self.height_mm = height_mm
    self.horizontalAccuracy_mm = horizontalAccuracy_mm
    self.isFixOK = isFixOK
    isTimeResolved = utc != nil
  }

  /// Bits of the fields that a frame may lack.
  enum Known {
    static let timeOfWeek: UInt16 = 1 << 0
    static let timeAccuracy: UInt16 = 1 << 1
    static let satellites: UInt16 = 1 << 2
    static let heightMSL: UInt16 = 1 << 3
    static let verticalAccuracy: UInt16 = 1 << 4
    static let velocityNorth: UInt16 = 1 << 5
    static let velocityEast: UInt16 = 1 << 6
    static let velocityDown: UInt16 = 1 << 7
    static let speedAccuracy: UInt16 = 1 << 8
    static let headingAccuracy: UInt16 = 1 << 9
    static let positionDOP: UInt16 = 1 << 10
    static let all: UInt16 = 1 << 11 - 1
  }

  /// Bits of ``state``, as in NAV-PVT except for `timeResolved`.
  enum State {
    /// flags: gnssFixOK.
    static let fixOK: UInt32 = 1 << 8
    /// flags: diffSoln.
    static let differential: UInt32 = 1 << 9
    /// flags: carrSoln.
    static let carrier: UInt32 = 3 << 14
    /// Not of flags2, but bit 2 of `valid`: fullyResolved.
    static let timeResolved: UInt32 = 1 << 18
    /// Bits copied from the frame.
    static let copied: UInt32 = 0xFF00_00FF | fixOK | differential | carrier
  }

  /// Whether the field of that bit of ``Known`` is known.
  @inline(__always) func isKnown(_ bit: UInt16) -> Bool {
    headingAccuracyAndDOP.bits & UInt64(bit) &<< 48 != 0
  }

  /// Sets whether the field of that bit of ``Known`` is known.
  @inline(__always) mutating func setKnown(_ bit: UInt16, _ isKnown: Bool) {
    let mask = UInt64(bit) &<< 48
    headingAccuracyAndDOP.bits =
      isKnown ? headingAccuracyAndDOP.bits | mask : headingAccuracyAndDOP.bits & ~mask
  }
}

/// Two 32-bit fields in one word, as in a frame.
struct WordPair: Equatable, Sendable {
  var bits: UInt64 = 0

  /// The first field.
  @inline(__always) var first: UInt32 {
    get { UInt32(truncatingIfNeeded: bits) }
    set { bits = bits & 0xFFFF_FFFF_0000_0000 | UInt64(newValue) }
  }
  /// The second field.
  @inline(__always) var second: UInt32 {
    get { UInt32(truncatingIfNeeded: bits &>> 32) }
    set { bits = bits & 0xFFFF_FFFF | UInt64(newValue) &<< 32 }
  }
  /// The first field in two's complement.
  @inline(__always) fileprivate var firstSigned: Int32 {
    get { Int32(bitPattern: first) }
    set { first = UInt32(bitPattern: newValue) }
  }
  /// The second field in two's complement.
  @inline(__always) fileprivate var secondSigned: Int32 {
    get { Int32(bitPattern: second) }
    set { second = UInt32(bitPattern: newValue) }
  }
  /// The lower half of the second field.
  @inline(__always) fileprivate var secondHalf: UInt16 {
    get { UInt16(truncatingIfNeeded: bits &>> 32) }
    set { bits = bits & ~(0xFFFF &<< 32) | UInt64(newValue) &<< 32 }
  }

  /// Sets or clears bits of the first field.
  @inline(__always) mutating func set(_ mask: UInt32, _ isTrue: Bool) {
    first = isTrue ? first | mask : first & ~mask
  }
}

// MARK: Fields of every solution

extension UBXSolution {
  /// Degrees × 1e7.
  public var longitude_e7: Int32 {
    get { coordinates.firstSigned }
    set { coordinates.firstSigned = newValue }
  }
  /// Degrees × 1e7.
  public var latitude_e7: Int32 {
    get { coordinates.secondSigned }
    set { coordinates.secondSigned = newValue }
  }
  /// Height above the ellipsoid, mm.
  public var height_mm: Int32 {
    get { heights.firstSigned }
    set { heights.firstSigned = newValue }
  }
  /// Horizontal accuracy, mm.
  public var horizontalAccuracy_mm: UInt32 {
    get { accuracies.first }
    set { accuracies.first = newValue }
  }
  /// Ground speed, mm/s.
  public var groundSpeed_mmps: Int32 {
    get { downAndGround.secondSigned }
    set { downAndGround.secondSigned = newValue }
  }
  /// Heading of motion, degrees × 1e5.
  public var headingOfMotion_e5: Int32 {
    get { headingAndSpeedAccuracy.firstSigned }
    set { headingAndSpeedAccuracy.firstSigned = newValue }
  }
  /// Protocol's fixType: 0 none, 1 dead reckoning, 2 2D, 3 3D, 4 GNSS + dead reckoning, 5 time.
  public var fixType: UInt8 {
    get { UInt8(truncatingIfNeeded: state.first) }
    set { state.first = state.first & ~0xFF | UInt32(newValue) }
  }
  /// carrSoln, two bits: 0 none, 1 float, 2 fixed.
  public var carrierSolution: UInt8 {
    get { UInt8(truncatingIfNeeded: state.first &>> 14) & 3 }
    set { state.first = state.first & ~State.carrier | UInt32(newValue & 3) &<< 14 }
  }
  /// Flag gnssFixOK without flag invalidLlh: within the receiver's accuracy limits.
  public var isFixOK: Bool {
    get { state.first & State.fixOK != 0 }
    set { state.set(State.fixOK, newValue) }
  }
  /// Flag diffSoln: differential corrections were applied.
  public var isDifferential: Bool {
    get { state.first & State.differential != 0 }
    set { state.set(State.differential, newValue) }
  }
  /// Flag fullyResolved: the seconds of ``utc`` are certain (leap seconds known).
  public var isTimeResolved: Bool {
    get { state.first & State.timeResolved != 0 }
    set { state.set(State.timeResolved, newValue) }
  }
}

// MARK: Fields that a frame may lack

extension UBXSolution {
  /// UTC of the epoch to the microsecond; nil unless date and time are flagged valid.
  ///
  /// A leap second is compressed into the last millisecond of the second before it (STD-13).
  public var utc: UTCTime? {
    get { utc_us == .min ? nil : UTCTime(microseconds: utc_us) }
    set { utc_us = newValue?.microseconds ?? .min }
  }

  /// GPS time of week of the epoch, ms; nil if the frame lacks it.
  public var timeOfWeek_ms: UInt32? {
    get { isKnown(Known.timeOfWeek) ? timeOfWeekAndTimeAccuracy.first : nil }
    set {
      timeOfWeekAndTimeAccuracy.first = newValue ?? 0
      setKnown(Known.timeOfWeek, newValue != nil)
    }
  }

  /// Estimated error of the time, ns.
  public var timeAccuracy_ns: UInt32? {
    get { isKnown(Known.timeAccuracy) ? timeOfWeekAndTimeAccuracy.second : nil }
    set {
      timeOfWeekAndTimeAccuracy.second = newValue ?? 0
      setKnown(Known.timeAccuracy, newValue != nil)
    }
  }

  /// Satellites used.
  public var satellites: UInt8? {
    get { isKnown(Known.satellites) ? UInt8(truncatingIfNeeded: state.first &>> 24) : nil }
    set {
      state.first = state.first & 0xFF_FFFF | UInt32(newValue ?? 0) &<< 24
      setKnown(Known.satellites, newValue != nil)
    }
  }

  /// Height above mean sea level, mm.
  public var heightMSL_mm: Int32? {
    get { isKnown(Known.heightMSL) ? heights.secondSigned : nil }
    set {
      heights.secondSigned = newValue ?? 0
      setKnown(Known.heightMSL, newValue != nil)
    }
  }

  /// Vertical accuracy, mm.
  public var verticalAccuracy_mm: UInt32? {
    get { isKnown(Known.verticalAccuracy) ? accuracies.second : nil }
    set {
      accuracies.second = newValue ?? 0
      setKnown(Known.verticalAccuracy, newValue != nil)
    }
  }

  /// Velocity north, mm/s.
  public var velocityNorth_mmps: Int32? {
    get { isKnown(Known.velocityNorth) ? velocities.firstSigned : nil }
    set {
      velocities.firstSigned = newValue ?? 0
      setKnown(Known.velocityNorth, newValue != nil)
    }
  }

  /// Velocity east, mm/s.
  public var velocityEast_mmps: Int32? {
    get { isKnown(Known.velocityEast) ? velocities.secondSigned : nil }
    set {
      velocities.secondSigned = newValue ?? 0
      setKnown(Known.velocityEast, newValue != nil)
    }
  }

  /// Velocity down, mm/s.
  public var velocityDown_mmps: Int32? {
    get { isKnown(Known.velocityDown) ? downAndGround.firstSigned : nil }
    set {
      downAndGround.firstSigned = newValue ?? 0
      setKnown(Known.velocityDown, newValue != nil)
    }
  }

  /// Speed accuracy, mm/s.
  public var speedAccuracy_mmps: UInt32? {
    get { isKnown(Known.speedAccuracy) ? headingAndSpeedAccuracy.second : nil }
    set {
      headingAndSpeedAccuracy.second = newValue ?? 0
      setKnown(Known.speedAccuracy, newValue != nil)
    }
  }

  /// Heading accuracy, degrees × 1e5.
  public var headingAccuracy_e5: UInt32? {
    get { isKnown(Known.headingAccuracy) ? headingAccuracyAndDOP.first : nil }
    set {
      headingAccuracyAndDOP.first = newValue ?? 0
      setKnown(Known.headingAccuracy, newValue != nil)
    }
  }

  /// Position DOP × 100.
  public var positionDOP_e2: UInt16? {
    get { isKnown(Known.positionDOP) ? headingAccuracyAndDOP.secondHalf : nil }
    set {
      headingAccuracyAndDOP.secondHalf = newValue ?? 0
      setKnown(Known.positionDOP, newValue != nil)
    }
  }
}

extension UBXSolution {
  /// The position; not checked for valid ranges.
  public var coordinate: Coordinate {
    Coordinate(latitude_e9: Int64(latitude_e7) * 100, longitude_e9: Int64(longitude_e7) * 100)
  }

  /// Applies heights of NAV-HPPOSLLH, rounded to the millimetre, and its accuracies, rounded up.
  mutating func refine(_ precise: UBXPrecisePosition) {
    height_mm = precise.height_mm
    heightMSL_mm = precise.heightMSL_mm
    horizontalAccuracy_mm = precise.horizontalAccuracy_mm
    verticalAccuracy_mm = precise.verticalAccuracy_mm
  }
}

extension UBXPrecisePosition {
  /// The position; not checked for valid ranges.
  var coordinate: Coordinate { Coordinate(latitude_e9: latitude_e9, longitude_e9: longitude_e9) }

  /// Whether the position is marked valid and within valid ranges.
  var isUsable: Bool { isValid && coordinate.isValid }

  /// Whether this is `coordinate` with more digits: within one unit of its last digit, 1e-7 degree.
  ///
  /// Parts of an epoch that disagree are not mixed; NAV-PVT and NAV-POSLLH have precedence.
  func refines(_ coordinate: Coordinate) -> Bool {
    isUsable && abs(latitude_e9 - coordinate.latitude_e9) <= 100
      && abs(longitude_e9 - coordinate.longitude_e9) <= 100
  }

  var height_mm: Int32 { UBXPrecisePosition.millimetres(height_dmm) }
  var heightMSL_mm: Int32 { UBXPrecisePosition.millimetres(heightMSL_dmm) }
  /// Horizontal accuracy, mm, rounded up so that it is not understated.
  var horizontalAccuracy_mm: UInt32 {
    horizontalAccuracy_dmm / 10 + (horizontalAccuracy_dmm % 10 == 0 ? 0 : 1)
  }
  /// Vertical accuracy, mm, rounded up.
  var verticalAccuracy_mm: UInt32 {
    verticalAccuracy_dmm / 10 + (verticalAccuracy_dmm % 10 == 0 ? 0 : 1)
  }

  private static func millimetres(_ value: Int64) -> Int32 {
    Int32(clamping: (value + (value < 0 ? -5 : 5)) / 10)
  }
}
