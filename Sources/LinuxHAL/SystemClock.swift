import CLinux
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
}
