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
