import CLinux
import LocationTypes

/// Offset between the boot clock and `CLOCK_MONOTONIC`, by which the kernel stamps edges and which stops during
/// suspend. The offset grows with each suspend and is constant otherwise.
struct ClockOffset {
  /// Smallest offset change that counts as a suspend. Every suspend is longer, and the error of a reading is less.
  private static let minimumSuspend = Interval.milliseconds(10)

  /// Reading of the monotonic clock, µs.
  private let monotonic_us: Int64
  /// Boot clock minus monotonic clock.
  let offset: Interval

  /// Reads both clocks, within a microsecond of each other unless all of eight attempts are interrupted.
  init() {
    monotonic_us = clinux_monotonic_us()
    offset = Interval(microseconds: -clinux_monotonic_at_boot_ns() / 1_000)
  }

  init(monotonic_us: Int64, boot: Instant) {
    self.monotonic_us = monotonic_us
    offset = (boot - .boot) - Interval(microseconds: monotonic_us)
  }

  /// Whether the board was suspended since an earlier reading.
  func wasSuspended(since earlier: ClockOffset) -> Bool {
    offset - earlier.offset >= ClockOffset.minimumSuspend
  }

  /// Converts a stamp of the monotonic clock to the boot clock, when this is the latest reading.
  ///
  /// A stamp from before `earlier` is converted with the offset of `earlier`, any later one with this offset: between
  /// the two readings the board was suspended, and nothing was stamped.
  func bootTime(monotonic_ns: Int64, before earlier: ClockOffset) -> Instant {
    let stamp_us = monotonic_ns / 1_000
    let lead = stamp_us <= earlier.monotonic_us ? earlier.offset : offset
    return .boot + Interval(microseconds: stamp_us) + lead
  }
}
