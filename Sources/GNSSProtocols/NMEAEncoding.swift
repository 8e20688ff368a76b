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
  /// Adds an RMC of NMEA 2.3.
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
    append(ascii: ",,")
    appendField(letter: m.mode?.rawValue)
    endSentence(start)
  }

  /// Adds a GGA.
  public mutating func append(_ m: GGA, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GGA")
    appendTime(m.time_us, format)
    appendCoordinate(m.coordinate, format)
    appendField(m.quality.map { Int64($0) })
    appendField(m.satellites.map { Int64($0) }, integers: 2)
    appendField(m.horizontalDOP_e2.map { Int64($0) }, from: 2, to: 2)
    appendMetres(m.altitude_mm, format)
    append(ascii: ",M")
    appendMetres(m.separation_mm, format)
    append(ascii: ",M,,")
    endSentence(start)
  }

  /// Adds a GSA; the satellites, of which only the number is known, are numbered from 1 to 12.
  public mutating func append(_ m: GSA) {
    let start = beginSentence(m.talker, "GSA")
    append(ascii: ",A")
    appendField(m.fixMode.map { Int64($0) })
    for i in 1...12 { appendField(i <= m.satellites ? Int64(i) : nil, integers: 2) }
    appendField(m.positionDOP_e2.map { Int64($0) }, from: 2, to: 2)
    appendField(m.horizontalDOP_e2.map { Int64($0) }, from: 2, to: 2)
    appendField(m.verticalDOP_e2.map { Int64($0) }, from: 2, to: 2)
    endSentence(start)
  }

  /// Adds a GSV without satellites.
  public mutating func append(_ m: GSV) {
    let start = beginSentence(m.talker, "GSV")
    appendField(m.sentences.map { Int64($0) })
    appendField(m.number.map { Int64($0) })
    appendField(m.inView.map { Int64($0) }, integers: 2)
    endSentence(start)
  }

  /// Adds a GST without RMS and ellipse.
  public mutating func append(_ m: GST, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "GST")
    appendTime(m.time_us, format)
    append(ascii: ",,,,")
    appendMetres(m.latitude_mm, format)
    appendMetres(m.longitude_mm, format)
    appendMetres(m.altitude_mm, format)
    endSentence(start)
  }

  /// Adds a VTG of NMEA 2.3, without magnetic course.
  public mutating func append(_ m: VTG, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "VTG")
    appendCourse(m.course_e4, format)
    append(ascii: ",T,,M")
    appendKnots(m.speed_mmps)
    append(ascii: ",N")
    appendField(m.speed_mmps.map { (Int64($0) * 36 + 5) / 10 }, from: 3, to: 3)
    append(ascii: ",K")
    appendField(letter: m.mode?.rawValue)
    endSentence(start)
  }

  /// Adds a ZDA, zone UTC.
  public mutating func append(_ m: ZDA, format: NMEAFormat = .common) {
    let start = beginSentence(m.talker, "ZDA")
    appendTime(m.time_us, format)
    appendField(m.date.map { Int64($0.day) }, integers: 2)
    appendField(m.date.map { Int64($0.month) }, integers: 2)
    appendField(m.date.map { Int64($0.year) }, integers: 4)
    append(ascii: ",00,00")
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

// MARK: Fields

extension FrameBuffer {
  private mutating func beginSentence(_ talker: Talker, _ kind: StaticString) -> Int {
    let start = count
    append(UInt8(ascii: "$"))
    append(talker.first)
    append(talker.second)
    append(ascii: kind)
    return start
  }

  private mutating func endSentence(_ start: Int) {
    var parity: UInt8 = 0
    for i in start + 1..<count { parity ^= self[i] }
    append(UInt8(ascii: "*"))
    append(hexadecimal(parity >> 4))
    append(hexadecimal(parity & 15))
    append(0x0D)
    append(0x0A)
  }

  private func hexadecimal(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
  }

  private mutating func appendField(letter: UInt8?) {
    append(UInt8(ascii: ","))
    if let letter { append(letter) }
  }

  /// A value / 10^`from`, rounded half away from zero to `to` decimals.
  private mutating func appendField(
    _ value: Int64?, from: Int = 0, to: Int = 0, integers: Int = 1
  ) {
    append(UInt8(ascii: ","))
    guard let value else { return }
    appendDecimal(rounded(value, from - to), decimals: to, integers: integers)
  }

  /// Without its last `places` digits, rounded half away from zero.
  private func rounded(_ value: Int64, _ places: Int) -> Int64 {
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

  /// Rounded to 360.00 it is written as 0.00.
  private mutating func appendCourse(_ course_e4: Int32?, _ format: NMEAFormat) {
    let decimals = format.courseDecimals
    append(UInt8(ascii: ","))
    guard let course_e4 else { return }
    var turn: Int64 = 360
    for _ in 0..<decimals { turn *= 10 }
    appendDecimal(rounded(Int64(course_e4), 4 - decimals) % turn, decimals: decimals)
  }

  /// Cut, not rounded: the time must not reach the next minute.
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

  private mutating func appendCoordinate(_ place: Coordinate?, _ format: NMEAFormat) {
    guard let place else {
      append(ascii: ",,,,")
      return
    }
    appendAngle(place.latitude_e9, format, integers: 2)
    appendField(letter: place.latitude_e9 < 0 ? UInt8(ascii: "S") : UInt8(ascii: "N"))
    appendAngle(place.longitude_e9, format, integers: 3)
    appendField(letter: place.longitude_e9 < 0 ? UInt8(ascii: "W") : UInt8(ascii: "E"))
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
