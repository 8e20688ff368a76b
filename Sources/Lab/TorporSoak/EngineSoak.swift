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
final class EngineSoak {
  /// How the engine can control the receiver.
  private enum Supply {
    /// Not at all: it streams.
    case fixed
    /// Not at all, but the engine assumes that it has a standby mode.
    case assumedStandby
    /// By its supply.
    case switched
  }

  private let soakRun: SoakRun
  private let clients: RandomClients
  /// Numbers for the satellites in view; nil if they are never watched.
  private var sky: SimulationRandom?
  private let memory: EngineMemory
  private var engine: Engine
  private var plan: Effects
  private var now = Instant(microseconds: 10_000_000)
  private var frame = FrameBuffer()
  private let hasMotionLine: Bool
  private var device: MovingDevice
  private var wasMoving = false
  private var accuracy_mm: Int32 = 2_000
  private var utcError = Interval.zero
  /// Number of epochs without a fix still to come.
  private var epochsWithoutFix = 0
  /// Position error of the next fix in metres, despite its good accuracy.
  private var nextError_m = 0.0
  private let supply: Supply
  private var isSupplied = true
  private var isInhibited = false

  /// Length of a run in seconds.
  static let runSeconds = 24_000
  /// Maximum number of steps that one event may cause.
  static let maximumSteps = 2_000
  /// Maximum number of alarms per second.
  static let maximumWakesPerSecond = 20
  /// Error of a GPS week number of ten bits after a rollover.
  static let rollover = Interval.seconds(-1_024 * 7 * 86_400)

  init(_ run: SoakRun, watchesSatellites: Bool = false) {
    soakRun = run
    sky = watchesSatellites ? SimulationRandom(seed: run.seed, stream: 37) : nil
    let seed = run.seed
    var random = SimulationRandom(seed: seed, stream: 3)
    let count = 1 + Int(random.next() % 8)
    let limit = 8 + Int(random.next() % 120)
    clients = RandomClients(seed: seed, clients: count, isExact: true)
    device = MovingDevice(seed: seed)
    supply = [.fixed, .assumedStandby, .switched][Int(random.next() % 3)]
    hasMotionLine = random.next() % 3 == 0
    var figures = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: limit,
      timeToFix: TimeToFixTable(cold: .seconds(30)))
    figures.idle = SleepParameters(
      state: .idle, resumeTime: .milliseconds(2), alarmResolution: .milliseconds(1),
      minimumDuration: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    figures.hasMotionLine = hasMotionLine
    figures.canStandby = supply == .assumedStandby
    figures.canSwitchOff = supply == .switched
    let receiver = ReceiverSetup(family: .passive, hasSupplySwitch: supply == .switched)
    memory = EngineMemory(capacity: limit * (2 + Int(random.next() % 3)), clients: count)
    var setup = EngineSetup(receiver: receiver, parameters: figures)
    setup.battery = BatteryAudit.thresholds
    engine = memory.makeEngine(setup)
    isSupplied = supply != .switched
    plan = engine.step(.time, at: now)
  }

  /// Runs to the end and returns the totals.
  func run() -> SoakTotals {
    perform(.time)
    for (client, request) in clients.initialRequests() { send(request, of: client) }
    for second in 0..<EngineSoak.runSeconds where !clients.hasFailed && !soakRun.isTimeUp {
      if second.isMultiple(of: 1_000) {
        for (client, request) in clients.changeLoad() { send(request, of: client) }
      }
      if clients.below(clients.load.meanRequestInterval) == 0 {
        for (client, request) in clients.requests(near: device.coordinate) {
          send(request, of: client)
        }
      }
      if clients.below(25) == 0 { injectFault() }
      for (client, request) in clients.dueRequests() { send(request, of: client) }
      epoch()
    }
    if !soakRun.isTimeUp { finish() }
    return clients.tally
  }

  private func finish() {
    clients.acknowledgesAll = true
    epochsWithoutFix = 0
    utcError = .zero
    if isInhibited { inhibit(false) }
    setCharge(100)
    for (client, request) in clients.cancellingRequests() { send(request, of: client) }
    for _ in 0..<30 where !clients.hasFailed { epoch() }
    clients.expectFinished(at: now)
    for (client, request) in clients.resumingRequests() { send(request, of: client) }
    let before = clients.audits[0].batches
    for _ in 0..<150 where !clients.hasFailed { epoch() }
    if clients.audits[0].batches == before {
      clients.fail("with satellites in view and a demand, no fix arrives", at: now)
    }
  }

  // MARK: The receiver

  /// One second with an epoch, with or without a fix.
  private func epoch() {
    run(until: now + .seconds(1))
    device.step()
    if clients.below(150) == 0 { accuracy_mm = Int32(1_000 + clients.below(30_000)) }
    if clients.below(150) == 0 { accuracy_mm = 2_000 }
    if hasMotionLine, device.isMoving != wasMoving {
      wasMoving = device.isMoving
      perform(.motion(wasMoving ? .active : .inactive))
    }
    guard isSupplied else { return }
    makeFrame(isFix: epochsWithoutFix == 0)
    if epochsWithoutFix > 0 { epochsWithoutFix -= 1 }
    perform(bytes: ByteChunk(frame.span))
    sendSatellites()
  }

  /// Sends satellites in view with most epochs, and changes whether they are watched with some.
  private func sendSatellites() {
    guard var sky else { return }
    if sky.next() % 40 == 0 { perform(.watchSatellites(sky.next() % 2 == 0)) }
    var view = SatelliteView(at: now)
    for number in 0..<(sky.next() % 19) {
      view.add(Satellite(.galileo, UInt8(number + 1), isUsed: sky.next() % 2 == 0))
    }
    frame.removeAll()
    frame.appendNavSAT(view, timeOfWeek_ms: UInt32(truncatingIfNeeded: sky.next()))
    if sky.next() % 4 != 0 { perform(bytes: ByteChunk(frame.span)) }
    self.sky = sky
    guard let seen = engine.satellites(at: now) else { return }
    if !engine.isWatchingSatellites || now - seen.time > .seconds(15) {
      clients.fail("satellites in view are old, or not watched", at: now)
    }
  }

  private func makeFrame(isFix: Bool) {
    var fix = Fix(
      acquired: now, coordinate: device.measured(error: Double(accuracy_mm) / 4e3 + nextError_m))
    nextError_m = 0
    fix.utc = Scenario.start + (now - .boot) + utcError
    fix.altitude_mm = 40_000
    fix.ellipsoidalAltitude_mm = 80_000
    fix.horizontalAccuracy_mm = accuracy_mm
    fix.verticalAccuracy_mm = 4_000
    fix.speed_mmps = Int32(1e3 * device.speed_mps)
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
  private func apply(_ command: PinCommand) {
    guard command.pin == .receiverSupply else { return }
    let isOn = command.level == .active
    if isOn && !isSupplied {
      epochsWithoutFix = max(epochsWithoutFix, clients.below(8) == 0 ? 60 : 1 + clients.below(6))
    }
    isSupplied = isOn
  }

  // MARK: Faults

  private func injectFault() {
    clients.tally.faults += 1
    switch clients.below(15) {
    case 0, 1: sendGarbage()
    case 2: sendTruncatedFrame()
    case 3:
      epochsWithoutFix = 1 + clients.below([20, 20, 20, 20, 20, 20, 200, 600][clients.below(8)])
    case 4: perform(.lineFault)
    case 5: perform(.batchPin)
    case 6: inhibit(!isInhibited)
    case 7: stepClock()
    // An early alarm.
    case 8: perform(.time)
    // The receiver is disconnected: the line fails and stays silent.
    case 9:
      perform(.lineFault)
      run(until: now + .seconds(Int64(1 + clients.below(120))))
    case 10:
      if hasMotionLine { perform(.motion(clients.below(2) == 0 ? .active : .inactive)) }
    case 11, 12: nextError_m = Double(10 + clients.below(60))
    case 13: setCharge(clients.below(3) == 0 ? UInt8(clients.below(101)) : 100)
    default: perform(.pinFault(clients.below(2) == 0 ? .receiverSupply : .receiverWake))
    }
  }

  private func stepClock() {
    switch clients.below(8) {
    case 0...3: utcError = .zero
    case 4: utcError = EngineSoak.rollover
    default: utcError = .seconds(Int64(clients.below(100)))
    }
  }

  private func sendGarbage() {
    var chunk = ByteChunk()
    for _ in 0...clients.below(ByteChunk.capacity - 1) { chunk.append(UInt8(clients.below(256))) }
    perform(bytes: chunk)
  }

  /// Sends a truncated frame.
  private func sendTruncatedFrame() {
    makeFrame(isFix: true)
    var chunk = ByteChunk()
    for index in 0..<(1 + clients.below(frame.count - 1)) { chunk.append(frame[index]) }
    perform(bytes: chunk)
  }

  private func setCharge(_ charge: UInt8) {
    clients.recordCharge(charge, head: engine.head, at: now)
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
    while plan.wake <= end && !clients.hasFailed {
      now = max(now, plan.wake)
      perform(.time)
      wakes += 1
      if wakes > EngineSoak.maximumWakesPerSecond * Int((end - begin).seconds) {
        clients.fail("PWR-1: \(wakes) alarms since \(begin.seconds) s", at: now)
      }
    }
    now = end
  }

  private func send(_ request: Request, of client: ClientID) {
    clients.record(request, of: client, head: engine.head, at: now)
    perform(.request(client, request))
  }

  private func perform(_ event: Event) { runToCompletion(step(event)) }

  private func perform(bytes: ByteChunk) {
    runToCompletion(observe { engine.step(bytes: bytes.span, at: now) })
  }

  /// Runs all steps that follow from a first one.
  private func runToCompletion(_ first: Effects) {
    var effects = first
    var chain = 0
    while !clients.hasFailed {
      if effects.needsProceed {
        effects = step(.proceed)
        chain += 1
        if chain > EngineSoak.maximumSteps {
          clients.fail(
            "an event causes endless steps", at: now)
        }
      } else if let (client, request) = clients.nextRequest() {
        clients.record(request, of: client, head: engine.head, at: now)
        effects = step(.request(client, request))
        chain = 0
      } else {
        break
      }
    }
    plan = effects
    if plan.wake <= now { clients.fail("the wake time is not in the future", at: now) }
  }

  private func step(_ event: Event) -> Effects { observe { engine.step(event, at: now) } }

  private func observe(_ step: () -> Effects) -> Effects {
    clients.tally.steps += 1
    let before = engine.head
    let effects = step()
    clients.tally.digest.add(effects)
    if let command = effects.pin { apply(command) }
    if engine.head - before != (effects.appended == nil ? 0 : 1) {
      clients.fail("a step appends more than one fix, or does not report it", at: now)
    }
    if let name = effects.appended { clients.didAppend(name.sequence, in: engine) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      clients.receive(notice, from: engine, at: now)
    }
    return effects
  }
}
