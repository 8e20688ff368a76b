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
    syncs.didWrite(at: Instant(seconds: 130))
    #expect(syncs.due == Instant(seconds: 190))
  }

  @Test(
    "a board that rests is not woken for a write",
    arguments: [
      // board, its wake, whether the receiver is quiet, whether to write before
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

  @Test("early writes are a quarter of the interval apart, however often the board would suspend")
  func often() {
    var syncs = SyncSchedule(every: .seconds(60), at: start)
    let plan = plan(.suspended, until: 400)
    let moments = [100.0, 100.001, 114.999, 115, 129.999, 130]
    var written: [Double] = []
    for moment in moments {
      let now = Instant(seconds: moment)
      if syncs.shouldWriteEarly(before: plan, isReceiverQuiet: false, at: now) {
        written.append(moment)
      }
    }
    #expect(written == [100, 115, 130])
  }
}
