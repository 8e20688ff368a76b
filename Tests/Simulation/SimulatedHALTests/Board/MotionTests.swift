import BoardHardware
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

/// A motion line in a class, so that a test can change it within an expression.
private final class Line {
  var motion: SimulatedMotionLine
  init(_ periods: [Range<Instant>]?) { motion = SimulatedMotionLine(periods) }
  func hasChanged(at time: Instant) -> Bool { motion.hasChanged(at: time) }
  func consumeChange(at time: Instant) -> PinLevel? { motion.consumeChange(at: time) }
  func nextEdge(after time: Instant) -> Instant? { motion.nextEdge(after: time) }
}

@Suite("Line of the motion sensor") struct MotionTests {
  static let periods = [seconds(10)..<seconds(20), seconds(30)..<seconds(40)]

  /// An M10 without supply, which is silent, on a board that motion wakes.
  private func board(
    _ periods: [Range<Instant>]? = periods, wakes: WakeSources = [.alarm, .motion]
  ) -> SimulatedBoard {
    SimulatedBoard(
      m10 {
        $0.receiver.hasSupplySwitch = true
        $0.board.suspended?.wakeSources = wakes
        $0.motionPeriods = periods
      }, track: straight())
  }

  @Test("edges are reported in order, each change once")
  func edges() {
    let motion = Line(Self.periods)
    #expect(motion.hasChanged(at: .boot) && motion.consumeChange(at: .boot) == .inactive)
    #expect(!motion.hasChanged(at: seconds(9.9)) && motion.consumeChange(at: seconds(9.9)) == nil)
    #expect(motion.nextEdge(after: .boot) == seconds(10))
    #expect(motion.nextEdge(after: seconds(10)) == seconds(20))
    #expect(motion.hasChanged(at: seconds(10)) && motion.consumeChange(at: seconds(10)) == .active)
    #expect(!motion.hasChanged(at: seconds(19.9)))
    #expect(motion.consumeChange(at: seconds(20)) == .inactive)
    #expect(motion.nextEdge(after: seconds(20)) == seconds(30))
    #expect(motion.consumeChange(at: seconds(39.9)) == .active)
    #expect(motion.consumeChange(at: seconds(40)) == .inactive)
    #expect(motion.nextEdge(after: seconds(40)) == nil && !motion.hasChanged(at: seconds(1e6)))
  }

  @Test("without a sensor there is no line; without motion the level is reported once")
  func none() {
    let motion = Line(nil)
    #expect(motion.nextEdge(after: .boot) == nil)
    #expect(!motion.hasChanged(at: .boot) && motion.consumeChange(at: .boot) == nil)
    let still = Line([])
    #expect(still.nextEdge(after: .boot) == nil)
    #expect(still.consumeChange(at: .boot) == .inactive && !still.hasChanged(at: seconds(9)))
    var board = board(nil)
    let report = board.wait(in: .suspended, until: seconds(50))
    #expect(report.motion == nil)
    #expect(board.now == seconds(50.3))
  }

  @Test("the first wait reports the level without a sleep, then every edge wakes")
  func wakes() {
    var board = board()
    let first = board.wait(in: .suspended, until: seconds(100))
    #expect(first == WakeReport(reason: .motion, batchPinRose: false, motion: .inactive))
    #expect(board.now == .boot && board.ledger.hostWakes == 0)
    for (edge, level) in [(10.0, PinLevel.active), (20, .inactive), (30, .active), (40, .inactive)]
    {
      let report = board.wait(in: .suspended, until: seconds(100))
      #expect(
        report
          == WakeReport(reason: .motion, batchPinRose: false, motion: level, wasSuspended: true))
      // Resuming takes 0.3 s.
      #expect(board.now == seconds(edge + 0.3))
    }
    let last = board.wait(in: .suspended, until: seconds(100))
    #expect(last.reason == .alarm)
    #expect(board.ledger.hostWakes == 5 && board.violations.isEmpty)
    let events = board.removeEvents()
    #expect(events.filter { $0.event == .wake(.motion) }.count == 4)
  }

  @Test("every edge wakes an idle board at its time, also with `wakesOnInput` false")
  func idle() {
    var board = board()
    _ = board.wait(in: .idle, until: seconds(100), wakesOnInput: false)
    let report = board.wait(in: .idle, until: seconds(100), wakesOnInput: false)
    #expect(report.reason == .motion && report.motion == .active && board.now == seconds(10))
  }

  @Test("if motion does not wake, a changed level is reported with the next wake")
  func notWired() {
    var board = board(wakes: [.alarm])
    _ = board.wait(in: .suspended, until: seconds(100))
    var report = board.wait(in: .suspended, until: seconds(25))
    #expect(
      report == WakeReport(reason: .alarm, batchPinRose: false, motion: nil, wasSuspended: true))
    report = board.wait(in: .suspended, until: seconds(35))
    #expect(
      report == WakeReport(reason: .alarm, batchPinRose: false, motion: .active, wasSuspended: true)
    )
  }

  @Test("motion that ends before code runs wakes the board but reports no change")
  func shortMotion() {
    var board = board([seconds(10)..<seconds(10.1)])
    _ = board.wait(in: .suspended, until: seconds(100))
    let report = board.wait(in: .suspended, until: seconds(100))
    #expect(
      report == WakeReport(reason: .motion, batchPinRose: false, motion: nil, wasSuspended: true))
    #expect(board.now == seconds(10.3))
  }
}
