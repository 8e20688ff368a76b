import DeferralCache
import LocationTypes

/// RNG-7: opening any image fails without a write, or gives a ring whose order holds during further use.
///
/// Input: options and eight operations; then the image, raw or as ``RingImageBuilder`` builds it.
enum RingProperty {
  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let capacity = Int(reader.byte() % 16) + 2
    let kind = reader.byte()
    let floor = kind & 2 == 0 ? 0 : reader.integer(UInt32.self)
    let operations = (0..<8).map { _ in reader.byte() }
    // Sometimes the storage is too short, or longer than necessary.
    let excess = kind & 4 == 0 ? 0 : Int(reader.byte()) - 128
    let storage = RingStorage(count: max(0, FixRing.storageSize(capacity: capacity) + excess))
    if kind & 1 == 0 {
      storage.write(reader.remainingBytes())
    } else {
      RingImageBuilder.write(&reader, capacity, to: storage)
    }
    let image = storage.bytes
    do throws(RingError) {
      var ring = try storage.open(capacity: capacity, floor: floor)
      trial.require(ring.generation > floor, "a generation not above the floor")
      let stored = storedFixes(ring)
      trial.countDecoded(stored.count)
      expectOrder(ring, stored, &trial)
      expectReopens(storage, ring, stored, &trial)
      exercise(&ring, operations, storage.count, &trial)
    } catch {
      trial.require(storage.bytes == image, "rejected with \(error), but the image was changed")
    }
  }

  private static func storedFixes(_ ring: borrowing FixRing) -> [StoredFix] {
    var sequence = ring.tail
    var stored: [StoredFix] = []
    while let item = ring.next(at: &sequence, before: ring.head) {
      if case .fix(let found) = item { stored.append(found) }
    }
    return stored
  }

  private static func expectOrder(
    _ ring: borrowing FixRing, _ stored: [StoredFix], _ trial: inout PropertyResult
  ) {
    let (tail, head) = (ring.tail, ring.head)
    trial.require(tail <= head && head - tail <= UInt64(ring.capacity), "\(tail) to \(head)")
    trial.require(ring.start == head, "the generation does not start at the head")
    for (a, b) in zip(stored, stored.dropFirst()) {
      trial.require(a.name.sequence < b.name.sequence, "\(b.name) after \(a.name)")
      trial.require(a.name.generation <= b.name.generation, "\(b.name) after \(a.name)")
    }
    let newest = stored.last?.name.generation ?? 0
    trial.require(newest < ring.generation, "generation \(ring.generation) is not newer")
    trial.require(
      ring.recovery.newest == stored.last,
      "the newest fix is not \(String(describing: stored.last))")
    trial.require(stored.isEmpty || stored[0].name.sequence == tail, "no fix at the tail")
    trial.require(
      UInt64(stored.count) + ring.recovery.missing == head - tail,
      "\(stored.count) and \(ring.recovery.missing) missing of \(tail) to \(head)")
  }

  /// Opened a second time, the ring has the same fixes and a higher generation.
  private static func expectReopens(
    _ storage: RingStorage, _ ring: borrowing FixRing, _ stored: [StoredFix],
    _ trial: inout PropertyResult
  ) {
    let copy = RingStorage(count: storage.count)
    copy.write(storage.bytes)
    do throws(RingError) {
      let again = try copy.open(capacity: ring.capacity)
      trial.require(again.generation > ring.generation, "the generation did not increase")
      trial.require(
        again.head == ring.head && storedFixes(again) == stored,
        "opened again, the ring has other fixes")
    } catch {
      trial.require(error == .exhausted, "the ring cannot be opened again: \(error)")
    }
  }

  /// Random use of the ring: appends, erasures, syncs, deliveries and acknowledgements.
  private static func exercise(
    _ ring: inout FixRing, _ operations: [UInt8], _ size: Int, _ trial: inout PropertyResult
  ) {
    let head = ring.head
    let name = FixName(generation: UInt32(operations[0]), sequence: head &- UInt64(operations[1]))
    var cursor = Cursor(resumingAfter: operations[2] == 0 ? nil : name, in: ring)
    for operation in operations[3...] {
      switch operation & 3 {
      case 0:
        let fix = Fix(
          acquired: .boot, coordinate: Coordinate(latitude_e9: Int64(operation), longitude_e9: 0))
        cursor.prepareForAppend(of: 1, in: ring)
        let name = ring.append(fix)
        trial.require(ring.stored(at: name.sequence)?.fix == fix, "the appended fix is not stored")
      case 1:
        let first = ring.tail + UInt64(operation >> 2) % 16
        ring.erase(first..<first + UInt64(operation >> 6))
      case 2:
        let unsynced = ring.unsynced
        for range in [unsynced.header, unsynced.slots, unsynced.wrapped] {
          guard let range else { continue }
          trial.require(
            range.lowerBound >= 0 && range.upperBound <= size, "\(range) is outside the storage")
        }
        ring.markSynced(unsynced)
      case _:
        _ = cursor.takeGap()
        if cursor.delivered < ring.head { cursor.deliver(to: ring.head, in: ring) }
        if operation & 4 != 0, let last = ring.bookmark(below: ring.head) {
          _ = cursor.acknowledge(last, in: ring)
        }
        if operation & 8 != 0 { cursor.rewind() }
      }
      trial.require(cursor.acknowledged <= cursor.delivered, "acknowledged beyond delivered")
      trial.require(ring.head - ring.tail <= UInt64(ring.capacity), "more fixes than the capacity")
    }
  }
}

/// Builds an image from few bytes: headers and slots with correct checksums and arbitrary contents.
enum RingImageBuilder {
  static func write(_ reader: inout InputReader, _ capacity: Int, to storage: RingStorage) {
    for copy in 0..<2 { writeHeader(&reader, capacity, to: storage, at: copy * 512) }
    while !reader.isAtEnd {
      let position = Int(reader.byte()) % capacity
      writeSlot(&reader, position, capacity, to: storage)
    }
  }

  /// Bits of the kind: 0 header present, 1 checksum wrong, 2 other version, 3 other capacity, 4 closed.
  private static func writeHeader(
    _ reader: inout InputReader, _ capacity: Int, to storage: RingStorage, at offset: Int
  ) {
    let kind = reader.byte()
    guard kind & 1 != 0 else { return }
    var bytes = Array("TORPRING".utf8)
    bytes += littleEndian(UInt32(kind & 4 == 0 ? 1 : reader.byte()))
    bytes += littleEndian(UInt32(64))
    bytes += littleEndian(UInt32(capacity) &+ (kind & 8 == 0 ? 0 : reader.integer(UInt32.self)))
    bytes += littleEndian(reader.integer(UInt32.self))
    bytes += littleEndian(reader.integer(UInt64.self))
    bytes += littleEndian(reader.integer(UInt64.self))
    bytes += littleEndian(UInt32(kind >> 4 & 1))
    let count = reader.byte()
    bytes += littleEndian(UInt32(count))
    for _ in 0..<min(count, 16) {
      bytes += littleEndian(reader.integer(UInt64.self))
      bytes += littleEndian(reader.integer(UInt32.self)) + littleEndian(UInt32(0))
    }
    bytes += [UInt8](repeating: 0, count: 508 - bytes.count)
    bytes += littleEndian(crc32c(bytes) &+ UInt32(kind >> 1 & 1))
    storage.write(bytes, at: offset)
  }

  /// Bits of the kind: 0 checksum wrong, 1 sequence number of another slot, 2 other version.
  private static func writeSlot(
    _ reader: inout InputReader, _ position: Int, _ capacity: Int, to storage: RingStorage
  ) {
    let kind = reader.byte()
    var bytes: [UInt8] = [kind & 4 == 0 ? 1 : reader.byte(), reader.byte(), reader.byte()]
    var sequence = UInt64(reader.integer(UInt32.self))
    if kind & 2 == 0 {
      sequence = sequence / UInt64(capacity) * UInt64(capacity) + UInt64(position)
    }
    bytes += littleEndian(sequence).prefix(5)
    bytes += littleEndian(reader.integer(UInt32.self))
    let remainder = reader.nextBytes(48)
    bytes += remainder + [UInt8](repeating: 0, count: 48 - remainder.count)
    bytes += littleEndian(crc32c(bytes) &+ UInt32(kind & 1))
    storage.write(bytes, at: 1_024 + 64 * position)
  }
}
