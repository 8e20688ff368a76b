/// UTC counts no leap seconds here, so second 60 needs a place of its own (STD-13).
///
/// It is squeezed into the last millisecond of second 59: 23:59:60.5 is told as 23:59:59.9992, which to
/// the nearest millisecond is of that second too. Time
/// never goes back, the day does not end twice, and a fix of that second is neither lost nor doubled.
enum LeapSecond {
  static let day_us: Int64 = 86_400_000_000

  /// A time of day in which second 60 of a minute runs on into the next one, put into the minute.
  ///
  /// `time_us` has a second of 60 and so lies in the first second of a minute; what rounding put
  /// before it is left as it is.
  static func squeezed(_ time_us: Int64) -> Int64 {
    let rest = time_us % 60_000_000
    if rest >= 1_000_000 { return time_us }
    return time_us - rest - 1_000 + rest / 2_500
  }
}
