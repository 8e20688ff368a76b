import LocationTypes

// Messages that a receiver with a given fix would send, for `FixWriter` of `torpor` and for tests. In
// NMEA, unknown values become empty fields.

extension RMC {
  /// Creates the sentence of a fix.
  public init(_ fix: Fix, talker: Talker = .combined) {
    self.init(talker: talker, time_us: fix.utc?.microsecondsOfDay, isValid: true)
    coordinate = fix.coordinate
    speed_mmps = fix.speed_mmps
    course_e4 = fix.course_e4
    date = fix.utc.map { ShortDate($0.date) }
    mode = NMEAMode(fix.quality)
  }
}

extension ShortDate {
  /// Creates the date without its century.
  public init(_ date: CalendarDate) {
    self.init(year: UInt8(date.year % 100), month: UInt8(date.month), day: UInt8(date.day))
  }
}

extension NMEAMode {
  /// The indicator of a quality; unknown maps to autonomous.
  public init(_ quality: FixQuality) {
    self =
      switch quality {
      // NMEA has no letter for dead reckoning combined with satellites.
      case .unknown, .autonomous, .combined: .autonomous
      case .differential: .differential
      case .rtkFixed: .rtkFixed
      case .rtkFloat: .rtkFloat
      case .deadReckoning: .estimated
      // A surveyed position was not measured now; gpsd maps it in the same way.
      case .manual, .surveyed: .manual
      case .simulated: .simulator
      }
  }
}

extension GGA {
  /// Creates the sentence of a fix; the geoid separation is ellipsoidal altitude minus altitude.
  public init(_ fix: Fix, talker: Talker = .combined, horizontalDOP_e2: UInt16? = nil) {
    self.init(talker: talker, time_us: fix.utc?.microsecondsOfDay, quality: GGA.number(fix.quality))
    coordinate = fix.coordinate
    satellites = fix.satellites.map { UInt8($0) }
    self.horizontalDOP_e2 = horizontalDOP_e2
    altitude_mm = fix.altitude_mm
    if let ellipsoidal = fix.ellipsoidalAltitude_mm, let altitude = fix.altitude_mm {
      let (difference, isOver) = ellipsoidal.subtractingReportingOverflow(altitude)
      separation_mm = isOver ? nil : difference
    }
  }

  private static func number(_ quality: FixQuality) -> UInt8 {
    switch quality {
    case .unknown, .autonomous, .combined: 1
    case .differential: 2
    case .rtkFixed: 4
    case .rtkFloat: 5
    case .deadReckoning: 6
    case .manual, .surveyed: 7
    case .simulated: 8
    }
  }
}

extension GSA {
  /// Creates the sentence of a fix, with at most twelve satellites.
  public init(
    _ fix: Fix, talker: Talker = .combined, positionDOP_e2: UInt16? = nil,
    horizontalDOP_e2: UInt16? = nil, verticalDOP_e2: UInt16? = nil
  ) {
    self.init(
      talker: talker, fixMode: fix.mode.rawValue, satellites: UInt8(min(fix.satellites ?? 0, 12)))
    self.positionDOP_e2 = positionDOP_e2
    self.horizontalDOP_e2 = horizontalDOP_e2
    self.verticalDOP_e2 = verticalDOP_e2
  }
}

extension GST {
  /// Creates the sentence of a fix; its horizontal accuracy is split evenly over both axes.
  public init(_ fix: Fix, talker: Talker = .combined) {
    self.init(talker: talker, time_us: fix.utc?.microsecondsOfDay)
    let axis = fix.horizontalAccuracy_mm.map { Int32((Double($0) * 0.5.squareRoot()).rounded()) }
    latitude_mm = axis
    longitude_mm = axis
    altitude_mm = fix.verticalAccuracy_mm
  }
}

extension VTG {
  /// Creates the sentence of a fix.
  public init(_ fix: Fix, talker: Talker = .combined) {
    self.init(talker: talker)
    course_e4 = fix.course_e4
    speed_mmps = fix.speed_mmps
    mode = NMEAMode(fix.quality)
  }
}

extension ZDA {
  /// Creates the sentence of a time.
  public init(_ utc: UTCTime, talker: Talker = .combined) {
    self.init(talker: talker, time_us: utc.microsecondsOfDay, date: utc.date, zone_min: 0)
  }
}

extension GLL {
  /// Creates the sentence of a fix.
  public init(_ fix: Fix, talker: Talker = .combined) {
    self.init(talker: talker, time_us: fix.utc?.microsecondsOfDay, isValid: true)
    coordinate = fix.coordinate
    mode = NMEAMode(fix.quality)
  }
}

extension UBXSolution {
  /// Creates the solution of a fix, at the protocol's resolution of 1e-7 degree.
  ///
  /// Unknown speed and course become 0, because the protocol has no other value. Unknown accuracies
  /// become their maximum, so that they are not mistaken for good ones, except that of a known course:
  /// it becomes 0, because the maximum would mark the course as unknown.
  public init(_ fix: Fix) {
    let accuracy = fix.horizontalAccuracy_mm.map { UInt32($0) } ?? .max
    self.init(
      utc: fix.utc, fixType: fix.mode == .threeDimensional ? 3 : 2, isFixOK: true,
      longitude_e7: UBXSolution.angle_e7(fix.coordinate.longitude_e9),
      latitude_e7: UBXSolution.angle_e7(fix.coordinate.latitude_e9),
      height_mm: fix.ellipsoidalAltitude_mm ?? fix.altitude_mm ?? 0,
      horizontalAccuracy_mm: accuracy)
    switch fix.quality {
    case .deadReckoning: fixType = 1
    case .combined: fixType = 4
    case .surveyed: fixType = 5
    case .unknown, .autonomous, .differential, .rtkFixed, .rtkFloat, .manual, .simulated: break
    }
    isDifferential = fix.quality == .differential
    carrierSolution = fix.quality == .rtkFixed ? 2 : (fix.quality == .rtkFloat ? 1 : 0)
    satellites = fix.satellites.map { UInt8($0) }
    heightMSL_mm = fix.altitude_mm ?? fix.ellipsoidalAltitude_mm
    verticalAccuracy_mm = fix.verticalAccuracy_mm.map { UInt32($0) } ?? .max
    groundSpeed_mmps = fix.speed_mmps ?? 0
    headingOfMotion_e5 = (fix.course_e4 ?? 0) * 10
    speedAccuracy_mmps = fix.speedAccuracy_mmps.map { UInt32($0) } ?? .max
    headingAccuracy_e5 =
      fix.course_e4 == nil ? 18_000_000 : UInt32(fix.courseAccuracy_e2 ?? 0) * 1_000
  }

  /// Converts an angle in units of 1e-9 degree to the protocol's 1e-7 degree, rounded to nearest.
  ///
  /// - Precondition: It is between -180° and 180°.
  public static func angle_e7(_ angle_e9: Int64) -> Int32 {
    Int32((angle_e9 + (angle_e9 < 0 ? -50 : 50)) / 100)
  }
}
