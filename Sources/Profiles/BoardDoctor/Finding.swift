/// One thing that was looked at, and what came of it.
public struct Finding: Equatable, Sendable {
  /// What came of it.
  public enum Outcome: String, CaseIterable, Sendable {
    /// As it should be.
    case passed = "pass"
    /// The service cannot work with that, or not as its profile says.
    case failed = "fail"
    /// Not looked at, or nothing to say; `found` says why.
    case skipped = "skip"
  }

  /// What was looked at, in a word or two.
  public var name: String
  /// What came of it.
  public var outcome: Outcome
  /// What is there, in one line.
  public var found: String
  /// What helps, in one line; of what passed, what would be better still.
  public var remedy: String?

  /// Creates a finding.
  public init(_ name: String, _ outcome: Outcome, _ found: String, remedy: String? = nil) {
    self.name = name
    self.outcome = outcome
    self.found = found
    self.remedy = remedy
  }
}
