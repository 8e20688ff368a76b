import LocationTypes

/// A UBX message with a part of an epoch: the messages with the same time of week form one epoch.
///
/// Units and validity flags are the protocol's own; ``UBXDraft`` combines the messages.
public enum UBXNavigation: Equatable, Sendable {
  /// NAV-POSECEF.
  case ecefPosition(UBXECEFVector)
  /// NAV-POSLLH.
  case position(UBXPosition)
  /// NAV-STATUS.
  case status(UBXStatus)
  /// NAV-DOP.
  case dilutions(UBXDilutions)
  /// NAV-SOL.
  case ecefSolution(UBXECEFSolution)
  /// NAV-VELECEF.
  case ecefVelocity(UBXECEFVector)
  /// NAV-VELNED.
  case velocity(UBXVelocity)
  /// NAV-HPPOSLLH.
  case precisePosition(UBXPrecisePosition)
  /// NAV-TIMEGPS.
  case gpsTime(UBXGPSTime)
  /// NAV-TIMEUTC.
  case utc(UBXTimeUTC)
  /// NAV-TIMELS.
  case leapSeconds(UBXLeapSeconds)
  /// NAV-SVINFO, the predecessor of NAV-SAT.
  case channels(UBXSatellites)
  /// NAV-SAT.
  case satellites(UBXSatellites)
  /// NAV-EOE: end of the epoch.
  case endOfEpoch(timeOfWeek_ms: UInt32)

  /// GPS time of week of the epoch, ms.
  public var timeOfWeek_ms: UInt32 {
    switch self {
    case .ecefPosition(let m), .ecefVelocity(let m): m.timeOfWeek_ms
    case .position(let m): m.timeOfWeek_ms
    case .status(let m): m.timeOfWeek_ms
    case .dilutions(let m): m.timeOfWeek_ms
    case .ecefSolution(let m): m.timeOfWeek_ms
    case .velocity(let m): m.timeOfWeek_ms
    case .precisePosition(let m): m.timeOfWeek_ms
    case .gpsTime(let m): m.timeOfWeek_ms
    case .utc(let m): m.timeOfWeek_ms
    case .leapSeconds(let m): m.timeOfWeek_ms
    case .channels(let m), .satellites(let m): m.timeOfWeek_ms
    case .endOfEpoch(let time): time
    }
  }
}

/// UBX-NAV-POSECEF in cm, or NAV-VELECEF in cm/s.
@frozen public struct UBXECEFVector: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// X towards 0° N 0° E, cm or cm/s.
  public var x: Int32
  /// Y towards 0° N 90° E, cm or cm/s.
  public var y: Int32
  /// Z towards the north pole, cm or cm/s.
  public var z: Int32
  /// Accuracy in three dimensions, cm or cm/s.
  public var accuracy: UInt32

  /// The vector in metres or m/s.
  public var vector: ECEF { ECEF(x: Double(x) / 100, y: Double(y) / 100, z: Double(z) / 100) }
}

/// UBX-NAV-POSLLH.
public struct UBXPosition: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// Degrees × 1e7.
  public var longitude_e7: Int32
  /// Degrees × 1e7.
  public var latitude_e7: Int32
  /// Height above the ellipsoid, mm.
  public var height_mm: Int32
  /// Height above mean sea level, mm.
  public var heightMSL_mm: Int32
  /// Horizontal accuracy, mm.
  public var horizontalAccuracy_mm: UInt32
  /// Vertical accuracy, mm.
  public var verticalAccuracy_mm: UInt32
}

/// UBX-NAV-HPPOSLLH.
public struct UBXPrecisePosition: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// Whether flag invalidLlh is clear.
  public var isValid: Bool
  /// Degrees × 1e9.
  public var longitude_e9: Int64
  /// Degrees × 1e9.
  public var latitude_e9: Int64
  /// Height above the ellipsoid, 0.1 mm.
  public var height_dmm: Int64
  /// Height above mean sea level, 0.1 mm.
  public var heightMSL_dmm: Int64
  /// Horizontal accuracy, 0.1 mm.
  public var horizontalAccuracy_dmm: UInt32
  /// Vertical accuracy, 0.1 mm.
  public var verticalAccuracy_dmm: UInt32
}

/// UBX-NAV-STATUS.
public struct UBXStatus: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// gpsFix, with the numbers of fixType.
  public var fixType: UInt8
  /// Bits 0 gpsFixOk, 1 diffSoln, 2 wknSet, 3 towSet.
  public var flags: UInt8
  /// Time to first fix, ms.
  public var timeToFix_ms: UInt32
  /// Time since start-up or reset, ms.
  public var uptime_ms: UInt32
}

/// UBX-NAV-DOP; each × 100.
public struct UBXDilutions: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// Geometric.
  public var geometric_e2: UInt16
  /// Position.
  public var position_e2: UInt16
  /// Time.
  public var time_e2: UInt16
  /// Vertical.
  public var vertical_e2: UInt16
  /// Horizontal.
  public var horizontal_e2: UInt16
  /// Northing.
  public var northing_e2: UInt16
  /// Easting.
  public var easting_e2: UInt16
}

/// UBX-NAV-SOL, of receivers before u-blox 7.
public struct UBXECEFSolution: Equatable, Sendable {
  /// Fraction of ``timeOfWeek_ms``, ±500,000 ns.
  public var fraction_ns: Int32
  /// GPS week.
  public var week: Int16
  /// gpsFix, with the numbers of fixType.
  public var fixType: UInt8
  /// Bits 0 GPSfixOK, 1 DiffSoln, 2 WKNSET, 3 TOWSET.
  public var flags: UInt8
  /// Position, cm, and time of week.
  public var position: UBXECEFVector
  /// Velocity, cm/s.
  public var velocity: UBXECEFVector
  /// Position DOP × 100.
  public var positionDOP_e2: UInt16
  /// Satellites used.
  public var satellites: UInt8

  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32 { position.timeOfWeek_ms }
}

/// UBX-NAV-VELNED.
public struct UBXVelocity: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// North, cm/s.
  public var north_cmps: Int32
  /// East, cm/s.
  public var east_cmps: Int32
  /// Down, cm/s.
  public var down_cmps: Int32
  /// In three dimensions, cm/s.
  public var speed_cmps: UInt32
  /// Over ground, cm/s.
  public var groundSpeed_cmps: UInt32
  /// Degrees × 1e5.
  public var heading_e5: Int32
  /// Speed accuracy, cm/s.
  public var speedAccuracy_cmps: UInt32
  /// Heading accuracy, degrees × 1e5.
  public var headingAccuracy_e5: UInt32
}
