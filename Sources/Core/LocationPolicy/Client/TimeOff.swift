import DeferralCache
import LocationTypes

/// The time for which the board was off before the service started, on the present boot clock (PWR-14).
///
/// The ring holds the times of fixes on the clocks of earlier boots, and in UTC by the receiver. The wall clock cannot
/// convert them: at a boot it may lack the time off, or show a time of years ago. So UTC is that of the newest fix before
/// the time off, and the length of the time off is measured by the alarm's clock.
public struct TimeOff: Equatable, Sendable {
  /// When the service ended.
  public let start: Instant
  /// When the service started again.
  public let end: Instant
  /// UTC at zero of the boot clock.
  public let bootUTC: UTCTime

  /// Creates a time off.
  public init(from start: Instant, to end: Instant, bootUTC: UTCTime) {
    self.start = start
    self.end = end
    self.bootUTC = bootUTC
  }

  /// Creates the time off that ended with this opening of the ring.
  ///
  /// - Parameters:
  ///   - length: Its length.
  ///   - off: When the service ended, on the boot clock of that time.
  ///   - offUTC: UTC at that time by the wall clock; used if the service has stored no fix in its last run.
  ///   - now: Current time.
  public init(
    length: Interval, since off: Instant, offUTC: UTCTime, until now: Instant,
    _ ring: borrowing FixRing
  ) {
    var startUTC = offUTC
    if let newest = ring.head > ring.tail ? ring.stored(at: ring.head - 1) : nil,
      newest.name.generation == ring.generation - 1, let utc = newest.fix.utc
    {
      startUTC = utc + (off - newest.fix.acquired)
    }
    let start = now - length
    self.init(from: start, to: now, bootUTC: startUTC + (.boot - start))
  }

  /// A fix of an earlier boot with its time on the present boot clock; nil without UTC, or if that is after ``end``,
  /// because its date was wrong.
  package func earlierFix(at sequence: UInt64, in ring: borrowing FixRing) -> Fix? {
    guard var fix = ring.stored(at: sequence)?.fix, let utc = fix.utc else { return nil }
    fix.acquired = .boot + (utc - bootUTC)
    return fix.acquired <= end ? fix : nil
  }
}
