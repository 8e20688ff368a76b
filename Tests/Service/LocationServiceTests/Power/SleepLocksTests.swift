import LocationTypes
import Testing

@testable import LocationService

@Suite("Locks against sleep") struct SleepLocksTests {
  private var locks = InhibitorLocks()
  private let start = Instant(microseconds: 1_000_000)

  @Test(
    "DEF-28: a lock is seen where the board would be suspended, and its end when it was held twice")
  mutating func follows() {
    #expect(locks.check(wouldSuspend: false, at: start) { "apt" } == nil, "nobody asked")
    #expect(!locks.isHeld && locks.due == .distantFuture)
    #expect(locks.check(wouldSuspend: true, at: start) { nil } == nil)
    #expect(locks.check(wouldSuspend: true, at: start) { "apt" } == true)
    // The board is not to be suspended any more, and it is looked all the same.
    let later = start + .seconds(60)
    #expect(locks.isHeld && locks.due == later)
    #expect(locks.check(wouldSuspend: false, at: later) { "apt" } == nil)
    #expect(locks.due == later + .seconds(120))
    // What happens meanwhile puts nothing off.
    #expect(locks.check(wouldSuspend: false, at: later + .seconds(119)) { "apt" } == nil)
    #expect(locks.due == later + .seconds(120))
    for _ in 0..<20 { _ = locks.check(wouldSuspend: false, at: locks.due) { "apt" } }
    let last = locks.due
    #expect(locks.check(wouldSuspend: false, at: last) { "apt" } == nil)
    #expect(locks.due == last + .seconds(3_600))
    #expect(locks.check(wouldSuspend: false, at: last) { nil } == false)
    #expect(!locks.isHeld && locks.due == .distantFuture)
    #expect(locks.check(wouldSuspend: true, at: last) { "dpkg" } == true)
    #expect(locks.due == last + .seconds(60), "each lock anew")
  }

  @Test("nobody is asked where the board would not be suspended and none was held")
  mutating func costsNothing() {
    var asked = 0
    _ = locks.check(wouldSuspend: false, at: start) {
      asked += 1
      return nil
    }
    #expect(asked == 0)
  }
}
