import LocationTypes
import TestSupport
import Testing

@testable import DeferralCache

@Suite("Opening") struct OpeningTests {
  @Test(
    "RNG-2: each opening starts a new generation, in the header copy that is not the last good one")
  func generations() throws {
    let memory = RingMemory(capacity: 2)
    var copies: [Range<Int>] = []
    for n in 1...9 as ClosedRange<UInt32> {
      let before = memory.bytes
      var ring = try memory.open()
      #expect(ring.generation == (n == 1 ? 1 : n))
      let header = try #require(ring.unsynced.header)
      #expect(header == 0..<512 || header == 512..<1024)
      copies.append(header)
      var expected = before
      expected.replaceSubrange(header, with: memory.bytes[header])
      #expect(memory.bytes == expected, "opening writes only one copy")
      ring.markSynced(ring.unsynced)
      let mirror = try #require(ring.unsynced.header)
      #expect(mirror != header)
      ring.markSynced(ring.unsynced)
      #expect(ring.unsynced.isEmpty)
    }
    #expect(copies.first == 0..<512)
  }

  @Test("RNG-2: a lost or torn header write repeats no generation")
  func tornHeader() throws {
    for code in 0..<65 * 6 {
      let keep = code / 6
      var history = History(capacity: 3)
      // The good copy depends on the number of earlier starts and on the mirror write.
      for _ in 0..<code % 3 {
        var earlier = try history.open(synced: false)
        history.sync(&earlier)
      }
      var first = try history.open(synced: false)
      let good = first.unsynced.header
      history.sync(&first)
      history.append(2, to: &first)
      if code % 6 < 3 {
        history.sync(&first)
      } else {
        // The power failed before the mirror write: only one copy has this start.
        let slots = try #require(first.unsynced.slots)
        history.disk.replaceSubrange(slots, with: history.memory.bytes[slots])
        history.memory.bytes = history.disk
      }
      // The next start writes its header; only the first bytes reach the disk.
      let second = try history.open(synced: false)
      let header = try #require(second.unsynced.header)
      if code % 6 >= 3 { #expect(header != good) }
      var torn = history.disk
      let arrived = header.lowerBound..<header.lowerBound + 8 * keep
      torn.replaceSubrange(arrived, with: history.memory.bytes[arrived])
      history.memory.bytes = torn
      let third = try history.open()
      #expect(third.generation > first.generation)
      #expect(walk(third).fixes.count == 2)
    }
  }

  @Test("RNG-2: one lost header copy skips the generation it may have named")
  func oneHeaderLost() throws {
    for copy in 0..<2 {
      let memory = RingMemory(capacity: 2)
      let last = try memory.openSynced().generation
      for i in 0..<512 { memory[copy * 512 + i] = 0 }
      let ring = try memory.open()
      #expect(ring.generation == last + 2)
      #expect(ring.recovery.lostHeaders == 1 && !ring.recovery.isNew)
    }
  }

  @Test("RNG-2: with both header copies lost, the slots give the generation, and a margin is added")
  func bothHeadersLost() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<6 { ring.append(fix(n)) }
    for i in 0..<1024 { memory[i] = 0 }
    let again = try memory.open()
    #expect(again.generation == ring.generation + 65_536)
    #expect(again.recovery.lostHeaders == 2)
    #expect(again.head == 6 && walk(again).fixes.map(\.fix) == (2..<6).map(fix))
  }

  @Test("RNG-4: with both header copies lost, fixes missing between generations are reported")
  func missingBetweenGenerations() throws {
    let memory = RingMemory(capacity: 8)
    var first = try memory.openSynced()
    for n in 0..<4 { first.append(fix(n)) }
    var second = try memory.openSynced()
    for n in 4..<8 { second.append(fix(n)) }
    for range in [0..<1024, 1024 + 256..<1024 + 384] {
      for i in range { memory[i] = 0 }
    }
    let third = try memory.openSynced()
    // The start of the second generation is unknown; it may be 4.
    let name = FixName(generation: first.generation, sequence: 9)
    let cursor = Cursor(resumingAfter: name, in: third)
    #expect(cursor == Cursor(at: 4))
    #expect(walk(third, from: 4).gaps == [Gap(4..<6, from: time(3), to: time(6))])
  }

  @Test("RNG-2: a generation floor applies even if the image was replaced by zeros")
  func floor() throws {
    let memory = RingMemory(capacity: 2)
    #expect(try memory.open(floor: 41).generation == 42)
    #expect(try memory.open(floor: 7).generation == 44)
  }

  @Test("RNG-7: an opening reports new rings, closed rings, the newest fix and missing fixes")
  func recoveryReport() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    #expect(ring.recovery.isNew && !ring.recovery.wasClosed && ring.recovery.newest == nil)
    #expect(ring.recovery.lostHeaders == 0 && ring.recovery.missing == 0)
    for n in 0..<6 { ring.append(fix(n)) }
    let newest = ring.stored(at: 5)
    ring = try memory.openSynced()
    #expect(!ring.recovery.isNew && !ring.recovery.wasClosed && ring.recovery.newest == newest)
    ring.close()
    ring = try memory.openSynced()
    #expect(ring.recovery.wasClosed && ring.recovery.newest == newest && ring.tail == 2)
    ring.erase(3..<5)
    ring = try memory.openSynced()
    #expect(!ring.recovery.wasClosed && ring.recovery.missing == 2)
  }

  @Test("RNG-4: fixes lost after a close are reported as missing by number")
  func closedThenLost() throws {
    let memory = RingMemory(capacity: 16)
    var ring = try memory.openSynced()
    for n in 0..<12 { ring.append(fix(n)) }
    ring.close()
    for i in 1024 + 512..<1024 + 1024 { memory[i] = 0 }
    let again = try memory.openSynced()
    #expect(again.recovery.wasClosed && again.head == 12 && again.recovery.missing == 4)
    #expect(walk(again).gaps == [Gap(8..<12, from: time(7), to: nil)])
    for i in 1024..<1024 + 512 { memory[i] = 0 }
    let empty = try memory.openSynced()
    #expect(empty.head == 12 && empty.tail == 12 && empty.recovery.missing == 0)
    let cursor = Cursor(resumingAfter: again.bookmark(below: 3), in: empty)
    #expect(cursor.gap == Gap(3..<12, from: nil, to: nil))
  }

  @Test("a rewritten header contains nothing of what was there before", arguments: [0, 512])
  func staleHeader(copy: Int) throws {
    func reopened(over byte: UInt8) throws -> [UInt8] {
      let memory = RingMemory(capacity: 8)
      _ = try memory.openSynced()
      for i in copy..<copy + 512 { memory[i] = byte }
      _ = try memory.openSynced()
      _ = try memory.openSynced()
      return Array(memory.bytes[..<1_024])
    }
    #expect(try reopened(over: 0xFF) == reopened(over: 0))
  }

  @Test("a refused opening reports the reason and writes nothing")
  func refusals() throws {
    func refusal(_ memory: RingMemory, _ capacity: Int? = nil) -> RingError? {
      let before = memory.bytes
      defer { #expect(memory.bytes == before) }
      do {
        _ = try memory.open(capacity: capacity)
        return nil
      } catch {
        return error
      }
    }
    let memory = RingMemory(capacity: 8)
    _ = try memory.openSynced()
    for capacity in [Int.min, -1, 0, 1, 1_048_577, Int.max] {
      #expect(refusal(memory, capacity) == .capacityOutOfRange(capacity))
    }
    #expect(refusal(memory, 7) == .capacityMismatch(found: 8, requested: 7))
    #expect(refusal(memory, 9) == .capacityMismatch(found: 8, requested: 9))
    #expect(
      refusal(RingMemory(capacity: 8, size: 1535)) == .storageTooSmall(required: 1536, actual: 1535)
    )
    #expect(
      refusal(RingMemory(capacity: 8, size: 1023)) == .storageTooSmall(required: 1536, actual: 1023)
    )
    #expect(
      refusal(RingMemory(capacity: 8, size: 0)) == .storageTooSmall(required: 1536, actual: 0))
    #expect(throws: RingError.storageMisaligned) { _ = try memory.openMisaligned() }
    let noise = RingMemory(capacity: 8)
    noise.bytes = (0..<1536).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
    #expect(refusal(noise) == .notARing)
    let almostBlank = RingMemory(capacity: 8)
    almostBlank[1535] = 1
    #expect(refusal(almostBlank) == .notARing)
  }

  @Test("RNG-7: another format version is refused", arguments: [0, 2, 255] as [UInt32])
  func otherFormats(version: UInt32) throws {
    for copy in 0..<2 {
      let memory = RingMemory(capacity: 8)
      var ring = try memory.openSynced()
      ring.append(fix(1))
      var header = Array(memory.bytes[copy * 512..<copy * 512 + 512])
      header[8] = UInt8(version)
      reseal(&header)
      memory.bytes.replaceSubrange(copy * 512..<copy * 512 + 512, with: header)
      #expect(throws: RingError.unsupportedFormat(found: version, known: 1)) {
        _ = try memory.open()
      }
    }
  }

  @Test("RNG-7: without a header, slots of another format or another capacity are refused")
  func foreignSlots() throws {
    let memory = RingMemory(capacity: 8)
    var ring = try memory.openSynced()
    for n in 0..<11 { ring.append(fix(n)) }
    for i in 0..<1024 { memory[i] = 0 }
    #expect(throws: RingError.notARing) { _ = try memory.open(capacity: 5) }
    var slot = Slot(fix(3), named: FixName(generation: 1, sequence: 3))
    slot.w0 = slot.w0 & ~0xFF | 9
    slot.w7 = slot.w7 & 0xFFFF_FFFF | UInt64(slot.computedChecksum) << 32
    put(slot, in: memory, at: 3)
    #expect(throws: RingError.unsupportedFormat(found: 9, known: 1)) { _ = try memory.open() }
  }

  @Test("exhausted generation and sequence numbers are refused")
  func exhausted() throws {
    func image(generation: UInt32, sequence: UInt64) throws -> RingMemory {
      let memory = RingMemory(capacity: 2)
      _ = try memory.openSynced()
      let slot = Slot(fix(1), named: FixName(generation: generation, sequence: sequence))
      put(slot, in: memory, at: Int(sequence % 2))
      return memory
    }
    #expect(try image(generation: 9, sequence: (1 << 39) - 2).open().head == (1 << 39) - 1)
    for (generation, sequence) in [(UInt32.max, 5), (UInt32.max - 1, 5), (9, (1 << 39) - 1)] {
      #expect(throws: RingError.exhausted) {
        _ = try image(generation: generation, sequence: UInt64(sequence)).open()
      }
    }
    #expect(try image(generation: .max - 2, sequence: 5).open().generation == .max - 1)
  }

  @Test("RNG-7: a slot with invalid content changes neither head nor generation")
  func invalidSlot() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    ring.append(fix(0))
    var slot = Slot(fix(1), named: FixName(generation: 70, sequence: 41))
    slot.w0 |= 1 << 14 | 7 << 9  // quality 15
    slot.w7 = slot.w7 & 0xFFFF_FFFF | UInt64(slot.computedChecksum) << 32
    put(slot, in: memory, at: 1)
    let again = try memory.openSynced()
    #expect(again.generation == ring.generation + 1 && again.head == 1)
    // A valid slot at the wrong index has no effect either.
    put(Slot(fix(1), named: FixName(generation: 70, sequence: 42)), in: memory, at: 1)
    let third = try memory.openSynced()
    #expect(third.generation == ring.generation + 2 && third.head == 1)
  }

  private func put(_ slot: Slot, in memory: RingMemory, at position: Int) {
    let words = [slot.w0, slot.w1, slot.w2, slot.w3, slot.w4, slot.w5, slot.w6, slot.w7]
    for (i, word) in words.enumerated() {
      let offset = 1024 + 64 * position + 8 * i
      for k in 0..<8 { memory[offset + k] = UInt8(truncatingIfNeeded: word >> (8 * k)) }
    }
  }

  @Test("the header has the layout of ring-format.md")
  func headerLayout() throws {
    let memory = RingMemory(capacity: 5)
    var ring = try memory.openSynced()
    for n in 0..<7 { ring.append(fix(n)) }
    ring = try memory.openSynced()
    ring.close()
    let header = try #require(ring.unsynced.header)
    var sector = Array(memory.bytes[header])
    func number(_ offset: Int, _ bytes: Int) -> UInt64 {
      (0..<bytes).reduce(0) { $0 | UInt64(sector[offset + $1]) << (8 * $1) }
    }
    #expect(Array(sector[0..<8]) == Array("TORPRING".utf8))
    #expect(number(8, 4) == 1 && number(12, 4) == 64 && number(16, 4) == 5 && number(20, 4) == 2)
    // The header is written for each opening, again for its mirror, and for closing.
    #expect(number(24, 8) == 5)
    #expect(number(32, 8) == 7 && number(40, 4) == 1 && number(44, 4) == 2)
    #expect(number(48, 8) == 0 && number(56, 8) == 1)
    #expect(number(64, 8) == 7 && number(72, 8) == 2)
    #expect(sector[80..<508].allSatisfy { $0 == 0 })
    let sealed = sector
    reseal(&sector)
    #expect(sector == sealed)
  }

  @Test("RNG-2: of two header copies the last written one counts")
  func newerCopy() throws {
    for count in 1...4 {
      let memory = RingMemory(capacity: 3)
      for _ in 0..<count { _ = try memory.openSynced() }
      var ring = try memory.openSynced()
      for n in 0..<2 { ring.append(fix(n)) }
      ring.markSynced(ring.unsynced)
      ring.close()
      let again = try memory.open()
      #expect(again.recovery.wasClosed && again.generation == UInt32(count) + 2)
    }
  }

  @Test("a header with inconsistent numbers counts as damaged and does not trap")
  func contradictoryHeader() throws {
    let changes: [(offset: Int, value: UInt8)] = [
      (12, 63), (44, 17), (44, 255), (20, 0), (56, 2), (48, 9), (72, 1),
    ]
    for change in changes {
      let memory = RingMemory(capacity: 5)
      var ring = try memory.openSynced()
      for n in 0..<7 { ring.append(fix(n)) }
      ring = try memory.openSynced()
      for copy in 0..<2 {
        var header = Array(memory.bytes[copy * 512..<copy * 512 + 512])
        header[change.offset] = change.value
        reseal(&header)
        memory.bytes.replaceSubrange(copy * 512..<copy * 512 + 512, with: header)
      }
      let again = try memory.open()
      #expect(again.recovery.lostHeaders == 2, "byte \(change.offset)")
      #expect(walk(again).fixes.count == 5)
    }
  }

  /// Writes the checksum of a changed header.
  private func reseal(_ header: inout [UInt8]) {
    var sum = SlotChecksum()
    for i in stride(from: 0, to: 508, by: 4) {
      sum.add((0..<4).reduce(UInt32(0)) { $0 | UInt32(header[i + $1]) << (8 * $1) })
    }
    for k in 0..<4 { header[508 + k] = UInt8(truncatingIfNeeded: sum.value >> (8 * k)) }
  }

  @Test("a valid storage size has a capacity, any other has none")
  func sizes() {
    for capacity in [2, 3, 8_192, 1_048_576] {
      let size = FixRing.storageSize(capacity: capacity)
      #expect(FixRing.capacity(ofSize: size) == capacity)
      for other in [size - 1, size + 1] { #expect(FixRing.capacity(ofSize: other) == nil) }
    }
    let least = FixRing.storageSize(capacity: 2)
    let most = FixRing.storageSize(capacity: 1_048_576)
    let slot = FixRing.storageSize(capacity: 3) - least
    for size in [.min, -1, 0, 100, least - slot, most + slot, .max] {
      #expect(FixRing.capacity(ofSize: size) == nil)
    }
  }
}
