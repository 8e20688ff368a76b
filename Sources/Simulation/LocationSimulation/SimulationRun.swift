import BoardProfiles
import DeferralCache
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import SimulatedHAL

/// Inputs of a simulated run besides board and client.
public struct SimulationPlan: Sendable {
  /// True positions of the device.
  public var track: Track
  /// Duration of the run.
  public var duration: Interval
  /// Errors of the receiver's solutions; nil for none, apart from the protocol's resolution.
  public var noise: NoiseParameters?
  /// Whether times to first fix are sampled from a distribution instead of being its median.
  public var samplesTimeToFirstFix = false
  /// Periods in which the motion sensor's line is active; nil for a board without a sensor.
  public var motionPeriods: [Range<Instant>]?
  /// Battery of the board; nil for an unlimited supply.
  public var battery: SimulatedBattery?
  /// Faults to inject.
  public var faults = FaultPlan()
  /// Seed of all random numbers of the run.
  public var seed: UInt64 = 1

  /// Creates a plan without noise and faults.
  public init(track: Track, duration: Interval) {
    self.track = track
    self.duration = duration
  }
}

/// Result of a run.
public struct SimulationResult: Sendable {
  /// Totals from the start to the planned end, or until the battery was empty.
  public var summary: TraceSummary
  /// Forbidden or unsupported requests to the hardware; empty in a correct run.
  public var violations: [Violation]
  /// Whether the battery was empty before the planned end.
  public var isBatteryEmpty: Bool
  /// Whether deferral was available to the client (DEF-7).
  public var isDeferralAvailable: Bool
  /// Number of uploads to a store (``ClientScript/upload``).
  public var uploads = 0
}

/// A run of one client, one engine and one simulated board on virtual time.
///
/// ``simulate(_:progress:bytes:ring:sink:)`` follows a track, ``replay(_:progress:ring:sink:)`` a recording. Both use
/// the product's engine and loop with the engine setup of the board's profile.
public struct SimulationRun {
  /// Board profile.
  public var profile: BoardProfile
  /// The client's service and parameters.
  public var script: ClientScript
  /// Deferral limit N that overrides the profile's. The ring then has at least 2 N slots (RNG-1).
  public var deferralLimit: Int?
  /// Whether services continue after the board was off, as in the service (PWR-14); if not, they restart.
  var continuesServices = true
  /// Whether the navigation database is stored while the receiver is powered off, as the service does.
  public var storesAidingData = true

  /// Creates a run of a client on a board.
  public init(_ profile: BoardProfile, _ script: ClientScript = ClientScript()) {
    self.profile = profile
    self.script = script
  }

  /// Runs a simulation for the duration of the plan.
  ///
  /// The client stops at the end, and outstanding fixes are still delivered to it. The receiver's and the board's
  /// activity for that delivery is excluded from the records and from the energy.
  ///
  /// - Parameters:
  ///   - progress: Receives the completed fraction of the run after each turn: 0 to 1, and more than 1 during the final
  ///     drain.
  ///   - bytes: Receives the bytes that the receiver sends; ``replay(_:progress:ring:sink:)`` can replay them.
  ///   - ring: Receives the bytes of the fix ring at the end.
  ///   - sink: Receives each record in ascending order of time.
  public func simulate(
    _ plan: SimulationPlan, progress: (Double) -> Void = { _ in },
    bytes: (([UInt8]) -> Void)? = nil, ring: (([UInt8]) -> Void)? = nil,
    sink: (TraceRecord) -> Void = { _ in }
  ) -> SimulationResult {
    var setup = profile.simulationSetup
    setup.noise = plan.noise
    setup.samplesTimeToFirstFix = plan.samplesTimeToFirstFix
    setup.faults = plan.faults
    setup.motionPeriods = plan.motionPeriods
    setup.battery = plan.battery
    // No new fixes after the end, while the last fixes are drained.
    let end = Instant.boot + plan.duration
    setup.faults.signalOutages.append(end..<end + .seconds(86_400))
    setup.seed = plan.seed
    setup.recordsEvents = true
    setup.recordsBytes = bytes != nil
    var engineSetup = profile.engineSetup
    engineSetup.epochs.isSimulated = true
    engineSetup.parameters.hasMotionLine = plan.motionPeriods != nil
    if plan.motionPeriods != nil && profile.motion == nil {
      // A sensor that the profile does not describe is wired so that it can wake the board.
      setup.board.suspended?.wakeSources.insert(.motion)
      engineSetup.parameters.deep?.wakesOnMotion = true
    }
    let board = SimulatedBoard(setup, track: plan.track)
    return run(board, engineSetup, until: end, hasEnergy: true, progress, bytes, ring, sink)
  }

  /// Replays a recording at its original times to an engine that sends the receiver no commands. The closures are those
  /// of ``simulate(_:progress:bytes:ring:sink:)``.
  public func replay(
    _ scan: RecordingScan, progress: (Double) -> Void = { _ in },
    ring: (([UInt8]) -> Void)? = nil, sink: (TraceRecord) -> Void = { _ in }
  ) -> SimulationResult {
    var setup = profile.simulationSetup
    setup.recordsEvents = true
    // The recording's timing already contains the effects of its serial line.
    setup.board.delaysReads = false
    setup.board.fifoTriggerLevel = 1
    // The receiver was on during the recording.
    setup.receiver.hasSupplySwitch = false
    setup.receiver.defaultSpeed = UInt32(profile.receiver?.lineSpeed_baud ?? 115_200)
    var engineSetup = profile.passiveSetup
    engineSetup.epochs.isSimulated = true
    engineSetup.epochs.recordingDate = scan.date
    engineSetup.decoding = scan.decoding
    let board = SimulatedBoard(setup, replaying: scan.recording)
    // The last epoch ends after a silence.
    let end = scan.end + engineSetup.epochs.silenceTimeout * 4
    return run(board, engineSetup, until: end, hasEnergy: false, progress, nil, ring, sink)
  }

  private func run(
    _ board: consuming SimulatedBoard, _ setup: EngineSetup, until end: Instant, hasEnergy: Bool,
    _ progress: (Double) -> Void, _ bytes: (([UInt8]) -> Void)?, _ ring: (([UInt8]) -> Void)?,
    _ sink: (TraceRecord) -> Void
  ) -> SimulationResult {
    let memory = EngineMemory(capacity: ringCapacity, clients: 1)
    var setup = setup
    if let deferralLimit { setup.parameters.deferralLimit = deferralLimit }
    let hasStore = storesAidingData && setup.enableAidingStore(entries: EngineMemory.aidingEntries)
    var loop = LocationLoop(
      engine: memory.makeEngine(setup), board: board, clients: SimulatedClient(script))
    if hasStore { loop.aiding = memory.aidingStore }
    loop.clients.trace.end = end
    var events: [TimedBoardEvent] = []
    loop.board.request(at: end)
    var isStopped = false
    // A simulation writes the ring at the times at which the service writes its file; a replay never does.
    var syncs = hasEnergy ? SyncSchedule(every: profile.cache.syncInterval, at: .boot) : nil
    loop.engine.markSynced(loop.engine.unsynced)
    var powerOff =
      hasEnergy && script.mayBeOff
      ? SimulatedPowerOff(setup.parameters, continuesServices: continuesServices) : nil
    // After the client has stopped, the run continues until the receiver's buffer is drained and the receiver sleeps,
    // or until this limit.
    let limit = end + .seconds(600)
    while loop.board.now < limit && !loop.board.isBatteryEmpty {
      let isIdle = !loop.engine.isReceiverAwake && loop.engine.isDriverIdle
      if isStopped && isIdle { break }
      while let due = loop.clients.consumeNextWakeTime() { loop.board.request(at: due) }
      let due = SimulationRun.sync(&loop.engine, &syncs, before: loop.planned, at: loop.board.now)
      let check = powerOff?.nextCheck(loop) ?? .distantFuture
      let turn = loop.turn(
        sleepsWhenQuiet: !isStopped, atLatest: min(due, isStopped ? limit : check))
      if loop.board.now < end { powerOff?.handleTurn(&loop, memory, setup) }
      loop.board.removeEvents(into: &events)
      for event in events { loop.clients.trace.add(TraceRecord(event)) }
      loop.clients.trace.release(
        at: loop.board.now, isBuffering: loop.engine.mayReceiverHoldFixes, to: sink)
      bytes?(loop.board.removeSentBytes())
      if isStopped && turn == .quiet { break }
      progress(loop.board.now.seconds / max(end.seconds, 1e-6))
      if !isStopped && loop.board.now >= end {
        isStopped = true
        loop.request(loop.clients.stop(), of: SimulatedClient.id)
        loop.board.removeEvents(into: &events)
        for event in events { loop.clients.trace.add(TraceRecord(event)) }
        // A receiver without commands has no buffer to drain and cannot be put to sleep.
        if !loop.engine.canReceiverSleep { break }
      }
    }
    let isBatteryEmpty = loop.board.isBatteryEmpty && loop.board.now < end
    let summary = loop.clients.trace.finish(
      at: isBatteryEmpty ? loop.board.now : end,
      processorPerWake: BoardProfile.processorTimePerWake,
      baseline: hasEnergy ? EnergyBaseline(profile) : nil, to: sink)
    ring?(memory.ringBytes)
    return SimulationResult(
      summary: summary, violations: loop.board.violations,
      isBatteryEmpty: isBatteryEmpty,
      isDeferralAvailable: loop.engine.isDeferralAvailable, uploads: loop.clients.uploads)
  }

  /// Writes the ring if a write is due or the board is about to sleep; returns the time of the next write.
  private static func sync(
    _ engine: inout Engine, _ syncs: inout SyncSchedule?, before plan: Effects?, at now: Instant
  ) -> Instant {
    guard var schedule = syncs, !engine.unsynced.isEmpty else { return .distantFuture }
    if now >= schedule.due
      || schedule.shouldWriteEarly(before: plan, isReceiverQuiet: engine.isReceiverQuiet, at: now)
    {
      engine.markSynced(engine.unsynced)
      schedule.didWrite(at: now)
    }
    syncs = schedule
    return engine.unsynced.isEmpty ? .distantFuture : schedule.due
  }

  private var ringCapacity: Int {
    max(profile.cache.capacity, 2 * (deferralLimit ?? profile.cache.deferralLimit))
  }
}
