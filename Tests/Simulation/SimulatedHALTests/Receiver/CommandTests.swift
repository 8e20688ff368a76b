import GNSSProtocols
import LocationHAL
import LocationTypes
import Testing

@testable import SimulatedHAL

@Suite("Commands to an M10") struct CommandTests {
  /// A board whose receiver runs.
  private func running(_ change: (inout SimulationSetup) -> Void = { _ in }) -> SimulatedBoard {
    var board = SimulatedBoard(m10(change), track: straight())
    _ = listen(&board, until: seconds(0.5))
    return board
  }

  @Test("the factory's configuration: NMEA at 38,400 baud, each second")
  func factory() {
    var board = SimulatedBoard(m10(), track: straight())
    let heard = listen(&board, until: seconds(3.5))
    #expect(heard.solutions.isEmpty)
    let valid = heard.messages.filter { if case .rmc = $0 { true } else { false } }
    #expect(valid.count == 3)
  }

  @Test("VALSET is acknowledged after the answer time and counts at once")
  func valset() {
    var board = running()
    board.configureUBX()
    let sent = (4 + 2 * 5 + 8) * 10_000_000 / 38_400
    let waiting = board.wait(in: .idle, until: seconds(0.9))
    #expect(waiting.reason == .bytes)
    let answered = 500_000 + sent + 20_000 + 10_000_000 / 38_400
    #expect(abs(board.now.microseconds - Int64(answered)) <= 3)
    let heard = listen(&board, until: seconds(12.5))
    #expect(heard.acknowledged == [.cfgVALSET])
    #expect(heard.solutions.count == 12)
    #expect(heard.bytes.count == 10 + 12 * 100)
    #expect(board.violations.isEmpty)
  }

  @Test("a key the receiver does not have is refused whole, and told")
  func refused() {
    var board = running()
    board.configure([(ConfigurationKey.navPVT, 1), (0x2091_FFFF, 1)])
    let heard = listen(&board, until: seconds(2.5))
    #expect(heard.refused == [.cfgVALSET] && heard.acknowledged.isEmpty)
    #expect(heard.solutions.isEmpty, "nothing of it counts")
    #expect(board.violations.map(\.kind) == [.rejectedByReceiver])
  }

  @Test("values, layers and messages it does not take are refused")
  func values() {
    let bad: [(UInt32, UInt64)] = [
      (ConfigurationKey.measurementPeriod, 24), (ConfigurationKey.navigationRatio, 0),
      (ConfigurationKey.lineSpeed, 12_345), (ConfigurationKey.powerMode, 3),
      (ConfigurationKey.sendsNMEA, 2),
    ]
    for item in bad {
      var board = running()
      board.configure([item])
      #expect(listen(&board, until: seconds(0.9)).refused == [.cfgVALSET])
    }
    for layers in [UBXLayers.flash, UBXLayers(rawValue: 0)] {
      var board = running()
      board.configure([(ConfigurationKey.navPVT, 1)], layers: layers)
      #expect(listen(&board, until: seconds(0.9)).refused == [.cfgVALSET])
    }
    var board = running()
    board.send { $0.appendPoll(UBXIdentity(0x06, 0x00)) }
    #expect(listen(&board, until: seconds(0.9)).refused == [UBXIdentity(0x06, 0x00)])
  }

  @Test("MON-VER answers a poll")
  func version() {
    var board = running()
    board.send { $0.appendPoll(.monVER) }
    let heard = listen(&board, until: seconds(0.9))
    let versions = heard.messages.filter { if case .receiverVersion = $0 { true } else { false } }
    #expect(versions.count == 1)
    #expect(heard.messages.count == 1, "a poll is answered, not acknowledged")
  }

  @Test("the rate: epochs lie on multiples of the new interval")
  func rate() {
    var board = running()
    board.configure([
      (ConfigurationKey.navPVT, 1), (ConfigurationKey.sendsNMEA, 0),
      (ConfigurationKey.measurementPeriod, 250),
    ])
    let times = listen(&board, until: seconds(20.01)).fixes.compactMap(\.utc)
    #expect(times.count == 39)
    #expect(times.allSatisfy { $0.microseconds % 250_000 == 0 })
  }

  @Test("a profile's 5 Hz comes at 1 Hz until configured, and again after a lost configuration")
  func factoryRate() {
    var board = SimulatedBoard(
      m10 {
        $0.receiver.interval = .milliseconds(200)
        $0.faults.configurationLosses = [seconds(40.5)]
      }, track: straight())
    func epochs(_ heard: Heard) -> Int {
      heard.messages.count { if case .rmc = $0 { true } else { false } }
    }
    #expect(epochs(listen(&board, until: seconds(20.5))) == 20)
    board.configure(
      [(ConfigurationKey.measurementPeriod, 200)], layers: UBXLayers.ram.union(.batteryBacked))
    _ = listen(&board, until: seconds(21.04))
    #expect(epochs(listen(&board, until: seconds(30.04))) == 45)
    _ = listen(&board, until: seconds(41.5))
    #expect(epochs(listen(&board, until: seconds(51.5))) == 10)
  }

  @Test("a new speed: the answer comes at it, or at the old one", arguments: [false, true])
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
    #expect(listen(&board, until: seconds(0.9)).acknowledged == [.cfgVALSET])
    if old { try board.setSpeed(115_200) }
    #expect(listen(&board, until: seconds(3.5)).solutions.count == 3)
  }

  @Test("at the wrong speed neither hears the other")
  func deaf() throws {
    var board = running()
    try board.setSpeed(9_600)
    board.send { $0.appendPoll(.monVER) }
    let heard = listen(&board, until: seconds(5.5))
    #expect(heard.messages.isEmpty)
    #expect(!heard.bytes.isEmpty)
    try board.setSpeed(38_400)
    board.send { $0.appendPoll(.monVER) }
    let later = listen(&board, until: seconds(6.5)).messages
    #expect(later.contains { if case .receiverVersion = $0 { true } else { false } })
  }

  @Test("a command in pieces is one command; a broken one is none")
  func pieces() throws {
    var frame = FrameBuffer()
    frame.appendPoll(.monVER)
    var board = running()
    try board.write(frame.span.extracting(0..<3))
    try board.write(frame.span.extracting(3..<8))
    #expect(listen(&board, until: seconds(0.9)).messages.count == 1)
    frame[7] ^= 1
    try board.write(frame.span)
    #expect(
      !listen(&board, until: seconds(1.9)).messages.contains {
        if case .receiverVersion = $0 { true } else { false }
      })
  }

  private static let standby = UBXPowerRequest(
    wakeupSources: UBXPowerRequest.wakesByEXTINT0 | UBXPowerRequest.wakesByUART)

  /// A board whose receiver tracks with NAV-PVT in the layers given, then is sent to standby.
  private func asleep(
    _ layers: UBXLayers, _ request: UBXPowerRequest = standby,
    _ change: (inout SimulationSetup) -> Void = { _ in }
  ) -> SimulatedBoard {
    var board = running(change)
    board.configureUBX(layers: layers)
    _ = listen(&board, until: seconds(40.5))
    board.send { $0.appendPowerRequest(request) }
    let heard = listen(&board, until: seconds(50.5))
    #expect(heard.solutions.isEmpty)
    #expect(board.receiverPowerState == .standby)
    return board
  }

  @Test("PWR-6: standby loses RAM; an edge wakes, and the factory's configuration speaks")
  func standbyRAM() throws {
    var board = asleep(.ram)
    try board.set(PinCommand(.receiverWake, .active))
    #expect(board.receiverPowerState == .acquiring)
    let heard = listen(&board, until: seconds(60))
    #expect(heard.solutions.isEmpty)
    #expect(!heard.messages.isEmpty)
    // 2 s warm, 0.25 s of starting.
    #expect(board.receiverPowerState == .tracking)
    let events = board.removeEvents().compactMap { event -> Instant? in
      if case .receiver(.tracking, _) = event.event { event.time } else { nil }
    }
    #expect(events == [seconds(10.25), seconds(52.75)])
  }

  @Test("PWR-6: what is written to the backup layer too is there after standby")
  func standbyBBR() throws {
    var board = asleep(UBXLayers.ram.union(.batteryBacked))
    try board.set(PinCommand(.receiverWake, .active))
    #expect(listen(&board, until: seconds(60)).fixes.count == 7)
  }

  @Test("a byte wakes and is lost; without the source it does nothing")
  func wakesByByte() {
    var board = asleep(.ram)
    board.send { $0.append(0xFF) }
    _ = listen(&board, until: seconds(50.6))
    #expect(board.receiverPowerState == .acquiring)
    var deaf = asleep(.ram, UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByEXTINT0))
    deaf.send { $0.append(0xFF) }
    _ = listen(&deaf, until: seconds(60))
    #expect(deaf.receiverPowerState == .standby)
    var blind = asleep(.ram, UBXPowerRequest(wakeupSources: UBXPowerRequest.wakesByUART))
    #expect(throws: Never.self) { try blind.set(PinCommand(.receiverWake, .active)) }
    #expect(blind.receiverPowerState == .standby)
  }

  @Test("a receiver that ignores endless standby goes on; for a time it obeys")
  func endlessStandby() {
    var board = running { $0.faults.ignoresUnlimitedStandby = true }
    board.send { $0.appendPowerRequest(Self.standby) }
    _ = listen(&board, until: seconds(5))
    #expect(board.receiverPowerState == .acquiring)
    board.send { $0.appendPowerRequest(UBXPowerRequest(duration_ms: 20_000, wakeupSources: 8)) }
    _ = listen(&board, until: seconds(10))
    #expect(board.receiverPowerState == .standby)
    #expect(board.violations.isEmpty)
  }

  @Test("the 8-byte request for standby is obeyed, and told")
  func shortPowerRequest() {
    var board = running()
    let payload: [UInt8] = [0, 0, 0, 0, 2, 0, 0, 0]
    board.send { $0.appendUBX(.rxmPMREQ, payload: payload.span) }
    _ = listen(&board, until: seconds(5))
    #expect(board.receiverPowerState == .standby)
    #expect(board.violations.map(\.kind) == [.shortStandbyRequest])
  }

  @Test("standby for a time ends by itself")
  func standbyTimed() {
    var board = asleep(.ram, UBXPowerRequest(duration_ms: 20_000, wakeupSources: 8))
    _ = listen(&board, until: seconds(60))
    #expect(board.receiverPowerState == .standby)
    _ = listen(&board, until: seconds(60.6))
    #expect(board.receiverPowerState == .acquiring)
  }

  @Test("a power request is acknowledged where the receiver does so", arguments: [true, false])
  func acknowledged(_ does: Bool) {
    var board = running { $0.receiver.acknowledgesPowerRequest = does }
    board.send { $0.appendPowerRequest(Self.standby) }
    let heard = listen(&board, until: seconds(5))
    #expect(heard.acknowledged == (does ? [.rxmPMREQ] : []))
    #expect(board.receiverPowerState == .standby)
  }

  @Test("power-save mode shows in the state")
  func powersave() {
    var board = running()
    board.configure([(ConfigurationKey.powerMode, 2)])
    _ = listen(&board, until: seconds(20))
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

  @Test("off until it is switched on; cut, it says nothing more")
  func switching() throws {
    var board = switched()
    #expect(board.receiverPowerState == .backup)
    #expect(listen(&board, until: seconds(5)).bytes.isEmpty)
    try board.set(PinCommand(.receiverSupply, .active))
    #expect(!listen(&board, until: seconds(8.06)).bytes.isEmpty)
    try board.set(PinCommand(.receiverSupply, .inactive))
    #expect(listen(&board, until: seconds(20)).bytes.isEmpty)
    #expect(board.violations.isEmpty)
    #expect(board.ledger.time(of: .backup) == Interval(seconds: 5 + 20 - 8.06))
  }

  @Test("with backup supply the next fix is warm, without it cold", arguments: [true, false])
  func backup(_ has: Bool) throws {
    var board = switched { $0.receiver.hasBackupSupply = has }
    try board.set(PinCommand(.receiverSupply, .active))
    _ = listen(&board, until: seconds(0.5))
    board.configureUBX(layers: UBXLayers.ram.union(.batteryBacked))
    _ = listen(&board, until: seconds(60))
    try board.set(PinCommand(.receiverSupply, .inactive))
    #expect(board.receiverPowerState == (has ? .backup : .off))
    _ = listen(&board, until: seconds(70))
    try board.set(PinCommand(.receiverSupply, .active))
    let heard = listen(&board, until: seconds(90.5))
    #expect(heard.solutions.isEmpty == !has)
    #expect(heard.fixes.count == (has ? 18 : 0))
    let last = board.removeEvents().last { if case .receiver = $0.event { true } else { false } }
    #expect(last?.time == (has ? seconds(72.25) : seconds(80.25)))
  }

  @Test("PWR-5: cutting the supply before standby is reached is a violation")
  func cutEarly() throws {
    for (delay, isBad) in [(0, true), (10, true), (100, false)] {
      var board = switched()
      try board.set(PinCommand(.receiverSupply, .active))
      _ = listen(&board, until: seconds(1.5))
      board.send { $0.appendPowerRequest(UBXPowerRequest(wakeupSources: 32)) }
      _ = board.wait(
        in: .idle, until: board.now + .milliseconds(Int64(delay)), wakesOnInput: false)
      try board.set(PinCommand(.receiverSupply, .inactive))
      #expect(board.violations.map(\.kind) == (isBad ? [.poweredOffBeforeStandby] : []))
    }
  }

  @Test("writing to or driving a receiver without supply is a violation")
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

  @Test("pins the board does not have say so")
  func notWired() {
    var board = SimulatedBoard(m10 { $0.receiver.hasWakePin = false }, track: straight())
    #expect(throws: PinFault.notWired) { try board.set(PinCommand(.receiverWake, .active)) }
    #expect(throws: PinFault.notWired) { try board.set(PinCommand(.receiverSupply, .active)) }
  }
}
