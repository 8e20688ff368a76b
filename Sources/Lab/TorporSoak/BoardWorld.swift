import BoardProfiles
import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// Soak run of the whole system: engine and loop on the simulated board, with random faults.
final class BoardWorld {
  /// Passes fixes, notices and requests between the loop and the random clients.
  struct Relay: LocationClients {
    let crowd: Crowd

    mutating func appended(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
      crowd.tally.boardFixes += 1
      crowd.appended(name.sequence, in: engine)
    }
    mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
      crowd.receive(notice, from: engine, at: now)
    }
    mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
      guard let (client, request) = crowd.nextRequest() else { return nil }
      crowd.ask(request, of: client, head: 0, at: now)
      return (client, request)
    }
  }

  private let life: SoakRun
  private let crowd: Crowd
  private let memory: EngineMemory
  private var loop: LocationLoop<SimulatedBoard, Relay>

  /// Seconds during which faults occur.
  static let trouble: Double = 2 * 3_600
  /// Seconds after the last fault within which fixes must arrive: longest back-off of a receiver plus acquisition.
  static let recovery: Double = 1_200
  /// Seconds within which an unneeded receiver must sleep: a due ephemeris download, a drain, a delivery hold.
  static let rest: Double = 900

  init(_ run: SoakRun) {
    life = run
    var random = SimulationRandom(seed: run.seed, stream: 5)
    let count = 1 + Int(random.next() % 8)
    crowd = Crowd(seed: run.seed, clients: count, isExact: false)
    let profile = run.profile.varied(&random)
    var setup = profile.simulationSetup
    setup.seed = run.seed
    setup.noise = .real
    setup.samplesTimeToFirstFix = true
    setup.faults = FaultPlan(&random, until: BoardWorld.trouble, &crowd.tally.faults)
    var engineSetup = profile.engineSetup
    engineSetup.battery = BatteryAudit.terms
    engineSetup.epochs.isSimulated = true
    engineSetup.figures.deferralLimit = 50 + Int(random.next() % 400)
    let isKept =
      random.next() % 4 != 0 && engineSetup.keepAiding(entries: EngineMemory.aidingEntries)
    let track = Scenario.drive.track(seed: run.seed, duration: .seconds(5 * 3_600))
    memory = EngineMemory(
      capacity: 2 * engineSetup.figures.deferralLimit, clients: count)
    loop = LocationLoop(
      engine: memory.engine(engineSetup), board: SimulatedBoard(setup, track: track),
      clients: Relay(crowd: crowd))
    if isKept { loop.aiding = memory.aidingStore }
  }

  /// Runs to the end and returns the totals.
  func run() -> Tally {
    for (client, request) in crowd.opening() { ask(request, of: client) }
    var isInhibited = false
    while loop.board.now.seconds < BoardWorld.trouble && !crowd.hasFailed && !life.isOver {
      run(crowd.part() * 40)
      for (client, request) in crowd.requests(near: Scenario.home) { ask(request, of: client) }
      if crowd.below(40) == 0 {
        isInhibited.toggle()
        if isInhibited { crowd.tally.faults += 1 }
        loop.inhibitSleep(isInhibited)
      }
    }
    if isInhibited { loop.inhibitSleep(false) }
    if !life.isOver { finish() }
    return crowd.tally
  }

  private func finish() {
    crowd.isQuiet = true
    for (client, request) in crowd.closing() { ask(request, of: client) }
    run(BoardWorld.recovery)
    crowd.expectFinished(at: loop.board.now)
    for (client, request) in crowd.revival() { ask(request, of: client) }
    let before = crowd.audits[0].batches
    run(BoardWorld.recovery)
    if crowd.audits[0].batches == before {
      crowd.fail("with satellites in view and a demand, no fix arrives", at: loop.board.now)
    }
    for (client, request) in crowd.farewell() { ask(request, of: client) }
    run(BoardWorld.rest)
    guard loop.engine.canReceiverSleep, !crowd.hasFailed else { return }
    switch loop.board.receiverPowerState {
    case .off, .backup, .standby: break
    case .acquiring, .tracking, .powersave, .batching:
      crowd.fail("PWR-1: no client needs a fix, but the receiver is on", at: loop.board.now)
    }
  }

  private func ask(_ request: Request, of client: ClientID) {
    crowd.ask(request, of: client, head: 0, at: loop.board.now)
    loop.request(request, of: client)
  }

  private func run(_ seconds: Double) {
    let end = loop.board.now + Interval(seconds: seconds)
    loop.board.request(at: end)
    // An M10's epoch of sentences at the slowest line speed takes about twenty turns per second; each byte of
    // garbage wakes the board.
    var turns = 4_000 + Int(seconds) * 200
    while loop.board.now < end && !crowd.hasFailed {
      turns -= 1
      if turns < 0 { crowd.fail("PWR-1: the board wakes without end", at: loop.board.now) }
      _ = loop.turn()
      if let plan = loop.planned { crowd.tally.digest.add(plan) }
      if let violation = loop.board.violations.first {
        crowd.fail("a request to the board is invalid: \(violation)", at: loop.board.now)
      }
    }
  }
}
