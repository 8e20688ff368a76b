import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Energy ledger of the simulated board") struct LedgerTests {
  /// Energy computed from the events only, independently of the ledger.
  private func energy(
    _ events: [TimedBoardEvent], until end: Instant
  ) -> (receiver: Double, board: Double, awake: Double, wakes: Int) {
    var receiver: [(Instant, Double)] = []
    var board: [(Instant, Double)] = []
    var awakeTimes: [(Instant, Bool)] = []
    var wakes = 0
    for item in events {
      switch item.event {
      case .receiver(_, let mW): receiver.append((item.time, mW))
      case .board(let state, let mW):
        board.append((item.time, mW))
        awakeTimes.append((item.time, state == .awake))
      case .wake: wakes += 1
      case .battery, .batteryEmpty: break
      }
    }
    func sum(_ steps: [(Instant, Double)]) -> Double {
      var total = 0.0
      for (i, step) in steps.enumerated() {
        let next = i + 1 < steps.count ? steps[i + 1].0 : end
        total += step.1 * (next - step.0).seconds
      }
      return total
    }
    return (
      sum(receiver), sum(board), sum(awakeTimes.map { ($0.0, $0.1 ? 1.0 : 0.0) }), wakes
    )
  }

  /// An hour with batching, suspends, a standby and a signal outage.
  private func hour() -> (EnergyLedger, [TimedBoardEvent], Instant) {
    var board = SimulatedBoard(
      m10 { $0.faults.signalOutages = [seconds(900)..<seconds(1_000)] }, track: straight())
    _ = receive(&board, until: seconds(0.5))
    board.configure([
      (ConfigurationKey.sendsNMEA, 0), (ConfigurationKey.batchEntries, 600),
      (ConfigurationKey.batchWatermark, 300), (ConfigurationKey.batchPinEnable, 1),
      (ConfigurationKey.batchEnable, 1),
    ])
    _ = receive(&board, until: seconds(1))
    while board.now < seconds(2_000) {
      if board.wait(in: .suspended, until: seconds(2_000)).reason == .batchPin {
        board.send { $0.appendRetrieveBatch(sendsStatusFirst: true) }
        _ = receive(&board, until: board.now + .seconds(10))
      }
    }
    board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
    _ = receive(&board, until: seconds(2_010))
    _ = board.wait(in: .suspended, until: seconds(3_599))
    return (board.ledger, board.removeEvents(), board.now)
  }

  @Test("the ledger follows completely from the events and the end")
  func recomputed() {
    let (ledger, events, end) = hour()
    let other = energy(events, until: end)
    #expect(abs(ledger.receiver_mJ - other.receiver) < 1e-6)
    #expect(abs(ledger.board_mJ - other.board) < 1e-6)
    #expect(abs(ledger.time(of: .awake).seconds - other.awake) < 1e-9)
    #expect(ledger.hostWakes == other.wakes)
    var again = EnergyLedger()
    for item in events { again.add(item.event, at: item.time) }
    #expect(again.closed(at: end) == ledger)
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(ledger.end == end)
  }

  @Test("the times of all states add up, and the energy is the sum of power × time")
  func sums() {
    let (ledger, _, end) = hour()
    var receiver = (time: Interval.zero, mJ: 0.0)
    for state in ReceiverPowerState.allCases {
      receiver.time = receiver.time + ledger.time(of: state)
      receiver.mJ += ReceiverPower().mW(in: state) * ledger.time(of: state).seconds
    }
    #expect(receiver.time == end - .boot)
    #expect(abs(receiver.mJ - ledger.receiver_mJ) < 1e-6)
    var board = (time: Interval.zero, mJ: 0.0)
    for state in [BoardState.awake, .idle, .suspended, .off] {
      board.time = board.time + ledger.time(of: state)
      board.mJ += SimulatedBoardParameters().mW(in: state) * ledger.time(of: state).seconds
    }
    #expect(board.time == end - .boot)
    #expect(abs(board.mJ - ledger.board_mJ) < 1e-6)
    #expect(ledger.time(of: .batching) > .seconds(1_500))
    #expect(ledger.time(of: .standby) > .seconds(1_500))
    #expect(ledger.time(of: .acquiring) > .seconds(100))
    #expect(ledger.time(of: .suspended) > .seconds(1_500))
  }

  @Test("the first events are the states at the start")
  func initial() {
    var board = SimulatedBoard(m10(), track: straight())
    #expect(
      board.removeEvents() == [
        TimedBoardEvent(time: .boot, event: .receiver(.acquiring, mW: 36)),
        TimedBoardEvent(time: .boot, event: .board(.awake, mW: 600)),
      ])
    #expect(board.removeEvents().isEmpty)
  }

  @Test("a receiver that is never switched off acquires and then tracks")
  func alwaysOn() {
    var board = SimulatedBoard(m10(), track: straight())
    _ = board.wait(in: .suspended, until: seconds(99.7))
    #expect(board.now == seconds(100.3))
    // The first fix is reported 0.25 s after its time: until then the receiver is acquiring.
    #expect(abs(board.ledger.receiver_mJ - (10.25 * 36 + 90.05 * 30)) < 1e-6)
    var short = SimulatedBoard(m10(), track: straight())
    _ = short.wait(in: .idle, until: seconds(4), wakesOnInput: false)
    #expect(abs(short.ledger.receiver_mJ - 4 * 36) < 1e-9)
  }
}

@Suite("Faults") struct FaultTests {
  private func board(_ change: (inout FaultPlan) -> Void) -> SimulatedBoard {
    var board = SimulatedBoard(m10 { change(&$0.faults) }, track: straight())
    _ = receive(&board, until: seconds(0.5))
    return board
  }

  @Test("a lost acknowledgement: the command is executed nevertheless")
  func acknowledgement() {
    var board = board { $0.firstAcknowledgementsLost = 1 }
    board.configureUBX()
    let first = receive(&board, until: seconds(1.5))
    #expect(first.acknowledged.isEmpty && first.solutions.count == 1)
    board.configureUBX()
    #expect(receive(&board, until: seconds(1.9)).acknowledged == [.cfgVALSET])
  }

  @Test("random losses match their probability and are reproducible by the seed")
  func chance() {
    func acknowledged(_ change: (inout FaultPlan) -> Void) -> Int {
      var board = board(change)
      var count = 0
      for _ in 0..<200 {
        board.configureUBX()
        count += receive(&board, until: board.now + .milliseconds(100)).acknowledged.count
      }
      return count
    }
    let count = acknowledged { $0.acknowledgementLoss = 0.3 }
    #expect((115...165).contains(count))
    #expect(count == acknowledged { $0.acknowledgementLoss = 0.3 })
    #expect((115...165).contains(acknowledged { $0.commandLoss = 0.3 }))
    #expect(acknowledged { $0.commandLoss = 1 } == 0)
  }

  @Test("a lost configuration: factory settings, an empty backup layer and a warm fix")
  func configuration() {
    var board = board { $0.configurationLosses = [seconds(60.2)] }
    board.configureUBX(layers: UBXLayers.ram.union(.batteryBacked))
    #expect(receive(&board, until: seconds(60.1)).solutions.count == 60)
    let received = receive(&board, until: seconds(80.5))
    #expect(received.solutions.isEmpty)
    #expect(received.messages.contains { if case .rmc = $0 { true } else { false } })
    let last = board.removeEvents().last { if case .receiver = $0.event { true } else { false } }
    #expect(last?.time == seconds(62.45))
  }

  @Test("without signal there is no fix; the receiver acquires again afterwards")
  func noSignal() {
    var setup = streaming()
    setup.faults.signalOutages = [seconds(30)..<seconds(50)]
    var board = SimulatedBoard(setup, track: straight())
    let received = receive(&board, until: seconds(60.5))
    let withoutFix = received.solutions.filter { $0.fixType == 0 }.compactMap(\.utc)
    #expect(withoutFix.first == Scenario.start + .seconds(30))
    #expect(withoutFix.last == Scenario.start + .seconds(54))
    #expect(board.ledger.time(of: .acquiring) == .milliseconds(5_250 + 25_000))
  }

  @Test("garbage on the line is not sent by the receiver; later frames are complete")
  func garbage() {
    var setup = streaming()
    setup.recordsBytes = true
    setup.faults.garbage = [
      FaultPlan.Garbage(time: seconds(9.5), count: 1_500),
      FaultPlan.Garbage(time: seconds(10.01), count: 7),
    ]
    var board = SimulatedBoard(setup, track: straight())
    let received = receive(&board, until: seconds(20.5))
    #expect(received.bytes.count == 20 * 100 + 1_507)
    #expect(board.removeSentBytes().count == 20 * 100)
    #expect(received.solutions.count >= 19)
  }

  @Test("an absent receiver ends the wait, line calls fail, and it later starts again")
  func absent() throws {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(30.5)]
    var board = SimulatedBoard(setup, track: straight())
    _ = receive(&board, until: seconds(20.4))
    let report = board.wait(in: .idle, until: seconds(25))
    #expect(report.reason == .bytes && board.now == seconds(20.5))
    #expect(throws: LineFault.gone) { _ = try board.read() }
    #expect(throws: LineFault.gone) { try board.setSpeed(9_600) }
    #expect(throws: LineFault.gone) { try board.write([1].span) }
    #expect(board.wait(in: .idle, until: seconds(31)).reason == .alarm)
    #expect(board.receiverPowerState == .acquiring)
    let received = receive(&board, until: seconds(40.5))
    #expect(received.solutions.first?.utc == Scenario.start + .seconds(31))
    #expect(board.ledger.time(of: .backup) == .seconds(10))
    #expect(board.violations.isEmpty)
  }

  @Test("unread bytes are lost when the receiver disappears and end no later wait")
  func absentUnread() {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(30.5)]
    var board = SimulatedBoard(setup, track: straight())
    _ = receive(&board, until: seconds(15.5))
    // Five epochs are buffered, then the receiver disappears and they are lost.
    _ = board.wait(in: .idle, until: seconds(20.4), wakesOnInput: false)
    #expect(board.wait(in: .idle, until: seconds(25)).reason == .bytes)
    _ = board.wait(in: .idle, until: seconds(25), wakesOnInput: false)
    #expect(throws: LineFault.gone) { _ = try board.read() }
    let report = board.wait(in: .idle, until: seconds(28))
    #expect(report.reason == .alarm && board.now == seconds(28))
  }

  @Test("after an unnoticed absence the first line call fails and the next one succeeds")
  func absentUnnoticed() throws {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(21.5)]
    var board = SimulatedBoard(setup, track: straight())
    _ = receive(&board, until: seconds(20.4))
    _ = board.wait(in: .idle, until: seconds(22), wakesOnInput: false)
    #expect(board.wait(in: .idle, until: seconds(25)).reason == .bytes)
    #expect(throws: LineFault.gone) { _ = try board.read() }
    _ = try board.read()
    #expect(board.wait(in: .idle, until: seconds(22.01)).reason == .alarm)
  }

  @Test("an absent device produces no garbage")
  func absentGarbage() {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(30.5)]
    setup.faults.garbage = [FaultPlan.Garbage(time: seconds(25), count: 10)]
    var board = SimulatedBoard(setup, track: straight())
    _ = receive(&board, until: seconds(20.4))
    _ = board.wait(in: .idle, until: seconds(25))
    #expect(throws: LineFault.gone) { _ = try board.read() }
    let report = board.wait(in: .idle, until: seconds(28))
    #expect(report.reason == .alarm && board.now == seconds(28))
  }
}

@Suite("Stuck supply switch") struct StuckSwitchTests {
  @Test("PWR-4: a stuck switch fails and keeps its level, on or off, for its time")
  func stuck() throws {
    var board = SimulatedBoard(
      m10 {
        $0.receiver.hasSupplySwitch = true
        $0.faults.supplySwitchStuck = [seconds(0)..<seconds(2), seconds(5)..<seconds(6)]
      }, track: straight())
    let on = PinCommand(.receiverSupply, .active)
    let off = PinCommand(.receiverSupply, .inactive)
    #expect(throws: PinFault.lineLost) { try board.set(on) }
    #expect(board.receiverPowerState == .backup)
    _ = receive(&board, until: seconds(2))
    try board.set(on)
    _ = receive(&board, until: seconds(5))
    #expect(throws: PinFault.lineLost) { try board.set(off) }
    try board.set(PinCommand(.receiverWake, .active))
    try board.set(PinCommand(.receiverWake, .inactive))
    #expect(board.receiverPowerState == .acquiring)
    _ = receive(&board, until: seconds(6))
    try board.set(off)
    #expect(board.receiverPowerState == .backup)
    #expect(board.violations.isEmpty)
  }
}

@Suite("Replay of a recording") struct RecordingTests {
  private let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }

  private func play(_ chunks: [(Double, Range<Int>)], speed: UInt32 = 9_600) -> SimulatedBoard {
    SimulatedBoard(
      streaming { $0.receiver.defaultSpeed = speed },
      replaying: Recording(
        bytes: bytes, chunks: chunks.map { Recording.Chunk(time: seconds($0.0), range: $0.1) }))
  }

  @Test("each piece starts at its time, at the line's speed; all bytes arrive in order")
  func pieces() {
    var board = play([(1, 0..<96), (5, 96..<300)])
    var times: [Instant] = []
    var received: [UInt8] = []
    while board.now < seconds(10) {
      _ = board.wait(in: .idle, until: seconds(10))
      while let chunk = try? board.read(), chunk.count > 0 {
        for i in 0..<chunk.count { received.append(chunk[i]) }
        times.append(board.now)
      }
    }
    // A byte takes 1.04167 ms at 9,600 baud.
    #expect(times.count == 300)
    #expect(times[0] == seconds(1.001042) && times[95] == seconds(1.1))
    #expect(times[96] == seconds(5.001042) && times[299] == seconds(5.2125))
    #expect(received == bytes)
    #expect(board.receiverPowerState == .tracking)
    #expect(board.ledger.time(of: .tracking) == .seconds(10))
  }

  @Test("a piece that would overlap the next one is sent faster")
  func compressed() {
    var board = play([(1, 0..<200), (1.1, 200..<300)])
    _ = board.wait(in: .idle, until: seconds(1.1), wakesOnInput: false)
    var count = 0
    while let chunk = try? board.read(), chunk.count > 0 { count += chunk.count }
    #expect(count == 200)
    #expect(receive(&board, until: seconds(2)).bytes.count == 100)
  }

  @Test("a recording may have empty pieces and equal times, and ignores commands")
  func edges() {
    var board = play([(0, 0..<0), (0, 0..<10), (0, 10..<20), (0.001, 20..<30)])
    board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
    let received = receive(&board, until: seconds(5))
    #expect(received.bytes == Array(bytes[0..<30]))
    #expect(board.receiverPowerState == .tracking)
    #expect(board.wait(in: .idle, until: seconds(6)).reason == .alarm)
  }
}
