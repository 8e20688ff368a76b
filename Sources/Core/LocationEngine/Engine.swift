import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// The core of the location service: a state machine with events as input and bounded effects as output.
///
/// **Problem.** Many clients with different demands share one GNSS receiver and one board that should sleep. The
/// engine decodes the receiver's bytes, stores fixes in the ring, applies each client's policy, plans receiver and
/// board, and commands the receiver's driver. Its caller owns all I/O: it passes the memory of ring and clients, sends
/// every event with its time, executes the effects in their order, and then sends the next event. The engine reads no
/// clock, allocates nothing, calls no callback, and is mutated in place. It depends on the other core modules only,
/// not on a HAL.
///
/// **One step.** `step(bytes:at:)` and `step(_:at:)` run these phases:
///
/// ```
///   bytes --> consume: at most one epoch,         event --> request, pin, motion,
///             one driver answer or one                      battery, fault, time
///             driver observation                                |
///                |                                              |
///      bytes in the middle of an epoch,                         |
///      and the last plan is still valid?                        |
///         | yes            | no                                 |
///         |                +----------------+-----------------+
///         |                                 v
///         |            deadlines of driver and line, held fix, receiver check
///         |                                 v
///         |            clients: time, engagement -> sum of demands
///         |                                 v
///         |            FixSchedule: single fixes, held fix
///         |                                 v
///         |            work left? -- yes --> Effects.needsProceed, no plan yet
///         |                | no
///         |                v
///         |            Planner.plan -> new goal or drain for the driver, notices
///         |                | goal, drain or notices: Effects.needsProceed
///         v                v
///      finishPlan: input mode, wake time --> Effects (board state, wake, wakesOnInput)
/// ```
///
/// While `needsProceed` is set, the caller must send ``Event/proceed`` at the same time before any new bytes.
///
/// **States.** The engine combines the state machines of its parts (driver, schedule, deferrals). Its own states are
/// small and independent of each other:
///
/// ```
/// acquisition  off ----- goal becomes awake ----> acquiring ----- fix ----> found
///              off <---- goal: standby or off --- acquiring, found
///              (a fix while off changes nothing; after a loss of the receiver the acquisition is interrupted
///              until the next fix, start or stop)
///
/// receiver     available -- driver reports lost; or a receiver without commands is silent --> lost
///              lost -- goal reached (not off), recovered, refused; or a live epoch from a
///                      receiver without commands --> available
///
/// drain        none -- a client waits for the buffer, or a drain or distance check is due --> requested
///              requested -- drained, refused, or nothing buffered --> none (Client.drainFinished)
///              requested -- receiver lost --> none (Client.receiverLost)
///
/// held fix     none -- first fix, a better one is expected --> held
///              held -- better fix, refining over, or a client cannot wait longer --> none (delivered)
///
/// input        read:      every byte ends the wait
///              delayed:   an epoch or a drain is in progress; bytes are read after a short delay
///              buffering: no message is needed before the wake time; messages stay in the input buffer
///              (each plan selects one)
/// ```
///
/// **Invariants.**
///
/// - Time never goes back, and every wake time is at least 1 ms ahead, so the caller cannot loop without progress.
/// - Measurement times of fixes never decrease in the ring, even if UTC steps.
/// - The driver acts at most once per step, because it has one output buffer.
/// - A client that is not dirty has no notice, no passed due time, and at most needs single fixes (``ClientTable``).
/// - A fix is stored only if a client needs it, with full accuracy only if a client may receive that (RNG-6). Before
///   the ring's head passes a cursor, the cursor advances and records the gap (RNG-4).
/// - A deferral's end that waits for buffered fixes is reported after the drain or after the loss of the receiver.
///
/// **Who may change what.** Only this file writes the stored properties. Clients change through `handle(_:of:)` and
/// the phases above; `setGoal` alone writes `goal`; ``FixSchedule``, the driver, `FixRing` and the clients own their
/// states. The computed properties for status change nothing.
///
/// **Bounds.** A step is O(clients in use) plus O(bytes). It appends at most one fix. A drain without a result doubles
/// the time to the next one, at most 12 times. A refused mode is retried with exponential back-off (``RetryBackoff``).
public struct Engine: ~Copyable {
  let setup: EngineSetup
  var planner: Planner
  var ring: FixRing
  var clients: ClientTable
  var decoder: GNSSDecoder
  var assembler: EpochAssembler
  // Not optional: it is large, and reading an optional copies it. Without a receiver it is unused.
  var driver: ReceiverDriver
  let hasDriver: Bool
  /// Silence after which a receiver that should send counts as not responding, input buffering included.
  let silenceTimeout: Interval
  var fixClock = FixClock()

  var chunk = ByteChunk()
  var chunkOffset = 0
  var now = Instant.boot
  var lastByteTime = Instant.boot
  /// When buffered input was last discarded unread.
  var inputDiscardedAt = Instant.boot
  /// Latest time of the next step by the last plan.
  var plannedWake = Instant.distantFuture
  /// ``receiverCheckTime(_:)`` as of the last plan. Input since then can only have postponed it.
  var receiverCheckDue = Instant.distantFuture
  /// Whether the last plan delayed reading: the arrival times of the next bytes are unknown.
  var isReadDelayed = false
  /// Time of the receiver's last pulse per second.
  var pulse: Instant?
  /// Time at which the last live epoch was complete: the next ones follow at multiples of the fix interval.
  var lastEpochTime = Instant.boot
  /// Lower bound for the start of the epoch that is being assembled.
  var earliestEpochStart = Instant.boot
  /// Time since which the driver's deadline is postponed because bytes keep arriving.
  var overdueSince: Instant?
  /// Time of the last step that read buffered messages; nil before the first such step.
  var bufferedInputReadAt: Instant?
  /// Last received entry of the receiver's navigation database.
  var aidingEntry: UBXAidingEntry?
  /// Whether the plan leaves messages in the input buffer until the wake time.
  var isInputBuffering = false
  /// Newest fix in the ring.
  var newestFix: StoredFix?
  /// Whether the newest fix has the same time as the one before.
  var isNewestRepeated = false
  /// Distance travelled along all fixes in the ring.
  var odometer = Odometer()
  /// Measurement time of the newest valid fix, stored or not.
  var newestFixTime = Instant.boot
  /// First fix that is held back while its accuracy improves.
  var heldFix: Fix?
  var isInhibited = false
  /// Whether the service ends and no client is served.
  var isEnding = false
  var isReceiverLost = false
  /// Time of the last fix from a receiver that answers no command (PWR-12).
  var lastStreamedFixTime: Instant?
  var batchBackoff = RetryBackoff()
  var powersaveBackoff = RetryBackoff()

  var goal: ReceiverGoal?
  var isDrainRequested = false
  var lastDrainTime = Instant.boot
  /// The ring's head after the last drain, and the number of drains in a row, up to 12, that brought no fix: without
  /// sky view they become less frequent (PWR-7).
  var headAfterDrain: UInt64 = 0
  var emptyDrains: Int64 = 0
  var acquisition = FixAcquisition()
  /// State machine for single fixes.
  var schedule = FixSchedule()
  /// Start times for clients with an accuracy bound.
  var movement = MovementPlanner()
  /// Upper estimate of the device's speed.
  var plausibleSpeed: PlausibleSpeed
  /// Sum of the demands at the end of the last step.
  var demand = DemandSummary()
  /// Time until which the plan stays valid if only bytes arrive that complete no epoch.
  var planValidUntil = Instant.boot
  /// Last state of the motion sensor; `.moving` until it reports one, `.absent` on a board without one.
  var motionLine: MotionLine
  /// Service levels that the battery's charge sheds.
  var battery: BatteryMonitor
  var noticeIndex = 0

  /// Creates an engine with an opened ring and memory for its clients.
  ///
  /// - Parameters:
  ///   - ring: The deferral cache, opened or recovered.
  ///   - clients: Memory for the largest number of clients; uninitialised, must outlive the engine.
  /// - Precondition: N ≤ R / 2 (RNG-1), so that a client at its limit is flushed long before its fixes are
  ///   overwritten.
  @unsafe public init(
    _ setup: EngineSetup, ring: consuming FixRing, clients: UnsafeMutableBufferPointer<Client>
  ) {
    let limit = setup.parameters.deferralLimit
    precondition(
      limit >= 1 && limit <= ring.capacity / 2,
      "RNG-1: the deferral limit must be ≤ R / 2")
    self.setup = setup
    planner = Planner(setup.parameters)
    unsafe self.clients = ClientTable(clients, head: ring.head)
    self.ring = ring
    decoder = GNSSDecoder(setup.decoding)
    assembler = EpochAssembler(setup.epochs)
    driver = ReceiverDriver(setup.receiver ?? ReceiverSetup(family: .passive))
    hasDriver = setup.receiver != nil
    silenceTimeout =
      max(setup.receiverSilenceTimeout, setup.parameters.fixInterval * 2)
      + setup.parameters.inputBufferTime
    plausibleSpeed = PlausibleSpeed(limit: setup.parameters.plausibleSpeed)
    motionLine = .absent
    battery = BatteryMonitor(setup.battery)
    if setup.parameters.usesMotionLine { setMotionLine(.moving) }
  }

  /// Processes bytes from the receiver and returns the effects.
  ///
  /// Bytes are not an ``Event``, because an event with space for a chunk would be copied wherever it is read. The
  /// engine keeps its own copy of the bytes.
  ///
  /// - Parameters:
  ///   - bytes: The bytes in the order of their arrival, at most `ByteChunk.capacity`; may be empty.
  ///   - now: Time of the boot clock; not before that of the previous step.
  /// - Complexity: O(bytes), and O(clients in use) where they complete an epoch or a driver answer.
  /// - Precondition: The previous bytes are processed: no effects request ``Event/proceed``.
  public mutating func step(bytes new: Span<UInt8>, at now: Instant) -> Effects {
    precondition(chunkOffset == chunk.count, "send .proceed until the previous bytes are processed")
    advance(to: now)
    var effects = Effects()
    if new.count > 0 {
      if isInputBuffering || isContinuingBufferedInput { bufferedInputReadAt = now }
      lastByteTime = now
      assembler.noteInput(at: now, isBuffered: isReadDelayed)
    }
    chunk.removeAll()
    chunk.append(new)
    chunkOffset = 0
    consume(&effects)
    if keepsPlan(effects) { continuePlan(&effects) } else { finishStep(&effects) }
    return effects
  }

  /// Processes one event and returns the effects.
  ///
  /// - Parameter now: Time of the boot clock; not before that of the previous step.
  /// - Complexity: O(clients in use).
  public mutating func step(_ event: Event, at now: Instant) -> Effects {
    advance(to: now)
    var effects = Effects()
    switch event {
    case .proceed: consume(&effects)
    case .batchPin: drive(.batchPin, &effects)
    case .motion(let level):
      if setup.parameters.usesMotionLine { setMotionLine(level == .active ? .moving : .still) }
    case .battery(let charge):
      battery.update(charge: charge)
      for i in markAllDirty() { clients[i].endDormancy() }
    case .time: break
    case .request(let client, let request): handle(request, of: client)
    case .sleepInhibitor(let isOn): isInhibited = isOn
    case .end: isEnding = true
    case .lineFault: drive(.lineFault, &effects)
    case .pinFault(let pin): drive(.pinFault(pin), &effects)
    }
    finishStep(&effects)
    return effects
  }

  /// Records the receiver's last pulse per second before the next bytes. It gives the exact time of a fix at a whole
  /// second (STD-7). This is no step and has no effects.
  ///
  /// - Parameter pulse: Time on the boot clock; not in the future, and at most one second before the first of those
  ///   bytes.
  public mutating func recordPulse(at pulse: Instant) { self.pulse = pulse }

  /// Restores a client after a restart of the service (BKG-20): its unacknowledged fixes are undelivered again, and so
  /// are the fixes that a batching receiver recorded during the downtime.
  ///
  /// The other durable state is restored by requests: authorization and accuracy before the client connects, services
  /// and regions after it, regions with ``Request/addRegion(_:assuming:)``. O(1).
  ///
  /// - Parameter start: Start time of the service; nil if the time since the ring's newest fix is unknown and no
  ///   recorded fixes are expected from the receiver.
  /// - Precondition: No step was executed yet.
  public mutating func restore(
    _ client: ClientID, from bookmark: ClientBookmark, startingAt start: Instant? = nil
  ) {
    precondition(now == .boot, "restore clients before the first step")
    clients.activate(client.index)
    clients[client.index] = Client(restoring: bookmark, in: ring)
    if let start {
      clients[client.index].resumeRecording(
        from: bookmark, at: start, recorder: downtimeRecording(for: bookmark),
        slack: setup.parameters.fixInterval * 2, limit: setup.parameters.deferralLimit, in: ring)
    }
    clients.markDirty(client.index)
  }

  /// Whether the receiver recorded fixes for a client while the service was down; if so, the driver expects them.
  private mutating func downtimeRecording(for bookmark: ClientBookmark) -> DowntimeRecording {
    guard bookmark.isOpenEnded, hasDriver, setup.receiver?.batch != nil else { return .none }
    driver.expectBufferedFixes()
    return receiverBuffers ? .holdsFixes : .lostFixes
  }

  /// A client's position in the ring, for durable storage and ``restore(_:from:startingAt:)``. O(1).
  public func bookmark(of client: ClientID) -> ClientBookmark {
    clients.withClient(client.index) { $0.bookmark(in: ring) }
  }

  /// The undelivered fixes of a client at this time. O(1).
  public func backlog(of client: ClientID) -> Backlog {
    clients[client.index].backlog(in: ring)
  }

  /// A region of a client for durable storage, for ``Request/addRegion(_:assuming:)`` (BKG-20); nil if `slot`,
  /// below `RegionMonitor.capacity`, is empty. O(1).
  public func regionRecord(
    of client: ClientID, at slot: Int
  ) -> (region: Region, assuming: MonitorState)? {
    clients[client.index].services.regions.record(at: slot)
  }

  /// The bytes to write to the receiver when ``Effects/hasOutput`` is set.
  public var output: FrameBuffer { hasDriver ? driver.outgoing : FrameBuffer() }

  /// The frame to store when ``Effects/aiding`` requires it; read it before the next step.
  public var aidingFrame: ByteChunk {
    aidingEntry.map { decoder.frame(of: $0) } ?? ByteChunk()
  }

  /// The next notice for a client; nil when all are reported.
  ///
  /// The notices of one client come in their order, one client after the other.
  public mutating func nextNotice() -> ClientNotice? {
    noticeIndex = max(noticeIndex, clients.dirtyRange.lowerBound)
    while noticeIndex < clients.dirtyRange.upperBound {
      if clients.isDirty(noticeIndex, at: now),
        let notice = clients[noticeIndex].nextNotice(in: ring, hold: now + setup.deliveryHold)
      {
        return ClientNotice(client: ClientID(noticeIndex), notice: notice)
      }
      noticeIndex += 1
    }
    noticeIndex = 0
    return nil
  }

  /// The fix with a sequence number; nil if the ring no longer has it. The service reads the fixes of a batch with it
  /// (RNG-5). O(1).
  public func stored(at sequence: UInt64) -> StoredFix? { ring.stored(at: sequence) }

  /// Whether a fix may have had that name; see `FixRing.mayHaveAssigned(_:)`. O(1).
  public func mayHaveNamed(_ name: FixName) -> Bool { ring.mayHaveAssigned(name) }

  /// The last fix appended to the ring, with the accuracy before any reduction; nil before the first one. O(1).
  public var newestStored: StoredFix? { newestFix }

  /// The client's `location` in Core Location's sense: the newest fix that was delivered to it (STD-8).
  public func location(of client: ClientID) -> StoredFix? {
    clients.withClient(client.index) { $0.location(in: ring) }
  }

  /// `deferredLocationUpdatesAvailable()`: the board has a receiver and a low-power caching state (DEF-7).
  public var isDeferralAvailable: Bool { hasDriver && setup.parameters.hasCachingState }

  /// Whether the receiver should be acquiring or tracking.
  public var isReceiverAwake: Bool { goal.map(Engine.isAwake) ?? false }

  /// Whether no fix is expected on the receiver's line: the receiver is off, asleep, or records fixes itself.
  public var isReceiverQuiet: Bool { !isReceiverAwake || receiverBuffers }

  /// The planned state of the receiver; nil before the first plan.
  public var plannedReceiver: PlannedReceiver? {
    switch goal {
    case .off?: .off
    case .standby?: .standby
    case .tracking?: .tracking
    case .powersave?: .powersave
    case .batching(let watermark)?: .batching(watermark: watermark)
    case nil: nil
    }
  }
  /// Whether no command is in progress between board and receiver.
  public var isDriverIdle: Bool { !hasDriver || driver.status.isQuiescent }

  /// Whether the receiver may hold fixes that are not in the ring yet.
  public var mayReceiverHoldFixes: Bool { receiverBuffers }
  /// Whether the receiver can be put to sleep or switched off.
  public var canReceiverSleep: Bool {
    hasDriver && (setup.parameters.canStandby || setup.parameters.canSwitchOff)
  }

  /// Last battery charge, percent; nil on a board without a gauge.
  public var batteryCharge: UInt8? { battery.charge }
  /// Service levels that are shed because of the battery's charge (PWR-10).
  public var shed: ServiceLevelSet { battery.shed }
  /// Counters of the decoder.
  public var decoderCounters: DecoderCounters { decoder.counters }
  /// Counters of the driver.
  public var driverCounters: DriverCounters { hasDriver ? driver.counters : DriverCounters() }
  /// The generation of new fixes (RNG-2).
  public var generation: UInt32 { ring.generation }
  /// The part of the ring's memory that is not durable yet; see `FixRing.unsynced`.
  public var unsynced: UnsyncedBytes { ring.unsynced }
  /// Records that these bytes are durable; see `FixRing.markSynced(_:)`.
  public mutating func markSynced(_ bytes: UnsyncedBytes) { ring.markSynced(bytes) }
  /// Marks the ring as closed at the end of the service; nothing more is appended. Then sync ``unsynced`` twice.
  public mutating func closeRing() { ring.close() }
  /// The ring's size in fixes, R.
  public var capacity: Int { ring.capacity }
  /// The sequence number of the first fix since the start of the service, existing or future.
  public var generationStart: UInt64 { ring.start }
  /// The sequence number of the next fix.
  public var head: UInt64 { ring.head }
  /// Number of ring slots in use, starting at the oldest readable fix.
  public var fixesInRing: Int { Int(ring.head - ring.tail) }
  /// Calls `body` with a client's record, for status displays and tests; with a new record if it was never connected.
  public func withClient<Result>(
    _ client: ClientID, _ body: (borrowing Client) -> Result
  ) -> Result {
    clients.withClient(client.index, body)
  }
}

/// The acquisition of a first fix, from which ``Engine`` computes the planner's input and the time at which clients
/// receive `locationUnknown`. States and transitions: see ``Engine``.
struct FixAcquisition: Sendable {
  /// Start of the acquisition; nil while the receiver has a fix or is off.
  var startTime: Instant?
  /// Time off before the acquisition; nil when unknown.
  var previousOffTime: Interval?
  /// Time of the last sleep command; nil after a power-off or a start.
  var sleepTime: Instant?
  /// Time since which an awake receiver gave no fix: that of its last fix or of its start. Nil while it is off.
  var withoutFixSince: Instant?
  /// Whether the receiver was lost since its last fix, so that it must acquire again.
  var isInterrupted = false

  mutating func begin(at now: Instant) {
    #if REACHED
      reach(0)
    #endif
    previousOffTime = sleepTime.map { now - $0 }
    sleepTime = nil
    startTime = now
    withoutFixSince = now
    isInterrupted = false
  }

  /// A fix was received.
  fileprivate mutating func succeed(at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    startTime = nil
    isInterrupted = false
    // A fix from a receiver that should be asleep does not start the silence timeout.
    if withoutFixSince != nil { withoutFixSince = now }
  }

  /// The receiver is put to sleep or switched off.
  mutating func stop() {
    #if REACHED
      reach(2)
    #endif
    startTime = nil
    withoutFixSince = nil
    isInterrupted = false
  }
}

// MARK: - From bytes to the ring: messages, epochs, fixes

extension Engine {
  /// Processes pending input in order: epochs that the driver held back, an epoch that was completed together with
  /// another, the remaining chunk. Stops after one epoch, one driver answer or one observation.
  mutating func consume(_ effects: inout Effects) {
    if hasDriver, driver.status.hasReleasedEpoch, let epoch = driver.nextReleasedEpoch() {
      append(epoch, &effects)
      effects.needsProceed = true
      return
    }
    if assembler.hasNext, let epoch = assembler.next() {
      admit(epoch, &effects)
      effects.needsProceed = true
      return
    }
    if driver.usesMessages { consumeMessages(&effects) } else { consumeEpoch(&effects) }
  }

  /// Processes messages for a driver that uses them, until the step is complete.
  private mutating func consumeMessages(_ effects: inout Effects) {
    while let message = decoder.next(chunk.span, &chunkOffset) {
      if process(message, &effects) {
        effects.needsProceed = true
        return
      }
    }
  }

  /// Processes bytes up to the next epoch, for a driver that uses epochs only.
  private mutating func consumeEpoch(_ effects: inout Effects) {
    var epoch = Epoch()
    let hasEpoch = decoder.next(
      chunk.span, &chunkOffset, through: &assembler, at: arrivalTime, into: &epoch)
    guard hasEpoch else { return }
    complete(epoch, &effects)
    effects.needsProceed = true
  }

  /// Completes the epoch in progress after a silence on the line.
  private mutating func closeEpoch(_ effects: inout Effects) {
    let isTimedOut = now - lastByteTime >= EpochAssembler.messageTimeout
    while isTimedOut, let message = decoder.finish() {
      if process(message, &effects) {
        effects.needsProceed = true
        return
      }
    }
    guard let epoch = assembler.close() else { return }
    admit(epoch, &effects)
    effects.needsProceed = true
  }

  /// Whether an unfinished frame or an open epoch waits for more bytes.
  private var isMidEpoch: Bool { assembler.isOpen || decoder.isMidFrame }

  /// Silence after which the open frame or epoch is closed; nil when neither is open.
  var epochTimeout: Interval? {
    assembler.idleTimeout(isMidFrame: decoder.isMidFrame, isMidSentence: decoder.isMidSentence)
  }

  /// Processes one message; true when the step is complete.
  private mutating func process(_ message: GNSSMessage, _ effects: inout Effects) -> Bool {
    if case .aidingEntry(let entry) = message { aidingEntry = entry }
    let observation = driver.usesMessages ? command(.message(message), &effects) : .none
    var isComplete = effects.hasDriverActed
    if case .none = observation {} else { isComplete = true }
    if let epoch = assembler.add(message, at: arrivalTime) {
      complete(epoch, &effects)
      isComplete = true
    }
    if driver.usesMessages { observe(observation) }
    return isComplete
  }

  /// Processes the epoch that a message has completed.
  private mutating func complete(_ epoch: Epoch, _ effects: inout Effects) {
    admit(epoch, &effects)
    // The next epoch begins with this message, one interval after the previous one.
    if epoch.origin == .live { earliestEpochStart = arrivalTime }
  }

  /// The arrival time of the current message.
  ///
  /// Of buffered messages only the order is known; one per fix interval is assumed.
  private var arrivalTime: Instant {
    guard bufferedInputReadAt == now else { return now }
    return min(now, lastEpochTime + setup.parameters.fixInterval)
  }

  /// Whether these bytes were buffered together with the previous ones: they are read at the same time, or right after
  /// a full chunk.
  private var isContinuingBufferedInput: Bool {
    guard let bufferedInputReadAt, bufferedInputReadAt == lastByteTime else { return false }
    return now == lastByteTime || (chunk.isFull && now - lastByteTime < setup.readDelay)
  }

  private mutating func admit(_ epoch: Epoch, _ effects: inout Effects) {
    var epoch = epoch
    if epoch.origin == .live {
      lastEpochTime = arrivalTime
      if let acquired = epoch.fix?.acquired {
        epoch.fix?.acquired = max(acquired, earliestEpochStart)
      }
    }
    guard hasDriver else { return }
    // A receiver without commands cannot answer a probe; its data shows that it has recovered (DEF-43).
    if !driver.usesMessages, epoch.origin == .live { isReceiverLost = false }
    let admission = driver.admit(epoch, at: now)
    switch admission {
    case .accept:
      if driver.status.isStreaming, epoch.fix != nil { lastStreamedFixTime = now }
      append(epoch, &effects)
    case .hold, .drop: break
    }
  }

  /// Stores a valid fix and applies every client's policy; an invalid one is ignored (DEF-24).
  private mutating func append(_ epoch: Epoch, _ effects: inout Effects) {
    guard var fix = epoch.fix else { return }
    if let utc = fix.utc {
      switch epoch.origin {
      case .live:
        // Arrival times of buffered messages are estimated, so a pulse cannot be assigned to them.
        let pulse = bufferedInputReadAt == now ? nil : pulse
        fixClock.update(utc, received: fix.acquired, pulse: pulse)
        // A pulse belongs to one epoch only.
        if let lastPulse = self.pulse, lastPulse <= fix.acquired { self.pulse = nil }
      case .batch: fixClock.updateFromBatch(utc, received: fix.acquired - minimumEntryAge)
      }
      if let bootUTC_us = fixClock.bootUTC_us { driver.setClock(bootUTC_us: bootUTC_us) }
    }
    fix.acquired = fixClock.instant(of: fix.utc, at: fix.acquired, isLive: epoch.origin == .live)
    // Measurement times never decrease, even if UTC steps.
    fix.acquired = max(fix.acquired, newestFixTime)
    newestFixTime = fix.acquired
    fix.isFromAccessory = setup.isAccessory
    if fix.horizontalAccuracy_mm == nil {
      fix.horizontalAccuracy_mm = setup.assumedAccuracy_mm
    }
    acquisition.succeed(at: now)
    if isDeliverable(fix, epoch.origin) {
      deliver(moreAccurate(fix), &effects)
    } else {
      heldFix = fix
    }
  }

  /// Whether to deliver a fix now, or to hold it back because a better one is expected (PWR-7). A fix is held back
  /// only if no client needs every fix, and never if it comes from the receiver's buffer.
  private mutating func isDeliverable(_ fix: Fix, _ origin: EpochOrigin) -> Bool {
    let event: FixSchedule.Event =
      switch origin {
      case .live: .fix(accuracy: accuracy(of: fix), measured: fix.acquired, demand.need)
      case .batch: .drained
      }
    return schedule.handle(event, planner.parameters, at: now) == .use || demand.needsEveryFix
  }

  /// The fix to deliver: `fix`, or the held one if that is more accurate.
  private func moreAccurate(_ fix: Fix) -> Fix {
    guard let heldFix, !demand.needsEveryFix, accuracy(of: heldFix) < accuracy(of: fix) else {
      return fix
    }
    return heldFix
  }

  /// Delivers a held fix when refining has ended without a better one, or a client cannot wait longer.
  mutating func releaseHeldFix(_ effects: inout Effects) {
    guard let fix = heldFix, effects.appended == nil else { return }
    let isOver = schedule.state != .refining || demand.need.until <= now
    guard isOver || demand.needsEveryFix else { return }
    deliver(fix, &effects)
    effects.needsProceed = true
  }

  private mutating func deliver(_ fix: Fix, _ effects: inout Effects) {
    heldFix = nil
    plausibleSpeed.accept(fix)
    updateMovement(fix)
    store(fix, &effects)
  }

  /// Updates the start time for clients with an accuracy bound.
  private mutating func updateMovement(_ fix: Fix) {
    guard demand.bound < .infinity else { return }
    movement.accept(
      fix, within: demand.bound, accuracy: accuracy(of: fix),
      planner.parameters.receiver.withDutyCycle(schedule.usesDutyCycle), schedule.predictor, at: now
    )
  }

  private func accuracy(of fix: Fix) -> Double {
    guard let accuracy = fix.horizontalAccuracy else {
      preconditionFailure("a fix without accuracy must get the assumed one before this")
    }
    return accuracy
  }

  /// Stores a fix that a client needs; other fixes are not stored. If no client may receive it with full accuracy, it
  /// is stored with reduced accuracy (RNG-6).
  private mutating func store(_ fix: Fix, _ effects: inout Effects) {
    var isNeeded = false
    var isPrecise = false
    for i in 0..<clients.used where clients[i].mayNeed(fix) {
      isNeeded = true
      isPrecise = clients[i].mayReceive(fix)
      if isPrecise { break }
    }
    guard isNeeded else { return }
    // Of several fixes with the same time the first one counts, also for clients that skipped it.
    let isRepeated = newestFix.map { fix.acquired <= $0.fix.acquired } ?? false
    if isRepeated && !isNewestRepeated { deliverSkippedFixes() }
    isNewestRepeated = isRepeated
    prepareOverwrite()
    let stored = StoredFix(
      name: ring.append(isPrecise ? fix : AccuracyReduction.stored(fix)), fix: fix)
    effects.appended = stored.name
    newestFix = stored
    odometer.advance(to: fix.coordinate)
    let context = context
    for i in 0..<clients.used where clients[i].needsFix(at: fix.acquired, odometer.length) {
      clients[i].accept(stored, context)
      if clients.isDirty(i, at: now) { clients.markDirty(i) }
    }
  }

  /// Advances the cursors that the head is about to pass; they record the lost fixes as a gap (RNG-4).
  private mutating func prepareOverwrite() {
    guard ring.head - ring.tail >= UInt64(ring.capacity) else { return }
    for i in 0..<clients.used where clients.isDirty(i, at: now) {
      clients[i].prepareOverwrite(in: ring)
    }
  }
}

// MARK: - The receiver's driver

extension Engine {
  /// Sends the driver an event and handles its observation.
  mutating func drive(_ event: DriverEvent, _ effects: inout Effects) {
    observe(command(event, &effects))
  }

  /// Sends the driver an event; its pin, line speed and bytes become effects.
  ///
  /// - Precondition: The driver has not acted in this step, because it has one output buffer.
  mutating func command(
    _ event: DriverEvent, _ effects: inout Effects
  ) -> DriverObservation {
    guard hasDriver else { return .none }
    precondition(!effects.hasDriverActed, "the driver must act at most once per step")
    let answer = driver.handle(event, at: now)
    effects.pin = answer.pin
    effects.lineSpeed = answer.lineSpeed
    effects.aiding = answer.aiding
    effects.hasOutput = driver.status.hasOutgoing
    return answer.observation
  }

  /// Handles an observation of the driver.
  mutating func observe(_ observation: DriverObservation) {
    switch observation {
    case .none: break
    case .reached(let reached):
      if case .batching = reached { batchBackoff.reset() }
      if reached == .powersave { powersaveBackoff.reset() }
      // Switching a receiver off does not show that it works.
      if reached == .off { finishDrainIfEmpty() } else { markReceiverAvailable() }
    case .recovered:
      batchBackoff.reset()
      powersaveBackoff.reset()
      markReceiverAvailable()
    case .drained: finishDrain()
    case .lost: handleReceiverLoss()
    case .refused(let refused):
      if case .batching = refused { batchBackoff.recordRefusal(at: now) }
      if refused == .powersave { powersaveBackoff.recordRefusal(at: now) }
      isReceiverLost = false
      finishDrain()
    }
  }

  private mutating func markReceiverAvailable() {
    isReceiverLost = false
    finishDrainIfEmpty()
  }

  /// Finishes the drain if the receiver holds no fixes.
  private mutating func finishDrainIfEmpty() {
    if !receiverBuffers { finishDrain() }
  }

  /// Whether the receiver may hold fixes that are not in the ring.
  var receiverBuffers: Bool { hasDriver && driver.status.mayBufferFixes }

  /// Lower bound for the age of the current entry of the receiver's buffer: the entries behind it were measured later,
  /// one interval apart.
  private var minimumEntryAge: Interval {
    setup.parameters.fixInterval * Int64(hasDriver ? driver.status.remainingEntries : 0)
  }

  /// All fixes of the receiver's buffer are in the ring: report the ends of deferrals that waited for them.
  mutating func finishDrain() {
    isDrainRequested = false
    lastDrainTime = now
    emptyDrains = ring.head == headAfterDrain ? min(emptyDrains + 1, 12) : 0
    headAfterDrain = ring.head
    let context = context
    for i in markAllDirty() { clients[i].drainFinished(context) }
  }

  /// Handles the loss of the receiver (DEF-43): deferrals end, clients are notified, the driver keeps trying.
  private mutating func handleReceiverLoss() {
    isDrainRequested = false
    guard !isReceiverLost else { return }
    isReceiverLost = true
    acquisition.isInterrupted = true
    let context = context
    for i in markAllDirty() { clients[i].receiverLost(context) }
  }

  /// Schedules the next check of client `i`'s distance criterion while fixes stay in the receiver's buffer (DEF-21).
  ///
  /// The time of the next check is computed after the previous one and not changed in between: otherwise a client with
  /// frequent requests would postpone the check forever.
  mutating func scheduleDistanceCheck(_ i: Int) {
    guard let metresLeft = clients[i].distanceToCheck(receiverBuffers: receiverBuffers) else {
      return
    }
    var speed = newestFix?.fix.speed
    // The speed of an old fix is not used.
    if let newestFix, now - newestFix.fix.acquired > Client.freshness { speed = nil }
    clients[i].scheduleDistanceCheck(
      at: planner.distanceCheck(metresLeft: metresLeft, speed: speed, at: now))
  }

  /// The driver's goal for a planned receiver state.
  static func goal(for planned: PlannedReceiver) -> ReceiverGoal {
    switch planned {
    case .off: .off
    case .standby: .standby
    case .tracking: .tracking
    case .powersave: .powersave
    case .batching(let watermark): .batching(watermark: watermark)
    }
  }

  /// Sets the receiver's goal and records the start of an acquisition or of a sleep.
  mutating func setGoal(_ new: ReceiverGoal) {
    let wasAwake = goal.map(Engine.isAwake) ?? false
    if Engine.isAwake(new) && !wasAwake {
      acquisition.begin(at: now)
    } else if !Engine.isAwake(new) && wasAwake {
      acquisition.stop()
      acquisition.sleepTime = new == .standby ? now : nil
    }
    if case .batching = new { lastDrainTime = now }
    goal = new
  }

  static func isAwake(_ goal: ReceiverGoal) -> Bool {
    switch goal {
    case .off, .standby: false
    case .tracking, .powersave, .batching: true
    }
  }
}

// MARK: - Status (read only)

/// Status of the receiver. Made by ``Engine/receiverReport(at:)``, used by `LocationServer`.
public struct ReceiverReport: Equatable, Sendable {
  /// Present activity.
  public var activity: ReceiverActivity
  /// Whether it is awake and has no fix, either not yet or no longer.
  public var isAcquiring: Bool
  /// Whether it responds as expected: false if the driver has lost it, or if it should send and is silent.
  public var isResponding: Bool
  /// Whether it answers no command but sends fixes (PWR-12).
  public var isStreaming = false
  /// Time at which bytes were last received; nil if never.
  public var lastByteTime: Instant?
  /// Measurement time of its newest fix, stored or not; nil before the first one since the engine's start.
  public var lastFixTime: Instant?
  /// Number of NMEA sentences received with a valid checksum; stops at the largest value.
  public var sentences: UInt32 = 0
  /// Number of UBX frames received with a valid checksum; stops at the largest value.
  public var frames: UInt32 = 0
}

/// The demands of one client that keep board and receiver awake. Made by ``Engine/usage(of:at:)``, used by
/// `LocationServer`.
public struct ClientUsage: Equatable, Sendable {
  /// Its continuous demand.
  public var demand: Demand
  /// Time at which its services need the next single fix; `.distantFuture` for none.
  public var due: Instant
  /// Time until which the board stays awake for its acknowledgement (RNG-8); nil if none is expected.
  public var acknowledgementDeadline: Instant?
}

/// The reason why the plan does not suspend the board, apart from single clients. Made by ``Engine/sleepObstacle(_:)``,
/// used by `LocationServer`.
public enum SleepObstacle: Equatable, Sendable {
  /// A sleep inhibitor is active (DEF-28).
  case inhibited
  /// The receiver sends data that is needed, and bytes do not wake a suspended board.
  case receiverSends
  /// The receiver sends data that no client needs, because it cannot be put to sleep.
  case receiverCannotSleep
  /// A command, a drain or an epoch is in progress.
  case receiverBusy
  /// The receiver collects fixes, and its pin does not wake a suspended board.
  case receiverCannotWake
  /// The next wake is so near that suspending does not pay.
  case wakeTooSoon
}

extension Engine {
  /// Status of the receiver at the last step; nil on a board without one. O(1).
  public func receiverReport(at now: Instant) -> ReceiverReport? {
    guard hasDriver else { return nil }
    let activity = driver.status.activity
    let counters = decoder.counters
    return ReceiverReport(
      activity: activity, isAcquiring: isReceiverAwake && isWithoutFix(at: now),
      isResponding: activity != .lost && !isReceiverLost && !isSilent(activity, at: now),
      isStreaming: isReceiverStreaming,
      lastByteTime: lastByteTime > .boot ? lastByteTime : nil,
      lastFixTime: newestFixTime > .boot ? newestFixTime : nil,
      sentences: counters.sentences, frames: counters.frames)
  }

  /// Whether no fix can come from the receiver at present: it is missing, it is lost and does not stream, or clients
  /// need its data and it is silent.
  private var isReceiverUnavailable: Bool {
    guard hasDriver else { return true }
    if isReceiverLost { return !isReceiverStreaming }
    return (demand.needsEveryFix || schedule.isOn) && isSilent(driver.status.activity, at: now)
  }

  /// Whether a receiver that answers no command sends fixes.
  private var isReceiverStreaming: Bool {
    guard hasDriver, driver.status.isStreaming, let lastStreamedFixTime else { return false }
    return now - lastStreamedFixTime <= silenceTimeout
  }

  /// Whether an awake receiver has no fix: it is acquiring, was lost since its last fix, or sent no fix for longer than
  /// ``silenceTimeout``.
  private func isWithoutFix(at now: Instant) -> Bool {
    if acquisition.startTime != nil || acquisition.isInterrupted { return true }
    guard let quietSince = acquisition.withoutFixSince, !receiverBuffers else { return false }
    return now - quietSince > silenceTimeout
  }

  /// Whether a receiver that should send was silent for longer than ``silenceTimeout``.
  private func isSilent(_ activity: ReceiverActivity, at now: Instant) -> Bool {
    switch activity {
    case .off, .standby, .starting, .batching, .lost: return false
    case .running, .powersave: break
    }
    guard isReceiverAwake, !receiverBuffers else { return false }
    return now - silenceStart > silenceTimeout
  }

  /// Time of the last data from an awake receiver, or of the start of the wait for it.
  private var silenceStart: Instant {
    // For a receiver without commands only complete epochs count.
    let lastInput = driver.usesMessages ? lastByteTime : lastEpochTime
    return max(max(lastInput, inputDiscardedAt), acquisition.startTime ?? .boot)
  }

  /// Time of the next check of the receiver, also while all clients are suspended (DEF-43): a lost receiver is
  /// retried, and one without commands counts as lost after a long silence. `.distantFuture` while no client needs the
  /// receiver.
  private func receiverCheckTime(_ demand: DemandSummary) -> Instant {
    guard hasDriver, demand.needsEveryFix || schedule.isOn else { return .distantFuture }
    switch driver.status.activity {
    case .lost:
      guard let due = driver.status.deadline, due > now else { return .distantFuture }
      return due
    case .running:
      guard !driver.usesMessages, !isReceiverLost, isReceiverAwake else { return .distantFuture }
      return silenceStart + max(setup.locationUnknownTimeout, silenceTimeout)
    case .off, .standby, .starting, .powersave, .batching: return .distantFuture
    }
  }

  /// Whether the board's profile has a suspended state.
  public var canSuspend: Bool { setup.parameters.deep != nil }

  /// The reason why the board is not suspended by the last step's `plan`; nil if it is. On a board without a suspended
  /// state, only reasons other than `receiverCannotWake` and `wakeTooSoon`. O(1).
  public func sleepObstacle(_ plan: Effects) -> SleepObstacle? {
    guard plan.board < .suspended else { return nil }
    if isInhibited { return .inhibited }
    switch goal {
    case .tracking, .powersave:
      return isReceiverUnneeded ? .receiverCannotSleep : .receiverSends
    case .off, .standby, .batching, nil: break
    }
    if isBusy { return .receiverBusy }
    guard let deep = setup.parameters.deep else { return nil }
    if case .batching = goal, setup.parameters.batch?.hasPin == true, !deep.wakesOnPin {
      return .receiverCannotWake
    }
    return .wakeTooSoon
  }

  /// Whether the motion sensor's line is used.
  public var usesMotionLine: Bool { setup.parameters.usesMotionLine }

  /// Whether a sleep inhibitor is active (DEF-28).
  public var isSleepInhibited: Bool { isInhibited }

  /// A client's demands on the hardware at `now`. O(regions of the client).
  public func usage(of client: ClientID, at now: Instant) -> ClientUsage {
    let i = client.index
    clients[i].deliverSkippedFix(context)
    let need = clients[i].fixNeed(
      at: now, fastest: plausibleSpeed.maximum(at: now), line: motionLine)
    return ClientUsage(
      demand: clients[i].demand(at: now), due: need.due,
      acknowledgementDeadline: clients[i].acknowledgementDeadline)
  }
}

// MARK: - The end of every step: requests, deadlines, plan

extension Engine {
  /// Executes a client's request; a new client is put into use first.
  mutating func handle(_ request: Request, of id: ClientID) {
    clients.activate(id.index)
    let context = context
    let wasAuthorized = clients[id.index].isAuthorized
    let couldReceiveFixes = clients[id.index].canReceiveFixes
    clients[id.index].deliverSkippedFix(context)
    clients[id.index].handle(request, in: ring, context)
    clients.markDirty(id.index)
    let losesFixes = couldReceiveFixes && !clients[id.index].canReceiveFixes
    let losesAuthorization = wasAuthorized && !clients[id.index].isAuthorized
    if losesFixes || losesAuthorization { eraseUnneeded() }
    // Report `locationUnknown` immediately if no fix can come (STD-10).
    if request.startsService, isReceiverUnavailable {
      clients[id.index].reportLocationUnknown(context)
    }
    guard request.mayStartAcquisition else { return }
    // A client that may not receive fixes is no reason to search.
    let need = clients[id.index].fixNeed(
      at: now, fastest: plausibleSpeed.maximum(at: now), line: motionLine)
    if need.isRequired || clients[id.index].demand(at: now) != .none {
      schedule.handle(.searchRequested, planner.parameters, at: now)
    }
  }

  /// Delivers skipped fixes and puts all clients into the dirty range; see ``ClientTable/markAllDirty()``.
  private mutating func markAllDirty() -> Range<Int> {
    deliverSkippedFixes()
    return clients.markAllDirty()
  }

  /// Delivers the newest fix to the clients that skipped it.
  private func deliverSkippedFixes() {
    let context = context
    for i in 0..<clients.used where clients[i].hasSkippedFix {
      clients[i].deliverSkippedFix(context)
    }
  }

  /// Zeroes the fixes that no client may receive any more, after a client has lost its permission (RNG-6). O(erased
  /// fixes).
  private mutating func eraseUnneeded() {
    var first = ring.head
    for i in 0..<clients.used { first = min(first, clients[i].neededFrom) }
    ring.erase(0..<first)
  }

  /// State of ring, receiver and board that a client's methods use in this step. Computed where it is used, because it
  /// is large.
  @inline(__always) var context: ClientContext {
    ClientContext(
      now: now, head: ring.head, newest: newestFix, receiverBuffers: receiverBuffers,
      isDraining: hasDriver && driver.status.isDraining,
      isDeferralAvailable: isDeferralAvailable && !isReceiverLost,
      deferralLimit: setup.parameters.deferralLimit, deliveryHold: setup.deliveryHold,
      hasReceiver: hasDriver && (!isReceiverLost || isReceiverStreaming), motionLine: motionLine,
      shed: battery.shed, travelled: odometer.length)
  }

  /// Whether the input cannot change the plan: bytes in the middle of an epoch, from an idle receiver, before the next
  /// due time.
  private func keepsPlan(_ effects: Effects) -> Bool {
    guard now < planValidUntil, lastByteTime == now, !effects.needsProceed, !effects.hasDriverActed,
      isMidEpoch
    else { return false }
    return isReceiverIdle && (driver.status.deadline ?? .distantFuture) > now
  }

  /// Whether no command is in progress and the receiver holds no fixes.
  private var isReceiverIdle: Bool {
    hasDriver && driver.status.isQuiescent && !driver.status.isDraining && !receiverBuffers
  }

  /// Whether the receiver sends although no client needs it, so that until the next request its data need not be read
  /// and nothing is due.
  ///
  /// A caller that waits without reading must call ``noteDiscardedInput(at:)`` afterwards.
  public var isReceiverUnneeded: Bool {
    !demand.needsEveryFix && !demand.need.isRequired && demand.bound == .infinity
      && isReceiverIdle && isReceiverAwake && !isBusy && !isInhibited && !isEnding
      && demand.check == .distantFuture && schedule.wake == .distantFuture
      && driver.status.deadline == nil && acknowledgementDeadline == nil
  }

  /// Time until which the board is not suspended, because a delivery waits for its acknowledgement (RNG-8); nil if no
  /// delivery does.
  private var acknowledgementDeadline: Instant? {
    var due: Instant?
    for i in clients.dirtyRange where clients.isDirty(i, at: now) {
      guard let hold = clients[i].acknowledgementDeadline, hold > now else { continue }
      due = max(due ?? hold, hold)
    }
    return due
  }

  /// Records that buffered input was discarded unread, so that silence does not mean that the receiver is lost.
  public mutating func noteDiscardedInput(at now: Instant) {
    let context = context
    for i in clients.dirtyRange where clients.isDirty(i, at: now) {
      clients[i].beginUnrecorded(context)
    }
    if acquisition.withoutFixSince != nil { acquisition.withoutFixSince = now }
    inputDiscardedAt = now
  }

  /// Begins a step. A step that is much later than planned means that the program was stopped or the board was
  /// suspended from outside, so the receiver's data was not read either.
  mutating func advance(to now: Instant) {
    precondition(now >= self.now, "the boot clock never goes back")
    self.now = now
    guard now - plannedWake > Engine.wakeTolerance else { return }
    plannedWake = .distantFuture
    if acquisition.withoutFixSince != nil { acquisition.withoutFixSince = now }
    inputDiscardedAt = now
  }

  /// Largest normal delay of a step: alarm resolution plus resume time.
  private static var wakeTolerance: Interval { .seconds(2) }

  /// Keeps the plan while an epoch is in progress.
  private mutating func continuePlan(_ effects: inout Effects) {
    // For a check that is due now, the drain has already been requested.
    effects.wake = demand.check > now ? demand.check : .distantFuture
    isReadDelayed = false
    finishPlan(&effects)
  }

  /// Completes a step: processes deadlines and clients, then computes the plan unless another step follows.
  mutating func finishStep(_ effects: inout Effects) {
    planValidUntil = .boot
    makePlan(&effects)
    assert(clients.noDirtyClientSkipped(at: now), "a dirty client was skipped")
  }

  private mutating func makePlan(_ effects: inout Effects) {
    if !effects.needsProceed { handleDeadlines(&effects) }
    releaseHeldFix(&effects)
    if receiverCheckDue <= now, receiverCheckTime(demand) <= now { handleReceiverLoss() }
    planner.parameters.batch = mayBatch ? setup.parameters.batch : nil
    planner.parameters.receiver.powersave_mW =
      powersaveBackoff.isActive(at: now) ? nil : setup.parameters.receiver.powersave_mW
    demand = updateClients()
    if isEnding { demand = DemandSummary() }
    planSingleFixes()
    releaseHeldFix(&effects)
    // If another step follows, that step computes the plan.
    guard !effects.hasDriverActed && !effects.needsProceed else { return checkNotices(&effects) }
    let plan = planner.plan(plannerInput(demand), isInhibited: isInhibited, at: now)
    commandReceiver(plan.receiver, demand, &effects)
    checkNotices(&effects)
    guard !effects.needsProceed else { return }
    effects.board = plan.board
    effects.wake = plan.wake
    effects.wakesOnInput = plan.wakesOnInput
    isReadDelayed = false
    // The times of single fixes are recomputed in each step.
    if !demand.need.isRequired, isReceiverIdle {
      planValidUntil = min(plan.wake, driver.status.deadline ?? .distantFuture)
    }
    finishPlan(&effects)
  }

  /// Whether the receiver may batch. A lost receiver, or one that answers no command, does not batch: the board would
  /// sleep while it sends.
  private var mayBatch: Bool {
    !batchBackoff.isActive(at: now) && !isReceiverLost && !(hasDriver && driver.status.isStreaming)
  }

  /// Requests another step if there are notices or effects of the driver: a plan is valid only after the notices are
  /// delivered and the effects executed.
  private mutating func checkNotices(_ effects: inout Effects) {
    effects.hasNotices = hasNotices
    if effects.hasDriverActed || effects.hasNotices { effects.needsProceed = true }
  }

  /// Adds the wake times that line and driver need, and sets the input mode.
  private mutating func finishPlan(_ effects: inout Effects) {
    if isBusy { waitForReceiver(&effects) }
    // The driver's silence timeouts do not apply while messages are buffered on purpose.
    if hasDriver, let deadline = driver.status.deadline, effects.wakesOnInput || isBusy {
      effects.wake = min(effects.wake, deadline)
    }
    setInputBuffering(!effects.wakesOnInput && !isBusy)
    // At least 1 ms, so that no profile can cause a busy loop.
    effects.wake = max(effects.wake, now + .milliseconds(1))
    plannedWake = effects.wake
  }

  /// Sets whether messages are buffered from now on.
  ///
  /// Arrival times of buffered messages are computed from that of the last epoch. If that is older than one interval,
  /// they are computed from `now`, which is late by less than one interval, except while messages that were buffered
  /// before are still being read.
  private mutating func setInputBuffering(_ willBuffer: Bool) {
    let isReading = bufferedInputReadAt == now
    if willBuffer && !isInputBuffering && !isReading
      && now - lastEpochTime > setup.parameters.fixInterval
    {
      lastEpochTime = now
    }
    isInputBuffering = willBuffer
  }

  /// Handles the deadlines of driver and line that have passed.
  private mutating func handleDeadlines(_ effects: inout Effects) {
    if isDriverDue && !effects.hasDriverActed {
      drive(.deadline, &effects)
      effects.needsProceed = true
    } else if let epochTimeout, now - lastByteTime >= epochTimeout,
      !effects.hasDriverActed
    {
      closeEpoch(&effects)
    }
  }

  /// Whether the driver's deadline has passed.
  ///
  /// Bytes that have just arrived may be the awaited answer and are processed first, but on a line without pauses only
  /// for a limited time.
  private var isDriverDue: Bool {
    mutating get {
      guard hasDriver, let deadline = driver.status.deadline, deadline <= now else {
        overdueSince = nil
        return false
      }
      let since = overdueSince ?? now
      guard lastByteTime < now || now - since >= setup.epochs.silenceTimeout else {
        overdueSince = since
        return false
      }
      overdueSince = nil
      return true
    }
  }

  /// Updates all dirty clients for the time of the step, engages or disengages deferrals, and returns the sum of the
  /// demands.
  private mutating func updateClients() -> DemandSummary {
    let context = context
    var demand = DemandSummary()
    var hasFullQueue = false
    demand.addCheck(at: clients.updateDirtyRange(at: now))
    for i in clients.dirtyRange where clients.isDirty(i, at: now) {
      if clients[i].hasSkippedFix { clients[i].deliverSkippedFix(context) }
      clients[i].elapse(context)
      hasFullQueue = hasFullQueue || clients[i].isQueueFull
      scheduleDistanceCheck(i)
      let clientDemand = clients[i].demand(at: now)
      demand.add(clientDemand)
      // No accuracy bound applies before the client's first fix, which is therefore needed now (STD-3).
      if case .within(let metres) = clientDemand, clients[i].awaitsFirstFix(context) {
        demand.need.add(due: now, accuracy: metres * Engine.accuracyShare)
      }
      let check = clients[i].check
      if check > now { demand.addCheck(at: check) }
      clients[i].enterDormancy(at: now)
    }
    if demand.live == 0 {
      let fastest = plausibleSpeed.maximum(at: now)
      for i in 0..<clients.used {
        if clients[i].hasSkippedFix { clients[i].deliverSkippedFix(context) }
        demand.need.add(clients[i].fixNeed(at: now, fastest: fastest, line: motionLine))
      }
    }
    if hasFullQueue { noteRecording(demand.needsEveryFix, context) }
    let mayDefer = planner.mayDefer(demand, isInhibited: isInhibited) && !isReceiverLost
    for i in clients.dirtyRange
    where clients.isDirty(i, at: now) && clients[i].deferral.state != .idle {
      clients[i].updateEngagement(mayDefer, context)
    }
    addDeadlines(&demand)
    return demand
  }

  /// Records gaps for suspended clients whose queue is full (BKG-5): a gap ends when another client needs every fix,
  /// and begins when the receiver is not awake. While it is awake for single fixes, a gap neither begins nor ends.
  private func noteRecording(_ isRecorded: Bool, _ context: ClientContext) {
    guard isRecorded || !isReceiverAwake else { return }
    for i in clients.dirtyRange where clients.isDirty(i, at: now) && clients[i].isQueueFull {
      if isRecorded {
        clients[i].endUnrecorded(context)
      } else {
        clients[i].beginUnrecorded(context)
      }
    }
  }

  /// Updates the schedule for clients that need single fixes.
  private mutating func planSingleFixes() {
    // While a client needs every fix (`demand.live` > 0), the receiver is on, and single fixes need no start time.
    if demand.bound == .infinity {
      movement.expire()
    } else if demand.live == 0 {
      let start = movement.startTime(within: demand.bound, at: now)
      let due = start > now ? schedule.fixTime(startingAt: start, planner.parameters.receiver) : now
      demand.need.add(due: due, accuracy: demand.bound * Engine.accuracyShare)
    }
    guard hasDriver else { return }
    if demand.needsEveryFix, schedule.keepOn(at: now) { return }
    let wasSearching = schedule.isOn
    schedule.handle(
      .plan(demand.need, isKeptOn: demand.needsEveryFix), planner.parameters, at: now)
    // The acquisition has failed: the services that needed it compute a new due time.
    if wasSearching, schedule.state == .backedOff {
      let context = context
      for i in markAllDirty() {
        clients[i].acquisitionFailed(at: now)
        if clients[i].execution != .suspended { clients[i].reportLocationUnknown(context) }
      }
    }
  }

  /// Sets the state of the motion line.
  private mutating func setMotionLine(_ line: MotionLine) {
    if motionLine == .still, line == .moving {
      schedule.handle(.searchRequested, planner.parameters, at: now)
    }
    motionLine = line
    movement.motionLineChanged(line, at: now)
    for i in markAllDirty() { clients[i].motionLineChanged(line, at: now) }
  }

  /// Share of an accuracy bound that a fix's own error may use.
  private static let accuracyShare = 0.2

  /// Adds wake times that apply whatever the clients demand: the end of a deferral, also in the foreground (DEF-18),
  /// the check of the receiver (DEF-43), and the report that the location is unknown (STD-10).
  private mutating func addDeadlines(_ demand: inout DemandSummary) {
    for i in clients.dirtyRange
    where clients.isDirty(i, at: now) && clients[i].execution != .suspended {
      guard let criteria = clients[i].deferral.criteria, criteria.deadline > now else { continue }
      demand.addCheck(at: criteria.deadline)
    }
    receiverCheckDue = receiverCheckTime(demand)
    demand.addCheck(at: receiverCheckDue)
    guard let quietSince = acquisition.withoutFixSince, !receiverBuffers else { return }
    let due = quietSince + setup.locationUnknownTimeout
    if due <= now {
      let context = context
      for i in clients.dirtyRange
      where clients.isDirty(i, at: now) && clients[i].execution != .suspended {
        clients[i].reportLocationUnknown(context)
      }
    } else if demand.live > 0 || (schedule.isOn && !demand.needsEveryFix) {
      demand.addCheck(at: due)
    }
  }

  /// Sends the driver either a new goal or a drain command, if the plan requires one.
  private mutating func commandReceiver(
    _ planned: PlannedReceiver, _ demand: DemandSummary, _ effects: inout Effects
  ) {
    let newGoal = Engine.goal(for: planned)
    if newGoal != goal {
      setGoal(newGoal)
      drive(.goal(newGoal), &effects)
      effects.needsProceed = true
      return
    }
    var isWaiting = false
    var check = drainDue
    for i in clients.dirtyRange where clients.isDirty(i, at: now) {
      if clients[i].isWaitingForDrain { isWaiting = true }
      check = min(check, clients[i].distanceCheck)
    }
    if isWaiting && !receiverBuffers {
      finishDrain()
    } else if receiverBuffers && !isDrainRequested && (isWaiting || check <= checkHorizon) {
      isDrainRequested = true
      drive(.drain, &effects)
      effects.needsProceed = true
    }
  }

  /// Drains and distance checks that are due by this time are executed now: the board may have woken a little early,
  /// and their time need not be exact. It is `now` right after a drain, when no new fixes can be in the buffer.
  private var checkHorizon: Instant {
    now - lastDrainTime > planner.maximumAlarmLead ? now + planner.maximumAlarmLead : now
  }

  /// Latest time to drain the receiver's buffer, independent of its pin; earlier if a client that has not deferred
  /// needs a fix.
  private var drainDue: Instant {
    // A lost receiver cannot be drained.
    guard receiverBuffers, !isReceiverLost else { return .distantFuture }
    let needed = max(
      demand.need.due, lastDrainTime + setup.parameters.fixInterval * (1 << emptyDrains))
    return min(lastDrainTime + planner.maximumDrainInterval, needed)
  }

  /// Whether a command, a drain or an epoch is in progress.
  var isBusy: Bool {
    guard hasDriver else { return false }
    return !driver.status.isQuiescent || driver.status.isDraining || isMidEpoch
  }

  /// Plans the wait for the rest of an epoch or an answer: the board idles and is not suspended. Reading is delayed a
  /// little, so that not every byte causes a step.
  private mutating func waitForReceiver(_ effects: inout Effects) {
    let isStreaming = isMidEpoch || (hasDriver && driver.status.isDraining)
    let silence = now - lastByteTime
    effects.board = .idle
    let delay = assembler.isEndReliable ? setup.readDelayToKnownEnd : setup.readDelay
    effects.wakesOnInput = !isStreaming || silence >= delay
    if !effects.wakesOnInput { effects.wake = min(effects.wake, now + delay) }
    isReadDelayed = !effects.wakesOnInput
    if let epochTimeout {
      effects.wake = min(effects.wake, lastByteTime + epochTimeout)
    }
  }

  private func plannerInput(_ demand: DemandSummary) -> PlannerInput {
    var input = PlannerInput()
    input.demand = demand
    input.isBusy = isBusy
    input.acquiringSince = acquisition.startTime
    input.previousOffTime = acquisition.previousOffTime
    input.lastMessageTime = lastEpochTime
    if !demand.needsEveryFix { input.schedule = schedule }
    input.drainDue = drainDue
    input.acknowledgementDeadline = acknowledgementDeadline
    return input
  }

  /// Whether a client has a notice.
  var hasNotices: Bool {
    for i in clients.dirtyRange where clients.isDirty(i, at: now) && clients[i].hasNotices {
      return true
    }
    return false
  }
}

#if REACHED
  extension FixAcquisition {
    /// The rows: the receiver should not be awake; it is acquiring; it has found a fix.
    static let machine = TransitionCoverage(
      "FixAcquisition", states: "off acquiring found", events: "begin succeed stop",
      excluded: [
        ("acquiring found", "begin", "an awake receiver is not woken"),
        ("off", "stop", "a sleeping receiver is not put to sleep"),
      ])

    func reach(_ event: Int) {
      FixAcquisition.machine.record(startTime != nil ? 1 : withoutFixSince != nil ? 2 : 0, event)
    }
  }
#endif
