import BoardProfiles
import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import SimulatedHAL

/// What a simulated run is to do.
public struct SimulationPlan: Sendable {
  /// Where the board is carried.
  public var track: Track
  /// How long.
  public var duration: Interval
  /// The receiver's errors.
  public var noise = SimulatedNoise.none
  /// Times to first fix are drawn instead of being the median.
  public var samplesTimeToFirstFix = false
  /// When a motion sensor's line is active; nil on a board without one.
  public var motion: [Range<Instant>]?
  /// The battery the board lives on; nil for a supply without end.
  public var battery: SimulatedBattery?
  /// What goes wrong.
  public var faults = FaultPlan()
  /// Reproduces the run.
  public var seed: UInt64 = 1

  /// Creates a plan without noise and faults.
  public init(track: Track, duration: Interval) {
    self.track = track
    self.duration = duration
  }
}

/// How a run ended.
public struct SessionResult: Sendable {
  /// What it adds up to, from the start to the end of what was asked for, or until the battery was empty.
  public var summary: TraceSummary
  /// What the board was asked for and must never be asked for; none in a good run.
  public var violations: [Violation]
  /// The battery was empty before the run was over.
  public var isBatteryEmpty: Bool
  /// Deferral was available to the client (DEF-7).
  public var isDeferralAvailable: Bool
}

/// One client, one engine and one simulated board, run to the end.
public struct Session {
  /// The board.
  public var profile: BoardProfile
  /// The client.
  public var script: ClientScript
  /// N, if not the profile's; the ring then has at least twice as many places (RNG-1).
  public var deferralLimit: Int?
  /// Whether what the receiver knows of the sky is kept while its supply is cut, as the service does it.
  public var keepsAiding = true

  /// Creates a session on a board for a client.
  public init(_ profile: BoardProfile, _ script: ClientScript = ClientScript()) {
    self.profile = profile
    self.script = script
  }

  /// Runs a simulation for as long as the plan says.
  ///
  /// The client stops at the end, and what is outstanding is still delivered to it; what receiver and
  /// board do for that is no part of the run, neither of its records nor of its energy.
  ///
  /// - Parameters:
  ///   - progress: Is told now and then what part is done, 0 to 1.
  ///   - bytes: Gets what the receiver sends, if given; ``replay(_:progress:ring:sink:)`` can play it.
  ///   - ring: Gets the bytes of the ring of fixes at the end, if given.
  ///   - sink: Gets every record in the order of time.
  public func simulate(
    _ plan: SimulationPlan, progress: (Double) -> Void = { _ in },
    bytes: (([UInt8]) -> Void)? = nil, ring: (([UInt8]) -> Void)? = nil,
    sink: (TraceRecord) -> Void = { _ in }
  ) -> SessionResult {
    var setup = profile.simulationSetup
    setup.noise = plan.noise
    setup.samplesTimeToFirstFix = plan.samplesTimeToFirstFix
    setup.faults = plan.faults
    setup.motion = plan.motion
    setup.battery = plan.battery
    // The journey is over: while the last fixes are drained no new ones are made.
    let end = Instant.boot + plan.duration
    setup.faults.noSky.append(end..<end + .seconds(86_400))
    setup.seed = plan.seed
    setup.recordsEvents = true
    setup.recordsBytes = bytes != nil
    var engineSetup = profile.engineSetup
    engineSetup.epochs.isSimulated = true
    engineSetup.figures.hasMotionLine = plan.motion != nil
    if plan.motion != nil && profile.motion == nil {
      // A sensor that the profile knows nothing of is wired so that it is of use.
      setup.board.suspended?.wakeSources.insert(.motion)
      engineSetup.figures.deep?.wakesOnMotion = true
    }
    let board = SimulatedBoard(setup, track: plan.track)
    return run(
      board, engineSetup, until: .boot + plan.duration, bill: true, progress, bytes, ring, sink)
  }

  /// Plays a recording at its own time to a board that listens; the closures are those of
  /// ``simulate(_:progress:bytes:ring:sink:)``.
  public func replay(
    _ scan: RecordingScan, progress: (Double) -> Void = { _ in },
    ring: (([UInt8]) -> Void)? = nil, sink: (TraceRecord) -> Void = { _ in }
  ) -> SessionResult {
    var setup = profile.simulationSetup
    setup.recordsEvents = true
    // A recording keeps its own times.
    setup.board.gathersEpochs = false
    setup.board.bytesPerPiece = 1
    // Whoever recorded it had switched the receiver on.
    setup.receiver.hasSupplySwitch = false
    setup.receiver.defaultSpeed = UInt32(profile.receiver?.lineSpeed_baud ?? 115_200)
    var engineSetup = profile.listeningSetup
    engineSetup.epochs.isSimulated = true
    engineSetup.epochs.recordingDate = scan.date
    engineSetup.decoding = scan.decoding
    let board = SimulatedBoard(setup, replaying: scan.recording)
    // The last epoch ends with a silence.
    let end = scan.end + engineSetup.epochs.pause * 4
    return run(board, engineSetup, until: end, bill: false, progress, nil, ring, sink)
  }

  private func run(
    _ board: consuming SimulatedBoard, _ setup: EngineSetup, until end: Instant, bill: Bool,
    _ progress: (Double) -> Void, _ bytes: (([UInt8]) -> Void)?, _ ring: (([UInt8]) -> Void)?,
    _ sink: (TraceRecord) -> Void
  ) -> SessionResult {
    let memory = EngineMemory(capacity: ringCapacity, clients: 1)
    var setup = setup
    if let deferralLimit { setup.figures.deferralLimit = deferralLimit }
    let isKept = keepsAiding && setup.keepAiding(entries: EngineMemory.aidingEntries)
    var loop = LocationLoop(
      engine: memory.engine(setup), board: board, clients: SimulatedClient(script))
    if isKept { loop.aiding = memory.aidingStore }
    loop.clients.trace.end = end
    var events: [TimedBoardEvent] = []
    loop.board.request(at: end)
    var isStopped = false
    // A replay has no ring's file; a simulated board writes it as the service does.
    var syncs = bill ? SyncSchedule(every: profile.cache.syncInterval, at: .boot) : nil
    loop.engine.markSynced(loop.engine.unsynced)
    // After the client has stopped, what the receiver holds is drained and the receiver goes to sleep.
    // Its sleep may have an end of its own, which is not waited for.
    let limit = end + .seconds(600)
    while loop.board.now < limit && !loop.board.isBatteryEmpty {
      let isAtRest = !loop.engine.isReceiverAwake && loop.engine.isSettled
      if isStopped && isAtRest { break }
      while let due = loop.clients.takeDue() { loop.board.request(at: due) }
      let due = Session.sync(&loop.engine, &syncs, before: loop.planned, at: loop.board.now)
      let turn = loop.turn(
        sleepsWhenQuiet: !isStopped, atLatest: isStopped ? min(limit, due) : due)
      loop.board.takeEvents(into: &events)
      for event in events { loop.clients.trace.add(TraceRecord(event)) }
      loop.clients.trace.release(
        at: loop.board.now, isBuffering: loop.engine.mayReceiverHoldFixes, to: sink)
      bytes?(loop.board.takeSentBytes())
      if isStopped && turn == .quiet { break }
      progress(loop.board.now.seconds / max(end.seconds, 1e-6))
      if !isStopped && loop.board.now >= end {
        isStopped = true
        loop.request(loop.clients.stop(), of: SimulatedClient.id)
        loop.board.takeEvents(into: &events)
        for event in events { loop.clients.trace.add(TraceRecord(event)) }
        // A receiver that takes no commands has nothing to hand over and is not put to sleep.
        if !loop.engine.canReceiverSleep { break }
      }
    }
    let isBatteryEmpty = loop.board.isBatteryEmpty && loop.board.now < end
    let summary = loop.clients.trace.finish(
      at: isBatteryEmpty ? loop.board.now : end,
      processorPerWake: BoardProfile.processorTimePerWake,
      bill: bill ? BillFigures(profile) : nil, to: sink)
    ring?(memory.ringBytes)
    return SessionResult(
      summary: summary, violations: loop.board.violations,
      isBatteryEmpty: isBatteryEmpty,
      isDeferralAvailable: loop.engine.isDeferralAvailable)
  }

  /// Writes the ring when that is due, or before the board rests; returns when the next write is due.
  private static func sync(
    _ engine: inout Engine, _ syncs: inout SyncSchedule?, before plan: Effects?, at now: Instant
  ) -> Instant {
    guard var schedule = syncs, !engine.unsynced.isEmpty else { return .distantFuture }
    if now >= schedule.due
      || schedule.writesEarly(before: plan, isReceiverQuiet: engine.isReceiverQuiet, at: now)
    {
      engine.markSynced(engine.unsynced)
      schedule.wrote(at: now)
    }
    syncs = schedule
    return engine.unsynced.isEmpty ? .distantFuture : schedule.due
  }

  private var ringCapacity: Int {
    max(profile.cache.capacity, 2 * (deferralLimit ?? profile.cache.deferralLimit))
  }
}
