import CLinux
import Glibc
import LocationHAL
import LocationTypes

/// The boot clock of Linux, `CLOCK_BOOTTIME`, which includes suspend and never steps (DEF-17).
///
/// Read from the vDSO, without a system call.
public struct SystemClock: BootClock, Sendable {
  /// Creates a clock; all instances are equal.
  public init() {}

  /// Time since boot, in microseconds.
  public var now: Instant { Instant(microseconds: clinux_boot_us()) }

  /// Time of the wall clock, which may be years off on a board without a battery-backed clock. Use it for file names
  /// and log lines, never for a fix (STD-13).
  public var wallTime: UTCTime { UTCTime(microseconds: Int64(time(nil)) * 1_000_000) }
}
