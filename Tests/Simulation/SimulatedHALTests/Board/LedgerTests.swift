import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("The energy ledger") struct LedgerTests {
  /// Energy by the events alone, worked out in another way than the ledger's.
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

  /// An hour with batching, suspends, a standby and a loss of the sky.
  private func hour() -> (EnergyLedger, [TimedBoardEvent], Instant) {
    var board = SimulatedBoard(
      m10 { $0.faults.signalOutages = [seconds(900)..<seconds(1_000)] }, track: straight())
    _ = listen(&board, until: seconds(0.5))
    board.configure([
      (ConfigurationKey.sendsNMEA, 0), (ConfigurationKey.batchEntries, 600),
      (ConfigurationKey.batchWatermark, 300), (ConfigurationKey.batchPinEnable, 1),
      (ConfigurationKey.batchEnable, 1),
    ])
    _ = listen(&board, until: seconds(1))
    while board.now < seconds(2_000) {
      if board.wait(in: .suspended, until: seconds(2_000)).reason == .batchPin {
        board.send { $0.appendRetrieveBatch(sendsStatusFirst: true) }
        _ = listen(&board, until: board.now + .seconds(10))
      }
    }
    board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
    _ = listen(&board, until: seconds(2_010))
    _ = board.wait(in: .suspended, until: seconds(3_599))
    return (board.ledger, board.removeEvents(), board.now)
  }

  @Test("everything in it follows from the events and the end")
  func recomputed() {
    let (ledger, events, end) = hour()
    let other = energy(events, until: end)
    #expect(abs(ledger.receiver_mJ - other.receiver) < 1e-6)
    #expect(abs(ledger.board_mJ - other.board) < 1e-6)
    #expect(abs(ledger.awakeTime.seconds - other.awake) < 1e-9)
    #expect(ledger.hostWakes == other.wakes)
    var again = EnergyLedger()
    for item in events { again.add(item.event, at: item.time) }
    #expect(again.closed(at: end) == ledger)
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(ledger.end == end)
  }

  @Test("times of all states add up, each energy is power × time")
  func sums() {
    let (ledger, _, end) = hour()
    var receiver = Interval.zero
    var energy = 0.0
    for state in ReceiverPowerState.allCases {
      receiver = receiver + ledger.time(of: state)
      energy += ledger.energy_mJ(of: state)
      let expected = ReceiverPower().mW(in: state) * ledger.time(of: state).seconds
      #expect(abs(ledger.energy_mJ(of: state) - expected) < 1e-9)
    }
    #expect(receiver == end - .boot)
    #expect(abs(energy - ledger.receiver_mJ) < 1e-6)
    var time = Interval.zero
    for state in [BoardState.awake, .idle, .suspended, .off] {
      time = time + ledger.time(of: state)
    }
    #expect(time == end - .boot)
    #expect(ledger.time(of: .batching) > .seconds(1_500))
    #expect(ledger.time(of: .standby) > .seconds(1_500))
    #expect(ledger.time(of: .acquiring) > .seconds(100))
    #expect(ledger.energy_mJ(of: .suspended) == ledger.time(of: .suspended).seconds * 20)
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

  @Test("baseline: a receiver that tracks throughout")
  func baselines() {
    var board = SimulatedBoard(m10(), track: straight())
    _ = board.wait(in: .suspended, until: seconds(99.7))
    #expect(board.now == seconds(100.3))
    // The first fix is told a quarter of a second after its moment: until then it searches.
    #expect(abs(board.ledger.receiverAlwaysOn_mJ - (10.25 * 36 + 90.05 * 30)) < 1e-6)
    #expect(abs(board.ledger.receiverAlwaysOn_mJ - board.ledger.receiver_mJ) < 1e-6)
    var short = SimulatedBoard(m10(), track: straight())
    _ = short.wait(in: .idle, until: seconds(4), wakesOnInput: false)
    #expect(abs(short.ledger.receiverAlwaysOn_mJ - 4 * 36) < 1e-9)
  }
}

@Suite("Faults") struct FaultTests {
  private func board(_ change: (inout FaultPlan) -> Void) -> SimulatedBoard {
    var board = SimulatedBoard(m10 { change(&$0.faults) }, track: straight())
    _ = listen(&board, until: seconds(0.5))
    return board
  }

  @Test("a lost acknowledgement: the command is carried out all the same")
  func acknowledgement() {
    var board = board { $0.firstAcknowledgementsLost = 1 }
    board.configureUBX()
    let first = listen(&board, until: seconds(1.5))
    #expect(first.acknowledged.isEmpty && first.solutions.count == 1)
    board.configureUBX()
    #expect(listen(&board, until: seconds(1.9)).acknowledged == [.cfgVALSET])
  }

  @Test("by chance: about as many are lost as said, the same ones for a seed")
  func chance() {
    func acknowledged(_ change: (inout FaultPlan) -> Void) -> Int {
      var board = board(change)
      var count = 0
      for _ in 0..<200 {
        board.configureUBX()
        count += listen(&board, until: board.now + .milliseconds(100)).acknowledged.count
      }
      return count
    }
    let kept = acknowledged { $0.acknowledgementLoss = 0.3 }
    #expect((115...165).contains(kept))
    #expect(kept == acknowledged { $0.acknowledgementLoss = 0.3 })
    #expect((115...165).contains(acknowledged { $0.commandLoss = 0.3 }))
    #expect(acknowledged { $0.commandLoss = 1 } == 0)
  }

  @Test("a lost configuration: the factory speaks again, the backup layer is gone, the fix is warm")
  func configuration() {
    var board = board { $0.configurationLosses = [seconds(60.2)] }
    board.configureUBX(layers: UBXLayers.ram.union(.batteryBacked))
    #expect(listen(&board, until: seconds(60.1)).solutions.count == 60)
    let heard = listen(&board, until: seconds(80.5))
    #expect(heard.solutions.isEmpty)
    #expect(heard.messages.contains { if case .rmc = $0 { true } else { false } })
    let last = board.removeEvents().last { if case .receiver = $0.event { true } else { false } }
    #expect(last?.time == seconds(62.45))
  }

  @Test("without sky there is no fix, and it is searched for again afterwards")
  func noSky() {
    var setup = streaming()
    setup.faults.signalOutages = [seconds(30)..<seconds(50)]
    var board = SimulatedBoard(setup, track: straight())
    let heard = listen(&board, until: seconds(60.5))
    let without = heard.solutions.filter { $0.fixType == 0 }.compactMap(\.utc)
    #expect(without.first == Scenario.start + .seconds(30))
    #expect(without.last == Scenario.start + .seconds(54))
    #expect(board.ledger.time(of: .acquiring) == .milliseconds(5_250 + 25_000))
  }

  @Test("garbage on the line is what the receiver did not send; frames after it are whole")
  func garbage() {
    var setup = streaming()
    setup.recordsBytes = true
    setup.faults.garbage = [
      FaultPlan.Garbage(time: seconds(9.5), count: 1_500),
      FaultPlan.Garbage(time: seconds(10.01), count: 7),
    ]
    var board = SimulatedBoard(setup, track: straight())
    let heard = listen(&board, until: seconds(20.5))
    #expect(heard.bytes.count == 20 * 100 + 1_507)
    #expect(board.removeSentBytes().count == 20 * 100)
    #expect(heard.solutions.count >= 19)
  }

  @Test("a receiver that is gone: the wait ends, line calls fail, later it starts anew")
  func gone() throws {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(30.5)]
    var board = SimulatedBoard(setup, track: straight())
    _ = listen(&board, until: seconds(20.4))
    let waking = board.wait(in: .idle, until: seconds(25))
    #expect(waking.reason == .bytes && board.now == seconds(20.5))
    #expect(throws: LineFault.gone) { _ = try board.read() }
    #expect(throws: LineFault.gone) { try board.setSpeed(9_600) }
    #expect(throws: LineFault.gone) { try board.write([1].span) }
    #expect(board.wait(in: .idle, until: seconds(31)).reason == .alarm)
    #expect(board.receiverPowerState == .acquiring)
    let heard = listen(&board, until: seconds(40.5))
    #expect(heard.solutions.first?.utc == Scenario.start + .seconds(31))
    #expect(board.ledger.time(of: .backup) == .seconds(10))
    #expect(board.violations.isEmpty)
  }

  @Test("what nobody had read goes with a receiver that is gone: no wait is cut short for it")
  func goneUnread() {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(30.5)]
    var board = SimulatedBoard(setup, track: straight())
    _ = listen(&board, until: seconds(15.5))
    // Five epochs gather, and then the receiver is gone with them.
    _ = board.wait(in: .idle, until: seconds(20.4), wakesOnInput: false)
    #expect(board.wait(in: .idle, until: seconds(25)).reason == .bytes)
    _ = board.wait(in: .idle, until: seconds(25), wakesOnInput: false)
    #expect(throws: LineFault.gone) { _ = try board.read() }
    let waking = board.wait(in: .idle, until: seconds(28))
    #expect(waking.reason == .alarm && board.now == seconds(28))
  }

  @Test("a receiver that went and came back unseen: the first line call fails, the next does not")
  func goneAndBack() throws {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(21.5)]
    var board = SimulatedBoard(setup, track: straight())
    _ = listen(&board, until: seconds(20.4))
    _ = board.wait(in: .idle, until: seconds(22), wakesOnInput: false)
    #expect(board.wait(in: .idle, until: seconds(25)).reason == .bytes)
    #expect(throws: LineFault.gone) { _ = try board.read() }
    _ = try board.read()
    #expect(board.wait(in: .idle, until: seconds(22.01)).reason == .alarm)
  }

  @Test("no garbage comes of a device that does not exist")
  func goneGarbage() {
    var setup = streaming()
    setup.faults.deviceAbsent = [seconds(20.5)..<seconds(30.5)]
    setup.faults.garbage = [FaultPlan.Garbage(time: seconds(25), count: 10)]
    var board = SimulatedBoard(setup, track: straight())
    _ = listen(&board, until: seconds(20.4))
    _ = board.wait(in: .idle, until: seconds(25))
    #expect(throws: LineFault.gone) { _ = try board.read() }
    let waking = board.wait(in: .idle, until: seconds(28))
    #expect(waking.reason == .alarm && board.now == seconds(28))
  }
}

@Suite("A supply switch that is stuck") struct StuckSwitchTests {
  @Test("PWR-4: it stays as it is and says so, on or off, for its time")
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
    _ = listen(&board, until: seconds(2))
    try board.set(on)
    _ = listen(&board, until: seconds(5))
    #expect(throws: PinFault.lineLost) { try board.set(off) }
    try board.set(PinCommand(.receiverWake, .active))
    try board.set(PinCommand(.receiverWake, .inactive))
    #expect(board.receiverPowerState == .acquiring)
    _ = listen(&board, until: seconds(6))
    try board.set(off)
    #expect(board.receiverPowerState == .backup)
    #expect(board.violations.isEmpty)
  }
}

@Suite("Playing a recording") struct RecordingTests {
  private let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0) }

  private func play(_ chunks: [(Double, Range<Int>)], speed: UInt32 = 9_600) -> SimulatedBoard {
    SimulatedBoard(
      streaming { $0.receiver.defaultSpeed = speed },
      replaying: Recording(
        bytes: bytes, chunks: chunks.map { Recording.Chunk(time: seconds($0.0), range: $0.1) }))
  }

  @Test("each piece begins at its time, at the line's speed; all bytes come, in order")
  func pieces() {
    var board = play([(1, 0..<96), (5, 96..<300)])
    var times: [Instant] = []
    var got: [UInt8] = []
    while board.now < seconds(10) {
      _ = board.wait(in: .idle, until: seconds(10))
      while let chunk = try? board.read(), chunk.count > 0 {
        for i in 0..<chunk.count { got.append(chunk[i]) }
        times.append(board.now)
      }
    }
    // A byte takes 1.04167 ms at 9,600 baud.
    #expect(times.count == 300)
    #expect(times[0] == seconds(1.001042) && times[95] == seconds(1.1))
    #expect(times[96] == seconds(5.001042) && times[299] == seconds(5.2125))
    #expect(got == bytes)
    #expect(board.receiverPowerState == .tracking)
    #expect(board.ledger.time(of: .tracking) == .seconds(10))
  }

  @Test("a piece that would run into the next one is sent faster")
  func compressed() {
    var board = play([(1, 0..<200), (1.1, 200..<300)])
    _ = board.wait(in: .idle, until: seconds(1.1), wakesOnInput: false)
    var count = 0
    while let chunk = try? board.read(), chunk.count > 0 { count += chunk.count }
    #expect(count == 200)
    #expect(listen(&board, until: seconds(2)).bytes.count == 100)
  }

  @Test("it begins at 0, takes empty pieces and equal times, and ignores commands")
  func edges() {
    var board = play([(0, 0..<0), (0, 0..<10), (0, 10..<20), (0.001, 20..<30)])
    board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
    let heard = listen(&board, until: seconds(5))
    #expect(heard.bytes == Array(bytes[0..<30]))
    #expect(board.receiverPowerState == .tracking)
    #expect(board.wait(in: .idle, until: seconds(6)).reason == .alarm)
  }
}
