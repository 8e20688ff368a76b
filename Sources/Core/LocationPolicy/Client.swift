import DeferralCache
import LocationTypes

/// One client: what it asked, its deferral, its cursor into the ring, and what it must be told.
///
/// Owns no fixes: a delivery is a range of the ring. `owed` are the ring's fixes below `owedUntil`;
/// `due` those below `dueUntil`, which may be told now. Deferral engaged means that `dueUntil` stays
/// behind while the head goes on.
public struct Client: Sendable {
  /// How old the last fix may be to start a deferral's distance (DEF-19).
  public static let freshness = Interval.seconds(10)

  /// Nothing of it changes by time alone before, it demands nothing until then and has nothing to tell:
  /// no step needs to look at it. ``Instant/boot`` while it does not rest.
  public internal(set) var restsUntil = Instant.boot
  // Beside it, for they are asked of each client with each fix:
  /// While it rests, and the wearer has not come so far, ``CommonWay/length``, and it is not
  /// ``heedsFrom`` yet, no fix means anything to it. −∞ while it has taken none since its rest began.
  @usableFromInline var heedsAt = -Double.infinity
  /// See ``heedsAt``.
  @usableFromInline var heedsFrom = Instant.boot
  /// What a fix means to it while it rests.
  var heed = FixHeed.everything
  /// The sequence number of the newest fix that it took while it rests.
  var taken: UInt64 = 0
  /// A process is attached.
  public internal(set) var isConnected = false
  /// Its process's state.
  public internal(set) var execution = ExecutionState.foreground
  /// What it may.
  public internal(set) var authorization = Authorization.always
  /// It may use location.
  public var isAuthorized: Bool { authorization.isGranted }
  /// It is to know no more than about where it is (AUT-5).
  public internal(set) var isReduced = false
  /// What it asked for beside updates.
  public internal(set) var services = ClientServices()
  /// One of them may have something to do or to tell; most clients have none.
  public internal(set) var usesServices = false
  /// Accuracy and filter.
  public internal(set) var settings = ClientSettings()
  /// `startUpdatingLocation` was called and not taken back.
  public internal(set) var isUpdating = false
  /// Its deferral.
  public internal(set) var deferral = Deferral()
  /// Its place in the ring.
  public internal(set) var cursor: Cursor
  /// The newest fix of the ring that it was told.
  public internal(set) var newestDelivered: UInt64?
  /// The newest that it was told while its accuracy is reduced.
  var toldCoarse: StoredFix?
  /// The earliest moment at which its distance can have been travelled, as far as is known.
  public var distanceCheck = Instant.distantFuture

  var owedUntil: UInt64
  var dueUntil: UInt64
  /// Fixes that are passed over: they were made between two runs of updates, or for others.
  ///
  /// One range is enough: when a second one, not next to it, comes while fixes before the first are
  /// still not acknowledged, the first is forgotten and a later process may be told its fixes.
  /// Never a fix of a denied time: see ``deniedUntil``.
  var notOwed: Range<UInt64>?
  var ends = PendingEnds()
  /// The end that was told last has its batch up to there, which comes next (X1).
  var batchThrough: UInt64?
  var waitsForDrain = false
  var closesAtDrain = false
  /// The receiver's buffer may hold fixes for it that were made before the service started.
  var awaitsOldBuffer = false
  /// When updates were stopped whose last fixes the receiver still holds; none made later is owed.
  var closedAt = Instant.boot
  /// What comes out of the drain that closes goes to the process that stopped, which still lives.
  var tellsAtDrain = false
  var failure: LocationErrorCode?
  /// Its authorization changed and it was not told.
  var tellsAuthorization = false
  /// What its sessions make of it.
  var use = ClientUse()
  /// What the battery is too low for, as it was taken in last.
  var lowBattery = PromiseSet.none
  /// What it was told last that it does not get (PWR-10).
  var toldGivenUp = PromiseSet.none
  /// When updates were given up the last time: of what was made then nothing is owed.
  var unserved = (from: Instant.boot, through: Instant.boot)
  /// It is suspended, and N fixes wait for it: none is acquired for its updates (BKG-5).
  public internal(set) var isQueueFull = false
  /// When fixes were not recorded because its queue was full; nil if nothing is to be reported.
  var unrecorded: UnrecordedTime?
  /// A pause or a resume that was not told.
  var pauseNotice: PauseMonitor.Outcome = .nothing
  /// This fix is delivered whatever its filter says (PAU-10).
  var mustPass: UInt64?
  /// There is no location now (STD-10).
  var isLocationUnknown = false
  /// Its updates were told so.
  var isUnknownTold = false
  /// When it started updates while the receiver held fixes made for others: those are not for it.
  var hidesUntil: Instant?
  /// When it was authorized again. What was acquired until then is never shown, whatever follows.
  var deniedUntil: Instant?
  var filterFrom: Coordinate?
  var filterAccuracy_mm: Int32?
  var unacknowledgedThrough: UInt64?
  var holdUntil = Instant.boot
  /// A report that was not acknowledged, and until when that is waited for.
  var report: FixName?
  var reportHoldUntil = Instant.boot
  var turnUntil = Instant.boot

  /// A client that was never seen before; it is owed nothing older than `head`.
  public init(at head: UInt64) {
    cursor = Cursor(at: head)
    owedUntil = head
    dueUntil = head
  }

  // A client is large: what is asked of it from outside, each step, is `mutating` so that it is looked
  // at in place. It changes nothing.

  /// What it needs of the hardware now.
  public mutating func demand(at now: Instant) -> Demand {
    guard isConnected, isAuthorized, isAcquiring else { return .none }
    let live = liveDemand
    if execution != .suspended, let live { return live }
    // Live updates have no queue (LIV-10): of a suspended client, only a background session keeps them up.
    let isKept = live != nil && use.keepsRunning
    guard isUpdating, isRunning || waitsForDrain, !isReduced else {
      return isKept ? .deferred(check: .distantFuture) : .none
    }
    let accuracy = services.coarsened(settings.desiredAccuracy)
    if let metres = LocationAccuracy.bound(of: accuracy), !waitsForDrain, !isKept {
      return .within(metres: metres)
    }
    if execution == .foreground { return .live(isWatched: true) }
    if waitsForDrain { return .deferred(check: now) }
    // Nothing can be delivered: no distance is looked at, and no handler has its turn.
    if execution == .suspended {
      return .deferred(check: deferral.terms?.deadline ?? .distantFuture)
    }
    switch deferral.state {
    case .armed, .engaged:
      return .deferred(check: min(deferral.terms?.deadline ?? .distantFuture, distanceCheck))
    case .idle:
      // Between the end of a deferral and the handler's next call nothing is torn down (X1).
      return turnUntil > now ? .deferred(check: turnUntil) : .live(isWatched: false)
    }
  }

  /// Until when the board stays awake for its acknowledgement; nil when none is awaited (RNG-8).
  public var awaitsAcknowledgementUntil: Instant? {
    mutating get {
      let batch = unacknowledgedThrough == nil ? nil : holdUntil
      guard report != nil else { return batch }
      return max(batch ?? reportHoldUntil, reportHoldUntil)
    }
  }

  /// Whether its deferral could engage, but for the board and other clients.
  public var isDeferrable: Bool {
    isConnected && isUpdating && execution != .foreground && deferral.state != .idle
  }

  /// Whether something waits until the receiver's buffer is empty.
  public var isWaitingForDrain: Bool {
    mutating get { waitsForDrain || closesAtDrain }
  }

  /// Whether ``nextNotice(in:hold:)`` has something to tell, or will find so.
  public var hasNotices: Bool {
    mutating get {
      guard isConnected else { return usesServices && services.hasNotices }
      guard execution != .suspended else { return usesServices && services.hasKept }
      guard !waitsForDrain else { return services.refusal != nil }
      return cursor.gap != nil || mustReportUnrecorded || !ends.isEmpty || failure != nil
        || tellsAuthorization || pauseNotice != .nothing
        || cursor.delivered < min(dueUntil, owedUntil)
        || (usesServices && services.hasNotices) || mustHearOfBattery
    }
  }

  /// The newest fix it was told: Core Location's `location` (STD-8); nil when it was told none, or the
  /// ring no longer has it.
  public func location(in ring: borrowing FixRing) -> StoredFix? {
    isReduced ? toldCoarse : newestDelivered.flatMap { ring.stored(at: $0) }
  }

  /// Updates run: started, not paused (DEF-4) and not given up.
  var isRunning: Bool {
    mutating get { isUpdating && !services.pause.isPaused && gets(.updates) }
  }
}

// MARK: - What happens to it

extension Client {
  /// Whether a fix may be owed to it: made while it was updating and might use location.
  public mutating func wants(_ fix: Fix) -> Bool {
    isAuthorized
      && (isUpdating || usesServices || (closesAtDrain && fix.acquired <= closedAt))
  }

  /// A valid fix went into the ring: the newest there is, ``ClientContext/newest``.
  public mutating func take(_ stored: StoredFix, _ context: ClientContext) {
    isLocationUnknown = false
    if restsUntil == .boot || stirs(for: stored, context) { takeAwake(stored, context) }
  }

  /// A fix for a client that does not rest.
  private mutating func takeAwake(_ stored: StoredFix, _ context: ClientContext) {
    let fix = stored.fix
    isUnknownTold = false
    // There is a location again before a suspended client was told that there was none.
    if execution == .suspended && failure == .locationUnknown { failure = nil }
    noteRecorded(fix, context)
    if usesServices { serve(stored, context) }
    guard isUpdating || closesAtDrain else { return }
    guard !isHidden(fix), !isReduced else { return passOver(context.head - 1..<context.head) }
    if isUnserved(fix) { return passUnserved(context) }
    guard isUpdating else { return takeLast(fix, context) }
    let pause = services.pause.handle(.fix(fix))
    switch pause {
    case .nothing:
      if services.pause.isPaused { return passOver(context.head - 1..<context.head) }
    case .pause:
      mustPass = context.head - 1
      note(.pause)
      usesServices = true
    case .resume: note(.resume)
    }
    takeRunning(fix, context)
    if pause == .pause { endForPause(context) }
  }

  /// A fix for updates that run.
  private mutating func takeRunning(_ fix: Fix, _ context: ClientContext) {
    if let terms = deferral.terms, fix.acquired > terms.called { ends.close(at: context.head - 1) }
    switch deferral.handle(.fix(fix)) {
    case .nothing: break
    case .flush: preconditionFailure("a fix does not end engagement by itself")
    case .finish(let end):
      // The fix that met the criterion is the last of the final batch (DEF-35).
      finish(end, context)
      return
    }
    let held = deferral.state == .engaged || context.isDraining
    let isFull = holdsLimit(context)
    if !held || isFull { dueUntil = context.head }
    if isFull { waitsForDrain = false }  // before the ring overwrites what is to be told
  }

  /// A fix that came out of the receiver after updates were stopped.
  private mutating func takeLast(_ fix: Fix, _ context: ClientContext) {
    let before = context.head - 1
    if fix.acquired > closedAt {
      owedUntil = min(owedUntil, before)
      ends.close(at: before)
    } else if tellsAtDrain && holdsLimit(context) {
      dueUntil = context.head
      waitsForDrain = false
    }
  }

  /// Time passed: a timeout may be met (DEF-17). What the receiver still holds belongs to it.
  public mutating func elapse(_ context: ClientContext) {
    elapseServices(context)
    switch deferral.handle(.time(context.now)) {
    case .nothing: break
    case .flush: preconditionFailure("time does not end engagement by itself")
    case .finish(let end): finishAfterDrain(end, context)
    }
    if context.givenUp != lowBattery { setGivenUp(context) }
    if execution == .suspended || isQueueFull { elapseQueue(context) }
  }

  private mutating func elapseServices(_ context: ClientContext) {
    guard usesServices else { return }
    if services.check <= context.now {
      note(services.pause.handle(.time(context.now)))
      services.elapse(at: context.now, newest: context.newest(after: deniedUntil))
    }
    setLiveFlags(context)
  }

  /// The board may sleep over its fixes, or not (DEF-28, DEF-29).
  public mutating func mayEngage(_ may: Bool, _ context: ClientContext) {
    let engages = may && isDeferrable && !waitsForDrain && !context.isDraining
    if engages && deferral.state == .armed { dueUntil = context.head }  // DEF-12: older fixes first
    let disengages = !may || execution == .foreground
    guard engages || disengages else { return }
    switch deferral.handle(engages ? .mayEngage : .mayNotEngage) {
    case .nothing: break
    case .flush:
      if context.receiverBuffers { waitsForDrain = true } else { dueUntil = context.head }
    case .finish: preconditionFailure("engagement does not finish a deferral")
    }
  }

  /// The receiver's buffer is empty: all it held is in the ring.
  public mutating func drained(_ context: ClientContext) {
    restsUntil = .boot
    // The handler's turn to call again begins when it is told, not when the criterion was met (X1).
    if waitsForDrain { turnUntil = context.now + context.deliveryHold }
    waitsForDrain = false
    awaitsOldBuffer = false
    if closesAtDrain {
      closesAtDrain = false
      owedUntil = min(owedUntil, context.head)
      if tellsAtDrain { dueUntil = context.head }
    }
    if isUpdating && deferral.state != .engaged { dueUntil = context.head }
  }

  /// The receiver failed (DEF-43): the deferral ends, what there is is delivered, the client is told.
  public mutating func receiverLost(_ context: ClientContext) {
    restsUntil = .boot
    let code = LocationErrorCode.deferredFailed
    if case .finish(let end) = deferral.handle(.end(code)) {
      finish(end, context)
      isUnknownTold = false
    }
    loseOldBuffer(context)
    if waitsForDrain || closesAtDrain { drained(context) }
    locationUnknown(context)
  }

  /// No fix could be made for a long time (STD-10, SLC-11, VIS-12); told once until there is one again.
  ///
  /// A deferral that is engaged goes on without a word (DEF-42).
  public mutating func locationUnknown(_ context: ClientContext) {
    guard deferral.state != .engaged else { return }
    isLocationUnknown = true
    setLiveFlags(context)
    guard isConnected, isAuthorized, awaitsFixes, !isUnknownTold else { return }
    isUnknownTold = true
    tell(.locationUnknown)
  }

  /// Whether it started a service of its delegate that fixes are searched for.
  private var awaitsFixes: Bool {
    mutating get {
      (isUpdating && gets(.updates))
        || (services.significant.state != .idle && gets(.significantChange))
        || (services.visits.state != .idle && gets(.visits))
    }
  }

  /// The ring is about to overwrite its oldest fix; the cursor moves on before (RNG-4).
  ///
  /// A client that is owed nothing loses nothing: its cursor just goes along. What lies beyond
  /// `owedUntil` is not lost to it either.
  public mutating func makeRoom(in ring: borrowing FixRing) {
    guard restsUntil == .boot else { return }
    let isGone = ring.head + 1 > owedUntil.addingSaturated(UInt64(ring.capacity))
    if cursor.acknowledged >= owedUntil {
      cursor = Cursor(at: ring.head)
      owedUntil = ring.head
      notOwed = nil
    } else if !isGone {
      cursor.makeRoom(in: ring)
    }
  }

  /// Whether a fix, though it came now, was made while the client was not to have it.
  private func isHidden(_ fix: Fix) -> Bool {
    guard isAuthorized, !isDenied(fix) else { return true }
    guard let hidden = hidesUntil else { return false }
    return fix.acquired <= hidden
  }

  /// Whether the fix was made while the client might not use location; a receiver's buffer may give
  /// it out long after.
  @inline(__always) func isDenied(_ fix: Fix) -> Bool {
    guard let denied = deniedUntil else { return false }
    return fix.acquired <= denied
  }

  /// The fixes of these numbers, the newest there are, are not for this client.
  mutating func passOver(_ fixes: Range<UInt64>) {
    if let range = notOwed, range.upperBound == fixes.lowerBound {
      notOwed = range.lowerBound..<fixes.upperBound
    } else {
      notOwed = fixes
    }
    passNotOwed()
  }

  /// Moves on over fixes that are not for this client, when it has come to them.
  mutating func passNotOwed() {
    guard let range = notOwed, range.contains(cursor.delivered), cursor.gap == nil else { return }
    cursor.pass(to: range.upperBound)
    if cursor.acknowledged >= range.upperBound { notOwed = nil }
    dueUntil = max(dueUntil, cursor.delivered)
  }

  /// Forgets fixes that are not for this client once all before them is acknowledged.
  mutating func settleNotOwed() {
    guard let range = notOwed, cursor.acknowledged >= range.lowerBound else { return }
    if cursor.acknowledged >= range.upperBound || cursor.settle(to: range.upperBound) {
      notOwed = nil
      dueUntil = max(dueUntil, cursor.delivered)
    }
  }

  /// Gives up all below `head`; nothing of it is ever shown (RNG-6).
  mutating func skip(to head: UInt64) {
    cursor = Cursor(at: head)
    dueUntil = head
    notOwed = nil
    unrecorded = nil
    newestDelivered = nil
    toldCoarse = nil
    closesAtDrain = false
    awaitsOldBuffer = false
    tellsAtDrain = false
    if !isUpdating { owedUntil = head }
  }

  mutating func tell(_ code: LocationErrorCode) { failure = code }

  /// Ends the outstanding call now; its batch is what is in the ring.
  mutating func finish(_ end: DeferralEnd, _ context: ClientContext) {
    append(PendingEnd(end: end, through: context.head), context)
  }

  private mutating func append(_ end: PendingEnd, _ context: ClientContext) {
    ends.append(end)
    // One step adds two ends at most: with two places left it is time to tell (DEF-8).
    if ends.count > PendingEnds.capacity - 2 { waitsForDrain = false }
    dueUntil = context.head
    turnUntil = context.now + context.deliveryHold
    distanceCheck = .distantFuture
  }

  /// Ends the outstanding call; if the receiver holds fixes of it, tells so when they have come.
  mutating func finishAfterDrain(_ end: DeferralEnd, _ context: ClientContext) {
    if context.receiverBuffers { waitsForDrain = true }
    let through = context.receiverBuffers ? .max : context.head
    append(PendingEnd(end: end, through: through), context)
  }
}

extension UInt64 {
  /// The sum, or the largest number where it would not fit.
  fileprivate func addingSaturated(_ other: UInt64) -> UInt64 {
    let (sum, over) = addingReportingOverflow(other)
    return over ? .max : sum
  }
}
