import LocationTypes

/// UBX-NAV-TIMEGPS.
public struct UBXGPSTime: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// Fraction of ``timeOfWeek_ms``, ±500,000 ns.
  public var fraction_ns: Int32
  /// GPS week.
  public var week: Int16
  /// GPS time minus UTC, s.
  public var leapSeconds: Int8
  /// Bits 0 towValid, 1 weekValid, 2 leapSValid.
  public var valid: UInt8
  /// Time accuracy, ns.
  public var accuracy_ns: UInt32
}

/// UBX-NAV-TIMEUTC.
public struct UBXTimeUTC: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// UTC to the microsecond; nil unless flags validTOW, validWKN and validUTC are set.
  ///
  /// A leap second is compressed into the last millisecond of the second before it (STD-13).
  public var utc: UTCTime?
  /// Time accuracy, ns.
  public var accuracy_ns: UInt32
}

/// UBX-NAV-TIMELS: current leap seconds, and their next or last change.
public struct UBXLeapSeconds: Equatable, Sendable {
  /// GPS time of week, ms.
  public var timeOfWeek_ms: UInt32
  /// GPS time minus UTC now, s.
  public var current: Int8
  /// Source of ``current``: 0 firmware default, 1 GPS and GLONASS difference, 2 GPS, 3 SBAS, 4 BeiDou,
  /// 5 Galileo …
  public var source: UInt8
  /// Change at the event: +1, 0 or −1 s.
  public var change: Int8
  /// Time to the event, s; negative after it.
  public var untilEvent_s: Int32
  /// GPS week of the event.
  public var eventWeek: UInt16
  /// Day of that week, 1 is Sunday.
  public var eventDay: UInt16
  /// Bits 0 validCurrLs, 1 validTimeToLsEvent.
  public var valid: UInt8

  /// Change of leap seconds within the next day, s; 0 if none.
  public var pending: Int8 {
    valid & 2 != 0 && untilEvent_s > 0 && untilEvent_s <= 86_400 ? change : 0
  }
}

/// Conversion of GPS time: weeks of 604,800 s since 1980-01-06, without leap seconds.
enum GPSTime {
  private static let week_us: Int64 = 604_800_000_000
  /// 1980-01-06, µs since 1970.
  private static let epoch_us: Int64 = 315_964_800_000_000
  /// GPS time minus UTC since 2017, s; used until the receiver reports its own.
  static let leapSeconds: Int8 = 18

  /// UTC of a week and time of week.
  static func utc(
    week: Int16, timeOfWeek_ms: UInt32, fraction_ns: Int32, leapSeconds: Int8
  ) -> UTCTime {
    let time = Int64(timeOfWeek_ms) * 1_000_000 + Int64(fraction_ns) + 500
    let rounded = time >= 0 ? time / 1_000 : (time - 999) / 1_000
    return UTCTime(
      microseconds: epoch_us + Int64(week) * week_us + rounded - Int64(leapSeconds) * 1_000_000)
  }
}
