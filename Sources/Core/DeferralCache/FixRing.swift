import LocationTypes

/// The one ring of fixes, of fixed capacity, in memory that its owner hands in (DEF-31).
///
/// Each fix has a name, (generation, sequence), that no other fix ever bears (RNG-2). Clients are
/// ``Cursor``s into it. A slot is 64 bytes with a checksum; the bytes are written down in
/// `Docs/Reference/ring-format.md`. If the storage is a memory-mapped file, appending costs no
/// system call and a crash of the process loses nothing; what a power cut may lose is what
/// ``unsynced`` tells. The capacity is at least twice the deferral limit of any client (RNG-1): the
/// policy sees to that.
@safe public struct FixRing: ~Copyable {
  /// Bytes of one slot.
  public static let slotSize = 64
  /// What capacities there are: 2 to 1,048,576 fixes (64 MiB).
  public static let capacityRange = 2...1_048_576

  /// How many fixes it holds.
  public let capacity: Int
  /// The generation of every fix appended through this value (RNG-2).
  public let generation: UInt32
  /// The sequence number at which this generation began.
  public let start: UInt64
  /// What opening found.
  public let recovery: RingRecovery
  /// The sequence number the next fix will get.
  public internal(set) var head: UInt64
  /// The oldest sequence number still readable; ``head`` if there is none.
  ///
  /// Some at or after it may be missing: lost in a power cut, or erased.
  public internal(set) var tail: UInt64

  let image: RingImage
  /// Slot of ``head``: head modulo capacity, kept so that nothing is divided.
  var headPosition: Int
  var starts: GenerationStarts
  var sync: SyncState

  /// How many bytes of storage a ring takes: two header sectors of 512 bytes and its slots.
  ///
  /// - Precondition: `capacity` lies in ``capacityRange``.
  public static func storageSize(capacity: Int) -> Int {
    precondition(capacityRange.contains(capacity), "a ring holds 2 to 1,048,576 fixes")
    return slotsOffset + capacity * slotSize
  }

  /// The capacity of a ring whose image has so many bytes; nil where none has.
  public static func capacity(ofSize bytes: Int) -> Int? {
    guard bytes >= slotsOffset else { return nil }
    let capacity = (bytes - slotsOffset) / slotSize
    return capacityRange.contains(capacity) && storageSize(capacity: capacity) == bytes
      ? capacity : nil
  }

  static let slotsOffset = 2 * RingHeader.size

  /// Opens an image, whatever is in it, and begins a new generation (RNG-2, RNG-7).
  ///
  /// All zeros is a new, empty ring. Of anything else, every slot is checked: what is readable is
  /// exactly what was appended under that name, whichever sectors the power cut left behind. The new
  /// generation is written to the header copy that is not the last good one; before the first
  /// ``append(_:)`` the caller makes ``unsynced`` durable (`msync`), then calls ``markSynced(_:)``.
  /// When it throws, nothing was written. O(capacity).
  ///
  /// - Parameters:
  ///   - storage: at least ``storageSize(capacity:)`` bytes at a multiple of 8, of which nobody else
  ///     reads or writes as long as the ring is used.
  ///   - capacity: how many fixes; that of the image, if it is not new.
  ///   - generationFloor: a generation known to have been used, from a record kept elsewhere. The new
  ///     one is higher even if the whole image was replaced by zeros; 0 if there is no such record.
  public init(
    recovering storage: UnsafeMutableRawBufferPointer, capacity: Int, generationFloor: UInt32 = 0
  ) throws(RingError) {
    guard FixRing.capacityRange.contains(capacity) else {
      throw .capacityOutOfRange(capacity)
    }
    let address = UInt(bitPattern: storage.baseAddress)
    guard address % 8 == 0 else { throw .storageMisaligned }
    let image = unsafe RingImage(storage)
    var survey = try RingSurvey(image, capacity: capacity, generationFloor: generationFloor)
    self.image = image
    self.capacity = capacity
    generation = survey.newGeneration
    start = survey.head
    head = survey.head
    headPosition = Int(survey.head % UInt64(capacity))
    survey.readWindow(image)
    tail = survey.tail
    recovery = survey.recovery
    starts = survey.starts
    sync = SyncState(survey)
    if survey.hasStale { clearStale() }
    starts.begin(generation, at: head)
    writeHeader(isClosed: false)
  }

  /// Adds a fix and gives it its name; overwrites the oldest if the ring is full. O(1).
  ///
  /// Before, every cursor of a client has been moved on with ``Cursor/makeRoom(for:in:)`` (RNG-4).
  /// UTC beyond the years 829 to 3111 is kept as not known, an `acquired` beyond 1,141 years of boot
  /// as the nearest within; all else comes back as it went in.
  ///
  /// - Precondition: the ring is not closed.
  @discardableResult
  public mutating func append(_ fix: Fix) -> FixName {
    precondition(!sync.isClosed, "the ring was closed")
    let name = FixName(generation: generation, sequence: head)
    let slot = Slot(fix, named: name)
    image.setSlot(slot, at: FixRing.slotsOffset + headPosition * FixRing.slotSize)
    head += 1
    headPosition += 1
    if headPosition == capacity { headPosition = 0 }
    if head - tail > UInt64(capacity) { tail = head - UInt64(capacity) }
    return name
  }

  /// The fix with that sequence number; nil if it was lost, erased, overwritten or not yet appended.
  ///
  /// Checks the slot each time, so damage to the memory is never served either. O(1).
  public func stored(at sequence: UInt64) -> StoredFix? {
    guard sequence >= tail, sequence < head else { return nil }
    let slot = image.slot(at: offset(of: sequence))
    let name = slot.name
    guard name.sequence == sequence, let fix = slot.fix else { return nil }
    return StoredFix(name: name, fix: fix)
  }

  /// Zeroes slots, as after a revocation (RNG-6). Lasting once the owner has synced ``unsynced``.
  ///
  /// Sequence numbers outside ``tail`` ..< ``head`` are passed over. O(length of `range`).
  public mutating func erase(_ range: Range<UInt64>) {
    let erased = range.clamped(to: tail..<head)
    guard !erased.isEmpty else { return }
    for sequence in erased {
      let offset = offset(of: sequence)
      image.clear(offset..<offset + FixRing.slotSize)
    }
    sync.noteErased(from: erased.lowerBound)
    if erased.lowerBound == tail { tail = erased.upperBound }
  }

  /// Where the slot of a sequence number lies; it is one of the last `capacity` ones.
  func offset(of sequence: UInt64) -> Int {
    var position = headPosition - Int(head - sequence)
    if position < 0 { position += capacity }
    return FixRing.slotsOffset + position * FixRing.slotSize
  }
}

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
  fileprivate var nextCopy: Int { durableCopy == 0 ? 1 : 0 }

  fileprivate mutating func noteErased(from sequence: UInt64) {
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
  private mutating func clearStale() {
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

/// What a walk along the ring meets.
@frozen public enum RingItem: Equatable, Sendable {
  /// A fix.
  case fix(StoredFix)
  /// Fixes that are not there.
  case gap(Gap)
}

extension FixRing {
  /// The next fix, or the gap before it, at `place`, and moves `place` behind it; nil at `end`.
  ///
  /// Called until nil it meets every fix of place ..< end once, in order, and every missing run as
  /// one gap, which is told before the fix behind it (RNG-4). Amortised O(1) for each number.
  ///
  /// - Parameters:
  ///   - place: where to look; at most ``head``.
  ///   - end: where to stop; what lies beyond ``head`` is not looked for.
  public func next(at place: inout UInt64, before end: UInt64) -> RingItem? {
    let end = min(end, head)
    guard place < end else { return nil }
    let first = place
    if let found = stored(at: first) {
      place = first + 1
      return .fix(found)
    }
    let following = nextFix(from: first, before: end)
    place = following?.name.sequence ?? end
    return .gap(
      Gap(
        first..<place, from: first == 0 ? nil : stored(at: first - 1)?.time,
        to: following?.time ?? stored(at: place)?.time))
  }

  /// The first fix of sequence ..< end that is there. O(1) if none is missing, else O(missing).
  public func nextFix(from sequence: UInt64, before end: UInt64) -> StoredFix? {
    let end = min(end, head)
    var place = max(sequence, tail)
    while place < end {
      if let found = stored(at: place) { return found }
      place += 1
    }
    return nil
  }

  /// All that is missing of `range`, as one gap; nil if every fix is there. O(length of `range`).
  public func missing(in range: Range<UInt64>) -> Gap? {
    var result: Gap?
    var place = range.lowerBound
    while let item = next(at: &place, before: range.upperBound) {
      guard case .gap(let gap) = item else { continue }
      result?.merge(gap)
      if result == nil { result = gap }
    }
    return result
  }
}

extension FixRing {
  /// The first sequence number whose fix is younger than `name`, at most ``head``. O(1).
  ///
  /// Not always `name.sequence + 1`: after a power cut a new generation may have begun below it.
  public func end(of name: FixName) -> UInt64 { min(starts.end(of: name), head) }

  /// The same for a name that came back from disk: 0 if there is none; the tail where the ring cannot
  /// know it, because another image was put in its place. O(1).
  public func end(after name: FixName?) -> UInt64 {
    guard let name else { return 0 }
    return name.generation > generation ? tail : end(of: name)
  }

  /// The name to keep durably for "all below `sequence`", from which ``Cursor`` resumes.
  ///
  /// It need not be that of a fix. Nil for 0: nothing.
  public func bookmark(below sequence: UInt64) -> FixName? {
    sequence == 0 ? nil : FixName(generation: generation, sequence: sequence - 1)
  }

  /// Whether a fix bore that name, as far as can be told: of earlier generations nothing is. O(1).
  public func mayHaveNamed(_ name: FixName) -> Bool {
    if name.generation == generation { return name.sequence >= start && name.sequence < head }
    return name.generation > 0 && name.generation < generation
  }
}
