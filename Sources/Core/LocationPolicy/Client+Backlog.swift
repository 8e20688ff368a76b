import DeferralCache
import LocationTypes

/// What of the ring a client is owed at one moment, for whoever hands it over in bulk.
public struct Backlog: Sendable {
  /// The sequence numbers; not all of them are for the client, see ``includes(_:)``.
  public let range: Range<UInt64>
  /// What was lost to it before, and not told.
  public let gap: Gap?
  private let notOwed: Range<UInt64>?
  private let deniedUntil: Instant?

  init(_ range: Range<UInt64>, gap: Gap?, notOwed: Range<UInt64>?, deniedUntil: Instant?) {
    self.range = range
    self.gap = gap
    self.notOwed = notOwed
    self.deniedUntil = deniedUntil
  }

  /// Whether a fix of ``range`` is for the client.
  public func includes(_ stored: StoredFix) -> Bool {
    if let notOwed, notOwed.contains(stored.name.sequence) { return false }
    return deniedUntil.map { stored.fix.acquired > $0 } ?? true
  }
}

extension Client {
  /// What it is owed now: all that it did not acknowledge, delivered or not, its distance filter not
  /// looked at. Nothing while it may not use location, or only coarsely (AUT-6).
  public mutating func backlog(in ring: borrowing FixRing) -> Backlog {
    let end = max(min(owedUntil, ring.head), cursor.acknowledged)
    guard isShownFixes else {
      return Backlog(end..<end, gap: nil, notOwed: nil, deniedUntil: nil)
    }
    return Backlog(
      cursor.acknowledged..<end, gap: unreportedGap, notOwed: notOwed, deniedUntil: deniedUntil)
  }

  /// What was overwritten, and that fixes were not recorded, as one gap.
  private var unreportedGap: Gap? {
    guard let known = unrecorded, !known.isReported else { return cursor.gap }
    var gap = cursor.gap ?? known.gap(at: known.place)
    gap.to = known.to ?? gap.to
    gap.mayBeMore = true
    return gap
  }

  /// Its backlog is handed over: it counts as delivered, and is not told once more.
  mutating func takeBacklog(in ring: borrowing FixRing, _ context: ClientContext) {
    let range = backlog(in: ring).range
    guard isShownFixes else { return }
    unrecorded?.isReported = true
    guard range.upperBound > cursor.delivered else { return }
    _ = cursor.takeGap()
    cursor.deliver(to: range.upperBound, in: ring)
    dueUntil = max(dueUntil, range.upperBound)
    noteDelivery(of: range.upperBound - 1, hold: context.now + context.deliveryHold)
  }
}
