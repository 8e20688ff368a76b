/// The result of one check of a board by ``Doctor`` (`torpor doctor`). Only a value: it makes no checks and prints
/// nothing.
public struct Finding: Equatable, Sendable {
  /// Outcome of a check.
  public enum Outcome: String, CaseIterable, Sendable {
    /// The check passed.
    case passed = "pass"
    /// The service would not work on this board, or not as the board's profile states.
    case failed = "fail"
    /// The check was skipped or does not apply; `found` says why.
    case skipped = "skip"
  }

  /// Subject of the check, in a word or two.
  public var name: String
  /// Outcome of the check.
  public var outcome: Outcome
  /// What was found, in one line.
  public var found: String
  /// How to fix the problem, in one line; for a check that passed, a possible improvement.
  public var suggestion: String?

  /// Creates a finding.
  public init(_ name: String, _ outcome: Outcome, _ found: String, suggestion: String? = nil) {
    self.name = name
    self.outcome = outcome
    self.found = found
    self.suggestion = suggestion
  }
}
