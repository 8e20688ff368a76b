import DeferralCache
import LocationTypes

/// A client's position in the ring in the form that outlives the service: names of fixes, because sequence numbers may
/// repeat after a power failure (RNG-2, BKG-20).
///
/// It is stored durably with each acknowledgement before that is answered, with each start and stop of updates, and in
/// one transaction with each change of authorization (RNG-6).
public struct ClientBookmark: Equatable, Sendable {
  /// The fix of this name and all earlier ones are acknowledged; nil if none ever was.
  public var acknowledged: FixName?
  /// Whether all newer fixes are for the client: updates run, or their last fixes are still in the receiver.
  public var owesAll: Bool
  /// The last fix for the client if ``isOpenEnded`` is false; nil if none ever was.
  public var owedThrough: FixName?
  /// Excluded fixes begin after this one; or a recording gap does, see ``gapAfter``.
  public var passedAfter: FixName?
  /// The last excluded fix; nil if no fixes are excluded.
  public var passedThrough: FixName?

  /// The last fix before an unreported time without recording; encoded as ``excludedAfter`` without ``excludedThrough``
  /// (BKG-5, BKG-20).
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
  /// Creates a client from its bookmark after a restart of the service, not connected (BKG-20).
  ///
  /// Exactly those fixes are undelivered that are newer than its last acknowledgement, were acquired for it, and are
  /// still in the ring. Overwritten ones are reported as its gap. O(1).
  public init(restoring bookmark: ClientBookmark, in ring: borrowing FixRing) {
    let fixesEnd = bookmark.owesAll ? ring.head : ring.end(after: bookmark.owedThrough)
    self.init(at: fixesEnd)
    cursor = Cursor(resumingAfter: bookmark.acknowledged, before: fixesEnd, in: ring)
    dueUntil = cursor.delivered
    guard let through = bookmark.passedThrough else { return }
    let first = ring.end(after: bookmark.passedAfter)
    let end = ring.end(after: through)
    if first < end { notOwed = first..<end }
  }

  /// The client's position in the ring, to be stored durably.
  ///
  /// A bookmark holds either a gap or excluded fixes. The gap has precedence; a later process may then receive the
  /// excluded fixes (RNG-3).
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
