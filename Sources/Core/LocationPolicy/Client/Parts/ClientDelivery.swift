import DeferralCache
import LocationTypes

/// Which fixes of the ring are for a client, and which of them may be delivered now. A part of ``Client``.
///
/// # Problem
///
/// Fixes are stored once, in the ring. For each client, a few sequence numbers say what of it the client has
/// acknowledged, what was delivered, what may be delivered now, and what is for it at all. A deferral leaves the end of
/// the due fixes behind while the head advances; a flush moves it to the head.
///
/// # Positions
///
///     acknowledged        delivered           dueEnd            undeliveredEnd           head
///          │ may be delivered │ may be            │ held back:         │ acquired after      │
///          │ again to a later │ delivered now     │ deferral engaged   │ updates stopped:    │
///          │ process          │                   │ or draining        │ not for the client  │
///
/// # Invariants
///
/// - `acknowledged ≤ delivered ≤ head`. What may be delivered now ends at `min(dueEnd, undeliveredEnd, head)`.
/// - ``undeliveredEnd`` is the greatest number while updates run or their last fixes are still in the receiver.
/// - ``excluded`` is one range. If a second, non-adjacent one is needed while fixes before the first are
///   unacknowledged, the first is forgotten: a later process may receive its fixes, but none is lost.
/// - While ``waitsForDrain`` is set, at least two entries of ``ends`` are free before each step, so that each deferral
///   call gets its end (DEF-8).
/// - An end is immediately followed by its batch (X1): ``finalBatchEnd`` is set from the end's notice to its last
///   batch.
///
/// # Who changes what
///
/// Only the functions of this file write the properties; ``Client`` calls them. It reads no clock and stores no fixes.
/// Every function is O(1), except as noted.
struct ClientDelivery: Sendable {
  /// Acknowledged and delivered position, and a gap of overwritten fixes.
  private(set) var cursor: Cursor
  /// First sequence number that is not for the client.
  private(set) var undeliveredEnd: UInt64
  /// First sequence number that may not be delivered yet.
  private(set) var dueEnd: UInt64
  /// End, exclusive, of the batch that belongs to the deferral end reported last; it comes next (X1).
  private(set) var finalBatchEnd: UInt64?
  /// Whether nothing but refusals is reported until the receiver's buffer is empty.
  private(set) var waitsForDrain = false
  /// Ends of deferrals that were not reported yet.
  private(set) var ends = PendingEnds()
  /// Fixes that are skipped: they were acquired between two runs of updates, or for other clients. Fixes acquired while
  /// location was denied are never covered by this range but by ``ClientPermission/deniedUntil``.
  private(set) var excluded: Range<UInt64>?
  /// Sequence number of the newest fix that was delivered.
  private(set) var newestDelivered: UInt64?
  /// The newest fix that was delivered with reduced accuracy; it is not in the ring.
  private(set) var newestCoarse: StoredFix?

  /// Creates the state of a new client; fixes before `head` are not for it.
  init(at head: UInt64) {
    cursor = Cursor(at: head)
    undeliveredEnd = head
    dueEnd = head
  }

  /// Creates the state from a bookmark: see ``Client/init(restoring:in:)``.
  init(restoring bookmark: ClientBookmark, in ring: borrowing FixRing) {
    undeliveredEnd =
      bookmark.isOpenEnded ? ring.head : ring.resumeSequence(after: bookmark.undeliveredThrough)
    cursor = Cursor(
      resumingAfter: bookmark.acknowledged, before: undeliveredEnd, in: ring)
    dueEnd = cursor.delivered
    guard let last = bookmark.excludedThrough else { return }
    let first = ring.resumeSequence(after: bookmark.excludedAfter)
    let end = ring.resumeSequence(after: last)
    if first < end { excluded = first..<end }
  }

  // MARK: Status

  /// Whether a fix may be delivered now.
  var isDue: Bool { cursor.delivered < min(dueEnd, undeliveredEnd) }

  /// Whether every fix of the client is acknowledged, and no gap is unreported.
  var isComplete: Bool { cursor.acknowledged >= undeliveredEnd && cursor.gap.isNil }

  /// Sequence number of the first unacknowledged fix; the greatest number if none exists.
  var neededFrom: UInt64 { cursor.acknowledged < undeliveredEnd ? cursor.acknowledged : .max }

  /// End of the fixes that may be delivered now.
  func dueEnd(in ring: borrowing FixRing) -> UInt64 {
    min(min(dueEnd, undeliveredEnd), ring.head)  // `min` of three would allocate an array
  }

  /// The unacknowledged fixes, delivered or not.
  func backlog(in ring: borrowing FixRing) -> Range<UInt64> {
    cursor.acknowledged..<max(min(undeliveredEnd, ring.head), cursor.acknowledged)
  }

  /// Whether at least `limit` fixes, N, lie between the client's position and the head (RNG-1).
  func hasReached(_ limit: Int, at head: UInt64) -> Bool {
    head - cursor.delivered >= UInt64(limit)
  }

  /// Whether `limit` fixes, N, are queued (BKG-5). Excluded fixes do not count, but they occupy the ring as well, which
  /// has a capacity of at least 2 N (RNG-1).
  func isQueueFull(_ limit: Int, at head: UInt64) -> Bool {
    guard hasReached(limit, at: head) else { return false }
    let all = head - cursor.delivered
    guard let excluded, excluded.upperBound > cursor.delivered, all < 2 * UInt64(limit) - 1 else {
      return true
    }
    return all - (excluded.upperBound - max(excluded.lowerBound, cursor.delivered)) >= limit
  }

  // MARK: The end of the client's fixes

  /// Later fixes are for the client: its updates run, or the receiver holds fixes of them.
  mutating func open() { undeliveredEnd = .max }

  /// Fixes from `end` on are not for the client.
  mutating func close(at end: UInt64) { undeliveredEnd = min(undeliveredEnd, end) }

  /// Prepares for running updates: keeps unacknowledged fixes of an earlier run undelivered, and excludes those
  /// acquired since its end.
  mutating func resume(at head: UInt64) {
    if isComplete && ends.isEmpty {
      cursor = Cursor(at: head)
      excluded = nil
    } else if undeliveredEnd < head {
      exclude(undeliveredEnd..<head)
    }
  }

  /// Drops all fixes below `head`; none of them is ever delivered (RNG-6).
  ///
  /// - Parameter isOpen: Whether later fixes are for the client.
  mutating func drop(below head: UInt64, isOpen: Bool) {
    cursor = Cursor(at: head)
    dueEnd = head
    excluded = nil
    newestDelivered = nil
    newestCoarse = nil
    if !isOpen { undeliveredEnd = head }
  }

  /// Prepares for the oldest fix being overwritten: the cursor advances first (RNG-4).
  ///
  /// A client without undelivered fixes loses nothing: its cursor advances with the ring. Fixes beyond
  /// ``undeliveredEnd`` are not lost to it either.
  mutating func prepareOverwrite(in ring: borrowing FixRing) {
    let size = UInt64(ring.capacity)
    let isGone = ring.head >= size && ring.head - size >= undeliveredEnd
    if cursor.acknowledged >= undeliveredEnd {
      cursor = Cursor(at: ring.head)
      undeliveredEnd = ring.head
      excluded = nil
    } else if !isGone {
      cursor.prepareForAppend(in: ring)
    }
  }

  // MARK: Due fixes

  /// All fixes below `head` may be delivered.
  mutating func makeDue(before head: UInt64) { dueEnd = head }

  /// Nothing but refusals is reported until ``endDrain()``.
  mutating func beginDrain() { waitsForDrain = true }

  /// Ends the wait for the receiver's buffer.
  mutating func endDrain() { waitsForDrain = false }

  /// Queues the end of a deferral; its batch is due.
  mutating func append(_ end: PendingEnd, before head: UInt64) {
    ends.append(end)
    // One step adds at most two ends: with fewer than two free entries, the ends must be reported (DEF-8).
    if ends.count > PendingEnds.capacity - 2 { waitsForDrain = false }
    dueEnd = head
  }

  /// Limits the batches of queued ends to fixes below `end`.
  mutating func limitBatches(to end: UInt64) { ends.limitBatches(to: end) }

  /// Returns the next end of a deferral; its batch comes next.
  mutating func popEnd() -> PendingEnd? {
    guard let end = ends.popFirst() else { return nil }
    finalBatchEnd = end.batchEnd
    return end
  }

  /// The batch of the last end is delivered.
  mutating func finishFinalBatch() { finalBatchEnd = nil }

  // MARK: Delivery

  /// Marks the fixes up to `end` as delivered.
  mutating func deliver(to end: UInt64, in ring: borrowing FixRing) {
    cursor.deliver(to: end, in: ring)
  }

  /// Records that the fix with this number was delivered.
  mutating func noteDelivery(of last: UInt64) { newestDelivered = last }

  /// Records that a fix was delivered outside of batches.
  mutating func noteReport(of stored: StoredFix, isCoarse: Bool) {
    if isCoarse {
      newestCoarse = stored
    } else {
      newestDelivered = max(newestDelivered ?? 0, stored.name.sequence)
    }
  }

  /// Returns the unreported gap of overwritten fixes; nil if none exists.
  mutating func takeGap() -> Gap? { cursor.takeGap() }

  /// Marks the backlog as delivered, because it is read in bulk; false if nothing was undelivered.
  mutating func deliverBacklog(in ring: borrowing FixRing) -> Bool {
    let end = backlog(in: ring).upperBound
    guard end > cursor.delivered else { return false }
    _ = cursor.takeGap()
    cursor.deliver(to: end, in: ring)
    dueEnd = max(dueEnd, end)
    return true
  }

  /// Applies an acknowledgement; false if it names no delivered fix.
  mutating func acknowledge(_ name: FixName, in ring: borrowing FixRing) -> Bool {
    switch cursor.acknowledge(name, in: ring) {
    case .ahead, .unknown: return false
    case .advanced, .repeated: break
    }
    acknowledgeExcluded()
    return true
  }

  /// Detaches the process: its unacknowledged fixes become undelivered, and its pending ends are dropped (DEF-11).
  mutating func rewind() {
    ends.removeAll()
    finalBatchEnd = nil
    waitsForDrain = false
    cursor.rewind()
    dueEnd = cursor.delivered
  }

  // MARK: Excluded fixes

  /// Excludes the fixes with these sequence numbers, the newest ones, from delivery.
  mutating func exclude(_ fixes: Range<UInt64>) {
    if let range = excluded, range.upperBound == fixes.lowerBound {
      excluded = range.lowerBound..<fixes.upperBound
    } else {
      excluded = fixes
    }
    skipExcluded()
  }

  /// Advances the cursor over excluded fixes that come next.
  mutating func skipExcluded() {
    guard let range = excluded, range.contains(cursor.delivered), cursor.gap.isNil else { return }
    cursor.skip(to: range.upperBound)
    if cursor.acknowledged >= range.upperBound { excluded = nil }
    dueEnd = max(dueEnd, cursor.delivered)
  }

  /// Acknowledges the excluded fixes once all fixes before them are acknowledged.
  private mutating func acknowledgeExcluded() {
    guard let range = excluded, cursor.acknowledged >= range.lowerBound else { return }
    if cursor.acknowledged >= range.upperBound || cursor.acknowledgeExcluded(to: range.upperBound) {
      excluded = nil
      dueEnd = max(dueEnd, cursor.delivered)
    }
  }
}
