import LocationTypes

/// Year to second in UBX messages: seven bytes.
///
/// Converted without the divisions of the general calendar, because every fix passes here.
struct UBXCivilTime {
  var year: UInt32
  var month: UInt32
  var day: UInt32
  var hour: UInt32
  var minute: UInt32
  /// 60 in a leap second.
  var second: UInt32

  /// Reads the seven bytes from `i` on; nil if a field is out of range.
  ///
  /// Loads eight bytes and ignores the last: in all messages a further byte follows.
  @inline(always) init?(_ p: Span<UInt8>, _ i: Int) {
    let word = p.u8(i)
    // Month to second, one byte each: at most 12, 31, 23, 59 and 60, month and day not 0.
    let fields = word &>> 16 & 0xFF_FFFF_FFFF
    let over = fields | (fields &+ 0x43_4468_6073) | (fields &- 0x0101)
    year = UInt32(truncatingIfNeeded: word & 0xFFFF)
    guard over & 0x80_8080_8080 == 0, year &- 1 < 9_999 else { return nil }
    month = UInt32(truncatingIfNeeded: fields & 0xFF)
    day = UInt32(truncatingIfNeeded: fields &>> 8 & 0xFF)
    hour = UInt32(truncatingIfNeeded: fields &>> 16 & 0xFF)
    minute = UInt32(truncatingIfNeeded: fields &>> 24 & 0xFF)
    second = UInt32(truncatingIfNeeded: fields &>> 32)
    if day > 28, Int(day) > CalendarDate.days(inMonth: Int(month), of: Int(year)) { return nil }
  }

  /// Creates the civil time of the second that contains `utc`.
  init(_ utc: UTCTime) {
    let date = utc.date
    let seconds = UInt32(utc.microsecondsOfDay / 1_000_000)
    year = UInt32(date.year)
    month = UInt32(date.month)
    day = UInt32(date.day)
    hour = seconds / 3_600
    minute = seconds / 60 % 60
    second = seconds % 60
  }

  /// Microseconds since 1970, rounded; `.min` if the nanoseconds are outside ±1e9.
  @inline(always) func microseconds(nanoseconds: Int32) -> Int64 {
    guard nanoseconds >= -1_000_000_000, nanoseconds <= 1_000_000_000 else { return .min }
    // +500 ns rounds to nearest; +1 s keeps the dividend positive.
    let fraction = Int64(UInt32(bitPattern: nanoseconds &+ 1_000_000_500) / 1_000) - 1_000_000
    let midnight = Int64(days) * LeapSecond.day_us
    let time = Int64(hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction
    return midnight + (second == 60 ? LeapSecond.compressed(time) : time)
  }

  /// Microseconds since 1970 of the time at `i`; `.min` unless `valid` flags date and time and both are
  /// in range.
  @inline(always) static func microseconds(
    _ p: Span<UInt8>, _ i: Int, valid: UInt8, nanoseconds: Int32
  ) -> Int64 {
    guard valid & 3 == 3, let time = UBXCivilTime(p, i) else { return .min }
    return time.microseconds(nanoseconds: nanoseconds)
  }

  /// ``microseconds(_:_:valid:nanoseconds:)`` as a time; nil for `.min`.
  static func utc(_ p: Span<UInt8>, _ i: Int, valid: UInt8, nanoseconds: Int32) -> UTCTime? {
    let utc_us = microseconds(p, i, valid: valid, nanoseconds: nanoseconds)
    return utc_us == .min ? nil : UTCTime(microseconds: utc_us)
  }

  /// Days since 1970-01-01, equal to `CalendarDate.daysSince1970`, in unsigned arithmetic.
  ///
  /// Years begin in March, so that the leap day is the last day; 979/32 approximates the days per month
  /// (Neri and Schneider, Euclidean affine functions, 2022).
  @inline(always) private var days: Int32 {
    let isBeforeMarch = month <= 2
    let y = isBeforeMarch ? year &- 1 : year
    let m = isBeforeMarch ? month &+ 12 : month
    let century = y / 100
    let yearDays = 1_461 &* y / 4 &- century &+ century / 4
    let monthDays = (979 &* m &- 2_919) / 32
    return Int32(bitPattern: yearDays &+ monthDays &+ day) &- 719_469
  }
}

extension FrameBuffer {
  /// Writes the seven bytes of a civil time at `i`.
  mutating func put(_ time: UBXCivilTime, at i: Int) {
    put(UInt16(truncatingIfNeeded: time.year), at: i)
    self[i + 2] = UInt8(truncatingIfNeeded: time.month)
    self[i + 3] = UInt8(truncatingIfNeeded: time.day)
    self[i + 4] = UInt8(truncatingIfNeeded: time.hour)
    self[i + 5] = UInt8(truncatingIfNeeded: time.minute)
    self[i + 6] = UInt8(truncatingIfNeeded: time.second)
  }
}
