import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Commands to an M10") struct CommandTests {
  /// A board with a running receiver.
  private func running(_ change: (inout SimulationSetup) -> Void = { _ in }) -> SimulatedBoard {
    var board = SimulatedBoard(m10(change), track: straight())
    _ = receive(&board, until: seconds(0.5))
    return board
  }

  @Test("the factory configuration is NMEA at 38,400 baud and 1 Hz")
  func factory() {
    var board = SimulatedBoard(m10(), track: straight())
    let received = receive(&board, until: seconds(3.5))
    #expect(received.solutions.isEmpty)
    let valid = received.messages.filter { if case .rmc = $0 { true } else { false } }
    #expect(valid.count == 3)
  }

  @Test("VALSET is acknowledged after the answer time and applies immediately")
  func valset() {
    var board = running()
    board.configureUBX()
    let sent = (4 + 2 * 5 + 8) * 10_000_000 / 38_400
    let report = board.wait(in: .idle, until: seconds(0.9))
    #expect(report.reason == .bytes)
    let answered = 500_000 + sent + 20_000 + 10_000_000 / 38_400
    #expect(abs(board.now.microseconds - Int64(answered)) <= 3)
    let received = receive(&board, until: seconds(12.5))
    #expect(received.acknowledged == [.cfgVALSET])
    #expect(received.solutions.count == 12)
    #expect(received.bytes.count == 10 + 12 * 100)
    #expect(board.violations.isEmpty)
  }

  @Test("VALSET with an unknown key is refused completely and is a violation")
  func refused() {
    var board = running()
    board.configure([(ConfigurationKey.navPVT, 1), (0x2091_FFFF, 1)])
    let received = receive(&board, until: seconds(2.5))
    #expect(received.refused == [.cfgVALSET] && received.acknowledged.isEmpty)
    #expect(received.solutions.isEmpty, "no item is applied")
    #expect(board.violations.map(\.kind) == [.rejectedByReceiver])
  }

  @Test("unsupported values, layers and messages are refused")
  func values() {
    let bad: [(UInt32, UInt64)] = [
      (ConfigurationKey.measurementPeriod, 24), (ConfigurationKey.navigationRatio, 0),
      (ConfigurationKey.lineSpeed, 12_345), (ConfigurationKey.powerMode, 3),
      (ConfigurationKey.sendsNMEA, 2),
    ]
    for item in bad {
      var board = running()
      board.configure([item])
      #expect(receive(&board, until: seconds(0.9)).refused == [.cfgVALSET])
    }
    for layers in [UBXLayers.flash, UBXLayers(rawValue: 0)] {
      var board = running()
      board.configure([(ConfigurationKey.navPVT, 1)], layers: layers)
      #expect(receive(&board, until: seconds(0.9)).refused == [.cfgVALSET])
    }
    var board = running()
    board.send { $0.appendPoll(UBXIdentity(0x06, 0x00)) }
    #expect(receive(&board, until: seconds(0.9)).refused == [UBXIdentity(0x06, 0x00)])
  }

  @Test("VALGET answers with the values of the layer, and an acknowledgement")
  func valget() {
    /// Value of the output rate of NAV-PVT in a layer; nil if the poll is refused.
    func polled(_ board: inout SimulatedBoard, _ layer: UBXPolledLayer) -> UInt64? {
      var poll = UBXConfigurationPoll(layer: layer)
      poll.append(ConfigurationKey.navPVT)
      board.send { $0.appendConfigurationPoll(poll) }
      let received = receive(&board, until: board.now + .milliseconds(100))
      for case .configurationValues(let values) in received.messages {
        #expect(received.acknowledged == [.cfgVALGET] && values.layer == layer.rawValue)
        return values[0].value
      }
      #expect(received.refused == [.cfgVALGET])
      return nil
    }
    var board = running()
    #expect(polled(&board, .ram) == 0 && polled(&board, .batteryBacked) == nil)
    board.configureUBX()
    _ = receive(&board, until: seconds(0.9))
    #expect(polled(&board, .ram) == 1 && polled(&board, .batteryBacked) == nil)
    board.configureUBX(layers: UBXLayers.ram.union(.batteryBacked))
    _ = receive(&board, until: seconds(1.3))
    #expect(polled(&board, .batteryBacked) == 1 && polled(&board, .defaults) == 0)
    #expect(polled(&board, .flash) == nil)
  }

  @Test("VALGET is refused for an unknown key, by an M8, and by the fault plan")
  func valgetRefused() {
    /// Messages refused by a receiver after a poll of `key`.
    func refused(_ key: UInt32, _ change: (inout SimulationSetup) -> Void = { _ in })
      -> [UBXIdentity]
    {
      var board = running(change)
      var poll = UBXConfigurationPoll(layer: .ram)
      poll.append(key)
      board.send { $0.appendConfigurationPoll(poll) }
      return receive(&board, until: seconds(0.9)).refused
    }
    let rate = ConfigurationKey.navPVT
    #expect(refused(rate).isEmpty)
    #expect(refused(0x2091_FFFF) == [.cfgVALGET])
    #expect(refused(rate) { $0.receiver.family = .ubloxM8 } == [.cfgVALGET])
    #expect(refused(rate) { $0.faults.rejectsConfigurationPoll = true } == [.cfgVALGET])
    let withoutPowerMode = FaultPlan.rejectingPowerMode
    #expect(refused(ConfigurationKey.powerMode) { $0.faults = withoutPowerMode } == [.cfgVALGET])
    #expect(refused(rate) { $0.faults = withoutPowerMode }.isEmpty)
  }

  @Test("MON-VER answers a poll")
  func version() {
    var board = running()
    board.send { $0.appendPoll(.monVER) }
    let received = receive(&board, until: seconds(0.9))
    let versions = received.messages.count { if case .receiverVersion = $0 { true } else { false } }
    #expect(versions == 1)
    #expect(received.messages.count == 1, "a poll is answered, not acknowledged")
  }

  @Test("a new rate: epochs lie on multiples of the new interval")
  func rate() {
    var board = running()
    board.configure([
      (ConfigurationKey.navPVT, 1), (ConfigurationKey.sendsNMEA, 0),
      (ConfigurationKey.measurementPeriod, 250),
    ])
    let times = receive(&board, until: seconds(20.01)).fixes.compactMap(\.utc)
    #expect(times.count == 39)
    #expect(times.allSatisfy { $0.microseconds % 250_000 == 0 })
  }

  @Test("a 5 Hz profile runs at 1 Hz before configuration and after losing it")
  func factoryRate() {
    var board = SimulatedBoard(
      m10 {
        $0.receiver.interval = .milliseconds(200)
        $0.faults.configurationLosses = [seconds(40.5)]
      }, track: straight())
    func epochs(_ received: ReceivedData) -> Int {
      received.messages.count { if case .rmc = $0 { true } else { false } }
    }
    #expect(epochs(receive(&board, until: seconds(20.5))) == 20)
    board.configure(
      [(ConfigurationKey.measurementPeriod, 200)], layers: UBXLayers.ram.union(.batteryBacked))
    _ = receive(&board, until: seconds(21.04))
    #expect(epochs(receive(&board, until: seconds(30.04))) == 45)
    _ = receive(&board, until: seconds(41.5))
    #expect(epochs(receive(&board, until: seconds(51.5))) == 10)
  }

  @Test("a new speed: the reply is sent at the new or the old speed", arguments: [false, true])
  func speed(_ old: Bool) throws {
    var board = running { $0.receiver.acknowledgesAtOldSpeed = old }
    board.configure([
      (ConfigurationKey.navPVT, 1), (ConfigurationKey.sendsNMEA, 0),
      (ConfigurationKey.lineSpeed, 115_200),
    ])
    if !old {
      _ = board.wait(in: .idle, until: board.now + .milliseconds(15), wakesOnInput: false)
      try board.setSpeed(115_200)
    }
    #expect(receive(&board, until: seconds(0.9)).acknowledged == [.cfgVALSET])
    if old { try board.setSpeed(115_200) }
    #expect(receive(&board, until: seconds(3.5)).solutions.count == 3)
  }

  @Test("at the wrong speed neither side receives valid messages")
  func wrongSpeed() throws {
    var board = running()
    try board.setSpeed(9_600)
    board.send { $0.appendPoll(.monVER) }
    let received = receive(&board, until: seconds(5.5))
    #expect(received.messages.isEmpty)
    #expect(!received.bytes.isEmpty)
    try board.setSpeed(38_400)
    board.send { $0.appendPoll(.monVER) }
    let later = receive(&board, until: seconds(6.5)).messages
    #expect(later.contains { if case .receiverVersion = $0 { true } else { false } })
  }

  @Test("a command may arrive in pieces; a damaged one is ignored")
  func pieces() throws {
    var frame = FrameBuffer()
    frame.appendPoll(.monVER)
    var board = running()
    try board.write(frame.span.extracting(0..<3))
    try board.write(frame.span.extracting(3..<8))
    #expect(receive(&board, until: seconds(0.9)).messages.count == 1)
    frame[7] ^= 1
    try board.write(frame.span)
    #expect(
      !receive(&board, until: seconds(1.9)).messages.contains {
        if case .receiverVersion = $0 { true } else { false }
      })
  }

  private static let standby = UBXPowerRequest(
    wakeupSources: UBXPowerRequest.wakesByEXTINT0 | UBXPowerRequest.wakesByUART)

  /// A board with a receiver that tracks with NAV-PVT set in `layers`, then enters standby.
  private func asleep(
    _ layers: UBXLayers, _ request: UBXPowerRequest = standby,
    _ change: (inout SimulationSetup) -> Void = { _ in }
  ) -> SimulatedBoard {
    var board = running(change)
    board.configureUBX(layers: layers)
    _ = receive(&board, until: seconds(40.5))
    board.send { $0.appendPowerRequest(request) }
    let received = receive(&board, until: seconds(50.5))
    #expect(received.solutions.isEmpty)
    #expect(board.receiverPowerState == .standby)
    return board
  }

  @Test("PWR-6: standby clears RAM; an edge wakes the receiver with factory settings")
  func standbyRAM() throws {
    var board = asleep(.ram)
    try board.set(PinCommand(.receiverWake, .active))
    #expect(board.receiverPowerState == .acquiring)
    let received = receive(&board, until: seconds(60))
    #expect(received.solutions.isEmpty)
    #expect(!received.messages.isEmpty)
    // 2 s for a warm start, 0.25 s start-up.
    #expect(board.receiverPowerState == .tracking)
    let events = board.removeEvents().compactMap { event -> Instant? in
      if case .receiver(.tracking, _) = event.event { event.time } else { nil }
    }
    #expect(events == [seconds(10.25), seconds(52.75)])
  }

  @Test("PWR-6: settings in the backup layer survive standby")
  func standbyBBR() throws {
    var board = asleep(UBXLayers.ram.union(.batteryBacked))
    try board.set(PinCommand(.receiverWake, .active))
    #expect(receive(&board, until: seconds(60)).fixes.count == 7)
  }

  @Test("a byte wakes the receiver and is lost; without this wake source it has no effect")
  func wakesByByte() {
    var board = asleep(.ram)
    board.send { $0.append(0xFF) }
    _ = receive(&board, until: seconds(50.6))
    #expect(board.receiverPowerState == .acquiring)
    var pinOnly = asleep(.ram, UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByEXTINT0))
    pinOnly.send { $0.append(0xFF) }
    _ = receive(&pinOnly, until: seconds(60))
    #expect(pinOnly.receiverPowerState == .standby)
    var bytesOnly = asleep(.ram, UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByUART))
    #expect(throws: Never.self) { try bytesOnly.set(PinCommand(.receiverWake, .active)) }
    #expect(bytesOnly.receiverPowerState == .standby)
  }

  @Test("a receiver that ignores unlimited standby accepts a limited one")
  func unlimitedStandby() {
    var board = running { $0.faults.ignoresUnlimitedStandby = true }
    board.send { $0.appendPowerRequest(Self.standby) }
    _ = receive(&board, until: seconds(5))
    #expect(board.receiverPowerState == .acquiring)
    board.send { $0.appendPowerRequest(UBXPowerRequest(duration_ms: 20_000, wakeupSources: 8)) }
    _ = receive(&board, until: seconds(10))
    #expect(board.receiverPowerState == .standby)
    #expect(board.violations.isEmpty)
  }

  @Test("the 8-byte standby request is executed and is a violation")
  func shortPowerRequest() {
    var board = running()
    let payload: [UInt8] = [0, 0, 0, 0, 2, 0, 0, 0]
    board.send { $0.appendUBX(.rxmPMREQ, payload: payload.span) }
    _ = receive(&board, until: seconds(5))
    #expect(board.receiverPowerState == .standby)
    #expect(board.violations.map(\.kind) == [.shortStandbyRequest])
  }

  @Test("limited standby ends by itself")
  func standbyTimed() {
    var board = asleep(.ram, UBXPowerRequest(duration_ms: 20_000, wakeupSources: 8))
    _ = receive(&board, until: seconds(60))
    #expect(board.receiverPowerState == .standby)
    _ = receive(&board, until: seconds(60.6))
    #expect(board.receiverPowerState == .acquiring)
  }

  @Test("a power request is acknowledged if the receiver supports it", arguments: [true, false])
  func acknowledged(_ acknowledges: Bool) {
    var board = running { $0.receiver.acknowledgesPowerRequest = acknowledges }
    board.send { $0.appendPowerRequest(Self.standby) }
    let received = receive(&board, until: seconds(5))
    #expect(received.acknowledged == (acknowledges ? [.rxmPMREQ] : []))
    #expect(board.receiverPowerState == .standby)
  }

  @Test("power-save mode is a separate power state")
  func powersave() {
    var board = running()
    board.configure([(ConfigurationKey.powerMode, 2)])
    _ = receive(&board, until: seconds(20))
    #expect(board.receiverPowerState == .powersave)
    #expect(board.ledger.time(of: .tracking) == .zero)
  }
}

@Suite("Supply") struct SupplyTests {
  private func switched(_ change: (inout SimulationSetup) -> Void = { _ in }) -> SimulatedBoard {
    SimulatedBoard(
      m10 {
        $0.receiver.hasSupplySwitch = true
        change(&$0)
      }, track: straight())
  }

  @Test("the receiver is off until it is switched on, and silent after a power-off")
  func switching() throws {
    var board = switched()
    #expect(board.receiverPowerState == .backup)
    #expect(receive(&board, until: seconds(5)).bytes.isEmpty)
    try board.set(PinCommand(.receiverSupply, .active))
    #expect(!receive(&board, until: seconds(8.06)).bytes.isEmpty)
    try board.set(PinCommand(.receiverSupply, .inactive))
    #expect(receive(&board, until: seconds(20)).bytes.isEmpty)
    #expect(board.violations.isEmpty)
    #expect(board.ledger.time(of: .backup) == Interval(seconds: 5 + 20 - 8.06))
  }

  @Test("with backup supply the next fix is warm, without it cold", arguments: [true, false])
  func backup(_ has: Bool) throws {
    var board = switched { $0.receiver.hasBackupSupply = has }
    try board.set(PinCommand(.receiverSupply, .active))
    _ = receive(&board, until: seconds(0.5))
    board.configureUBX(layers: UBXLayers.ram.union(.batteryBacked))
    _ = receive(&board, until: seconds(60))
    try board.set(PinCommand(.receiverSupply, .inactive))
    #expect(board.receiverPowerState == (has ? .backup : .off))
    _ = receive(&board, until: seconds(70))
    try board.set(PinCommand(.receiverSupply, .active))
    let received = receive(&board, until: seconds(90.5))
    #expect(received.solutions.isEmpty == !has)
    #expect(received.fixes.count == (has ? 18 : 0))
    let last = board.removeEvents().last { if case .receiver = $0.event { true } else { false } }
    #expect(last?.time == (has ? seconds(72.25) : seconds(80.25)))
  }

  @Test("PWR-5: switching the supply off before standby is reached is a violation")
  func poweredOffEarly() throws {
    for (delay, isBad) in [(0, true), (10, true), (100, false)] {
      var board = switched()
      try board.set(PinCommand(.receiverSupply, .active))
      _ = receive(&board, until: seconds(1.5))
      board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
      _ = board.wait(
        in: .idle, until: board.now + .milliseconds(Int64(delay)), wakesOnInput: false)
      try board.set(PinCommand(.receiverSupply, .inactive))
      #expect(board.violations.map(\.kind) == (isBad ? [.poweredOffBeforeStandby] : []))
    }
  }

  @Test("writing to a receiver without supply or driving its pin is a violation")
  func unpowered() throws {
    var board = switched()
    board.send { $0.appendPoll(.monVER) }
    try board.set(PinCommand(.receiverWake, .active))
    try board.set(PinCommand(.receiverWake, .inactive))
    #expect(board.violations.map(\.kind) == [.wroteWithoutSupply, .drovePinWithoutSupply])
    var held = switched()
    try held.set(PinCommand(.receiverSupply, .active))
    try held.set(PinCommand(.receiverWake, .active))
    try held.set(PinCommand(.receiverSupply, .inactive))
    #expect(held.violations.map(\.kind) == [.drovePinWithoutSupply])
  }

  @Test("setting a pin that the board does not have fails")
  func notWired() {
    var board = SimulatedBoard(m10 { $0.receiver.hasWakePin = false }, track: straight())
    #expect(throws: PinFault.notWired) { try board.set(PinCommand(.receiverWake, .active)) }
    #expect(throws: PinFault.notWired) { try board.set(PinCommand(.receiverSupply, .active)) }
  }
}

extension FaultPlan {
  /// The receiver lacks the key of the power mode for 9 s.
  fileprivate static let rejectingPowerMode: FaultPlan = {
    var plan = FaultPlan()
    plan.powerModeRejected = [seconds(0)..<seconds(9)]
    return plan
  }()
}
