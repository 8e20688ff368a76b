import LocationTypes

/// UTC minus boot clock, from the newest fix with a certain date, so that clients receive times of both clocks.
///
/// Unknown until the first such fix of this run. The offset is a copy without a clock of its own: it does not follow a
/// drift between two fixes.
struct UTCOffset {
  private var offset_us: Int64?

  /// Updates the offset from a fix. A fix without a time, or with an uncertain date, changes nothing.
  mutating func update(from fix: Fix) {
    guard let utc = fix.utc, !fix.isDateUncertain else { return }
    offset_us = utc.microseconds - fix.acquired.microseconds
  }

  /// The UTC of a time of the boot clock; nil before the first fix with a certain date.
  func utc(_ time: Instant) -> UTCTime? {
    offset_us.map { UTCTime(microseconds: time.microseconds + $0) }
  }
}
