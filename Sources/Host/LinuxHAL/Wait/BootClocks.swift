import CLinux
import LocationTypes

/// How far the clock that stands still in suspend (`CLOCK_MONOTONIC`, by which the kernel stamps edges) is
/// behind the boot clock. That changes with each suspend and at no other time.
struct BootClocks {
  /// No suspend is shorter; and two clocks that are read one after the other differ by less.
  private static let least = Interval.milliseconds(10)

  /// The monotonic clock, when this was read, in microseconds.
  private let monotonic_us: Int64
  /// The boot clock less the monotonic one.
  private let lead: Interval

  /// Reads both; again where something came between.
  init() {
    let clock = SystemClock()
    var boot = clock.now
    for _ in 0..<8 {
      let monotonic_us = clinux_monotonic_us()
      let next = clock.now
      if next - boot < BootClocks.least {
        self.init(monotonic_us: monotonic_us, boot: boot)
        return
      }
      boot = next
    }
    self.init(monotonic_us: clinux_monotonic_us(), boot: boot)
  }

  init(monotonic_us: Int64, boot: Instant) {
    self.monotonic_us = monotonic_us
    lead = (boot - .boot) - Interval(microseconds: monotonic_us)
  }

  /// Whether the board was suspended since an earlier reading.
  func isBehind(_ earlier: BootClocks) -> Bool { lead - earlier.lead >= BootClocks.least }

  /// A stamp of the monotonic clock on the boot clock, out of a time whose last reading this is.
  ///
  /// One from before the last suspend is put where it belongs by the reading of before it; one that lies
  /// between the two readings is taken to be of after it, for while the board was suspended nobody stamped.
  func moment(monotonic_ns: Int64, before earlier: BootClocks) -> Instant {
    let stamp_us = monotonic_ns / 1_000
    let lead = stamp_us <= earlier.monotonic_us ? earlier.lead : lead
    return .boot + Interval(microseconds: stamp_us) + lead
  }
}
