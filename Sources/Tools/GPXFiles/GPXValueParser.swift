import LocationTypes

/// Parsers of GPX values: `xsd:decimal` (also with an exponent) and `xsd:dateTime`.
enum GPXValueParser {
  /// Parses a finite decimal number, without the white space around it; nil if the text is not a number.
  static func number(_ text: String) -> Double? {
    let core = trimmed(text)
    let isDecimal = core.utf8.allSatisfy {
      isDigit($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 | 0x20 == 0x65
    }
    guard isDecimal, let value = Double(String(core)), value.isFinite else { return nil }
    return value
  }

  /// Parses a time such as `2014-04-03T08:54:11.5+02:00`; without an offset it is UTC, as GPX specifies.
  ///
  /// Fractions finer than a microsecond are truncated. Second 60 is second 0 of the next minute.
  static func time(_ text: String) -> UTCTime? {
    var input = trimmed(text).utf8[...]
    guard let year = digits(&input, 4), skip(&input, "-"), let month = digits(&input, 2),
      skip(&input, "-"), let day = digits(&input, 2), skip(&input, "T"),
      let date = CalendarDate(year: year, month: month, day: day),
      let hour = digits(&input, 2), skip(&input, ":"), let minute = digits(&input, 2),
      skip(&input, ":"), let second = digits(&input, 2), let fraction = fraction(&input),
      let offset = offset(&input), input.isEmpty
    else { return nil }
    guard hour < 24 || (hour == 24 && minute == 0 && second == 0 && fraction == 0), minute < 60,
      second <= 60
    else { return nil }
    let seconds = Int64(hour) * 3_600 + Int64(minute) * 60 + Int64(second) - offset
    return date.start + .seconds(seconds) + Interval(microseconds: fraction)
  }

  /// Parses the fraction of a second, microseconds; 0 without a decimal point, nil if no digit follows it.
  private static func fraction(_ input: inout Substring.UTF8View) -> Int64? {
    guard skip(&input, ".") else { return 0 }
    guard let first = input.first, isDigit(first) else { return nil }
    var value: Int64 = 0
    var unit: Int64 = 100_000
    while let digit = input.first, isDigit(digit) {
      value += Int64(digit - 0x30) * unit
      unit /= 10
      input.removeFirst()
    }
    return value
  }

  /// Parses the offset from UTC, seconds: `Z`, `+02:00` or `-0330`; 0 at the end of the text. At most ±14 h.
  private static func offset(_ input: inout Substring.UTF8View) -> Int64? {
    guard let mark = input.first else { return 0 }
    if skip(&input, "Z") { return 0 }
    guard skip(&input, "+") || skip(&input, "-"), let hours = digits(&input, 2) else { return nil }
    _ = skip(&input, ":")
    guard let minutes = digits(&input, 2), minutes < 60, hours * 60 + minutes <= 14 * 60 else {
      return nil
    }
    let seconds = Int64(hours * 3_600 + minutes * 60)
    return mark == 0x2D ? -seconds : seconds
  }

  private static func skip(_ input: inout Substring.UTF8View, _ mark: Character) -> Bool {
    guard input.first == mark.asciiValue else { return false }
    input.removeFirst()
    return true
  }

  private static func digits(_ input: inout Substring.UTF8View, _ count: Int) -> Int? {
    guard input.prefix(count).count == count, input.prefix(count).allSatisfy(isDigit) else {
      return nil
    }
    let value = input.prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    input = input.dropFirst(count)
    return value
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func trimmed(_ text: String) -> Substring {
    let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
    let front = text.utf8.drop(while: isSpace)
    guard let last = front.lastIndex(where: { !isSpace($0) }) else { return "" }
    return Substring(front[...last])
  }
}
