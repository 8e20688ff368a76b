import LocationTypes
import TestSupport
import Testing

@testable import DeferralCache

@Suite("Ring id") struct RingIDTests {
  private let new: UInt64 = 0xFEDC_BA98_7654_3210
  private let recorded: UInt64 = 0x0123_4567_89AB_CDEF

  @Test("RNG-2: a new ring gets the new id, whatever was recorded, and keeps it")
  func created() throws {
    let memory = RingMemory(capacity: 4)
    #expect(try memory.open(newID: new, recordedID: recorded).id == new)
    for id in 1...5 as ClosedRange<UInt64> {
      var ring = try memory.open(newID: id, recordedID: recorded)
      #expect(ring.id == new)
      ring.markSynced(ring.unsynced)
      ring.append(fix(1))
      if id == 3 { ring.close() }
    }
  }

  @Test("RNG-2: a blank image in place of a ring gets another id")
  func replaced() throws {
    let memory = RingMemory(capacity: 4)
    _ = try memory.open(newID: new)
    for i in 0..<memory.size { memory[i] = 0 }
    #expect(try memory.open(newID: 7, recordedID: new).id == 7)
  }

  @Test("RNG-7: a ring of an earlier version opens, and gets the recorded id or a new one")
  func earlier() throws {
    for (recordedID, expected) in [(recorded, recorded), (0, new)] {
      let memory = RingMemory(capacity: 4)
      var ring = try memory.open()
      #expect(ring.id == 0)
      ring.markSynced(ring.unsynced)
      ring.append(fix(1))
      ring.markSynced(ring.unsynced)
      let opened = try memory.open(newID: new, recordedID: recordedID)
      #expect(opened.id == expected)
      #expect(walk(opened).fixes.count == 1)
      #expect(try memory.open(newID: 5, recordedID: 6).id == expected)
    }
  }

  @Test("RNG-7: the id survives a lost header copy, and with the record also the loss of both")
  func lostHeaders() throws {
    for copies in [[0], [1], [0, 1]] {
      let memory = RingMemory(capacity: 4)
      var ring = try memory.open(newID: new)
      ring.markSynced(ring.unsynced)
      ring.append(fix(1))
      ring.markSynced(ring.unsynced)
      for copy in copies { for i in 0..<512 { memory[copy * 512 + i] = 0 } }
      #expect(try memory.open(newID: 5, recordedID: new).id == new)
    }
  }

  @Test("RNG-2: a power cut during a header write never leaves a ring with another id")
  func powerCuts() throws {
    for keep in 0...64 {
      let memory = RingMemory(capacity: 4)
      var first = try memory.open(newID: new)
      first.markSynced(first.unsynced)
      first.append(fix(1))
      first.markSynced(first.unsynced)
      let durable = memory.bytes
      let second = try memory.open(newID: 5)
      let header = try #require(second.unsynced.header)
      var torn = durable
      let arrived = header.lowerBound..<header.lowerBound + 8 * keep
      torn.replaceSubrange(arrived, with: memory.bytes[arrived])
      memory.bytes = torn
      #expect(try memory.open(newID: 5, recordedID: 6).id == new)
    }
  }
}
