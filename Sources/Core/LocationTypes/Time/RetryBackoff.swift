/// Exponential back-off: how many attempts in a row have failed, and when the next one is due.
///
/// The delay is ``initial`` after the first failure and doubles with each further one, up to ``longest``. The number of
/// attempts has no limit. All operations are O(1).
public struct RetryBackoff: Equatable, Sendable {
  /// Largest number of doublings that are computed. With it the delay of ``initial`` 55 ms reaches an hour.
  static let maximumDoublings: Int64 = 16

  /// Delay after the first failure: above zero, at most a day.
  public let initial: Interval
  /// Upper limit of the delay.
  public let longest: Interval
  /// Number of failures in a row; stops where the delay no longer doubles, at 17.
  public private(set) var failures: Int64 = 0
  /// Earliest time of the next attempt; the time of boot if there was no failure. The owner sets it for a delay that
  /// counts as no failure.
  public var nextTime = Instant.boot

  /// Creates a back-off without failures.
  public init(initial: Interval, longest: Interval) {
    self.initial = initial
    self.longest = longest
  }

  /// The delay after `failures` failures in a row; for none as for the first.
  public static func delay(after failures: Int64, initial: Interval, longest: Interval) -> Interval
  {
    min(initial * (1 << min(max(failures, 1) - 1, maximumDoublings)), longest)
  }

  /// The delay after the last failure.
  public var delay: Interval {
    RetryBackoff.delay(after: failures, initial: initial, longest: longest)
  }

  /// Records a failed attempt at `now`. Returns the new ``nextTime``.
  @discardableResult
  public mutating func recordFailure(at now: Instant) -> Instant {
    failures = min(failures + 1, RetryBackoff.maximumDoublings + 1)
    nextTime = now + delay
    return nextTime
  }

  /// Clears the failures and ``nextTime``, because an attempt succeeded or the reason for the failures may be over.
  public mutating func reset() { self = RetryBackoff(initial: initial, longest: longest) }

  /// Whether the next attempt must wait.
  public func isWaiting(at now: Instant) -> Bool { now < nextTime }
}
