import CLinux
import DeferralCache
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationRuntime
import LocationTypes
import ServiceState

/// The service as it runs: the loop on its board, its clients on a socket, the ring in its file.
///
/// One thread and one wait; nothing wakes it but the receiver, a client, a signal, or a moment that
/// the engine or the ring's file has asked for.
public struct LocationService: ~Copyable {
  /// How long an ending service waits for the receiver to go to rest.
  public static let endPatience = Interval.seconds(5)

  /// What ends ``run()``.
  public enum End: Equatable, Sendable {
    /// A signal asked for it; the receiver rests and everything is on the disk.
    case stopped
    /// As before, but the receiver did not go to rest in time.
    case receiverBusy
    /// As after a signal, and the board is to be switched off: its alarm is set, and the wish on the disk.
    case poweringOff
    /// The board's profile has changed, and wants a new service; the rest is as before.
    case replaced
  }

  var loop: LocationLoop<LinuxBoard<GPIOPins>, LocationServer>
  /// The board's wait and clock: asked of the board itself, they cost a copy of its line's buffers.
  private let events: EventWait
  private let clock = SystemClock()
  private let ring: RingFile
  private let clients: ClientMemory
  private let aiding: AidingMemory?
  private var signals: SignalWatch
  let notifier: ServiceNotifier
  let log: SystemLog
  let suspender: BoardSuspender?
  let powerOff: BoardPowerOff?
  var offRule: PowerOffRule?
  var told = ToldStatus()
  private var syncs: SyncSchedule
  private var showsSession = false
  private var isLightStuck = false
  private var locks = SleepLocks()

  /// The bytes of a ring's file with room for so many fixes.
  public static func ringSize(capacity: Int) -> Int { FixRing.storageSize(capacity: capacity) }

  /// Room for what a receiver knows of the sky: usually some 40 entries, of 22 kB at the most.
  static let aidingEntries: UInt8 = 128

  /// Whether a file of so many bytes can be a ring, of whatever capacity; one that was cut short cannot.
  public static func isRingSize(_ bytes: Int) -> Bool { FixRing.capacity(ofSize: bytes) != nil }

  static let signalToken = EventWait.Token.firstFree

  /// Puts a service together: the ring is opened and what was repaired in it made durable, and the
  /// clients of earlier runs are taken back (BKG-20).
  public init(
    _ setup: EngineSetup, ring: consuming RingFile, capacity: Int, clients: Int,
    syncInterval: Interval, board: consuming LinuxBoard<GPIOPins>, suspender: BoardSuspender? = nil,
    powerOff: BoardPowerOff? = nil, server: consuming LocationServer, boot: BootIdentity,
    signals: consuming SignalWatch, notifier: consuming ServiceNotifier, log: SystemLog
  ) throws {
    let memory = ClientMemory(capacity: clients)
    var fixes: FixRing
    // Higher than any that was ever used, though the ring's file be lost (RNG-2).
    let floor = UInt32(clamping: server.state.counter(.ringGeneration))
    do {
      fixes = try unsafe FixRing(
        recovering: ring.storage, capacity: capacity, generationFloor: floor)
    } catch {
      throw RingProblem(path: ring.path, error: error, state: server.state.path)
    }
    let news = RingNews(
      fixes.recovery, count: fixes.start - fixes.tail, path: ring.path, hadOne: floor > 0,
      hasState: !server.state.repairs.isNew)
    for line in news.lines { log.write(line.priority, line.text) }
    // Durable before the first append (RNG-2).
    let unsynced = fixes.unsynced
    try LocationService.sync(unsynced, in: ring)
    fixes.markSynced(unsynced)
    let loss = LocationService.noteRun(fixes, boot, server.state)
    var setup = setup
    let aiding =
      setup.keepAiding(entries: LocationService.aidingEntries)
      ? AidingMemory(entries: LocationService.aidingEntries) : nil
    var engine = unsafe Engine(setup, ring: fixes, clients: memory.storage)
    server.restore(into: &engine, after: loss, at: board.now)
    server.flush()
    let events = board.events
    try events.add(signals.descriptor, as: LocationService.signalToken, for: .readable)
    loop = LocationLoop(engine: engine, board: board, clients: server)
    loop.overlooksUnwanted = true
    loop.clients.suspender = suspender
    if let aiding { loop.aiding = unsafe AidingStore(aiding.storage) }
    self.aiding = aiding
    self.events = events
    self.ring = ring
    self.clients = memory
    self.signals = signals
    self.notifier = notifier
    self.log = log
    self.suspender = suspender
    self.powerOff = powerOff
    if let powerOff, powerOff.isPossible {
      offRule = PowerOffRule(shortest: powerOff.shortest, lead: powerOff.lead)
    }
    syncs = SyncSchedule(every: syncInterval, at: .boot)
  }

  /// Notes that a run has begun; gives what may be lost since the last one (RNG-4): what was not synced, if
  /// the board was off and the service had not ended in order, or all, if the ring's file was lost.
  static func noteRun(
    _ ring: borrowing FixRing, _ boot: BootIdentity, _ state: StateStore
  ) -> Gap? {
    let before = state.counter(.boot)
    let hadRing = state.counter(.ringGeneration) > 0
    state.setCounter(.boot, boot.number)
    state.setCounter(.ringGeneration, Int64(ring.generation))
    if ring.recovery.isNew, hadRing { return Gap(unsyncedBefore: ring.start, after: nil) }
    guard !ring.recovery.isNew, !ring.recovery.wasClosed, before != 0, before != boot.number
    else { return nil }
    let newest = ring.recovery.newest.map { FixTime(acquired: $0.fix.acquired, utc: $0.fix.utc) }
    return Gap(unsyncedBefore: ring.start, after: newest)
  }

  /// Now, on the boot clock.
  var now: Instant { clock.now }

  /// Runs until a signal ends it.
  ///
  /// - Parameter reload: Reads anew what an administrator may have changed; called for `SIGHUP`.
  public mutating func run(reload: () -> Reload) -> End {
    clinux_forget_code(nil)
    notifier.ready()
    while true {
      turn()
      guard let wish = nextWish() else {
        guard isToPowerOff() else { continue }
        notifier.stopping()
        end()
        return .poweringOff
      }
      switch wish {
      case .stop:
        notifier.stopping()
        return end()
      case .reload:
        notifier.reloading()
        if take(reload()) {
          end()
          return .replaced
        }
        reloaded()
      }
    }
  }

  /// What a signal asks for, if one has come.
  private mutating func nextWish() -> SignalWatch.Wish? {
    events.conditions(of: LocationService.signalToken).contains(.readable)
      ? signals.next() : nil
  }

  /// One turn of the loop, and what the ring's file needs: a power cut loses what was made within the
  /// profile's interval, and nothing before. What is not on the disk yet bounds the wait, or is written before a
  /// suspend.
  private mutating func turn() {
    followLocks()
    let isQuiet = loop.engine.isReceiverQuiet
    var isUnsynced = hasUnsynced
    if isUnsynced, syncs.writesEarly(before: loop.planned, isReceiverQuiet: isQuiet, at: now) {
      sync()
      isUnsynced = hasUnsynced
    }
    let due = isUnsynced ? syncs.due : .distantFuture
    _ = loop.turn(
      atLatest: min(
        min(due, loop.clients.deadline), min(min(watchdogDue, powerOffDue), locks.due)))
    if now >= syncs.due { sync() }
    tellManager()
    tellSleep()
    showSessions()
  }

  /// Who has a lock against sleep keeps fixes from staying behind, too (DEF-28).
  private mutating func followLocks() {
    guard let suspender else { return }
    let wouldSuspend = loop.planned.map { $0.board >= .suspended } ?? false
    let change = locks.look(wouldSuspend: wouldSuspend, at: now) { suspender.lookForLock() }
    if let change { loop.inhibitSleep(change) }
  }

  /// Why the board is not suspended, or that it is; when that has changed.
  private func tellSleep() {
    if let news = suspender?.takeNews() { log.write(.notice, news) }
  }

  /// The light is on while somebody has a background session (BKG-11).
  private mutating func showSessions() {
    let isOn = loop.clients.hasBackgroundSession
    guard isOn != showsSession else { return }
    if loop.board.showSession(isOn) {
      showsSession = isOn
      isLightStuck = false
    } else if !isLightStuck {
      // With each thing that happens it is tried again.
      isLightStuck = true
      log.write(
        .warning, "the light of background sessions cannot be switched \(isOn ? "on" : "off")")
    }
  }

  /// The receiver to rest, the ring to the disk.
  @discardableResult private mutating func end() -> End {
    loop.end()
    let deadline = now + LocationService.endPatience
    while !isAtRest && now < deadline {
      _ = loop.turn(atLatest: min(deadline, watchdogDue))
      tellManager()
      // It is ending already; unread, a signal would end each wait.
      _ = nextWish()
    }
    let end: End = isAtRest ? .stopped : .receiverBusy
    loop.engine.closeRing()
    // The header's second copy is written once the first is durable.
    sync()
    sync()
    loop.clients.shutDown(loop.engine)
    if showsSession { _ = loop.board.showSession(false) }
    return end
  }

  private var isAtRest: Bool {
    !loop.engine.canReceiverSleep || (!loop.engine.isReceiverAwake && loop.engine.isSettled)
  }

  // MARK: The ring's file

  private var hasUnsynced: Bool { !loop.engine.unsynced.isEmpty || loop.clients.hasUnkept }

  private mutating func sync() {
    let unsynced = loop.engine.unsynced
    syncs.wrote(at: now)
    loop.clients.keepAll(loop.engine)
    guard !unsynced.isEmpty else { return }
    do {
      try LocationService.sync(unsynced, in: ring)
      loop.engine.markSynced(unsynced)
    } catch {
      log.write(.error, "fixes cannot be made durable, and a power cut loses them: \(error)")
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

/// A ring's file that holds no ring; nothing of it was changed.
public struct RingProblem: Error, CustomStringConvertible {
  /// Whether it is damaged, and not simply of another format or size: a service that waits for a hand would
  /// wait for months.
  public var isDamage: Bool { error == .notARing }

  /// The file.
  public var path: String
  /// What is wrong with it.
  public var error: RingError
  /// The file of the durable state, which has the newest generation too.
  public var state: String

  /// What is wrong and what helps, in one line.
  public var description: String {
    "'\(path)' cannot be used as a ring of fixes: \(reason); \(remedy)"
  }

  private var remedy: String {
    switch error {
    // A new ring would have to go on from the generation that the state has.
    case .exhausted:
      "move away '\(path)', '\(state)' and '\(state)-wal' to begin anew: clients, what was decided about them and "
        + "all fixes are forgotten then"
    case .notARing, .otherFormat, .otherCapacity, .capacityOutOfRange, .storageTooSmall,
      .storageMisaligned:
      "move the file away to begin a new ring"
    }
  }

  private var reason: String {
    switch error {
    case .notARing: "it is something else, or damaged beyond use"
    case .otherFormat(let found, let known):
      "it is of format \(found), and this version knows \(known): the version that wrote it can read it"
    case .otherCapacity(let found, let wanted):
      "it holds \(found) fixes, and the profile wants \(wanted) (cache.capacity_fixes)"
    case .capacityOutOfRange(let capacity): "a ring cannot hold \(capacity) fixes"
    case .storageTooSmall(let needed, let given): "it has \(given) bytes and needs \(needed)"
    case .storageMisaligned: "its memory is not aligned"
    case .exhausted: "its generation, or that of the durable state, is the highest there is"
    }
  }
}

/// The memory of the engine's clients; lives as long as the service.
@safe final class ClientMemory {
  @unsafe let storage: UnsafeMutableBufferPointer<Client>

  init(capacity: Int) { unsafe storage = .allocate(capacity: capacity) }

  // Clients are plain values: nothing in them is to be released.
  deinit { unsafe storage.deallocate() }
}

/// Memory for what a receiver knows of the sky while it is cut off.
@safe final class AidingMemory {
  @unsafe let storage: UnsafeMutableRawBufferPointer

  init(entries: UInt8) {
    unsafe storage = .allocate(
      byteCount: AidingStore.byteCount(capacity: Int(entries)), alignment: 1)
  }

  deinit { unsafe storage.deallocate() }
}
