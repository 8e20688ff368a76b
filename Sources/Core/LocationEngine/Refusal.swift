import LocationTypes

/// When a receiver that refused something, to batch or to save power, is asked again: ever more
/// seldom, but always once more.
///
/// A refusal may be of the moment: a command that the line garbled, a receiver that was starting.
struct Refusal: Sendable {
  /// From the first refusal to the next try.
  static let shortest = Interval.seconds(60)
  /// Between two tries at the most.
  static let longest = Interval.seconds(3_600)

  /// Until when it is not asked; nil while nothing was refused.
  private(set) var until: Instant?
  private var count: Int64 = 0

  /// It refused at `now`.
  mutating func refuse(at now: Instant) {
    until = now + min(Refusal.shortest * (1 << count), Refusal.longest)
    count = min(count + 1, 6)
  }

  /// It does so, or has come back from a loss and may be another one.
  mutating func forget() { self = Refusal() }

  /// Whether it is taken for one that cannot do so.
  func holds(at now: Instant) -> Bool { until.map { now < $0 } ?? false }
}
