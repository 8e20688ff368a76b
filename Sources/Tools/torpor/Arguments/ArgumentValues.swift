import ArgumentParser
import BoardProfiles
import LocationPolicy
import LocationTypes

/// Parsers for option values.
///
/// Each returns the value in SI units and throws `ValidationError` with the expected format, range and an example.
enum ArgumentValues {
  /// Parses a distance in metres, with an optional unit `m` or `km`; `unlimited` gives infinity.
  static func distance(_ text: String) throws -> Double {
    if isUnlimited(text) { return .infinity }
    return try metres(text, expected: "metres, 0 or more (500, 500m, 2km), or 'unlimited'")
  }

  /// Parses a distance above 0 and at most `maximum` metres.
  static func distance(_ text: String, atMost maximum: Double) throws -> Double {
    let limit = HumanFormat.distance(maximum)
    let expected = "metres, more than 0 and at most \(limit) (50, 50m, 2km)"
    let value = try metres(text, expected: expected)
    guard value > 0, value <= maximum else { throw ValidationError("it should be \(expected)") }
    return value
  }

  /// Largest finite distance, metres: a million kilometres. A greater value is refused.
  private static let maximumMetres = 1e9
  /// Longest finite time, seconds: a century. A greater value is refused.
  private static let maximumSeconds = 100 * 365.25 * 86_400

  private static func metres(_ text: String, expected: String) throws -> Double {
    let (number, factor) = splitUnit(text, [("km", 1_000), ("m", 1)])
    return try bounded(number, factor, maximumMetres, expected: expected)
  }

  private static func bounded(
    _ number: String, _ factor: Double, _ limit: Double, expected: String
  ) throws -> Double {
    let value = try nonNegative(number, expected: expected) * factor
    guard value <= limit else { throw ValidationError("it is too large; it should be \(expected)") }
    return value
  }

  /// Parses the radius of a region, metres: above 0 and at most the maximum of a region (REG-3).
  static func radius(_ text: String) throws -> Double {
    try distance(text, atMost: RegionLimits.standard.maximumRadius)
  }

  /// Parses a duration in seconds, with an optional unit `s`, `min` or `h`; `unlimited` gives infinity.
  static func timeout(_ text: String) throws -> Double {
    if isUnlimited(text) { return .infinity }
    let expected = "seconds, 0 or more (90, 90s, 5min, 1h), or 'unlimited'"
    let (number, factor) = splitUnit(text, [("min", 60), ("s", 1), ("h", 3_600)])
    return try bounded(number, factor, maximumSeconds, expected: expected)
  }

  /// Longest simulation, hours: 31 days.
  static let maximumHours: Int64 = 744

  /// Parses the hours to simulate, more than 0 and at most ``maximumHours``.
  static func hours(_ text: String) throws -> Double {
    let expected = "hours, more than 0 and at most \(maximumHours) (31 days)"
    let value = try nonNegative(text, expected: expected)
    guard value > 0, value <= Double(maximumHours) else {
      throw ValidationError("it should be \(expected)")
    }
    return value
  }

  /// Parses the number of fixes that a client may leave in the cache, in the range of the profile's key.
  static func capacity(_ text: String) throws -> Int {
    let range = BoardProfile.Cache.deferralLimitRange
    guard let value = Int(text), range.contains(value) else {
      throw ValidationError(
        "it should be a whole number of fixes, \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  /// Parses a desired accuracy with Core Location's values: −1 best, −2 best for navigation, else metres (STD-1).
  static func accuracy(_ text: String) throws -> Double {
    switch text.lowercased() {
    case "best", "-1": return -1
    case "navigation", "-2": return -2
    default:
      return try metres(
        text, expected: "metres, 0 or more (50, 50m, 2km), 'best' (or -1) or 'navigation' (or -2)")
    }
  }

  /// Speeds of a serial line for which the C library has a constant (termios(3)), baud.
  static let lineSpeeds = [
    1_200, 2_400, 4_800, 9_600, 19_200, 38_400, 57_600, 115_200, 230_400, 460_800, 500_000, 576_000,
    921_600, 1_000_000, 1_152_000, 1_500_000, 2_000_000, 2_500_000, 3_000_000, 3_500_000, 4_000_000,
  ]

  /// Parses the speed of a serial line, baud: one of ``lineSpeeds``.
  static func baud(_ text: String) throws -> Int {
    if let value = Int(text), lineSpeeds.contains(value) { return value }
    throw ValidationError(
      "it should be one of \(lineSpeeds.map { String($0) }.joined(separator: ", "))")
  }

  /// Parses the charge of a battery in percent, more than 0 and at most 100, with an optional `%`.
  static func charge(_ text: String) throws -> Double {
    let expected = "percent, more than 0 and at most 100 (30, 30%)"
    let value = try nonNegative(
      text.hasSuffix("%") ? String(text.dropLast()) : text, expected: expected)
    guard value > 0, value <= 100 else { throw ValidationError("it should be \(expected)") }
    return value
  }

  /// Parses the seed of the random generator.
  static func seed(_ text: String) throws -> UInt64 {
    guard let value = UInt64(text) else {
      throw ValidationError("it should be a whole number, 0 to \(UInt64.max)")
    }
    return value
  }

  /// First accepted year of a recording: that of the first GPS week.
  static let firstYear = 1980
  /// Last accepted year. A date that is moved forward by whole GPS week rollovers then still has a year of four digits.
  static let lastYear = 2999

  /// Parses the date of a recording, for example `2014-04-03`, within ``firstYear`` to ``lastYear``.
  static func date(_ text: String) throws -> CalendarDate {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    if parts.count == 3, parts[0].utf8.count == 4,
      let year = digits(parts[0]), let month = digits(parts[1]), let day = digits(parts[2])
    {
      if let date = CalendarDate(year: year, month: month, day: day) {
        if (firstYear...lastYear).contains(year) { return date }
        throw ValidationError(
          "it is out of range; it should be a day of the years \(firstYear) to \(lastYear)")
      }
      throw ValidationError("the calendar has no such day")
    }
    throw ValidationError("it should be a date as YYYY-MM-DD, for example 2014-04-03")
  }

  private static func isUnlimited(_ text: String) -> Bool { text.lowercased() == "unlimited" }

  /// Parses a finite decimal number of at least 0; the error message states `expected`.
  static func nonNegative(_ text: String, expected: String) throws -> Double {
    guard let value = Double(text), isDecimal(text) else {
      throw ValidationError("it should be \(expected)")
    }
    guard value >= 0 else { throw ValidationError("it is negative; it should be \(expected)") }
    guard value.isFinite else { throw ValidationError("it is too large; it should be \(expected)") }
    return value
  }

  /// Whether `text` has only the characters of a decimal number: `Double` also accepts `nan`, `inf` and `0x10`.
  private static func isDecimal(_ text: String) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"),
        UInt8(ascii: "-"), UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
  }

  private static func digits(_ text: Substring) -> Int? {
    guard (1...4).contains(text.utf8.count) else { return nil }
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  private static func splitUnit(_ text: String, _ units: [(String, Double)]) -> (String, Double) {
    for (unit, factor) in units where text.hasSuffix(unit) {
      let number = text.dropLast(unit.count)
      return (String(number.last == " " ? number.dropLast() : number), factor)
    }
    return (text, 1)
  }
}
