import LocationTypes

/// Parsers of GPX values: `xsd:decimal` (also with an exponent) and `xsd:dateTime`.
enum GPXValueParser {
  /// Parses a finite decimal number, without the white space around it; nil if the text is none.
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
    var rest = trimmed(text).utf8[...]
    guard let year = digits(&rest, 4), skip(&rest, "-"), let month = digits(&rest, 2),
      skip(&rest, "-"), let day = digits(&rest, 2), skip(&rest, "T"),
      let date = CalendarDate(year: year, month: month, day: day),
      let hour = digits(&rest, 2), skip(&rest, ":"), let minute = digits(&rest, 2),
      skip(&rest, ":"), let second = digits(&rest, 2), let fraction = fraction(&rest),
      let offset = offset(&rest), rest.isEmpty
    else { return nil }
    guard hour < 24 || (hour == 24 && minute == 0 && second == 0 && fraction == 0), minute < 60,
      second <= 60
    else { return nil }
    let seconds = Int64(hour) * 3_600 + Int64(minute) * 60 + Int64(second) - offset
    return date.start + .seconds(seconds) + Interval(microseconds: fraction)
  }

  /// Parses the fraction of a second, microseconds; 0 without a decimal point, nil if no digit follows it.
  private static func fraction(_ rest: inout Substring.UTF8View) -> Int64? {
    guard skip(&rest, ".") else { return 0 }
    guard let first = rest.first, isDigit(first) else { return nil }
    var value: Int64 = 0
    var unit: Int64 = 100_000
    while let digit = rest.first, isDigit(digit) {
      value += Int64(digit - 0x30) * unit
      unit /= 10
      rest.removeFirst()
    }
    return value
  }

  /// Parses the offset from UTC, seconds: `Z`, `+02:00` or `-0330`; 0 at the end of the text. At most ±14 h.
  private static func offset(_ rest: inout Substring.UTF8View) -> Int64? {
    guard let mark = rest.first else { return 0 }
    if skip(&rest, "Z") { return 0 }
    guard skip(&rest, "+") || skip(&rest, "-"), let hours = digits(&rest, 2) else { return nil }
    _ = skip(&rest, ":")
    guard let minutes = digits(&rest, 2), minutes < 60, hours * 60 + minutes <= 14 * 60 else {
      return nil
    }
    let seconds = Int64(hours * 3_600 + minutes * 60)
    return mark == 0x2D ? -seconds : seconds
  }

  private static func skip(_ rest: inout Substring.UTF8View, _ mark: Character) -> Bool {
    guard rest.first == mark.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  private static func digits(_ rest: inout Substring.UTF8View, _ count: Int) -> Int? {
    guard rest.prefix(count).count == count, rest.prefix(count).allSatisfy(isDigit) else {
      return nil
    }
    let value = rest.prefix(count).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    rest = rest.dropFirst(count)
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
