/// A point in time in UTC: microseconds since 1970-01-01T00:00:00Z without leap seconds (Unix time).
///
/// The calendar functions support the years 1 to 9999. UTC can step when the receiver corrects it, so deadlines
/// use ``Instant`` instead (DEF-17).
@frozen public struct UTCTime: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public var microseconds: Int64

  /// Creates a time from microseconds since 1970-01-01T00:00:00Z.
  @inlinable public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Seconds since 1970-01-01T00:00:00Z.
  @inlinable public var seconds: Double { Double(microseconds) / 1e6 }

  /// Whether `a` is earlier than `b`.
  @inlinable public static func < (a: UTCTime, b: UTCTime) -> Bool {
    a.microseconds < b.microseconds
  }
  /// The duration from `b` to `a`; negative if `a` is earlier.
  @inlinable public static func - (a: UTCTime, b: UTCTime) -> Interval {
    Interval(microseconds: a.microseconds - b.microseconds)
  }
  /// The time `b` after `a`.
  @inlinable public static func + (a: UTCTime, b: Interval) -> UTCTime {
    UTCTime(microseconds: a.microseconds + b.microseconds)
  }
  /// The time `b` before `a`.
  @inlinable public static func - (a: UTCTime, b: Interval) -> UTCTime {
    UTCTime(microseconds: a.microseconds - b.microseconds)
  }
}

/// A date in the proleptic Gregorian calendar.
@frozen public struct CalendarDate: Hashable, Comparable, Sendable {
  /// The year, 1 to 9999.
  public var year: Int
  /// The month, 1 to 12.
  public var month: Int
  /// The day of the month, 1 to 31.
  public var day: Int

  /// Creates a date; nil if it does not exist.
  public init?(year: Int, month: Int, day: Int) {
    guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
    guard day >= 1, day <= CalendarDate.days(inMonth: month, of: year) else { return nil }
    self.year = year
    self.month = month
    self.day = day
  }

  /// Number of days in a month; `month` is 1 to 12.
  public static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2:
      let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
      return leap ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Days since 1970-01-01; negative before. Source: Howard Hinnant's `days_from_civil`.
  public var daysSince1970: Int {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let shifted = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * shifted + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// Creates a date from days since 1970-01-01. Source: Howard Hinnant's `civil_from_days`.
  public init(daysSince1970 days: Int) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shifted + 2) / 5 + 1
    month = shifted < 10 ? shifted + 3 : shifted - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// Start of the day: midnight, UTC.
  public var start: UTCTime { UTCTime(microseconds: Int64(daysSince1970) * 86_400_000_000) }

  /// Whether `a` is earlier than `b`.
  public static func < (a: CalendarDate, b: CalendarDate) -> Bool {
    a.daysSince1970 < b.daysSince1970
  }
}

extension UTCTime {
  /// UTC date of this time.
  public var date: CalendarDate {
    CalendarDate(daysSince1970: Int((microseconds - microsecondsOfDay) / 86_400_000_000))
  }

  /// Microseconds since midnight UTC, 0 to 86,399,999,999.
  public var microsecondsOfDay: Int64 {
    let remainder = microseconds % 86_400_000_000
    return remainder < 0 ? remainder + 86_400_000_000 : remainder
  }
}
