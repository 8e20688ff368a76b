import LocationTypes

/// What the time to fix will be: the profile's table, scaled by what this receiver has shown here.
///
/// Datasheets flatter: a receiver under trees takes twice as long, and so will it the next time.
public struct TimeToFixPredictor: Equatable, Sendable {
  /// Each search counts one part in this many.
  static let memory = 8.0
  /// The scale stays between its inverse and this.
  static let widest = 4.0

  /// Times to fix are this many times those of the table.
  public private(set) var scale = 1.0
  private var isFirst = true

  /// Trusts the table.
  public init() {}

  /// The time to the first fix from the order to wake on, given `off` after the order to sleep; nil
  /// where nothing is known. Its start-up comes before it, and counts to the time off.
  public func expected(after off: Interval?, _ receiver: ReceiverFigures) -> Interval {
    guard let off else { return receiver.timeToFix.cold }
    let median = receiver.timeToFix.expected(after: off + receiver.startUp)
    return Interval(seconds: median.seconds * scale)
  }

  /// A search after `off` took `search`; a failed one is never told here, and the very first is
  /// not counted (PWR-7).
  mutating func learn(off: Interval?, search: Interval, _ receiver: ReceiverFigures) {
    guard !isFirst, let off else {
      isFirst = false
      return
    }
    let said = max(receiver.timeToFix.expected(after: off + receiver.startUp).seconds, 0.1)
    // Epochs come once a second: what is told a second late need not have been found late.
    let seen = search.seconds > said ? max(search.seconds - 1, said) : search.seconds
    let ratio = min(max(seen / said, 1 / TimeToFixPredictor.widest), TimeToFixPredictor.widest)
    scale += (ratio - scale) / TimeToFixPredictor.memory
  }
}
