import BoardProfiles
import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// Soak run of the whole system: engine and loop on the simulated board, with random faults.
final class BoardSoak {
  /// Passes fixes, notices and requests between the loop and the random clients.
  struct Relay: LocationClients {
    let crowd: RandomClients
    /// Whether a client uses the satellites in view.
    var watchesSatellites = false

    mutating func didAppend(_ name: FixName, in engine: borrowing Engine, at now: Instant) {
      crowd.tally.boardFixes += 1
      crowd.didAppend(name.sequence, in: engine)
    }
    mutating func receive(_ notice: ClientNotice, from engine: borrowing Engine, at now: Instant) {
      crowd.receive(notice, from: engine, at: now)
    }
    mutating func nextRequest(at now: Instant) -> (ClientID, Request)? {
      guard let (client, request) = crowd.nextRequest() else { return nil }
      crowd.record(request, of: client, head: 0, at: now)
      return (client, request)
    }
  }

  private let soakRun: SoakRun
  private let clients: RandomClients
  /// Numbers for the interest in satellites in view; nil if they are never watched.
  private var sky: SimulationRandom?
  private let memory: EngineMemory
  private var loop: LocationLoop<SimulatedBoard, Relay>

  /// Seconds during which faults occur.
  static let faultSeconds: Double = 2 * 3_600
  /// Seconds after the last fault within which fixes must arrive: longest back-off of a receiver plus acquisition.
  static let recoverySeconds: Double = 1_200
  /// Seconds within which an unneeded receiver must sleep: a due ephemeris download, a drain, a delivery hold.
  static let sleepSeconds: Double = 900

  init(_ run: SoakRun) {
    soakRun = run
    var random = SimulationRandom(seed: run.seed, stream: 5)
    let count = 1 + Int(random.next() % 8)
    clients = RandomClients(seed: run.seed, clients: count, isExact: false)
    let profile = run.profile.varied(&random)
    var setup = profile.simulationSetup
    setup.seed = run.seed
    sky = run.watchesSatellitesOnBoard ? SimulationRandom(seed: run.seed, stream: 31) : nil
    setup.receiver.hasSky = sky != nil
    setup.noise = .real
    setup.samplesTimeToFirstFix = true
    setup.faults = FaultPlan(&random, until: BoardSoak.faultSeconds, &clients.tally.faults)
    var engineSetup = profile.engineSetup
    engineSetup.battery = BatteryAudit.thresholds
    engineSetup.epochs.isSimulated = true
    engineSetup.parameters.deferralLimit = 50 + Int(random.next() % 400)
    let storesAiding =
      random.next() % 4 != 0 && engineSetup.enableAidingStore(entries: EngineMemory.aidingEntries)
    let track = Scenario.drive.track(seed: run.seed, duration: .seconds(5 * 3_600))
    memory = EngineMemory(
      capacity: 2 * engineSetup.parameters.deferralLimit, clients: count)
    loop = LocationLoop(
      engine: memory.makeEngine(engineSetup), board: SimulatedBoard(setup, track: track),
      clients: Relay(crowd: clients))
    if storesAiding { loop.aiding = memory.aidingStore }
  }

  /// Runs to the end and returns the totals.
  func run() -> SoakTotals {
    for (client, request) in clients.initialRequests() { send(request, of: client) }
    var isInhibited = false
    while loop.board.now.seconds < BoardSoak.faultSeconds && !clients.hasFailed && !soakRun.isTimeUp
    {
      run(clients.fraction() * 40)
      if let number = sky?.next(), number % 4 == 0 { loop.clients.watchesSatellites.toggle() }
      for (client, request) in clients.requests(near: Scenario.home) { send(request, of: client) }
      if clients.below(40) == 0 {
        isInhibited.toggle()
        if isInhibited { clients.tally.faults += 1 }
        loop.inhibitSleep(isInhibited)
      }
    }
    if isInhibited { loop.inhibitSleep(false) }
    if !soakRun.isTimeUp { finish() }
    return clients.tally
  }

  private func finish() {
    clients.acknowledgesAll = true
    loop.clients.watchesSatellites = sky != nil
    for (client, request) in clients.cancellingRequests() { send(request, of: client) }
    run(BoardSoak.recoverySeconds)
    clients.expectFinished(at: loop.board.now)
    for (client, request) in clients.resumingRequests() { send(request, of: client) }
    let before = clients.audits[0].batches
    run(BoardSoak.recoverySeconds)
    if clients.audits[0].batches == before {
      clients.fail("with satellites in view and a demand, no fix arrives", at: loop.board.now)
    }
    for (client, request) in clients.stoppingRequests() { send(request, of: client) }
    run(BoardSoak.sleepSeconds)
    guard loop.engine.canReceiverSleep, !clients.hasFailed else { return }
    switch loop.board.receiverPowerState {
    case .off, .backup, .standby: break
    case .acquiring, .tracking, .powersave, .batching:
      clients.fail("PWR-1: no client needs a fix, but the receiver is on", at: loop.board.now)
    }
  }

  private func send(_ request: Request, of client: ClientID) {
    clients.record(request, of: client, head: 0, at: loop.board.now)
    loop.request(request, of: client)
  }

  private func run(_ seconds: Double) {
    let end = loop.board.now + Interval(seconds: seconds)
    loop.board.request(at: end)
    // An M10's epoch of sentences at the slowest line speed takes about twenty turns per second; each byte of
    // garbage wakes the board.
    var turns = 4_000 + Int(seconds) * 200
    while loop.board.now < end && !clients.hasFailed {
      turns -= 1
      if turns < 0 { clients.fail("PWR-1: the board wakes without end", at: loop.board.now) }
      let hadRegions = !loop.engine.shed.contains(.regions)
      _ = loop.turn()
      if hadRegions == loop.engine.shed.contains(.regions) { clients.recordRegionsShedOrRestored() }
      if let plan = loop.planned { clients.tally.digest.add(plan) }
      if let violation = loop.board.violations.first {
        clients.fail("a request to the board is invalid: \(violation)", at: loop.board.now)
      }
    }
  }
}
