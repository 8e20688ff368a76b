import LocationHAL
import LocationTypes
import Testing

@testable import LocationEngine
@testable import LocationRuntime

@Suite("Schedule of writing the ring to the disk")
struct SyncScheduleTests {
  private let start = Instant(seconds: 100)

  private func plan(_ board: BoardState, until wake: Double) -> Effects {
    var plan = Effects()
    plan.board = board
    plan.wake = Instant(seconds: wake)
    return plan
  }

  @Test("RNG-4: unsynced fixes are written one interval after the last write")
  func due() {
    var syncs = SyncSchedule(every: .seconds(60), at: start)
    #expect(syncs.due == Instant(seconds: 160))
    syncs.didWrite(at: Instant(seconds: 130))
    #expect(syncs.due == Instant(seconds: 190))
  }

  @Test(
    "the ring is written before a long sleep, so that the board is not woken for it",
    arguments: [
      // board state, wake time, whether the receiver is quiet, whether to write early
      (BoardState.suspended, 400.0, false, true), (.off, 400, false, true),
      (.idle, 400, false, false), (.idle, 400, true, true), (.idle, 160, true, false),
      (.suspended, 160, false, false), (.suspended, 160.001, false, true),
    ])
  func early(_ board: BoardState, _ wake: Double, _ isQuiet: Bool, _ expected: Bool) {
    var syncs = SyncSchedule(every: .seconds(60), at: start)
    let withoutPlan = syncs.shouldWriteEarly(before: nil, isReceiverQuiet: true, at: start)
    #expect(!withoutPlan)
    let plan = plan(board, until: wake)
    let isEarly = syncs.shouldWriteEarly(before: plan, isReceiverQuiet: isQuiet, at: start)
    #expect(isEarly == expected)
  }

  @Test("early writes are at least a quarter of the interval apart")
  func often() {
    var syncs = SyncSchedule(every: .seconds(60), at: start)
    let plan = plan(.suspended, until: 400)
    let times = [100.0, 100.001, 114.999, 115, 129.999, 130]
    var written: [Double] = []
    for time in times {
      let now = Instant(seconds: time)
      if syncs.shouldWriteEarly(before: plan, isReceiverQuiet: false, at: now) {
        written.append(time)
      }
    }
    #expect(written == [100, 115, 130])
  }
}
