import LocationTypes
import TestSupport
import Testing

@testable import DeferralCache

@Suite("Syncing") struct SyncTests {
  @Test(
    "after every start, count and erasure, the unsynced bytes cover all differences from the disk")
  func unsyncedCoversAllThatDiffers() throws {
    for capacity in 2...5 {
      for start in 0...capacity + 2 {
        for first in 0...capacity + 1 {
          for second in 0...capacity + 1 {
            var history = History(capacity: capacity)
            var ring = try history.open(synced: false)
            history.sync(&ring)
            history.sync(&ring)
            history.append(start, to: &ring)
            history.sync(&ring)
            history.append(first, to: &ring)
            expectExact(history, ring, count: min(first, capacity))
            // More fixes are appended while the sync runs.
            let pending = ring.unsynced
            copy(pending, to: &history)
            history.append(second, to: &ring)
            ring.markSynced(pending)
            expectExact(history, ring, count: min(second, capacity))
            history.sync(&ring)
            #expect(history.disk == history.memory.bytes && ring.unsynced.isEmpty)
            ring.erase(ring.tail..<ring.tail + 1)
            history.sync(&ring)
            #expect(history.disk == history.memory.bytes && ring.unsynced.isEmpty)
          }
        }
      }
    }
  }

  private func copy(_ pending: UnsyncedBytes, to history: inout History) {
    let bytes = history.memory.bytes
    for case let range? in [pending.header, pending.slots, pending.wrapped] {
      history.disk.replaceSubrange(range, with: bytes[range])
    }
  }

  /// The unsynced bytes are those of `count` slots; outside of them disk and memory are equal.
  private func expectExact(_ history: History, _ ring: borrowing FixRing, count: Int) {
    let unsynced = ring.unsynced
    #expect((unsynced.slots?.count ?? 0) + (unsynced.wrapped?.count ?? 0) == 64 * count)
    #expect(unsynced.isEmpty == (count == 0))
    #expect(unsynced.slots?.isEmpty != true && unsynced.wrapped?.isEmpty != true)
    var disk = history.disk
    let bytes = history.memory.bytes
    for case let range? in [unsynced.header, unsynced.slots, unsynced.wrapped] {
      disk.replaceSubrange(range, with: bytes[range])
    }
    #expect(disk == bytes)
  }

  @Test("RNG-6: an erasure during a sync does not count as synced")
  func eraseDuringSync() throws {
    var history = History(capacity: 4)
    var ring = try history.open(synced: false)
    history.sync(&ring)
    history.sync(&ring)
    history.append(3, to: &ring)
    let pending = ring.unsynced
    copy(pending, to: &history)
    ring.erase(0..<2)
    ring.markSynced(pending)
    history.sync(&ring)
    #expect(history.disk == history.memory.bytes)
    #expect(ring.unsynced.isEmpty)
  }

  @Test("RNG-2: at most one header copy is unsynced, for any order of open, close and sync")
  func oneHeaderAtATime() throws {
    for code in 0..<1 << 10 {
      let memory = RingMemory(capacity: 2)
      var disk = memory.bytes
      var ring = try memory.open()
      for step in 0..<5 {
        let bytes = memory.bytes
        let differ = [0, 512].filter { bytes[$0..<$0 + 512] != disk[$0..<$0 + 512] }
        #expect(differ.count <= 1)
        if let header = ring.unsynced.header {
          #expect(differ.isEmpty || differ == [header.lowerBound])
        } else {
          #expect(differ.isEmpty)
        }
        switch code >> (2 * step) & 3 {
        case 0: ring.close()
        case 1:
          // The process dies, not the board: the next process maps the same memory.
          disk = memory.bytes
          ring = try memory.open()
        default:
          let pending = ring.unsynced
          if let header = pending.header {
            disk.replaceSubrange(header, with: memory.bytes[header])
          }
          ring.markSynced(pending)
        }
      }
    }
  }

  @Test("a second close has no effect")
  func closeTwice() throws {
    let memory = RingMemory(capacity: 2)
    var ring = try memory.openSynced()
    ring.close()
    let bytes = memory.bytes
    ring.close()
    #expect(memory.bytes == bytes)
  }

  @Test("a header rewritten during its sync does not count as synced")
  func closeDuringSync() throws {
    let memory = RingMemory(capacity: 2)
    var ring = try memory.open()
    let pending = ring.unsynced
    ring.close()
    ring.markSynced(pending)
    #expect(ring.unsynced.header == pending.header)
    ring.markSynced(ring.unsynced)
    #expect(ring.unsynced.header == 512..<1024)
    ring.markSynced(ring.unsynced)
    #expect(ring.unsynced.isEmpty)
    for copy in 0..<2 {
      for i in 0..<512 { memory[copy * 512 + i] = 0 }
      #expect(try memory.open().recovery.wasClosed, "both copies record the close")
      ring = try memory.openSynced()
      ring.close()
      ring.markSynced(ring.unsynced)
    }
  }
}

@Suite("Starts of generations") struct GenerationStartsTests {
  /// The definition: the numbers that no later generation uses again.
  private func end(_ all: [(UInt32, UInt64)], _ name: FixName) -> UInt64 {
    all.filter { $0.0 > name.generation }.map(\.1).reduce(name.sequence + 1, min)
  }

  @Test("RNG-3: for every sequence of six starts, the end of every name is exact")
  func everySequence() {
    for code in 0..<4096 {
      var starts = GenerationStarts()
      var all: [(UInt32, UInt64)] = []
      for i in 0..<6 {
        let start = UInt64(code >> (2 * i) & 3)
        starts.begin(UInt32(2 * i + 1), at: start)
        all.append((UInt32(2 * i + 1), start))
      }
      for generation in 0...12 as ClosedRange<UInt32> {
        for sequence in 0...4 as ClosedRange<UInt64> {
          let name = FixName(generation: generation, sequence: sequence)
          #expect(starts.sequence(after: name) == end(all, name))
        }
      }
    }
  }

  @Test("RNG-3: with more starts than the record holds, no fix after a name is skipped")
  func overflow() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<20 {
      var starts = GenerationStarts()
      var all: [(UInt32, UInt64)] = []
      var start: UInt64 = 5
      for i in 1...60 as ClosedRange<UInt32> {
        start += UInt64.random(in: 0...8, using: &random)
        start -= min(start, UInt64.random(in: 0...3, using: &random))
        starts.begin(i, at: start)
        all.append((i, start))
      }
      #expect(starts.newest == 60 && starts.count <= 16)
      for generation in 0...61 as ClosedRange<UInt32> {
        for sequence in stride(from: 0, to: start + 20, by: 3) as StrideTo<UInt64> {
          let name = FixName(generation: generation, sequence: sequence)
          #expect(starts.sequence(after: name) <= end(all, name))
          // The result is exact for the generations in the record.
          if generation >= 46 { #expect(starts.sequence(after: name) == end(all, name)) }
        }
      }
    }
  }

  @Test("the largest sequence number has an end")
  func greatest() {
    let name = FixName(generation: 1, sequence: .max)
    #expect(GenerationStarts().sequence(after: name) == .max)
  }
}
