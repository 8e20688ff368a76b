import LocationHAL
import LocationTypes
import Testing

@testable import LocationEngine
@testable import LocationRuntime

@Suite("When the ring is written to the disk")
struct SyncScheduleTests {
  private let start = Instant(seconds: 100)

  private func plan(_ board: BoardState, until wake: Double) -> Effects {
    var plan = Effects()
    plan.board = board
    plan.wake = Instant(seconds: wake)
    return plan
  }

  @Test("RNG-4: what is unwritten is written an interval after the last write")
  func due() {
    var syncs = SyncSchedule(every: .seconds(60), at: start)
    #expect(syncs.due == Instant(seconds: 160))
    syncs.wrote(at: Instant(seconds: 130))
    #expect(syncs.due == Instant(seconds: 190))
  }

  @Test(
    "a board is not woken from suspend for a write, nor kept writing by calls",
    arguments: [
      // board, its wake, now, whether to write before
      (BoardState.suspended, 400.0, 115.0, true), (.off, 400, 130, true),
      (.suspended, 400, 114.999, false), (.idle, 400, 130, false),
      (.suspended, 160, 130, false), (.suspended, 160.001, 130, true),
    ])
  func early(_ board: BoardState, _ wake: Double, _ now: Double, _ expected: Bool) {
    let syncs = SyncSchedule(every: .seconds(60), at: start)
    #expect(syncs.precedes(plan(board, until: wake), at: Instant(seconds: now)) == expected)
    #expect(!syncs.precedes(nil, at: Instant(seconds: now)))
  }
}
