import LocationTypes
import Testing

@testable import LocationService

@Suite("Inhibitor locks") struct InhibitorLocksTests {
  private var locks = InhibitorLocks()
  private let start = Instant(microseconds: 1_000_000)

  @Test("DEF-28: a lock is detected before suspend, its end by polling with back-off")
  mutating func follows() {
    #expect(locks.check(wouldSuspend: false, at: start) { "apt" } == nil, "not polled")
    #expect(!locks.isHeld && locks.due == .distantFuture)
    #expect(locks.check(wouldSuspend: true, at: start) { nil } == nil)
    #expect(locks.check(wouldSuspend: true, at: start) { "apt" } == true)
    // The board would not be suspended any more; polling continues.
    let later = start + .seconds(60)
    #expect(locks.isHeld && locks.due == later)
    #expect(locks.check(wouldSuspend: false, at: later) { "apt" } == nil)
    #expect(locks.due == later + .seconds(120))
    // Checks in between do not postpone the next poll.
    #expect(locks.check(wouldSuspend: false, at: later + .seconds(119)) { "apt" } == nil)
    #expect(locks.due == later + .seconds(120))
    for _ in 0..<20 { _ = locks.check(wouldSuspend: false, at: locks.due) { "apt" } }
    let last = locks.due
    #expect(locks.check(wouldSuspend: false, at: last) { "apt" } == nil)
    #expect(locks.due == last + .seconds(3_600))
    #expect(locks.check(wouldSuspend: false, at: last) { nil } == false)
    #expect(!locks.isHeld && locks.due == .distantFuture)
    #expect(locks.check(wouldSuspend: true, at: last) { "dpkg" } == true)
    #expect(locks.due == last + .seconds(60), "each lock restarts the interval")
  }

  @Test("locks are not polled if the board would not be suspended and none was held")
  mutating func noUnneededPoll() {
    var polls = 0
    _ = locks.check(wouldSuspend: false, at: start) {
      polls += 1
      return nil
    }
    #expect(polls == 0)
  }
}
