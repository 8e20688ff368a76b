import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Recording of fixes for a client") struct RecordingPeriodTests {
  static func context(at seconds: Double, head: UInt64 = 4) -> ClientContext {
    ClientContext(
      now: Instant(seconds: seconds), head: head, newest: nil, receiverBuffers: false,
      isDraining: false, isDeferralAvailable: true, deferralLimit: 4, deliveryHold: .seconds(2))
  }

  enum State: CaseIterable { case none, open, closed, reported, waiting }

  static func recording(in state: State) -> ClientRecording {
    var recording = ClientRecording()
    if state == .none { return recording }
    recording.begin(context(at: 10))
    if state == .open { return recording }
    recording.end(context(at: 20))
    if state == .reported { recording.markReported() }
    if state == .waiting { recording.detach(context(at: 25)) }
    return recording
  }

  static func text(_ recording: ClientRecording) -> String {
    guard let period = recording.period else { return "none" }
    return (period.isOpen ? "open" : "closed") + (period.isReported ? " reported" : "")
      + (period.awaitsStart ? " waiting" : "")
  }

  @Test("BKG-5: every event in every state")
  func everyPair() {
    let (none, open, closed, reported) = ("none", "open", "closed", "closed reported")
    let waiting = "closed waiting"
    let before = [none, open, closed, reported, waiting]
    let now = Self.context(at: 30)
    typealias Row = (name: String, event: (inout ClientRecording) -> Void, results: [String])
    let rows: [Row] = [
      ("nothing", { _ in }, before),
      ("begin", { $0.begin(now) }, [open, open, open, open, "open waiting"]),
      ("end", { $0.end(now) }, [none, closed, closed, reported, waiting]),
      ("queue full", { $0.setQueueFull(true, now) }, before),
      (
        "queue not full", { $0.setQueueFull(false, now) },
        [none, closed, closed, reported, waiting]
      ),
      (
        "gap, updating", { _ = $0.takeGap(at: 4, isUpdating: true) },
        [none, open, reported, reported, waiting]
      ),
      (
        "gap, stopped", { _ = $0.takeGap(at: 4, isUpdating: false) },
        [none, open, none, reported, waiting]
      ),
      ("gap too early", { _ = $0.takeGap(at: 3, isUpdating: true) }, before),
      (
        "backlog", { $0.markReported() },
        [none, "open reported", reported, reported, "closed reported waiting"]
      ),
      ("acknowledge", { $0.acknowledge(below: 5) }, [none, open, closed, none, waiting]),
      ("acknowledge less", { $0.acknowledge(below: 4) }, before),
      ("detach", { $0.detach(now) }, [none, waiting, waiting, waiting, waiting]),
      ("start", { $0.startUpdates() }, [none, open, closed, reported, closed]),
      ("stop", { $0.stopUpdates() }, [none, open, closed, none, waiting]),
      ("drop", { $0.drop() }, [none, none, none, none, none]),
      ("drain", { $0.endRestartDrain() }, before),
    ]
    for row in rows {
      for (state, expected) in zip(State.allCases, row.results) {
        var recording = Self.recording(in: state)
        row.event(&recording)
        #expect(Self.text(recording) == expected, "\(state) \(row.name)")
      }
    }
  }

  @Test("What must be reported before which fix, in every state")
  func status() {
    let all = State.allCases.map(Self.recording(in:))
    #expect(all.map { $0.mustReport(at: 4) } == [false, false, true, false, false])
    #expect(all.map { $0.mustReport(at: 3) } == [false, false, false, false, false])
    #expect(all.map(\.sequence) == [.max, 4, 4, .max, .max])
    #expect(all.map { $0.gap(with: nil) != nil } == [false, true, true, false, true])
  }

  @Test("The gap lasts from the stop of acquisition to its restart, after fixes acquired before it")
  func times() {
    var recording = Self.recording(in: .closed)
    recording.accept(fix(at: 10), Self.context(at: 26, head: 5))
    recording.accept(fix(at: 26), Self.context(at: 26, head: 6))
    #expect(recording.sequence == 5, "the first fix came late out of the receiver's buffer")
    let gap = recording.takeGap(at: 5, isUpdating: true)
    #expect(
      gap?.from?.acquired == Instant(seconds: 10) && gap?.to?.acquired == Instant(seconds: 20))
    #expect(gap?.count == 0 && gap?.mayBeMore == true)
  }

  @Test("BKG-5: a queue that is no longer full ends the period")
  func queue() {
    var recording = Self.recording(in: .open)
    recording.setQueueFull(true, Self.context(at: 12))
    #expect(recording.isQueueFull && Self.text(recording) == "open")
    recording.setQueueFull(false, Self.context(at: 14))
    #expect(!recording.isQueueFull && recording.period?.to?.acquired == Instant(seconds: 14))
  }

  @Test(
    "BKG-20: fixes of the buffer that follow one another extend the recorded time; a pause after the restart ends it"
  )
  func restartDrain() {
    func period() -> UnrecordedTime {
      var period = UnrecordedTime(
        sequence: 4, from: FixTime(acquired: Instant(seconds: 10), utc: nil),
        to: FixTime(acquired: Instant(seconds: 100), utc: nil), awaitsStart: true,
        slack: .seconds(2))
      period.beginDrain(hasFixes: true)
      return period
    }
    // The first fix follows the ring's newest one: the receiver recorded all the time.
    var recorded = period()
    recorded.accept(fix(at: 12), head: 5)
    #expect(recorded.from.acquired == Instant(seconds: 12) && recorded.sequence == 5)
    recorded.accept(fix(at: 40), head: 6)
    #expect(recorded.from.acquired == Instant(seconds: 40) && recorded.isBuffered)
    #expect(recorded.to?.acquired == Instant(seconds: 100))
    // The first fix comes much later: the buffer was overwritten before it.
    var overwritten = period()
    overwritten.accept(fix(at: 12.1), head: 5)
    #expect(overwritten.from.acquired == Instant(seconds: 10) && overwritten.sequence == 4)
    #expect(overwritten.to?.acquired == Instant(seconds: 12.1) && !overwritten.isBuffered)
    // A fix acquired after the restart ends the drain.
    var over = period()
    over.accept(fix(at: 100), head: 5)
    #expect(!over.isBuffered && over.from.acquired == Instant(seconds: 10))
  }
}
