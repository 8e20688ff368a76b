import Glibc
import LocationTypes

/// What the kernel has counted since the board, or this process, started. Two clocks each; no more.
public enum ProcessUsage {
  /// Processor time of this process.
  public static var processor: Interval { read(CLOCK_PROCESS_CPUTIME_ID) - .boot }

  /// How long the board was suspended: what the boot clock has and the monotonic clock has not.
  public static var suspended: Interval { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> Instant {
    var moment = timespec()
    _ = unsafe clock_gettime(clock, &moment)
    return Instant(
      microseconds: Int64(moment.tv_sec) * 1_000_000 + Int64(moment.tv_nsec) / 1_000)
  }
}
