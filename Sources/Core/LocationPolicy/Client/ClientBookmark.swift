import DeferralCache
import LocationTypes

/// What of a client's place in the ring outlives the service: names, for numbers may come twice after
/// a power cut (RNG-2, BKG-20).
///
/// Kept durably with each acknowledgement before that is answered, with each start and stop of
/// updates, and in one transaction with each change of what the client may (RNG-6).
public struct ClientBookmark: Equatable, Sendable {
  /// The fix of this name and all before are settled; nil if none ever was.
  public var acknowledged: FixName?
  /// Updates run, or their last fixes are still in the receiver: all younger fixes are owed.
  public var owesAll: Bool
  /// The last fix that is owed, where not all are; nil if none ever was.
  public var owedThrough: FixName?
  /// Fixes that are not for this client lie behind this one, or see ``gapAfter``, …
  public var passedAfter: FixName?
  /// … up to this one; nil if there are none.
  public var passedThrough: FixName?

  /// Behind this fix lies a time in which none was recorded, not reported yet: ``passedAfter`` without
  /// ``passedThrough`` (BKG-5, BKG-20).
  public var gapAfter: FixName? { passedThrough == nil ? passedAfter : nil }

  /// Creates a bookmark.
  public init(
    acknowledged: FixName? = nil, owesAll: Bool = false, owedThrough: FixName? = nil,
    passedAfter: FixName? = nil, passedThrough: FixName? = nil
  ) {
    self.acknowledged = acknowledged
    self.owesAll = owesAll
    self.owedThrough = owedThrough
    self.passedAfter = passedAfter
    self.passedThrough = passedThrough
  }
}

extension Client {
  /// A client that came back after a restart of the service, not connected (BKG-20).
  ///
  /// It is owed exactly what is younger than what it acknowledged, was made for it, and is still in
  /// the ring; what was overwritten meanwhile is its gap. O(1).
  public init(restoring bookmark: ClientBookmark, in ring: borrowing FixRing) {
    let owed = bookmark.owesAll ? ring.head : ring.end(after: bookmark.owedThrough)
    self.init(at: owed)
    cursor = Cursor(resumingAfter: bookmark.acknowledged, before: owed, in: ring)
    dueUntil = cursor.delivered
    guard let through = bookmark.passedThrough else { return }
    let first = ring.end(after: bookmark.passedAfter)
    let end = ring.end(after: through)
    if first < end { notOwed = first..<end }
  }

  /// What is to be kept durably of its place.
  ///
  /// There is room for a gap or for fixes that are passed over. The gap has precedence: then a later process may be
  /// sent those fixes (RNG-3).
  public func bookmark(in ring: borrowing FixRing) -> ClientBookmark {
    let gap = gapAfter(in: ring)
    let passed = gap == nil ? notOwed : nil
    return ClientBookmark(
      acknowledged: ring.bookmark(below: cursor.acknowledged), owesAll: owedUntil == .max,
      owedThrough: owedUntil == .max ? nil : ring.bookmark(below: owedUntil),
      passedAfter: gap ?? passed.flatMap { ring.bookmark(below: $0.lowerBound) },
      passedThrough: passed.flatMap { ring.bookmark(below: $0.upperBound) })
  }
}
