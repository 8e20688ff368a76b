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
final class DriverWorld {
  private let life: SoakRun
  private var random: SimulationRandom
  private let lies: Bool
  private var board: SimulatedBoard
  private var driver: ReceiverDriver
  private var decoder = GNSSDecoder()
  private var assembler: EpochAssembler
  /// The receiver's navigation database, indexed as the driver stores it.
  private var aiding: [[UInt8]] = []
  private var keepsAiding = false
  /// Whether an entry was written to the receiver.
  private var hasGiven = false
  /// The entry received last.
  private var aidingFrame: [UInt8] = []
  private var tally = Tally()
  /// Whether the newest goal was reached or rejected.
  private var isSettled = false
  private var isDrained = false
  /// UTC of the newest epoch that the driver accepted.
  private var newest: UTCTime?

  /// Seconds during which faults occur.
  static let trouble: Double = 2 * 3_600
  /// Seconds after the last fault within which a driver reaches its goal: back-off, restart, wake-up and a batch
  /// drained over a slow line; or a configuration of seven sentences where more than half of the commands or their
  /// acknowledgements are lost.
  static let recovery: Double = 800

  init(_ run: SoakRun) {
    life = run
    var random = SimulationRandom(seed: run.seed, stream: 11)
    lies = random.next() % 2 == 0
    var profile = run.profile.varied(&random)
    // Half of the boards can store a u-blox receiver's navigation database while it is off.
    if random.next() % 2 == 0, profile.receiver?.supplyLine != nil {
      profile.receiver?.hasBackupSupply = false
    }
    var setup = profile.simulationSetup
    setup.seed = run.seed
    setup.faults = FaultPlan(
      &random, until: DriverWorld.trouble, &tally.faults, eventful: true)
    let engine = profile.engineSetup
    guard var receiver = engine.receiver else { preconditionFailure("a profile with a receiver") }
    let keepsItself = profile.receiver?.hasBackupSupply ?? false
    if receiver.family.isUBlox, receiver.hasSupplySwitch, !keepsItself {
      // Sometimes the capacity is too small.
      keepsAiding = true
      receiver.aiding = AidingSetup(capacity: random.next() % 4 == 0 ? 16 : 128)
    }
    var epochs = engine.epochs
    epochs.isSimulated = true
    assembler = EpochAssembler(epochs)
    driver = ReceiverDriver(receiver)
    board = SimulatedBoard(
      setup, track: Scenario.walk.track(seed: run.seed, duration: .seconds(3 * 3_600)))
    self.random = random
    tally.runs = 1
  }

  private func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  func run() -> Tally {
    // An engine never sends events before the first goal.
    if lies { for _ in 0..<6 { handle(anyEvent(butGoals: true)) } }
    while board.now.seconds < DriverWorld.trouble && tally.failure == nil && !life.isOver {
      // Short waits are frequent, because most of a driver's states last for milliseconds.
      let longest = [0.003, 0.03, 0.03, 0.3, 0.3, 3, 20][below(7)]
      pass(longest * random.uniform())
      handle(anyEvent())
    }
    if lies && keepsAiding && !life.isOver { disturbAiding() }
    if !life.isOver { finish() }
    return tally
  }

  /// Sends each event while the driver restores assistance data, which is too short for random events.
  private func disturbAiding() {
    let events: [DriverEvent] = [
      .goal(.off), .drain, .message(.other), .deadline, .batchPin, .lineFault,
      .pinFault(.receiverWake), .pinFault(.receiverSupply),
    ]
    for event in events {
      handle(.goal(.tracking))
      pass(90)
      handle(.goal(.off))
      pass(15)
      handle(.goal(.tracking))
      hasGiven = false
      var turns = 400
      while !hasGiven, turns > 0, tally.failure == nil {
        pass(0.02)
        turns -= 1
      }
      tally.faults += 1
      handle(event)
    }
  }

  /// Checks that the driver reaches a goal and drains after the faults have ended.
  private func finish() {
    pass(1)
    isSettled = false
    handle(.goal(.tracking))
    pass(DriverWorld.recovery)
    expect(isSettled, "DEF-43: the driver does not reach tracking")
    isDrained = false
    handle(.drain)
    pass(DriverWorld.recovery)
    expect(isDrained, "a drain is not answered")
  }

  private func expect(_ isSo: Bool, _ text: String) {
    if isSo || tally.failure != nil { return }
    tally.failure = Tally.Failure(seed: life.seed, text: "\(text), at \(board.now.seconds) s")
  }

  // MARK: Events

  private func anyEvent(butGoals: Bool = false) -> DriverEvent {
    let first = butGoals ? 3 : 0
    switch first + below((lies ? 12 : 8) - first) {
    case 0, 1, 2: return .goal(anyGoal())
    case 3, 4: return .drain
    case 5: return .deadline
    case 6:
      tally.faults += 1
      return .batchPin
    case 7:
      tally.faults += 1
      return .lineFault
    case 8:
      tally.faults += 1
      return .pinFault(.receiverWake)
    case 9:
      tally.faults += 1
      return .pinFault(.receiverSupply)
    default:
      tally.faults += 1
      return .message(anyMessage())
    }
  }

  private func anyGoal() -> ReceiverGoal {
    // Stored assistance data only matters after the receiver was off.
    if keepsAiding, below(2) == 0 { return below(2) == 0 ? .off : .tracking }
    return switch below(7) {
    case 0: .off
    case 1: .standby
    case 2, 3: .tracking
    case 4: .powersave
    default: .batching(watermark: UInt16(1 + below(200)))
    }
  }

  private func anyMessage() -> GNSSMessage {
    let identity: [UBXIdentity] = [.cfgVALSET, .logRETRIEVEBATCH, .rxmPMREQ]
    switch below(4) {
    case 0: return .acknowledged(identity[below(3)])
    case 1: return .refused(identity[below(3)])
    case 2:
      return .navPVT(UBXSolution(Fix(acquired: board.now, coordinate: Scenario.home)))
    default: return .other
    }
  }

  // MARK: Board and driver

  private func pass(_ seconds: Double) {
    let end = board.now + Interval(seconds: seconds)
    var turns = 1_000 + Int(seconds) * 200
    while board.now < end && tally.failure == nil {
      turns -= 1
      expect(turns > 0, "the driver's deadline never advances")
      let due = min(end, max(driver.status.deadline ?? .distantFuture, board.now))
      let waking = board.wait(in: .idle, until: due, listening: true)
      // Wait until more input is buffered, as the engine does.
      let gathered = board.wait(
        in: .idle, until: min(due, board.now + .milliseconds(10)), listening: false)
      if waking.batchPinRose || gathered.batchPinRose { handle(.batchPin) }
      read()
      if let deadline = driver.status.deadline, deadline <= board.now { handle(.deadline) }
      if !lies, let violation = board.violations.first {
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
        while let message = decoder.next(chunk.span, &offset) { take(message) }
      }
    } catch {
      handle(.lineFault)
    }
  }

  private func take(_ message: GNSSMessage) {
    if case .aidingEntry(let entry) = message {
      let copy = decoder.frame(of: entry)
      let frame = copy.span
      aidingFrame = frame.indices.map { frame[$0] }
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
    if !lies, let newest {
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
      note(effects.observation)
      while let epoch = driver.nextHeld() { accept(epoch) }
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
      case .keep(let place):
        aiding = aiding.prefix(Int(place)) + [aidingFrame]
      case .give(let place):
        hasGiven = true
        let entry = aiding[Int(place)]
        try board.write(entry.span)
      }
    } catch {
      return .lineFault
    }
    return nil
  }

  private func note(_ observation: DriverObservation) {
    switch observation {
    case .none, .recovered: break
    case .settled, .refused: isSettled = true
    case .drained: isDrained = true
    case .lost:
      isSettled = false
      isDrained = true
    }
  }
}
