import DeferralCache
import LocationTypes

/// A notice for a client. Notices are reported in the order in which ``Client/nextNotice(in:hold:)`` returns them.
public enum Notice: Sendable {
  /// Fixes were lost to this client; precedes anything newer (RNG-4).
  case gap(Gap)
  /// `didFinishDeferredUpdatesWithError`; nil if a criterion was met (DEF-9).
  case finish(LocationErrorCode?)
  /// `didUpdateLocations`: the ring's fixes from `first` to `last`, oldest first, at least one.
  case batch(first: UInt64, last: UInt64)
  /// `didFailWithError`.
  case failure(LocationErrorCode)
  /// `didChangeAuthorization` (DEF-40).
  case authorization(Authorization, isReduced: Bool)
  /// Service levels that the client uses and that are shed because of the battery's charge; the empty set when all are
  /// restored (PWR-10). Follows earlier fixes.
  case degraded(ServiceLevelSet)
  /// `didPauseLocationUpdates`, after the fix that shows the stop (PAU-10).
  case paused
  /// `didResumeLocationUpdates`, before the first fix after it.
  case resumed
  /// `didUpdateLocations` with one fix that does not belong to the running updates: of significant change or of a
  /// single request. It is acknowledged by its name, so that the board may be suspended again (RNG-8).
  case report(StoredFix)
  /// `didUpdateLocations` of the running updates of a client with reduced accuracy: one coarse fix, which is not in the
  /// ring (AUT-12). It is acknowledged by its name.
  case coarse(StoredFix)
  /// `didVisit`.
  case visit(Visit)
  /// An event of a region or of a monitor's condition.
  case region(RegionEvent)
  /// An element of live updates.
  case live(LiveElement)
  /// ``Request/openLive(_:)`` opened no iterator, because ``LiveUpdates/capacity`` iterators are open (LIV-9).
  case liveRefused(LiveConfiguration)
}

/// An unreported end of a deferral.
struct PendingEnd: Sendable {
  /// Its error; nil if a criterion was met.
  var code: LocationErrorCode?
  /// End of its batch, exclusive; `.max` while the receiver may hold more of its fixes.
  var batchEnd: UInt64
}

/// Queue of unreported ends of deferrals, oldest first; at most four.
struct PendingEnds: Sendable {
  static let capacity = 4
  private(set) var count = 0
  private var ends = InlineArray<4, PendingEnd>(repeating: PendingEnd(code: nil, batchEnd: 0))

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count == PendingEnds.capacity }

  mutating func append(_ end: PendingEnd) {
    precondition(!isFull, "at most four ends may be pending")
    ends[count] = end
    count += 1
  }

  /// Limits all batches: fixes from `sequence` on belong to a later call.
  mutating func limitBatches(to sequence: UInt64) {
    for i in 0..<count { ends[i].batchEnd = min(ends[i].batchEnd, sequence) }
  }

  mutating func popFirst() -> PendingEnd? {
    guard count > 0 else { return nil }
    let first = ends[0]
    for i in 1..<PendingEnds.capacity { ends[i - 1] = ends[i] }
    count -= 1
    return first
  }

  mutating func removeAll() { count = 0 }
}
