import LocationTypes

/// How many decimals a receiver's sentences have.
@frozen public struct NMEAFormat: Equatable, Sendable {
  /// Decimals of minutes of arc, 1 to 9; 5 is 1.9 cm.
  public var minuteDecimals: Int
  /// Decimals of seconds, 0 to 6.
  public var timeDecimals: Int
  /// Decimals of degrees of course, 1 to 4.
  public var courseDecimals: Int
  /// Decimals of metres, 1 to 3.
  public var metreDecimals: Int

  /// Creates a format.
  ///
  /// - Precondition: the decimals lie in the ranges of the fields.
  public init(minuteDecimals: Int, timeDecimals: Int, courseDecimals: Int, metreDecimals: Int) {
    precondition((1...9).contains(minuteDecimals) && (0...6).contains(timeDecimals))
    precondition((1...4).contains(courseDecimals) && (1...3).contains(metreDecimals))
    self.minuteDecimals = minuteDecimals
    self.timeDecimals = timeDecimals
    self.courseDecimals = courseDecimals
    self.metreDecimals = metreDecimals
  }

  /// As u-blox receivers send.
  public static let common = NMEAFormat(
    minuteDecimals: 5, timeDecimals: 2, courseDecimals: 2, metreDecimals: 1)
  /// Loses nothing that a ``Fix`` holds.
  public static let finest = NMEAFormat(
    minuteDecimals: 9, timeDecimals: 6, courseDecimals: 4, metreDecimals: 3)
}

// Sentences at the end of the buffer, with checksum and line end: at most 120 bytes each. Each
// traps when the buffer has no room for it. What is nil is an empty field.

extension FrameBuffer {
  /// Adds an RMC of NMEA 2.3, or 4.1 if it has a navigational status.
  public mutating func append(_ m: RMC, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "RMC")
    appendTime(m.time_us, format)
    appendField(letter: m.isValid ? UInt8(ascii: "A") : UInt8(ascii: "V"))
    appendCoordinate(m.coordinate, format)
    appendKnots(m.speed_mmps)
    appendCourse(m.course_e4, format)
    append(UInt8(ascii: ","))
    if let date = m.date {
      appendDecimal(Int64(date.day), decimals: 0, integers: 2)
      appendDecimal(Int64(date.month), decimals: 0, integers: 2)
      appendDecimal(Int64(date.year), decimals: 0, integers: 2)
    }
    appendVariation(m.variation_e4, format)
    appendField(letter: m.mode?.rawValue)
    if let status = m.navigationalStatus { appendField(letter: status) }
    endSentence(start)
  }

  /// Adds a GGA.
  public mutating func append(_ m: GGA, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GGA")
    appendTime(m.time_us, format)
    appendCoordinate(m.coordinate, format)
    appendField(m.quality.map { Int64($0) })
    appendField(m.satellites.map { Int64($0) }, integers: 2)
    appendDilution(m.horizontalDOP_e2)
    appendMetres(m.altitude_mm, format)
    append(ascii: ",M")
    appendMetres(m.separation_mm, format)
    append(ascii: ",M")
    appendMetres(m.correctionAge_ms, format)
    appendField(m.station.map { Int64($0) }, integers: 4)
    endSentence(start)
  }

  /// Adds a GSA of NMEA 2.3, or 4.1 if it has a system.
  public mutating func append(_ m: GSA) {
    let start = beginSentence(m.talker, "GSA")
    appendField(letter: m.isAutomatic.map { $0 ? UInt8(ascii: "A") : UInt8(ascii: "M") })
    appendField(m.fixMode.map { Int64($0) })
    for i in 0..<12 {
      appendField(i < m.satellites ? Int64(m.satellite(i)) : nil, integers: 2)
    }
    appendDilution(m.positionDOP_e2)
    appendDilution(m.horizontalDOP_e2)
    appendDilution(m.verticalDOP_e2)
    if let system = m.system { appendField(letter: hexadecimal(system & 15)) }
    endSentence(start)
  }

  /// Adds a GSV of NMEA 2.3, or 4.1 if it has a signal.
  public mutating func append(_ m: GSV) {
    let start = beginSentence(m.talker, "GSV")
    appendField(m.sentences.map { Int64($0) })
    appendField(m.number.map { Int64($0) })
    appendField(m.inView.map { Int64($0) }, integers: 2)
    for i in 0..<Int(m.count) {
      let satellite = m.satellite(i)
      appendField(Int64(satellite.number), integers: 2)
      appendField(satellite.elevation_deg.map { Int64($0) }, integers: 2)
      appendField(satellite.azimuth_deg.map { Int64($0) }, integers: 3)
      appendField(satellite.signal_dBHz.map { Int64($0) }, integers: 2)
    }
    if let signal = m.signal { appendField(letter: hexadecimal(signal & 15)) }
    endSentence(start)
  }

  /// Adds a GST.
  public mutating func append(_ m: GST, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GST")
    appendTime(m.time_us, format)
    appendMetres(m.residual_mm, format)
    appendMetres(m.semiMajor_mm, format)
    appendMetres(m.semiMinor_mm, format)
    appendCourse(m.orientation_e4, format)
    appendMetres(m.latitude_mm, format)
    appendMetres(m.longitude_mm, format)
    appendMetres(m.altitude_mm, format)
    endSentence(start)
  }

  /// Adds a VTG of NMEA 2.3.
  public mutating func append(_ m: VTG, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "VTG")
    appendCourse(m.course_e4, format)
    append(ascii: ",T")
    appendCourse(m.magneticCourse_e4, format)
    append(ascii: ",M")
    appendKnots(m.speed_mmps)
    append(ascii: ",N")
    appendKilometres(m.speed_mmps)
    append(ascii: ",K")
    appendField(letter: m.mode?.rawValue)
    endSentence(start)
  }

  /// Adds a ZDA.
  public mutating func append(_ m: ZDA, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "ZDA")
    appendTime(m.time_us, format)
    appendField(m.date.map { Int64($0.day) } ?? m.shortDate.map { Int64($0.day) }, integers: 2)
    appendField(m.date.map { Int64($0.month) } ?? m.shortDate.map { Int64($0.month) }, integers: 2)
    // A year of two digits stays one: its century is not known.
    if let date = m.date {
      appendField(Int64(date.year), integers: 4)
    } else {
      appendField(m.shortDate.map { Int64($0.year) }, integers: 2)
    }
    // A zone west of Greenwich by less than an hour has its sign in the zero hours.
    append(UInt8(ascii: ","))
    if let zone = m.zone_min {
      if zone < 0 { append(UInt8(ascii: "-")) }
      appendDecimal(Int64(abs(zone)) / 60, decimals: 0, integers: 2)
    }
    appendField(m.zone_min.map { Int64(abs($0)) % 60 }, integers: 2)
    endSentence(start)
  }

  /// Adds a GLL of NMEA 2.3.
  public mutating func append(_ m: GLL, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GLL")
    appendCoordinate(m.coordinate, format)
    appendTime(m.time_us, format)
    appendField(letter: m.isValid ? UInt8(ascii: "A") : UInt8(ascii: "V"))
    appendField(letter: m.mode?.rawValue)
    endSentence(start)
  }
}
