import Glibc
import LocationTypes

/// Processor time and suspend time from kernel clocks. Reads at most two clocks.
public enum ProcessUsage {
  /// Processor time of this process since its start.
  public static var processorTime: Interval { read(CLOCK_PROCESS_CPUTIME_ID) - .boot }

  /// Time in suspend since boot: boot clock minus monotonic clock.
  public static var suspendedTime: Interval { read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC) }

  private static func read(_ clock: clockid_t) -> Instant {
    var moment = timespec()
    _ = unsafe clock_gettime(clock, &moment)
    return Instant(
      microseconds: Int64(moment.tv_sec) * 1_000_000 + Int64(moment.tv_nsec) / 1_000)
  }
}
