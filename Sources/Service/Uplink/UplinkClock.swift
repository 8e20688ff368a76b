import CLinux
import Glibc
import LocationTypes

/// The clocks of the program.
enum UplinkClock {
  /// The boot clock: it includes suspended time, so that a back-off is over at the first wake after its end.
  static var now: Instant { Instant(microseconds: clinux_boot_us()) }

  /// The system's UTC.
  static var utc: UTCTime { UTCTime(microseconds: clinux_wall_us()) }

  /// UTC minus boot clock, µs; nil while the system's date is before 2024, because it was not set.
  static var offset: Int64? {
    let utc = utc
    guard utc.microseconds > 1_704_067_200_000_000 else { return nil }
    return utc.microseconds - now.microseconds
  }

  /// Waits. The time does not include suspended time: it wakes no board.
  static func pause(_ time: Interval) {
    _ = poll(nil, 0, CInt(clamping: time.microseconds / 1_000))
  }
}
