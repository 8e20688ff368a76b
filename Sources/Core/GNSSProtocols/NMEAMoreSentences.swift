import LocationTypes

/// GNS: fix data of several systems together. Empty fields are nil.
public struct GNS: Equatable, Sendable {
  /// Who sent it.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// The place.
  public var coordinate: Coordinate?
  /// The best mode of any system: RTK before differential before autonomous; nil when empty.
  public var mode: NMEAMode?
  /// Satellites used.
  public var satellites: UInt8?
  /// Horizontal dilution of precision × 100.
  public var horizontalDOP_e2: UInt16?
  /// Above mean sea level, mm.
  public var altitude_mm: Int32?
  /// Geoid above ellipsoid, mm.
  public var separation_mm: Int32?
  /// Age of the corrections, ms.
  public var correctionAge_ms: Int32?
  /// Number of the station that they come from, 0 to 4,095.
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

/// GBS: expected errors of the position, 1 σ in mm, and the satellite most likely to fail.
public struct GBS: Equatable, Sendable {
  /// Who sent it.
  public var talker: Talker
  /// UTC time of day, µs.
  public var time_us: Int64?
  /// Error of the latitude.
  public var latitude_mm: Int32?
  /// Error of the longitude.
  public var longitude_mm: Int32?
  /// Error of the altitude.
  public var altitude_mm: Int32?
  /// The satellite.
  public var satellite: UInt16?
  /// Its range bias, mm.
  public var bias_mm: Int32?
  /// 1 σ of the bias, mm.
  public var biasError_mm: Int32?

  /// Creates a sentence without data.
  public init(talker: Talker = .combined, time_us: Int64? = nil) {
    self.talker = talker
    self.time_us = time_us
  }
}

/// `$PUBX,00`: the position as u-blox receivers tell it beside the standard. Empty fields are nil.
public struct UBloxPosition: Equatable, Sendable {
  /// Its navigation status.
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

  /// Above the ellipsoid, mm.
  public var height_mm: Int32?
  /// What kind of fix it is; nil when empty or not known.
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
  // The largest of the messages, and no optionals at its end: see `UBXSolution.flags`.
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

  /// The place.
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

/// `$PGRME`: Garmin's estimates of the error, mm, half of all positions lie within. Empty is nil.
public struct GarminErrors: Equatable, Sendable {
  /// Horizontal.
  public var horizontal_mm: Int32?
  /// Vertical.
  public var vertical_mm: Int32?
  /// Of the position in space.
  public var position_mm: Int32?

  /// Creates a sentence.
  public init(horizontal_mm: Int32? = nil, vertical_mm: Int32? = nil, position_mm: Int32? = nil) {
    self.horizontal_mm = horizontal_mm
    self.vertical_mm = vertical_mm
    self.position_mm = position_mm
  }
}

/// `$PGRMZ`: Garmin's altitude, which variometers send as well. Empty fields are nil.
public struct GarminAltitude: Equatable, Sendable {
  /// Above mean sea level, mm; sent in feet, or in metres where the sentence says so.
  public var altitude_mm: Int32?
  /// 1 no fix, 2 the altitude is not of the receiver's, 3 three dimensions.
  public var dimensions: UInt8?

  /// Creates a sentence.
  public init(altitude_mm: Int32? = nil, dimensions: UInt8? = nil) {
    self.altitude_mm = altitude_mm
    self.dimensions = dimensions
  }
}

/// `$PMTK001` or `$PAIR001`: what a MediaTek or Airoha receiver made of a command.
public struct CommandResult: Equatable, Sendable {
  /// Which commands it answers.
  @frozen public enum Family: UInt8, Sendable {
    /// `$PMTK…`
    case pmtk = 0
    /// `$PAIR…`
    case pair = 1
  }

  /// What became of it.
  @frozen public enum Outcome: UInt8, Sendable {
    /// Done.
    case done = 0
    /// The answer is to come.
    case pending = 1
    /// Tried, and failed.
    case failed = 2
    /// Not known to this receiver.
    case unsupported = 3
    /// Its parameters cannot be read.
    case invalid = 4
    /// Not now; it may be sent again.
    case busy = 5
  }

  /// Which commands it answers.
  public var family: Family
  /// The number of the command: 314 for `$PMTK314`.
  public var command: UInt16
  /// What became of it.
  public var outcome: Outcome

  /// Creates an answer.
  public init(family: Family, command: UInt16, outcome: Outcome) {
    self.family = family
    self.command = command
    self.outcome = outcome
  }
}
