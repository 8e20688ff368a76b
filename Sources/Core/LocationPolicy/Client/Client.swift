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
/// - ``ClientPermission``: authorization, accuracy, and which fixes are denied.
/// - ``ClientExecution``: whether a process is attached, its execution state and its use of location.
/// - ``ClientUpdates``: whether standard updates run, their settings, the distance filter.
/// - ``ClientDelivery``: which fixes of the ring are for the client, and which may be delivered now.
/// - ``ClientRecording``: the queue of a suspended client, and the gap of a time without recording.
/// - ``AcknowledgementHold``: how long the board stays awake for an acknowledgement.
/// - ``Deferral`` and ``DeferralTimes``: the outstanding deferral, its distance check, the wait for the next call.
/// - ``ClientServices``: the services in addition to updates, shed levels, and the results of services.
/// - ``ClientFailures``: the pending failure, and whether a location is available.
///
/// This type forwards events to them and carries out their outcomes: what one part decides, it applies to the others.
/// It is address-only, so that no call copies it (``AddressOnly``).
///
/// # States
///
/// Deferral (``Deferral``): `idle → armed ⇄ engaged → idle`; ``updateEngagement(_:_:)`` engages it when the board may
/// sleep.
///
/// Waiting (`delivery.waitsForDrain`): set when a deferral ends or is flushed while the receiver may hold its fixes;
/// nothing but refusals is reported then. Cleared when the drain has finished, when the receiver is lost, when N
/// undelivered fixes are in the ring, when the queue of ends is nearly full, when the right to fixes is lost, and when
/// the process detaches.
///
/// # Invariants
///
/// - A fix acquired while the client was not authorized, or before its right to fixes last changed, is never delivered
///   (RNG-6).
/// - Each deferral call has exactly one end (DEF-8). An end is immediately followed by its batch (X1); at most four
///   ends are pending.
/// - A gap is reported before anything newer (RNG-4).
/// - A request is never answered inside ``handle(_:in:_:)`` (DEF-10); answers are notices.
///
/// # Who changes what
///
/// Only this file calls the mutating functions of the parts. `Engine` first calls the function of a request or event,
/// or ``accept(_:_:)`` for a new fix; then ``elapse(_:)``, ``demand(at:)``, ``updateEngagement(_:_:)``, then
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

  // The order of the properties, here and in the parts, lets those that each step reads share cache lines (decision
  // 0166).
  /// Whether a process is attached, and how it runs.
  @usableFromInline private(set) var process = ClientExecution()
  /// Whether the client may use location, and with which accuracy.
  @usableFromInline private(set) var permission = ClientPermission()
  /// Whether one of the services is active or has a pending notice, or the accuracy is reduced; false for most clients.
  public private(set) var usesServices = false
  /// Its pending failure, and whether a location is available.
  private(set) var failures = ClientFailures()
  /// When the deferral's distance is checked, and until when another call is awaited.
  private var deferralTimes = DeferralTimes()
  /// Standard updates.
  private(set) var updates = ClientUpdates()
  /// Which fixes of the ring are for it, and which may be delivered.
  private(set) var delivery: ClientDelivery
  /// What the board stays awake for.
  private var acknowledgements = AcknowledgementHold()
  /// Whether fixes are recorded for it.
  private(set) var recording = ClientRecording()
  /// Its deferral.
  public private(set) var deferral = Deferral()
  /// Services that it uses in addition to updates.
  public private(set) var services = ClientServices()

  /// Creates a new client; fixes before `head` are not for it.
  public init(at head: UInt64) { self.init(delivery: ClientDelivery(at: head)) }

  // Not inlined: it writes each property, and both callers would contain it.
  @inline(never) init(delivery: consuming ClientDelivery) { self.delivery = delivery }

  /// Whether a process is attached.
  @inlinable public var isConnected: Bool { process.isConnected }
  /// Execution state of its process, or of the last one.
  @inlinable public var execution: ExecutionState { process.state }
  /// Authorization of the client.
  @inlinable public var authorization: Authorization { permission.authorization }
  /// Whether it may use location.
  @inlinable public var isAuthorized: Bool { permission.isAuthorized }
  /// Whether its accuracy is reduced (AUT-5).
  @inlinable public var isReduced: Bool { permission.isReduced }
  /// Earliest time at which the deferral's distance can have been travelled, as far as known; `.distantFuture` if no
  /// check is scheduled.
  public var distanceCheck: Instant { deferralTimes.distanceCheck }
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
    if !process.isSuspended, let live { return live }
    // Live updates have no queue (LIV-10): for a suspended client, only a background session keeps them running.
    let keepsLiveUpdates = live != nil && process.use.keepsRunning
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
    if process.isSuspended {
      return .deferred(check: deferral.criteria?.deadline ?? .distantFuture)
    }
    switch deferral.state {
    case .armed, .engaged:
      return .deferred(check: min(deferral.criteria?.deadline ?? .distantFuture, distanceCheck))
    case .idle:
      // Between the end of a deferral and the handler's next call the receiver keeps batching (X1).
      let rearmDeadline = deferralTimes.rearmDeadline
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

  /// Whether ``nextNotice(in:hold:)`` must be called: it may return a notice, or has returned the end of a deferral and
  /// not yet nil.
  public var hasNotices: Bool {
    guard isConnected else { return usesServices && services.hasNotices }
    guard !process.isSuspended else { return usesServices && services.hasDurableNotice }
    guard !delivery.waitsForDrain else { return services.hasRefusal }
    return !delivery.cursor.gap.isNil || recording.mustReport(at: cursor.delivered)
      || !delivery.ends.isEmpty
      || failures.pending != nil
      || permission.hasUnreportedChange || services.hasPauseNotice
      || delivery.isDue || delivery.finalBatchEnd != nil
      || (usesServices && services.hasNotices) || hasUnreportedShed
  }

  /// The newest fix that was delivered to it: Core Location's `location` (STD-8). Nil if there was none, or if the ring
  /// no longer contains it.
  public func location(in ring: borrowing FixRing) -> StoredFix? {
    isReduced ? delivery.newestCoarse : delivery.newestDelivered.flatMap { ring.stored(at: $0) }
  }

  /// Whether updates run: started, not paused (DEF-4) and not shed.
  var isRunning: Bool {
    updates.isRunning && !services.pause.isPaused && isGranted(.updates)
  }
}

// MARK: - Events

extension Client {
  /// Whether a fix may be for the client: it is authorized and was when the fix was acquired, and it uses services, or
  /// the fix is for its updates.
  public func mayNeed(_ fix: Fix) -> Bool {
    isAuthorized && !permission.isDenied(fix) && (usesServices || updates.isFor(fix))
  }

  /// Handles a valid fix that was appended to the ring, the newest one: ``ClientContext/newest``.
  public mutating func accept(_ stored: StoredFix, _ context: ClientContext) {
    let fix = stored.fix
    failures.accept(isSuspended: process.isSuspended)
    recording.accept(fix, context)
    if usesServices { acceptForServices(stored, context) }
    guard isUpdating || updates.isStopping else { return }
    let newest = context.head - 1..<context.head
    guard !isHidden(fix), !isReduced else { return delivery.exclude(newest) }
    if services.shed.isFromPeriodWithoutUpdates(fix) { return excludeShedFix(context) }
    guard isUpdating else { return acceptAfterStop(fix, context) }
    let pause = services.handlePause(.fix(fix))
    switch pause {
    case .nothing:
      if services.pause.isPaused { return delivery.exclude(newest) }
    case .pause:
      updates.exemptFromFilter(context.head - 1)
      usesServices = true
    case .resume: break
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
    case .finish(let error):
      // The fix that met the criterion is the last of the final batch (DEF-35).
      finish(error, context)
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
  ///
  /// - Returns: When its services must be checked next even without a fix; `.distantFuture` if never.
  @discardableResult
  public mutating func elapse(_ context: ClientContext) -> Instant {
    var check = servicesCheck
    if check <= context.now || services.live.count > 0 {
      elapseServices(context)
      check = servicesCheck
    }
    if deferral.state != .idle { elapseDeferral(context) }
    if context.shed != services.shed.battery {
      updateShed(context)
      check = servicesCheck
    }
    if process.isSuspended || isQueueFull { updateQueue(context) }
    return isConnected ? check : .distantFuture
  }

  /// When its services must be checked next, whether or not a process is attached; `.distantFuture` if never.
  private var servicesCheck: Instant {
    @inline(__always) get { usesServices ? services.check : .distantFuture }
  }

  // Not inlined, so that the common call of `elapse` saves no registers (decision 0166); the same below.
  @inline(never) private mutating func elapseDeferral(_ context: ClientContext) {
    switch deferral.handle(.time(context.now)) {
    case .nothing: break
    case .flush: preconditionFailure("time must not flush a deferral")
    case .finish(let error): finishAfterDrain(error, context)
    }
  }

  @inline(never) private mutating func elapseServices(_ context: ClientContext) {
    if services.check <= context.now {
      services.elapse(at: context.now, newest: context.newest(after: permission.deniedUntil))
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

  /// Metres that remain of the deferral's distance, if its next check must be scheduled (DEF-21); nil if it already is,
  /// or if no check is needed: then an earlier one is cancelled.
  ///
  /// - Parameter receiverBuffers: Whether fixes stay in the receiver's buffer.
  public mutating func distanceToCheck(receiverBuffers: Bool) -> Double? {
    // The end of a suspended client's deferral could not be delivered, so a wake for a check would be wasted (BKG-5).
    guard receiverBuffers, !process.isSuspended, let criteria = deferral.criteria,
      criteria.hasDistance
    else {
      deferralTimes.cancelCheck()
      return nil
    }
    guard distanceCheck == .distantFuture else { return nil }
    return max(criteria.distance - deferral.meter.length, 0)
  }

  /// Schedules the next check of the deferral's distance.
  public mutating func scheduleDistanceCheck(at time: Instant) {
    deferralTimes.scheduleCheck(at: time)
  }

  /// Handles the end of a drain: all fixes of the receiver's buffer are in the ring.
  public mutating func drainFinished(_ context: ClientContext) {
    deferralTimes.cancelCheck()
    // The handler's time for another call starts when it is notified, not when the criterion was met (X1).
    if delivery.waitsForDrain { awaitCall(context) }
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
    let code = LocationErrorCode.deferredFailed
    if case .finish(let error) = deferral.handle(.end(code)) {
      finish(error, context)
      failures.allowReport()
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
    failures.locationBecameUnknown()
    setLiveFlags(context)
    if isConnected && isAuthorized && awaitsFixes { failures.reportLocationUnknown() }
  }

  /// Whether it started a service that reports a missing location to its delegate.
  private var awaitsFixes: Bool {
    (isUpdating && isGranted(.updates))
      || (services.significant.state != .idle && isGranted(.significantChange))
      || (services.visits.state != .idle && isGranted(.visits))
  }

  /// Prepares for the oldest fix being overwritten: the cursor advances first (RNG-4).
  public mutating func prepareOverwrite(in ring: borrowing FixRing) {
    delivery.prepareOverwrite(in: ring)
  }

  /// Whether the client must not receive the fix: the client is not authorized, or the fix was acquired before the
  /// client became authorized or started updates, however late the receiver delivered it.
  private func isHidden(_ fix: Fix) -> Bool {
    !isAuthorized || permission.isDenied(fix) || updates.isHidden(fix)
  }

  /// Drops all fixes below `head`; none of them is ever delivered (RNG-6).
  private mutating func dropFixes(below head: UInt64) {
    delivery.drop(below: head, isOpen: isUpdating)
    recording.drop()
    updates.endStopping()
  }

  /// Queues the end of a deferral call, nil if a criterion was met; its batch contains the fixes that are in the ring.
  private mutating func finish(_ error: LocationErrorCode?, _ context: ClientContext) {
    append(PendingEnd(code: error, batchEnd: context.head), context)
  }

  private mutating func append(_ end: PendingEnd, _ context: ClientContext) {
    delivery.append(end, before: context.head)
    awaitCall(context)
    deferralTimes.cancelCheck()
  }

  /// The handler of a reported end may call again (X1).
  private mutating func awaitCall(_ context: ClientContext) {
    deferralTimes.awaitCall(until: context.now + context.deliveryHold)
  }

  /// Queues the end of the outstanding deferral as ``finish(_:_:)`` does. If the receiver may hold fixes of it, the end is
  /// reported after the drain.
  private mutating func finishAfterDrain(_ error: LocationErrorCode?, _ context: ClientContext) {
    if context.receiverBuffers { delivery.beginDrain() }
    let batchEnd = context.receiverBuffers ? .max : context.head
    append(PendingEnd(code: error, batchEnd: batchEnd), context)
  }
}

// MARK: - Recording

extension Client {
  /// Marks the backlog as delivered, because it is read in bulk.
  private mutating func readBacklog(in ring: borrowing FixRing, _ context: ClientContext) {
    guard canReceiveFixes else { return }
    recording.markReported()
    guard delivery.deliverBacklog(in: ring) else { return }
    noteDelivery(of: cursor.delivered - 1, hold: context.now + context.deliveryHold)
  }

  /// Whether fixes are acquired for the client's updates: always while it runs; while it is suspended until its queue
  /// is full, and as long as a deferral or a background session lasts (BKG-2, BKG-5).
  var isAcquiring: Bool {
    @inline(__always) get {
      !process.isSuspended || !isQueueFull || process.use.keepsRunning || deferral.state != .idle
    }
  }

  /// Whether at least N fixes lie between the client's position and the head (RNG-1).
  @inline(__always) func hasReachedLimit(_ context: ClientContext) -> Bool {
    delivery.hasReached(context.deferralLimit, at: context.head)
  }

  /// Whether no fix was delivered since updates started and, for a suspended client, none is in its queue.
  public func awaitsFirstFix(_ context: ClientContext) -> Bool {
    guard updates.awaitsFirstFix else { return false }
    return !process.isSuspended || cursor.delivered == context.head
  }

  /// Updates whether the queue of a suspended client is full.
  private mutating func updateQueue(_ context: ClientContext) {
    recording.setQueueFull(
      process.isSuspended && isUpdating
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
      isAssumed: isAssumed, gapStart: gapStart, coversFixes: bookmark.gapCoversFixes, until: start,
      recorder: recorder, slack: slack, in: ring)
    guard recorder == .holdsFixes else { return }
    delivery.open()
    updates.stop(drainingUntil: start + slack, delivers: false)
  }
}

// MARK: - After a power-off

extension Client {
  /// Continues the services of a restored client after the board was off (PWR-14): the fixes in the ring that they have
  /// used are handled again, without results. The requests that start the services follow and change nothing. O(fixes).
  public mutating func resume(
    from bookmark: ClientBookmark, after off: TimeOff, in ring: borrowing FixRing
  ) {
    guard bookmark.significantFrom != nil || bookmark.visitsFrom != nil else { return }
    services.replay(
      significantFrom: bookmark.significantFrom.map { ring.resumeSequence(from: $0) },
      visitsFrom: bookmark.visitsFrom.map { ring.resumeSequence(from: $0) }, after: off, in: ring)
    usesServices = services.hasActiveService
  }
}

// MARK: - Shed service levels

// Service levels that a client does not get while the battery is low (PWR-10). Its requests remain: when the battery is
// charged, the client gets the service again without another request.

extension Client {
  /// Service levels that are shed now, whether or not the client uses them.
  public var shed: ServiceLevelSet { services.shed.current }

  /// Whether the client gets this service level.
  @inline(__always) func isGranted(_ level: ServiceLevel) -> Bool { services.isGranted(level) }

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
  private mutating func updateShed(_ context: ClientContext) {
    let hadUpdates = isGranted(.updates), hadSignificantChange = isGranted(.significantChange)
    services.setShed(battery: context.shed, withheld: process.use.withheld, at: context.now)
    updateRegions(context)
    services.dropReportedShed(notUsedIn: usedLevels)
    if !hadSignificantChange && isGranted(.significantChange) { catchUp(context) }
    if !hadUpdates && isGranted(.updates) { failures.allowReport() }
    if let code = deferralEndCode, case .finish(let error) = deferral.handle(.end(code)) {
      finishAfterDrain(error, context)
      deferralTimes.endAwait()  // another call would fail, so batching need not continue
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

  /// Applies the newest fix acquired while significant change was shed.
  private mutating func catchUp(_ context: ClientContext) {
    guard !isReduced, let newest = context.newest(after: permission.deniedUntil) else { return }
    services.catchUp(newest, at: context.now)
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
  @inline(__always) private var hasUnreportedShed: Bool {
    services.shed.battery != services.shed.reported && services.shed.hasUnreported(of: usedLevels)
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
    // Without a process, results of services that work without one are reported: they launch the client (SLC-8, VIS-8).
    guard isConnected else { return usesServices ? nextServiceNotice(hold: hold) : nil }
    // `LocationServer` sends nothing to a suspended client but stores its visits and crossings durably, because this
    // record keeps only the latest ones (BKG-2, VIS-8).
    guard !process.isSuspended else { return usesServices ? services.nextDurableNotice() : nil }
    // A refusal does not wait for fixes.
    guard !delivery.waitsForDrain else { return services.nextRefusal() }
    if let notice = permission.nextNotice() { return notice }
    if let gap = delivery.takeGap()
      ?? recording.takeGap(at: cursor.delivered, isUpdating: isUpdating)
    {
      return .gap(gap)
    }
    if services.takePauseNotice(.resume) { return .resumed }
    if let batchEnd = delivery.finalBatchEnd {
      if let batch = nextBatch(in: ring, before: batchEnd, hold: hold) { return batch }
      delivery.finishFinalBatch()
    }
    if let end = delivery.popEnd() { return .finish(end.code) }
    if let batch = nextBatch(in: ring, before: .max, hold: hold) { return batch }
    if hasUnreportedShed { return services.reportShed(usedLevels) }
    if services.takePauseNotice(.pause) { return .paused }
    if let code = failures.takePending() { return .failure(code) }
    return nextServiceNotice(hold: hold)
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

  /// Records a report. One of the time with reduced accuracy is coarse even after the return to full accuracy: the fix
  /// of that name in the ring is not for the client (RNG-6).
  private mutating func noteReport(_ stored: StoredFix, hold: Instant) {
    delivery.noteReport(of: stored, isCoarse: isReduced || permission.isDenied(stored.fix))
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

  /// Returns all fixes up to the next hole as one batch, or a single fix if a distance filter is set; or the hole, if
  /// it comes first, as a gap. Nil if the first fix is denied or does not pass the filter (STD-4, STD-5).
  private mutating func nextRun(in ring: borrowing FixRing, until end: UInt64) -> Notice? {
    let first = cursor.delivered
    guard var newest = ring.stored(at: first) else { return hole(before: end, in: ring) }
    var position = first + 1
    let hasFilter = updates.settings.hasDistanceFilter
    guard !permission.isDenied(newest.fix), !hasFilter || updates.passesFilter(newest.fix, first)
    else {
      delivery.deliver(to: position, in: ring)
      return nil
    }
    while !hasFilter, position < end, let stored = ring.stored(at: position),
      !permission.isDenied(stored.fix)
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
    var position = cursor.delivered
    guard case .gap(let gap)? = ring.next(at: &position, before: end) else { return nil }
    delivery.deliver(to: position, in: ring)
    return .gap(gap)
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
    switch request.origin {
    case .service: break
    case .connection: guard isConnected else { return }
    case .process:
      guard isConnected else { return }
      if process.isSuspended { setExecution(.background, context) }
    }
    defer { usesServices = isReduced || services.hasActiveService || services.hasNotices }
    switch request {
    case .connect: connect(context)
    case .disconnect: disconnect(context)
    case .forget: if !isConnected { self = Client(at: context.head) }
    case .setExecution(let state): setExecution(state, context)
    case .acknowledge(let name): acknowledge(name, in: ring)
    case .readBacklog: readBacklog(in: ring, context)
    case .setAuthorization(let authorization): setAuthorization(authorization, context)
    case .setReducedAccuracy(let isReduced): setReduced(isReduced, context)
    case .setUse(let newUse):
      process.setUse(newUse)
      updateShed(context)
    case .startUpdating: startUpdating(context)
    case .stopUpdating: stopUpdating(context)
    case .setDesiredAccuracy(let accuracy):
      updates.setDesiredAccuracy(accuracy)
      endIfIncompatible(context)
    case .setDistanceFilter(let filter):
      updates.setDistanceFilter(filter)
      endIfIncompatible(context)
    case .allowDeferred(let distance, let timeout, let slack):
      allowDeferred(
        DeferralCriteria(
          distance: distance, timeout: timeout, slack: slack, calledAt: context.now), context)
    case .disallowDeferred: end(.deferredCanceled, context)
    case .setPausesAutomatically(let allowed): services.handlePause(.allow(allowed))
    case .setActivity(let activity): services.handlePause(.activity(activity))
    case .requestLocation: requestLocation(context)
    case .startSignificantChange: startSignificantChange(context)
    case .stopSignificantChange: services.stopSignificantChange()
    case .startVisits: startVisits(context)
    case .stopVisits: services.stopVisits(at: context.now)
    case .addRegion(let region, let assumed):
      services.addRegion(
        region, assuming: assumed, isRefused: authorization.isRefused, at: context.now)
    case .removeRegion(let identifier): services.removeRegion(identifier)
    case .requestRegionState(let identifier):
      services.requestRegionState(of: identifier, at: context.now)
    case .openLive(let configuration):
      if services.openLive(configuration, line: context.motionLine, at: context.now) {
        setLiveFlags(context)
      }
    case .closeLive(let iterator): services.closeLive(iterator)
    }
  }

  private mutating func connect(_ context: ClientContext) {
    if isConnected { disconnect(context) }
    process.connect()
    updates.resetSettings()
  }

  /// Detaches the process: its deferral ends without a notice; undelivered fixes stay in the ring (DEF-11).
  private mutating func disconnect(_ context: ClientContext) {
    endUpdating(delivers: false, context)
    deferral = Deferral()
    services.detach()
    permission.detach()
    deferralTimes.cancelCheck()
    recording.detach(context)
    failures.drop()
    acknowledgements.removeAll()
    updates.detach()
    process.disconnect()
    delivery.rewind()
  }

  private mutating func startUpdating(_ context: ClientContext) {
    services.handlePause(.line(context.motionLine, at: context.now))
    services.handlePause(.start)
    services.cancelRequest()
    guard !isUpdating else { return }
    updates.start(receiverBuffers: context.receiverBuffers, at: context.now)
    recording.startUpdates()
    failures.allowReport()
    delivery.resume(at: context.head)
    if !delivery.waitsForDrain { delivery.makeDue(before: context.head) }
    if authorization.isRefused { failures.report(.denied) }
    if isReduced && isGranted(.updates) { services.startReducedUpdates(at: context.now) }
    delivery.open()
  }

  private mutating func stopUpdating(_ context: ClientContext) {
    services.cancelRequest()
    guard isUpdating else { return }
    recording.stopUpdates()
    services.handlePause(.stop)
    end(.deferredCanceled, context)
    endUpdating(delivers: true, context)
    if !delivery.waitsForDrain { delivery.makeDue(before: context.head) }
    deferralTimes.endAwait()
    failures.drop()  // nothing follows the end of the deferral and its batch (DEF-37)
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

  /// Handles a call with these criteria; nil if one is invalid.
  private mutating func allowDeferred(_ criteria: DeferralCriteria?, _ context: ClientContext) {
    services.cancelRequest()  // DEF-44
    let failure = DeferralPreconditions.failure(
      isRefused: authorization.isRefused,
      isAvailable: context.isDeferralAvailable && criteria != nil,
      isUpdating: isRunning, settings: grantedSettings)
    guard let criteria, failure == nil else {
      // The previous call is cancelled even if this one fails (DEF-14).
      let deadline = deferral.state == .idle ? deferralTimes.rearmDeadline : nil
      end(.deferredCanceled, context)
      finish(failure ?? .deferredFailed, context)
      // No deferral was outstanding: the failed call does not prolong batching.
      if let deadline { deferralTimes.awaitCall(until: deadline) }
      return
    }
    var start = isAuthorized ? context.newest?.fix : nil
    if let fix = start, context.now - fix.acquired > Client.freshness { start = nil }
    switch deferral.handle(.call(criteria, start: start)) {
    case .nothing: break
    case .flush: preconditionFailure("a call must not flush a deferral")
    case .finish(let error): finishAfterDrain(error, context)
    }
    deferralTimes.endAwait()
    elapse(context)  // a timeout of 0 is met immediately (DEF-23)
  }

  /// Ends an outstanding deferral with `code`; does nothing if none exists.
  private mutating func end(_ code: LocationErrorCode, _ context: ClientContext) {
    if case .finish(let error) = deferral.handle(.end(code)) { finishAfterDrain(error, context) }
  }

  /// Ends a deferral that is incompatible with the new settings (DEF-39).
  private mutating func endIfIncompatible(_ context: ClientContext) {
    guard deferral.state != .idle else { return }
    if let code = DeferralPreconditions.incompatibility(of: updates.settings) { end(code, context) }
  }

  private mutating func setExecution(_ state: ExecutionState, _ context: ClientContext) {
    guard process.setState(state) else { return }
    recording.end(context)
    guard isUpdating else { return }
    if deferral.state != .engaged || hasReachedLimit(context) {
      delivery.makeDue(before: context.head)
    }
    // The handler of an end that is reported now may call again (X1).
    if !delivery.ends.isEmpty { awaitCall(context) }
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
    permission.setAuthorization(new, isConnected: isConnected, at: context.now)
    setLiveFlags(context)
    if isAuthorized != wasAuthorized {
      hideFixes(context)
      updateRegions(context)
      failures.allowReport()
    }
    if !isAuthorized && wasAuthorized {
      delivery.endDrain()
      services.withhold(at: context.now)
    }
    if new.isRefused && !wasRefused { refuse(context) }
    // The refusal ended before a suspended client was notified.
    if !new.isRefused { failures.withdraw(.denied) }
    startPending(context)
  }

  /// Ends all its requests.
  private mutating func refuse(_ context: ClientContext) {
    if case .finish(let error) = deferral.handle(.end(.denied)) { finish(error, context) }
    if isUpdating || services.canRunWithoutProcess || services.areVisitsRequested {
      failures.report(.denied)
    }
    services.deny()
  }

  /// Drops all fixes up to now; none of them is ever delivered (RNG-6).
  private mutating func hideFixes(_ context: ClientContext) {
    dropFixes(below: context.head)
    services.hideFixes(before: context.head)
    delivery.limitBatches(to: context.head)
  }

  /// Applies a change between full and reduced accuracy. Reduced: the deferral ends, and no precise fix is delivered
  /// any more (DEF-41, AUT-6). Full: fixes acquired from now on are delivered with full accuracy.
  private mutating func setReduced(_ reduced: Bool, _ context: ClientContext) {
    guard reduced != isReduced else { return }
    permission.setReduced(reduced, isConnected: isConnected, at: context.now)
    services.accuracyChanged()
    updateRegions(context)
    setLiveFlags(context)
    hideFixes(context)
    guard reduced else { return startPending(context) }
    delivery.endDrain()
    services.discardPrecise()
    if case .finish(let error) = deferral.handle(.end(.deferredAccuracyTooLow)) {
      finish(error, context)
    }
  }
}

// MARK: - Fixes needed in the ring

extension Client {
  /// Whether precise fixes may be delivered to it at all.
  @inlinable public var canReceiveFixes: Bool { permission.allowsFixes }

  /// Whether it may receive this fix with full accuracy, now or later (RNG-6).
  @inlinable public func mayReceive(_ fix: Fix) -> Bool {
    canReceiveFixes && !permission.isDenied(fix)
  }

  /// First sequence number that it needs in the ring: its unacknowledged fixes, and the newest one delivered (STD-8).
  /// The greatest number if it needs none.
  public var neededFrom: UInt64 {
    guard canReceiveFixes else { return .max }
    return min(delivery.neededFrom, newestDelivered ?? .max)
  }
}

// MARK: - Services

extension Client {
  private mutating func startVisits(_ context: ClientContext) {
    guard !authorization.isRefused else { return failures.report(.denied) }
    services.requestVisits()
    if services.visits.state == .idle { failures.allowReport() }
    startPending(context)
  }

  /// Starts pending requests that are now allowed: visits (VIS-2), and a single request (AUT-11). Ends visits that are
  /// not.
  private mutating func startPending(_ context: ClientContext) {
    services.updateVisits(
      isAllowed: authorization == .always && !isReduced, line: context.motionLine, at: context.now,
      head: context.head)
    guard isAuthorized, services.takePendingRequest() else { return }
    requestLocation(context)
  }

  /// Starts significant change. A cached fix may be reported first, if the client may receive it (SLC-5, AUT-3).
  private mutating func startSignificantChange(_ context: ClientContext) {
    guard !authorization.isRefused else { return failures.report(.denied) }
    if services.significant.state == .idle { failures.allowReport() }
    services.startSignificantChange(
      at: context.now, cached: isAuthorized ? newestVisible(context) : nil, head: context.head)
  }

  /// The newest fix that the client may receive; with reduced accuracy, its last coarse one.
  private func newestVisible(_ context: ClientContext) -> StoredFix? {
    isReduced
      ? services.coarse.valid(at: context.now) : context.newest(after: permission.deniedUntil)
  }

  private mutating func requestLocation(_ context: ClientContext) {
    guard !authorization.isRefused else { return failures.report(.denied) }
    guard isAuthorized else { return services.postponeRequest(!isUpdating) }
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
    guard isGranted(.updates) else { return services.answerRequest(with: recent) }
    services.requestLocation(parameters, recent: recent)
  }

  /// Regions are inactive without authorization, with reduced accuracy, and if they are shed (REG-15).
  private mutating func updateRegions(_ context: ClientContext) {
    services.setRegionsInactive(!canReceiveFixes || !isGranted(.regions), at: context.now)
  }

  /// Hands a fix to the services, for a client with reduced accuracy as a coarse one.
  private mutating func acceptForServices(_ stored: StoredFix, _ context: ClientContext) {
    guard isAuthorized, !permission.isDenied(stored.fix) else {
      return services.hideFixes(before: context.head)
    }
    if isReduced {
      services.acceptReduced(stored, isUpdating: isUpdating, at: context.now)
    } else {
      services.accept(stored, at: context.now)
    }
  }

  /// Ends the deferral before the pause is reported (DEF-38).
  private mutating func endForPause(_ context: ClientContext) {
    if case .finish(let error) = deferral.handle(.end(.deferredNotUpdatingLocation)) {
      finish(error, context)
    }
    // Updates are paused, so batching need not continue for another call.
    deferralTimes.endAwait()
  }

  /// Computes the flags of live updates (LIV-6, LIV-7).
  private mutating func setLiveFlags(_ context: ClientContext) {
    guard services.live.count > 0 else { return }
    var flags = process.use.flags.union(authorization.liveFlags)
    if isReduced { flags = flags.union(.accuracyLimited) }
    if failures.isLocationUnknown || !context.hasReceiver
      || services.shed.battery.contains(.updates)
    {
      flags = flags.union(.locationUnavailable)
    }
    services.setLiveFlags(flags)
  }

  /// Handles a report of the motion line.
  public mutating func motionLineChanged(_ line: MotionLine, at now: Instant) {
    services.motionLineChanged(line, at: now)
  }

  /// Handles an acquisition for single fixes that ended without a fix (PWR-7).
  public mutating func acquisitionFailed(at now: Instant) {
    services.acquisitionFailed(at: now)
  }

  /// The single fixes that its services need.
  public func fixNeed(at now: Instant, speed: PlausibleSpeed, line: MotionLine) -> FixNeed {
    guard usesServices, isAuthorized, isConnected || services.canRunWithoutProcess else {
      return FixNeed()
    }
    let isRunning = process.isRunning
    if isReduced {
      return services.reducedFixNeed(at: now, isRunning: isRunning, isUpdating: isUpdating)
    }
    return services.fixNeed(
      at: now, speed: speed, line: line, isRunning: isRunning,
      isPaused: isUpdating && services.pause.isPaused && isAcquiring)
  }
}
