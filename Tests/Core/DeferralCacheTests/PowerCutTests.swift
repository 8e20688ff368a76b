import LocationTypes
import TestSupport
import Testing

@testable import DeferralCache

@Suite("Power cuts") struct PowerCutTests {
  @Test(
    "RNG-2, RNG-3, RNG-7: power cuts at any time repeat no name and lose no synced fix",
    arguments: 1...20 as ClosedRange<UInt64>)
  func manyPowerCuts(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let capacity = [2, 5, 16, 40][Int(seed % 4)]
    var history = History(capacity: capacity)
    var acknowledged: FixName?
    for _ in 0..<40 {
      var ring = try history.open(synced: false)
      let survivors = walk(ring).fixes
      let isTrue = survivors.allSatisfy { history.journal[$0.name] == $0.fix }
      #expect(isTrue)
      expectResumes(Cursor(resumingAfter: acknowledged, in: ring), ring, after: acknowledged)
      // The power may fail before the header is durable: then no name was assigned.
      var synced: UInt64 = 0
      var syncedFixes: [StoredFix] = []
      if Int.random(in: 0..<5, using: &random) > 0 {
        history.sync(&ring)
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
          history.append(Int.random(in: 0...capacity, using: &random), to: &ring)
          if Bool.random(using: &random) {
            history.sync(&ring)
            synced = ring.head
            syncedFixes = walk(ring).fixes
          }
        }
        if Int.random(in: 0..<6, using: &random) == 0 { ring.close() }
        let sequence = ring.head - min(ring.head, UInt64.random(in: 1...4, using: &random))
        if let stored = ring.stored(at: sequence) { acknowledged = stored.name }
      }
      let head = ring.head
      var reached: [Bool] = []
      for _ in 0..<history.sectors { reached.append(Bool.random(using: &random)) }
      history.cutPower { reached[$0] }
      let after = try surviving(history)
      // Fixes that were synced and not overwritten since are present.
      let expected = syncedFixes.filter {
        $0.name.sequence < synced && $0.name.sequence + UInt64(capacity) >= head
      }
      let isKept = expected.allSatisfy { after.contains($0) }
      #expect(isKept)
    }
    #expect(history.repeatedName == nil)
  }

  /// The fixes found by opening a copy of the image.
  private func surviving(_ history: History) throws -> [StoredFix] {
    let copy = RingMemory(capacity: history.memory.capacity)
    copy.bytes = history.memory.bytes
    return walk(try copy.open()).fixes
  }

  private func expectResumes(
    _ cursor: Cursor, _ ring: borrowing FixRing, after name: FixName?
  ) {
    let found = walk(ring, from: cursor.delivered).fixes
    let isRight =
      found
      == walk(ring).fixes.filter { stored in name.map { stored.name.order > $0.order } ?? true }
    #expect(isRight)
  }

  @Test("RNG-3: a name lost by a power cut does not acknowledge the next fix with the same number")
  func successorOfTheSameNumber() throws {
    var history = History(capacity: 8)
    var first = try history.open()
    history.append(5, to: &first)
    history.disk = history.memory.bytes
    history.append(3, to: &first)
    let handled = FixName(generation: first.generation, sequence: 7)
    history.cutPower { _ in false }
    var second = try history.open()
    #expect(second.start == 5)
    history.append(4, to: &second)
    var cursor = Cursor(resumingAfter: handled, in: second)
    #expect(cursor == Cursor(at: 5))
    cursor.deliver(to: second.head, in: second)
    #expect(cursor.acknowledge(handled, in: second) == .repeated)
    // The same holds after more restarts.
    let third = try history.open()
    #expect(Cursor(resumingAfter: handled, in: third) == Cursor(at: 5))
    let name = FixName(generation: second.generation, sequence: 6)
    #expect(Cursor(resumingAfter: name, in: third) == Cursor(at: 7))
  }

  @Test("RNG-7: fixes cut off by a power cut never reappear among later fixes")
  func cutOffFixes() throws {
    var history = History(capacity: 16)
    var first = try history.open()
    history.append(4, to: &first)
    history.disk = history.memory.bytes
    history.append(10, to: &first)
    let late = history.memory.bytes
    history.cutPower { _ in false }
    var second = try history.open()
    #expect(second.head == 4)
    history.append(11, to: &second)
    // The second sector of slots has the content of the first generation.
    history.memory.bytes.replaceSubrange(1536..<2048, with: late[1536..<2048])
    let third = try history.open(synced: false)
    #expect(third.head == 8)
    #expect(walk(third).gaps.isEmpty)
  }

  @Test(
    "RNG-7: a stale slot among current ones is zeroed at opening and reported as missing",
    arguments: [1, 2])
  func staleBetween(stale: Int) throws {
    let memory = RingMemory(capacity: 4)
    var first = try memory.openSynced()
    for n in 0..<4 { first.append(fix(n)) }
    let old = memory.bytes
    // The second generation starts at 1, because 1 to 3 were lost.
    memory.bytes.replaceSubrange(1024 + 64..<1280, with: [UInt8](repeating: 0, count: 192))
    var second = try memory.openSynced()
    #expect(second.start == 1)
    for n in 1..<4 { second.append(fix(10 + n)) }
    let slot = 1024 + 64 * stale..<1024 + 64 * stale + 64
    memory.bytes.replaceSubrange(slot, with: old[slot])
    let third = try memory.open()
    #expect(third.stored(at: UInt64(stale)) == nil && third.head == 4)
    let before = stale == 1 ? time(0) : time(11)
    let start = UInt64(stale)
    #expect(walk(third).gaps == [Gap(start..<start + 1, from: before, to: time(11 + stale))])
    #expect(memory.bytes[slot].allSatisfy { $0 == 0 })
    #expect(third.unsynced.slots == 1024..<1280 && third.unsynced.wrapped == nil)
  }
}
