import DeferralCache
import LocationTypes
import TestSupport
import Testing

@Suite("Fix ring") struct RingTests {
  @Test(
    "DEF-31: for every capacity, start and count, the ring has the last fixes, in order, with their names",
    arguments: 2...6)
  func everyCapacityStartAndCount(capacity: Int) throws {
    let memory = RingMemory(capacity: capacity)
    for shape in RingShape.every(capacity: capacity) {
      memory.bytes = try image(capacity: capacity, fixes: shape.start)
      var ring = try memory.openSynced()
      #expect(ring.start == UInt64(shape.start) && ring.head == ring.start)
      for n in shape.start..<shape.start + shape.count {
        let name = ring.append(fix(n))
        #expect(name == FixName(generation: ring.generation, sequence: UInt64(n)))
      }
      expect(ring, start: shape.start, count: shape.count)
    }
  }

  private func expect(_ ring: borrowing FixRing, start: Int, count: Int) {
    let all = start + count
    let oldest = max(0, all - ring.capacity)
    #expect(ring.head == UInt64(all))
    #expect(ring.tail == UInt64(oldest))
    for n in 0..<all + ring.capacity {
      let found = ring.stored(at: UInt64(n))
      #expect(found?.fix == (n >= oldest && n < all ? fix(n) : nil))
      if let found {
        let generation = ring.generation - (n < start ? 1 : 0)
        #expect(found.name == FixName(generation: generation, sequence: UInt64(n)))
      }
    }
    let items = walk(ring, from: ring.tail)
    #expect(items.gaps.isEmpty)
    #expect(items.fixes.map(\.fix) == (oldest..<all).map(fix))
  }

  @Test("reading from every start to every end, for every pattern of missing fixes")
  func everyPatternOfMissing() throws {
    for start in [0, 3, 5] {
      let memory = RingMemory(capacity: 5)
      try appendAll(0..<start, to: memory)
      let bytes = memory.bytes
      for pattern in 0..<32 {
        memory.bytes = bytes
        var ring = try memory.openSynced()
        for n in start..<start + 5 { ring.append(fix(n)) }
        let present = (0..<5).map { pattern >> $0 & 1 == 1 }
        for i in 0..<5 where !present[i] {
          let sequence = UInt64(start + i)
          ring.erase(sequence..<sequence + 1)
        }
        for from in 0...5 {
          for to in from...7 { check(ring, start, present, from, to) }
        }
      }
    }
  }

  /// Compares the items read from the ring with the list of present fixes.
  private func check(
    _ ring: borrowing FixRing, _ start: Int, _ present: [Bool], _ from: Int, _ to: Int
  ) {
    let range = UInt64(start + from)..<UInt64(start + min(to, 5))
    let items = walk(ring, from: range.lowerBound, to: UInt64(start + to))
    let stored = (from..<min(to, 5)).filter { present[$0] }
    #expect(items.fixes.map(\.fix) == stored.map { fix(start + $0) })
    #expect(
      ring.nextFix(from: range.lowerBound, before: UInt64(start + to))?.fix
        == stored.first.map { fix(start + $0) })
    var next = range.lowerBound
    for item in items {
      switch item {
      case .fix(let stored):
        #expect(stored.name.sequence == next)
        next += 1
      case .gap(let gap):
        #expect(gap.range.lowerBound == next)
        #expect(gap.count == UInt64(gap.range.count))
        let before = Int(next) - start - 1
        let after = Int(gap.range.upperBound) - start
        #expect(gap.from == (before >= 0 && present[before] ? time(start + before) : nil))
        #expect(gap.to == (after < 5 && present[after] ? time(start + after) : nil))
        next = gap.range.upperBound
      }
    }
    #expect(next == range.upperBound)
    #expect(items.gaps.reduce(0) { $0 + $1.count } == UInt64(range.count - stored.count))
  }

  @Test("reading from below the tail reports overwritten fixes as a gap")
  func walkFromBelowTail() throws {
    let memory = RingMemory(capacity: 4)
    var ring = try memory.openSynced()
    for n in 0..<10 { ring.append(fix(n)) }
    let items = walk(ring, from: 1)
    #expect(items.first == .gap(Gap(1..<6, from: nil, to: time(6))))
    #expect(items.fixes.map(\.fix) == (6..<10).map(fix))
    #expect(walk(ring, from: 1, to: 3) == [.gap(Gap(1..<3, from: nil, to: nil))])
  }

  @Test("RNG-6: erased fixes are zeroed in the image, and no other bytes change")
  func erase() throws {
    for capacity in 2...5 {
      for count in RingShape.every(capacity: capacity, starts: 0).map(\.count) {
        let low = max(0, count - capacity)
        for from in 0...count {
          for to in from...count + 2 {
            let memory = RingMemory(capacity: capacity)
            var ring = try memory.openSynced()
            for n in 0..<count { ring.append(fix(n)) }
            let before = memory.bytes
            ring.erase(UInt64(from)..<UInt64(to))
            let erased = (max(from, low)..<max(from, low, min(to, count)))
            var expected = before
            for n in erased {
              let offset = 1024 + n % capacity * 64
              expected.replaceSubrange(offset..<offset + 64, with: [UInt8](repeating: 0, count: 64))
            }
            #expect(memory.bytes == expected)
            #expect(ring.head == UInt64(count))
            for n in low..<max(low, count) {
              #expect(ring.stored(at: UInt64(n))?.fix == (erased.contains(n) ? nil : fix(n)))
            }
            #expect(
              ring.tail
                == UInt64(!erased.isEmpty && erased.lowerBound == low ? erased.upperBound : low))
          }
        }
      }
    }
  }

  @Test("a slot with any damaged bit is not returned")
  func damagedMemory() throws {
    let memory = RingMemory(capacity: 3)
    var ring = try memory.openSynced()
    for n in 0..<3 { ring.append(fix(n)) }
    for bit in 0..<512 {
      memory[1024 + 64 + bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(ring.stored(at: 1) == nil)
      #expect(ring.stored(at: 0)?.fix == fix(0) && ring.stored(at: 2)?.fix == fix(2))
      memory[1024 + 64 + bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(ring.stored(at: 1)?.fix == fix(1))
  }

  @Test("the storage is two sectors and 64 bytes per fix; further bytes stay unchanged")
  func storageSize() throws {
    #expect(FixRing.storageSize(capacity: 2) == 1152)
    #expect(FixRing.storageSize(capacity: 1_048_576) == 1024 + 67_108_864)
    let memory = RingMemory(capacity: 2, size: 4096)
    var ring = try memory.openSynced()
    for n in 0..<9 { ring.append(fix(n)) }
    ring.close()
    #expect(memory.bytes[1152...].allSatisfy { $0 == 0 })
  }

  private func appendAll(_ range: Range<Int>, to memory: RingMemory) throws {
    var ring = try memory.openSynced()
    for n in range { ring.append(fix(n)) }
  }

  private func image(capacity: Int, fixes: Int) throws -> [UInt8] {
    let memory = RingMemory(capacity: capacity)
    try appendAll(0..<fixes, to: memory)
    return memory.bytes
  }
}
