import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine
@testable import LocationPolicy

/// Who must be looked at, found without looking at all, against looking at all.
@Suite("The table of clients") struct ClientTableTests {
  @Test(
    "whoever is awake is looked at, and the first who will be is known, in any order of rests and stirs",
    arguments: 1..<40 as Range<UInt64>)
  func awake(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let capacity = 1 + random.below(40)
    let memory = UnsafeMutableBufferPointer<Client>.allocate(capacity: capacity)
    defer { unsafe memory.deallocate() }
    var table = unsafe ClientTable(memory, head: 0)
    var now = Instant.boot
    for _ in 0..<2_000 {
      now = now + .milliseconds(Int64(random.below(3)))
      switch random.below(8) {
      case 0: table.use(random.below(capacity))
      case 1, 2, 3:
        guard table.used > 0 else { continue }
        let i = random.below(table.used)
        table[i].endRest()
        table.stir(i)
      case 4 where random.below(10) == 0: for i in table.stirred() { table[i].endRest() }
      default: break
      }
      expectAll(&table, at: now)
      // A step looks at those who are awake, and lets some of them rest.
      for i in table.awake where table.isAwake(i, at: now) && random.below(3) > 0 {
        let isForGood = random.below(4) == 0
        table[i].restsUntil =
          isForGood ? .distantFuture : now + .milliseconds(1 + Int64(random.below(30)))
      }
    }
  }

  private func expectAll(_ table: inout ClientTable, at now: Instant) {
    var resting = Instant.distantFuture
    for i in 0..<table.used where table[i].restsUntil > now {
      resting = min(resting, table[i].restsUntil)
    }
    let (next, isSound) = (table.lookForAwake(at: now), table.hasNobodyMissed(at: now))
    #expect(next == resting && isSound)
    for i in 0..<table.used {
      let isLookedAt = table.awake.contains(i) && table.isAwake(i, at: now)
      let isDue = table[i].restsUntil <= now
      #expect(isLookedAt == isDue)
    }
    // No farther than from the first to the last.
    guard let first = table.awake.first, let last = table.awake.last else { return }
    let areAwake = table.isAwake(first, at: now) && table.isAwake(last, at: now)
    #expect(areAwake)
  }
}
