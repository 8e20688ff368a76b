import LocationTypes

/// Number of decimals in a receiver's sentences.
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

  /// Format of u-blox receivers.
  public static let common = NMEAFormat(
    minuteDecimals: 5, timeDecimals: 2, courseDecimals: 2, metreDecimals: 1)
  /// Preserves the full resolution of a ``Fix``.
  public static let finest = NMEAFormat(
    minuteDecimals: 9, timeDecimals: 6, courseDecimals: 4, metreDecimals: 3)
}

// Methods that append sentences with checksum and line end, at most 180 bytes each. They trap if the
// buffer has too little free space. Nil becomes an empty field.

extension FrameBuffer {
  /// Appends an RMC of NMEA 2.3, or 4.1 with a navigational status.
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

  /// Appends a GGA.
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

  /// Appends a GSA of NMEA 2.3, or 4.1 with a system.
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

  /// Appends a GSV of NMEA 2.3, or 4.1 with a signal.
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

  /// Appends a GST.
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

  /// Appends a VTG of NMEA 2.3.
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

  /// Appends a ZDA.
  public mutating func append(_ m: ZDA, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "ZDA")
    appendTime(m.time_us, format)
    appendField(m.date.map { Int64($0.day) } ?? m.shortDate.map { Int64($0.day) }, integers: 2)
    appendField(m.date.map { Int64($0.month) } ?? m.shortDate.map { Int64($0.month) }, integers: 2)
    // A two-digit year keeps two digits: its century is unknown.
    if let date = m.date {
      appendField(Int64(date.year), integers: 4)
    } else {
      appendField(m.shortDate.map { Int64($0.year) }, integers: 2)
    }
    // A zone less than an hour west of Greenwich has its sign before zero hours.
    append(UInt8(ascii: ","))
    if let zone = m.zone_min {
      if zone < 0 { append(UInt8(ascii: "-")) }
      appendDecimal(Int64(abs(zone)) / 60, decimals: 0, integers: 2)
    }
    appendField(m.zone_min.map { Int64(abs($0)) % 60 }, integers: 2)
    endSentence(start)
  }

  /// Appends a GLL of NMEA 2.3.
  public mutating func append(_ m: GLL, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GLL")
    appendCoordinate(m.coordinate, format)
    appendTime(m.time_us, format)
    appendField(letter: m.isValid ? UInt8(ascii: "A") : UInt8(ascii: "V"))
    appendField(letter: m.mode?.rawValue)
    endSentence(start)
  }
}

// Parts of sentences.

extension FrameBuffer {
  mutating func beginSentence(_ talker: Talker, _ kind: StaticString) -> Int {
    let start = count
    append(UInt8(ascii: "$"))
    append(talker.first)
    append(talker.second)
    append(ascii: kind)
    return start
  }

  mutating func beginSentence(_ address: StaticString) -> Int {
    let start = count
    append(UInt8(ascii: "$"))
    append(ascii: address)
    return start
  }

  /// Appends a sentence with `body`, ASCII text without `$` and checksum.
  ///
  /// - Precondition: ``available`` is at least the length of `body` plus 6 bytes.
  public mutating func append(sentence body: some Sequence<UInt8>) {
    let start = count
    append(UInt8(ascii: "$"))
    for byte in body { append(byte) }
    endSentence(start)
  }

  mutating func endSentence(_ start: Int) {
    var parity: UInt8 = 0
    for i in start + 1..<count { parity ^= self[i] }
    append(UInt8(ascii: "*"))
    append(hexadecimal(parity >> 4))
    append(hexadecimal(parity & 15))
    append(0x0D)
    append(0x0A)
  }

  func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
  }

  mutating func appendField(letter: UInt8?) {
    append(UInt8(ascii: ","))
    if let letter { append(letter) }
  }

  /// Appends `value` / 10^`from`, rounded half away from zero to `to` decimals.
  mutating func appendField(
    _ value: Int64?, from: Int = 0, to: Int = 0, integers: Int = 1
  ) {
    append(UInt8(ascii: ","))
    guard let value else { return }
    appendDecimal(rounded(value, from - to), decimals: to, integers: integers)
  }

  /// Removes the last `places` digits, rounding half away from zero.
  func rounded(_ value: Int64, _ places: Int) -> Int64 {
    var divisor: Int64 = 1
    for _ in 0..<places { divisor *= 10 }
    return (value + (value < 0 ? -divisor / 2 : divisor / 2)) / divisor
  }

  private mutating func appendMetres(_ value_mm: Int32?, _ format: NMEAFormat) {
    appendField(value_mm.map { Int64($0) }, from: 3, to: format.metreDecimals)
  }

  private mutating func appendKnots(_ speed_mmps: Int32?) {
    appendField(speed_mmps.map { (Int64($0) * 900 + 231) / 463 }, from: 3, to: 3)
  }

  private mutating func appendKilometres(_ speed_mmps: Int32?) {
    appendField(speed_mmps.map { (Int64($0) * 36 + 5) / 10 }, from: 3, to: 3)
  }

  private mutating func appendDilution(_ dilution_e2: UInt16?) {
    appendField(dilution_e2.map { Int64($0) }, from: 2, to: 2)
  }

  /// Appends a magnetic variation: degrees, and E or W.
  private mutating func appendVariation(_ variation_e4: Int32?, _ format: NMEAFormat) {
    appendField(variation_e4.map { Int64(abs($0)) }, from: 4, to: format.courseDecimals)
    appendField(letter: variation_e4.map { $0 < 0 ? UInt8(ascii: "W") : UInt8(ascii: "E") })
  }

  /// Appends a course. If it is rounded to 360°, 0° is written.
  private mutating func appendCourse(_ course_e4: Int32?, _ format: NMEAFormat) {
    let decimals = format.courseDecimals
    append(UInt8(ascii: ","))
    guard let course_e4 else { return }
    var turn: Int64 = 360
    for _ in 0..<decimals { turn *= 10 }
    appendDecimal(rounded(Int64(course_e4), 4 - decimals) % turn, decimals: decimals)
  }

  /// Appends a time, truncated instead of rounded, so that it does not reach the next minute.
  private mutating func appendTime(_ time_us: Int64?, _ format: NMEAFormat) {
    append(UInt8(ascii: ","))
    guard let time_us else { return }
    let seconds = min(time_us / 1_000_000, 86_399)
    appendDecimal(seconds / 3_600, decimals: 0, integers: 2)
    appendDecimal(seconds / 60 % 60, decimals: 0, integers: 2)
    var scale: Int64 = 1_000_000
    for _ in 0..<format.timeDecimals { scale /= 10 }
    appendDecimal(
      (time_us - seconds / 60 * 60_000_000) / scale, decimals: format.timeDecimals, integers: 2)
  }

  private mutating func appendCoordinate(_ coordinate: Coordinate?, _ format: NMEAFormat) {
    guard let coordinate else {
      append(ascii: ",,,,")
      return
    }
    appendAngle(coordinate.latitude_e9, format, integers: 2)
    appendField(letter: coordinate.latitude_e9 < 0 ? UInt8(ascii: "S") : UInt8(ascii: "N"))
    appendAngle(coordinate.longitude_e9, format, integers: 3)
    appendField(letter: coordinate.longitude_e9 < 0 ? UInt8(ascii: "W") : UInt8(ascii: "E"))
  }

  private mutating func appendAngle(_ angle_e9: Int64, _ format: NMEAFormat, integers: Int) {
    append(UInt8(ascii: ","))
    let decimals = format.minuteDecimals
    let minutes = rounded(abs(angle_e9) * 60, 9 - decimals)
    var degree: Int64 = 60
    for _ in 0..<decimals { degree *= 10 }
    appendDecimal(minutes / degree, decimals: 0, integers: integers)
    appendDecimal(minutes % degree, decimals: decimals, integers: 2)
  }
}

// GNS, GBS and proprietary sentences.

extension FrameBuffer {
  /// Appends a GNS of NMEA 3.1, or 4.1 with a navigational status.
  public mutating func append(_ m: GNS, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GNS")
    appendTime(m.time_us, format)
    appendCoordinate(m.coordinate, format)
    appendField(letter: m.mode?.rawValue)
    appendField(m.satellites.map { Int64($0) }, integers: 2)
    appendDilution(m.horizontalDOP_e2)
    appendMetres(m.altitude_mm, format)
    appendMetres(m.separation_mm, format)
    appendMetres(m.correctionAge_ms, format)
    appendField(m.station.map { Int64($0) }, integers: 4)
    if let status = m.navigationalStatus { appendField(letter: status) }
    endSentence(start)
  }

  /// Appends a GBS.
  public mutating func append(_ m: GBS, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GBS")
    appendTime(m.time_us, format)
    appendMetres(m.latitude_mm, format)
    appendMetres(m.longitude_mm, format)
    appendMetres(m.altitude_mm, format)
    appendField(m.satellite.map { Int64($0) }, integers: 2)
    append(UInt8(ascii: ","))
    appendMetres(m.bias_mm, format)
    appendMetres(m.biasError_mm, format)
    endSentence(start)
  }

  /// Appends a `$PUBX,00`.
  public mutating func append(_ m: UBloxPosition, format: NMEAFormat = .common) {
    let start = beginSentence("PUBX,00")
    appendTime(m.time_us, format)
    appendCoordinate(m.coordinate, format)
    appendMetres(m.height_mm, format)
    append(UInt8(ascii: ","))
    if let status = m.status { append(ascii: FrameBuffer.word(status)) }
    appendMetres(m.horizontalAccuracy_mm, format)
    appendMetres(m.verticalAccuracy_mm, format)
    appendKilometres(m.speed_mmps)
    appendCourse(m.course_e4, format)
    appendField(m.velocityDown_mmps.map { Int64($0) }, from: 3, to: 3)
    appendMetres(m.correctionAge_ms, format)
    appendDilution(m.horizontalDOP_e2)
    appendDilution(m.verticalDOP_e2)
    appendDilution(m.timeDOP_e2)
    appendField(m.satellites.map { Int64($0) })
    append(ascii: ",0,0")
    endSentence(start)
  }

  private static func word(_ status: UBloxPosition.Status) -> StaticString {
    switch status {
    case .noFix: "NF"
    case .deadReckoning: "DR"
    case .twoDimensional: "G2"
    case .threeDimensional: "G3"
    case .differential2D: "D2"
    case .differential3D: "D3"
    case .combined: "RK"
    case .timeOnly: "TT"
    }
  }

  /// Appends a `$PGRME`.
  public mutating func append(_ m: GarminErrors, format: NMEAFormat = .common) {
    let start = beginSentence("PGRME")
    appendMetres(m.horizontal_mm, format)
    append(ascii: ",M")
    appendMetres(m.vertical_mm, format)
    append(ascii: ",M")
    appendMetres(m.position_mm, format)
    append(ascii: ",M")
    endSentence(start)
  }

  /// Appends a `$PGRMZ`, in whole feet, or in thousandths of a foot if metres have three decimals.
  public mutating func append(_ m: GarminAltitude, format: NMEAFormat = .common) {
    let start = beginSentence("PGRMZ")
    let feet_e3 = m.altitude_mm.map { (altitude: Int32) -> Int64 in
      (Int64(altitude) * 10_000 + (altitude < 0 ? -1_524 : 1_524)) / 3_048
    }
    appendField(feet_e3, from: 3, to: format.metreDecimals == 3 ? 3 : 0)
    append(ascii: ",f")
    appendField(m.dimensions.map { Int64($0) })
    endSentence(start)
  }
}
