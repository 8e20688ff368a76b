import LocationTypes

/// What those who want single fixes, and not every one, need next; the sum of their needs.
public struct FixNeed: Equatable, Sendable {
  /// When the next fix must be there; `.distantFuture` when none is needed.
  public private(set) var due = Instant.distantFuture
  /// How accurate it must be, metres: what is worse is held back a little while it gets better
  /// (PWR-7).
  public private(set) var accuracy = Double.infinity
  /// When the first of those who wait for it gives up; `.distantFuture` when nobody does.
  public private(set) var until = Instant.distantFuture

  /// No need at all.
  public init() {}

  /// Adds the need of a fix at `due`, of that accuracy in metres, for one who waits until `until`.
  public mutating func add(due: Instant, accuracy: Double, until: Instant = .distantFuture) {
    guard due < .distantFuture else { return }
    self.due = min(self.due, due)
    self.accuracy = min(self.accuracy, accuracy)
    self.until = min(self.until, until)
  }

  /// Adds the needs of others.
  public mutating func add(_ other: FixNeed) {
    add(due: other.due, accuracy: other.accuracy, until: other.until)
  }

  /// Whether a fix is needed at some time.
  public var isAny: Bool { due < .distantFuture }
}
