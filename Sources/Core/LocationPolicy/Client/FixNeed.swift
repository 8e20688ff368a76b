import LocationTypes

/// The next single fix that is needed by clients that do not need every fix: for regions, visits, significant change, a
/// request for one location, or an accuracy bound.
///
/// Needs are summed up in one value: the earliest time, the smallest accuracy, the earliest end. ``Client`` states the
/// need of one client; ``FixSchedule`` switches the receiver on for the sum of all. Pure: no I/O, no clock, no heap.
public struct FixNeed: Equatable, Sendable {
  /// When the next fix is needed; `.distantFuture` if none is.
  public private(set) var due = Instant.distantFuture
  /// Required horizontal accuracy, metres: if the first fix is less accurate, it is held back for a few seconds while
  /// the accuracy improves (PWR-7).
  public private(set) var accuracy = Double.infinity
  /// When the first client waiting for the fix stops waiting; `.distantFuture` if none does.
  public private(set) var until = Instant.distantFuture

  /// Creates an empty need.
  public init() {}

  /// Adds the need of a fix at `due` with `accuracy` in metres, by a client that waits until `until`.
  public mutating func add(due: Instant, accuracy: Double, until: Instant = .distantFuture) {
    guard due < .distantFuture else { return }
    self.due = min(self.due, due)
    self.accuracy = min(self.accuracy, accuracy)
    self.until = min(self.until, until)
  }

  /// Adds other needs.
  public mutating func add(_ other: FixNeed) {
    add(due: other.due, accuracy: other.accuracy, until: other.until)
  }

  /// Whether a fix is needed at any time.
  public var isRequired: Bool { due < .distantFuture }
}
