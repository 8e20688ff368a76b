/// Maps second 60, which UTC in microseconds since 1970 cannot represent, into second 59 (STD-13).
///
/// A leap second is compressed into the last millisecond of second 59: 23:59:60.5 becomes
/// 23:59:59.9992, which to the nearest millisecond is still within that second. Time never decreases,
/// the day does not end twice, and a fix in the leap second is neither lost nor duplicated.
enum LeapSecond {
  static let day_us: Int64 = 86_400_000_000

  /// Moves a time of day whose second 60 overflowed into the next minute back into its own minute.
  ///
  /// `time_us` had a second of 60 and therefore lies in the first second of a minute; a time that
  /// rounding moved before that minute is returned unchanged.
  static func compressed(_ time_us: Int64) -> Int64 {
    let remainder = time_us % 60_000_000
    if remainder >= 1_000_000 { return time_us }
    return time_us - remainder - 1_000 + remainder / 2_500
  }
}
