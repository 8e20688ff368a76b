import LocationTypes

/// Exponential back-off for a mode that the receiver refused (batching or power saving).
///
/// A refusal may be temporary, for example if the line garbled a command or the receiver was starting. The engine
/// therefore retries after 1 min, doubled up to 1 h, without a limit on the number of retries.
struct Refusal: Sendable {
  /// Time from the first refusal to the first retry.
  static let shortest = Interval.seconds(60)
  /// Longest time between two retries.
  static let longest = Interval.seconds(3_600)

  /// Time of the next retry; nil if nothing was refused.
  private(set) var until: Instant?
  private var count: Int64 = 0

  /// Records a refusal at `now`.
  mutating func refuse(at now: Instant) {
    until = now + min(Refusal.shortest * (1 << count), Refusal.longest)
    count = min(count + 1, 6)
  }

  /// Resets the back-off: the mode was accepted, or the receiver was lost and may have been replaced.
  mutating func forget() { self = Refusal() }

  /// Whether the mode must not be requested at `now`.
  func holds(at now: Instant) -> Bool { until.map { now < $0 } ?? false }
}
