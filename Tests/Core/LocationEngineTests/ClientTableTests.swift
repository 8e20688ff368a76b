import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine
@testable import LocationPolicy

/// Compares the table's range of dirty clients with a check of every client.
@Suite("Client table") struct ClientTableTests {
  @Test(
    "the dirty range has every dirty client and the earliest wake time, in any order of changes",
    arguments: 1..<40 as Range<UInt64>)
  func dirtyRange(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let capacity = 1 + random.below(40)
    let memory = UnsafeMutableBufferPointer<Client>.allocate(capacity: capacity)
    defer { unsafe memory.deallocate() }
    var table = unsafe ClientTable(memory, head: 0)
    var now = Instant.boot
    for _ in 0..<2_000 {
      now = now + .milliseconds(Int64(random.below(3)))
      switch random.below(8) {
      case 0: table.activate(random.below(capacity))
      case 1, 2, 3:
        guard table.used > 0 else { continue }
        let i = random.below(table.used)
        table[i].endDormancy()
        table.markDirty(i)
      case 4 where random.below(10) == 0: for i in table.markAllDirty() { table[i].endDormancy() }
      default: break
      }
      expectAll(&table, at: now)
      // A step checks the dirty clients; some of them become dormant.
      for i in table.dirtyRange where table.isDirty(i, at: now) && random.below(3) > 0 {
        let isWithoutEnd = random.below(4) == 0
        table[i].beginDormancy(
          until: isWithoutEnd ? .distantFuture : now + .milliseconds(1 + Int64(random.below(30))))
      }
    }
  }

  private func expectAll(_ table: inout ClientTable, at now: Instant) {
    var nextWake = Instant.distantFuture
    for i in 0..<table.used where table[i].dormantUntil > now {
      nextWake = min(nextWake, table[i].dormantUntil)
    }
    let (next, isSound) = (table.updateDirtyRange(at: now), table.noDirtyClientSkipped(at: now))
    #expect(next == nextWake && isSound)
    for i in 0..<table.used {
      let isChecked = table.dirtyRange.contains(i) && table.isDirty(i, at: now)
      let isDue = table[i].dormantUntil <= now
      #expect(isChecked == isDue)
    }
    // The range begins and ends with a dirty client.
    guard let first = table.dirtyRange.first, let last = table.dirtyRange.last else { return }
    let areDirty = table.isDirty(first, at: now) && table.isDirty(last, at: now)
    #expect(areDirty)
  }
}
