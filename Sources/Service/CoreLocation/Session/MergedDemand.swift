import LocationPolicy
import LocationTypes
import LocationWire

/// The demands of a process's location managers, merged into the demand of one client of the service.
///
/// # Problem
///
/// A process is one client (AUT-2), which has one set of settings, one deferral and one stream of fixes. Its managers
/// have settings, filters and deferrals of their own. This value decides which manager gets which notice, in the order of
/// the contract. Its parts decide what the service is asked for: ``ServiceLink`` settings, updates and execution state,
/// ``ServiceDeferrals`` deferrals, ``DurableServices`` significant change and visits. It is pure: time comes in as an
/// argument, calls and deliveries go out as ``Effects``; ``LocationSession`` carries them out.
///
/// # Deferrals
///
///                  one manager runs                    several run, or the others stopped later
///     allow ─────→ forwarded: the service counts, ───→ held: the manager's fixes are kept here until its
///                  its finish and batch pass through   own criterion is met; then finish and one batch
///                                │ service's finish                  │ criterion, cancellation, error
///                                ↓                                   ↓
///                              none                                 none
///
/// While every running manager holds, the service is asked for a deferral with the smallest remaining distance and
/// time, so that the board can sleep.
///
/// # Invariants
///
/// - Each `allowDeferredLocationUpdates` has exactly one finish, over losses of the connection too (DEF-8).
/// - A deferral is forwarded only while its manager is the only running one, or none runs.
/// - A fix is offered to each manager once, in order (RNG-3); ``received`` counts the managers that got it or hold it.
struct MergedDemand: Sendable {
  /// Identifies a manager.
  typealias ManagerID = Int

  /// A call of one of the delegate's methods.
  enum Delivery: Equatable, Sendable {
    /// `didUpdateLocations`. Dropped if `run` is not nil and no longer the manager's run of updates.
    case fixes([StoredFix], run: Int?)
    case finished(LocationErrorCode?)
    case paused
    case resumed
    case failure(LocationErrorCode)
    case visit(Visit, number: UInt32)
    case authorization
  }

  /// What must be done after a change.
  struct Effects: Sendable {
    /// Calls to the service, in order.
    var calls: [WireCall] = []
    /// Deliveries, in order.
    var deliveries: [(manager: ManagerID, delivery: Delivery)] = []
    /// Fixes that arrived, with the number of managers that have to handle them.
    var received: [(name: FixName, managers: Int)] = []
    /// Fixes that a manager will not handle any more.
    var released: [FixName] = []
    /// Visits that arrived, with the number of managers that have to handle them.
    var visits: [(number: UInt32, managers: Int)] = []
    /// Whether the process lost the right to fixes: those that no delegate has received yet are dropped (RNG-6).
    var dropsFixes = false
  }

  /// How many fixes a deferral keeps in the process (DEF-31).
  static let heldCapacity = 4_096

  private(set) var managers: [ManagerID: ManagerDemand] = [:]
  private(set) var effects = Effects()
  private var link = ServiceLink()
  private var deferrals = ServiceDeferrals()
  private var durable = DurableServices()
  private var latest = LatestFixes()
  /// Managers that have not received the authorization yet.
  private var uninformed: Set<ManagerID> = []

  /// Returns and clears the effects.
  mutating func takeEffects() -> Effects {
    defer { effects = Effects() }
    return effects
  }

  /// What the connection was asked for; nil without a connection.
  var service: ServiceDemand? { link.demand }

  /// Whether updates can be deferred (DEF-7).
  var isDeferralAvailable: Bool { link.isDeferralAvailable }

  /// The client's authorization.
  var authorization: Authorization { link.authorization }

  /// Whether accuracy is reduced (AUT-5).
  var isReduced: Bool { link.isReduced }

  private var identifiers: [ManagerID] { managers.keys.sorted() }
  private var running: [ManagerID] { identifiers.filter { managers[$0]?.isUpdating == true } }

  private mutating func deliver(_ delivery: Delivery, to id: ManagerID) {
    effects.deliveries.append((id, delivery))
  }

  private mutating func call(_ call: WireCall?) {
    if let call, service != nil { effects.calls.append(call) }
  }

  /// Whether the manager uses a service that reports failures.
  private func usesService(_ id: ManagerID) -> Bool {
    guard let manager = managers[id] else { return false }
    return manager.isUpdating || manager.requestsLocation || durable.areUsed(by: id)
  }

  // MARK: Managers

  /// Adds a manager, which receives the authorization as soon as it is known.
  mutating func add(_ id: ManagerID) {
    managers[id] = ManagerDemand()
    if service != nil { deliver(.authorization, to: id) } else { uninformed.insert(id) }
  }

  /// Whether a delivery with that number belongs to the manager's present run of updates.
  func isCurrent(run: Int, of id: ManagerID) -> Bool { managers[id]?.run == run }

  /// Removes a manager with its whole demand.
  mutating func remove(_ id: ManagerID, at now: Instant) {
    stop(id, at: now)
    if durable.isUsed(.significantChange, by: id) { setSignificantChange(id, false) }
    if durable.isUsed(.visits, by: id) { setVisits(id, false) }
    managers[id] = nil
    reconcile(at: now)
  }

  /// Changes a manager's settings.
  mutating func change(
    _ id: ManagerID, at now: Instant, _ change: (inout ManagerDemand) -> Void
  ) {
    guard var manager = managers[id] else { return }
    change(&manager)
    managers[id] = manager
    if manager.holdsFixes,
      let code = DeferralPreconditions.incompatibility(of: manager.settings)
    {
      finish(id, code)
    }
    reconcile(at: now)
  }

  /// `startUpdatingLocation()` (STD-3).
  mutating func start(_ id: ManagerID, at now: Instant) {
    guard var manager = managers[id] else { return }
    manager.requestsLocation = false
    let wasUpdating = manager.isUpdating
    if !wasUpdating { manager.begin() }
    managers[id] = manager
    if wasUpdating {
      // A new start ends a pause (PAU-4).
      if link.isPaused { call(.startUpdating) }
      return
    }
    let wasRunning = service?.isUpdating ?? false
    reconcile(at: now)
    if link.isAbsent { deliver(.failure(.locationUnknown), to: id) }
    guard wasRunning else { return }
    // The service is running for another manager: it reports neither a failure nor an initial fix again.
    if authorization.isRefused { return deliver(.failure(.denied), to: id) }
    if link.isPaused { return call(.startUpdating) }
    if let last = latest.fix, !offer([last], to: id, at: now).isEmpty {
      effects.received.append((last.name, 1))
    }
  }

  /// `stopUpdatingLocation()` (DEF-37).
  mutating func stop(_ id: ManagerID, at now: Instant) {
    guard var manager = managers[id] else { return }
    manager.requestsLocation = false
    guard manager.isUpdating else {
      managers[id] = manager
      return
    }
    manager.end(at: now)
    managers[id] = manager
    cancel(id)
    reconcile(at: now)
  }

  /// `requestLocation()` (STD-11).
  mutating func request(_ id: ManagerID, at now: Instant) {
    guard let manager = managers[id], !manager.isUpdating, !manager.requestsLocation else { return }
    managers[id]?.requestsLocation = true
    managers[id]?.requestDeadline = now + LocationRequest.timeout
    if authorization.isRefused || link.isAbsent {
      managers[id]?.requestsLocation = false
      return deliver(.failure(link.isAbsent ? .locationUnknown : .denied), to: id)
    }
    reconcile(at: now)
  }

  /// Starts or stops the monitoring of significant changes (SLC-9).
  mutating func setSignificantChange(_ id: ManagerID, _ isOn: Bool) {
    let had = durable.isUsed(.significantChange, by: id)
    set(.significantChange, isOn, id)
    if isOn, !had, let report = durable.report {
      // The service runs for another manager, and reports no initial position again.
      effects.received.append((report.name, 1))
      deliver(.fixes([report], run: nil), to: id)
    }
  }

  /// Starts or stops the monitoring of visits.
  mutating func setVisits(_ id: ManagerID, _ isOn: Bool) {
    set(.visits, isOn, id)
    guard isOn, managers[id] != nil else { return }
    for (visit, number) in durable.consumeVisits() {
      deliver(.visit(visit, number: number), to: id)
    }
  }

  private mutating func set(_ kind: DurableServices.Kind, _ isOn: Bool, _ id: ManagerID) {
    guard managers[id] != nil else { return }
    guard isOn else { return call(durable.stop(kind, for: id, isConnected: service != nil)) }
    if authorization.isRefused, durable.isUsed(kind), !durable.isUsed(kind, by: id) {
      deliver(.failure(.denied), to: id)
    }
    call(durable.start(kind, for: id))
  }

  // MARK: Deferrals

  /// `allowDeferredLocationUpdates(untilTraveled:timeout:)` (section DEF).
  mutating func allowDeferred(
    _ id: ManagerID, distance: Double, timeout: Double, at now: Instant
  ) {
    guard managers[id] != nil else { return }
    if link.isClosed { return deliver(.finished(.deferredFailed), to: id) }
    managers[id]?.requestsLocation = false
    managers[id]?.isDeferring = true
    cancel(id)
    let criteria = DeferralCriteria(distance: distance, timeout: timeout, calledAt: now)
    let meter = meter(at: now)
    let number = deferrals.nextCall()
    let isAlone = running.allSatisfy { $0 == id }
    if isAlone {
      if service == nil, criteria == nil { return deliver(.finished(.deferredFailed), to: id) }
      managers[id]?.deferral = criteria.map {
        OutstandingDeferral(
          call: number, criteria: $0, meter: meter, isForwarded: true)
      }
      deferrals.abandonMerged()
      // The call cancels a request (DEF-44): those of other managers are sent again.
      link.endRequest()
      deferrals.forward(id, call: number)
      // The socket cannot carry NaN and infinities: invalid criteria are sent as a negative distance (DEF-23).
      let isValid = criteria != nil
      call(.allowDeferred(distance: isValid ? distance : -1, timeout: isValid ? timeout : -1))
      return reconcile(at: now)
    }
    guard let manager = managers[id] else { return }
    let failure = DeferralPreconditions.failure(
      isRefused: authorization.isRefused,
      isAvailable: (isDeferralAvailable || service == nil) && criteria != nil,
      isUpdating: manager.isUpdating && !link.isPaused, settings: manager.settings)
    guard failure == nil, let criteria else {
      return deliver(.finished(failure ?? .deferredFailed), to: id)
    }
    managers[id]?.deferral = OutstandingDeferral(
      call: number, criteria: criteria, meter: meter, isForwarded: false)
    if deferrals.endsWithMerged {
      // Ask again, because this deferral may be the shortest one.
      deferrals.abandonMerged()
      call(.disallowDeferred)
    }
    reconcile(at: now)
  }

  /// `disallowDeferredLocationUpdates()` (DEF-15).
  mutating func disallowDeferred(_ id: ManagerID, at now: Instant) {
    managers[id]?.isDeferring = false
    if !holds(id), managers[id]?.deferral != nil { call(.disallowDeferred) }
    cancel(id)
    reconcile(at: now)
  }

  /// The program ends a manager's deferral. If it was forwarded, the service sends its finish and batch.
  private mutating func cancel(_ id: ManagerID) {
    if holds(id) { return finish(id, .deferredCanceled) }
    guard service != nil else {
      // A call of before the next connection.
      let isForwarded = deferrals.isForwarded(by: id)
      deferrals.removeForwarded(by: id)
      managers[id]?.deferral = nil
      if isForwarded { deliver(.finished(.deferredCanceled), to: id) }
      return
    }
    managers[id]?.deferral = nil
    deferrals.cancel(by: id)
  }

  /// A path that starts at the last fix if it is at most 10 s old (DEF-19).
  private func meter(at now: Instant) -> PathMeter {
    guard let last = latest.fix?.fix, now - last.acquired <= .seconds(10) else {
      return PathMeter(from: nil)
    }
    return PathMeter(from: last)
  }

  /// Ends a deferral: finish, then the fixes that it kept (X1, DEF-34).
  private mutating func finish(_ id: ManagerID, _ code: LocationErrorCode?) {
    guard let held = managers[id]?.endDeferral() else { return }
    deliver(.finished(code), to: id)
    if !held.isEmpty { deliver(.fixes(held, run: nil), to: id) }
  }

  /// Time at which ``endDue(at:)`` must be called; `.distantFuture` if never.
  var deadline: Instant {
    if let deadline = deferrals.batchDeadline { return deadline }
    let requests = managers.values.lazy.filter { isInProcess($0) }.compactMap(\.requestDeadline)
    let timeouts = managers.values.lazy.filter { countsHere($0) }
      .compactMap(\.deferral?.criteria.deadline)
    let request = requests.min() ?? .distantFuture
    guard let timeout = timeouts.min(), timeout < .distantFuture else { return request }
    return min(request, timeout + deferrals.timeoutWait)
  }

  /// Whether the timeout of a manager's deferral is met by the process's clock: while it keeps its fixes here, and while
  /// no service counts.
  private func countsHere(_ manager: ManagerDemand) -> Bool {
    manager.holdsFixes || link.isAbsent && manager.deferral != nil
  }

  /// Whether a request waits for a fix of another manager's updates, so that the service does not answer it.
  private func isInProcess(_ manager: ManagerDemand) -> Bool {
    manager.requestsLocation && service?.isUpdating == true
  }

  /// Passes the error of a merged deferral, whose batch has arrived, to the managers.
  private mutating func passMergedError() {
    guard let code = deferrals.consumeMergedError() else { return }
    for id in running where holds(id) { finish(id, code) }
  }

  /// Ends the deferrals whose time is over, after all notices that have arrived.
  mutating func endDue(at now: Instant) {
    if deferrals.awaitsBatch(at: now) { return }
    passMergedError()
    deferrals.endBatch()
    for id in identifiers {
      guard let manager = managers[id] else { continue }
      if countsHere(manager), let deferral = manager.deferral,
        deferral.isOver(at: now - deferrals.timeoutWait)
      {
        deferrals.removeForwarded(by: id, call: deferral.call)
        finish(id, nil)
      }
      if isInProcess(manager), manager.requestDeadline.map({ $0 <= now }) == true {
        answerRequest(of: id)
      }
    }
    reconcile(at: now)
  }

  /// Ends a request that got no fix in time: the newest fix, or an error (STD-11).
  private mutating func answerRequest(of id: ManagerID) {
    managers[id]?.requestsLocation = false
    guard let last = latest.fix else { return deliver(.failure(.locationUnknown), to: id) }
    effects.received.append((last.name, 1))
    deliver(.fixes([last], run: nil), to: id)
  }

  private func holds(_ id: ManagerID) -> Bool { managers[id]?.holdsFixes == true }

  // MARK: The service's demand

  /// Applies the difference between the demand of the managers and what the service was asked for.
  private mutating func reconcile(at now: Instant) {
    guard service != nil else { return }
    for call in link.request(for: managers.values) { effects.calls.append(call) }
    reconcileDeferral(running, at: now)
    call(link.requestExecution(for: managers.values))
  }

  private mutating func reconcileDeferral(_ running: [ManagerID], at now: Instant) {
    if running.count > 1 {
      // The service counts for one manager only: keep its fixes here from now on.
      for id in running {
        guard let deferral = managers[id]?.deferral, deferral.isForwarded else { continue }
        managers[id]?.deferral?.isForwarded = false
        deferrals.mergeForwarded(by: id, call: deferral.call)
        if let settings = managers[id]?.settings,
          let code = DeferralPreconditions.incompatibility(of: settings)
        {
          finish(id, code)
        }
      }
    }
    let isRequired = !running.isEmpty && running.allSatisfy { holds($0) }
    let isAsked = deferrals.hasMerged
    if isAsked, !isRequired {
      deferrals.abandonMerged()
      if hasForwarded(running) { return }
      return call(.disallowDeferred)
    }
    guard isRequired, !isAsked, isDeferralAvailable, !link.isPaused else { return }
    let own = running.compactMap { managers[$0]?.deferral }
    let distance = own.map(\.remainingDistance).min() ?? LocationLimits.distanceMax
    let time =
      own.map { $0.remainingTime(at: now) }.min() ?? LocationLimits.timeIntervalMax
    deferrals.merge()
    call(.allowDeferred(distance: distance, timeout: time))
  }

  private func hasForwarded(_ running: [ManagerID]) -> Bool {
    running.contains { managers[$0]?.deferral?.isForwarded == true }
  }

  /// The process has live loops, or none any more: while it has, it stays in the foreground.
  mutating func setLoops(exist: Bool) {
    link.setLoops(exist: exist)
    call(link.requestExecution(for: managers.values))
  }

  /// The service refused updates in the background (BKG-18).
  mutating func backgroundRefused(at now: Instant) {
    link.refuseBackground()
    reconcile(at: now)
  }

  // MARK: Connection

  /// A connection was opened: requests everything that the managers demand.
  mutating func connected(_ session: WireSession, at now: Instant) {
    link.connect(session)
    setAuthorization(session.authorization, isReduced: session.isReduced)
    for id in uninformed.sorted() { deliver(.authorization, to: id) }
    uninformed = []
    if link.isPaused {
      // The new process of the client is not paused; the callbacks alternate (PAU-3).
      for id in running { deliver(.resumed, to: id) }
      link.setPaused(false)
    }
    for start in durable.connectionCalls() { call(start) }
    if !isDeferralAvailable { for id in running where holds(id) { finish(id, .deferredFailed) } }
    let forwarded = deferrals.consumeAll()
    reconcile(at: now)
    for owner in forwarded {
      // One that was taken into the process meanwhile is not forwarded again.
      guard case .forwarded(let id, let number) = owner, let deferral = managers[id]?.deferral,
        deferral.call == number, deferral.isForwarded
      else { continue }
      deferrals.forward(id, call: number)
      call(
        .allowDeferred(
          distance: deferral.remainingDistance, timeout: deferral.remainingTime(at: now)))
    }
    call(link.requestExecution(for: managers.values))
  }

  /// The connection was lost, or none could be opened: each service that waits for a location reports so, once.
  mutating func disconnected() {
    link.disconnect()
    var kept: [ServiceDeferrals.Owner] = []
    for owner in deferrals.consumeAll() {
      switch owner {
      case .forwarded(let id, let number):
        if managers[id]?.deferral?.call == number {
          // The next connection is asked for the remainder.
          kept.append(owner)
        } else {
          // Its criteria are invalid (DEF-23).
          deliver(.finished(.deferredFailed), to: id)
        }
      case .cancelled(let id): deliver(.finished(.deferredCanceled), to: id)
      case .merged, .abandoned: break
      }
    }
    deferrals.disconnect(keeping: kept)
    for id in identifiers {
      managers[id]?.awaitsFinalBatch = false
      guard usesService(id) else { continue }
      managers[id]?.requestsLocation = false
      deliver(.failure(.locationUnknown), to: id)
    }
  }

  /// No connection will be opened any more (AUT-2): ends all deferrals, those of later calls immediately.
  mutating func close() {
    disconnected()
    link.close()
    deferrals.disconnect(keeping: [])
    for id in identifiers { finish(id, .deferredFailed) }
  }

  // MARK: Notices

  /// Fixes of the running updates, oldest first.
  mutating func receive(_ fixes: [StoredFix], at now: Instant) {
    let new = fixes.filter { stored in latest.name.map { $0 < stored.name } ?? true }
    guard let last = new.last else { return }
    deferrals.recordFixes(new.count, at: now)
    latest.name = last.name
    var counts = [Int](repeating: 0, count: new.count)
    for id in identifiers {
      guard let manager = managers[id] else { continue }
      if manager.isUpdating {
        for i in offer(new, to: id, at: now) { counts[i] += 1 }
        continue
      }
      let final = manager.finalBatch(of: new)
      if !final.isEmpty {
        for i in final.indices { counts[i] += 1 }
        deliver(.fixes(Array(final), run: nil), to: id)
      }
      if final.count < new.count {
        managers[id]?.awaitsFinalBatch = false
        guard manager.requestsLocation else { continue }
        managers[id]?.requestsLocation = false
        counts[new.count - 1] += 1
        deliver(.fixes([last], run: nil), to: id)
      }
    }
    for (stored, count) in zip(new, counts) { effects.received.append((stored.name, count)) }
    latest.fix = last
  }

  /// Offers fixes to a running manager; returns the indices of those that it gets or keeps.
  @discardableResult
  private mutating func offer(_ fixes: [StoredFix], to id: ManagerID, at now: Instant) -> [Int] {
    var accepted: [Int] = []
    var batch: [StoredFix] = []
    let applied = service?.settings.distanceFilter ?? LocationLimits.distanceFilterNone
    for (i, stored) in fixes.enumerated() {
      guard let acceptance = managers[id]?.accept(stored, applied: applied) else { break }
      switch acceptance {
      case .kept(let meetsDistance):
        accepted.append(i)
        if meetsDistance { finish(id, nil) } else { deliverFullCache(of: id) }
      case .delivered:
        accepted.append(i)
        batch.append(stored)
      case .filtered: break
      }
    }
    if !batch.isEmpty { deliver(.fixes(batch, run: managers[id]?.run), to: id) }
    return accepted
  }

  /// When a deferral keeps as many fixes as it may, they are delivered without a finish, and it continues (DEF-31,
  /// DEF-32).
  private mutating func deliverFullCache(of id: ManagerID) {
    guard managers[id]?.held.count ?? 0 >= MergedDemand.heldCapacity,
      let held = managers[id]?.consumeHeld()
    else { return }
    deliver(.fixes(held, run: nil), to: id)
  }

  /// A fix of significant change, or of a request.
  mutating func receiveReport(_ stored: StoredFix) {
    link.endRequest()
    var count = 0
    for id in identifiers {
      guard managers[id]?.requestsLocation == true || durable.isUsed(.significantChange, by: id)
      else { continue }
      managers[id]?.requestsLocation = false
      count += 1
      deliver(.fixes([stored], run: nil), to: id)
    }
    effects.received.append((stored.name, count))
    durable.record(stored)
  }

  /// The end of a deferral of the service.
  mutating func receiveFinish(_ code: LocationErrorCode?, at now: Instant) {
    passMergedError()
    guard let owner = deferrals.consumeFinish() else { return }
    switch owner {
    case .forwarded(let id, let number):
      if managers[id]?.deferral?.call == number { managers[id]?.deferral = nil }
      deliver(.finished(code), to: id)
    case .cancelled(let id):
      if managers[id]?.isUpdating == false { managers[id]?.awaitsFinalBatch = true }
      deliver(.finished(code), to: id)
    case .merged: deferrals.awaitBatch(code, at: now)
    case .abandoned: break
    }
  }

  /// `didFailWithError`.
  mutating func receiveFailure(_ code: LocationErrorCode, at now: Instant) {
    passMergedError()
    for id in identifiers where usesService(id) {
      managers[id]?.requestsLocation = false
      deliver(.failure(code), to: id)
    }
    link.endRequest()
  }

  /// Updates paused (DEF-38, PAU-3, PAU-10).
  mutating func receivePause(at now: Instant) {
    passMergedError()
    link.setPaused(true)
    for id in running {
      if let skipped = managers[id]?.consumeSkipped() {
        effects.received.append((skipped.name, 1))
        deliver(.fixes([skipped], run: managers[id]?.run), to: id)
      }
      if holds(id) { finish(id, .deferredNotUpdatingLocation) }
      deliver(.paused, to: id)
    }
    reconcile(at: now)
  }

  /// Updates resumed.
  mutating func receiveResume(at now: Instant) {
    passMergedError()
    link.setPaused(false)
    for id in running { deliver(.resumed, to: id) }
  }

  /// A visit.
  mutating func receiveVisit(_ visit: Visit, number: UInt32) {
    let receivers = durable.managers(using: .visits)
    guard !receivers.isEmpty else {
      // The next manager that monitors visits handles it.
      effects.visits.append((number, 1))
      return durable.keep(visit, number: number)
    }
    effects.visits.append((number, receivers.count))
    for id in receivers { deliver(.visit(visit, number: number), to: id) }
  }

  /// `didChangeAuthorization`; then the ends of deferrals, whose fixes are erased (DEF-40, DEF-41, X7).
  mutating func receiveAuthorization(
    _ authorization: Authorization, isReduced: Bool, at now: Instant
  ) {
    setAuthorization(authorization, isReduced: isReduced)
    link.resetBackground()
    reconcile(at: now)
  }

  private mutating func setAuthorization(_ new: Authorization, isReduced reduced: Bool) {
    guard let loses = link.setAuthorization(new, isReduced: reduced) else { return }
    if loses {
      effects.dropsFixes = true
      // Fixes that arrived in the same round are counted in `received`.
      for case (_, .fixes(let fixes, _)) in effects.deliveries {
        effects.released += fixes.map(\.name)
      }
      effects.deliveries.removeAll { if case .fixes = $0.delivery { true } else { false } }
    }
    for id in identifiers {
      deliver(.authorization, to: id)
      uninformed.remove(id)
      guard loses else { continue }
      effects.released += managers[id]?.held.map(\.name) ?? []
      managers[id]?.held = []
      managers[id]?.skipped = nil
      managers[id]?.awaitsFinalBatch = false
      if holds(id) { finish(id, new.isRefused ? .denied : .deferredAccuracyTooLow) }
    }
    if loses {
      latest.fix = nil
      durable.dropReport()
    }
  }
}
