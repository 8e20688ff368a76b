import LocationEngine
import LocationPolicy
import LocationTypes

/// A bulk transfer of a client's backlog, which ends with its connection.
///
/// Owner: its ``Connection``. Bounded: ``fixesPerRead`` fixes are in memory at a time; all others stay in the ring.
final class Drain {
  /// Number of fixes read from the engine at a time.
  static let fixesPerRead = 256

  /// Index of the client.
  let client: Int
  let backlog: Backlog
  /// Whether the fixes count as delivered to the client's process (`Drain`). `ReadBacklog` only reads them, and
  /// continues if the process ends.
  let countsAsDelivered: Bool
  /// Number of records still to send.
  private(set) var remaining: UInt64
  /// Sequence number to read next.
  private var next: UInt64

  /// - Parameter count: Number of fixes of the backlog that are in the ring.
  init(of client: Int, _ backlog: Backlog, countsAsDelivered: Bool, count: UInt64) {
    self.client = client
    self.backlog = backlog
    self.countsAsDelivered = countsAsDelivered
    remaining = count
    next = backlog.range.lowerBound
  }

  /// Reads the next fixes; none at the end. If fixes were overwritten in between, the transfer ends early.
  func nextFixes(_ engine: borrowing Engine) -> [StoredFix] {
    var fixes: [StoredFix] = []
    fixes.reserveCapacity(Int(min(UInt64(Drain.fixesPerRead), remaining)))
    while fixes.count < Drain.fixesPerRead, fixes.count < remaining,
      next < backlog.range.upperBound
    {
      if let stored = engine.stored(at: next), backlog.includes(stored) { fixes.append(stored) }
      next += 1
    }
    remaining = fixes.isEmpty ? 0 : remaining - UInt64(fixes.count)
    return fixes
  }
}

extension Engine {
  /// Number of fixes of a backlog that are for its client and still in the ring. O(range).
  borrowing func count(of backlog: Backlog) -> UInt64 {
    var count: UInt64 = 0
    for sequence in backlog.range {
      if let stored = stored(at: sequence), backlog.includes(stored) { count += 1 }
    }
    return count
  }
}
