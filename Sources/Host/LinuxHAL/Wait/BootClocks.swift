import CLinux
import LocationTypes

/// Offset between the boot clock and `CLOCK_MONOTONIC`, by which the kernel stamps edges and which stops during
/// suspend. The offset grows with each suspend and is constant otherwise.
struct BootClocks {
  /// Smallest offset change that counts as a suspend. Every suspend is longer, and two consecutive clock readings
  /// differ by less.
  private static let least = Interval.milliseconds(10)

  /// Reading of the monotonic clock, µs.
  private let monotonic_us: Int64
  /// Boot clock minus monotonic clock.
  private let lead: Interval

  /// Reads both clocks, and repeats that if the readings are too far apart.
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

  /// Converts a stamp of the monotonic clock to the boot clock, when this is the latest reading.
  ///
  /// A stamp from before `earlier` is converted with the offset of `earlier`, any later one with this offset: between
  /// the two readings the board was suspended, and nothing was stamped.
  func moment(monotonic_ns: Int64, before earlier: BootClocks) -> Instant {
    let stamp_us = monotonic_ns / 1_000
    let lead = stamp_us <= earlier.monotonic_us ? earlier.lead : lead
    return .boot + Interval(microseconds: stamp_us) + lead
  }
}
