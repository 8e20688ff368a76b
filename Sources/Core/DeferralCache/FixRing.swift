import LocationTypes

/// Crash-safe ring buffer of fixes with a fixed capacity, in storage that the caller supplies (DEF-31).
///
/// Problem. Fixes must survive a crash of the service and, apart from the latest unsynced ones, a power cut, on
/// storage that writes sectors in any order. The ring needs no heap, no I/O of its own and no journal. In a
/// memory-mapped file, an append is a store to memory without a system call, and a crash of the process loses
/// nothing; a power cut can lose at most the bytes in ``unsynced``. All clients share this ring: each has a
/// ``Cursor`` into it.
///
/// Layout: two header copies of 512 bytes, then `capacity` slots of 64 bytes. The fix with sequence number *s* is
/// in slot *s* modulo capacity. Slots and headers have a CRC-32C. `Docs/Reference/ring-format.md` specifies every
/// byte and the recovery procedure.
///
/// Names. A fix has the name (generation, sequence), which is never reused (RNG-2). Each opening starts a new
/// generation at the current head. After a power cut that head can be lower than before, so sequence numbers alone
/// are not unique.
///
/// ```
///   sequence:   tail                start              head
///    ···│·········│···················│··················│···
///  overwritten    │ earlier generations│ this generation  │ not yet appended
///                 └──────── at most `capacity` ──────────┘
/// ```
///
/// Content of the slot of sequence number *s*:
///
/// ```
///             append(_:)               append(_:) of s + capacity
///   not yet ────────────▶ readable ────────────────────────────▶ overwritten
///   appended                 │
///            erase(_:), or   │
///            a power cut     │
///            before the sync ▼
///                         missing (reported to clients as a `Gap`)
/// ```
///
/// After a restart, `init(recovering:)` keeps a slot readable if its checksum, version and sequence number are valid
/// and no newer generation supersedes it.
///
/// Header state (``SyncState``). In an existing ring, one header copy is durable while the other one is written:
///
/// ```
///   init(recovering:)
///        │ writes the copy that is not the last readable one
///        ▼
///   ┌───────────────┐ markSynced  ┌──────────────┐ markSynced  ┌───────┐
///   │ header dirty, ├────────────▶│ mirror dirty ├────────────▶│ clean │
///   │ mirror pending│ writes the  └──────┬───────┘             └───┬───┘
///   └───┬───────▲───┘ other copy         │                         │
///       │       └────────────────────────┴─────────────────────────┘
///       └─ close()             close(), which writes the non-durable copy
/// ```
///
/// `markSynced` changes the header state only if its bytes have the latest header revision. A `close()` during
/// *header dirty* rewrites the same copy. After `close()` the ring accepts no append; reads and `erase(_:)` still
/// work, and two more syncs make both header copies durable.
///
/// Invariants:
/// 1. ``tail`` ≤ ``head``, ``start`` ≤ ``head``, and ``head`` − ``tail`` ≤ ``capacity``.
/// 2. ``head`` increases by one with each append and never decreases. ``tail`` never decreases.
/// 3. `headPosition` is ``head`` modulo ``capacity``.
/// 4. ``generation`` is higher than every generation in the image and than the caller's `generationFloor`.
/// 5. Every slot in `sync.dirtyFrom` ..< ``head`` may differ from the durable copy; all other slots are durable.
/// 6. ``stored(at:)`` verifies the checksum at every read, so corrupted memory yields no fix.
///
/// Ownership. The ring is not copyable and has one owner: the code that opened it, then `Engine`. Only the owner
/// calls the mutating methods, and ``markSynced(_:)`` only after ``unsynced`` was made durable (`msync`). Before each
/// append, ``Cursor/prepareForAppend(of:in:)`` must be called for every cursor. The ring has no reference to its
/// cursors.
///
/// Bounds. 1,024 + 64 × capacity bytes. Append, read, `unsynced`, `markSynced` and `close` are O(1); opening is
/// O(capacity); `erase` is linear in its range. No heap. The capacity must be at least twice the deferral limit of
/// every client (RNG-1); `Engine` checks that.
@safe public struct FixRing: ~Copyable {
  /// Size of a slot in bytes.
  public static let slotSize = 64
  /// Supported capacities: 2 to 1,048,576 fixes (64 MiB).
  public static let capacityRange = 2...1_048_576

  /// Maximum number of fixes.
  public let capacity: Int
  /// Generation of every fix appended through this value (RNG-2).
  public let generation: UInt32
  /// First sequence number of this generation.
  public let start: UInt64
  /// Random number that was drawn when the ring was created; 0 if the caller passed none. Together with the name it
  /// identifies a fix even after a blank image has replaced the ring and its generations begin again (RNG-2).
  public let id: UInt64
  /// Result of opening the image.
  public let recovery: RingRecovery
  /// Sequence number of the next fix.
  public private(set) var head: UInt64
  /// Oldest sequence number that can be readable; ``head`` if the ring is empty.
  ///
  /// Fixes at or after it may be missing because of a power cut or ``erase(_:)``.
  public private(set) var tail: UInt64

  let image: RingImage
  /// Slot of ``head``: head modulo capacity, stored to avoid a division per access.
  private(set) var headPosition: Int
  private(set) var starts: GenerationStarts
  private(set) var sync: SyncState

  /// Storage size in bytes of a ring: two header sectors of 512 bytes, and the slots.
  ///
  /// - Precondition: `capacity` is in ``capacityRange``.
  public static func storageSize(capacity: Int) -> Int {
    precondition(capacityRange.contains(capacity), "a ring holds 2 to 1,048,576 fixes")
    return slotsOffset + capacity * slotSize
  }

  /// Capacity of a ring whose image has this size; nil if no ring has this size.
  public static func capacity(ofSize bytes: Int) -> Int? {
    guard bytes >= slotsOffset else { return nil }
    let capacity = (bytes - slotsOffset) / slotSize
    return capacityRange.contains(capacity) && storageSize(capacity: capacity) == bytes
      ? capacity : nil
  }

  static let slotsOffset = 2 * RingHeader.size

  /// Opens an image, recovers its fixes and starts a new generation (RNG-2, RNG-7). O(capacity).
  ///
  /// An image of all zeros is a new, empty ring. In any other image every slot is checked: a readable fix is
  /// exactly the one that was appended under its name, independent of which sectors a power cut left behind. The
  /// new generation is written to the header copy that is not the newest readable one. Before the first
  /// ``append(_:)``, make ``unsynced`` durable (`msync`), then call ``markSynced(_:)``.
  ///
  /// - Parameters:
  ///   - storage: At least ``storageSize(capacity:)`` bytes, aligned to 8 bytes. No other code may read or write
  ///     them while the ring exists.
  ///   - capacity: Maximum number of fixes. Must match the image unless the image is blank.
  ///   - generationFloor: A generation known to be used, from a record kept outside the ring; 0 without such a
  ///     record. The new generation is higher, even if the image was replaced by zeros.
  ///   - newID: Random number for ``id`` of a new ring, or of one that has none.
  ///   - recordedID: ``id`` of the last opening, from a record kept outside the ring; 0 without such a record. Used if
  ///     the image is not blank and its headers have none.
  /// - Throws: ``RingError``; the storage is then unchanged.
  public init(
    recovering storage: UnsafeMutableRawBufferPointer, capacity: Int, generationFloor: UInt32 = 0,
    newID: UInt64 = 0, recordedID: UInt64 = 0
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
    let known = survey.recovery.isNew ? 0 : survey.id != 0 ? survey.id : recordedID
    id = known != 0 ? known : newID
    starts = survey.starts
    sync = SyncState(survey)
    if survey.hasSuperseded { clearSuperseded() }
    starts.begin(generation, at: head)
    writeHeader(isClosed: false)
  }

  /// Appends a fix and returns its name. Overwrites the oldest fix if the ring is full. O(1).
  ///
  /// Call ``Cursor/prepareForAppend(of:in:)`` for the cursor of every client first (RNG-4). UTC outside the years 829
  /// to 3111 is stored as unknown, and `acquired` is clamped to 1,141 years before or after boot; every other field is
  /// stored exactly.
  ///
  /// - Precondition: The ring is not closed.
  @discardableResult
  public mutating func append(_ fix: Fix) -> FixName {
    precondition(!sync.isClosed, "the ring is closed")
    let name = FixName(generation: generation, sequence: head)
    let slot = Slot(fix, named: name)
    image.setSlot(slot, at: FixRing.slotsOffset + headPosition * FixRing.slotSize)
    head += 1
    headPosition += 1
    if headPosition == capacity { headPosition = 0 }
    if head - tail > UInt64(capacity) { tail = head - UInt64(capacity) }
    return name
  }

  /// The fix with this sequence number; nil if it is missing, erased, overwritten or not yet appended. O(1).
  ///
  /// Verifies the checksum at each call, so that corrupted memory is never returned as a fix.
  public func stored(at sequence: UInt64) -> StoredFix? {
    guard sequence >= tail, sequence < head else { return nil }
    let slot = image.slot(at: offset(of: sequence))
    let name = slot.name
    guard name.sequence == sequence, let fix = slot.fix else { return nil }
    return StoredFix(name: name, fix: fix)
  }

  /// Zeroes the slots of `range`, for example after a revocation (RNG-6). O(length of `range`).
  ///
  /// Ignores sequence numbers outside ``tail`` ..< ``head``. Durable once the owner has synced ``unsynced``.
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

  /// Byte offset of the slot of `sequence`, which must be one of the last `capacity` sequence numbers.
  func offset(of sequence: UInt64) -> Int {
    var position = headPosition - Int(head - sequence)
    if position < 0 { position += capacity }
    return FixRing.slotsOffset + position * FixRing.slotSize
  }
}

/// Byte ranges of the storage that were written and are not yet known to be durable.
@frozen public struct UnsyncedBytes: Equatable, Sendable {
  /// Header sector to sync; at most one of the two.
  public var header: Range<Int>?
  /// Slots to sync, oldest first.
  public var slots: Range<Int>?
  /// Remaining slots at the start of the slot area, if the dirty range wraps around.
  public var wrapped: Range<Int>?
  @usableFromInline var head: UInt64
  @usableFromInline var eraseCount: UInt32
  @usableFromInline var revision: UInt64

  /// Whether all bytes are durable.
  @inlinable public var isEmpty: Bool { header == nil && slots == nil }
}

/// Difference between the storage and its durable copy. State diagram: ``FixRing``.
struct SyncState {
  /// Sequence number from which slots up to the head may differ from the durable copy.
  fileprivate(set) var dirtyFrom: UInt64
  /// Number of erasures, so that an erasure during a sync is not counted as synced.
  fileprivate(set) var eraseCount: UInt32 = 0
  /// Header copy, 0 or 1, that is durable and must not be written before the other copy is durable; nil if none.
  fileprivate(set) var durableCopy: Int?
  /// Whether the other copy was written and is not yet durable.
  fileprivate(set) var isHeaderDirty = false
  /// Whether, once the dirty copy is durable, the same header is written to the other copy, so that either copy
  /// alone is sufficient.
  fileprivate(set) var isMirrorPending = false
  fileprivate(set) var isClosed = false
  /// Revision of the latest header write.
  fileprivate(set) var revision: UInt64

  init(_ survey: RingSurvey) {
    dirtyFrom = survey.head
    durableCopy = survey.goodCopy
    revision = survey.revision
  }

  /// Header copy to write next.
  fileprivate var nextCopy: Int { durableCopy == 0 ? 1 : 0 }

  fileprivate mutating func noteErased(from sequence: UInt64) {
    dirtyFrom = min(dirtyFrom, sequence)
    eraseCount &+= 1
  }
}

extension FixRing {
  /// Byte ranges to make durable. O(1).
  ///
  /// Sync them after opening and before the first append, then as often as the profile requires to limit the loss
  /// in a power cut, after ``erase(_:)``, and after ``close()``.
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

  /// Records that the bytes of an earlier ``unsynced`` are durable. O(1).
  ///
  /// Fixes may have been appended since. The first call after opening also copies the new header to the other
  /// sector, so ``unsynced`` is not empty afterwards; that copy may wait for the next sync.
  public mutating func markSynced(_ bytes: UnsyncedBytes) {
    if bytes.eraseCount == sync.eraseCount { sync.dirtyFrom = max(sync.dirtyFrom, bytes.head) }
    guard sync.isHeaderDirty, bytes.revision == sync.revision else { return }
    sync.durableCopy = sync.nextCopy
    sync.isHeaderDirty = false
    if sync.isMirrorPending {
      writeHeader(isClosed: sync.isClosed)
      sync.isMirrorPending = false
    }
  }

  /// Marks the ring as cleanly closed in the header. Then sync ``unsynced`` twice, once for each copy. O(1).
  ///
  /// The ring accepts no append afterwards; reads still work.
  public mutating func close() {
    guard !sync.isClosed else { return }
    writeHeader(isClosed: true)
    sync.isClosed = true
  }

  /// Writes the header to the copy that is not durable.
  mutating func writeHeader(isClosed: Bool) {
    sync.revision += 1
    sync.isHeaderDirty = true
    sync.isMirrorPending = true
    RingHeader(
      capacity: UInt32(capacity), generation: generation, revision: sync.revision, head: head,
      isClosed: isClosed, starts: starts, id: id
    ).write(image, at: sync.nextCopy * RingHeader.size)
  }

  /// Zeroes the slots within the window that a newer generation supersedes.
  ///
  /// Runs before this generation is added to the record of starts, because that may merge two entries of the record.
  private mutating func clearSuperseded() {
    let size = UInt64(capacity)
    let lowest = head > size ? head - size : 0
    var newest: UInt32 = 0
    for sequence in lowest..<head {
      let offset = offset(of: sequence)
      let slot = image.slot(at: offset)
      guard slot.name.sequence == sequence, !slot.fix.isNil else { continue }
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

/// Element of an iteration over the ring.
@frozen public enum RingItem: Equatable, Sendable {
  /// A fix.
  case fix(StoredFix)
  /// A run of missing fixes.
  case gap(Gap)
}

extension FixRing {
  /// Returns the fix at `position`, or the gap that starts there, and advances `position` past it; nil at `end`.
  ///
  /// Repeated calls until nil return every fix in `position` ..< `end` once and in order, and every run of missing
  /// fixes as one gap before the fix that follows it (RNG-4). Amortised O(1) per sequence number.
  ///
  /// - Parameters:
  ///   - position: Sequence number to read; at most ``head``.
  ///   - end: Sequence number at which to stop; clamped to ``head``.
  public func next(at position: inout UInt64, before end: UInt64) -> RingItem? {
    let end = min(end, head)
    guard position < end else { return nil }
    let first = position
    if let found = stored(at: first) {
      position = first + 1
      return .fix(found)
    }
    let following = nextFix(from: first, before: end)
    position = following?.name.sequence ?? end
    return .gap(
      Gap(
        first..<position, from: first == 0 ? nil : stored(at: first - 1)?.time,
        to: following?.time ?? stored(at: position)?.time))
  }

  /// First readable fix in `sequence` ..< `end`. O(1) if none is missing, else O(number of missing fixes).
  public func nextFix(from sequence: UInt64, before end: UInt64) -> StoredFix? {
    let end = min(end, head)
    var position = max(sequence, tail)
    while position < end {
      if let found = stored(at: position) { return found }
      position += 1
    }
    return nil
  }
}

extension FixRing {
  /// First sequence number whose fix is newer than `name`, at most ``head``. O(1).
  ///
  /// Can be less than `name.sequence + 1`: after a power cut, a new generation may start below `name`.
  public func sequence(after name: FixName) -> UInt64 { min(starts.sequence(after: name), head) }

  /// First sequence number to deliver after a name that was read from disk. O(1).
  ///
  /// 0 if `name` is nil; the tail if `name` has a newer generation than this ring, which is so after another image
  /// has replaced the one in which `name` was assigned.
  public func resumeSequence(after name: FixName?) -> UInt64 {
    guard let name else { return 0 }
    return name.generation > generation ? tail : sequence(after: name)
  }

  /// Name to store durably for "all fixes below `sequence`", from which ``Cursor`` resumes; nil for 0.
  ///
  /// A fix with this name need not exist.
  public func bookmark(below sequence: UInt64) -> FixName? {
    sequence == 0 ? nil : FixName(generation: generation, sequence: sequence - 1)
  }

  /// Name to store durably for "the fix with this number and all later ones". A fix with this name need not exist yet.
  public func bookmark(from sequence: UInt64) -> FixName {
    FixName(generation: generation, sequence: sequence)
  }

  /// First sequence number that ``bookmark(from:)`` of this opening or an earlier one stands for; the head if another
  /// image has replaced the one in which the name was assigned. O(1).
  public func resumeSequence(from name: FixName) -> UInt64 {
    guard name.generation <= generation else { return head }
    guard name.sequence > 0 else { return 0 }
    return sequence(after: FixName(generation: name.generation, sequence: name.sequence - 1))
  }

  /// Whether a fix can have this name. Exact for this generation; true for any name of an earlier one. O(1).
  public func mayHaveAssigned(_ name: FixName) -> Bool {
    if name.generation == generation { return name.sequence >= start && name.sequence < head }
    return name.generation > 0 && name.generation < generation
  }
}
