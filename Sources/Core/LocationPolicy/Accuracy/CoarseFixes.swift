import DeferralCache
import LocationTypes

/// The coarse fixes of one client with reduced accuracy: their reduction, and the last one (AUT-5, AUT-12).
///
/// Only the functions of this file write the properties. All are O(1).
struct CoarseFixes: Sendable {
  private var reduction = AccuracyReduction()
  /// The last coarse fix, under the name of the fix from which it was computed.
  private var newest: StoredFix?

  /// Earliest time of the next coarse fix.
  var due: Instant { reduction.due }

  /// Returns the coarse fix for a fix; nil if the next one is not due.
  mutating func reduce(_ stored: StoredFix) -> StoredFix? {
    guard let fix = reduction.reduce(stored.fix) else { return nil }
    newest = StoredFix(name: stored.name, fix: fix)
    return newest
  }

  /// The coarse fix that is valid until the next one is due; nil if none exists.
  func valid(at now: Instant) -> StoredFix? {
    guard let newest, now - newest.fix.acquired <= AccuracyReduction.shortestInterval else {
      return nil
    }
    return newest
  }
}
