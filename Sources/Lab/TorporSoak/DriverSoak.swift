import BoardProfiles
import GNSSProtocols
import LocationHAL
import LocationSimulation
import LocationTypes
import ReceiverDrivers
import SimulatedHAL

/// Soak run of a receiver driver without an engine, on the simulated board: any event at any time.
///
/// An engine sends a driver few events in its short states, and some events never. Half of the runs also inject
/// false events: faults that did not happen, and messages that no receiver sent. These runs only require that the
/// driver continues and finds its receiver again; the others also require that it sends the board no invalid request.
final class DriverSoak {
  private let soakRun: SoakRun
  private var random: SimulationRandom
  private let injectsFalseEvents: Bool
  /// Numbers for the events of satellites in view; nil if they are not watched.
  private var sky: SimulationRandom?
  /// Whether all commands and their answers arrive.
  private let isLineReliable: Bool
  /// Number of messages with satellites in view.
  private var satelliteMessages = 0
  private let soakReceiver: ReceiverSetup
  private var board: SimulatedBoard
  private var driver: ReceiverDriver
  private var decoder = GNSSDecoder()
  private var assembler: EpochAssembler
  /// The receiver's navigation database, indexed as the driver stores it.
  private var storedAiding: [[UInt8]] = []
  private var storesAiding = false
  /// Whether a database entry was written to the receiver.
  private var hasSentAiding = false
  /// The database entry received last.
  private var aidingFrame: [UInt8] = []
  private var tally = SoakTotals()
  /// Whether the newest goal was reached or rejected.
  private var hasReachedGoal = false
  private var isDrained = false
  /// UTC of the newest epoch that the driver accepted.
  private var newest: UTCTime?

  /// Seconds during which faults occur.
  static let faultSeconds: Double = 2 * 3_600
  /// Seconds after the last fault within which a driver reaches its goal: back-off, restart, wake-up and a batch
  /// drained over a slow line; or a configuration of seven sentences where more than half of the commands or their
  /// acknowledgements are lost.
  static let recoverySeconds: Double = 800

  init(_ run: SoakRun, watchesSatellites: Bool = false) {
    soakRun = run
    sky = watchesSatellites ? SimulationRandom(seed: run.seed, stream: 29) : nil
    var random = SimulationRandom(seed: run.seed, stream: 11)
    injectsFalseEvents = random.next() % 2 == 0
    var profile = run.profile.varied(&random)
    // Half of the boards can store a u-blox receiver's navigation database while it is off.
    if random.next() % 2 == 0, profile.receiver?.supplyLine != nil {
      profile.receiver?.hasBackupSupply = false
    }
    var setup = profile.simulationSetup
    setup.seed = run.seed
    setup.receiver.hasSky = watchesSatellites
    setup.faults = FaultPlan(
      &random, until: DriverSoak.faultSeconds, &tally.faults, eventful: true)
    isLineReliable = setup.faults.acknowledgementLoss == 0 && setup.faults.commandLoss == 0
    let engine = profile.engineSetup
    guard var receiver = engine.receiver else { preconditionFailure("a profile with a receiver") }
    let hasBackupSupply = profile.receiver?.hasBackupSupply ?? false
    if receiver.family.isUBlox, receiver.hasSupplySwitch, !hasBackupSupply {
      // Sometimes the capacity is too small.
      storesAiding = true
      receiver.aiding = AidingSetup(capacity: random.next() % 4 == 0 ? 16 : 128)
    }
    var epochs = engine.epochs
    epochs.isSimulated = true
    assembler = EpochAssembler(epochs)
    soakReceiver = receiver
    driver = ReceiverDriver(receiver)
    board = SimulatedBoard(
      setup, track: Scenario.walk.track(seed: run.seed, duration: .seconds(3 * 3_600)))
    self.random = random
    tally.runs = 1
  }

  private func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  func run() -> SoakTotals {
    // An engine never sends events before the first goal.
    if injectsFalseEvents { for _ in 0..<6 { handle(randomEvent(excludingGoals: true)) } }
    if injectsFalseEvents, sky != nil { handle(.satellites(true)) }
    while board.now.seconds < DriverSoak.faultSeconds && tally.failure == nil && !soakRun.isTimeUp {
      // Short waits are frequent, because most of a driver's states last for milliseconds.
      let longest = [0.003, 0.03, 0.03, 0.3, 0.3, 3, 20][below(7)]
      advance(longest * random.uniform())
      watchSatellites()
      handle(randomEvent())
    }
    if injectsFalseEvents && storesAiding && !soakRun.isTimeUp { disturbAiding() }
    if !soakRun.isTimeUp { finish() }
    return tally
  }

  /// Often sends an event of satellites in view, so that the next event may occur before the answer to its command.
  private func watchSatellites() {
    guard var sky else { return }
    if sky.next() % 3 == 0 {
      handle(.satellites(sky.next() % 2 == 0))
      advance(0.05 * sky.uniform())
    }
    self.sky = sky
  }

  /// Sends each event while the driver restores assistance data; random events seldom occur in this short period.
  private func disturbAiding() {
    var events: [DriverEvent] = [
      .goal(.off), .drain, .message(.malformed), .deadline, .batchPin, .lineFault,
      .pinFault(.receiverWake), .pinFault(.receiverSupply),
    ]
    if sky != nil { events.append(.satellites(true)) }
    for event in events {
      handle(.goal(.tracking))
      advance(90)
      handle(.goal(.off))
      advance(15)
      handle(.goal(.tracking))
      hasSentAiding = false
      var turns = 400
      while !hasSentAiding, turns > 0, tally.failure == nil {
        advance(0.02)
        turns -= 1
      }
      tally.faults += 1
      handle(event)
    }
  }

  /// Checks that the driver reaches a goal and drains after the faults have ended.
  private func finish() {
    advance(1)
    hasReachedGoal = false
    handle(.goal(.tracking))
    waitForRecovery { hasReachedGoal }
    expect(hasReachedGoal, "DEF-43: the driver does not reach tracking")
    isDrained = false
    handle(.drain)
    waitForRecovery { isDrained }
    expect(isDrained, "a drain is not answered")
    if sky != nil, isLineReliable, !injectsFalseEvents { expectSatellites() }
  }

  /// Waits for a recovery; twice as long if the line loses commands or their answers. There several attempts in a row may
  /// fail, and the back-off between them is up to 240 s.
  private func waitForRecovery(_ isOver: () -> Bool) {
    advance(DriverSoak.recoverySeconds)
    if !isOver(), !isLineReliable { advance(DriverSoak.recoverySeconds) }
  }

  /// Checks that satellites in view come while they are watched, and no longer afterwards.
  private func expectSatellites() {
    handle(.satellites(true))
    let before = satelliteMessages
    advance(60)
    expect(satelliteMessages > before, "no satellites in view, although they are watched")
    handle(.satellites(false))
    advance(10)
    let after = satelliteMessages
    advance(60)
    expect(satelliteMessages == after || !switchesSatellites, "satellites in view are still sent")
  }

  /// Whether the receiver sends satellites in view only after a command. One whose flash is worn keeps its own list.
  private var switchesSatellites: Bool {
    guard !driver.flashRecord.isExhausted else { return false }
    let receiver = soakReceiver
    switch receiver.family.descriptor.satelliteOutput {
    case .fixed: return false
    case .switched, .requested: return !receiver.family.isUBlox || receiver.output == .ubx
    }
  }

  private func expect(_ holds: Bool, _ text: String) {
    if !holds { tally.fail(text, seed: soakRun.seed, at: board.now) }
  }

  // MARK: Events

  private func randomEvent(excludingGoals: Bool = false) -> DriverEvent {
    let first = excludingGoals ? 3 : 0
    let kind = first + below((injectsFalseEvents ? 12 : 8) - first)
    // From the pin of a batch on, the driver did not expect the event.
    if kind >= 6 { tally.faults += 1 }
    return switch kind {
    case 0, 1, 2: .goal(randomGoal())
    case 3, 4: .drain
    case 5: .deadline
    case 6: .batchPin
    case 7: .lineFault
    case 8: .pinFault(.receiverWake)
    case 9: .pinFault(.receiverSupply)
    default: .message(randomMessage())
    }
  }

  private func randomGoal() -> ReceiverMode {
    // Stored assistance data only matters after the receiver was off.
    if storesAiding, below(2) == 0 { return below(2) == 0 ? .off : .tracking }
    return switch below(7) {
    case 0: .off
    case 1: .standby
    case 2, 3: .tracking
    case 4: .powersave
    default: .batching(watermark: UInt16(1 + below(200)))
    }
  }

  private func randomMessage() -> GNSSMessage {
    let identity: [UBXIdentity] = [.cfgVALSET, .logRETRIEVEBATCH, .rxmPMREQ]
    switch below(4) {
    case 0: return .acknowledged(identity[below(3)])
    case 1: return .refused(identity[below(3)])
    case 2:
      return .navPVT(UBXSolution(Fix(acquired: board.now, coordinate: Scenario.home)))
    default: return .malformed
    }
  }

  // MARK: Board and driver

  private func advance(_ seconds: Double) {
    let end = board.now + Interval(seconds: seconds)
    var turns = 1_000 + Int(seconds) * 200
    while board.now < end && tally.failure == nil {
      turns -= 1
      expect(turns > 0, "the driver's deadline never advances")
      let due = min(end, max(driver.status.deadline ?? .distantFuture, board.now))
      let waking = board.wait(in: .idle, until: due, wakesOnInput: true)
      // Wait until more input is buffered, as the engine does.
      let gathered = board.wait(
        in: .idle, until: min(due, board.now + .milliseconds(10)), wakesOnInput: false)
      if waking.batchPinRose || gathered.batchPinRose { handle(.batchPin) }
      read()
      if let deadline = driver.status.deadline, deadline <= board.now { handle(.deadline) }
      if !injectsFalseEvents, let violation = board.violations.first {
        expect(false, "a request to the board is invalid: \(violation)")
      }
    }
  }

  private func read() {
    do {
      while true {
        let chunk = try board.read()
        if chunk.count == 0 { return }
        var offset = 0
        while let message = decoder.next(chunk.span, &offset) { handleMessage(message) }
      }
    } catch {
      handle(.lineFault)
    }
  }

  private func handleMessage(_ message: GNSSMessage) {
    if case .aidingEntry(let entry) = message {
      let copy = decoder.frame(of: entry)
      let frame = copy.span
      aidingFrame = frame.indices.map { frame[$0] }
    }
    switch message {
    case .gsv, .navigation(.satellites): satelliteMessages += 1
    case _: break
    }
    handle(.message(message))
    if let epoch = assembler.add(message, at: board.now) { admit(epoch) }
    while let epoch = assembler.next() { admit(epoch) }
  }

  private func admit(_ epoch: Epoch) {
    switch driver.admit(epoch, at: board.now) {
    case .accept: accept(epoch)
    case .hold, .drop: break
    }
  }

  /// Checks that each epoch is accepted once and in order of time.
  private func accept(_ epoch: Epoch) {
    guard epoch.fix != nil, let utc = epoch.utc else { return }
    if !injectsFalseEvents, let newest {
      expect(utc > newest, "DEF-30: the epoch of \(utc) is duplicate or late")
    }
    newest = utc
    driver.setClock(bootUTC_us: utc.microseconds - board.now.microseconds)
  }

  /// Sends the driver an event and executes its effects; a fault of line or pin is sent back to it.
  private func handle(_ event: DriverEvent) {
    tally.driverEvents += 1
    var event = event
    // A driver never responds to a fault with an effect that can fail again.
    for _ in 0..<3 {
      let effects = driver.handle(event, at: board.now)
      tally.digest.add(effects)
      record(effects.observation)
      while let epoch = driver.nextReleasedEpoch() { accept(epoch) }
      guard let fault = execute(effects) else { return }
      event = fault
    }
    expect(false, "the driver's response to a fault fails again and again")
  }

  private func execute(_ effects: DriverEffects) -> DriverEvent? {
    if let command = effects.pin {
      do { try board.set(command) } catch { return .pinFault(command.pin) }
    }
    do {
      if let speed = effects.lineSpeed { try board.setSpeed(speed) }
      if driver.status.hasOutgoing { try board.write(driver.outgoing.span) }
      switch effects.aiding {
      case .none: break
      case .store(let index):
        storedAiding = storedAiding.prefix(Int(index)) + [aidingFrame]
      case .send(let index):
        hasSentAiding = true
        let entry = storedAiding[Int(index)]
        try board.write(entry.span)
      }
    } catch {
      return .lineFault
    }
    return nil
  }

  private func record(_ observation: DriverObservation) {
    switch observation {
    case .none, .recovered: break
    case .reached, .refused: hasReachedGoal = true
    case .drained: isDrained = true
    case .lost:
      hasReachedGoal = false
      isDrained = true
    }
  }
}
