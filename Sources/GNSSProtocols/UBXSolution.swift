import LocationTypes

/// Navigation solution in the fields that NAV-PVT, HNR-PVT and LOG-BATCH share.
///
/// Units are the protocol's own: degrees × 1e7, millimetres, mm/s, degrees × 1e5. What a frame does
/// not carry, or marks as invalid, is nil. Stored in the order of the frames and without optionals,
/// so that it is read and copied in a few wide moves: ``known`` says which fields mean something,
/// and what does not is zero.
public struct UBXSolution: Equatable, Sendable {
  /// Degrees × 1e7.
  public var longitude_e7: Int32
  /// Degrees × 1e7.
  public var latitude_e7: Int32
  /// Height above the ellipsoid, mm.
  public var height_mm: Int32
  var heightMSL_raw: Int32 = 0
  /// Horizontal accuracy, mm.
  public var horizontalAccuracy_mm: UInt32
  var verticalAccuracy_raw: UInt32 = 0
  var velocityNorth_raw: Int32 = 0
  var velocityEast_raw: Int32 = 0
  var velocityDown_raw: Int32 = 0
  /// Ground speed, mm/s.
  public var groundSpeed_mmps: Int32 = 0
  /// Heading of motion, degrees × 1e5.
  public var headingOfMotion_e5: Int32 = 0
  var speedAccuracy_raw: UInt32 = 0
  var headingAccuracy_raw: UInt32 = 0
  var timeAccuracy_raw: UInt32 = 0
  var utc_us: Int64
  var timeOfWeek_raw: UInt32 = 0
  var positionDOP_raw: UInt16 = 0
  var known = Known()
  /// Protocol's fixType: 0 none, 1 dead reckoning, 2 2D, 3 3D, 4 GNSS + dead reckoning, 5 time.
  public var fixType: UInt8
  /// carrSoln: 0 none, 1 float, 2 fixed.
  public var carrierSolution: UInt8 = 0
  var satellites_raw: UInt8 = 0
  /// Flag gnssFixOK, and not flag invalidLlh: within the receiver's limits of accuracy.
  public var isFixOK: Bool
  /// Flag diffSoln: differential corrections were applied.
  public var isDifferential = false
  /// Flag fullyResolved: the seconds of ``utc`` are no longer in doubt (leap seconds known).
  public var isTimeResolved: Bool

  /// Creates a solution of a place and moment; the rest is unknown or zero as the protocol has it.
  public init(
    utc: UTCTime?, fixType: UInt8, isFixOK: Bool, longitude_e7: Int32, latitude_e7: Int32,
    height_mm: Int32, horizontalAccuracy_mm: UInt32
  ) {
    utc_us = utc?.microseconds ?? .min
    self.fixType = fixType
    self.isFixOK = isFixOK
    self.longitude_e7 = longitude_e7
    self.latitude_e7 = latitude_e7
    self.height_mm = height_mm
    self.horizontalAccuracy_mm = horizontalAccuracy_mm
    isTimeResolved = utc != nil
  }

  /// Which of the fields that a frame may lack it has: one bit each.
  struct Known: Equatable, Sendable {
    var bits: UInt16 = 0

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

    @inline(__always) func has(_ bit: UInt16) -> Bool { bits & bit != 0 }

    @inline(__always) mutating func set(_ bit: UInt16, _ isKnown: Bool) {
      bits = isKnown ? bits | bit : bits & ~bit
    }
  }
}

extension UBXSolution {
  /// UTC of the epoch to the microsecond; nil unless date and time are flagged valid.
  ///
  /// A leap second lies in the last millisecond of the second before it (STD-13).
  public var utc: UTCTime? {
    get { utc_us == .min ? nil : UTCTime(microseconds: utc_us) }
    set { utc_us = newValue?.microseconds ?? .min }
  }

  /// GPS time of week of the epoch, ms, where the frame carries it.
  public var timeOfWeek_ms: UInt32? {
    get { known.has(Known.timeOfWeek) ? timeOfWeek_raw : nil }
    set {
      timeOfWeek_raw = newValue ?? 0
      known.set(Known.timeOfWeek, newValue != nil)
    }
  }

  /// Estimated error of the time, ns.
  public var timeAccuracy_ns: UInt32? {
    get { known.has(Known.timeAccuracy) ? timeAccuracy_raw : nil }
    set {
      timeAccuracy_raw = newValue ?? 0
      known.set(Known.timeAccuracy, newValue != nil)
    }
  }

  /// Satellites used.
  public var satellites: UInt8? {
    get { known.has(Known.satellites) ? satellites_raw : nil }
    set {
      satellites_raw = newValue ?? 0
      known.set(Known.satellites, newValue != nil)
    }
  }

  /// Height above mean sea level, mm.
  public var heightMSL_mm: Int32? {
    get { known.has(Known.heightMSL) ? heightMSL_raw : nil }
    set {
      heightMSL_raw = newValue ?? 0
      known.set(Known.heightMSL, newValue != nil)
    }
  }

  /// Vertical accuracy, mm.
  public var verticalAccuracy_mm: UInt32? {
    get { known.has(Known.verticalAccuracy) ? verticalAccuracy_raw : nil }
    set {
      verticalAccuracy_raw = newValue ?? 0
      known.set(Known.verticalAccuracy, newValue != nil)
    }
  }

  /// Velocity north, mm/s.
  public var velocityNorth_mmps: Int32? {
    get { known.has(Known.velocityNorth) ? velocityNorth_raw : nil }
    set {
      velocityNorth_raw = newValue ?? 0
      known.set(Known.velocityNorth, newValue != nil)
    }
  }

  /// Velocity east, mm/s.
  public var velocityEast_mmps: Int32? {
    get { known.has(Known.velocityEast) ? velocityEast_raw : nil }
    set {
      velocityEast_raw = newValue ?? 0
      known.set(Known.velocityEast, newValue != nil)
    }
  }

  /// Velocity down, mm/s.
  public var velocityDown_mmps: Int32? {
    get { known.has(Known.velocityDown) ? velocityDown_raw : nil }
    set {
      velocityDown_raw = newValue ?? 0
      known.set(Known.velocityDown, newValue != nil)
    }
  }

  /// Speed accuracy, mm/s.
  public var speedAccuracy_mmps: UInt32? {
    get { known.has(Known.speedAccuracy) ? speedAccuracy_raw : nil }
    set {
      speedAccuracy_raw = newValue ?? 0
      known.set(Known.speedAccuracy, newValue != nil)
    }
  }

  /// Heading accuracy, degrees × 1e5.
  public var headingAccuracy_e5: UInt32? {
    get { known.has(Known.headingAccuracy) ? headingAccuracy_raw : nil }
    set {
      headingAccuracy_raw = newValue ?? 0
      known.set(Known.headingAccuracy, newValue != nil)
    }
  }

  /// Position DOP × 100.
  public var positionDOP_e2: UInt16? {
    get { known.has(Known.positionDOP) ? positionDOP_raw : nil }
    set {
      positionDOP_raw = newValue ?? 0
      known.set(Known.positionDOP, newValue != nil)
    }
  }
}

extension UBXSolution {
  /// The place; it may lie off the globe.
  var place: Coordinate {
    Coordinate(latitude_e9: Int64(latitude_e7) * 100, longitude_e9: Int64(longitude_e7) * 100)
  }

  /// Takes heights and accuracies of NAV-HPPOSLLH, rounded to the millimetre.
  mutating func refine(_ precise: UBXPrecisePosition) {
    height_mm = precise.height_mm
    heightMSL_mm = precise.heightMSL_mm
    horizontalAccuracy_mm = precise.horizontalAccuracy_mm
    verticalAccuracy_mm = precise.verticalAccuracy_mm
  }
}

extension UBXPrecisePosition {
  /// The place; it may lie off the globe.
  var place: Coordinate { Coordinate(latitude_e9: latitude_e9, longitude_e9: longitude_e9) }

  /// Whether it is marked valid and lies on the globe.
  var isUsable: Bool { isValid && place.isValid }

  /// Whether it is the same place to more digits: less than one of the last digit away.
  ///
  /// The parts of an epoch that disagree are not mixed; NAV-PVT and NAV-POSLLH go before it.
  func refines(_ place: Coordinate) -> Bool {
    isUsable && abs(latitude_e9 - place.latitude_e9) <= 100
      && abs(longitude_e9 - place.longitude_e9) <= 100
  }

  var height_mm: Int32 { UBXPrecisePosition.millimetres(height_dmm) }
  var heightMSL_mm: Int32 { UBXPrecisePosition.millimetres(heightMSL_dmm) }
  /// Rounded up: an accuracy is not made better than it was told.
  var horizontalAccuracy_mm: UInt32 {
    horizontalAccuracy_dmm / 10 + (horizontalAccuracy_dmm % 10 == 0 ? 0 : 1)
  }
  /// Rounded up.
  var verticalAccuracy_mm: UInt32 {
    verticalAccuracy_dmm / 10 + (verticalAccuracy_dmm % 10 == 0 ? 0 : 1)
  }

  private static func millimetres(_ value: Int64) -> Int32 {
    Int32(clamping: (value + (value < 0 ? -5 : 5)) / 10)
  }
}
