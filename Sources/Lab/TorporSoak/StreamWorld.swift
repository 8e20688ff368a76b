import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationSimulation
import LocationTypes
import ReceiverDrivers
import SimulatedHAL

/// Soak run of an engine without a board: NAV-PVT frames of a streaming receiver, garbage and faults, in virtual
/// time. Performs the work of `LocationLoop`.
final class StreamWorld {
  /// How the engine can control the receiver.
  private enum Supply {
    /// Not at all: it streams.
    case fixed
    /// Not at all, but the engine assumes that it has a standby mode.
    case deaf
    /// By its supply.
    case switched
  }

  private let life: SoakRun
  private let crowd: Crowd
  private let memory: EngineMemory
  private var engine: Engine
  private var plan: Effects
  private var now = Instant(microseconds: 10_000_000)
  private var frame = FrameBuffer()
  private let hasMotionLine: Bool
  private var wearer: Wearer
  private var wasMoving = false
  private var accuracy_mm: Int32 = 2_000
  private var utcError = Interval.zero
  /// Number of epochs without a fix still to come.
  private var darkEpochs = 0
  /// Position error of the next fix in metres, despite its good accuracy.
  private var stray = 0.0
  private let supply: Supply
  private var isSupplied = true
  private var isInhibited = false

  /// Length of a run in seconds.
  static let epochs = 24_000
  /// Maximum number of steps that one event may cause.
  static let longestChain = 2_000
  /// Maximum number of alarms per second.
  static let mostWakes = 20
  /// Error of a GPS week number of ten bits after a rollover.
  static let rollover = Interval.seconds(-1_024 * 7 * 86_400)

  init(_ run: SoakRun) {
    life = run
    let seed = run.seed
    var random = SimulationRandom(seed: seed, stream: 3)
    let count = 1 + Int(random.next() % 8)
    let limit = 8 + Int(random.next() % 120)
    crowd = Crowd(seed: seed, clients: count, isExact: true)
    wearer = Wearer(seed: seed)
    supply = [.fixed, .deaf, .switched][Int(random.next() % 3)]
    hasMotionLine = random.next() % 3 == 0
    var figures = PlannerFigures(
      fixInterval: .seconds(1), deferralLimit: limit,
      timeToFix: TimeToFixTable(cold: .seconds(30)))
    figures.idle = SleepFigures(
      state: .idle, resume: .milliseconds(2), alarmResolution: .milliseconds(1),
      minimum: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    figures.hasMotionLine = hasMotionLine
    figures.canStandby = supply == .deaf
    figures.canSwitchOff = supply == .switched
    let receiver = ReceiverSetup(family: .passive, hasSupplySwitch: supply == .switched)
    memory = EngineMemory(capacity: limit * (2 + Int(random.next() % 3)), clients: count)
    var setup = EngineSetup(receiver: receiver, figures: figures)
    setup.battery = BatteryAudit.terms
    engine = memory.engine(setup)
    isSupplied = supply != .switched
    plan = engine.step(.time, at: now)
  }

  /// Runs to the end and returns the totals.
  func run() -> Tally {
    perform(.time)
    for (client, request) in crowd.opening() { ask(request, of: client) }
    for second in 0..<StreamWorld.epochs where !crowd.hasFailed && !life.isOver {
      if second.isMultiple(of: 1_000) {
        for (client, request) in crowd.changeMood() { ask(request, of: client) }
      }
      if crowd.below(crowd.mood.patience) == 0 {
        for (client, request) in crowd.requests(near: wearer.place) { ask(request, of: client) }
      }
      if crowd.below(25) == 0 { somethingGoesWrong() }
      for (client, request) in crowd.due() { ask(request, of: client) }
      epoch()
    }
    if !life.isOver { finish() }
    return crowd.tally
  }

  private func finish() {
    crowd.isQuiet = true
    darkEpochs = 0
    utcError = .zero
    if isInhibited { inhibit(false) }
    battery(100)
    for (client, request) in crowd.closing() { ask(request, of: client) }
    for _ in 0..<30 where !crowd.hasFailed { epoch() }
    crowd.expectFinished(at: now)
    for (client, request) in crowd.revival() { ask(request, of: client) }
    let before = crowd.audits[0].batches
    for _ in 0..<150 where !crowd.hasFailed { epoch() }
    if crowd.audits[0].batches == before {
      crowd.fail("with satellites in view and a demand, no fix arrives", at: now)
    }
  }

  // MARK: The receiver

  /// One second with an epoch, with or without a fix.
  private func epoch() {
    run(until: now + .seconds(1))
    wearer.step()
    if crowd.below(150) == 0 { accuracy_mm = Int32(1_000 + crowd.below(30_000)) }
    if crowd.below(150) == 0 { accuracy_mm = 2_000 }
    if hasMotionLine, wearer.isMoving != wasMoving {
      wasMoving = wearer.isMoving
      perform(.motion(wasMoving ? .active : .inactive))
    }
    guard isSupplied else { return }
    makeFrame(isFix: darkEpochs == 0)
    if darkEpochs > 0 { darkEpochs -= 1 }
    perform(bytes: ByteChunk(frame.span))
  }

  private func makeFrame(isFix: Bool) {
    var fix = Fix(acquired: now, coordinate: wearer.seen(error: Double(accuracy_mm) / 4e3 + stray))
    stray = 0
    fix.utc = Scenario.start + (now - .boot) + utcError
    fix.altitude_mm = 40_000
    fix.ellipsoidalAltitude_mm = 80_000
    fix.horizontalAccuracy_mm = accuracy_mm
    fix.verticalAccuracy_mm = 4_000
    fix.speed_mmps = Int32(1e3 * wearer.pace)
    fix.course_e4 = 900_000
    fix.satellites = 12
    fix.quality = .autonomous
    var solution = UBXSolution(fix)
    if !isFix {
      solution.fixType = 0
      solution.isFixOK = false
    }
    frame.removeAll()
    frame.appendNavPVT(solution)
  }

  /// Applies a change of the supply; after power-on the receiver acquires first.
  private func obey(_ command: PinCommand) {
    guard command.pin == .receiverSupply else { return }
    let isOn = command.level == .active
    if isOn && !isSupplied {
      darkEpochs = max(darkEpochs, crowd.below(8) == 0 ? 60 : 1 + crowd.below(6))
    }
    isSupplied = isOn
  }

  // MARK: Faults

  private func somethingGoesWrong() {
    crowd.tally.faults += 1
    switch crowd.below(15) {
    case 0, 1: garbage()
    case 2: half()
    case 3: darkEpochs = 1 + crowd.below([20, 20, 20, 20, 20, 20, 200, 600][crowd.below(8)])
    case 4: perform(.lineFault)
    case 5: perform(.batchPin)
    case 6: inhibit(!isInhibited)
    case 7: stepClock()
    // An early alarm.
    case 8: perform(.time)
    // The receiver is disconnected: the line fails and stays silent.
    case 9:
      perform(.lineFault)
      run(until: now + .seconds(Int64(1 + crowd.below(120))))
    case 10:
      if hasMotionLine { perform(.motion(crowd.below(2) == 0 ? .active : .inactive)) }
    case 11, 12: stray = Double(10 + crowd.below(60))
    case 13: battery(crowd.below(3) == 0 ? UInt8(crowd.below(101)) : 100)
    default: perform(.pinFault(crowd.below(2) == 0 ? .receiverSupply : .receiverWake))
    }
  }

  private func stepClock() {
    switch crowd.below(8) {
    case 0...3: utcError = .zero
    case 4: utcError = StreamWorld.rollover
    default: utcError = .seconds(Int64(crowd.below(100)))
    }
  }

  private func garbage() {
    var chunk = ByteChunk()
    for _ in 0...crowd.below(ByteChunk.capacity - 1) { chunk.append(UInt8(crowd.below(256))) }
    perform(bytes: chunk)
  }

  /// Sends a truncated frame.
  private func half() {
    makeFrame(isFix: true)
    var chunk = ByteChunk()
    for index in 0..<(1 + crowd.below(frame.count - 1)) { chunk.append(frame[index]) }
    perform(bytes: chunk)
  }

  private func battery(_ charge: UInt8) {
    crowd.hear(charge, head: engine.head, at: now)
    perform(.battery(charge))
  }

  private func inhibit(_ isOn: Bool) {
    isInhibited = isOn
    perform(.sleepInhibitor(isOn))
  }

  // MARK: Time and steps

  private func run(until end: Instant) {
    var wakes = 0
    let begin = now
    while plan.wake <= end && !crowd.hasFailed {
      now = max(now, plan.wake)
      perform(.time)
      wakes += 1
      if wakes > StreamWorld.mostWakes * Int((end - begin).seconds) {
        crowd.fail("PWR-1: \(wakes) alarms since \(begin.seconds) s", at: now)
      }
    }
    now = end
  }

  private func ask(_ request: Request, of client: ClientID) {
    crowd.ask(request, of: client, head: engine.head, at: now)
    perform(.request(client, request))
  }

  private func perform(_ event: Event) { follow(step(event)) }

  private func perform(bytes: ByteChunk) {
    follow(watch { engine.step(bytes: bytes.span, at: now) })
  }

  /// Runs all steps that follow from a first one.
  private func follow(_ first: Effects) {
    var effects = first
    var chain = 0
    while !crowd.hasFailed {
      if effects.proceeds {
        effects = step(.proceed)
        chain += 1
        if chain > StreamWorld.longestChain { crowd.fail("an event causes endless steps", at: now) }
      } else if let (client, request) = crowd.nextRequest() {
        crowd.ask(request, of: client, head: engine.head, at: now)
        effects = step(.request(client, request))
        chain = 0
      } else {
        break
      }
    }
    plan = effects
    if plan.wake <= now { crowd.fail("the wake time is not in the future", at: now) }
  }

  private func step(_ event: Event) -> Effects { watch { engine.step(event, at: now) } }

  private func watch(_ step: () -> Effects) -> Effects {
    crowd.tally.steps += 1
    let before = engine.head
    let effects = step()
    crowd.tally.digest.add(effects)
    if let command = effects.pin { obey(command) }
    if engine.head - before != (effects.appended == nil ? 0 : 1) {
      crowd.fail("a step appends more than one fix, or does not report it", at: now)
    }
    if let name = effects.appended { crowd.appended(name.sequence, in: engine) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      crowd.receive(notice, from: engine, at: now)
    }
    return effects
  }
}
