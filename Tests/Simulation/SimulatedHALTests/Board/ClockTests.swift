import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Virtual clock") struct ClockTests {
  /// A receiver without supply, which sends nothing.
  private func quiet(_ change: (inout SimulationSetup) -> Void = { _ in }) -> SimulationSetup {
    m10 {
      $0.receiver.hasSupplySwitch = true
      change(&$0)
    }
  }

  @Test("the clock starts at 0 and advances only to the deadline")
  func deadline() {
    var board = SimulatedBoard(quiet(), track: straight())
    #expect(board.now == .boot)
    let report = board.wait(in: .idle, until: seconds(12.345678))
    #expect(report == WakeReport(reason: .alarm, batchPinRose: false))
    #expect(board.now == seconds(12.345678))
    #expect(board.ledger.hostWakes == 1)
  }

  @Test("a passed deadline returns immediately, without a sleep")
  func past() {
    var board = SimulatedBoard(quiet(), track: straight())
    _ = board.wait(in: .idle, until: seconds(5))
    _ = board.removeEvents()
    for deadline in [seconds(5), seconds(1)] {
      #expect(board.wait(in: .suspended, until: deadline).reason == .alarm)
      #expect(board.now == seconds(5))
    }
    #expect(board.removeEvents().isEmpty)
    #expect(board.violations.isEmpty)
  }

  @Test("suspend: the alarm is rounded up, and resuming counts as awake")
  func suspend() {
    var board = SimulatedBoard(quiet(), track: straight())
    _ = board.wait(in: .suspended, until: seconds(10.2))
    #expect(board.now == seconds(11.3))
    #expect(board.ledger.time(of: .suspended) == .seconds(11))
    #expect(board.ledger.time(of: .awake) == .milliseconds(300))
    #expect(
      board.removeEvents().suffix(3) == [
        TimedBoardEvent(time: .boot, event: .board(.suspended, mW: 20)),
        TimedBoardEvent(time: seconds(11), event: .board(.awake, mW: 600)),
        TimedBoardEvent(time: seconds(11), event: .wake(.alarm)),
      ])
  }

  @Test("early alarms are early by less than the resolution, and never occur in idle")
  func earlyAlarms() {
    var board = SimulatedBoard(
      quiet {
        $0.faults.alarmsMayBeEarly = true
        $0.board.suspended?.resumeTime = .zero
        $0.board.idle.alarmResolution = .milliseconds(10)
      }, track: straight())
    var early = 0
    var earliest = Interval.zero
    for _ in 0..<400 {
      let deadline = board.now + .milliseconds(10_200)
      let report = board.wait(in: .suspended, until: deadline)
      #expect(report.reason == .alarm)
      let lateness = board.now - deadline
      #expect(lateness > .seconds(-1) && lateness < .seconds(1))
      if lateness < .zero { early += 1 }
      earliest = min(earliest, lateness)
      let shallow = board.now + .milliseconds(105)
      _ = board.wait(in: .idle, until: shallow, wakesOnInput: false)
      #expect(board.now >= shallow)
    }
    #expect((150...250).contains(early))
    #expect(earliest < .milliseconds(-900))
    #expect(board.violations.isEmpty)
  }

  @Test("an alarm at a whole second is not rounded to the next one")
  func wholeAlarm() {
    var board = SimulatedBoard(quiet { $0.board.suspended?.resumeTime = .zero }, track: straight())
    _ = board.wait(in: .suspended, until: seconds(10))
    #expect(board.now == seconds(10))
  }

  @Test("PWR-9: a too near alarm causes a lighter sleep and a violation", arguments: [1.0, 1.999])
  func tooNear(_ length: Double) {
    var board = SimulatedBoard(quiet(), track: straight())
    _ = board.wait(in: .suspended, until: seconds(length))
    #expect(board.now == seconds(length))
    #expect(board.violations.map(\.kind) == [.alarmTooNear])
    #expect(board.ledger.time(of: .idle) == Interval(seconds: length))
  }

  @Test("an alarm that is just far enough permits the sleep")
  func farEnough() {
    var board = SimulatedBoard(quiet(), track: straight())
    _ = board.wait(in: .suspended, until: seconds(2))
    #expect(board.violations.isEmpty)
    #expect(board.ledger.time(of: .suspended) == .seconds(2))
  }

  @Test("an unsupported sleep state causes a lighter one and a violation")
  func noSuchSleep() {
    var board = SimulatedBoard(quiet(), track: straight())
    _ = board.wait(in: .off, until: seconds(100))
    #expect(board.violations.map(\.kind) == [.unsupportedSleepState])
    #expect(board.ledger.time(of: .suspended) == .seconds(100))
    var light = SimulatedBoard(quiet { $0.board.suspended = nil }, track: straight())
    _ = light.wait(in: .off, until: seconds(100))
    #expect(light.violations.map(\.kind) == [.unsupportedSleepState, .unsupportedSleepState])
    #expect(light.ledger.time(of: .idle) == .seconds(100))
  }

  @Test(
    "off: the receiver keeps only its backup supply, an alarm boots the board, the receiver starts with it"
  )
  func off() {
    var setup = m10 {
      $0.board.off = BoardSleepState(
        power_mw: 5, resumeTime: .seconds(15), wakeSources: .alarm, alarmResolution: .seconds(1),
        minimumDuration: .seconds(120))
    }
    for (hasBackup, state) in [(true, ReceiverPowerState.backup), (false, .off)] {
      setup.receiver.hasBackupSupply = hasBackup
      var board = SimulatedBoard(setup, track: straight())
      _ = board.wait(in: .idle, until: seconds(60), wakesOnInput: false)
      board.request(at: seconds(100))
      let end = seconds(300.2)
      #expect(board.wait(in: .off, until: end, wakesOnInput: false).reason == .alarm)
      #expect(board.now == seconds(316) && board.violations.isEmpty)
      #expect(board.ledger.time(of: BoardState.off) == .seconds(241))
      #expect(board.ledger.time(of: state) == .seconds(241))
      #expect(board.ledger.time(of: .awake) >= .seconds(15))
      #expect(board.receiverPowerState == .acquiring || board.receiverPowerState == .tracking)
      // The request came while the board was off, so the boot handles it.
      #expect(board.wait(in: .idle, until: seconds(400), wakesOnInput: false).reason == .alarm)
      _ = board.wait(in: .off, until: board.now + .seconds(119), wakesOnInput: false)
      #expect(board.violations.map(\.kind) == [.alarmTooNear])
    }
    // A switched supply stays off until the host switches it on.
    setup.receiver.hasSupplySwitch = true
    var board = SimulatedBoard(setup, track: straight())
    _ = board.wait(in: .off, until: seconds(300), wakesOnInput: false)
    #expect(board.receiverPowerState == .off)
  }

  @Test("a request wakes every sleep state with requests as wake source")
  func request() {
    var board = SimulatedBoard(quiet(), track: straight())
    board.request(at: seconds(50))
    board.request(at: seconds(20))
    #expect(board.wait(in: .suspended, until: .distantFuture).reason == .request)
    #expect(board.now == seconds(20.3))
    #expect(board.wait(in: .idle, until: .distantFuture).reason == .request)
    #expect(board.now == seconds(50))
    #expect(board.wait(in: .idle, until: seconds(60)).reason == .alarm)
    #expect(board.ledger.hostWakes(for: .request) == 2)
    #expect(board.ledger.hostWakes(for: .alarm) == 1)
    var other = SimulatedBoard(
      quiet { $0.board.suspended?.wakeSources = [.alarm] }, track: straight())
    other.request(at: seconds(5))
    #expect(other.wait(in: .suspended, until: seconds(20)).reason == .alarm)
    #expect(other.now == seconds(20.3))
  }

  @Test("a sleep without a wake source is a violation and ends after 30 days")
  func forever() {
    var board = SimulatedBoard(quiet(), track: straight())
    _ = board.wait(in: .idle, until: .distantFuture)
    #expect(board.violations.map(\.kind) == [.sleepWithoutWakeSource])
    #expect(board.now == seconds(30 * 86_400))
  }

  @Test("a wait in state awake is spent idle, because waiting code does not run")
  func awake() {
    var board = SimulatedBoard(quiet(), track: straight())
    #expect(board.wait(in: .awake, until: seconds(3)).reason == .alarm)
    #expect(board.ledger.time(of: .awake) == .zero && board.ledger.time(of: .idle) == .seconds(3))
    #expect(board.ledger.hostWakes == 1 && board.violations.isEmpty)
  }

  @Test("a wake costs its processor time after the resume time, awake")
  func processorTime() {
    var board = SimulatedBoard(
      quiet {
        $0.board.processorTimePerWake = Interval(microseconds: 90)
        $0.board.idle.resumeTime = .milliseconds(1)
      }, track: straight())
    for count in 1...3 {
      _ = board.wait(in: .idle, until: seconds(Double(10 * count)))
      #expect(board.now == seconds(Double(10 * count)) + Interval(microseconds: 1_090))
    }
    _ = board.wait(in: .suspended, until: seconds(40))
    #expect(board.ledger.hostWakes == 4)
    #expect(board.ledger.time(of: .awake) == Interval(microseconds: 3 * 1_090 + 300_090))
  }

  @Test("a wait shorter than the resume time from idle is spent awake and counts as a wake")
  func tooShortToIdle() {
    var board = SimulatedBoard(
      quiet {
        $0.board.idle.resumeTime = .milliseconds(2)
        $0.board.idle.alarmResolution = .milliseconds(1)
      }, track: straight())
    _ = board.wait(in: .idle, until: seconds(0.003))
    #expect(board.now == seconds(0.003) && board.ledger.time(of: .awake) == .milliseconds(3))
    _ = board.wait(in: .idle, until: seconds(0.006001))
    #expect(board.now == seconds(0.009))
    #expect(board.ledger.time(of: .idle) == .milliseconds(4))
    #expect(board.ledger.hostWakes == 2)
  }
}
