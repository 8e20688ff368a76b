import DeferralCache
import GNSSProtocols
import LocationEngine
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import SimulatedHAL

/// An engine that is fed directly: NAV-PVT frames of a receiver that streams, and whatever else can
/// come. Virtual time; does what the loop does.
final class StreamWorld {
  private let crowd: Crowd
  private let memory: EngineMemory
  private var engine: Engine
  private var plan: Effects
  private var now = Instant(microseconds: 10_000_000)
  private var frame = FrameBuffer()
  // The wearer.
  private var place = Scenario.home
  private var speed = (east: 0.0, north: 0.0)
  private var accuracy_mm: Int32 = 2_000
  private var utcError = Interval.zero
  /// Epochs without a sky that are still to come.
  private var darkEpochs = 0
  // The client whose deferral is watched.
  private let watched: ClientID
  private var state = Deferral.State.idle
  private var isInhibited = false

  /// Fixes of one run.
  static let epochs = 20_000
  /// The most steps that one event may cause.
  static let longestChain = 2_000

  init(seed: UInt64) {
    var random = SimulationRandom(seed: seed, stream: 3)
    let count = 1 + Int(random.next() % 8)
    let limit = 8 + Int(random.next() % 120)
    crowd = Crowd(seed: seed, clients: count, isExact: true)
    watched = ClientID(Int(seed % UInt64(count)))
    var figures = PlannerFigures(
      fixInterval: .seconds(1), deferralLimit: limit,
      timeToFix: TimeToFixTable(cold: .seconds(30)))
    figures.idle = SleepFigures(
      state: .idle, resume: .milliseconds(2), alarmResolution: .milliseconds(1),
      minimum: .milliseconds(1), wakesOnPin: true, wakesOnBytes: true)
    figures.hasMotionLine = seed % 3 == 0
    var setup = EngineSetup(receiver: ReceiverSetup(family: .passive), figures: figures)
    setup.battery = BatteryAudit.terms
    memory = EngineMemory(capacity: limit * (2 + Int(random.next() % 3)), clients: count)
    engine = memory.engine(setup)
    plan = engine.step(.time, at: now)
  }

  /// Lives through the run.
  func run() -> Tally {
    perform(.time)
    for (client, request) in crowd.opening() { ask(request, of: client) }
    for _ in 0..<StreamWorld.epochs where !crowd.hasFailed {
      if crowd.below(12) == 0 {
        for (client, request) in crowd.requests(near: place) { ask(request, of: client) }
      }
      if crowd.below(25) == 0 { somethingGoesWrong() }
      move()
      epoch()
    }
    finish()
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
    for _ in 0..<60 where !crowd.hasFailed { epoch() }
    if crowd.audits[0].batches == before {
      crowd.fail("with sky and demand no fix comes", at: now)
    }
  }

  // MARK: The receiver

  private func move() {
    switch crowd.below(200) {
    case 0: speed = (0, 0)
    case 1: speed = (3 * (crowd.part() - 0.5), 3 * (crowd.part() - 0.5))
    case 2: speed = (40 * (crowd.part() - 0.5), 40 * (crowd.part() - 0.5))
    case 3: accuracy_mm = Int32(1_000 + crowd.below(30_000))
    case 4: accuracy_mm = 2_000
    default: break
    }
    // Back towards home, before the globe ends.
    if crowd.below(2_000) == 0 { place = Scenario.home }
  }

  /// A second with its fix, or without one.
  private func epoch() {
    run(until: now + .seconds(1))
    place = place.moved(east: speed.east, north: speed.north)
    makeFrame(isFix: darkEpochs == 0)
    if darkEpochs > 0 { darkEpochs -= 1 }
    perform(.bytes(ByteChunk(frame.span)))
  }

  private func makeFrame(isFix: Bool) {
    var fix = Fix(acquired: now, coordinate: place)
    fix.utc = Scenario.start + (now - .boot) + utcError
    fix.altitude_mm = 40_000
    fix.ellipsoidalAltitude_mm = 80_000
    fix.horizontalAccuracy_mm = accuracy_mm
    fix.verticalAccuracy_mm = 4_000
    fix.speed_mmps = Int32(1e3 * (speed.east * speed.east + speed.north * speed.north).squareRoot())
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

  // MARK: Faults

  private func somethingGoesWrong() {
    crowd.tally.faults += 1
    switch crowd.below(13) {
    case 0, 1: garbage()
    case 2: half()
    case 3: darkEpochs = 1 + crowd.below(crowd.below(8) == 0 ? 200 : 20)
    case 4: perform(.lineFault)
    case 5: perform(.batchPin)
    case 6: inhibit(!isInhibited)
    case 7: utcError = crowd.below(2) == 0 ? .zero : .seconds(Int64(crowd.below(100)))
    // Early alarms.
    case 8: perform(.time)
    // Gone: the line fails, and is silent.
    case 9:
      perform(.lineFault)
      run(until: now + .seconds(Int64(1 + crowd.below(120))))
    case 10: perform(.motion(crowd.below(2) == 0 ? .active : .inactive))
    case 11: battery(crowd.below(3) == 0 ? UInt8(crowd.below(101)) : 100)
    default: perform(.pinFault(crowd.below(2) == 0 ? .receiverSupply : .receiverWake))
    }
  }

  private func garbage() {
    var chunk = ByteChunk()
    for _ in 0...crowd.below(ByteChunk.capacity - 1) { chunk.append(UInt8(crowd.below(256))) }
    perform(.bytes(chunk))
  }

  /// A frame whose end is lost.
  private func half() {
    makeFrame(isFix: true)
    var chunk = ByteChunk()
    for index in 0..<(1 + crowd.below(frame.count - 1)) { chunk.append(frame[index]) }
    perform(.bytes(chunk))
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
    while plan.wake <= end && !crowd.hasFailed {
      now = max(now, plan.wake)
      perform(.time)
    }
    now = end
  }

  private func ask(_ request: Request, of client: ClientID) {
    crowd.ask(request, of: client, head: engine.head, at: now)
    perform(.request(client, request))
  }

  private func perform(_ event: Event) {
    var effects = step(event)
    var chain = 0
    while !crowd.hasFailed {
      if effects.proceeds {
        effects = step(.proceed)
        chain += 1
        if chain > StreamWorld.longestChain { crowd.fail("a chain of steps does not end", at: now) }
      } else if let (client, request) = crowd.nextRequest() {
        crowd.ask(request, of: client, head: engine.head, at: now)
        effects = step(.request(client, request))
        chain = 0
      } else {
        break
      }
    }
    plan = effects
    if plan.wake <= now { crowd.fail("the next wake does not lie ahead", at: now) }
  }

  private func step(_ event: Event) -> Effects {
    crowd.tally.steps += 1
    let before = engine.head
    let effects = engine.step(event, at: now)
    if engine.head - before != (effects.appended == nil ? 0 : 1) {
      crowd.fail("more than one fix in a step", at: now)
    }
    if let name = effects.appended { crowd.appended(name.sequence) }
    while effects.hasNotices, let notice = engine.nextNotice() {
      crowd.receive(notice, from: engine, at: now)
    }
    watch(event, hasFix: effects.appended != nil)
    return effects
  }

  /// Counts what the watched deferral must have seen in this step: only what is beyond doubt.
  private func watch(_ event: Event, hasFix: Bool) {
    let before = state
    state = engine.client(watched).deferral.state
    let audit = crowd.audits[watched.index]
    guard audit.isConnected else { return }
    if case .request(watched, let request) = event {
      if case .allowDeferred = request, state != .idle { crowd.tally.note(before, .call) }
      if case .disallowDeferred = request { crowd.tally.note(before, .end) }
      return
    }
    if hasFix && audit.isClean { crowd.tally.note(before, .fix) }
    if before == state { crowd.tally.note(state, .time) }
    switch (before, state) {
    case (.armed, .engaged): crowd.tally.note(.armed, .mayEngage)
    case (.engaged, .armed): crowd.tally.note(.engaged, .mayNotEngage)
    case (.engaged, .engaged):
      if audit.execution == .background { crowd.tally.note(.engaged, .mayEngage) }
    case (.armed, .armed):
      if audit.execution == .foreground { crowd.tally.note(.armed, .mayNotEngage) }
    case (.idle, .idle), (.idle, .armed), (.idle, .engaged), (.armed, .idle), (.engaged, .idle):
      break
    }
  }
}
