import LocationTypes

/// Talker identifier: two characters such as `GP`, `GN`, `II`.
@frozen public struct Talker: Hashable, Sendable {
  /// The first character.
  public var first: UInt8
  /// The second character.
  public var second: UInt8

  /// Creates a talker from two ASCII characters.
  @inlinable public init(_ first: UInt8, _ second: UInt8) {
    self.first = first
    self.second = second
  }

  /// GPS alone.
  public static let gps = Talker(UInt8(ascii: "G"), UInt8(ascii: "P"))
  /// Prefix of `$PUBX` sentences.
  static let ublox = Talker(UInt8(ascii: "P"), UInt8(ascii: "U"))
  /// Several systems combined.
  public static let combined = Talker(UInt8(ascii: "G"), UInt8(ascii: "N"))
}

/// A date with a two-digit year, as in RMC and in the ZDA of some receivers.
@frozen public struct ShortDate: Equatable, Sendable {
  /// Year of the century, 0 to 99.
  public var year: UInt8
  /// Month, 1 to 12.
  public var month: UInt8
  /// Day, 1 to 31.
  public var day: UInt8
}

/// The mode indicator of NMEA 2.3 and later.
@frozen public enum NMEAMode: UInt8, Sendable {
  /// `A`
  case autonomous = 0x41
  /// `D`
  case differential = 0x44
  /// `E`: dead reckoning.
  case estimated = 0x45
  /// `F`: RTK with float ambiguities.
  case rtkFloat = 0x46
  /// `M`
  case manual = 0x4D
  /// `N`: no fix.
  case notValid = 0x4E
  /// `P`: precise.
  case precise = 0x50
  /// `R`: RTK with integer ambiguities.
  case rtkFixed = 0x52
  /// `S`
  case simulator = 0x53
}

/// RMC: recommended minimum specific data. Empty fields are nil.
public struct RMC: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Status `A`, or `D` as some receivers send; false for `V` and when empty.
  public var isValid: Bool
  /// Position.
  public var coordinate: Coordinate?
  /// Speed over ground, mm/s.
  public var speed_mmps: Int32?
  /// Course over ground, 1e-4 degree from true north, 0 to 3,600,000.
  public var course_e4: Int32?
  /// Date.
  public var date: ShortDate?
  /// Magnetic variation, 1e-4 degree, positive where the needle points east of north.
  public var variation_e4: Int32?
  /// Mode indicator.
  public var mode: NMEAMode?
  /// Navigational status of NMEA 4.1: `S` safe, `C` caution, `U` unsafe, `V` not valid.
  public var navigationalStatus: UInt8?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil, isValid: Bool = false) {
    self.talker = talker
    self.time_us = time_us
    self.isValid = isValid
  }
}

/// GGA: fix data. Empty fields are nil.
public struct GGA: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Position.
  public var coordinate: Coordinate?
  /// Quality indicator: 0 none, 1 GPS, 2 differential, 3 PPS, 4 RTK, 5 float, 6 dead reckoning,
  /// 7 manual, 8 simulator.
  public var quality: UInt8?
  /// Satellites used.
  public var satellites: UInt8?
  /// Horizontal dilution of precision × 100.
  public var horizontalDOP_e2: UInt16?
  /// Altitude above mean sea level, mm.
  public var altitude_mm: Int32?
  /// Height of the geoid above the ellipsoid, mm.
  public var separation_mm: Int32?
  /// Age of the corrections, ms.
  public var correctionAge_ms: Int32?
  /// Number of the reference station, 0 to 4,095.
  public var station: UInt16?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil, quality: UInt8? = nil) {
    self.talker = talker
    self.time_us = time_us
    self.quality = quality
  }
}

/// GST: pseudorange error statistics, 1 σ in mm. Empty fields are nil.
public struct GST: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Root mean square of the range residuals.
  public var residual_mm: Int32?
  /// Semi-major axis of the error ellipse.
  public var semiMajor_mm: Int32?
  /// Semi-minor axis of the error ellipse.
  public var semiMinor_mm: Int32?
  /// Direction of the semi-major axis, 1e-4 degree from true north.
  public var orientation_e4: Int32?
  /// Error of the latitude.
  public var latitude_mm: Int32?
  /// Error of the longitude.
  public var longitude_mm: Int32?
  /// Error of the altitude.
  public var altitude_mm: Int32?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil) {
    self.talker = talker
    self.time_us = time_us
  }
}

/// VTG: course and speed over ground. Empty fields are nil.
public struct VTG: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// Course over ground, 1e-4 degree from true north, 0 to 3,600,000.
  public var course_e4: Int32?
  /// Course over ground, 1e-4 degree from magnetic north, 0 to 3,600,000.
  public var magneticCourse_e4: Int32?
  /// Speed over ground, mm/s.
  public var speed_mmps: Int32?
  /// Mode indicator.
  public var mode: NMEAMode?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined) { self.talker = talker }
}

/// ZDA: time and date. Empty fields are nil.
public struct ZDA: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Date.
  public var date: CalendarDate?
  /// Date where the year has no century: below 100.
  public var shortDate: ShortDate?
  /// Offset of the local time zone from UTC, minutes.
  public var zone_min: Int16?

  /// Creates a sentence.
  public init(
    talker: Talker = .combined, time_us: Int64? = nil, date: CalendarDate? = nil,
    zone_min: Int16? = nil
  ) {
    self.talker = talker
    self.time_us = time_us
    self.date = date
    self.zone_min = zone_min
  }

  /// Whether the sentence contains a date.
  var hasDate: Bool { date != nil || shortDate != nil }
}

/// GLL: geographic position. Empty fields are nil.
public struct GLL: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Position.
  public var coordinate: Coordinate?
  /// Status `A`, or `D` as some receivers send; true also in NMEA 1.5, which has no status.
  public var isValid: Bool
  /// Mode indicator.
  public var mode: NMEAMode?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil, isValid: Bool = false) {
    self.talker = talker
    self.time_us = time_us
    self.isValid = isValid
  }
}

/// GNS: fix data of several systems together. Empty fields are nil.
public struct GNS: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Position.
  public var coordinate: Coordinate?
  /// The best mode of any system: RTK before differential before autonomous; nil when empty.
  public var mode: NMEAMode?
  /// Satellites used.
  public var satellites: UInt8?
  /// Horizontal dilution of precision × 100.
  public var horizontalDOP_e2: UInt16?
  /// Altitude above mean sea level, mm.
  public var altitude_mm: Int32?
  /// Height of the geoid above the ellipsoid, mm.
  public var separation_mm: Int32?
  /// Age of the corrections, ms.
  public var correctionAge_ms: Int32?
  /// Number of the reference station, 0 to 4,095.
  public var station: UInt16?
  /// Navigational status of NMEA 4.1: `S` safe, `C` caution, `U` unsafe, `V` not valid.
  public var navigationalStatus: UInt8?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil, mode: NMEAMode? = nil) {
    self.talker = talker
    self.time_us = time_us
    self.mode = mode
  }
}

/// GBS: expected errors of the position, 1 σ in mm, and the satellite most likely to fail. Empty fields
/// are nil.
public struct GBS: Equatable, Sendable {
  /// Talker identifier.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Error of the latitude.
  public var latitude_mm: Int32?
  /// Error of the longitude.
  public var longitude_mm: Int32?
  /// Error of the altitude.
  public var altitude_mm: Int32?
  /// Number of the satellite most likely to fail.
  public var satellite: UInt16?
  /// Range bias of that satellite, mm.
  public var bias_mm: Int32?
  /// 1 σ of the bias, mm.
  public var biasError_mm: Int32?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil) {
    self.talker = talker
    self.time_us = time_us
  }
}

/// `$PUBX,00`: position in u-blox's proprietary sentence. Empty fields are nil.
public struct UBloxPosition: Equatable, Sendable {
  /// Navigation status.
  @frozen public enum Status: UInt8, Sendable {
    /// `NF`
    case noFix = 0
    /// `DR`
    case deadReckoning = 1
    /// `G2`
    case twoDimensional = 2
    /// `G3`
    case threeDimensional = 3
    /// `D2`
    case differential2D = 4
    /// `D3`
    case differential3D = 5
    /// `RK`: satellites and dead reckoning.
    case combined = 6
    /// `TT`
    case timeOnly = 7
  }

  /// Height above the ellipsoid, mm.
  public var height_mm: Int32?
  /// Navigation status; nil when empty or unknown.
  public var status: Status?
  /// Horizontal accuracy, mm.
  public var horizontalAccuracy_mm: Int32?
  /// Vertical accuracy, mm.
  public var verticalAccuracy_mm: Int32?
  /// Speed over ground, mm/s.
  public var speed_mmps: Int32?
  /// Course over ground, 1e-4 degree from true north, 0 to 3,600,000.
  public var course_e4: Int32?
  /// Speed downward, mm/s.
  public var velocityDown_mmps: Int32?
  /// Age of the corrections, ms.
  public var correctionAge_ms: Int32?
  /// Horizontal dilution of precision × 100.
  public var horizontalDOP_e2: UInt16?
  /// Vertical dilution of precision × 100.
  public var verticalDOP_e2: UInt16?
  /// Time dilution of precision × 100.
  public var timeDOP_e2: UInt16?
  /// Satellites used.
  public var satellites: UInt8?
  // Not optional, because this is the largest message: see `UBXSolution`.
  private var time_raw = Int64.min
  private var latitude_raw = Int64.min
  private var longitude_raw = Int64.min

  /// Creates a sentence without data.
  public init(time_us: Int64? = nil, status: Status? = nil) {
    self.status = status
    self.time_us = time_us
  }

  /// UTC time of day, µs.
  public var time_us: Int64? {
    get { time_raw == .min ? nil : time_raw }
    set { time_raw = newValue ?? .min }
  }

  /// Position.
  public var coordinate: Coordinate? {
    get {
      if latitude_raw == .min { return nil }
      return Coordinate(latitude_e9: latitude_raw, longitude_e9: longitude_raw)
    }
    set {
      latitude_raw = newValue?.latitude_e9 ?? .min
      longitude_raw = newValue?.longitude_e9 ?? .min
    }
  }
}

/// `$PGRME`: Garmin's estimated errors, mm; half of all errors are smaller. Empty fields are nil.
public struct GarminErrors: Equatable, Sendable {
  /// Horizontal error, mm.
  public var horizontal_mm: Int32?
  /// Vertical error, mm.
  public var vertical_mm: Int32?
  /// Error in three dimensions, mm.
  public var position_mm: Int32?
}

/// `$PGRMZ`: Garmin's altitude, also sent by variometers. Empty fields are nil.
public struct GarminAltitude: Equatable, Sendable {
  /// Altitude above mean sea level, mm; sent in feet, or in metres where the unit is `m`.
  public var altitude_mm: Int32?
  /// 1 no fix, 2 user altitude, 3 GPS altitude.
  public var dimensions: UInt8?
}
