import LocationTypes

/// Which bytes of the storage were written and are not yet known to be durable.
@frozen public struct UnsyncedBytes: Equatable, Sendable {
  /// A header sector; one of the two at most.
  public var header: Range<Int>?
  /// Slots, oldest first.
  public var slots: Range<Int>?
  /// The rest of them, if they go round the end of the storage.
  public var wrapped: Range<Int>?
  @usableFromInline var head: UInt64
  @usableFromInline var eraseCount: UInt32
  @usableFromInline var revision: UInt64

  /// Whether there is nothing to sync.
  @inlinable public var isEmpty: Bool { header == nil && slots == nil }
}

/// What the ring knows of the durable copy of itself.
struct SyncState {
  /// Slots from this sequence number to the head may differ from the durable copy.
  var dirtyFrom: UInt64
  /// Counts erasures, so that one between a sync's begin and end is not taken for synced.
  var eraseCount: UInt32 = 0
  /// The header copy that is durable and must not be written before the other is; nil if none.
  var durableCopy: Int?
  /// The other copy was written and is not durable.
  var isHeaderDirty = false
  /// Once it is durable the same goes into the first, so that either may be lost.
  var isMirrorDue = false
  var isClosed = false
  /// The number of the last writing of a header copy.
  var revision: UInt64

  init(_ survey: RingSurvey) {
    dirtyFrom = survey.head
    durableCopy = survey.goodCopy
    revision = survey.revision
  }

  /// The copy to write next.
  var nextCopy: Int { durableCopy == 0 ? 1 : 0 }

  mutating func noteErased(from sequence: UInt64) {
    dirtyFrom = min(dirtyFrom, sequence)
    eraseCount &+= 1
  }
}

extension FixRing {
  /// What is to be made durable: after opening, before the first append; then as often as the
  /// profile bounds the loss by a power cut; after ``erase(_:)``; after ``close()``. O(1).
  public var unsynced: UnsyncedBytes {
    let size = UInt64(capacity)
    let oldest = max(sync.dirtyFrom, head > size ? head - size : 0)
    let count = Int(head - oldest)
    var result = UnsyncedBytes(
      header: nil, slots: nil, wrapped: nil, head: head, eraseCount: sync.eraseCount,
      revision: sync.revision)
    if sync.isHeaderDirty {
      let begin = sync.nextCopy * RingHeader.size
      result.header = begin..<begin + RingHeader.size
    }
    if count > headPosition {
      result.slots = bytes(headPosition + capacity - count..<capacity)
      result.wrapped = headPosition > 0 ? bytes(0..<headPosition) : nil
    } else if count > 0 {
      result.slots = bytes(headPosition - count..<headPosition)
    }
    return result
  }

  /// Notes that these bytes, as ``unsynced`` told them, are durable now. O(1).
  ///
  /// Fixes may have been appended since. The first time after opening, the new header is copied to
  /// the other sector too, so ``unsynced`` is not empty afterwards: that copy may wait for the next
  /// sync.
  public mutating func markSynced(_ bytes: UnsyncedBytes) {
    if bytes.eraseCount == sync.eraseCount { sync.dirtyFrom = max(sync.dirtyFrom, bytes.head) }
    guard sync.isHeaderDirty, bytes.revision == sync.revision else { return }
    sync.durableCopy = sync.nextCopy
    sync.isHeaderDirty = false
    if sync.isMirrorDue {
      writeHeader(isClosed: sync.isClosed)
      sync.isMirrorDue = false
    }
  }

  /// Notes in the header that the service ends in order. Then sync ``unsynced`` a last time, twice.
  ///
  /// Nothing can be appended afterwards; reading goes on. O(1).
  public mutating func close() {
    guard !sync.isClosed else { return }
    writeHeader(isClosed: true)
    sync.isClosed = true
  }

  /// Writes the header to the copy that is not the durable one.
  mutating func writeHeader(isClosed: Bool) {
    sync.revision += 1
    sync.isHeaderDirty = true
    sync.isMirrorDue = true
    RingHeader(
      capacity: UInt32(capacity), generation: generation, revision: sync.revision, head: head,
      isClosed: isClosed, starts: starts
    ).write(image, at: sync.nextCopy * RingHeader.size)
  }

  /// Zeroes slots of a cut-off branch that lie between the current ones.
  ///
  /// With the record as it was found: this generation's start may make two of its entries one.
  mutating func clearStale() {
    let size = UInt64(capacity)
    let lowest = head > size ? head - size : 0
    var newest: UInt32 = 0
    for sequence in lowest..<head {
      let offset = offset(of: sequence)
      let slot = image.slot(at: offset)
      guard slot.name.sequence == sequence, slot.fix != nil else { continue }
      if starts.isCurrent(slot.name), slot.name.generation >= newest {
        newest = slot.name.generation
      } else {
        image.clear(offset..<offset + FixRing.slotSize)
      }
    }
    sync.dirtyFrom = lowest
  }

  private func bytes(_ positions: Range<Int>) -> Range<Int> {
    FixRing.slotsOffset + positions.lowerBound
      * FixRing.slotSize..<FixRing.slotsOffset + positions.upperBound * FixRing.slotSize
  }
}
