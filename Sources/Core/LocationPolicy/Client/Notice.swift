import DeferralCache
import LocationTypes

/// What a client is told, in the order in which it must be told.
public enum Notice: Sendable {
  /// Fixes were lost to this client; comes before anything newer (RNG-4).
  case gap(Gap)
  /// `didFinishDeferredUpdatesWithError`; nil when a criterion was met (DEF-9).
  case finish(LocationErrorCode?)
  /// `didUpdateLocations`: the ring's fixes from `first` to `last`, oldest first, never none.
  case batch(first: UInt64, last: UInt64)
  /// `didFailWithError`.
  case failure(LocationErrorCode)
  /// `didChangeAuthorization` (DEF-40).
  case authorization(Authorization, isReduced: Bool)
  /// All that the client uses and does not get, for the battery is low; nothing when all is as it was
  /// (PWR-10). After the fixes of before.
  case degraded(PromiseSet)
  /// `didPauseLocationUpdates`, after the fix that shows the stop (PAU-10).
  case paused
  /// `didResumeLocationUpdates`, before the first fix after it.
  case resumed
  /// `didUpdateLocations` with one fix that is no part of the running updates: of significant change or
  /// of a single request. It is acknowledged by its name, so that the board may sleep again (RNG-8).
  case report(StoredFix)
  /// `didUpdateLocations` of the running updates of a client with reduced accuracy: one coarse fix, which
  /// is not in the ring (AUT-12). It is acknowledged by its name.
  case coarse(StoredFix)
  /// `didVisit`.
  case visit(Visit)
  /// Of a region or a monitor's condition.
  case region(RegionEvent)
  /// An element of the live updates.
  case live(LiveElement)
  /// ``Request/openLive(_:)`` opened no iterator: ``LiveUpdates/capacity`` of them are open (LIV-9).
  case liveRefused(LiveConfiguration)
}

/// The end of a deferral that was not told yet.
struct PendingEnd: Sendable {
  /// How it ended.
  var end: DeferralEnd
  /// Its batch are the fixes below; `.max` while the receiver may hold more of them.
  var through: UInt64
}

/// Ends of deferrals that were not told yet, oldest first; at most four.
struct PendingEnds: Sendable {
  static let capacity = 4
  private var ends = InlineArray<4, PendingEnd>(repeating: PendingEnd(end: .met, through: 0))
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count == PendingEnds.capacity }

  mutating func append(_ end: PendingEnd) {
    precondition(!isFull, "at most four ends wait; the owner tells them before a fifth comes")
    ends[count] = end
    count += 1
  }

  /// The fixes from `sequence` on belong to a later call.
  mutating func close(at sequence: UInt64) {
    for i in 0..<count { ends[i].through = min(ends[i].through, sequence) }
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
