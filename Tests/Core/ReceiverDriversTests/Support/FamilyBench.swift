import BoardHardware
import GNSSProtocols
import LocationHAL
import LocationTypes
import SimulatedHAL

@testable import ReceiverDrivers

/// Runs a driver of any family on the simulated board, byte by byte.
final class FamilyBench {
  /// A fault of an acknowledgement on its way to the driver.
  enum Tampering {
    case none
    /// The acknowledgement with this number, from 0, is lost.
    case drop(Int)
    /// The acknowledgement with this number becomes a rejection.
    case reject(Int)
    /// Every answer to these commands becomes a rejection.
    case rejectAll(UInt16)
    /// All aiding messages are lost.
    case dropAiding
    /// These entries of the navigation database are lost.
    case dropEntries(Set<Int>)
    /// Every answer to an entry becomes a rejection.
    case rejectEntries
  }

  private(set) var setup: ReceiverSetup
  private var driver: ReceiverDriver
  private var board: SimulatedBoard
  private var decoder = GNSSDecoder()
  private var assembler = EpochAssembler()
  var tampering = Tampering.none
  /// Number of NAV-SAT, or of last sentences of a group of GSV for GPS, received.
  private(set) var satelliteMessages = 0
  /// Number of acknowledgements received.
  private(set) var acknowledgements = 0
  private(set) var reported: [DriverObservation] = []
  /// Times at which fixes were accepted.
  private(set) var fixes: [Instant] = []
  /// The bytes of each write to the receiver.
  private(set) var written: [[UInt8]] = []
  /// The receiver's power states, in order.
  private(set) var powers: [ReceiverPowerState] = []
  private(set) var pins: [PinCommand] = []
  /// The stored navigation database, in the driver's slots.
  private(set) var stored: [[UInt8]] = []
  /// Number of database entries received.
  private var entries = 0
  private var entryFrame: [UInt8] = []
  /// Whether the driver receives the current time.
  var reportsTime = true

  init(
    _ setup: ReceiverSetup, faults: FaultPlan = FaultPlan(), backup: Bool = true,
    offBefore: Interval? = .seconds(5), hasSky: Bool = false,
    shortestStoredInterval: Interval = .zero
  ) {
    self.setup = setup
    driver = ReceiverDriver(setup)
    var simulation = SimulationSetup()
    simulation.receiver.family = setup.family
    simulation.receiver.output = .nmea
    simulation.receiver.defaultSpeed = setup.defaultLineSpeed
    simulation.receiver.hasSupplySwitch = setup.hasSupplySwitch
    simulation.receiver.hasWakePin = setup.hasWakePin
    simulation.receiver.hasBackupSupply = backup
    simulation.receiver.batchCapacity = setup.batch.map { _ in BatchCapacity() }
    simulation.receiver.hasBatchPin = setup.batch?.pioWired ?? false
    simulation.receiver.offBeforeStart = offBefore
    simulation.receiver.hasSky = hasSky
    simulation.receiver.shortestStoredInterval = shortestStoredInterval
    simulation.faults = faults
    board = SimulatedBoard(
      simulation, track: Scenario.walk.track(seed: 1, duration: .seconds(10_800)))
    decoder = GNSSDecoder()
  }

  var now: Instant { board.now }
  var violations: [String] { board.violations.map { "\($0.kind): \($0.text)" } }
  var counters: DriverCounters { driver.counters }
  var activity: ReceiverActivity { driver.status.activity }
  var power: ReceiverPowerState { board.receiverPowerState }
  var status: DriverStatus { driver.status }
  /// The written bytes, as text.
  var sentences: [String] { written.map { String(decoding: $0, as: UTF8.self) } }

  /// Replaces the driver by a new one, as a start of the service does. It gets the record of the receiver's flash, or with
  /// false nothing.
  func restartService(
    keepsFlashRecord: Bool = true, _ change: (inout ReceiverSetup) -> Void = { _ in }
  ) {
    setup.flash = keepsFlashRecord ? driver.flashRecord : FlashRecord()
    change(&setup)
    driver = ReceiverDriver(setup)
    decoder = GNSSDecoder()
    assembler = EpochAssembler()
    clearRecords()
  }

  func clearRecords() {
    reported = []
    fixes = []
    written = []
    pins = []
    satelliteMessages = 0
  }

  /// Passes an event to the driver and applies the effects; a fault is fed back.
  func handle(_ event: DriverEvent) {
    let effects = driver.handle(event, at: board.now)
    if effects.observation != .none { reported.append(effects.observation) }
    while driver.nextReleasedEpoch() != nil { fixes.append(board.now) }
    do {
      if let command = effects.pin {
        pins.append(command)
        try board.set(command)
      }
    } catch { return handle(.pinFault(.receiverSupply)) }
    do {
      if let speed = effects.lineSpeed { try board.setSpeed(speed) }
      if driver.status.hasOutgoing { try write(bytes(of: driver.outgoing)) }
      switch effects.aiding {
      case .none: break
      case .store(let slot): stored = stored.prefix(Int(slot)) + [entryFrame]
      case .send(let slot): try write(stored[Int(slot)])
      }
    } catch { handle(.lineFault) }
    if powers.last != power { powers.append(power) }
  }

  private func write(_ bytes: [UInt8]) throws {
    written.append(bytes)
    try board.write(bytes.span)
  }

  /// Lets time pass.
  func run(_ seconds: Double) {
    let end = board.now + Interval(seconds: seconds)
    while board.now < end {
      let due = min(end, max(driver.status.deadline ?? .distantFuture, board.now))
      let waking = board.wait(in: .awake, until: due, wakesOnInput: true)
      // Input is gathered briefly, as in the engine.
      let gathered = board.wait(
        in: .awake, until: min(due, board.now + .milliseconds(20)), wakesOnInput: false)
      if powers.last != power { powers.append(power) }
      if waking.batchPinRose || gathered.batchPinRose { handle(.batchPin) }
      read()
      if let deadline = driver.status.deadline, deadline <= board.now { handle(.deadline) }
    }
  }

  private func read() {
    do {
      while true {
        let chunk = try board.read()
        if chunk.count == 0 { return }
        var offset = 0
        while let message = decoder.next(chunk.span, &offset) {
          if case .aidingEntry(let entry) = message {
            let copy = decoder.frame(of: entry)
            entryFrame = copy.span.indices.map { copy.span[$0] }
          }
          take(message)
        }
      }
    } catch { handle(.lineFault) }
  }

  private func take(_ message: GNSSMessage) {
    guard let message = tampered(message) else { return }
    switch message {
    case .gsv(let m): if m.talker == .gps, m.number == m.sentences { satelliteMessages += 1 }
    case .navigation(.satellites): satelliteMessages += 1
    default: break
    }
    handle(.message(message))
    if let epoch = assembler.add(message, at: board.now) { admit(epoch) }
    while let epoch = assembler.next() { admit(epoch) }
  }

  private func admit(_ epoch: Epoch) {
    guard driver.admit(epoch, at: board.now) == .accept, epoch.fix != nil else { return }
    if reportsTime, let utc = epoch.utc {
      driver.setClock(bootUTC_us: utc.microseconds - board.now.microseconds)
    }
    fixes.append(board.now)
  }

  private func tampered(_ message: GNSSMessage) -> GNSSMessage? {
    let rejection: GNSSMessage
    var subject: UInt16?
    switch message {
    case .acknowledged(let identity): rejection = .refused(identity)
    // A CASIC receiver sends no rejections, an M10 cannot report that it is missing.
    case .commandResult(let result) where result.family == .casic: rejection = .malformed
    case .receiverVersion: rejection = .malformed
    case .commandResult(let result):
      rejection = .commandResult(
        CommandResult(family: result.family, command: result.command, outcome: .unsupported))
      subject = result.command
    case .aidingEntry:
      entries += 1
      switch tampering {
      case .dropAiding: return nil
      case .dropEntries(let numbers): return numbers.contains(entries - 1) ? nil : message
      case .none, .drop, .reject, .rejectAll, .rejectEntries: return message
      }
    case .aidingAnswer(let answer):
      if case .dropAiding = tampering { return nil }
      var refusal = answer
      (refusal.isAccepted, refusal.reason) = (false, 4)
      rejection = .aidingAnswer(refusal)
      if case .rejectEntries = tampering { return answer.subject == .mgaDBD ? rejection : message }
    default: return message
    }
    let number = acknowledgements
    acknowledgements += 1
    switch tampering {
    case .none: return message
    case .drop(let one): return one == number ? nil : message
    case .reject(let one): return one == number ? rejection : message
    case .rejectAll(let those): return subject == those ? rejection : message
    case .dropAiding, .dropEntries, .rejectEntries: return message
    }
  }

  /// Runs until the driver has reported the goal as reached or rejected; at most `limit` seconds.
  @discardableResult func reach(_ goal: ReceiverMode, _ limit: Double = 120) -> Bool {
    handle(.goal(goal))
    let end = board.now + Interval(seconds: limit)
    while reported.last != .reached(goal) && reported.last != .refused(goal) {
      if board.now >= end { return false }
      run(0.05)
    }
    return true
  }
}

/// The commandable families.
enum Families {
  static let all: [ReceiverFamily] = [.ubloxM8, .ubloxM10, .mtk, .airoha, .casic, .teseo]
  static let sentences: [ReceiverFamily] = [.mtk, .airoha, .casic, .teseo]

  static func setup(
    _ family: ReceiverFamily, lineSpeed: UInt32 = 9_600, wake: Bool = false, supply: Bool = false
  ) -> ReceiverSetup {
    ReceiverSetup(
      family: family, lineSpeed: lineSpeed, output: family.isUBlox ? .ubx : .nmea,
      hasWakePin: wake || family.has(.needsWakePin), hasSupplySwitch: supply)
  }
}
