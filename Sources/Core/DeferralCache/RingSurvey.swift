import LocationTypes

/// What is left of an image, found out without writing to it (RNG-7).
struct RingSurvey {
  /// Added to the newest generation seen when both header copies are lost.
  ///
  /// A generation of which nothing is left could then be repeated. Each one that named a fix left a
  /// slot behind, so only starts whose every slot is lost as well go unseen: never 65,536 of them.
  static let lostHeaderMargin: UInt64 = 65_536

  let capacity: Int
  /// The sequence number after the newest name.
  private(set) var head: UInt64 = 0
  private(set) var tail: UInt64 = 0
  private(set) var newGeneration: UInt32 = 0
  var starts = GenerationStarts()
  private(set) var recovery = RingRecovery()
  /// A slot of a cut-off branch lies between the others; set by ``readWindow(_:)``.
  private(set) var hasStale = false
  /// The last good header copy; nil if there is none.
  private(set) var goodCopy: Int?
  private(set) var revision: UInt64 = 0
  /// The newest generation seen anywhere.
  private var newestGeneration: UInt32 = 0
  private var header: RingHeader?
  /// One of the sectors says that this is a ring, or was.
  private var isMarked = false

  init(_ image: RingImage, capacity: Int, generationFloor: UInt32) throws(RingError) {
    self.capacity = capacity
    try readHeaders(image)
    let needed = FixRing.storageSize(capacity: capacity)
    guard image.size >= needed else {
      throw .storageTooSmall(needed: needed, given: image.size)
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
    guard next < UInt64(UInt32.max), head < Slot.sequenceLimit >> 1, revision < .max >> 1 else {
      throw .exhausted
    }
    newGeneration = UInt32(next)
  }

  /// Reads both header copies and keeps the newer one.
  private mutating func readHeaders(_ image: RingImage) throws(RingError) {
    guard image.size >= FixRing.slotsOffset else {
      throw .storageTooSmall(
        needed: FixRing.storageSize(capacity: capacity), given: image.size)
    }
    for copy in 0..<2 {
      switch RingHeader.read(image, at: copy * RingHeader.size) {
      case .blank, .foreign: recovery.lostHeaders += 1
      case .damaged:
        recovery.lostHeaders += 1
        isMarked = true
      case .otherFormat(let found): throw .otherFormat(found: found, known: RingHeader.version)
      case .header(let read):
        if let header, header.revision >= read.revision { continue }
        header = read
        goodCopy = copy
      }
    }
    guard let header else { return }
    guard header.capacity == UInt32(capacity) else {
      // What the image says need not fit an Int of 32 bits.
      throw .otherCapacity(found: Int(clamping: header.capacity), wanted: capacity)
    }
    head = header.head
    starts = header.starts
    revision = header.revision
  }

  /// Finds the newest name. Names are ordered by generation, then by sequence: what an older
  /// generation named beyond the start of a newer one was already given up then.
  private mutating func readSlots(_ image: RingImage) throws(RingError) {
    var generation = header?.generation ?? 0
    var position: UInt64 = 0
    var intact = 0
    for index in 0..<capacity {
      defer { position += 1 }
      let slot = image.slot(at: FixRing.slotsOffset + index * FixRing.slotSize)
      guard slot.version != 0, slot.isIntact else { continue }
      if header == nil { try check(slot, at: position) }
      guard slot.decoded != nil, slot.name.sequence % UInt64(capacity) == position else { continue }
      intact += 1
      let name = slot.name
      if name.generation > generation {
        generation = name.generation
        head = name.sequence + 1
      } else if name.generation == generation {
        head = max(head, name.sequence + 1)
      }
    }
    guard header != nil || isMarked || intact > 0 else { throw .notARing }
    newestGeneration = generation
  }

  /// Without a header the slots must say of themselves that they belong to such a ring.
  private func check(_ slot: Slot, at position: UInt64) throws(RingError) {
    guard slot.version == Slot.version else {
      throw .otherFormat(found: UInt32(slot.version), known: RingHeader.version)
    }
    guard slot.name.sequence % UInt64(capacity) == position else { throw .notARing }
  }
}

extension RingSurvey {
  /// Reads the last `capacity` slots before the head, oldest first.
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

  /// The fix of that number, if it is still the current one of that number.
  private mutating func current(_ image: RingImage, at sequence: UInt64) -> StoredFix? {
    let position = Int(sequence % UInt64(capacity))
    let slot = image.slot(at: FixRing.slotsOffset + position * FixRing.slotSize)
    guard slot.name.sequence == sequence, let fix = slot.fix else { return nil }
    // A generation never names below one before it: what is older than its predecessor is cut off.
    let newest = recovery.newest?.name.generation ?? 0
    guard starts.isCurrent(slot.name), slot.name.generation >= newest else {
      hasStale = true
      return nil
    }
    return StoredFix(name: slot.name, fix: fix)
  }
}
