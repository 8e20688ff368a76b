import LocationTypes

/// Exponential back-off for a mode that the receiver refused (batching or power saving).
///
/// A refusal may be temporary, for example if the line garbled a command or the receiver was starting. The engine
/// therefore retries after 1 min, doubled up to 1 h, without a limit on the number of retries.
struct RetryBackoff: Sendable {
  /// Time from the first refusal to the first retry.
  static let minimum = Interval.seconds(60)
  /// Longest time between two retries.
  static let maximum = Interval.seconds(3_600)

  /// Time of the next retry; nil if nothing was refused.
  private(set) var retryTime: Instant?
  private var refusals: Int64 = 0

  /// Records a refusal at `now`.
  mutating func recordRefusal(at now: Instant) {
    retryTime = now + min(RetryBackoff.minimum * (1 << refusals), RetryBackoff.maximum)
    refusals = min(refusals + 1, 6)
  }

  /// Resets the back-off: the mode was accepted, or the receiver was lost and may have been replaced.
  mutating func reset() { self = RetryBackoff() }

  /// Whether the mode must not be requested at `now`.
  func isActive(at now: Instant) -> Bool { retryTime.map { now < $0 } ?? false }
}
