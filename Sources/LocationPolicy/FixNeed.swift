import LocationTypes

/// What those who want single fixes, and not every one, need next; the sum of their needs.
public struct FixNeed: Equatable, Sendable {
  /// When the next fix must be there; `.distantFuture` when none is needed.
  public private(set) var due = Instant.distantFuture
  /// How accurate it must be, metres: what is worse is held back a little while it gets better
  /// (PWR-7).
  public private(set) var accuracy = Double.infinity

  /// No need at all.
  public init() {}

  /// Adds the need of a fix at `due`, of that accuracy in metres.
  public mutating func add(due: Instant, accuracy: Double) {
    guard due < .distantFuture else { return }
    self.due = min(self.due, due)
    self.accuracy = min(self.accuracy, accuracy)
  }

  /// Whether a fix is needed at some time.
  public var isAny: Bool { due < .distantFuture }
}
