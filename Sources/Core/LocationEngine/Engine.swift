import DeferralCache
import GNSSProtocols
import LocationPolicy
import LocationTypes
import ReceiverDrivers

/// The location service's core: events in, effects out. Pure, heap-free, mutated in place.
///
/// The owner hands in the memory of ring and clients, gives every event with its time, does what
/// the effects say in their order, and then gives the next event. It reads no clock and calls
/// nobody. A step handles at most one epoch, so what a step can cause is bounded:
/// ``Effects/proceeds`` asks for another one at once.
public struct Engine: ~Copyable {
  let setup: EngineSetup
  var planner: Planner
  var ring: FixRing
  var clients: ClientTable
  var decoder: GNSSDecoder
  var assembler: EpochAssembler
  // No optional: it is large, and looking into an optional copies it. Without a receiver it rests.
  var driver: ReceiverDriver
  let hasDriver: Bool
  /// The longest silence of a receiver that sends messages and has a fix.
  let longestSilence: Interval
  var clock = FixClock()

  var chunk = ByteChunk()
  var chunkOffset = 0
  var now = Instant.boot
  var lastByte = Instant.boot
  /// Until when nobody has listened to a receiver that talks.
  var overlookedAt = Instant.boot
  /// When the next step was to come at the latest.
  var plannedWake = Instant.distantFuture
  /// ``receiverCheck(_:)`` as of the last plan. Input since then can only have postponed it.
  var receiverCheckDue = Instant.distantFuture
  /// What has come since the last step was left to gather: when it came is not known.
  var isGathering = false
  /// The receiver's last pulse per second.
  var pulse: Instant?
  /// When the last live epoch was complete: the next ones come whole intervals later.
  var lastEpoch = Instant.boot
  /// No epoch that is in the making began before this.
  var epochBegan = Instant.boot
  /// Since when the driver's deadline has had to wait for bytes that kept coming.
  var overdueSince: Instant?
  /// Messages have gathered unheard, and are being read now.
  var backlogReadAt: Instant?
  /// The entry of the receiver's navigation database that came last.
  var aidingEntry: UBXAidingEntry?
  /// The plan lets messages gather unheard.
  var isDeaf = false
  /// The newest fix in the ring.
  var newest: StoredFix?
  /// It is of the moment of the one before.
  var isNewestRepeated = false
  /// How far all fixes in the ring have come.
  var way = CommonWay()
  /// When the newest fix was made that the receiver told, kept or not.
  var newestMade = Instant.boot
  /// A first fix that is held back while better ones come.
  var held: Fix?
  var isInhibited = false
  /// Nobody is served any more.
  var isEnding = false
  var isReceiverLost = false
  /// When a fix came last from a receiver that answers no command (PWR-12).
  var streamedAt: Instant?
  var batchRefusal = Refusal()
  var savingRefusal = Refusal()

  var goal: ReceiverGoal?
  var isDrainAsked = false
  var drainedAt = Instant.boot
  /// The ring's head after the last drain, and how many drains in a row, up to 12, have brought nothing:
  /// where there is no sky they become ever more seldom (PWR-7).
  var drainedHead: UInt64 = 0
  var emptyDrains: Int64 = 0
  var search = Search()
  /// When the receiver is on for single fixes.
  var schedule = FixSchedule()
  /// How those who are promised a distance see the wearer move.
  var movement = MovementPlanner()
  /// How fast the wearer may be.
  var pace: PlausiblePace
  /// What was needed at the end of the last step.
  var demand = DemandSummary()
  /// Until then the plan stands, if nothing comes but bytes that complete nothing.
  var standsUntil = Instant.boot
  /// What the motion sensor said last; motion, until it says something.
  var motionLine: MotionLine
  /// What the battery is too low for.
  var battery: BatteryMonitor
  var noticeIndex = 0

  /// Creates an engine over an opened ring and the memory of its clients.
  ///
  /// - Parameters:
  ///   - ring: The deferral cache, opened or recovered.
  ///   - clients: Memory for as many clients as shall fit; not initialised, outlives the engine.
  /// - Precondition: N ≤ R / 2 (RNG-1), so that a client at its limit is flushed long before its
  ///   fixes are overwritten.
  @unsafe public init(
    _ setup: EngineSetup, ring: consuming FixRing, clients: UnsafeMutableBufferPointer<Client>
  ) {
    let limit = setup.figures.deferralLimit
    precondition(limit >= 1 && limit <= ring.capacity / 2, "RNG-1: the deferral limit is ≤ R / 2")
    self.setup = setup
    planner = Planner(setup.figures)
    unsafe self.clients = ClientTable(clients, head: ring.head)
    self.ring = ring
    decoder = GNSSDecoder(setup.decoding)
    assembler = EpochAssembler(setup.epochs)
    driver = ReceiverDriver(setup.receiver ?? ReceiverSetup(family: .passive))
    hasDriver = setup.receiver != nil
    longestSilence =
      max(setup.receiverSilence, setup.figures.fixInterval * 2) + setup.figures.longestGather
    pace = PlausiblePace(most: setup.figures.plausibleSpeed)
    motionLine = .absent
    battery = BatteryMonitor(setup.battery)
    if setup.figures.usesMotionLine { hearMotion(.moving) }
  }

  /// Takes the receiver's bytes, as they came, and says what is to be done.
  ///
  /// Bytes are no ``Event``: with room for a chunk each event would be copied wherever it is looked at.
  /// They are lent, and the engine keeps its own copy.
  ///
  /// - Parameters:
  ///   - bytes: What has come, at most `ByteChunk.capacity`; it may be nothing.
  ///   - now: The boot clock; never before that of the step before.
  /// - Complexity: O(bytes), and O(clients in use) where they complete something.
  /// - Precondition: The bytes before were finished: no effects ask for ``Event/proceed``.
  public mutating func step(bytes new: Span<UInt8>, at now: Instant) -> Effects {
    precondition(chunkOffset == chunk.count, "the chunk before was not finished: .proceed")
    advance(to: now)
    var effects = Effects()
    if new.count > 0 {
      if isDeaf || isReadingOn { backlogReadAt = now }
      lastByte = now
      assembler.hear(at: now, isGathered: isGathering)
    }
    chunk.removeAll()
    chunk.append(new)
    chunkOffset = 0
    consume(&effects)
    if holdsStill(effects) { goOnWaiting(&effects) } else { settle(&effects) }
    return effects
  }

  /// Takes one event and says what is to be done.
  ///
  /// - Parameter now: The boot clock; never before that of the step before.
  /// - Complexity: O(clients in use).
  public mutating func step(_ event: Event, at now: Instant) -> Effects {
    advance(to: now)
    var effects = Effects()
    switch event {
    case .proceed: consume(&effects)
    case .batchPin: drive(.batchPin, &effects)
    case .motion(let level):
      if setup.figures.usesMotionLine { hearMotion(level == .active ? .moving : .still) }
    case .battery(let charge):
      battery.take(charge)
      for i in stirAll() { clients[i].endRest() }
    case .time: break
    case .request(let client, let request): handle(request, of: client)
    case .sleepInhibitor(let isOn): isInhibited = isOn
    case .end: isEnding = true
    case .lineFault: drive(.lineFault, &effects)
    case .pinFault(let pin): drive(.pinFault(pin), &effects)
    }
    settle(&effects)
    return effects
  }

  /// Notes when the receiver gave its last pulse per second before the bytes that come next: it says when a
  /// fix of a whole second was true (STD-7). No step: nothing is to be done.
  ///
  /// - Parameter pulse: On the boot clock; not later than now, and at most a second before the first of those bytes.
  public mutating func hear(pulse: Instant) { self.pulse = pulse }

  /// Takes a client back after a restart of the service (BKG-20): it is owed what was not acknowledged, and what a
  /// receiver that batches has recorded meanwhile.
  ///
  /// What else outlives the service is asked anew: authorization and accuracy before the client
  /// connects, services and regions after it, these with ``Request/addRegion(_:assuming:)``. O(1).
  ///
  /// - Parameter start: When the service starts; nil where it is not known what happened since the ring's newest fix,
  ///   and nothing is expected of the receiver.
  /// - Precondition: no step was done yet.
  public mutating func restore(
    _ client: ClientID, from bookmark: ClientBookmark, startingAt start: Instant? = nil
  ) {
    precondition(now == .boot, "clients come back before the first step")
    clients.use(client.index)
    clients[client.index] = Client(restoring: bookmark, in: ring)
    if let start {
      clients[client.index].resumeRecording(
        from: bookmark, at: start, recorder: oldRecorder(for: bookmark),
        slack: setup.figures.fixInterval * 2, limit: setup.figures.deferralLimit, in: ring)
    }
    clients.stir(client.index)
  }

  /// What the receiver may have done for a client while the service was down.
  private mutating func oldRecorder(for bookmark: ClientBookmark) -> OldRecorder {
    guard bookmark.owesAll, hasDriver, setup.receiver?.batch != nil else { return .none }
    driver.expectBufferedFixes()
    return receiverBuffers ? .holdsFixes : .lostFixes
  }

  /// What of a client's place in the ring is to be kept durably: for ``restore(_:from:)``. O(1).
  public func bookmark(of client: ClientID) -> ClientBookmark {
    client.index < clients.used
      ? clients[client.index].bookmark(in: ring)
      : clients.client(at: client.index).bookmark(in: ring)
  }

  /// What a client is owed at this moment. O(1).
  public func backlog(of client: ClientID) -> Backlog {
    clients[client.index].backlog(in: ring)
  }

  /// A region of a client as it is to be kept durably, for ``Request/addRegion(_:assuming:)``; nil where
  /// that place, below `RegionMonitor.capacity`, has none (BKG-20). O(1).
  public func regionRecord(
    of client: ClientID, at place: Int
  ) -> (region: Region, assuming: MonitorState)? {
    clients[client.index].services.regions.record(at: place)
  }

  /// The bytes to write to the receiver when ``Effects/hasOutput`` says so.
  public var output: FrameBuffer { hasDriver ? driver.outgoing : FrameBuffer() }

  /// The frame to keep when ``Effects/aiding`` says so; read before the next step.
  public var aidingFrame: ByteChunk {
    aidingEntry.map { decoder.frame(of: $0) } ?? ByteChunk()
  }

  /// The next notice for a client; nil when all has been told.
  ///
  /// A client's notices come in their order, client after client.
  public mutating func nextNotice() -> ClientNotice? {
    noticeIndex = max(noticeIndex, clients.awake.lowerBound)
    while noticeIndex < clients.awake.upperBound {
      if clients.isAwake(noticeIndex, at: now),
        let notice = clients[noticeIndex].nextNotice(in: ring, hold: now + setup.deliveryHold)
      {
        return ClientNotice(client: ClientID(noticeIndex), notice: notice)
      }
      noticeIndex += 1
    }
    noticeIndex = 0
    return nil
  }

  /// The fix of a sequence number, as long as the ring has it. The service reads it for its clients
  /// (RNG-5). O(1).
  public func stored(at sequence: UInt64) -> StoredFix? { ring.stored(at: sequence) }

  /// Whether a fix bore that name; see `FixRing.mayHaveNamed(_:)`. O(1).
  public func mayHaveNamed(_ name: FixName) -> Bool { ring.mayHaveNamed(name) }

  /// The fix that went into the ring last, as it went in; nil when there was none yet. O(1).
  public var newestStored: StoredFix? { newest }

  /// The fix Core Location calls `location`: the newest that the client was told (STD-8).
  public func location(of client: ClientID) -> StoredFix? {
    client.index < clients.used
      ? clients[client.index].location(in: ring)
      : clients.client(at: client.index).location(in: ring)
  }

  /// `deferredLocationUpdatesAvailable()`: a receiver and a low-power caching state (DEF-7).
  public var isDeferralAvailable: Bool { hasDriver && setup.figures.hasCachingState }

  /// Whether the receiver is meant to be searching or tracking.
  public var isReceiverAwake: Bool { goal.map(Engine.isAwake) ?? false }

  /// Whether no fix is expected on the receiver's line: it is off, asleep, or records fixes itself.
  public var isReceiverQuiet: Bool { !isReceiverAwake || receiverBuffers }

  /// What the receiver is meant to do; nil before the first plan.
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
  /// Whether nothing is on its way between the board and its receiver.
  public var isSettled: Bool { !hasDriver || driver.status.isSettled }

  /// Whether the receiver may hold fixes that are not in the ring yet.
  public var mayReceiverHoldFixes: Bool { receiverBuffers }
  /// Whether the receiver can be put to sleep or switched off at all.
  public var canReceiverSleep: Bool {
    hasDriver && (setup.figures.canStandby || setup.figures.canSwitchOff)
  }

  /// What the battery's gauge said last, percent; nil on a board without one.
  public var batteryCharge: UInt8? { battery.charge }
  /// What the battery is too low for (PWR-10).
  public var givenUp: PromiseSet { battery.givenUp }
  /// What decoding has met so far.
  public var decoderCounters: DecoderCounters { decoder.counters }
  /// What has happened to the receiver so far.
  public var driverCounters: DriverCounters { hasDriver ? driver.counters : DriverCounters() }
  /// The generation of the fixes that are made now (RNG-2).
  public var generation: UInt32 { ring.generation }
  /// What of the ring's memory is to be made durable; see `FixRing.unsynced`.
  public var unsynced: UnsyncedBytes { ring.unsynced }
  /// Notes that these bytes are durable now; see `FixRing.markSynced(_:)`.
  public mutating func markSynced(_ bytes: UnsyncedBytes) { ring.markSynced(bytes) }
  /// Notes in the ring that the service ends in order; nothing more is appended. Then sync
  /// ``unsynced`` twice.
  public mutating func closeRing() { ring.close() }
  /// The ring's size, R.
  public var capacity: Int { ring.capacity }
  /// The sequence number that the first fix since the start has, or will get.
  public var generationStart: UInt64 { ring.start }
  /// The sequence number that the next fix will get.
  public var head: UInt64 { ring.head }
  /// Slots of the ring that are in use, from the oldest readable fix on.
  public var fixesInRing: Int { Int(ring.head - ring.tail) }
  /// A client as it stands, for status displays and tests.
  public func client(_ id: ClientID) -> Client { clients.client(at: id.index) }
}

/// The search for a first fix, as the planner and clients see it.
struct Search: Sendable {
  /// When the receiver began to search; nil while it has a fix or does not search.
  var since: Instant?
  /// How long it had been off before; nil when unknown.
  var offBefore: Interval?
  /// When it was put to sleep.
  var sleptAt: Instant?
  /// Since when an awake receiver has given no fix: its last fix, or when it was woken.
  var quietSince: Instant?
  /// The receiver was lost since its last fix: what it had found it must find anew.
  var isInterrupted = false

  mutating func begin(at now: Instant) {
    #if REACHED
      reach(0)
    #endif
    offBefore = sleptAt.map { now - $0 }
    sleptAt = nil
    since = now
    quietSince = now
    isInterrupted = false
  }

  /// A fix was found.
  fileprivate mutating func succeed(at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    since = nil
    isInterrupted = false
    // One that comes of a receiver that is to rest starts no watch over its silence.
    if quietSince != nil { quietSince = now }
  }

  /// The receiver is put to sleep.
  mutating func stop() {
    #if REACHED
      reach(2)
    #endif
    since = nil
    quietSince = nil
    isInterrupted = false
  }
}

// MARK: - From bytes to the ring: messages, epochs, fixes

extension Engine {
  /// Takes what waits, in order: epochs the driver held back, an epoch that came with another, the
  /// rest of the chunk. Stops after one epoch, one answer of the driver or one observation.
  mutating func consume(_ effects: inout Effects) {
    if hasDriver, driver.status.hasHeld, let epoch = driver.nextHeld() {
      append(epoch, &effects)
      effects.proceeds = true
      return
    }
    if assembler.hasNext, let epoch = assembler.next() {
      admit(epoch, &effects)
      effects.proceeds = true
      return
    }
    if driver.hearsMessages { hear(&effects) } else { listen(&effects) }
  }

  /// Takes messages that the driver hears, up to one that is enough for a step.
  private mutating func hear(_ effects: inout Effects) {
    while let message = decoder.next(chunk.span, &chunkOffset) {
      if take(message, &effects) {
        effects.proceeds = true
        return
      }
    }
  }

  /// Takes what makes the next epoch, from a receiver whose driver hears nothing else.
  private mutating func listen(_ effects: inout Effects) {
    var epoch = Epoch()
    let isMade = decoder.next(
      chunk.span, &chunkOffset, through: &assembler, at: arrival, into: &epoch)
    guard isMade else { return }
    complete(epoch, &effects)
    effects.proceeds = true
  }

  /// Ends the epoch in the making: the line has been silent.
  private mutating func closeEpoch(_ effects: inout Effects) {
    let isHeldUp = now - lastByte >= EpochAssembler.messagePatience
    while isHeldUp, let message = decoder.finish() {
      if take(message, &effects) {
        effects.proceeds = true
        return
      }
    }
    guard let epoch = assembler.close() else { return }
    admit(epoch, &effects)
    effects.proceeds = true
  }

  /// Whether bytes of an unfinished frame or sentences of an open epoch wait for more.
  private var isMidEpoch: Bool { assembler.isOpen || decoder.isMidFrame }

  /// How long the line must be silent until what is open is closed; nil when nothing is.
  var patience: Interval? {
    assembler.patience(isMidFrame: decoder.isMidFrame, isMidSentence: decoder.isMidSentence)
  }

  /// Handles one message; true when the step has had enough.
  private mutating func take(_ message: GNSSMessage, _ effects: inout Effects) -> Bool {
    if case .aidingEntry(let entry) = message { aidingEntry = entry }
    let observation = driver.hearsMessages ? command(.message(message), &effects) : .none
    var isEnough = effects.isDriverDone
    if case .none = observation {} else { isEnough = true }
    if let epoch = assembler.add(message, at: arrival) {
      complete(epoch, &effects)
      isEnough = true
    }
    if driver.hearsMessages { observe(observation) }
    return isEnough
  }

  /// Takes the epoch that a message has just completed.
  private mutating func complete(_ epoch: Epoch, _ effects: inout Effects) {
    admit(epoch, &effects)
    // The epoch that this message begins came an interval after the one that it ended.
    if epoch.origin == .live { epochBegan = arrival }
  }

  /// When the message that is being handled came.
  ///
  /// Of messages that gathered unheard only the order is known: one came each interval.
  private var arrival: Instant {
    guard backlogReadAt == now else { return now }
    return min(now, lastEpoch + setup.figures.fixInterval)
  }

  /// Whether the bytes that come now gathered unheard with those before: they are read at the same
  /// time, or right after a chunk that was full.
  private var isReadingOn: Bool {
    guard let backlogReadAt, backlogReadAt == lastByte else { return false }
    return now == lastByte || (chunk.isFull && now - lastByte < setup.gather)
  }

  private mutating func admit(_ epoch: Epoch, _ effects: inout Effects) {
    var epoch = epoch
    if epoch.origin == .live {
      lastEpoch = arrival
      if let acquired = epoch.fix?.acquired { epoch.fix?.acquired = max(acquired, epochBegan) }
    }
    guard hasDriver else { return }
    // One that takes no commands cannot tell that it has recovered: what it says does (DEF-43).
    if !driver.hearsMessages, epoch.origin == .live { isReceiverLost = false }
    let admission = driver.admit(epoch, at: now)
    switch admission {
    case .accept:
      if driver.status.isStreaming, epoch.fix != nil { streamedAt = now }
      append(epoch, &effects)
    case .hold, .drop: break
    }
  }

  /// A valid fix goes into the ring and to every client's policy; anything else counts for nothing
  /// (DEF-24).
  private mutating func append(_ epoch: Epoch, _ effects: inout Effects) {
    guard var fix = epoch.fix else { return }
    if let utc = fix.utc {
      switch epoch.origin {
      case .live:
        // When what has gathered came is reckoned, and a pulse is no measure of it.
        let pulse = backlogReadAt == now ? nil : pulse
        clock.learn(utc, received: fix.acquired, pulse: pulse)
        // It is of one epoch: without a pulse of its own the next one has none.
        if let heard = self.pulse, heard <= fix.acquired { self.pulse = nil }
      case .batch: clock.learnStored(utc, received: fix.acquired - leastEntryAge)
      }
      if let bootUTC_us = clock.bootUTC_us { driver.setClock(bootUTC_us: bootUTC_us) }
    }
    fix.acquired = clock.instant(of: fix.utc, at: fix.acquired, isLive: epoch.origin == .live)
    // Fixes come in the order of their making, whatever UTC does.
    fix.acquired = max(fix.acquired, newestMade)
    newestMade = fix.acquired
    fix.isFromAccessory = setup.isAccessory
    if fix.horizontalAccuracy_mm == nil {
      fix.horizontalAccuracy_mm = setup.assumedAccuracy_mm
    }
    search.succeed(at: now)
    if isGoodEnough(fix, epoch.origin) { tell(better(fix), &effects) } else { held = fix }
  }

  /// Whether a fix is told, or held back because a better one is about to come (PWR-7): only where
  /// nobody wants every one. What a buffer held back long enough is not held any longer.
  private mutating func isGoodEnough(_ fix: Fix, _ origin: EpochOrigin) -> Bool {
    let event: FixSchedule.Event =
      switch origin {
      case .live: .fix(accuracy: accuracy(of: fix), made: fix.acquired, demand.need)
      case .batch: .drained
      }
    return schedule.handle(event, planner.figures, at: now) == .use || demand.wantsEveryFix
  }

  /// A fix that is to be told, or the one before it that was held back in vain for a better one.
  private func better(_ fix: Fix) -> Fix {
    guard let held, !demand.wantsEveryFix, accuracy(of: held) < accuracy(of: fix) else {
      return fix
    }
    return held
  }

  /// A first fix that was held back is told when no better one comes, or somebody waits no longer.
  mutating func releaseHeld(_ effects: inout Effects) {
    guard let fix = held, effects.appended == nil else { return }
    let isOver = schedule.state != .settling || demand.need.until <= now
    guard isOver || demand.wantsEveryFix else { return }
    tell(fix, &effects)
    effects.proceeds = true
  }

  private mutating func tell(_ fix: Fix, _ effects: inout Effects) {
    held = nil
    pace.take(fix)
    move(fix)
    keep(fix, &effects)
  }

  /// How far the wearer may be from here, and when, is thought over with every fix that is told.
  private mutating func move(_ fix: Fix) {
    guard demand.bound < .infinity else { return }
    movement.take(
      fix, within: demand.bound, accuracy: accuracy(of: fix),
      planner.figures.receiver.saving(schedule.savesPower), schedule.predictor, at: now)
  }

  private func accuracy(of fix: Fix) -> Double {
    guard let accuracy = fix.horizontalAccuracy else {
      preconditionFailure("every fix has an accuracy when it comes out of an epoch")
    }
    return accuracy
  }

  /// Stores the fix for those it is owed to; what nobody is owed is not stored, and what no client may
  /// receive with full accuracy is stored coarse (RNG-6).
  private mutating func keep(_ fix: Fix, _ effects: inout Effects) {
    var isWanted = false
    var isPrecise = false
    for i in 0..<clients.used where clients[i].wants(fix) {
      isWanted = true
      isPrecise = clients[i].mayReceive(fix)
      if isPrecise { break }
    }
    guard isWanted else { return }
    // Of fixes of one moment the first counts, also for those who were spared it.
    let isRepeated = newest.map { fix.acquired <= $0.fix.acquired } ?? false
    if isRepeated && !isNewestRepeated { takeSparedFixes() }
    isNewestRepeated = isRepeated
    makeRoom()
    let stored = StoredFix(
      name: ring.append(isPrecise ? fix : AccuracyReduction.stored(fix)), fix: fix)
    effects.appended = stored.name
    newest = stored
    way.go(to: fix.coordinate)
    let context = context
    for i in 0..<clients.used where clients[i].heeds(at: fix.acquired, way.length) {
      clients[i].take(stored, context)
      if clients.isAwake(i, at: now) { clients.stir(i) }
    }
  }

  /// Before the head passes a cursor, the cursor moves on and remembers what it lost (RNG-4).
  private mutating func makeRoom() {
    guard ring.head - ring.tail >= UInt64(ring.capacity) else { return }
    for i in 0..<clients.used where clients.isAwake(i, at: now) { clients[i].makeRoom(in: ring) }
  }
}

// MARK: - The receiver's driver

extension Engine {
  /// Gives the driver an event and does what its observation means.
  mutating func drive(_ event: DriverEvent, _ effects: inout Effects) {
    observe(command(event, &effects))
  }

  /// Gives the driver an event; its pin, speed and bytes go into the effects.
  ///
  /// - Precondition: the driver has not had its turn in this step, for it has one output buffer.
  mutating func command(
    _ event: DriverEvent, _ effects: inout Effects
  ) -> DriverObservation {
    guard hasDriver else { return .none }
    precondition(!effects.isDriverDone, "the driver acts once a step")
    let answer = driver.handle(event, at: now)
    effects.pin = answer.pin
    effects.lineSpeed = answer.lineSpeed
    effects.aiding = answer.aiding
    effects.hasOutput = driver.status.hasOutgoing
    return answer.observation
  }

  /// What the driver saw, told to those it concerns.
  mutating func observe(_ observation: DriverObservation) {
    switch observation {
    case .none: break
    case .settled(let reached):
      if case .batching = reached { batchRefusal.forget() }
      if reached == .powersave { savingRefusal.forget() }
      // One that is switched off has not shown that it works.
      if reached == .off { endDrain() } else { receiverWorks() }
    case .recovered:
      batchRefusal.forget()
      savingRefusal.forget()
      receiverWorks()
    case .drained: finishDrain()
    case .lost: loseReceiver()
    case .refused(let refused):
      if case .batching = refused { batchRefusal.refuse(at: now) }
      if refused == .powersave { savingRefusal.refuse(at: now) }
      isReceiverLost = false
      finishDrain()
    }
  }

  private mutating func receiverWorks() {
    isReceiverLost = false
    endDrain()
  }

  /// Nothing is to be had of a receiver that holds nothing.
  private mutating func endDrain() {
    if !receiverBuffers { finishDrain() }
  }

  /// The receiver may hold fixes that are not in the ring.
  var receiverBuffers: Bool { hasDriver && driver.status.buffersFixes }

  /// How much older than now the entry out of the receiver's buffer is at least: those behind it were
  /// made later, an interval apart.
  private var leastEntryAge: Interval {
    setup.figures.fixInterval * Int64(hasDriver ? driver.status.entriesBehind : 0)
  }

  /// All that the receiver held is in the ring: ends that waited for it are told now.
  mutating func finishDrain() {
    isDrainAsked = false
    drainedAt = now
    emptyDrains = ring.head == drainedHead ? min(emptyDrains + 1, 12) : 0
    drainedHead = ring.head
    let context = context
    for i in stirAll() {
      clients[i].drained(context)
      clients[i].distanceCheck = .distantFuture
    }
  }

  /// DEF-43: deferrals end, clients are told, the driver keeps trying.
  private mutating func loseReceiver() {
    isDrainAsked = false
    guard !isReceiverLost else { return }
    isReceiverLost = true
    search.isInterrupted = true
    let context = context
    for i in stirAll() { clients[i].receiverLost(context) }
  }

  /// When the distance of client `i` must be looked at next, where fixes gather unseen (DEF-21).
  ///
  /// Reckoned from the last look, and not anew before the next one: a client that asks something
  /// now and then would put it off for ever.
  mutating func lookAhead(_ i: Int) {
    // A suspended client's end could not be delivered: no look is worth a wake (BKG-5).
    guard receiverBuffers, clients[i].execution != .suspended,
      let terms = clients[i].deferral.terms, terms.hasDistance
    else {
      clients[i].distanceCheck = .distantFuture
      return
    }
    guard clients[i].distanceCheck == .distantFuture else { return }
    var speed = newest?.fix.speed
    // How fast it was long ago says nothing.
    if let newest, now - newest.fix.acquired > Client.freshness { speed = nil }
    clients[i].distanceCheck = planner.distanceCheck(
      metresLeft: max(terms.distance - clients[i].deferral.meter.length, 0), speed: speed, at: now)
  }

  /// The driver's word for what the planner wants.
  static func goal(for planned: PlannedReceiver) -> ReceiverGoal {
    switch planned {
    case .off: .off
    case .standby: .standby
    case .tracking: .tracking
    case .powersave: .powersave
    case .batching(let watermark): .batching(watermark: watermark)
    }
  }

  /// Keeps account of when the receiver searches and how long it has slept.
  mutating func note(_ new: ReceiverGoal) {
    let wasAwake = goal.map(Engine.isAwake) ?? false
    if Engine.isAwake(new) && !wasAwake {
      search.begin(at: now)
    } else if !Engine.isAwake(new) && wasAwake {
      search.stop()
      search.sleptAt = new == .standby ? now : nil
    }
    if case .batching = new { drainedAt = now }
    goal = new
  }

  static func isAwake(_ goal: ReceiverGoal) -> Bool {
    switch goal {
    case .off, .standby: false
    case .tracking, .powersave, .batching: true
    }
  }
}

// MARK: - Status: read only

/// How the receiver is.
public struct ReceiverReport: Equatable, Sendable {
  /// What it does.
  public var activity: ReceiverActivity
  /// It is awake and has no fix: none yet, or none any more.
  public var isSearching: Bool
  /// It says what it should: false when the driver has lost it, and when it should talk and is silent.
  public var answers: Bool
  /// It answers no command, and sends fixes (PWR-12).
  public var isStreaming = false
  /// When it said something the last time; nil while it never did.
  public var heard: Instant?
  /// When its newest fix was made, kept or not; nil before the first one since the engine began.
  public var fixed: Instant?
  /// Sentences with a right checksum that came so far; stays at the largest value.
  public var sentences: UInt32 = 0
  /// UBX frames with a right checksum that came so far; stays at the largest value.
  public var frames: UInt32 = 0
}

/// What a client keeps board and receiver from resting with.
public struct ClientHold: Equatable, Sendable {
  /// What it needs all the time.
  public var demand: Demand
  /// When the next of the single fixes must be there that its services need; `.distantFuture` for none.
  public var due: Instant
  /// Until when the board stays awake for its acknowledgement (RNG-8); nil when none is awaited.
  public var awaitsAcknowledgementUntil: Instant?
}

/// Why the plan lets the board sleep no more deeply than it does, clients aside.
public enum SleepObstacle: Equatable, Sendable {
  /// Something keeps the board from sleeping (DEF-28).
  case inhibited
  /// The receiver is to tell what it finds, and bytes do not wake a suspended board.
  case receiverRuns
  /// The same, although nobody needs it: nothing can put it to rest.
  case receiverCannotRest
  /// Something is on its way between board and receiver.
  case receiverBusy
  /// The receiver gathers fixes, and its pin does not wake a suspended board.
  case receiverCannotWake
  /// Something is due so soon that suspending is not worth it.
  case soon
}

extension Engine {
  /// How the receiver was at the last step; nil on a board without one. O(1).
  public func receiverReport(at now: Instant) -> ReceiverReport? {
    guard hasDriver else { return nil }
    let activity = driver.status.activity
    let counters = decoder.counters
    return ReceiverReport(
      activity: activity, isSearching: isReceiverAwake && isWithoutFix(at: now),
      answers: activity != .lost && !isReceiverLost && !isSilent(activity, at: now),
      isStreaming: isReceiverStreaming,
      heard: lastByte > .boot ? lastByte : nil, fixed: newestMade > .boot ? newestMade : nil,
      sentences: counters.sentences, frames: counters.frames)
  }

  /// Whether it is known that nothing can come of the receiver now: there is none, it is lost, or others wait for what it
  /// says and it says nothing.
  private var isReceiverAway: Bool {
    guard hasDriver else { return true }
    if isReceiverLost { return !isReceiverStreaming }
    return (demand.wantsEveryFix || schedule.isOn) && isSilent(driver.status.activity, at: now)
  }

  /// Whether fixes come of a receiver that answers no command.
  private var isReceiverStreaming: Bool {
    guard hasDriver, driver.status.isStreaming, let streamedAt else { return false }
    return now - streamedAt <= longestSilence
  }

  /// Whether an awake receiver has no fix: it searches for its first one, was away since its last one, or
  /// has made none for longer than its line may lie unread.
  private func isWithoutFix(at now: Instant) -> Bool {
    if search.since != nil || search.isInterrupted { return true }
    guard let quietSince = search.quietSince, !receiverBuffers else { return false }
    return now - quietSince > longestSilence
  }

  /// Whether a receiver that is meant to talk has not, for longer than its line may lie unread.
  private func isSilent(_ activity: ReceiverActivity, at now: Instant) -> Bool {
    switch activity {
    case .off, .standby, .starting, .batching, .lost: return false
    case .running, .saving: break
    }
    guard isReceiverAwake, !receiverBuffers else { return false }
    return now - silentSince > longestSilence
  }

  /// When an awake receiver said something the last time, or began to be waited for.
  private var silentSince: Instant {
    // Of one that is only listened to, what makes no message counts for nothing.
    let heard = driver.hearsMessages ? lastByte : lastEpoch
    return max(max(heard, overlookedAt), search.since ?? .boot)
  }

  /// When the state of the receiver must be checked, also while all clients are suspended (DEF-43): a lost receiver
  /// is tried again, and one that takes no commands counts as lost after a long silence. `.distantFuture` while no
  /// client needs the receiver.
  private func receiverCheck(_ demand: DemandSummary) -> Instant {
    guard hasDriver, demand.wantsEveryFix || schedule.isOn else { return .distantFuture }
    switch driver.status.activity {
    case .lost:
      guard let due = driver.status.deadline, due > now else { return .distantFuture }
      return due
    case .running:
      guard !driver.hearsMessages, !isReceiverLost, isReceiverAwake else { return .distantFuture }
      return silentSince + max(setup.unknownAfter, longestSilence)
    case .off, .standby, .starting, .saving, .batching: return .distantFuture
    }
  }

  /// Whether the board's profile has a state in which it is suspended.
  public var canSuspend: Bool { setup.figures.deep != nil }

  /// What keeps the board out of its deepest sleep, by the last step's `plan`; nil where that is planned,
  /// and on a board that has none. O(1).
  public func sleepObstacle(_ plan: Effects) -> SleepObstacle? {
    guard plan.board < .suspended else { return nil }
    if isInhibited { return .inhibited }
    switch goal {
    case .tracking, .powersave:
      return isUnwanted ? .receiverCannotRest : .receiverRuns
    case .off, .standby, .batching, nil: break
    }
    if isBusy { return .receiverBusy }
    guard let deep = setup.figures.deep else { return nil }
    if case .batching = goal, setup.figures.batch?.hasPin == true, !deep.wakesOnPin {
      return .receiverCannotWake
    }
    return .soon
  }

  /// Whether what the motion sensor's line says is made use of.
  public var usesMotionLine: Bool { setup.figures.usesMotionLine }

  /// Something keeps the board from sleeping (DEF-28).
  public var isSleepInhibited: Bool { isInhibited }

  /// What a client needs of the hardware at `now`. O(its regions).
  public func use(of client: ClientID, at now: Instant) -> ClientHold {
    var copy = clients[client.index]
    copy.takeSparedFix(context)
    let need = copy.need(at: now, fastest: pace.fastest(at: now), line: motionLine)
    return ClientHold(
      demand: copy.demand(at: now), due: need.due,
      awaitsAcknowledgementUntil: copy.awaitsAcknowledgementUntil)
  }
}

// MARK: - The end of every step: deadlines, sleep, the hardware

extension Engine {
  /// A client's request; a client that was never seen is put into use.
  mutating func handle(_ request: Request, of id: ClientID) {
    clients.use(id.index)
    let context = context
    let wasAuthorized = clients[id.index].isAuthorized
    let wasShown = clients[id.index].isShownFixes
    clients[id.index].takeSparedFix(context)
    clients[id.index].handle(request, in: ring, context)
    clients.stir(id.index)
    let losesShown = wasShown && !clients[id.index].isShownFixes
    let losesAll = wasAuthorized && !clients[id.index].isAuthorized
    if losesShown || losesAll { eraseUnneeded() }
    // Who starts while there is no receiver hears so at once, as in a long search (STD-10).
    if request.startsService, isReceiverAway { clients[id.index].locationUnknown(context) }
    guard request.wantsFix else { return }
    // Who gets nothing anyhow is no reason to search.
    let need = clients[id.index].need(
      at: now, fastest: pace.fastest(at: now), line: motionLine)
    if need.isAny || clients[id.index].demand(at: now) != .none {
      schedule.handle(.urged, planner.figures, at: now)
    }
  }

  /// All clients, for what may end the rest of any.
  private mutating func stirAll() -> Range<Int> {
    takeSparedFixes()
    return clients.stirred()
  }

  /// Hands the newest fix to those who were spared it.
  private func takeSparedFixes() {
    let context = context
    for i in 0..<clients.used where clients[i].mayLackAFix {
      clients[i].takeSparedFix(context)
    }
  }

  /// What no client may be shown any more is zeroed, for one of them lost the right to it (RNG-6).
  /// O(fixes that go).
  private mutating func eraseUnneeded() {
    var first = ring.head
    for i in 0..<clients.used { first = min(first, clients[i].neededFrom) }
    ring.erase(0..<first)
  }

  /// What a client must know of its surroundings; made where it is wanted, for it is large.
  @inline(__always) var context: ClientContext {
    ClientContext(
      now: now, head: ring.head, newest: newest, receiverBuffers: receiverBuffers,
      isDraining: hasDriver && driver.status.isDraining,
      isDeferralAvailable: isDeferralAvailable && !isReceiverLost,
      deferralLimit: setup.figures.deferralLimit, deliveryHold: setup.deliveryHold,
      hasReceiver: hasDriver && (!isReceiverLost || isReceiverStreaming), motionLine: motionLine,
      givenUp: battery.givenUp, travelled: way.length)
  }

  /// Whether what has just come changed nothing that a plan is made of: bytes in the middle of an
  /// epoch, from a receiver that has nothing else to do, before anything is due.
  private func holdsStill(_ effects: Effects) -> Bool {
    guard now < standsUntil, lastByte == now, !effects.proceeds, !effects.isDriverDone, isMidEpoch
    else { return false }
    return isReceiverAtRest && (driver.status.deadline ?? .distantFuture) > now
  }

  /// No command is on its way, and no fix waits in the receiver.
  private var isReceiverAtRest: Bool {
    hasDriver && driver.status.isSettled && !driver.status.isDraining && !receiverBuffers
  }

  /// Whether nobody wants anything of a receiver that talks all the same: until somebody asks, nothing
  /// that it says need be heard, and no moment is waited for.
  ///
  /// Who waits like that calls ``overlook(at:)`` behind it.
  public var isUnwanted: Bool {
    !demand.wantsEveryFix && !demand.need.isAny && demand.bound == .infinity
      && isReceiverAtRest && isReceiverAwake && !isBusy && !isInhibited && !isEnding
      && demand.check == .distantFuture && schedule.wake == .distantFuture
      && driver.status.deadline == nil && acknowledgementDue == nil
  }

  /// Until when a delivery waits for its acknowledgement and the board is not suspended (RNG-8); nil where
  /// none does.
  private var acknowledgementDue: Instant? {
    var due: Instant?
    for i in clients.awake where clients.isAwake(i, at: now) {
      guard let hold = clients[i].awaitsAcknowledgementUntil, hold > now else { continue }
      due = max(due ?? hold, hold)
    }
    return due
  }

  /// Nobody listened to the receiver, and what it said meanwhile is thrown away: that it was not heard
  /// says nothing about it.
  public mutating func overlook(at now: Instant) {
    let context = context
    for i in clients.awake where clients.isAwake(i, at: now) {
      clients[i].noteUnrecorded(context)
    }
    if search.quietSince != nil { search.quietSince = now }
    overlookedAt = now
  }

  /// A step begins. One that comes long after it was due says that the program was stopped, or the board asleep
  /// without having been told to: nobody listened to the receiver either.
  mutating func advance(to now: Instant) {
    precondition(now >= self.now, "the boot clock never goes back")
    self.now = now
    guard now - plannedWake > Engine.latestWake else { return }
    plannedWake = .distantFuture
    if search.quietSince != nil { search.quietSince = now }
    overlookedAt = now
  }

  /// How late a step may come on a board that runs: its alarm's resolution, and what it takes to resume.
  private static var latestWake: Interval { .seconds(2) }

  /// Waits for the rest of an epoch while the plan stands.
  private mutating func goOnWaiting(_ effects: inout Effects) {
    // A look that is due is on its way already: the drain.
    effects.wake = demand.check > now ? demand.check : .distantFuture
    isGathering = false
    finishPlan(&effects)
  }

  /// Brings time, clients and hardware together; then makes the plan, unless more is to be done.
  mutating func settle(_ effects: inout Effects) {
    standsUntil = .boot
    makePlan(&effects)
    assert(clients.hasNobodyMissed(at: now), "a client was stirred, and not looked at")
  }

  private mutating func makePlan(_ effects: inout Effects) {
    if !effects.proceeds { expire(&effects) }
    releaseHeld(&effects)
    if receiverCheckDue <= now, receiverCheck(demand) <= now { loseReceiver() }
    planner.figures.batch = mayBatch ? setup.figures.batch : nil
    planner.figures.receiver.powersave_mW =
      savingRefusal.holds(at: now) ? nil : setup.figures.receiver.powersave_mW
    demand = elapseClients()
    if isEnding { demand = DemandSummary() }
    planSingleFixes()
    releaseHeld(&effects)
    // Where another step follows, it makes the plan.
    guard !effects.isDriverDone && !effects.proceeds else { return lookForNotices(&effects) }
    let plan = planner.plan(situation(demand), isInhibited: isInhibited, at: now)
    steer(plan.receiver, demand, &effects)
    lookForNotices(&effects)
    guard !effects.proceeds else { return }
    effects.board = plan.board
    effects.wake = plan.wake
    effects.listens = plan.listens
    isGathering = false
    // Single fixes are reckoned anew each time.
    if !demand.need.isAny, isReceiverAtRest {
      standsUntil = min(plan.wake, driver.status.deadline ?? .distantFuture)
    }
    finishPlan(&effects)
  }

  /// Whether the receiver may be left to itself. Not one that is lost or answers no command: it gathers
  /// nothing, and the board would sleep over what it sends.
  private var mayBatch: Bool {
    !batchRefusal.holds(at: now) && !isReceiverLost && !(hasDriver && driver.status.isStreaming)
  }

  /// Notices must be told, and the driver's effects done, before a plan holds.
  private mutating func lookForNotices(_ effects: inout Effects) {
    effects.hasNotices = hasNotices
    if effects.isDriverDone || effects.hasNotices { effects.proceeds = true }
  }

  /// What the line and the driver need beside the plan.
  private mutating func finishPlan(_ effects: inout Effects) {
    if isBusy { waitForReceiver(&effects) }
    // While messages gather on purpose, the driver's watch over a silent line would be misled.
    if hasDriver, let deadline = driver.status.deadline, effects.listens || isBusy {
      effects.wake = min(effects.wake, deadline)
    }
    goDeaf(!effects.listens && !isBusy)
    // Never a busy loop, whatever a profile's figures say.
    effects.wake = max(effects.wake, now + .milliseconds(1))
    plannedWake = effects.wake
  }

  /// Notes that messages gather unheard from now on. Without one heard just before, their times are
  /// reckoned from now, which is late by less than an interval; but not between two chunks of what has
  /// gathered already, wherever it is cut.
  private mutating func goDeaf(_ willBeDeaf: Bool) {
    let isReading = backlogReadAt == now
    if willBeDeaf && !isDeaf && !isReading && now - lastEpoch > setup.figures.fixInterval {
      lastEpoch = now
    }
    isDeaf = willBeDeaf
  }

  /// Deadlines of driver and line that have come.
  private mutating func expire(_ effects: inout Effects) {
    if isDriverDue && !effects.isDriverDone {
      drive(.deadline, &effects)
      effects.proceeds = true
    } else if let patience, now - lastByte >= patience,
      !effects.isDriverDone
    {
      closeEpoch(&effects)
    }
  }

  /// Whether the driver's deadline has come.
  ///
  /// What has just arrived may be the answer it waits for, and is read to its end first; but on a
  /// line that is never silent only for so long.
  private var isDriverDue: Bool {
    mutating get {
      guard hasDriver, let deadline = driver.status.deadline, deadline <= now else {
        overdueSince = nil
        return false
      }
      let since = overdueSince ?? now
      guard lastByte < now || now - since >= setup.epochs.pause else {
        overdueSince = since
        return false
      }
      overdueSince = nil
      return true
    }
  }

  /// Lets each client see the time, and engage or not; gives the sum of what they want.
  private mutating func elapseClients() -> DemandSummary {
    let context = context
    var demand = DemandSummary()
    var hasFullQueue = false
    demand.look(at: clients.lookForAwake(at: now))
    for i in clients.awake where clients.isAwake(i, at: now) {
      if clients[i].mayLackAFix { clients[i].takeSparedFix(context) }
      clients[i].elapse(context)
      hasFullQueue = hasFullQueue || clients[i].isQueueFull
      lookAhead(i)
      let wanted = clients[i].demand(at: now)
      demand.add(wanted)
      // Whoever was told no place since its start is promised none yet (STD-3).
      if case .within(let metres) = wanted, clients[i].awaitsFirstFix(context) {
        demand.need.add(due: now, accuracy: metres * Engine.accuracyShare)
      }
      let check = clients[i].check
      if check > now { demand.look(at: check) }
      clients[i].rest(at: now)
    }
    if demand.live == 0 {
      let fastest = pace.fastest(at: now)
      for i in 0..<clients.used {
        if clients[i].mayLackAFix { clients[i].takeSparedFix(context) }
        demand.need.add(clients[i].need(at: now, fastest: fastest, line: motionLine))
      }
    }
    if hasFullQueue { noteRecording(demand.wantsEveryFix, context) }
    let may = planner.mayDefer(demand, isInhibited: isInhibited) && !isReceiverLost
    for i in clients.awake
    where clients.isAwake(i, at: now) && clients[i].deferral.state != .idle {
      clients[i].mayEngage(may, context)
    }
    promise(&demand)
    return demand
  }

  /// For the suspended clients whose queue is full (BKG-5): fixes are recorded while another client wants every
  /// fix, and while the receiver is awake for single fixes; otherwise a gap begins.
  private func noteRecording(_ isRecorded: Bool, _ context: ClientContext) {
    guard isRecorded || !isReceiverAwake else { return }
    for i in clients.awake where clients.isAwake(i, at: now) && clients[i].isQueueFull {
      if isRecorded {
        clients[i].endUnrecorded(context)
      } else {
        clients[i].noteUnrecorded(context)
      }
    }
  }

  /// Those who want single fixes, and not every one: when the receiver is on for them.
  private mutating func planSingleFixes() {
    // Where every fix comes at once, single ones come of themselves.
    if demand.bound == .infinity {
      movement.lapse()
    } else if demand.live == 0 {
      let start = movement.start(within: demand.bound, at: now)
      let due = start > now ? schedule.fixTime(ofStart: start, planner.figures.receiver) : now
      demand.need.add(due: due, accuracy: demand.bound * Engine.accuracyShare)
    }
    guard hasDriver else { return }
    if demand.wantsEveryFix, schedule.keepOn(at: now) { return }
    let wasSearching = schedule.isOn
    schedule.handle(
      .plan(demand.need, isOnAnyway: demand.wantsEveryFix), planner.figures, at: now)
    // A search that was given up: those it was for think again.
    if wasSearching, schedule.state == .backedOff {
      let context = context
      for i in stirAll() {
        clients[i].miss(at: now)
        if clients[i].execution != .suspended { clients[i].locationUnknown(context) }
      }
    }
  }

  /// What the motion sensor says, from now on.
  private mutating func hearMotion(_ line: MotionLine) {
    if motionLine == .still, line == .moving { schedule.handle(.urged, planner.figures, at: now) }
    motionLine = line
    movement.hear(line, at: now)
    for i in stirAll() { clients[i].hear(line, at: now) }
  }

  /// The part of a promised distance that a fix's own error may take.
  private static let accuracyShare = 0.2

  /// What clients were promised for a time that is still to come, whatever they demand: the end of a
  /// deferral in the foreground too (DEF-18), and word that there is no location (STD-10).
  private mutating func promise(_ demand: inout DemandSummary) {
    for i in clients.awake
    where clients.isAwake(i, at: now) && clients[i].execution != .suspended {
      guard let terms = clients[i].deferral.terms, terms.deadline > now else { continue }
      demand.look(at: terms.deadline)
    }
    receiverCheckDue = receiverCheck(demand)
    demand.look(at: receiverCheckDue)
    guard let quietSince = search.quietSince, !receiverBuffers else { return }
    let due = quietSince + setup.unknownAfter
    if due <= now {
      let context = context
      for i in clients.awake
      where clients.isAwake(i, at: now) && clients[i].execution != .suspended {
        clients[i].locationUnknown(context)
      }
    } else if demand.live > 0 || (schedule.isOn && !demand.wantsEveryFix) {
      demand.look(at: due)
    }
  }

  /// Tells the driver what the plan wants of the receiver, or to empty its buffer; one of them.
  private mutating func steer(
    _ planned: PlannedReceiver, _ demand: DemandSummary, _ effects: inout Effects
  ) {
    let wanted = Engine.goal(for: planned)
    if wanted != goal {
      note(wanted)
      drive(.goal(wanted), &effects)
      effects.proceeds = true
      return
    }
    var isWaiting = false
    var look = drainDue
    for i in clients.awake where clients.isAwake(i, at: now) {
      if clients[i].isWaitingForDrain { isWaiting = true }
      look = min(look, clients[i].distanceCheck)
    }
    if isWaiting && !receiverBuffers {
      finishDrain()
    } else if receiverBuffers && !isDrainAsked && (isWaiting || look <= lookableUntil) {
      isDrainAsked = true
      drive(.drain, &effects)
      effects.proceeds = true
    }
  }

  /// Looks that are due until then are made now: the board woke for them a little early, and they
  /// need not be exact. Not right after a drain, for then nothing new can have come.
  private var lookableUntil: Instant {
    now - drainedAt > planner.longestLead ? now + planner.longestLead : now
  }

  /// When the receiver's buffer must be looked into, pin or no pin; earlier where a fix out of it is
  /// due to somebody who has not deferred.
  private var drainDue: Instant {
    // Of one that is lost nothing is to be had.
    guard receiverBuffers, !isReceiverLost else { return .distantFuture }
    let needed = max(
      demand.need.due, drainedAt + setup.figures.fixInterval * (1 << emptyDrains))
    return min(drainedAt + planner.drainPatience, needed)
  }

  /// Something is on its way between board and receiver.
  var isBusy: Bool {
    guard hasDriver else { return false }
    return !driver.status.isSettled || driver.status.isDraining || isMidEpoch
  }

  /// While something is on its way the board idles and is not suspended; bytes are left to gather a
  /// little, so that it does not step for each.
  private mutating func waitForReceiver(_ effects: inout Effects) {
    let isStreaming = isMidEpoch || (hasDriver && driver.status.isDraining)
    let silence = now - lastByte
    effects.board = .idle
    let gather = assembler.isEndKnown ? setup.gatherToEnd : setup.gather
    effects.listens = !isStreaming || silence >= gather
    if !effects.listens { effects.wake = min(effects.wake, now + gather) }
    isGathering = !effects.listens
    if let patience {
      effects.wake = min(effects.wake, lastByte + patience)
    }
  }

  private func situation(_ demand: DemandSummary) -> Situation {
    var situation = Situation()
    situation.demand = demand
    situation.isBusy = isBusy
    situation.searchingSince = search.since
    situation.offBefore = search.offBefore
    situation.lastMessage = lastEpoch
    if !demand.wantsEveryFix { situation.schedule = schedule }
    situation.drainDue = drainDue
    situation.holdUntil = acknowledgementDue
    return situation
  }

  /// Whether a client must be told something.
  var hasNotices: Bool {
    for i in clients.awake where clients.isAwake(i, at: now) && clients[i].hasNotices {
      return true
    }
    return false
  }
}

#if REACHED
  extension Search {
    /// The rows: the receiver is not meant to be awake, searches, has found.
    static let machine = Machine(
      "Search", states: "off searching found", events: "begin succeed stop",
      excluded: [
        ("searching found", "begin", "one that is awake is not woken"),
        ("off", "stop", "one that rests is not put to rest"),
      ])

    func reach(_ event: Int) {
      Search.machine.reach(since != nil ? 1 : quietSince != nil ? 2 : 0, event)
    }
  }
#endif
