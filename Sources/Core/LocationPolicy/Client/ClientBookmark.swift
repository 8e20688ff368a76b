import DeferralCache
import LocationTypes

/// A client's position in the ring in the form that outlives the service: names of fixes, because sequence numbers may
/// repeat after a power failure (RNG-2, BKG-20).
///
/// Made by ``Client/bookmark(in:)``, stored by `ServiceState`: at each acknowledgement before the call is answered, at
/// each start and stop of updates, and in one transaction with each change of authorization (RNG-6).
public struct ClientBookmark: Equatable, Sendable {
  /// The fix of this name and all earlier ones are acknowledged; nil if none ever was.
  public var acknowledged: FixName?
  /// Whether all newer fixes are for the client: updates run, or their last fixes are still in the receiver.
  public var isOpenEnded: Bool
  /// The last fix for the client if ``isOpenEnded`` is false; nil if none ever was.
  public var undeliveredThrough: FixName?
  /// Excluded fixes begin after this one, or a recording gap, see ``gapAfter``.
  public var excludedAfter: FixName?
  /// The last excluded fix; nil if no fixes are excluded.
  public var excludedThrough: FixName?
  /// The first fix that significant change may use again after a time off; nil if it restarts (PWR-14).
  public var significantFrom: FixName?
  /// The first fix that visits may use again after a time off; nil if they restart (PWR-14).
  public var visitsFrom: FixName?

  /// The last fix before a time without recording whose gap is not acknowledged; encoded as ``excludedAfter`` without
  /// ``excludedThrough``, or with the same name, if fixes lie within that time (BKG-5, BKG-20).
  public var gapAfter: FixName? {
    excludedThrough == nil || excludedThrough == excludedAfter ? excludedAfter : nil
  }
  /// Whether fixes lie within the time without recording.
  public var gapCoversFixes: Bool { gapAfter != nil && excludedThrough != nil }

  /// Creates a bookmark.
  public init(
    acknowledged: FixName? = nil, isOpenEnded: Bool = false, undeliveredThrough: FixName? = nil,
    excludedAfter: FixName? = nil, excludedThrough: FixName? = nil,
    significantFrom: FixName? = nil, visitsFrom: FixName? = nil
  ) {
    self.acknowledged = acknowledged
    self.isOpenEnded = isOpenEnded
    self.undeliveredThrough = undeliveredThrough
    self.excludedAfter = excludedAfter
    self.excludedThrough = excludedThrough
    self.significantFrom = significantFrom
    self.visitsFrom = visitsFrom
  }
}

extension Client {
  /// Creates a client from its bookmark after a restart of the service, not connected (BKG-20).
  ///
  /// Exactly those fixes are undelivered that are newer than its last acknowledgement, were acquired for it, and are
  /// still in the ring. Overwritten ones are reported as its gap. O(1).
  public init(restoring bookmark: ClientBookmark, in ring: borrowing FixRing) {
    self.init(delivery: ClientDelivery(restoring: bookmark, in: ring))
  }

  /// The client's position in the ring, to be stored durably.
  ///
  /// A bookmark holds either a gap or excluded fixes. The gap has precedence; a later process may then receive the
  /// excluded fixes (RNG-3).
  public func bookmark(in ring: borrowing FixRing) -> ClientBookmark {
    let gap = recording.gapAfter(in: ring)
    let excludedRange = gap == nil ? delivery.excluded : nil
    let end = delivery.undeliveredEnd
    return ClientBookmark(
      acknowledged: ring.bookmark(below: cursor.acknowledged), isOpenEnded: end == .max,
      undeliveredThrough: end == .max ? nil : ring.bookmark(below: end),
      excludedAfter: gap ?? excludedRange.flatMap { ring.bookmark(below: $0.lowerBound) },
      excludedThrough: excludedRange.flatMap { ring.bookmark(below: $0.upperBound) }
        ?? (recording.coversFixes ? gap : nil),
      significantFrom: services.significantFrom.map { ring.bookmark(from: $0) },
      visitsFrom: services.visitsFrom.map { ring.bookmark(from: $0) })
  }
}
