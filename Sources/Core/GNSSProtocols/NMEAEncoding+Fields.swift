import LocationTypes

// What sentences are made of.

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

  /// A value / 10^`from`, rounded half away from zero to `to` decimals.
  mutating func appendField(
    _ value: Int64?, from: Int = 0, to: Int = 0, integers: Int = 1
  ) {
    append(UInt8(ascii: ","))
    guard let value else { return }
    appendDecimal(rounded(value, from - to), decimals: to, integers: integers)
  }

  /// Without its last `places` digits, rounded half away from zero.
  func rounded(_ value: Int64, _ places: Int) -> Int64 {
    var divisor: Int64 = 1
    for _ in 0..<places { divisor *= 10 }
    return (value + (value < 0 ? -divisor / 2 : divisor / 2)) / divisor
  }

  mutating func appendMetres(_ value_mm: Int32?, _ format: NMEAFormat) {
    appendField(value_mm.map { Int64($0) }, from: 3, to: format.metreDecimals)
  }

  mutating func appendKnots(_ speed_mmps: Int32?) {
    appendField(speed_mmps.map { (Int64($0) * 900 + 231) / 463 }, from: 3, to: 3)
  }

  mutating func appendKilometres(_ speed_mmps: Int32?) {
    appendField(speed_mmps.map { (Int64($0) * 36 + 5) / 10 }, from: 3, to: 3)
  }

  mutating func appendDilution(_ dilution_e2: UInt16?) {
    appendField(dilution_e2.map { Int64($0) }, from: 2, to: 2)
  }

  /// Degrees and where to.
  mutating func appendVariation(_ variation_e4: Int32?, _ format: NMEAFormat) {
    appendField(variation_e4.map { Int64(abs($0)) }, from: 4, to: format.courseDecimals)
    appendField(letter: variation_e4.map { $0 < 0 ? UInt8(ascii: "W") : UInt8(ascii: "E") })
  }

  /// Rounded to 360.00 it is written as 0.00.
  mutating func appendCourse(_ course_e4: Int32?, _ format: NMEAFormat) {
    let decimals = format.courseDecimals
    append(UInt8(ascii: ","))
    guard let course_e4 else { return }
    var turn: Int64 = 360
    for _ in 0..<decimals { turn *= 10 }
    appendDecimal(rounded(Int64(course_e4), 4 - decimals) % turn, decimals: decimals)
  }

  /// Cut, not rounded: the time must not reach the next minute.
  mutating func appendTime(_ time_us: Int64?, _ format: NMEAFormat) {
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

  mutating func appendCoordinate(_ place: Coordinate?, _ format: NMEAFormat) {
    guard let place else {
      append(ascii: ",,,,")
      return
    }
    appendAngle(place.latitude_e9, format, integers: 2)
    appendField(letter: place.latitude_e9 < 0 ? UInt8(ascii: "S") : UInt8(ascii: "N"))
    appendAngle(place.longitude_e9, format, integers: 3)
    appendField(letter: place.longitude_e9 < 0 ? UInt8(ascii: "W") : UInt8(ascii: "E"))
  }

  mutating func appendAngle(_ angle_e9: Int64, _ format: NMEAFormat, integers: Int) {
    append(UInt8(ascii: ","))
    let decimals = format.minuteDecimals
    let minutes = rounded(abs(angle_e9) * 60, 9 - decimals)
    var degree: Int64 = 60
    for _ in 0..<decimals { degree *= 10 }
    appendDecimal(minutes / degree, decimals: 0, integers: integers)
    appendDecimal(minutes % degree, decimals: decimals, integers: 2)
  }
}
