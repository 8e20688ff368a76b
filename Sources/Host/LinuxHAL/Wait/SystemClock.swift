import CLinux
import Glibc
import LocationHAL
import LocationTypes

/// The boot clock of Linux, `CLOCK_BOOTTIME`: it counts suspend and takes no steps (DEF-17).
///
/// Read from the page that the kernel shows every process: no system call.
public struct SystemClock: BootClock, Sendable {
  /// Creates a clock; all of them tell the same.
  public init() {}

  /// Now, in microseconds since boot.
  public var now: Instant { Instant(microseconds: clinux_boot_us()) }

  /// What the wall clock says, which may be years off on a board without a battery for it: for names
  /// of files and lines of a log, never for a fix (STD-13).
  public var wall: UTCTime { UTCTime(microseconds: Int64(time(nil)) * 1_000_000) }
}
