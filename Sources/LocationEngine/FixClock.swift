import LocationTypes

/// Learns where UTC lies on the boot clock, so that a fix out of a batch gets its true moment.
///
/// A live fix arrives late by transmission, never early: the smallest distance seen is the best.
struct FixClock: Sendable {
  /// A distance that differs by more is a step of UTC, not lateness.
  static let step = Interval.seconds(1)
  /// So many live fixes running must agree before UTC is taken to have stepped.
  static let patience = 3

  /// UTC of the boot clock's zero, µs; nil until the first live fix with a time.
  private(set) var bootUTC_us: Int64?
  private var disagreeing = 0

  /// Notes that a live fix of `utc` was there at `received`.
  mutating func learn(_ utc: UTCTime, received: Instant) {
    let seen = utc.microseconds - received.microseconds
    guard let known = bootUTC_us else {
      bootUTC_us = seen
      return
    }
    if seen >= known - FixClock.step.microseconds {
      disagreeing = 0
      bootUTC_us = max(known, seen)
      return
    }
    disagreeing += 1
    if disagreeing >= FixClock.patience {
      bootUTC_us = seen
      disagreeing = 0
    }
  }

  /// The moment of `utc` on the boot clock, never later than `now`; `now` while nothing is known.
  func instant(of utc: UTCTime?, at now: Instant) -> Instant {
    guard let utc, let bootUTC_us else { return now }
    let (boot, over) = utc.microseconds.subtractingReportingOverflow(bootUTC_us)
    return over ? now : min(Instant(microseconds: boot), now)
  }
}
