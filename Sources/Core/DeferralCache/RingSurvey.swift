import LocationTypes

/// Read-only scan of a storage image by which ``FixRing`` recovers head, tail and generation (RNG-7).
///
/// Reads both header copies, then all slots, then the window of the last `capacity` sequence numbers. The
/// procedure is in `Docs/Reference/ring-format.md`, section Recovery. O(capacity).
struct RingSurvey {
  /// Increment of the newest generation found, if both header copies are lost.
  ///
  /// Without headers, a generation whose slots are all lost leaves no trace, and its number could be reused.
  /// The number of such generations is below the increment of 65,536.
  static let lostHeaderMargin: UInt64 = 65_536

  let capacity: Int
  /// Sequence number after the newest fix.
  private(set) var head: UInt64 = 0
  private(set) var tail: UInt64 = 0
  private(set) var newGeneration: UInt32 = 0
  private(set) var starts = GenerationStarts()
  private(set) var recovery = RingRecovery()
  /// Whether a superseded slot lies within the window; set by ``readWindow(_:)``.
  private(set) var hasSuperseded = false
  /// Newest readable header copy, 0 or 1; nil if none is readable.
  private(set) var goodCopy: Int?
  private(set) var revision: UInt64 = 0
  /// Random number in the newest header; 0 if there is none.
  private(set) var id: UInt64 = 0
  /// Newest generation found in headers and slots.
  private var newestGeneration: UInt32 = 0
  private var header: RingHeader?
  /// Whether a header sector has the magic number of a ring.
  private var hasMagic = false

  init(_ image: RingImage, capacity: Int, generationFloor: UInt32) throws(RingError) {
    self.capacity = capacity
    try readHeaders(image)
    let needed = FixRing.storageSize(capacity: capacity)
    guard image.size >= needed else {
      throw .storageTooSmall(required: needed, actual: image.size)
    }
    if header == nil, image.isBlank(0..<needed) {
      recovery.isNew = true
      recovery.lostHeaders = 0
    } else {
      try readSlots(image)
    }
    let step: UInt64
    switch recovery.lostHeaders {
    case 0: step = 1
    case 1: step = 2  // the lost copy may have been the newer
    default: step = RingSurvey.lostHeaderMargin
    }
    let next = UInt64(max(newestGeneration, generationFloor)) + step
    guard next < UInt64(UInt32.max), head < FixName.sequenceLimit >> 1, revision < .max >> 1 else {
      throw .exhausted
    }
    newGeneration = UInt32(next)
  }

  /// Reads both header copies and keeps the one with the higher revision.
  private mutating func readHeaders(_ image: RingImage) throws(RingError) {
    guard image.size >= FixRing.slotsOffset else {
      throw .storageTooSmall(
        required: FixRing.storageSize(capacity: capacity), actual: image.size)
    }
    for copy in 0..<2 {
      switch RingHeader.read(image, at: copy * RingHeader.size) {
      case .blank, .foreign: recovery.lostHeaders += 1
      case .damaged:
        recovery.lostHeaders += 1
        hasMagic = true
      case .unsupportedFormat(let found):
        throw .unsupportedFormat(found: found, known: RingHeader.version)
      case .header(let candidate):
        if let header, header.revision >= candidate.revision { continue }
        header = candidate
        goodCopy = copy
      }
    }
    guard let header else { return }
    guard header.capacity == UInt32(capacity) else {
      // The image's value may exceed a 32-bit Int.
      throw .capacityMismatch(found: Int(clamping: header.capacity), requested: capacity)
    }
    head = header.head
    starts = header.starts
    revision = header.revision
    id = header.id
  }

  /// Finds the newest fix: the highest generation, then the highest sequence number in it.
  ///
  /// Fixes of an older generation above the start of a newer one were already lost when that one started.
  private mutating func readSlots(_ image: RingImage) throws(RingError) {
    var generation = header?.generation ?? 0
    var position: UInt64 = 0
    var intact = 0
    for index in 0..<capacity {
      defer { position += 1 }
      let slot = image.slot(at: FixRing.slotsOffset + index * FixRing.slotSize)
      guard slot.version != 0, slot.isIntact else { continue }
      if header == nil { try check(slot, at: position) }
      guard !slot.decoded.isNil, slot.name.sequence % UInt64(capacity) == position else { continue }
      intact += 1
      let name = slot.name
      if name.generation > generation {
        generation = name.generation
        head = name.sequence + 1
      } else if name.generation == generation {
        head = max(head, name.sequence + 1)
      }
    }
    guard header != nil || hasMagic || intact > 0 else { throw .notARing }
    newestGeneration = generation
  }

  /// Checks, when no header is readable, that an intact slot has the supported format and lies at the
  /// position of its sequence number.
  private func check(_ slot: Slot, at position: UInt64) throws(RingError) {
    guard slot.version == Slot.version else {
      throw .unsupportedFormat(found: UInt32(slot.version), known: RingHeader.version)
    }
    guard slot.name.sequence % UInt64(capacity) == position else { throw .notARing }
  }
}

extension RingSurvey {
  /// Reads the last `capacity` slots before the head, oldest first, and sets tail, starts and recovery result.
  mutating func readWindow(_ image: RingImage) {
    let size = UInt64(capacity)
    let lowest = head > size ? head - size : 0
    var next = lowest
    tail = head
    for sequence in lowest..<head {
      guard let found = current(image, at: sequence) else { continue }
      if tail == head { tail = sequence } else { recovery.missing += sequence - next }
      if found.name.generation > starts.newest { starts.begin(found.name.generation, at: next) }
      recovery.newest = found
      next = sequence + 1
    }
    if tail < head { recovery.missing += head - next }
    recovery.wasClosed = header?.isClosed == true && header?.head == head
  }

  /// The fix with that sequence number, unless it is missing or a newer generation supersedes it.
  private mutating func current(_ image: RingImage, at sequence: UInt64) -> StoredFix? {
    let position = Int(sequence % UInt64(capacity))
    let slot = image.slot(at: FixRing.slotsOffset + position * FixRing.slotSize)
    guard slot.name.sequence == sequence, let fix = slot.fix else { return nil }
    // Generations never decrease along the window: a slot older than its predecessor is superseded.
    let newest = recovery.newest?.name.generation ?? 0
    guard starts.isCurrent(slot.name), slot.name.generation >= newest else {
      hasSuperseded = true
      return nil
    }
    return StoredFix(name: slot.name, fix: fix)
  }
}
