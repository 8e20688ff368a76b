import CLinux
import DeferralCache
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import ServiceState

/// The running service: connects `LocationLoop` and its board with the clients on the socket and the ring in its file.
///
/// It decides when the ring's file is synced and when the board is switched off. It handles sleep inhibitor locks, the
/// service manager's watchdog and status, and the order of start and end. One thread and one wait: the service wakes
/// only for the board, a client, a signal or a deadline (of the engine, ``LocationServer``, the next sync, the
/// watchdog, or the next check of inhibitor locks or of switching off).
public struct LocationService: ~Copyable {
  /// How long an ending service waits until the receiver is asleep.
  public static let endTimeout = Interval.seconds(5)

  /// Result of ``run(reload:)``.
  public enum End: Equatable, Sendable {
    /// Ended by a signal; the receiver is asleep and everything is on the disk.
    case stopped
    /// Same, but the receiver did not go to sleep in time.
    case receiverBusy
    /// Ended to switch the board off: the alarm is set, and the intent is on the disk.
    case poweringOff
    /// Ended because the board's profile has changed, which requires a new service.
    case replaced
  }

  private var loop: LocationLoop<LinuxBoard<GPIOPins>, LocationServer>
  /// The board's wait and clock, kept here because reading them from the board copies the buffers of its line.
  private let events: EventWait
  private let clock = SystemClock()
  private let ring: RingFile
  private let clients: ClientMemory
  private let aiding: AidingMemory?
  private var signals: SignalWatch
  private var manager: ServiceManager
  private let log: SystemLog
  private let suspender: BoardSuspender?
  /// Nil if the board cannot be switched off.
  private var powerOff: PowerOffControl?
  private var syncSchedule: SyncSchedule
  private var sessionLight = SessionLight()
  private var inhibitorLocks = InhibitorLocks()

  /// Size in bytes of a ring file for `capacity` fixes.
  public static func ringSize(capacity: Int) -> Int { FixRing.storageSize(capacity: capacity) }

  /// Capacity for the receiver's navigation database, in entries; typically 40 are used. The memory is 22 kB.
  static let aidingEntries: UInt8 = 128

  /// Whether a file of that size can be a ring of some capacity. A truncated file cannot.
  public static func isRingSize(_ bytes: Int) -> Bool { FixRing.capacity(ofSize: bytes) != nil }

  static let signalToken = EventWait.Token.firstFree

  /// Opens the ring, makes its repairs durable, and restores the clients of earlier runs (BKG-20).
  ///
  /// - Parameter start: How the board was started; nil if the service had not switched it off.
  public init(
    _ setup: EngineSetup, ring: consuming RingFile, capacity: Int, clients: Int,
    syncInterval: Interval, board: consuming LinuxBoard<GPIOPins>, suspender: BoardSuspender? = nil,
    powerOff: BoardPowerOff? = nil, start: BoardStart? = nil,
    server: consuming LocationServer,
    boot: BootIdentity,
    signals: consuming SignalWatch, notifier: consuming ServiceNotifier, log: SystemLog
  ) throws {
    let memory = ClientMemory(capacity: clients)
    var fixes: FixRing
    // Generations are never reused, even if the ring's file was lost (RNG-2).
    let floor = UInt32(clamping: server.persistence.store.counter(.ringGeneration))
    do {
      fixes = try unsafe FixRing(
        recovering: ring.storage, capacity: capacity, generationFloor: floor,
        newID: .random(in: 1 ... .max), recordedID: server.persistence.store.ringID)
    } catch {
      throw RingProblem(path: ring.path, error: error, state: server.persistence.store.path)
    }
    let report = RingReport(
      fixes.recovery, count: fixes.start - fixes.tail, path: ring.path, hadRing: floor > 0,
      hasState: !server.persistence.store.repairs.isNew)
    for line in report.lines { log.write(line.priority, line.text) }
    // The new generation must be durable before the first append (RNG-2).
    let unsynced = fixes.unsynced
    try LocationService.sync(unsynced, in: ring)
    fixes.markSynced(unsynced)
    let loss = LocationService.recordRun(fixes, boot, server.persistence.store)
    var setup = setup
    let unattendedBoard = setup.parameters.unattendedBoard
    setup.receiver?.flash = server.persistence.store.flashRecord
    let aiding =
      setup.enableAidingStore(entries: LocationService.aidingEntries)
      ? AidingMemory(entries: LocationService.aidingEntries) : nil
    let startTime = board.now
    var timeOff: TimeOff?
    // If the service was killed before it ended, its rows may be older than its last reports.
    if let start, fixes.recovery.wasClosed {
      timeOff = TimeOff(
        length: start.timeOff, since: start.intent.off, offUTC: start.intent.offUTC,
        until: startTime, fixes)
    }
    var engine = unsafe Engine(setup, ring: fixes, clients: memory.storage)
    server.restore(into: &engine, after: loss, timeOff: timeOff, at: startTime)
    server.flushState()
    let events = board.events
    try events.add(signals.descriptor, as: LocationService.signalToken, for: .readable)
    loop = LocationLoop(engine: engine, board: board, clients: server)
    loop.ignoresUnneededReceiver = true
    loop.clients.setSuspender(suspender)
    if let aiding { loop.aiding = unsafe AidingStore(aiding.storage) }
    self.aiding = aiding
    self.events = events
    self.ring = ring
    self.clients = memory
    self.signals = signals
    manager = ServiceManager(notifier)
    self.log = log
    self.suspender = suspender
    self.powerOff = powerOff.flatMap { board in
      unattendedBoard.flatMap { PowerOffControl(board, $0, after: start?.cause, at: startTime) }
    }
    syncSchedule = SyncSchedule(every: syncInterval, at: .boot)
  }

  /// Records the start of a run. Returns what may have been lost since the last one (RNG-4): unsynced fixes if the
  /// board was off and the service had not stopped normally, or everything if the ring's file was lost.
  static func recordRun(
    _ ring: borrowing FixRing, _ boot: BootIdentity, _ state: StateStore
  ) -> Gap? {
    let lastBoot = state.counter(.boot)
    let hadRing = state.counter(.ringGeneration) > 0
    state.setCounter(.boot, boot.number)
    state.setCounter(.ringGeneration, Int64(ring.generation))
    state.setRingID(ring.id)
    if ring.recovery.isNew, hadRing { return Gap(unsyncedBefore: ring.start, after: nil) }
    guard !ring.recovery.isNew, !ring.recovery.wasClosed, lastBoot != 0, lastBoot != boot.number
    else { return nil }
    return Gap(unsyncedBefore: ring.start, after: ring.recovery.newest?.time)
  }

  /// Current time of the boot clock.
  private var now: Instant { clock.now }

  /// Runs until a signal ends it.
  ///
  /// - Parameter reload: Reads policy and profile again; called on `SIGHUP`.
  public mutating func run(reload: () -> Reload) -> End {
    clinux_release_code(nil)
    manager.ready()
    while true {
      turn()
      guard let request = nextSignal() else {
        guard preparePowerOff() else { continue }
        manager.stopping()
        end()
        return .poweringOff
      }
      switch request {
      case .stop:
        manager.stopping()
        return end()
      case .reload:
        manager.reloading()
        if apply(reload()) {
          end()
          return .replaced
        }
        manager.ready()
      }
    }
  }

  /// The command of a pending signal; nil without one.
  private mutating func nextSignal() -> SignalWatch.Request? {
    events.conditions(of: LocationService.signalToken).contains(.readable)
      ? signals.next() : nil
  }

  /// Runs one turn of `LocationLoop` and syncs the ring's file when due: a power cut loses at most the fixes of the
  /// profile's sync interval. Unsynced fixes bound the wait, or are synced before a suspend.
  private mutating func turn() {
    checkInhibitorLocks()
    loop.planPowerOff(&powerOff)
    let isQuiet = loop.engine.isReceiverQuiet
    var isUnsynced = hasUnsynced
    if isUnsynced,
      syncSchedule.shouldWriteEarly(before: loop.planned, isReceiverQuiet: isQuiet, at: now)
    {
      sync()
      isUnsynced = hasUnsynced
    }
    let due = isUnsynced ? syncSchedule.due : .distantFuture
    _ = loop.turn(
      atLatest: min(
        min(due, loop.clients.deadline),
        min(min(manager.watchdogDue, powerOffDue), inhibitorLocks.due)))
    if now >= syncSchedule.due { sync() }
    reportStatus()
    logSleepChange()
    updateSessionLight()
  }

  /// Checks for sleep inhibitor locks: while one is held, fixes are not deferred for a board that will not sleep
  /// (DEF-28).
  private mutating func checkInhibitorLocks() {
    guard let suspender else { return }
    let wouldSuspend = loop.planned.map { $0.board >= .suspended } ?? false
    let change = inhibitorLocks.check(wouldSuspend: wouldSuspend, at: now) {
      suspender.checkInhibitors()
    }
    if let change { loop.inhibitSleep(change) }
  }

  /// Logs a change of the reason why the board is not suspended.
  private func logSleepChange() {
    if let message = suspender?.consumeLogMessage() { log.write(.notice, message) }
  }

  /// Switches the session light: on while any client has a background session (BKG-11).
  private mutating func updateSessionLight() {
    let isOn = loop.clients.hasBackgroundSession
    guard isOn != sessionLight.isOn else { return }
    let isSwitched = loop.board.setSessionLight(isOn)
    if sessionLight.record(isOn, isSwitched: isSwitched) {
      log.write(
        .warning, "the light of background sessions cannot be switched \(isOn ? "on" : "off")")
    }
  }

  /// Reports to the service manager.
  private mutating func reportStatus() {
    manager.report(
      clients: loop.clients.connectedCount, loop.engine.receiverMode, at: now)
  }

  /// Applies a reload. Returns whether a new service must replace this one.
  private mutating func apply(_ reload: Reload) -> Bool {
    if let policy = reload.policy {
      loop.clients.adopt(policy)
      // Have the engine apply it now, not at the next wake.
      loop.poll()
    }
    return reload.isProfileNew
  }

  /// Puts the receiver to sleep, then syncs and closes the ring and the state.
  @discardableResult private mutating func end() -> End {
    loop.end()
    let deadline = now + LocationService.endTimeout
    while !isReceiverAsleep && now < deadline {
      _ = loop.turn(atLatest: min(deadline, manager.watchdogDue))
      reportStatus()
      // Consume further signals, because an unread one would end each wait.
      _ = nextSignal()
    }
    let end: End = isReceiverAsleep ? .stopped : .receiverBusy
    loop.engine.closeRing()
    // Twice, because the header's second copy is written after the first is durable.
    sync()
    sync()
    loop.clients.shutDown(loop.engine)
    if sessionLight.isOn { _ = loop.board.setSessionLight(false) }
    return end
  }

  private var isReceiverAsleep: Bool {
    !loop.engine.canReceiverSleep || (!loop.engine.isReceiverAwake && loop.engine.isDriverIdle)
  }

  // MARK: Power-off

  // The deepest sleep state: the board is off until an alarm, if its profile permits that. It ends all programs,
  // including this service, so the decision is made here and not in the engine's plan.

  /// Time of the next check whether the board may be off; `.distantFuture` for never.
  private var powerOffDue: Instant { loop.powerOffDue(powerOff, at: now) }

  /// Whether to switch the board off now. Sets the alarm and writes the intent to the disk before returning true.
  private mutating func preparePowerOff() -> Bool {
    let now = now
    switch loop.attemptPowerOff(&powerOff, at: now) {
    case .notNow, .refused(nil): return false
    case .refused(let blocker?):
      log.write(.notice, "the board stays on although it could be off: \(blocker)")
      return false
    case .prepared(let duration):
      log.write(.notice, "the board is switched off for \(Int(duration.seconds)) s")
      return true
    }
  }

  // MARK: The ring's file

  private var hasUnsynced: Bool { !loop.engine.unsynced.isEmpty || loop.clients.hasUnsavedChanges }

  private mutating func sync() {
    let unsynced = loop.engine.unsynced
    syncSchedule.didWrite(at: now)
    loop.clients.saveAll(loop.engine)
    guard !unsynced.isEmpty else { return }
    do {
      try LocationService.sync(unsynced, in: ring)
      loop.engine.markSynced(unsynced)
    } catch {
      log.write(
        .error,
        "fixes cannot be synced to the disk and would be lost in a power cut: \(error)")
    }
  }

  private static func sync(
    _ bytes: UnsyncedBytes, in ring: borrowing RingFile
  ) throws(RingFileError) {
    if let slots = bytes.slots { try ring.sync(slots) }
    if let wrapped = bytes.wrapped { try ring.sync(wrapped) }
    if let header = bytes.header { try ring.sync(header) }
  }
}

/// Result of reading policy and profile again, returned by the closure that ``LocationService/run(reload:)`` calls.
/// The closure logs errors; a file with errors changes nothing.
public struct Reload: Sendable {
  /// The new policy; nil to keep the current one.
  public var policy: AccessPolicy?
  /// Whether the board's profile has changed, which requires a new service.
  public var isProfileNew: Bool

  /// Creates a result.
  public init(policy: AccessPolicy?, isProfileNew: Bool) {
    self.policy = policy
    self.isProfileNew = isProfileNew
  }
}

/// The ring's file cannot be used. It is left unchanged. Thrown by ``LocationService``, handled by `torpord`.
public struct RingProblem: Error, CustomStringConvertible {
  /// Whether the file is damaged, and not only of another format or size. `torpord` replaces a damaged file,
  /// because an unattended board would otherwise wait for help for months.
  public var isDamage: Bool { error == .notARing }

  /// Path of the ring's file.
  public var path: String
  /// Cause.
  public var error: RingError
  /// Path of the durable state, which stores the newest generation as well.
  public var state: String

  /// Cause and how to fix it, in one line.
  public var description: String {
    "'\(path)' cannot be used as a ring of fixes: \(reason); \(suggestion)"
  }

  private var suggestion: String {
    switch error {
    // A new ring would continue with the generation stored in the state.
    case .exhausted:
      "move away '\(path)', '\(state)' and '\(state)-wal' to start again; all clients, decisions about them and "
        + "fixes are then lost"
    case .notARing, .unsupportedFormat, .capacityMismatch, .capacityOutOfRange, .storageTooSmall,
      .storageMisaligned:
      "move the file away to create a new ring"
    }
  }

  private var reason: String {
    switch error {
    case .notARing: "it is not a ring, or damaged beyond use"
    case .unsupportedFormat(let found, let known):
      "it has format \(found), and this version supports format \(known); use the version that wrote it"
    case .capacityMismatch(let found, let expected):
      "it holds \(found) fixes, and the profile requires \(expected) (cache.capacity_fixes)"
    case .capacityOutOfRange(let capacity): "a ring cannot hold \(capacity) fixes"
    case .storageTooSmall(let needed, let given):
      "it has \(given) bytes, and \(needed) are required"
    case .storageMisaligned: "its memory is not aligned"
    case .exhausted: "its generation, or that of the durable state, is the highest possible one"
    }
  }
}

/// Memory of the engine's client table, for the life of the service.
@safe final class ClientMemory {
  @unsafe let storage: UnsafeMutableBufferPointer<Client>

  init(capacity: Int) { unsafe storage = .allocate(capacity: capacity) }

  // Clients are plain values and need no deinitialization.
  deinit { unsafe storage.deallocate() }
}

/// Memory for a backup of the receiver's navigation database while the receiver is powered off.
@safe final class AidingMemory {
  @unsafe let storage: UnsafeMutableRawBufferPointer

  init(entries: UInt8) {
    unsafe storage = .allocate(
      byteCount: AidingStore.byteCount(capacity: Int(entries)), alignment: 1)
  }

  deinit { unsafe storage.deallocate() }
}
