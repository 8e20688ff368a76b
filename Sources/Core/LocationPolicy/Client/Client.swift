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
  /// When fixes were not recorded because its queue was full, or the service was down; nil if nothing is to be
  /// reported.
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
    endOldBuffer()
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
    endOldBuffer()
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
  private mutating func passNotOwed() {
    guard let range = notOwed, range.contains(cursor.delivered), cursor.gap == nil else { return }
    cursor.pass(to: range.upperBound)
    if cursor.acknowledged >= range.upperBound { notOwed = nil }
    dueUntil = max(dueUntil, cursor.delivered)
  }

  /// Forgets fixes that are not for this client once all before them is acknowledged.
  private mutating func settleNotOwed() {
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
  private mutating func finishAfterDrain(_ end: DeferralEnd, _ context: ClientContext) {
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

/// What of the ring a client is owed at one moment, for whoever hands it over in bulk.
public struct Backlog: Sendable {
  /// The sequence numbers; not all of them are for the client, see ``includes(_:)``.
  public let range: Range<UInt64>
  /// What was lost to it before, and not told.
  public let gap: Gap?
  private let notOwed: Range<UInt64>?
  private let deniedUntil: Instant?

  init(_ range: Range<UInt64>, gap: Gap?, notOwed: Range<UInt64>?, deniedUntil: Instant?) {
    self.range = range
    self.gap = gap
    self.notOwed = notOwed
    self.deniedUntil = deniedUntil
  }

  /// Whether a fix of ``range`` is for the client.
  public func includes(_ stored: StoredFix) -> Bool {
    if let notOwed, notOwed.contains(stored.name.sequence) { return false }
    return deniedUntil.map { stored.fix.acquired > $0 } ?? true
  }
}

extension Client {
  /// What it is owed now: all that it did not acknowledge, delivered or not, its distance filter not
  /// looked at. Nothing while it may not use location, or only coarsely (AUT-6).
  public mutating func backlog(in ring: borrowing FixRing) -> Backlog {
    let end = max(min(owedUntil, ring.head), cursor.acknowledged)
    guard isShownFixes else {
      return Backlog(end..<end, gap: nil, notOwed: nil, deniedUntil: nil)
    }
    return Backlog(
      cursor.acknowledged..<end, gap: unreportedGap, notOwed: notOwed, deniedUntil: deniedUntil)
  }

  /// What was overwritten, and that fixes were not recorded, as one gap.
  private var unreportedGap: Gap? {
    guard let known = unrecorded, !known.isReported, !known.isBuffered else { return cursor.gap }
    var gap = cursor.gap ?? known.gap(at: known.place)
    gap.to = known.to ?? gap.to
    gap.mayBeMore = true
    return gap
  }

  /// Its backlog is handed over: it counts as delivered, and is not told once more.
  mutating func takeBacklog(in ring: borrowing FixRing, _ context: ClientContext) {
    let range = backlog(in: ring).range
    guard isShownFixes else { return }
    if let known = unrecorded, !known.isBuffered { unrecorded?.isReported = true }
    guard range.upperBound > cursor.delivered else { return }
    _ = cursor.takeGap()
    cursor.deliver(to: range.upperBound, in: ring)
    dueUntil = max(dueUntil, range.upperBound)
    noteDelivery(of: range.upperBound - 1, hold: context.now + context.deliveryHold)
  }
}

// MARK: - Low battery

// What a client gets no longer while the battery is low (PWR-10). What it asked for stays asked: it
// gets it again, without a word of its own, when the battery is charged.

extension Client {
  /// What is given up now, whoever uses it.
  public var givenUp: PromiseSet { services.givenUp }

  // Inlined, or looked at in place: a call of a function that does not mutate copies the whole client.

  /// Whether it gets what it was promised.
  @inline(__always) func gets(_ promise: Promise) -> Bool { !services.givenUp.contains(promise) }

  /// Accuracy and filter as far as they are to be had: what a deferral must go with.
  var granted: ClientSettings {
    var granted = settings
    granted.desiredAccuracy = services.coarsened(settings.desiredAccuracy)
    return granted
  }

  /// What its live updates ask of the hardware; nil where its other updates do the asking.
  private var liveDemand: Demand? {
    mutating get {
      guard usesServices, !isReduced, gets(.updates), services.live.isLive else { return nil }
      guard let metres = services.finest else { return .live(isWatched: execution == .foreground) }
      return waitsForDrain ? nil : .within(metres: metres)
    }
  }

  /// Something else is given up than before, or nothing any more: for the battery, or because it is not
  /// in use (BKG-13). Of the battery alone it is told.
  mutating func setGivenUp(_ context: ClientContext) {
    lowBattery = context.givenUp
    let new = lowBattery.union(use.withheld)
    let hadUpdates = gets(.updates), hadSignificantChange = gets(.significantChange)
    services.giveUp(new, at: context.now)
    // What came back while it did not use it is news when it goes again.
    toldGivenUp = toldGivenUp.intersection(new.union(used))
    if !hadSignificantChange && gets(.significantChange) { catchUp(context) }
    if hadUpdates && !gets(.updates) {
      unserved = (from: context.now, through: .distantFuture)
    } else if !hadUpdates && gets(.updates) {
      unserved.through = context.now
      isUnknownTold = false
    }
    if let code = whyDeferralEnds, case .finish(let end) = deferral.handle(.end(code)) {
      finishAfterDrain(end, context)
      turnUntil = .boot  // a call from the handler would fail: nothing is kept up for it
    }
    setLiveFlags(context)
  }

  /// Why a deferral cannot go on, in the order of X6: without updates, or without every fix.
  private var whyDeferralEnds: LocationErrorCode? {
    guard deferral.state != .idle else { return nil }
    return gets(.updates)
      ? DeferralPreconditions.incompatibility(of: granted) : .deferredNotUpdatingLocation
  }

  /// Significant change goes on from the newest fix of the time without it: what waits to be told
  /// (SLC-4) is of that one.
  private mutating func catchUp(_ context: ClientContext) {
    guard !isReduced, let newest = context.newest(after: deniedUntil) else { return }
    switch services.significant.state {
    case .idle, .first: break
    case .watching:
      services.note(services.significant.take(newest.fix, at: context.now), newest)
    }
  }

  /// Whether the fix was made while updates were given up, however late the receiver hands it over.
  private func isUnserved(_ fix: Fix) -> Bool {
    fix.acquired > unserved.from && fix.acquired <= unserved.through
  }

  /// A fix of which nothing is owed: what comes from here on is no part of a batch before it.
  private mutating func passUnserved(_ context: ClientContext) {
    ends.close(at: context.head - 1)
    passOver(context.head - 1..<context.head)
  }

  // MARK: What it is told

  /// What it uses: of that alone it is told.
  var used: PromiseSet {
    mutating get {
      guard isAuthorized else { return .none }
      var used = services.used
      let isLive = services.live.count > 0
      guard isUpdating || isLive || services.asksOnce else { return used }
      used.insert(.updates)
      if isReduced { return used }
      // Not a number asks for every fix.
      let metres = isLive ? LocationAccuracy.best : settings.desiredAccuracy
      if !(metres >= LocationAccuracy.kilometer) { used.insert(.accuracy) }
      if !(metres >= LocationAccuracy.hundredMeters) { used.insert(.everyFix) }
      return used
    }
  }

  /// Whether it uses something it does not get and was not told of, or gets again.
  private var mustHearOfBattery: Bool {
    mutating get {
      guard lowBattery != toldGivenUp else { return false }
      let used = used
      return lowBattery.intersection(used) != toldGivenUp.intersection(used)
    }
  }

  /// All that it uses and does not get, if that is news to it.
  private mutating func nextDegradation() -> Notice? {
    guard mustHearOfBattery else { return nil }
    toldGivenUp = lowBattery.intersection(used)
    return .degraded(toldGivenUp)
  }
}

extension ClientServices {
  /// Whether one of them gets what it was promised.
  @inline(__always) func gets(_ promise: Promise) -> Bool { !givenUp.contains(promise) }

  /// The finest that is to be had, metres; nil while every fix is.
  @inline(__always) var finest: Double? {
    if !gets(.accuracy) { return LocationAccuracy.kilometer }
    return gets(.everyFix) ? nil : LocationAccuracy.hundredMeters
  }

  /// A desired accuracy as far as it is to be had.
  @inline(__always) fileprivate func coarsened(_ accuracy: Double) -> Double {
    guard let finest else { return accuracy }
    return accuracy >= finest ? accuracy : finest
  }

  /// Those that are asked for, updates aside.
  var used: PromiseSet {
    mutating get {
      var used = PromiseSet.none
      if visits.state != .idle { used.insert(.visits) }
      if regions.count > 0 { used.insert(.regions) }
      if significant.state != .idle { used.insert(.significantChange) }
      return used
    }
  }

  /// Regions rest as with reduced accuracy (REG-15), a single request fails (STD-11); visits and
  /// significant change see no fix and ask for none, as in an outage of the receiver (VIS-11).
  mutating func giveUp(_ new: PromiseSet, at now: Instant) {
    givenUp = new
    regions.setGivenUp(!gets(.regions), at: now)
    if !gets(.updates) { note(request.handle(.fail(.locationUnknown))) }
  }
}

extension Client {
  /// The next thing to tell, or nil when all is told; called after each step until nil.
  ///
  /// Order: a gap, then each deferral's end and at once its batch (X1), then other fixes, then what
  /// the battery is too low for, then a failure. O(fixes of the batch).
  ///
  /// - Parameter hold: Until when the board stays awake for its acknowledgement, where it is one that is
  ///   acknowledged (RNG-8).
  public mutating func nextNotice(in ring: borrowing FixRing, hold: Instant) -> Notice? {
    guard isConnected else { return nextDetachedNotice(hold: hold) }
    guard execution != .suspended else { return nextKeptNotice() }
    // An answer to its call waits for no fix.
    guard !waitsForDrain else { return services.nextRefusal() }
    if tellsAuthorization {
      tellsAuthorization = false
      return .authorization(authorization, isReduced: isReduced)
    }
    if let lost = cursor.takeGap() ?? takeUnrecorded() { return .gap(lost) }
    if pauseNotice == .resume {
      pauseNotice = .nothing
      return .resumed
    }
    if let through = batchThrough {
      if let batch = nextBatch(in: ring, before: through, hold: hold) { return batch }
      batchThrough = nil
    }
    if let ended = ends.popFirst() {
      batchThrough = ended.through
      return .finish(ended.end.code)
    }
    if let batch = nextBatch(in: ring, before: .max, hold: hold) { return batch }
    if let notice = nextDegradation() { return notice }
    if pauseNotice == .pause {
      pauseNotice = .nothing
      return .paused
    }
    if let code = failure {
      failure = nil
      return .failure(code)
    }
    return nextServiceNotice(hold: hold)
  }

  /// What wakes a client whose process is gone: services that outlive it found something (SLC-8, VIS-8).
  private mutating func nextDetachedNotice(hold: Instant) -> Notice? {
    usesServices ? nextServiceNotice(hold: hold) : nil
  }

  /// A suspended client is sent nothing. Its owner keeps visits and crossings for it, of which there is
  /// room for the latest only here (BKG-2, VIS-8).
  private mutating func nextKeptNotice() -> Notice? {
    usesServices ? services.nextKept() : nil
  }

  private mutating func nextServiceNotice(hold: Instant) -> Notice? {
    let notice = services.nextNotice()
    switch notice {
    case .report(let stored), .coarse(let stored): noteReport(stored, hold: hold)
    case .gap, .finish, .batch, .failure, .authorization, .degraded, .paused, .resumed, .visit,
      .region, .live, .liveRefused, nil:
      break
    }
    return notice
  }

  private mutating func noteReport(_ stored: StoredFix, hold: Instant) {
    if isReduced {
      toldCoarse = stored
    } else {
      newestDelivered = max(newestDelivered ?? 0, stored.name.sequence)
    }
    report = stored.name
    reportHoldUntil = hold
  }

  private mutating func nextBatch(
    in ring: borrowing FixRing, before limit: UInt64, hold: Instant
  ) -> Notice? {
    while true {
      passNotOwed()
      var end = min(min(limit, unrecordedPlace), dueEnd(in: ring))
      guard cursor.delivered < end else { return nil }
      if let range = notOwed, cursor.delivered < range.lowerBound {
        end = min(end, range.lowerBound)
      }
      let notice =
        settings.hasDistanceFilter
        ? nextPassing(in: ring, until: end) : nextRun(in: ring, until: end)
      guard let notice else { continue }
      if case .batch(_, let last) = notice { noteDelivery(of: last, hold: hold) }
      return notice
    }
  }

  /// Where the fixes end that may be told now.
  private mutating func dueEnd(in ring: borrowing FixRing) -> UInt64 {
    min(min(dueUntil, owedUntil), ring.head)  // of three would take an array
  }

  /// All fixes that follow without a hole, as one batch; or the hole, as a gap.
  private mutating func nextRun(in ring: borrowing FixRing, until end: UInt64) -> Notice? {
    let first = cursor.delivered
    var place = first
    guard case .fix(var newest)? = ring.next(at: &place, before: end) else {
      return hole(until: place, in: ring)
    }
    guard !isDenied(newest.fix) else {
      cursor.deliver(to: place, in: ring)
      return nil
    }
    while place < end, let stored = ring.stored(at: place), !isDenied(stored.fix) {
      newest = stored
      place += 1
    }
    measureFilter(from: newest.fix)
    cursor.deliver(to: place, in: ring)
    return .batch(first: first, last: place - 1)
  }

  /// The next fix that is far enough from the last delivered one (STD-4) or more accurate (STD-5),
  /// passing over the others.
  private mutating func nextPassing(in ring: borrowing FixRing, until end: UInt64) -> Notice? {
    var place = cursor.delivered
    switch ring.next(at: &place, before: end) {
    case .gap?, nil: return hole(until: place, in: ring)
    case .fix(let stored)?:
      let from = cursor.delivered
      cursor.deliver(to: place, in: ring)
      guard !isDenied(stored.fix), from == mustPass || passes(stored.fix) else { return nil }
      measureFilter(from: stored.fix)
      return .batch(first: from, last: from)
    }
  }

  private func passes(_ fix: Fix) -> Bool {
    guard let last = filterFrom else { return true }
    if last.localDistance(to: fix.coordinate) >= settings.distanceFilter { return true }
    guard let now_mm = fix.horizontalAccuracy_mm, let before_mm = filterAccuracy_mm else {
      return false
    }
    return now_mm < before_mm
  }

  private mutating func measureFilter(from fix: Fix) {
    filterFrom = fix.coordinate
    filterAccuracy_mm = fix.horizontalAccuracy_mm
  }

  /// Fixes that a power cut took: told as a gap, for they never come.
  private mutating func hole(until place: UInt64, in ring: borrowing FixRing) -> Notice? {
    let missing = ring.missing(in: cursor.delivered..<place)
    cursor.deliver(to: place, in: ring)
    return missing.map { .gap($0) }
  }

  private mutating func noteDelivery(of last: UInt64, hold: Instant) {
    newestDelivered = last
    unacknowledgedThrough = last
    holdUntil = hold
  }
}

extension Client {
  /// Does what the client asks. Its answers come as notices, never inside the call (DEF-10).
  public mutating func handle(
    _ request: Request, in ring: borrowing FixRing, _ context: ClientContext
  ) {
    guard isConnected || request.needsNoProcess else { return }
    if restsUntil > .boot {
      restsUntil = .boot
      makeRoom(in: ring)  // meanwhile nobody did
    }
    defer { usesServices = isReduced || services.areActive || services.hasNotices }
    switch request {
    case .connect: connect(context)
    case .disconnect: disconnect(context)
    case .forget: if !isConnected { self = Client(at: context.head) }
    case .startUpdating:
      wakeUp(context)
      startUpdating(context)
    case .stopUpdating:
      wakeUp(context)
      stopUpdating(context)
    case .setDesiredAccuracy(let accuracy):
      wakeUp(context)
      settings.desiredAccuracy = accuracy
      endIfIncompatible(context)
    case .setDistanceFilter(let filter):
      wakeUp(context)
      settings.distanceFilter = filter
      endIfIncompatible(context)
    case .allowDeferred(let distance, let timeout):
      wakeUp(context)
      allowDeferred(distance: distance, timeout: timeout, context)
    case .disallowDeferred:
      wakeUp(context)
      end(.deferredCanceled, context)
    case .setExecution(let state): setExecution(state, context)
    case .acknowledge(let name): acknowledge(name, in: ring)
    case .takeBacklog: takeBacklog(in: ring, context)
    case .setAuthorization(let authorization): setAuthorization(authorization, context)
    case .setReducedAccuracy(let isReduced): setReduced(isReduced, context)
    case .setUse(let new):
      use = new
      setGivenUp(context)
    case .setPausesAutomatically, .setActivity, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive:
      wakeUp(context)
      handleService(request, context)
    }
  }

  /// A client that asks is running, whatever was said of it before.
  private mutating func wakeUp(_ context: ClientContext) {
    if execution == .suspended { setExecution(.background, context) }
  }

  private mutating func connect(_ context: ClientContext) {
    if isConnected { disconnect(context) }
    isConnected = true
    execution = .foreground
    settings = ClientSettings()
  }

  /// The token dies, no finish is replayed; what it is owed waits in the ring (DEF-11).
  private mutating func disconnect(_ context: ClientContext) {
    close(context)
    deferral = Deferral()
    services.detach()
    pauseNotice = .nothing
    tellsAuthorization = false
    toldGivenUp = .none
    distanceCheck = .distantFuture
    endUnrecorded(context)
    unrecorded?.isReported = false  // the process may not have handled it
    unrecorded?.awaitsStart = true
    ends.removeAll()
    batchThrough = nil
    failure = nil
    unacknowledgedThrough = nil
    report = nil
    waitsForDrain = false
    tellsAtDrain = false
    isConnected = false
    cursor.rewind()
    dueUntil = cursor.delivered
  }

  private mutating func startUpdating(_ context: ClientContext) {
    note(services.pause.handle(.line(context.motionLine, at: context.now)))
    note(services.pause.handle(.start))
    services.cancelRequest()
    guard !isUpdating else { return }
    isUpdating = true
    unrecorded?.awaitsStart = false
    isUnknownTold = false
    filterFrom = nil
    if closesAtDrain {
      // Stopped a moment ago: what the receiver still holds of before is owed all the same, and what
      // it made between the stop and this start comes with it.
      closesAtDrain = false
    } else if context.receiverBuffers {
      hidesUntil = context.now  // what it holds was made for others
    }
    resume(context)
    if authorization.isRefused { tell(.denied) }
    if isReduced && gets(.updates) { services.updateReport = services.coarse(at: context.now) }
    owedUntil = .max
  }

  /// Fixes of an earlier run that were not acknowledged are still owed; those made since its end
  /// are not.
  private mutating func resume(_ context: ClientContext) {
    if cursor.acknowledged >= owedUntil && cursor.gap == nil && ends.isEmpty {
      cursor = Cursor(at: context.head)
      notOwed = nil
    } else if owedUntil < context.head {
      passOver(owedUntil..<context.head)
    }
    if !waitsForDrain { dueUntil = context.head }
  }

  private mutating func stopUpdating(_ context: ClientContext) {
    services.cancelRequest()
    guard isUpdating else { return }
    if let known = unrecorded, known.isReported { unrecorded = nil }
    note(services.pause.handle(.stop))
    end(.deferredCanceled, context)
    close(context)
    tellsAtDrain = closesAtDrain
    if !waitsForDrain { dueUntil = context.head }
    turnUntil = .boot
    failure = nil  // after the end of its deferral and the batch comes nothing (DEF-37)
  }

  /// From here on nothing more is owed, but what the receiver holds of the time until now.
  private mutating func close(_ context: ClientContext) {
    guard isUpdating else { return }
    isUpdating = false
    if context.receiverBuffers {
      closesAtDrain = true
      closedAt = context.now
    } else {
      owedUntil = context.head
    }
  }

  private mutating func allowDeferred(
    distance: Double, timeout: Double, _ context: ClientContext
  ) {
    services.cancelRequest()  // DEF-44
    let terms = DeferralTerms(distance: distance, timeout: timeout, calledAt: context.now)
    let failure = DeferralPreconditions.failure(
      isRefused: authorization.isRefused, isAvailable: context.isDeferralAvailable && terms != nil,
      isUpdating: isRunning, settings: granted)
    guard let terms, failure == nil else {
      // The one before is cancelled even so (DEF-14).
      let turn = deferral.state == .idle ? turnUntil : nil
      end(.deferredCanceled, context)
      finish(.failed(failure ?? .deferredFailed), context)
      if let turn { turnUntil = turn }  // where nothing was deferred, nothing is kept up
      return
    }
    var start = isAuthorized ? context.newest?.fix : nil
    if let fix = start, context.now - fix.acquired > Client.freshness { start = nil }
    switch deferral.handle(.call(terms, start: start)) {
    case .nothing: break
    case .flush: preconditionFailure("a call does not end engagement by itself")
    case .finish(let end): finishAfterDrain(end, context)
    }
    turnUntil = .boot
    elapse(context)  // a timeout of 0 is met at once (DEF-23)
  }

  /// Ends an outstanding deferral with `code`; does nothing when there is none.
  private mutating func end(_ code: LocationErrorCode, _ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(code)) { finishAfterDrain(end, context) }
  }

  /// Settings that do not go with deferral end it (DEF-39).
  private mutating func endIfIncompatible(_ context: ClientContext) {
    guard deferral.state != .idle else { return }
    if let code = DeferralPreconditions.incompatibility(of: settings) { end(code, context) }
  }

  private mutating func setExecution(_ state: ExecutionState, _ context: ClientContext) {
    let wasSuspended = execution == .suspended
    execution = state
    guard wasSuspended, state != .suspended else { return }
    endUnrecorded(context)
    guard isUpdating else { return }
    if deferral.state != .engaged || holdsLimit(context) { dueUntil = context.head }
    // The handler of an end that comes now has its turn to call again (X1).
    if !ends.isEmpty { turnUntil = context.now + context.deliveryHold }
  }

  private mutating func acknowledge(_ name: FixName, in ring: borrowing FixRing) {
    if let told = report, told.generation == name.generation, told.sequence <= name.sequence {
      report = nil
    }
    switch cursor.acknowledge(name, in: ring) {
    case .ahead, .unknown: return
    case .advanced, .repeated: break
    }
    settleNotOwed()
    if let known = unrecorded, known.isReported, cursor.acknowledged > known.place {
      unrecorded = nil
    }
    if let last = unacknowledgedThrough, cursor.acknowledged > last {
      unacknowledgedThrough = nil
    }
  }

  /// What the client may changes. What was made for it before is never shown where it gains or loses the
  /// right to it (RNG-6); a refusal ends what it asked for (DEF-5, DEF-40, X7), what nobody has decided
  /// waits (AUT-11).
  private mutating func setAuthorization(_ new: Authorization, _ context: ClientContext) {
    guard new != authorization else { return }
    let (wasAuthorized, wasRefused) = (isAuthorized, authorization.isRefused)
    authorization = new
    tellsAuthorization = isConnected
    setLiveFlags(context)
    if isAuthorized != wasAuthorized {
      hide(context)
      deniedUntil = context.now
      services.regions.setDenied(!isAuthorized, at: context.now)
      isUnknownTold = false
    }
    if !isAuthorized && wasAuthorized {
      waitsForDrain = false
      services.withhold(at: context.now)
    }
    if new.isRefused && !wasRefused { refuse(context) }
    // A suspended client was not told of a refusal that is over.
    if !new.isRefused && failure == .denied { failure = nil }
    settlePending(context)
  }

  /// Ends all that it asked for.
  private mutating func refuse(_ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(.denied)) { finish(end, context) }
    if isUpdating || services.outliveProcess || services.wantsVisits { tell(.denied) }
    services.deny()
  }

  /// Nothing up to here is ever shown (RNG-6).
  private mutating func hide(_ context: ClientContext) {
    skip(to: context.head)
    ends.close(at: context.head)
  }

  /// From full to reduced accuracy a deferral ends, and precise fixes are shown no more (DEF-41,
  /// AUT-6); back again what comes is precise.
  private mutating func setReduced(_ reduced: Bool, _ context: ClientContext) {
    guard reduced != isReduced else { return }
    isReduced = reduced
    tellsAuthorization = isConnected
    services.regions.setReduced(reduced, at: context.now)
    services.significant.forgetNewest()
    setLiveFlags(context)
    hide(context)
    guard reduced else {
      deniedUntil = context.now
      return settlePending(context)
    }
    waitsForDrain = false
    services.forgetPrecise()
    if case .finish(let end) = deferral.handle(.end(.deferredAccuracyTooLow)) {
      finish(end, context)
    }
  }
}

// MARK: - Clients that wait for something far away

// Most clients of a service wait for something that is far away: no step needs to look at them.

extension Client {
  /// Lets it rest if nothing of it is under way; the end of a look at it.
  ///
  /// Whatever happens to it ends the rest, but a fix only if it is of any consequence.
  public mutating func rest(at now: Instant) {
    guard isIdle, !hasNotices, (awaitsAcknowledgementUntil ?? now) <= now else { return }
    let next = usesServices ? services.check : .distantFuture
    guard next > now else { return }
    restsUntil = next
    heed = reckonedHeed
    heedsAt = -.infinity
    heedsFrom = .boot
  }

  /// Something has changed that concerns each client.
  public mutating func endRest() { restsUntil = .boot }

  /// No updates, no deferral, no fixes that are owed, nothing that waits for the receiver, for a
  /// handler, or for a state of the engine; and fixes come to it as they are, or not at all.
  private var isIdle: Bool {
    mutating get {
      guard !isUpdating, !closesAtDrain, !waitsForDrain, ends.isEmpty else { return false }
      guard deferral.state == .idle, unacknowledgedThrough == nil else { return false }
      guard cursor.acknowledged >= owedUntil, cursor.gap == nil else { return false }
      guard usesServices else { return true }
      return isConnected && isAuthorized && !isReduced && services.live.count == 0
    }
  }

  /// What a fix means to it, as its services are now.
  private var reckonedHeed: FixHeed {
    mutating get {
      guard usesServices else { return .nothing }
      return services.areRegionsAlone ? .regions : .everything
    }
  }

  /// Whether it must take a fix that was made at a time, after so many metres of the ``CommonWay``: what it
  /// need not take means nothing to it but where the wearer is, see ``takeSparedFix(_:)``.
  @inlinable public func heeds(at time: Instant, _ travelled: Double) -> Bool {
    restsUntil == .boot || heedsAt <= travelled || heedsFrom <= time
  }

  /// Whether it may have been spared the newest fix: ``takeSparedFix(_:)`` is due before anything else
  /// happens to it than fixes and time, and before it is asked what it needs.
  @inlinable public var mayLackAFix: Bool { restsUntil > .boot && heedsAt > -.infinity }

  /// Hands it the newest fix where it was spared it.
  public mutating func takeSparedFix(_ context: ClientContext) {
    guard mayLackAFix, let newest = context.newest, taken != newest.name.sequence else { return }
    take(newest, context)
  }

  /// Whether a fix ends the rest; one that ends none was taken.
  mutating func stirs(for stored: StoredFix, _ context: ClientContext) -> Bool {
    assert(heed == reckonedHeed, "what a client uses changed while it rested")
    taken = stored.name.sequence
    switch heed {
    case .nothing:
      (heedsAt, heedsFrom) = (.infinity, .distantFuture)
      return false
    case .regions:
      // What it does not take lies on the common way as well: what was reckoned before holds on.
      if isDenied(stored.fix) || !services.regions.take(stored.fix) { return false }
      if services.regions.hasEvents { restsUntil = .boot }
      let slack = services.regions.slack
      (heedsAt, heedsFrom) = (context.travelled + slack.metres, slack.until)
      return false
    case .everything:
      if isDenied(stored.fix) { return false }
      restsUntil = .boot
      return true
    }
  }
}

/// What a fix means to a client that rests.
enum FixHeed: UInt8, Sendable {
  /// Nothing: it uses no service.
  case nothing = 0
  /// It is looked at whether a circle changes.
  case regions = 1
  /// It ends the rest.
  case everything = 2
}

// MARK: - What the ring keeps for it

extension Client {
  /// Whether precise fixes may be shown to it at all.
  public var isShownFixes: Bool {
    mutating get { isAuthorized && !isReduced }
  }

  /// Whether it may receive this fix with full accuracy, now or later (RNG-6).
  public mutating func mayReceive(_ fix: Fix) -> Bool { isShownFixes && !isDenied(fix) }

  /// From this sequence number on the ring has something for it: what it did not acknowledge, and the
  /// newest that it was told (STD-8). The largest there is where it needs nothing.
  public var neededFrom: UInt64 {
    mutating get {
      guard isAuthorized, !isReduced else { return .max }
      let owed = cursor.acknowledged < owedUntil ? cursor.acknowledged : .max
      return min(owed, newestDelivered ?? .max)
    }
  }
}

// MARK: - Services beside updates

extension Client {
  /// Does what the client asks of a service.
  private mutating func handleService(_ request: Request, _ context: ClientContext) {
    switch request {
    case .setPausesAutomatically(let allowed): note(services.pause.handle(.allow(allowed)))
    case .setActivity(let activity): note(services.pause.handle(.activity(activity)))
    case .requestLocation: requestLocation(context)
    case .startSignificantChange: startSignificantChange(context)
    case .stopSignificantChange:
      services.significant.stop()
      services.significantReport = nil
    case .startVisits:
      guard !authorization.isRefused else { return tell(.denied) }
      services.wantsVisits = true
      isUnknownTold = isUnknownTold && services.visits.state != .idle
      settlePending(context)
    case .stopVisits:
      services.wantsVisits = false
      services.visits.stop(at: context.now)
      services.forgetVisits()
    case .addRegion(let region, let assumed):
      if authorization.isRefused && region.identifier.kind == .region {
        services.refusal = .region(.failure(region.identifier, .regionMonitoringDenied))
      } else if let refusal = services.regions.add(region, assuming: assumed, at: context.now) {
        services.refusal = .region(refusal)
      }
    case .removeRegion(let identifier): services.regions.remove(identifier)
    case .requestRegionState(let identifier):
      let answer = services.regions.requestState(
        of: identifier, at: context.now, timeout: Client.stateTimeout)
      if let answer { services.refusal = .region(answer) }
    case .openLive(let configuration):
      services.live.hear(context.motionLine, at: context.now)
      guard services.live.open(configuration) != nil else {
        services.refusal = .live(configuration)
        return
      }
      setLiveFlags(context)
    case .closeLive(let iterator):
      if (0..<LiveUpdates.capacity).contains(iterator) { services.live.close(iterator) }
    case .connect, .disconnect, .forget, .startUpdating, .stopUpdating, .setDesiredAccuracy,
      .setDistanceFilter, .allowDeferred, .disallowDeferred, .setExecution, .acknowledge,
      .takeBacklog,
      .setAuthorization, .setReducedAccuracy, .setUse:
      preconditionFailure("these are no services")
    }
  }

  /// How long `requestState` waits for a fix that decides (REG-7).
  private static let stateTimeout = Interval.seconds(60)

  /// Begins what the client asked for and may have: visits (VIS-2), and a request that waited (AUT-11).
  private mutating func settlePending(_ context: ClientContext) {
    if services.wantsVisits, authorization == .always, !isReduced {
      services.note(services.visits.start(at: context.now))
      services.visits.turn(context.motionLine, at: context.now)
    } else if services.visits.state != .idle {
      services.endVisits()
    }
    guard isAuthorized, services.isRequestPending else { return }
    services.isRequestPending = false
    requestLocation(context)
  }

  /// A cached fix may come first, if the client may have it (SLC-5, AUT-3).
  private mutating func startSignificantChange(_ context: ClientContext) {
    guard !authorization.isRefused else { return tell(.denied) }
    isUnknownTold = isUnknownTold && services.significant.state != .idle
    let newest = isAuthorized ? recent(context) : nil
    let outcome = services.significant.start(at: context.now, cached: newest?.fix)
    if let newest { services.note(outcome, newest) }
  }

  /// The newest fix that the client may be shown: the true one, or the coarse one that it was given.
  private func recent(_ context: ClientContext) -> StoredFix? {
    isReduced ? services.coarse(at: context.now) : context.newest(after: deniedUntil)
  }

  private mutating func requestLocation(_ context: ClientContext) {
    guard !authorization.isRefused else { return tell(.denied) }
    guard isAuthorized else {
      services.isRequestPending = !isUpdating
      return
    }
    let coarsest = Double(AccuracyReduction.accuracy_mm) / 1e3
    let terms = LocationRequestTerms(
      desiredAccuracy: isReduced ? coarsest : granted.desiredAccuracy, isUpdating: isRunning,
      at: context.now)
    var recent = recent(context)
    if let fix = recent?.fix, context.now - fix.acquired > Client.freshness && !isReduced {
      recent = nil
    }
    // Nothing is searched for: what lies there, or nothing (PWR-10).
    guard gets(.updates) else {
      return services.note(recent.map { .deliver($0) } ?? .fail(.locationUnknown))
    }
    services.note(services.request.handle(.request(terms, recent: recent)))
  }

  /// A fix for the services: the true one, or what a client of reduced accuracy is shown of it.
  mutating func serve(_ stored: StoredFix, _ context: ClientContext) {
    guard isAuthorized, !isDenied(stored.fix) else { return }
    guard isReduced else { return services.take(stored, at: context.now) }
    guard isUpdating || services.areActive, let coarse = services.reduce(stored) else { return }
    if isUpdating && gets(.updates) { services.updateReport = coarse }
    services.takeCoarse(coarse, at: context.now)
  }

  /// What the pause machine has decided.
  mutating func note(_ outcome: PauseMonitor.Outcome) {
    switch outcome {
    case .nothing: break
    case .pause, .resume:
      // Strictly in turn (PAU-3): what was not told is undone by its opposite.
      pauseNotice = pauseNotice == .nothing || pauseNotice == outcome ? outcome : .nothing
    }
  }

  /// The client is about to be paused: its deferral ends first (DEF-38).
  private mutating func endForPause(_ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(.deferredNotUpdatingLocation)) {
      finish(end, context)
    }
    // What it was told of stands still; the handler's turn keeps nothing up.
    turnUntil = .boot
  }

  /// The flags of live updates, as far as the engine knows them (LIV-6, LIV-7).
  private mutating func setLiveFlags(_ context: ClientContext) {
    guard services.live.count > 0 else { return }
    var flags = use.flags
    switch authorization {
    case .always, .whenInUse: break
    case .denied: flags = flags.union(.authorizationDenied)
    case .restricted: flags = flags.union(.authorizationRestricted)
    case .notDetermined: flags = flags.union(.authorizationRequestInProgress)
    }
    if isReduced { flags = flags.union(.accuracyLimited) }
    if isLocationUnknown || !context.hasReceiver || lowBattery.contains(.updates) {
      flags = flags.union(.locationUnavailable)
    }
    if flags != services.live.flags { services.live.set(flags) }
  }

  /// What the motion line says, from now on.
  public mutating func hear(_ line: MotionLine, at now: Instant) {
    restsUntil = .boot
    note(services.pause.handle(.line(line, at: now)))
    services.hear(line, at: now)
  }

  /// A search that began for single fixes found nothing (PWR-7).
  public mutating func miss(at now: Instant) {
    restsUntil = .boot
    note(services.pause.handle(.noFix(at: now)))
    services.miss(at: now)
  }

  /// The single fixes its services need.
  public mutating func need(at now: Instant, fastest: Double, line: MotionLine) -> FixNeed {
    guard usesServices, isAuthorized, isConnected || services.outliveProcess else {
      return FixNeed()
    }
    let isRunning = isConnected && (execution != .suspended || use.keepsRunning)
    if isReduced { return reducedNeed(at: now, isRunning: isRunning) }
    return services.need(
      at: now, fastest: fastest, line: line, isRunning: isRunning,
      isPaused: isUpdating && services.pause.isPaused && isAcquiring)
  }

  /// A client of reduced accuracy is served a few times an hour and no oftener, whatever it wants
  /// (AUT-5): earlier fixes would be wasted.
  private mutating func reducedNeed(at now: Instant, isRunning: Bool) -> FixNeed {
    var need = FixNeed()
    // The queue of coarse fixes has room for one.
    let isUpdating = isUpdating && (isRunning || services.updateReport == nil)
    let wants =
      (services.significant.state != .idle && gets(.significantChange))
      || (gets(.updates)
        && (isUpdating || services.request.state != .idle
          || (isRunning && services.live.count > 0)))
    if wants { need.add(due: max(now, services.reduction.due), accuracy: 1_000) }
    return need
  }

  /// When time alone must be looked at for its services; `.distantFuture` if never.
  public var check: Instant {
    mutating get { isConnected && usesServices ? services.check : .distantFuture }
  }
}
