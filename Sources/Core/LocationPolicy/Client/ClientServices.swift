import DeferralCache
import LocationTypes

/// The services that a client uses in addition to standard updates, one state machine each, and their unreported
/// results.
///
/// # Problem
///
/// The services are independent of each other: each has its own requests, and uses the fixes that others need. This
/// type passes fixes, time and the motion line to those that may use them, with the accuracy that the client may
/// receive, and combines their demands and their results.
///
/// # Parts
///
/// - ``SignificantChange``, ``VisitMonitor``, ``RegionMonitor``, ``PauseMonitor``, ``LiveUpdates``,
///   ``LocationRequest``: the services.
/// - ``CoarseFixes``: the fixes of a client with reduced accuracy.
/// - ``ShedLevels``: which levels the client does not get. A shed service keeps its state and receives no fixes.
/// - ``ServiceResults``: what is unreported.
///
/// # Invariants
///
/// - Without authorization, no service receives a new fix: ``Client`` checks it before it hands one over, and stops or
///   withholds the services that would use the newest one.
/// - With reduced accuracy, only significant change, live updates and single requests receive fixes, and coarse ones
///   only (AUT-6).
///
/// # Who changes what
///
/// Only the functions of this file write the properties; ``Client`` calls them. Bounded: of each kind only the latest
/// result is kept. O(1), or O(regions) if a region may change; no heap memory.
public struct ClientServices: ~Copyable, Sendable {
  private let marker = AddressOnly()
  /// Whether `startMonitoringVisits` was called; visits run while the client may receive them (VIS-2).
  private(set) var areVisitsRequested = false
  /// Whether `requestLocation` was called while the authorization was undecided (AUT-11).
  private var isRequestPending = false
  /// Sequence number of the first fix for significant change since its start, or since the client's right to fixes last
  /// changed (RNG-6).
  private var significantStart: UInt64 = 0
  /// The same for visits.
  private var visitsStart: UInt64 = 0
  /// Coarse fixes of a client with reduced accuracy.
  private(set) var coarse = CoarseFixes()
  /// Visits.
  public private(set) var visits = VisitMonitor()
  /// Unreported results.
  private var results = ServiceResults()
  /// Service levels that the client does not get.
  private(set) var shed = ShedLevels()
  /// Live updates.
  public private(set) var live = LiveUpdates()
  /// Automatic pause of updates.
  public private(set) var pause = PauseMonitor()
  /// `requestLocation`.
  public private(set) var request = LocationRequest()
  /// Significant change.
  public private(set) var significant = SignificantChange()
  /// Regions and monitor conditions.
  public private(set) var regions = RegionMonitor()

  init() {}

  /// Whether a fix may matter to a service or to the pause.
  var hasActiveService: Bool {
    significant.state != .idle || visits.state != .idle || regions.count > 0 || live.count > 0
      || request.state != .idle || pause.isPaused
  }

  /// Whether a single fix is requested, or its result is unreported.
  var hasSingleRequest: Bool {
    request.state != .idle || results.hasAnswer
  }

  /// Whether a service works while no process is attached, and launches the client (SLC-8, VIS-8).
  var canRunWithoutProcess: Bool {
    significant.state != .idle || visits.state != .idle || regions.count > 0
  }
}

// MARK: - Requests

extension ClientServices {
  /// Starts significant change; `cached` is the newest fix that the client may receive, `head` the number of the next
  /// fix.
  mutating func startSignificantChange(at now: Instant, cached: StoredFix?, head: UInt64) {
    if significant.state == .idle { significantStart = head }
    let report = significant.start(at: now, cached: cached?.fix)
    if let cached { results.note(report, cached) }
  }

  /// Stops significant change.
  mutating func stopSignificantChange() {
    significant.stop()
    results.discardSignificantReport()
  }

  /// Visits are requested; they start when they are allowed.
  mutating func requestVisits() { areVisitsRequested = true }

  /// Starts requested visits if they are allowed; ends visits that are not. `head` is the number of the next fix.
  mutating func updateVisits(isAllowed: Bool, line: MotionLine, at now: Instant, head: UInt64) {
    if areVisitsRequested && isAllowed {
      if visits.state == .idle { visitsStart = head }
      results.note(visits.start(at: now))
      visits.motionLineChanged(line, at: now)
    } else if visits.state != .idle {
      endVisits()
    }
  }

  /// Stops visits and discards unreported ones.
  mutating func stopVisits(at now: Instant) {
    areVisitsRequested = false
    visits.stop(at: now)
    results.discardVisits()
  }

  /// Stops visit detection and discards unreported visits; the request remains.
  private mutating func endVisits() {
    visits.forget()
    results.discardVisits()
  }

  /// Requests a single fix; `recent` is a fix that the client may receive now.
  mutating func requestLocation(_ parameters: LocationRequestParameters, recent: StoredFix?) {
    results.note(request.handle(.request(parameters, recent: recent)))
  }

  /// Answers a request for a single fix without an acquisition.
  mutating func answerRequest(with recent: StoredFix?) {
    results.note(recent.map { .deliver($0) } ?? .fail(.locationUnknown))
  }

  /// A single fix was requested while the authorization was undecided; `isPending` is false if running updates will
  /// deliver one.
  mutating func postponeRequest(_ isPending: Bool) { isRequestPending = isPending }

  /// Whether a request for a single fix is pending; it then no longer is.
  mutating func takePendingRequest() -> Bool {
    defer { isRequestPending = false }
    return isRequestPending
  }

  /// Cancels `requestLocation` (STD-11).
  mutating func cancelRequest() {
    isRequestPending = false
    _ = request.handle(.cancel)
  }

  /// Monitors a region or a condition; `isRefused` is whether the client may not use location.
  mutating func addRegion(
    _ region: Region, assuming assumed: MonitorState, isRefused: Bool, at now: Instant
  ) {
    if isRefused && region.identifier.kind == .region {
      results.refuse(.region(.failure(region.identifier, .regionMonitoringDenied)))
    } else if let refusal = regions.add(region, assuming: assumed, at: now) {
      results.refuse(.region(refusal))
    }
  }

  /// Stops monitoring a region or a condition.
  mutating func removeRegion(_ identifier: RegionIdentifier) { regions.remove(identifier) }

  /// Requests the state of a region (REG-7).
  mutating func requestRegionState(of identifier: RegionIdentifier, at now: Instant) {
    let timeout = ClientServices.stateTimeout
    let answer = regions.requestState(of: identifier, at: now, timeout: timeout)
    if let answer { results.refuse(.region(answer)) }
  }

  /// How long `requestState` waits for a fix that decides the state (REG-7).
  private static let stateTimeout = Interval.seconds(60)

  /// Opens an iterator of live updates; returns whether one was free.
  mutating func openLive(
    _ configuration: LiveConfiguration, line: MotionLine, at now: Instant
  ) -> Bool {
    live.motionLineChanged(line, at: now)
    guard live.open(configuration) != nil else {
      results.refuse(.live(configuration))
      return false
    }
    return true
  }

  /// Closes an iterator of live updates; does nothing if no iterator has that number.
  mutating func closeLive(_ iterator: Int) {
    if (0..<LiveUpdates.capacity).contains(iterator) { live.close(iterator) }
  }

  /// Sets the flags of live updates.
  mutating func setLiveFlags(_ flags: LiveFlags) { if flags != live.flags { live.set(flags) } }

  /// Handles an event of the pause of updates; returns the outcome, which is also a pending notice.
  @discardableResult
  mutating func handlePause(_ event: PauseMonitor.Event) -> PauseMonitor.Outcome {
    let outcome = pause.handle(event)
    results.note(outcome)
    return outcome
  }

  /// Updates of a client with reduced accuracy start: the coarse fix that is still valid is reported again.
  mutating func startReducedUpdates(at now: Instant) {
    results.setUpdateReport(coarse.valid(at: now))
  }
}

// MARK: - Events

extension ClientServices {
  /// Hands a fix to all services except the pause, which updates handle.
  mutating func accept(_ stored: StoredFix, at now: Instant) {
    if isGranted(.visits) { results.note(visits.accept(stored.fix)) }
    regions.accept(stored.fix)
    acceptCoarse(stored, at: now)
  }

  /// Hands a fix to the services of a client with reduced accuracy, and to its running updates, as a coarse one.
  mutating func acceptReduced(_ stored: StoredFix, isUpdating: Bool, at now: Instant) {
    guard isUpdating || hasActiveService, let coarse = coarse.reduce(stored) else { return }
    if isUpdating && isGranted(.updates) { results.setUpdateReport(coarse) }
    acceptCoarse(coarse, at: now)
  }

  /// Hands a coarse fix to the services that can use it (AUT-6): visits and regions cannot (REG-15).
  private mutating func acceptCoarse(_ stored: StoredFix, at now: Instant) {
    if isGranted(.significantChange) {
      results.note(significant.accept(stored.fix, at: now), stored)
    }
    if isGranted(.updates) { live.accept(stored) }
    if request.state == .pending { results.note(request.handle(.fix(stored))) }
  }

  /// Handles the passage of time; `newest` is the newest fix that the client may receive.
  mutating func elapse(at now: Instant, newest: StoredFix?) {
    handlePause(.time(now))
    if isGranted(.significantChange), significant.isWaiting, let newest {
      results.note(significant.elapse(at: now), newest)
    }
    if regions.deadline <= now { regions.elapse(to: now) }
    if isGranted(.updates), live.check <= now { live.elapse(at: now) }
    if request.check <= now { results.note(request.handle(.time(now))) }
  }

  /// Handles an acquisition for single fixes that ended without a fix.
  mutating func acquisitionFailed(at now: Instant) {
    handlePause(.noFix(at: now))
    significant.acquisitionFailed(at: now)
    visits.acquisitionFailed(at: now)
    live.acquisitionFailed(at: now)
  }

  /// Handles a report of the motion line.
  mutating func motionLineChanged(_ line: MotionLine, at now: Instant) {
    handlePause(.line(line, at: now))
    visits.motionLineChanged(line, at: now)
    live.motionLineChanged(line, at: now)
  }

  /// Sets whether regions are inactive: without authorization, with reduced accuracy, or shed (REG-15).
  mutating func setRegionsInactive(_ isInactive: Bool, at now: Instant) {
    regions.setInactive(isInactive, at: now)
  }

  /// Ends delivery because the client may not use location any more: unreported results are discarded (AUT-3, RNG-6).
  /// Its requests restart when it is allowed again.
  mutating func withhold(at now: Instant) {
    results.discardSignificantReport()
    results.setUpdateReport(nil)
    results.discardAnswer()
    if significant.state != .idle {
      significant.stop()
      _ = significant.start(at: now, cached: nil)
    }
    endVisits()
    coarse = CoarseFixes()
    if request.state != .idle { isRequestPending = true }
    _ = request.handle(.cancel)
  }

  /// Ends the requests for significant change, visits and a single location of a client that was refused.
  mutating func deny() {
    significant.stop()
    areVisitsRequested = false
    endVisits()
    if takePendingRequest() { results.note(.fail(.denied)) }
  }

  /// Accuracy changed between full and reduced. An unreported coarse fix of running updates is discarded: with full
  /// accuracy they deliver fixes of the ring (AUT-12).
  mutating func accuracyChanged() {
    significant.discardNewest()
    results.setUpdateReport(nil)
  }

  /// Discards precise results because accuracy is reduced (AUT-6); a pending single request fails.
  mutating func discardPrecise() {
    results.discardSignificantReport()
    results.discardAnswer()
    results.note(request.handle(.fail(.locationUnknown)))
    endVisits()
  }

  /// Ends the services that belong to the process, which ended (DEF-11).
  mutating func detach() {
    for i in 0..<LiveUpdates.capacity { live.close(i) }
    cancelRequest()
    pause = PauseMonitor()
    results.detach()
    shed.detach()
  }
}

// MARK: - Shed levels

extension ClientServices {
  /// Whether this service level is not shed.
  @inline(__always) func isGranted(_ level: ServiceLevel) -> Bool { shed.isGranted(level) }

  /// Best accuracy bound that is available, metres; nil if every fix is.
  @inline(__always) var finestBound: Double? {
    if !isGranted(.accuracy) { return LocationAccuracy.kilometer }
    return isGranted(.everyFix) ? nil : LocationAccuracy.hundredMeters
  }

  /// A desired accuracy, limited to the best that is available.
  @inline(__always) func coarsened(_ accuracy: Double) -> Double {
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

  /// Sets the shed levels; see ``ShedLevels/set(battery:withheld:at:)``. A single request fails (STD-11); visits and
  /// significant change receive and request no fixes, as during a loss of the receiver (VIS-11).
  mutating func setShed(battery: ServiceLevelSet, withheld: ServiceLevelSet, at now: Instant) {
    shed.set(battery: battery, withheld: withheld, at: now)
    if !isGranted(.updates) { results.note(request.handle(.fail(.locationUnknown))) }
  }

  /// Keeps shed levels as reported only if they are shed or used.
  mutating func dropReportedShed(notUsedIn used: ServiceLevelSet) {
    shed.dropReported(notUsedIn: used)
  }

  /// Reports the shed levels that the client uses.
  mutating func reportShed(_ used: ServiceLevelSet) -> Notice { .degraded(shed.report(used)) }

  /// Applies the newest fix acquired while significant change was shed; a waiting report (SLC-4) then contains that
  /// fix.
  mutating func catchUp(_ newest: StoredFix, at now: Instant) {
    switch significant.state {
    case .idle, .first: break
    case .watching: results.note(significant.accept(newest.fix, at: now), newest)
    }
  }
}

// MARK: - Demand

extension ClientServices {
  /// Accuracy that single fixes need, metres.
  static let significantAccuracy = 100.0
  static let regionAccuracy = 25.0

  /// The single fixes that the services need.
  ///
  /// - Parameters:
  ///   - speed: Plausible speed of the device.
  ///   - isRunning: Whether a process is attached and runs, or has a background session. Live updates queue nothing for
  ///     a suspended process.
  func fixNeed(
    at now: Instant, speed: PlausibleSpeed, line: MotionLine, isRunning: Bool, isPaused: Bool
  ) -> FixNeed {
    var need = FixNeed()
    if significant.state != .idle, isGranted(.significantChange) {
      need.add(
        due: significant.nextFix(at: now, speed: speed, line: line),
        accuracy: ClientServices.significantAccuracy)
    }
    if visits.state != .idle, isGranted(.visits) {
      need.add(
        due: visits.nextFix(at: now, speed: speed, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    if regions.count > 0 {
      need.add(
        due: regions.nextFix(at: now, speed: speed, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    guard isGranted(.updates) else { return need }
    if isRunning, live.count > 0 {
      need.add(
        due: live.nextFix(at: now, speed: speed, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    if let parameters = request.parameters {
      need.add(due: now, accuracy: parameters.accuracy, until: parameters.deadline)
    }
    if isPaused {
      need.add(
        due: pause.nextFix(at: now, speed: speed, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    return need
  }

  /// A client with reduced accuracy gets at most four fixes an hour, so earlier ones are not requested (AUT-5).
  ///
  /// - Parameter isUpdating: Whether its updates are started.
  func reducedFixNeed(at now: Instant, isRunning: Bool, isUpdating: Bool) -> FixNeed {
    var need = FixNeed()
    // The queue of coarse fixes has a capacity of one.
    let isUpdating = isUpdating && (isRunning || results.updateReport.isNil)
    let isNeeded =
      (significant.state != .idle && isGranted(.significantChange))
      || (isGranted(.updates)
        && (isUpdating || request.state != .idle || (isRunning && live.count > 0)))
    if isNeeded { need.add(due: max(now, coarse.due), accuracy: 1_000) }
    return need
  }

  /// When the services must be checked next even without a fix.
  var check: Instant {
    var check = regions.deadline
    if isGranted(.updates) {
      check = min(check, live.check)
      check = min(check, request.check)
      if pause.isPaused { check = min(check, pause.check) }
    }
    let waits = isGranted(.significantChange) && significant.isWaiting
    return waits ? min(check, significant.earliestReport) : check
  }
}

// MARK: - Notices

extension ClientServices {
  /// Whether a notice is pending, apart from a pause or resume.
  var hasNotices: Bool { results.hasNotices || regions.hasEvents || live.hasElements }

  /// Whether a pause or resume of updates is pending.
  var hasPauseNotice: Bool { results.pause != .nothing }

  /// Whether this pause or resume is pending; it then counts as reported.
  mutating func takePauseNotice(_ outcome: PauseMonitor.Outcome) -> Bool { results.take(outcome) }

  /// Returns the next notice; nil if none is pending.
  mutating func nextNotice() -> Notice? {
    if let notice = results.nextReport() { return notice }
    if let notice = results.nextVisit() { return notice }
    if let notice = results.nextRefusal() { return notice }
    if let event = regions.nextEvent() { return .region(event) }
    if let element = live.nextElement() { return .live(element) }
    return nil
  }

  /// Whether a visit or a region crossing is pending.
  var hasDurableNotice: Bool { results.hasVisit || regions.hasCrossings }

  /// Returns the next visit or crossing event; answers to `requestState` stay pending (BKG-2).
  mutating func nextDurableNotice() -> Notice? {
    results.nextVisit() ?? regions.nextCrossingEvent().map { .region($0) }
  }

  /// Whether the refusal of a request is pending.
  var hasRefusal: Bool { results.refusal != nil }

  /// Returns the pending refusal.
  mutating func nextRefusal() -> Notice? { results.nextRefusal() }
}

// MARK: - After a power-off

// Significant change and visits continue after a time off from the fixes in the ring (PWR-14). Regions need only their
// state.

extension ClientServices {
  /// Sequence number of the first fix from which significant change can continue; nil if it must restart: it does not
  /// run, or its report is unread and would be lost.
  var significantFrom: UInt64? {
    significant.state == .idle || !results.significantReport.isNil ? nil : significantStart
  }

  /// The same for visits. Their events are durable.
  var visitsFrom: UInt64? { visits.state == .idle ? nil : visitsStart }

  /// Fixes before `head` are no longer for the client (RNG-6).
  mutating func hideFixes(before head: UInt64) {
    significantStart = head
    visitsStart = head
  }

  /// Handles again the fixes of `ring` that the services have used before the board was off. Nothing is reported again.
  /// O(fixes).
  mutating func replay(
    significantFrom: UInt64?, visitsFrom: UInt64?, after off: TimeOff, in ring: borrowing FixRing
  ) {
    significantStart = significantFrom ?? ring.head
    visitsStart = visitsFrom ?? ring.head
    let first = max(ring.tail, min(significantStart, visitsStart))
    guard first < ring.head else { return }
    for sequence in first..<ring.head {
      guard let fix = off.earlierFix(at: sequence, in: ring) else { continue }
      if sequence >= significantStart { significant.replay(fix) }
      if sequence >= visitsStart {
        areVisitsRequested = true
        visits.replay(fix)
      }
    }
    significant.finishReplay(at: off.start)
    visits.finishReplay(at: off.start)
  }
}
