import DeferralCache
import LocationTypes

/// One client of the service: its requests, its deferral, its position in the ring, and its pending notices.
///
/// # Problem
///
/// Many clients share one receiver, one ring of fixes, and one board that should sleep. For each client, this record
/// decides which fixes are for it and when they may be delivered, computes what it needs of the hardware (``Demand``,
/// ``FixNeed``), and returns its notices in the order that the contract requires. It is a pure value: time and
/// surroundings come in as ``ClientContext``; it has no clock, no heap memory and no I/O. It stores no fixes: a
/// delivery is a range of sequence numbers of the ring. It depends on `DeferralCache`, `LocationTypes` and the other
/// types of this module.
///
/// # Parts
///
/// Each part is a type with its own file, which alone writes its properties:
///
/// - ``ClientUpdates``: whether standard updates run, their settings, the distance filter.
/// - ``ClientDelivery``: which fixes of the ring are for the client, and which may be delivered now.
/// - ``ClientRecording``: the queue of a suspended client, and the gap of a time without recording.
/// - ``AcknowledgementHold``: how long the board stays awake for an acknowledgement.
/// - ``Deferral`` and the machines in ``ClientServices``.
///
/// This type forwards events to them, carries out their outcomes, and decides about access, shed levels and dormancy.
/// It is address-only, so that no call copies it (``AddressOnly``).
///
/// # States
///
/// Deferral (``Deferral``): `idle → armed ⇄ engaged → idle`; ``updateEngagement(_:_:)`` engages it when the board may
/// sleep.
///
/// Waiting (`delivery.waitsForDrain`): set when a deferral ends or is flushed while the receiver may hold its fixes; nothing
/// but refusals is reported then. Cleared when the drain has finished, when the receiver is lost, when N undelivered
/// fixes are in the ring, when the queue of ends is nearly full, when the right to fixes is lost, and when the process
/// detaches.
///
/// Dormancy (``dormantUntil``), so that a step skips clients for which nothing can happen:
///
///             enterDormancy(at:), if nothing is running or pending
///     active ─────────────────────────────────────────────────────→ dormant
///        ↑                                                             │
///        └─── request; drain finished; receiver lost; motion line; ────┘
///             failed acquisition; endDormancy(); a fix of interest
///
/// From ``dormantUntil`` on, `Engine` includes the client in its steps again. A dormant client without services ignores
/// all fixes; one with regions only ignores fixes until ``wakeDistance`` or ``wakeTime``; for any other one, each fix
/// ends dormancy. For clients of the first two kinds, `Engine` may skip fixes; ``deliverSkippedFix(_:)`` then hands
/// over the newest one before anything else happens to the client.
///
/// # Invariants
///
/// - A fix acquired while the client was not authorized, or before its right to fixes last changed, is never delivered
///   (RNG-6).
/// - Each deferral call has exactly one end (DEF-8). An end is immediately followed by its batch (X1); at most four
///   ends are pending.
/// - A gap is reported before anything newer (RNG-4).
/// - A request is never answered inside ``handle(_:in:_:)`` (DEF-10); answers are notices.
/// - A dormant client has no running updates, no deferral, no undelivered fixes, no demand for every fix, and no
///   pending notice.
///
/// # Who changes what
///
/// Only this file writes the properties, except ``distanceCheck``, which `Engine` sets. `Engine` first calls the function of a request or event, or ``accept(_:_:)``
/// for a new fix; then ``elapse(_:)``, ``demand(at:)``, ``enterDormancy(at:)``, ``updateEngagement(_:_:)``, then
/// ``nextNotice(in:hold:)`` until nil.
///
/// # Bounds
///
/// One excluded range, four pending ends, one pending result per service, 20 regions, four iterators of live updates.
/// Each event is O(1), or O(regions) if a region may change; ``nextNotice(in:hold:)`` is O(fixes of its batch).
public struct Client: ~Copyable, Sendable {
  private let marker = AddressOnly()
  /// Greatest age of a fix that counts as current: as the start of a deferral's distance (DEF-19), and as the answer to
  /// a single request.
  public static let freshness = Interval.seconds(10)

  /// Time until which the client is dormant: it demands nothing, has no pending notice, and time alone changes nothing,
  /// so steps skip it. ``Instant/boot`` while it is not dormant.
  public internal(set) var dormantUntil = Instant.boot
  // Stored next to `dormantUntil`, because both are read for each client at each fix.
  /// Value of ``Odometer/length``, metres, from which a fix may matter to the dormant client; before it and before
  /// ``wakeTime`` none does. −∞ if no fix was handled since dormancy began.
  @usableFromInline private(set) var wakeDistance = -Double.infinity
  /// Acquisition time from which a fix may matter to the dormant client; see ``wakeDistance``.
  @usableFromInline private(set) var wakeTime = Instant.boot
  /// Which fixes matter to the client while it is dormant.
  private(set) var interest = FixInterest.everything
  /// Sequence number of the newest fix handled during dormancy.
  private(set) var newestHandled: UInt64 = 0
  /// Whether a process is attached.
  public private(set) var isConnected = false
  /// Execution state of its process.
  public private(set) var execution = ExecutionState.foreground
  /// Authorization of the client.
  public private(set) var authorization = Authorization.always
  /// Whether it may use location.
  public var isAuthorized: Bool { authorization.isGranted }
  /// Whether its accuracy is reduced (AUT-5).
  public private(set) var isReduced = false
  /// Services that it uses in addition to updates.
  public private(set) var services = ClientServices()
  /// Whether one of the services is active or has a pending notice, or the accuracy is reduced; false for most clients.
  public private(set) var usesServices = false
  /// Standard updates.
  private(set) var updates = ClientUpdates()
  /// Which fixes of the ring are for it, and which may be delivered.
  private(set) var delivery: ClientDelivery
  /// What the board stays awake for.
  private var acknowledgements = AcknowledgementHold()
  /// Its deferral.
  public private(set) var deferral = Deferral()
  /// The newest fix that was delivered with reduced accuracy.
  private(set) var newestCoarse: StoredFix?
  /// Earliest time at which the deferral's distance can have been travelled, as far as known. Set by `Engine`.
  public var distanceCheck = Instant.distantFuture

  private(set) var failure: LocationErrorCode?
  /// Whether a change of authorization or accuracy is unreported.
  private(set) var hasAuthorizationChange = false
  /// Use of location that follows from its sessions.
  private(set) var use = ClientUse()
  /// Service levels that the battery's charge sheds, as last applied.
  private(set) var batteryShed = ServiceLevelSet.none
  /// Shed service levels that were last reported to the client (PWR-10).
  private(set) var reportedShed = ServiceLevelSet.none
  /// When updates were last shed: fixes acquired then are not for the client.
  private(set) var updatesShedPeriod = (from: Instant.boot, through: Instant.boot)
  /// Whether fixes are recorded for it.
  private(set) var recording = ClientRecording()
  /// An unreported pause or resume.
  private(set) var pauseNotice: PauseMonitor.Outcome = .nothing
  /// Whether no location is available now (STD-10).
  private(set) var isLocationUnknown = false
  /// Whether that was reported to the client.
  private(set) var isLocationUnknownReported = false
  /// Time of the last change between authorized and not authorized, or of the last return to full accuracy; fixes
  /// acquired until then are never delivered.
  private(set) var deniedUntil: Instant?
  private(set) var rearmDeadline = Instant.boot

  /// Creates a new client; fixes before `head` are not for it.
  public init(at head: UInt64) { self.init(delivery: ClientDelivery(at: head)) }

  init(delivery: ClientDelivery) {
    self.delivery = delivery
  }

  /// Whether updates are started: `startUpdatingLocation` without `stopUpdatingLocation`.
  public var isUpdating: Bool { updates.isRunning }
  /// Whether it is suspended and N fixes are queued, so that none is acquired for its updates (BKG-5).
  public var isQueueFull: Bool { recording.isQueueFull }
  /// Its position in the ring.
  public var cursor: Cursor { delivery.cursor }
  /// Sequence number of the newest fix that was delivered to it.
  public var newestDelivered: UInt64? { delivery.newestDelivered }

  /// What the client needs of the hardware now.
  public func demand(at now: Instant) -> Demand {
    guard isConnected, isAuthorized, isAcquiring else { return .none }
    let live = liveDemand
    if execution != .suspended, let live { return live }
    // Live updates have no queue (LIV-10): for a suspended client, only a background session keeps them running.
    let keepsLiveUpdates = live != nil && use.keepsRunning
    guard isUpdating, isRunning || delivery.waitsForDrain, !isReduced else {
      return keepsLiveUpdates ? .deferred(check: .distantFuture) : .none
    }
    let accuracy = services.coarsened(updates.settings.desiredAccuracy)
    if let metres = LocationAccuracy.bound(of: accuracy), !delivery.waitsForDrain, !keepsLiveUpdates
    {
      return .within(metres: metres)
    }
    if execution == .foreground { return .live(isWatched: true) }
    if delivery.waitsForDrain { return .deferred(check: now) }
    // Nothing can be delivered: distances are not checked, and no handler can call again.
    if execution == .suspended {
      return .deferred(check: deferral.criteria?.deadline ?? .distantFuture)
    }
    switch deferral.state {
    case .armed, .engaged:
      return .deferred(check: min(deferral.criteria?.deadline ?? .distantFuture, distanceCheck))
    case .idle:
      // Between the end of a deferral and the handler's next call the receiver keeps batching (X1).
      return rearmDeadline > now ? .deferred(check: rearmDeadline) : .live(isWatched: false)
    }
  }

  /// Time until which the board stays awake for an acknowledgement; nil if none is expected (RNG-8).
  public var acknowledgementDeadline: Instant? { acknowledgements.deadline }

  /// Whether its deferral could engage if the board and other clients allowed it.
  public var isDeferrable: Bool {
    isConnected && isUpdating && execution != .foreground && deferral.state != .idle
  }

  /// Whether something waits until the receiver's buffer is empty.
  public var isWaitingForDrain: Bool {
    delivery.waitsForDrain || updates.isStopping
  }

  /// Whether ``nextNotice(in:hold:)`` may return a notice.
  public var hasNotices: Bool {
    guard isConnected else { return usesServices && services.hasNotices }
    guard execution != .suspended else { return usesServices && services.hasDurableNotice }
    guard !delivery.waitsForDrain else { return services.refusal != nil }
    return !delivery.cursor.gap.isNil || recording.mustReport(at: cursor.delivered)
      || !delivery.ends.isEmpty
      || failure != nil
      || hasAuthorizationChange || pauseNotice != .nothing
      || delivery.isDue
      || (usesServices && services.hasNotices) || hasUnreportedShed
  }

  /// The newest fix that was delivered to it: Core Location's `location` (STD-8). Nil if there was none, or if the ring
  /// no longer contains it.
  public func location(in ring: borrowing FixRing) -> StoredFix? {
    isReduced ? newestCoarse : delivery.newestDelivered.flatMap { ring.stored(at: $0) }
  }

  /// Whether updates run: started, not paused (DEF-4) and not shed.
  var isRunning: Bool {
    updates.isRunning && !services.pause.isPaused && isGranted(.updates)
  }
}

// MARK: - Events

extension Client {
  /// Whether a fix may be for the client: it uses updates or services and is authorized, or it is stopping and the fix
  /// was acquired before the stop.
  public func mayNeed(_ fix: Fix) -> Bool {
    isAuthorized && (updates.isFor(fix) || usesServices)
  }

  /// Handles a valid fix that was appended to the ring, the newest one: ``ClientContext/newest``.
  public mutating func accept(_ stored: StoredFix, _ context: ClientContext) {
    isLocationUnknown = false
    if dormantUntil == .boot || endsDormancy(for: stored, context) { acceptActive(stored, context) }
  }

  /// Handles a fix while the client is not dormant.
  private mutating func acceptActive(_ stored: StoredFix, _ context: ClientContext) {
    let fix = stored.fix
    isLocationUnknownReported = false
    // A location is available again before a suspended client received the error.
    if execution == .suspended && failure == .locationUnknown { failure = nil }
    recording.accept(fix, context)
    if usesServices { acceptForServices(stored, context) }
    guard isUpdating || updates.isStopping else { return }
    let newest = context.head - 1..<context.head
    guard !isHidden(fix), !isReduced else { return delivery.exclude(newest) }
    if isFromShedPeriod(fix) { return excludeShedFix(context) }
    guard isUpdating else { return acceptAfterStop(fix, context) }
    let pause = services.pause.handle(.fix(fix))
    switch pause {
    case .nothing:
      if services.pause.isPaused { return delivery.exclude(newest) }
    case .pause:
      updates.exemptFromFilter(context.head - 1)
      note(.pause)
      usesServices = true
    case .resume: note(.resume)
    }
    acceptForUpdates(fix, context)
    if pause == .pause { endForPause(context) }
  }

  /// Handles a fix for running updates.
  private mutating func acceptForUpdates(_ fix: Fix, _ context: ClientContext) {
    if let criteria = deferral.criteria, fix.acquired > criteria.calledAt {
      delivery.limitBatches(to: context.head - 1)
    }
    switch deferral.handle(.fix(fix)) {
    case .nothing: break
    case .flush: preconditionFailure("a fix must not flush a deferral")
    case .finish(let end):
      // The fix that met the criterion is the last of the final batch (DEF-35).
      finish(end, context)
      return
    }
    let isHeldBack = deferral.state == .engaged || context.isDraining
    let isFull = hasReachedLimit(context)
    if !isHeldBack || isFull { delivery.makeDue(before: context.head) }
    if isFull { delivery.endDrain() }  // before the ring overwrites undelivered fixes
  }

  /// Handles a fix from the receiver's buffer after updates were stopped.
  private mutating func acceptAfterStop(_ fix: Fix, _ context: ClientContext) {
    guard case .stopping(let end, let delivers) = updates.state else { return }
    if fix.acquired > end {
      delivery.close(at: context.head - 1)
      delivery.limitBatches(to: context.head - 1)
    } else if delivers && hasReachedLimit(context) {
      delivery.makeDue(before: context.head)
      delivery.endDrain()
    }
  }

  /// Handles the passage of time: a timeout may be met (DEF-17). Fixes that the receiver still holds belong to the
  /// batch of that deferral.
  public mutating func elapse(_ context: ClientContext) {
    elapseServices(context)
    switch deferral.handle(.time(context.now)) {
    case .nothing: break
    case .flush: preconditionFailure("time must not flush a deferral")
    case .finish(let end): finishAfterDrain(end, context)
    }
    if context.shed != batteryShed { updateShed(context) }
    if execution == .suspended || isQueueFull { updateQueue(context) }
  }

  private mutating func elapseServices(_ context: ClientContext) {
    guard usesServices else { return }
    if services.check <= context.now {
      note(services.pause.handle(.time(context.now)))
      services.elapse(at: context.now, newest: context.newest(after: deniedUntil))
    }
    setLiveFlags(context)
  }

  /// Engages or disengages the deferral. `mayDefer`: whether ``Planner/mayDefer(_:isInhibited:)`` allows it and the
  /// receiver is not lost (DEF-28, DEF-29).
  public mutating func updateEngagement(_ mayDefer: Bool, _ context: ClientContext) {
    let engages = mayDefer && isDeferrable && !delivery.waitsForDrain && !context.isDraining
    // DEF-12: older fixes first
    if engages && deferral.state == .armed { delivery.makeDue(before: context.head) }
    let disengages = !mayDefer || execution == .foreground
    guard engages || disengages else { return }
    switch deferral.handle(engages ? .mayEngage : .mayNotEngage) {
    case .nothing: break
    case .flush:
      if context.receiverBuffers {
        delivery.beginDrain()
      } else {
        delivery.makeDue(before: context.head)
      }
    case .finish: preconditionFailure("a change of engagement must not finish a deferral")
    }
  }

  /// Handles the end of a drain: all fixes of the receiver's buffer are in the ring.
  public mutating func drainFinished(_ context: ClientContext) {
    dormantUntil = .boot
    // The handler's time for another call starts when it is notified, not when the criterion was met (X1).
    if delivery.waitsForDrain { rearmDeadline = context.now + context.deliveryHold }
    delivery.endDrain()
    recording.endRestartDrain()
    if case .stopping(_, let delivers) = updates.state {
      updates.stop()
      delivery.close(at: context.head)
      if delivers { delivery.makeDue(before: context.head) }
    }
    if isUpdating && deferral.state != .engaged { delivery.makeDue(before: context.head) }
  }

  /// Handles the loss of the receiver (DEF-43): the deferral ends, available fixes are delivered, the client is
  /// notified.
  public mutating func receiverLost(_ context: ClientContext) {
    dormantUntil = .boot
    let code = LocationErrorCode.deferredFailed
    if case .finish(let end) = deferral.handle(.end(code)) {
      finish(end, context)
      isLocationUnknownReported = false
    }
    recording.endRestartDrain()
    if isWaitingForDrain { drainFinished(context) }
    reportLocationUnknown(context)
  }

  /// Reports that no fix was acquired for a long time (STD-10, SLC-11, VIS-12); once, until a fix is available again.
  ///
  /// Does nothing while a deferral is engaged, which continues (DEF-42).
  public mutating func reportLocationUnknown(_ context: ClientContext) {
    guard deferral.state != .engaged else { return }
    isLocationUnknown = true
    setLiveFlags(context)
    guard isConnected, isAuthorized, awaitsFixes, !isLocationUnknownReported else { return }
    isLocationUnknownReported = true
    reportFailure(.locationUnknown)
  }

  /// Whether it started a service that reports a missing location to its delegate.
  private var awaitsFixes: Bool {
    (isUpdating && isGranted(.updates))
      || (services.significant.state != .idle && isGranted(.significantChange))
      || (services.visits.state != .idle && isGranted(.visits))
  }

  /// Prepares for the oldest fix being overwritten: the cursor advances first (RNG-4).
  public mutating func prepareOverwrite(in ring: borrowing FixRing) {
    if dormantUntil == .boot { delivery.prepareOverwrite(in: ring) }
  }

  /// Whether the client must not receive the fix: the client is not authorized, or the fix was acquired before the
  /// client became authorized or started updates, however late the receiver delivered it.
  private func isHidden(_ fix: Fix) -> Bool {
    !isAuthorized || isDenied(fix) || updates.isHidden(fix)
  }

  /// Whether the fix was acquired up to ``deniedUntil``; a receiver's buffer may deliver it long after.
  @inline(__always) func isDenied(_ fix: Fix) -> Bool {
    guard let deniedUntil else { return false }
    return fix.acquired <= deniedUntil
  }

  /// Drops all fixes below `head`; none of them is ever delivered (RNG-6).
  mutating func dropFixes(below head: UInt64) {
    delivery.drop(below: head, isOpen: isUpdating)
    recording.drop()
    newestCoarse = nil
    updates.endStopping()
  }

  mutating func reportFailure(_ code: LocationErrorCode) { failure = code }

  /// Queues the end of a deferral call; its batch contains the fixes that are in the ring.
  mutating func finish(_ end: DeferralEnd, _ context: ClientContext) {
    append(PendingEnd(end: end, batchEnd: context.head), context)
  }

  private mutating func append(_ end: PendingEnd, _ context: ClientContext) {
    delivery.append(end, before: context.head)
    rearmDeadline = context.now + context.deliveryHold
    distanceCheck = .distantFuture
  }

  /// Queues the end of the outstanding deferral. If the receiver may hold fixes of it, the end is reported after the
  /// drain.
  private mutating func finishAfterDrain(_ end: DeferralEnd, _ context: ClientContext) {
    if context.receiverBuffers { delivery.beginDrain() }
    let batchEnd = context.receiverBuffers ? .max : context.head
    append(PendingEnd(end: end, batchEnd: batchEnd), context)
  }
}

/// A client's undelivered and unacknowledged fixes at one moment, which `LocationServer` delivers in bulk.
public struct Backlog: Sendable {
  /// Their sequence numbers; some of them may be excluded, see ``includes(_:)``.
  public let range: Range<UInt64>
  /// The unreported gap before them; nil if none exists.
  public let gap: Gap?
  private let excluded: Range<UInt64>?
  private let deniedUntil: Instant?

  init(_ range: Range<UInt64>, gap: Gap?, excluded: Range<UInt64>?, deniedUntil: Instant?) {
    self.range = range
    self.gap = gap
    self.excluded = excluded
    self.deniedUntil = deniedUntil
  }

  /// Whether a fix of ``range`` is for the client.
  public func includes(_ stored: StoredFix) -> Bool {
    if let excluded, excluded.contains(stored.name.sequence) { return false }
    return deniedUntil.map { stored.fix.acquired > $0 } ?? true
  }
}

extension Client {
  /// All fixes that the client has not acknowledged, delivered or not, without applying the distance filter. Empty
  /// while it is not authorized or its accuracy is reduced (AUT-6).
  public func backlog(in ring: borrowing FixRing) -> Backlog {
    let range = delivery.backlog(in: ring)
    guard canReceiveFixes else {
      return Backlog(
        range.upperBound..<range.upperBound, gap: nil, excluded: nil, deniedUntil: nil)
    }
    return Backlog(
      range, gap: recording.gap(with: cursor.gap), excluded: delivery.excluded,
      deniedUntil: deniedUntil)
  }

  /// Marks the backlog as delivered, because it is read in bulk.
  mutating func readBacklog(in ring: borrowing FixRing, _ context: ClientContext) {
    guard canReceiveFixes else { return }
    recording.markReported()
    guard delivery.deliverBacklog(in: ring) else { return }
    noteDelivery(of: cursor.delivered - 1, hold: context.now + context.deliveryHold)
  }
}

// MARK: - Recording

extension Client {
  /// Whether fixes are acquired for the client's updates: always while it runs; while it is suspended until its queue
  /// is full, and as long as a deferral or a background session lasts (BKG-2, BKG-5).
  var isAcquiring: Bool {
    @inline(__always) get {
      execution != .suspended || !isQueueFull || use.keepsRunning || deferral.state != .idle
    }
  }

  /// Whether at least N fixes lie between the client's position and the head (RNG-1).
  @inline(__always) func hasReachedLimit(_ context: ClientContext) -> Bool {
    delivery.hasReached(context.deferralLimit, at: context.head)
  }

  /// Whether no fix was delivered since updates started and, for a suspended client, none is in its queue.
  public func awaitsFirstFix(_ context: ClientContext) -> Bool {
    guard updates.awaitsFirstFix else { return false }
    return execution != .suspended || cursor.delivered == context.head
  }

  /// Updates whether the queue of a suspended client is full.
  private mutating func updateQueue(_ context: ClientContext) {
    recording.setQueueFull(
      execution == .suspended && isUpdating
        && delivery.isQueueFull(context.deferralLimit, at: context.head), context)
  }

  /// Begins a recording gap if the client's queue is full and nothing else keeps acquisition running.
  public mutating func beginUnrecorded(_ context: ClientContext) {
    if isQueueFull, !isAcquiring { recording.begin(context) }
  }

  /// Ends the recording gap: fixes are acquired for the client again.
  public mutating func endUnrecorded(_ context: ClientContext) { recording.end(context) }

  /// Restores the recording gap at a start of the service (BKG-20).
  ///
  /// If the client's updates ran when the service ended, the time from the ring's newest fix until now is assumed to be
  /// unrecorded, unless the receiver does not batch and the queue was not full. The durable state contains neither what
  /// the receiver recorded nor whether the queue was full; a backlog of N fixes counts as a full queue. If the previous
  /// run assumed such a period and did not report it, it is restored.
  ///
  /// - Parameters:
  ///   - bookmark: The bookmark from which the client was restored.
  ///   - start: When the service started.
  ///   - recorder: State of the receiver's buffer while the service was down; `.none` if the client's updates did not
  ///     run.
  ///   - slack: Two fix intervals: a shorter period is not a gap.
  ///   - limit: Deferral limit N, fixes.
  public mutating func resumeRecording(
    from bookmark: ClientBookmark, at start: Instant, recorder: DowntimeRecording, slack: Interval,
    limit: Int, in ring: borrowing FixRing
  ) {
    let wasFull = cursor.backlog(in: ring) >= UInt64(limit)
    let isAssumed = bookmark.isOpenEnded && (wasFull || recorder != .none)
    let gapStart = bookmark.gapAfter.map { ring.resumeSequence(after: $0) }
    guard isAssumed || gapStart != nil else { return }
    recording.restore(
      isAssumed: isAssumed, gapStart: gapStart, until: start, recorder: recorder, slack: slack,
      in: ring)
    guard recorder == .holdsFixes else { return }
    delivery.open()
    updates.stop(drainingUntil: start + slack, delivers: false)
  }
}

// MARK: - Shed service levels

// Service levels that a client does not get while the battery is low (PWR-10). Its requests remain: when the battery is
// charged, the client gets the service again without another request.

extension Client {
  /// Service levels that are shed now, whether or not the client uses them.
  public var shed: ServiceLevelSet { services.shed }

  /// Whether the client gets this service level.
  @inline(__always) func isGranted(_ level: ServiceLevel) -> Bool { !services.shed.contains(level) }

  /// The settings with the accuracy limited by the shed levels; a deferral must be compatible with them.
  var grantedSettings: ClientSettings {
    var granted = updates.settings
    granted.desiredAccuracy = services.coarsened(granted.desiredAccuracy)
    return granted
  }

  /// Demand of its live updates; nil if they have none of their own.
  private var liveDemand: Demand? {
    guard usesServices, !isReduced, isGranted(.updates), services.live.isLive else { return nil }
    guard let metres = services.finestBound else {
      return .live(isWatched: execution == .foreground)
    }
    return delivery.waitsForDrain ? nil : .within(metres: metres)
  }

  /// Updates the shed levels: because of the battery's charge, or because the client is not in use (BKG-13). Only the
  /// former is reported.
  mutating func updateShed(_ context: ClientContext) {
    batteryShed = context.shed
    let newShed = batteryShed.union(use.withheld)
    let hadUpdates = isGranted(.updates), hadSignificantChange = isGranted(.significantChange)
    services.setShed(newShed, at: context.now)
    // A level that was restored while the client did not use it is reported when it is shed again.
    reportedShed = reportedShed.intersection(newShed.union(usedLevels))
    if !hadSignificantChange && isGranted(.significantChange) { catchUp(context) }
    if hadUpdates && !isGranted(.updates) {
      updatesShedPeriod = (from: context.now, through: .distantFuture)
    } else if !hadUpdates && isGranted(.updates) {
      updatesShedPeriod.through = context.now
      isLocationUnknownReported = false
    }
    if let code = deferralEndCode, case .finish(let end) = deferral.handle(.end(code)) {
      finishAfterDrain(end, context)
      rearmDeadline = .boot  // another call would fail, so batching need not continue
    }
    setLiveFlags(context)
  }

  /// Error with which a deferral ends, in the order of X6: without updates, or without every fix; nil if it can
  /// continue.
  private var deferralEndCode: LocationErrorCode? {
    guard deferral.state != .idle else { return nil }
    return isGranted(.updates)
      ? DeferralPreconditions.incompatibility(of: grantedSettings) : .deferredNotUpdatingLocation
  }

  /// Applies the newest fix acquired while significant change was shed; a waiting report (SLC-4) then contains that
  /// fix.
  private mutating func catchUp(_ context: ClientContext) {
    guard !isReduced, let newest = context.newest(after: deniedUntil) else { return }
    switch services.significant.state {
    case .idle, .first: break
    case .watching:
      services.note(services.significant.accept(newest.fix, at: context.now), newest)
    }
  }

  /// Whether the fix was acquired while updates were shed, however late the receiver delivers it.
  private func isFromShedPeriod(_ fix: Fix) -> Bool {
    fix.acquired > updatesShedPeriod.from && fix.acquired <= updatesShedPeriod.through
  }

  /// Excludes a fix acquired while updates were shed; pending batches end before it.
  private mutating func excludeShedFix(_ context: ClientContext) {
    delivery.limitBatches(to: context.head - 1)
    delivery.exclude(context.head - 1..<context.head)
  }

  // MARK: Notices of shed levels

  /// Service levels that the client uses; shedding of others is not reported.
  var usedLevels: ServiceLevelSet {
    guard isAuthorized else { return .none }
    var used = services.usedLevels
    let isLive = services.live.count > 0
    guard isUpdating || isLive || services.hasSingleRequest else { return used }
    used.insert(.updates)
    if isReduced { return used }
    // NaN requests every fix.
    let metres = isLive ? LocationAccuracy.best : updates.settings.desiredAccuracy
    if !(metres >= LocationAccuracy.kilometer) { used.insert(.accuracy) }
    if !(metres >= LocationAccuracy.hundredMeters) { used.insert(.everyFix) }
    return used
  }

  /// Whether a level that it uses was shed or restored and that is unreported.
  private var hasUnreportedShed: Bool {
    guard batteryShed != reportedShed else { return false }
    let used = usedLevels
    return batteryShed.intersection(used) != reportedShed.intersection(used)
  }

  /// Returns the notice of all shed levels that it uses, if they changed.
  private mutating func nextDegradation() -> Notice? {
    guard hasUnreportedShed else { return nil }
    reportedShed = batteryShed.intersection(usedLevels)
    return .degraded(reportedShed)
  }
}

extension ClientServices {
  /// Whether this service level is not shed.
  @inline(__always) func isGranted(_ level: ServiceLevel) -> Bool { !shed.contains(level) }

  /// Best accuracy bound that is available, metres; nil if every fix is.
  @inline(__always) var finestBound: Double? {
    if !isGranted(.accuracy) { return LocationAccuracy.kilometer }
    return isGranted(.everyFix) ? nil : LocationAccuracy.hundredMeters
  }

  /// A desired accuracy, limited to the best that is available.
  @inline(__always) fileprivate func coarsened(_ accuracy: Double) -> Double {
    guard let finestBound else { return accuracy }
    return accuracy >= finestBound ? accuracy : finestBound
  }

  /// Service levels of the requested services, updates excluded.
  var usedLevels: ServiceLevelSet {
    var used = ServiceLevelSet.none
    if visits.state != .idle { used.insert(.visits) }
    if regions.count > 0 { used.insert(.regions) }
    if significant.state != .idle { used.insert(.significantChange) }
    return used
  }

  /// Sets the shed levels. Regions become inactive as with reduced accuracy (REG-15), a single request fails (STD-11);
  /// visits and significant change receive and request no fixes, as during a loss of the receiver (VIS-11).
  mutating func setShed(_ new: ServiceLevelSet, at now: Instant) {
    shed = new
    regions.setShed(!isGranted(.regions), at: now)
    if !isGranted(.updates) { note(request.handle(.fail(.locationUnknown))) }
  }
}

extension Client {
  /// Returns the next notice, or nil; called after each step until nil.
  ///
  /// Order: authorization, a gap, a resume, then each deferral's end immediately followed by its batch (X1), then other
  /// fixes, then shed service levels, a pause, a failure, and results of services. O(fixes of the batch).
  ///
  /// - Parameter hold: Time until which the board stays awake for the notice's acknowledgement, if it is one that is
  ///   acknowledged (RNG-8).
  public mutating func nextNotice(in ring: borrowing FixRing, hold: Instant) -> Notice? {
    guard isConnected else { return nextDetachedNotice(hold: hold) }
    guard execution != .suspended else { return nextDurableNotice() }
    // A refusal does not wait for fixes.
    guard !delivery.waitsForDrain else { return services.nextRefusal() }
    if hasAuthorizationChange {
      hasAuthorizationChange = false
      return .authorization(authorization, isReduced: isReduced)
    }
    if let gap = delivery.takeGap()
      ?? recording.takeGap(at: cursor.delivered, isUpdating: isUpdating)
    {
      return .gap(gap)
    }
    if pauseNotice == .resume {
      pauseNotice = .nothing
      return .resumed
    }
    if let batchEnd = delivery.finalBatchEnd {
      if let batch = nextBatch(in: ring, before: batchEnd, hold: hold) { return batch }
      delivery.finishFinalBatch()
    }
    if let pendingEnd = delivery.popEnd() { return .finish(pendingEnd.end.code) }
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

  /// Returns the next notice that launches a client without a process: a result of a service that works without one
  /// (SLC-8, VIS-8).
  private mutating func nextDetachedNotice(hold: Instant) -> Notice? {
    usesServices ? nextServiceNotice(hold: hold) : nil
  }

  /// Returns the next visit or crossing of a suspended client. `LocationServer` sends nothing to it but stores these
  /// durably, because this record keeps only the latest ones (BKG-2, VIS-8).
  private mutating func nextDurableNotice() -> Notice? {
    usesServices ? services.nextDurableNotice() : nil
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
      newestCoarse = stored
    } else {
      delivery.noteReport(of: stored.name.sequence)
    }
    acknowledgements.expect(report: stored.name, until: hold)
  }

  private mutating func nextBatch(
    in ring: borrowing FixRing, before limit: UInt64, hold: Instant
  ) -> Notice? {
    while true {
      delivery.skipExcluded()
      var end = min(min(limit, recording.sequence), delivery.dueEnd(in: ring))
      guard cursor.delivered < end else { return nil }
      if let range = delivery.excluded, cursor.delivered < range.lowerBound {
        end = min(end, range.lowerBound)
      }
      let notice = nextRun(in: ring, until: end)
      guard let notice else { continue }
      if case .batch(_, let last) = notice { noteDelivery(of: last, hold: hold) }
      return notice
    }
  }

  /// Returns all fixes up to the next hole as one batch, or a single fix if a distance filter is set; or the hole, if it
  /// comes first, as a gap. Nil if the first fix is not for the client or does not pass the filter (STD-4, STD-5).
  private mutating func nextRun(in ring: borrowing FixRing, until end: UInt64) -> Notice? {
    let first = cursor.delivered
    guard var newest = ring.stored(at: first) else { return hole(before: end, in: ring) }
    var position = first + 1
    let hasFilter = updates.settings.hasDistanceFilter
    guard !isDenied(newest.fix), !hasFilter || updates.passesFilter(newest.fix, first) else {
      delivery.deliver(to: position, in: ring)
      return nil
    }
    while !hasFilter, position < end, let stored = ring.stored(at: position),
      !isDenied(stored.fix)
    {
      newest = stored
      position += 1
    }
    updates.setFilterOrigin(from: newest.fix)
    delivery.deliver(to: position, in: ring)
    return .batch(first: first, last: position - 1)
  }

  /// Skips fixes that a power failure destroyed and returns them as a gap.
  private mutating func hole(before end: UInt64, in ring: borrowing FixRing) -> Notice? {
    let first = cursor.delivered
    let position = ring.nextFix(from: first, before: end)?.name.sequence ?? end
    let missing = ring.missing(in: first..<position)
    delivery.deliver(to: position, in: ring)
    return missing.map { .gap($0) }
  }

  private mutating func noteDelivery(of last: UInt64, hold: Instant) {
    delivery.noteDelivery(of: last)
    acknowledgements.expect(batchUpTo: last, until: hold)
  }
}

extension Client {
  /// Handles a request. Answers follow as notices, never inside the call (DEF-10).
  public mutating func handle(
    _ request: Request, in ring: borrowing FixRing, _ context: ClientContext
  ) {
    guard isConnected || request.isValidWithoutProcess else { return }
    if dormantUntil > .boot {
      dormantUntil = .boot
      prepareOverwrite(in: ring)  // was skipped during dormancy
    }
    defer { usesServices = isReduced || services.hasActiveService || services.hasNotices }
    switch request {
    case .connect: connect(context)
    case .disconnect: disconnect(context)
    case .forget: if !isConnected { self = Client(at: context.head) }
    case .startUpdating:
      endSuspension(context)
      startUpdating(context)
    case .stopUpdating:
      endSuspension(context)
      stopUpdating(context)
    case .setDesiredAccuracy(let accuracy):
      endSuspension(context)
      updates.setDesiredAccuracy(accuracy)
      endIfIncompatible(context)
    case .setDistanceFilter(let filter):
      endSuspension(context)
      updates.setDistanceFilter(filter)
      endIfIncompatible(context)
    case .allowDeferred(let distance, let timeout):
      endSuspension(context)
      allowDeferred(distance: distance, timeout: timeout, context)
    case .disallowDeferred:
      endSuspension(context)
      end(.deferredCanceled, context)
    case .setExecution(let state): setExecution(state, context)
    case .acknowledge(let name): acknowledge(name, in: ring)
    case .readBacklog: readBacklog(in: ring, context)
    case .setAuthorization(let authorization): setAuthorization(authorization, context)
    case .setReducedAccuracy(let isReduced): setReduced(isReduced, context)
    case .setUse(let newUse):
      use = newUse
      updateShed(context)
    case .setPausesAutomatically, .setActivity, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive:
      endSuspension(context)
      handleService(request, context)
    }
  }

  /// A client that sends a request is running, whatever was reported before.
  private mutating func endSuspension(_ context: ClientContext) {
    if execution == .suspended { setExecution(.background, context) }
  }

  private mutating func connect(_ context: ClientContext) {
    if isConnected { disconnect(context) }
    isConnected = true
    execution = .foreground
    updates.resetSettings()
  }

  /// Detaches the process: its deferral ends without a notice; undelivered fixes stay in the ring (DEF-11).
  private mutating func disconnect(_ context: ClientContext) {
    endUpdating(delivers: false, context)
    deferral = Deferral()
    services.detach()
    pauseNotice = .nothing
    hasAuthorizationChange = false
    reportedShed = .none
    distanceCheck = .distantFuture
    recording.detach(context)
    failure = nil
    acknowledgements.removeAll()
    updates.detach()
    isConnected = false
    delivery.rewind()
  }

  private mutating func startUpdating(_ context: ClientContext) {
    note(services.pause.handle(.line(context.motionLine, at: context.now)))
    note(services.pause.handle(.start))
    services.cancelRequest()
    guard !isUpdating else { return }
    updates.start(receiverBuffers: context.receiverBuffers, at: context.now)
    recording.startUpdates()
    isLocationUnknownReported = false
    delivery.resume(at: context.head)
    if !delivery.waitsForDrain { delivery.makeDue(before: context.head) }
    if authorization.isRefused { reportFailure(.denied) }
    if isReduced && isGranted(.updates) { services.updateReport = services.coarse(at: context.now) }
    delivery.open()
  }

  private mutating func stopUpdating(_ context: ClientContext) {
    services.cancelRequest()
    guard isUpdating else { return }
    recording.stopUpdates()
    note(services.pause.handle(.stop))
    end(.deferredCanceled, context)
    endUpdating(delivers: true, context)
    if !delivery.waitsForDrain { delivery.makeDue(before: context.head) }
    rearmDeadline = .boot
    failure = nil  // nothing follows the end of the deferral and its batch (DEF-37)
  }

  /// Ends updates: later fixes are not for the client, except those that the receiver holds from before.
  ///
  /// - Parameter delivers: Whether those go to the attached process.
  private mutating func endUpdating(delivers: Bool, _ context: ClientContext) {
    guard isUpdating else { return }
    if context.receiverBuffers {
      updates.stop(drainingUntil: context.now, delivers: delivers)
    } else {
      updates.stop()
      delivery.close(at: context.head)
    }
  }

  private mutating func allowDeferred(
    distance: Double, timeout: Double, _ context: ClientContext
  ) {
    services.cancelRequest()  // DEF-44
    let criteria = DeferralCriteria(distance: distance, timeout: timeout, calledAt: context.now)
    let failure = DeferralPreconditions.failure(
      isRefused: authorization.isRefused,
      isAvailable: context.isDeferralAvailable && criteria != nil,
      isUpdating: isRunning, settings: grantedSettings)
    guard let criteria, failure == nil else {
      // The previous call is cancelled even if this one fails (DEF-14).
      let deadline = deferral.state == .idle ? rearmDeadline : nil
      end(.deferredCanceled, context)
      finish(.failed(failure ?? .deferredFailed), context)
      // No deferral was outstanding: the failed call does not prolong batching.
      if let deadline { rearmDeadline = deadline }
      return
    }
    var start = isAuthorized ? context.newest?.fix : nil
    if let fix = start, context.now - fix.acquired > Client.freshness { start = nil }
    switch deferral.handle(.call(criteria, start: start)) {
    case .nothing: break
    case .flush: preconditionFailure("a call must not flush a deferral")
    case .finish(let end): finishAfterDrain(end, context)
    }
    rearmDeadline = .boot
    elapse(context)  // a timeout of 0 is met immediately (DEF-23)
  }

  /// Ends an outstanding deferral with `code`; does nothing if none exists.
  private mutating func end(_ code: LocationErrorCode, _ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(code)) { finishAfterDrain(end, context) }
  }

  /// Ends a deferral that is incompatible with the new settings (DEF-39).
  private mutating func endIfIncompatible(_ context: ClientContext) {
    guard deferral.state != .idle else { return }
    if let code = DeferralPreconditions.incompatibility(of: updates.settings) { end(code, context) }
  }

  private mutating func setExecution(_ state: ExecutionState, _ context: ClientContext) {
    let wasSuspended = execution == .suspended
    execution = state
    guard wasSuspended, state != .suspended else { return }
    recording.end(context)
    guard isUpdating else { return }
    if deferral.state != .engaged || hasReachedLimit(context) {
      delivery.makeDue(before: context.head)
    }
    // The handler of an end that is reported now may call again (X1).
    if !delivery.ends.isEmpty { rearmDeadline = context.now + context.deliveryHold }
  }

  private mutating func acknowledge(_ name: FixName, in ring: borrowing FixRing) {
    acknowledgements.acknowledge(name)
    guard delivery.acknowledge(name, in: ring) else { return }
    recording.acknowledge(below: cursor.acknowledged)
    acknowledgements.acknowledge(below: cursor.acknowledged)
  }

  /// Applies a change of authorization. Earlier fixes are never delivered if the client gains or loses the right to
  /// them (RNG-6). A refusal ends its requests (DEF-5, DEF-40, X7); without a decision they stay pending (AUT-11).
  private mutating func setAuthorization(_ new: Authorization, _ context: ClientContext) {
    guard new != authorization else { return }
    let (wasAuthorized, wasRefused) = (isAuthorized, authorization.isRefused)
    authorization = new
    hasAuthorizationChange = isConnected
    setLiveFlags(context)
    if isAuthorized != wasAuthorized {
      hideFixes(context)
      deniedUntil = context.now
      services.regions.setDenied(!isAuthorized, at: context.now)
      isLocationUnknownReported = false
    }
    if !isAuthorized && wasAuthorized {
      delivery.endDrain()
      services.withhold(at: context.now)
    }
    if new.isRefused && !wasRefused { refuse(context) }
    // The refusal ended before a suspended client was notified.
    if !new.isRefused && failure == .denied { failure = nil }
    startPending(context)
  }

  /// Ends all its requests.
  private mutating func refuse(_ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(.denied)) { finish(end, context) }
    if isUpdating || services.canRunWithoutProcess || services.areVisitsRequested {
      reportFailure(.denied)
    }
    services.deny()
  }

  /// Drops all fixes up to now; none of them is ever delivered (RNG-6).
  private mutating func hideFixes(_ context: ClientContext) {
    dropFixes(below: context.head)
    delivery.limitBatches(to: context.head)
  }

  /// Applies a change between full and reduced accuracy. Reduced: the deferral ends, and no precise fix is delivered
  /// any more (DEF-41, AUT-6). Full: fixes acquired from now on are delivered with full accuracy.
  private mutating func setReduced(_ reduced: Bool, _ context: ClientContext) {
    guard reduced != isReduced else { return }
    isReduced = reduced
    hasAuthorizationChange = isConnected
    services.regions.setReduced(reduced, at: context.now)
    services.significant.discardNewest()
    setLiveFlags(context)
    hideFixes(context)
    guard reduced else {
      deniedUntil = context.now
      return startPending(context)
    }
    delivery.endDrain()
    services.discardPrecise()
    if case .finish(let end) = deferral.handle(.end(.deferredAccuracyTooLow)) {
      finish(end, context)
    }
  }
}

// MARK: - Dormancy

// Most clients wait for an event that is far away in time or distance, so steps skip them.

extension Client {
  /// Makes the client dormant if nothing of it is running or pending; called at the end of its part of a step.
  ///
  /// Every event ends dormancy, except the passage of time and a fix that does not matter to the client.
  public mutating func enterDormancy(at now: Instant) {
    guard isIdle, !hasNotices, (acknowledgementDeadline ?? now) <= now else { return }
    let next = usesServices ? services.check : .distantFuture
    guard next > now else { return }
    dormantUntil = next
    interest = currentInterest
    wakeDistance = -.infinity
    wakeTime = .boot
  }

  /// Ends dormancy, because something changed that concerns all clients.
  public mutating func endDormancy() { dormantUntil = .boot }

  /// Whether the client has no updates, no deferral and no undelivered fixes, and waits for neither the receiver nor an
  /// acknowledgement. If it uses services, it must also be connected and authorized with full accuracy, without live
  /// updates.
  private var isIdle: Bool {
    guard updates.state == .stopped, !delivery.waitsForDrain, delivery.ends.isEmpty,
      deferral.state == .idle, acknowledgements.isBatchAcknowledged, delivery.isComplete
    else { return false }
    guard usesServices else { return true }
    return isConnected && isAuthorized && !isReduced && services.live.count == 0
  }

  /// Which fixes matter to its services in their present state.
  private var currentInterest: FixInterest {
    guard usesServices else { return .nothing }
    return services.usesOnlyRegions ? .regions : .everything
  }

  /// Whether the client must handle a fix acquired at `time`, with the ``Odometer`` at `travelled` metres. Any other
  /// fix matters only as the newest position, see ``deliverSkippedFix(_:)``.
  @inlinable public func needsFix(at time: Instant, _ travelled: Double) -> Bool {
    dormantUntil == .boot || wakeDistance <= travelled || wakeTime <= time
  }

  /// Whether the newest fix may have been skipped. Then ``deliverSkippedFix(_:)`` must be called before any event other
  /// than a fix or time, and before its demand is read.
  @inlinable public var hasSkippedFix: Bool { dormantUntil > .boot && wakeDistance > -.infinity }

  /// Handles the newest fix if it was skipped.
  public mutating func deliverSkippedFix(_ context: ClientContext) {
    guard hasSkippedFix, let newest = context.newest, newestHandled != newest.name.sequence else {
      return
    }
    accept(newest, context)
  }

  /// Ends dormancy if the fix requires it. Returns whether the caller must still handle the fix; if not, it was handled
  /// here.
  mutating func endsDormancy(for stored: StoredFix, _ context: ClientContext) -> Bool {
    assert(interest == currentInterest, "the services of a dormant client changed")
    newestHandled = stored.name.sequence
    switch interest {
    case .nothing:
      (wakeDistance, wakeTime) = (.infinity, .distantFuture)
      return false
    case .regions:
      // The odometer includes fixes that are not accepted, so the earlier wake distance remains valid.
      if isDenied(stored.fix) || !services.regions.accept(stored.fix) { return false }
      if services.regions.hasEvents { dormantUntil = .boot }
      let slack = services.regions.slack
      (wakeDistance, wakeTime) = (context.travelled + slack.metres, slack.until)
      return false
    case .everything:
      if isDenied(stored.fix) { return false }
      dormantUntil = .boot
      return true
    }
  }
}

/// Which fixes matter to a dormant client.
enum FixInterest: UInt8, Sendable {
  /// None: it uses no service.
  case nothing = 0
  /// Those that may change a region.
  case regions = 1
  /// All: a fix ends dormancy.
  case everything = 2
}

// MARK: - Fixes needed in the ring

extension Client {
  /// Whether precise fixes may be delivered to it at all.
  public var canReceiveFixes: Bool {
    isAuthorized && !isReduced
  }

  /// Whether it may receive this fix with full accuracy, now or later (RNG-6).
  public func mayReceive(_ fix: Fix) -> Bool { canReceiveFixes && !isDenied(fix) }

  /// First sequence number that it needs in the ring: its unacknowledged fixes, and the newest one delivered (STD-8).
  /// The greatest number if it needs none.
  public var neededFrom: UInt64 {
    guard isAuthorized, !isReduced else { return .max }
    return min(delivery.neededFrom, newestDelivered ?? .max)
  }
}

// MARK: - Services

extension Client {
  /// Handles a request for a service.
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
      guard !authorization.isRefused else { return reportFailure(.denied) }
      services.areVisitsRequested = true
      isLocationUnknownReported = isLocationUnknownReported && services.visits.state != .idle
      startPending(context)
    case .stopVisits:
      services.areVisitsRequested = false
      services.visits.stop(at: context.now)
      services.discardVisits()
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
      services.live.motionLineChanged(context.motionLine, at: context.now)
      guard services.live.open(configuration) != nil else {
        services.refusal = .live(configuration)
        return
      }
      setLiveFlags(context)
    case .closeLive(let iterator):
      if (0..<LiveUpdates.capacity).contains(iterator) { services.live.close(iterator) }
    case .connect, .disconnect, .forget, .startUpdating, .stopUpdating, .setDesiredAccuracy,
      .setDistanceFilter, .allowDeferred, .disallowDeferred, .setExecution, .acknowledge,
      .readBacklog,
      .setAuthorization, .setReducedAccuracy, .setUse:
      preconditionFailure("not a request for a service")
    }
  }

  /// How long `requestState` waits for a fix that decides the state (REG-7).
  private static let stateTimeout = Interval.seconds(60)

  /// Starts pending requests that are now allowed: visits (VIS-2), and a single request (AUT-11). Ends visits that are
  /// not.
  private mutating func startPending(_ context: ClientContext) {
    if services.areVisitsRequested, authorization == .always, !isReduced {
      services.note(services.visits.start(at: context.now))
      services.visits.motionLineChanged(context.motionLine, at: context.now)
    } else if services.visits.state != .idle {
      services.endVisits()
    }
    guard isAuthorized, services.isRequestPending else { return }
    services.isRequestPending = false
    requestLocation(context)
  }

  /// Starts significant change. A cached fix may be reported first, if the client may receive it (SLC-5, AUT-3).
  private mutating func startSignificantChange(_ context: ClientContext) {
    guard !authorization.isRefused else { return reportFailure(.denied) }
    isLocationUnknownReported = isLocationUnknownReported && services.significant.state != .idle
    let newest = isAuthorized ? newestVisible(context) : nil
    let outcome = services.significant.start(at: context.now, cached: newest?.fix)
    if let newest { services.note(outcome, newest) }
  }

  /// The newest fix that the client may receive; with reduced accuracy, its last coarse one.
  private func newestVisible(_ context: ClientContext) -> StoredFix? {
    isReduced ? services.coarse(at: context.now) : context.newest(after: deniedUntil)
  }

  private mutating func requestLocation(_ context: ClientContext) {
    guard !authorization.isRefused else { return reportFailure(.denied) }
    guard isAuthorized else {
      services.isRequestPending = !isUpdating
      return
    }
    let coarsest = Double(AccuracyReduction.accuracy_mm) / 1e3
    let parameters = LocationRequestParameters(
      desiredAccuracy: isReduced ? coarsest : grantedSettings.desiredAccuracy,
      isUpdating: isRunning,
      at: context.now)
    var recent = newestVisible(context)
    if let fix = recent?.fix, context.now - fix.acquired > Client.freshness && !isReduced {
      recent = nil
    }
    // No acquisition takes place: deliver the cached fix, or fail (PWR-10).
    guard isGranted(.updates) else {
      return services.note(recent.map { .deliver($0) } ?? .fail(.locationUnknown))
    }
    services.note(services.request.handle(.request(parameters, recent: recent)))
  }

  /// Hands a fix to the services, for a client with reduced accuracy as a coarse one.
  mutating func acceptForServices(_ stored: StoredFix, _ context: ClientContext) {
    guard isAuthorized, !isDenied(stored.fix) else { return }
    guard isReduced else { return services.accept(stored, at: context.now) }
    guard isUpdating || services.hasActiveService, let coarse = services.reduce(stored) else {
      return
    }
    if isUpdating && isGranted(.updates) { services.updateReport = coarse }
    services.acceptCoarse(coarse, at: context.now)
  }

  /// Applies an outcome of the pause monitor.
  mutating func note(_ outcome: PauseMonitor.Outcome) {
    switch outcome {
    case .nothing: break
    case .pause, .resume:
      // Pause and resume alternate strictly (PAU-3): an unreported one is cancelled by its opposite.
      pauseNotice = pauseNotice == .nothing || pauseNotice == outcome ? outcome : .nothing
    }
  }

  /// Ends the deferral before the pause is reported (DEF-38).
  private mutating func endForPause(_ context: ClientContext) {
    if case .finish(let end) = deferral.handle(.end(.deferredNotUpdatingLocation)) {
      finish(end, context)
    }
    // Updates are paused, so batching need not continue for another call.
    rearmDeadline = .boot
  }

  /// Computes the flags of live updates (LIV-6, LIV-7).
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
    if isLocationUnknown || !context.hasReceiver || batteryShed.contains(.updates) {
      flags = flags.union(.locationUnavailable)
    }
    if flags != services.live.flags { services.live.set(flags) }
  }

  /// Handles a report of the motion line.
  public mutating func motionLineChanged(_ line: MotionLine, at now: Instant) {
    dormantUntil = .boot
    note(services.pause.handle(.line(line, at: now)))
    services.motionLineChanged(line, at: now)
  }

  /// Handles an acquisition for single fixes that ended without a fix (PWR-7).
  public mutating func acquisitionFailed(at now: Instant) {
    dormantUntil = .boot
    note(services.pause.handle(.noFix(at: now)))
    services.acquisitionFailed(at: now)
  }

  /// The single fixes that its services need.
  public mutating func fixNeed(at now: Instant, fastest: Double, line: MotionLine) -> FixNeed {
    guard usesServices, isAuthorized, isConnected || services.canRunWithoutProcess else {
      return FixNeed()
    }
    let isRunning = isConnected && (execution != .suspended || use.keepsRunning)
    if isReduced { return reducedFixNeed(at: now, isRunning: isRunning) }
    return services.fixNeed(
      at: now, fastest: fastest, line: line, isRunning: isRunning,
      isPaused: isUpdating && services.pause.isPaused && isAcquiring)
  }

  /// A client with reduced accuracy gets at most four fixes an hour, so earlier ones are not requested (AUT-5).
  private func reducedFixNeed(at now: Instant, isRunning: Bool) -> FixNeed {
    var need = FixNeed()
    // The queue of coarse fixes has a capacity of one.
    let isUpdating = isUpdating && (isRunning || services.updateReport.isNil)
    let isNeeded =
      (services.significant.state != .idle && isGranted(.significantChange))
      || (isGranted(.updates)
        && (isUpdating || services.request.state != .idle
          || (isRunning && services.live.count > 0)))
    if isNeeded { need.add(due: max(now, services.reduction.due), accuracy: 1_000) }
    return need
  }

  /// When its services must be checked next even without a fix; `.distantFuture` if never.
  public var check: Instant {
    isConnected && usesServices ? services.check : .distantFuture
  }
}
