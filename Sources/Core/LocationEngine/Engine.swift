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
    if let start, bookmark.owesAll {
      if hasDriver { driver.expectBufferedFixes() }
      clients[client.index].resumeRecording(
        at: start, until: receiverBuffers ? start + setup.figures.fixInterval * 2 : nil,
        isBufferLost: setup.receiver?.batch != nil && !receiverBuffers,
        limit: setup.figures.deferralLimit, in: ring)
    }
    clients.stir(client.index)
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
  mutating func succeed(at now: Instant) {
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
