import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

/// Takes what is asked for out of a line, so that a test can ask in any place.
private final class Line {
  var motion: SimulatedMotionLine
  init(_ spells: [Range<Instant>]?) { motion = SimulatedMotionLine(spells) }
  func isNews(at time: Instant) -> Bool { motion.hasChanged(at: time) }
  func takeNews(at time: Instant) -> PinLevel? { motion.consumeChange(at: time) }
  func nextEdge(after time: Instant) -> Instant? { motion.nextEdge(after: time) }
}

@Suite("The motion sensor's line") struct MotionTests {
  static let spells = [seconds(10)..<seconds(20), seconds(30)..<seconds(40)]

  /// An M10 without supply, which is silent, on a board that motion wakes.
  private func board(
    _ spells: [Range<Instant>]? = spells, wakes: WakeSources = [.alarm, .motion]
  ) -> SimulatedBoard {
    SimulatedBoard(
      m10 {
        $0.receiver.hasSupplySwitch = true
        $0.board.suspended?.wakeSources = wakes
        $0.motionPeriods = spells
      }, track: straight())
  }

  @Test("edges come in order; what was told is told once")
  func edges() {
    let motion = Line(Self.spells)
    #expect(motion.isNews(at: .boot) && motion.takeNews(at: .boot) == .inactive)
    #expect(!motion.isNews(at: seconds(9.9)) && motion.takeNews(at: seconds(9.9)) == nil)
    #expect(motion.nextEdge(after: .boot) == seconds(10))
    #expect(motion.nextEdge(after: seconds(10)) == seconds(20))
    #expect(motion.isNews(at: seconds(10)) && motion.takeNews(at: seconds(10)) == .active)
    #expect(!motion.isNews(at: seconds(19.9)))
    #expect(motion.takeNews(at: seconds(20)) == .inactive)
    #expect(motion.nextEdge(after: seconds(20)) == seconds(30))
    #expect(motion.takeNews(at: seconds(39.9)) == .active)
    #expect(motion.takeNews(at: seconds(40)) == .inactive)
    #expect(motion.nextEdge(after: seconds(40)) == nil && !motion.isNews(at: seconds(1e6)))
  }

  @Test("without a sensor there is no line; one that never moves says so once")
  func none() {
    let motion = Line(nil)
    #expect(motion.nextEdge(after: .boot) == nil)
    #expect(!motion.isNews(at: .boot) && motion.takeNews(at: .boot) == nil)
    let still = Line([])
    #expect(still.nextEdge(after: .boot) == nil)
    #expect(still.takeNews(at: .boot) == .inactive && !still.isNews(at: seconds(9)))
    var board = board(nil)
    let waking = board.wait(in: .suspended, until: seconds(50))
    #expect(waking.motion == nil)
    #expect(board.now == seconds(50.3))
  }

  @Test("the first wait tells the level without a sleep, then every edge wakes")
  func wakes() {
    var board = board()
    let first = board.wait(in: .suspended, until: seconds(100))
    #expect(first == WakeReport(reason: .motion, batchPinRose: false, motion: .inactive))
    #expect(board.now == .boot && board.ledger.hostWakes == 0)
    for (edge, level) in [(10.0, PinLevel.active), (20, .inactive), (30, .active), (40, .inactive)]
    {
      let waking = board.wait(in: .suspended, until: seconds(100))
      #expect(waking == WakeReport(reason: .motion, batchPinRose: false, motion: level))
      // Resuming takes its time.
      #expect(board.now == seconds(edge + 0.3))
    }
    let last = board.wait(in: .suspended, until: seconds(100))
    #expect(last.reason == .alarm)
    #expect(board.ledger.hostWakes == 5 && board.violations.isEmpty)
    let events = board.removeEvents()
    #expect(events.filter { $0.event == .wake(.motion) }.count == 4)
  }

  @Test("an idle board hears every edge at its moment, also while bytes are not listened to")
  func idle() {
    var board = board()
    _ = board.wait(in: .idle, until: seconds(100), wakesOnInput: false)
    let waking = board.wait(in: .idle, until: seconds(100), wakesOnInput: false)
    #expect(waking.reason == .motion && waking.motion == .active && board.now == seconds(10))
  }

  @Test("where motion does not wake, the level is told with what does, if it is another one")
  func notWired() {
    var board = board(wakes: [.alarm])
    _ = board.wait(in: .suspended, until: seconds(100))
    var waking = board.wait(in: .suspended, until: seconds(25))
    #expect(waking == WakeReport(reason: .alarm, batchPinRose: false, motion: nil))
    waking = board.wait(in: .suspended, until: seconds(35))
    #expect(waking == WakeReport(reason: .alarm, batchPinRose: false, motion: .active))
  }

  @Test("a twitch that is over when code runs wakes and tells no change")
  func twitch() {
    var board = board([seconds(10)..<seconds(10.1)])
    _ = board.wait(in: .suspended, until: seconds(100))
    let waking = board.wait(in: .suspended, until: seconds(100))
    #expect(waking == WakeReport(reason: .motion, batchPinRose: false, motion: nil))
    #expect(board.now == seconds(10.3))
  }
}
