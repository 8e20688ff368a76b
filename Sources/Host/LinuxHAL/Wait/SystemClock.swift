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

  /// Wall clock at ``LocationTypes/Instant/boot``, in nanoseconds since 1970: the wall clock at `t` is this plus
  /// `t − .boot`. It changes only when the wall clock is set.
  public var wallTimeAtBoot_ns: Int64 { clinux_wall_time_at_boot_ns() }

  /// Time of the wall clock, which may be years off on a board without a battery-backed clock. Use it for file names
  /// and log lines, never for a fix (STD-13).
  public var wallTime: UTCTime {
    let wall_us = wallTimeAtBoot_ns / 1_000 + now.microseconds
    return UTCTime(microseconds: wall_us / 1_000_000 * 1_000_000)
  }
}
