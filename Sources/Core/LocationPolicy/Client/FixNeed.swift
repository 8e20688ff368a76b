import LocationTypes

/// The next single fix that services need when they do not need every fix; also the sum of several needs.
public struct FixNeed: Equatable, Sendable {
  /// When the next fix is needed; `.distantFuture` if none is.
  public private(set) var due = Instant.distantFuture
  /// Required horizontal accuracy, metres: a less accurate fix is held back for a short time while accuracy improves
  /// (PWR-7).
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
