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

  /// The time to the first fix after `off`, nil where nothing is known.
  public func expected(after off: Interval?, _ table: TimeToFixTable) -> Interval {
    Interval(seconds: table.expected(after: off).seconds * (off == nil ? 1 : scale))
  }

  /// A search after `off` took `search`; a failed one is never told here, and the very first is
  /// not counted (PWR-7).
  mutating func learn(off: Interval?, search: Interval, _ table: TimeToFixTable) {
    guard !isFirst, let off else {
      isFirst = false
      return
    }
    let said = max(table.expected(after: off).seconds, 0.1)
    // Epochs come once a second: what is told a second late need not have been found late.
    let seen = max(search.seconds, said / TimeToFixPredictor.widest)
    let ratio = min(max(seen / said, 1 / TimeToFixPredictor.widest), TimeToFixPredictor.widest)
    scale += (ratio - scale) / TimeToFixPredictor.memory
  }
}
