import DeferralCache
import LocationTypes

/// A request that was refused; the refusal is reported immediately.
enum RefusedCall: Sendable {
  /// A region, or a state request for one.
  case region(RegionEvent)
  /// Live updates: all iterators are in use.
  case live(LiveConfiguration)
}

/// The services that a client uses in addition to standard updates, one state machine each, and their unreported
/// results.
///
/// Bounded: of each kind only the latest result is kept. ``Client`` owns the value and forwards fixes, time and
/// requests to it. Depends on `DeferralCache` for ``StoredFix`` only; no heap memory.
public struct ClientServices: ~Copyable, Sendable {
  private let marker = AddressOnly()
  /// Significant change.
  public internal(set) var significant = SignificantChange()
  /// Visits.
  public internal(set) var visits = VisitMonitor()
  /// Regions and monitor conditions.
  public internal(set) var regions = RegionMonitor()
  /// Automatic pause of updates.
  public internal(set) var pause = PauseMonitor()
  /// Live updates.
  public internal(set) var live = LiveUpdates()
  /// `requestLocation`.
  public internal(set) var request = LocationRequest()
  /// Reduces fixes for a client with reduced accuracy.
  var reduction = AccuracyReduction()
  /// The last coarse fix.
  private var coarse: StoredFix?
  /// Service levels that are shed (PWR-10); written only by `setShed`.
  var shed = ServiceLevelSet.none

  /// Whether `startMonitoringVisits` was called; visits run while the client may receive them (VIS-2).
  var areVisitsRequested = false
  /// Whether `requestLocation` was called while the authorization was undecided (AUT-11).
  var isRequestPending = false

  var significantReport: StoredFix?
  var updateReport: StoredFix?
  var answer = LocationRequest.Outcome.nothing
  // Order of visits (VIS-6): first the departure of the visit that was reported, then the latest visit with its
  // departure if it has one. Visits between them that were never reported are dropped.
  var departure: Visit?
  var arrival: Visit?
  var departureOfArrival: Visit?
  var refusal: RefusedCall?

  init() {}

  /// Whether a fix may matter to a service or to the pause.
  var hasActiveService: Bool {
    significant.state != .idle || visits.state != .idle || regions.count > 0 || live.count > 0
      || request.state != .idle || pause.isPaused
  }

  /// Whether no service except regions uses fixes. The pause belongs to updates and does not count.
  var usesOnlyRegions: Bool {
    significant.state == .idle && visits.state == .idle && live.count == 0
      && request.state == .idle
  }

  /// Whether a single fix is requested, or its result is unreported.
  var hasSingleRequest: Bool {
    request.state != .idle || hasAnswer
  }

  /// Whether a service works while no process is attached, and launches the client (SLC-8, VIS-8).
  var canRunWithoutProcess: Bool {
    significant.state != .idle || visits.state != .idle || regions.count > 0
  }
}

// MARK: - Events

extension ClientServices {
  /// Returns the coarse fix for a client with reduced accuracy; nil if the next one is not due.
  mutating func reduce(_ stored: StoredFix) -> StoredFix? {
    guard let fix = reduction.reduce(stored.fix) else { return nil }
    coarse = StoredFix(name: stored.name, fix: fix)
    return coarse
  }

  /// The coarse fix that is valid until the next one is due; nil if none exists.
  func coarse(at now: Instant) -> StoredFix? {
    guard let coarse, now - coarse.fix.acquired <= AccuracyReduction.shortestInterval else {
      return nil
    }
    return coarse
  }

  /// Hands a fix to all services except the pause, which updates handle.
  mutating func accept(_ stored: StoredFix, at now: Instant) {
    if isGranted(.visits) { note(visits.accept(stored.fix)) }
    regions.accept(stored.fix)
    acceptCoarse(stored, at: now)
  }

  /// Hands a coarse fix to the services that can use it (AUT-6): visits and regions cannot (REG-15).
  mutating func acceptCoarse(_ stored: StoredFix, at now: Instant) {
    if isGranted(.significantChange) { note(significant.accept(stored.fix, at: now), stored) }
    if isGranted(.updates) { live.accept(stored) }
    note(request.handle(.fix(stored)))
  }

  /// Handles the passage of time.
  mutating func elapse(at now: Instant, newest: StoredFix?) {
    if isGranted(.significantChange), significant.isWaiting, let newest {
      note(significant.elapse(at: now), newest)
    }
    if regions.deadline <= now { regions.elapse(to: now) }
    if isGranted(.updates), live.check <= now { live.elapse(at: now) }
    if request.check <= now { note(request.handle(.time(now))) }
  }

  /// Handles an acquisition for single fixes that ended without a fix.
  mutating func acquisitionFailed(at now: Instant) {
    significant.acquisitionFailed(at: now)
    visits.acquisitionFailed(at: now)
    live.acquisitionFailed(at: now)
  }

  /// Handles a report of the motion line.
  mutating func motionLineChanged(_ line: MotionLine, at now: Instant) {
    visits.motionLineChanged(line, at: now)
    live.motionLineChanged(line, at: now)
  }

  mutating func note(_ outcome: SignificantChange.Outcome, _ stored: StoredFix) {
    switch outcome {
    case .nothing: break
    case .report(let fix): significantReport = StoredFix(name: stored.name, fix: fix)
    }
  }

  mutating func note(_ outcome: VisitMonitor.Outcome) {
    switch outcome {
    case .nothing: break
    case .arrived(let visit):
      arrival = visit
      departureOfArrival = nil
    case .departed(let visit):
      if arrival.isNil { departure = visit } else { departureOfArrival = visit }
    }
  }

  /// Discards unreported visits.
  mutating func discardVisits() {
    departure = nil
    arrival = nil
    departureOfArrival = nil
  }

  mutating func note(_ outcome: LocationRequest.Outcome) {
    switch outcome {
    case .nothing: break
    case .deliver, .fail: answer = outcome
    }
  }

  /// Ends delivery because the client may not use location any more: unreported results are discarded (AUT-3, RNG-6).
  /// Its requests restart when it is allowed again.
  mutating func withhold(at now: Instant) {
    significantReport = nil
    updateReport = nil
    answer = .nothing
    if significant.state != .idle {
      significant.stop()
      _ = significant.start(at: now, cached: nil)
    }
    endVisits()
    reduction = AccuracyReduction()
    coarse = nil
    if request.state != .idle { isRequestPending = true }
    _ = request.handle(.cancel)
  }

  /// Ends the requests for significant change, visits and a single location of a client that was refused.
  mutating func deny() {
    significant.stop()
    areVisitsRequested = false
    endVisits()
    if isRequestPending { answer = .fail(.denied) }
    isRequestPending = false
  }

  /// Cancels `requestLocation` (STD-11).
  mutating func cancelRequest() {
    isRequestPending = false
    _ = request.handle(.cancel)
  }

  /// Stops visit detection and discards unreported visits.
  mutating func endVisits() {
    visits.forget()
    discardVisits()
  }

  /// Discards precise results because accuracy is reduced (AUT-6); a pending single request fails.
  mutating func discardPrecise() {
    significantReport = nil
    answer = .nothing
    note(request.handle(.fail(.locationUnknown)))
    endVisits()
  }

  /// Ends the services that belong to the process, which ended (DEF-11).
  mutating func detach() {
    for i in 0..<LiveUpdates.capacity { live.close(i) }
    cancelRequest()
    answer = .nothing
    updateReport = nil
    refusal = nil
    pause = PauseMonitor()
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
  ///   - fastest: Greatest plausible speed of the device until then, m/s.
  ///   - isRunning: Whether a process is attached and runs, or has a background session. Live updates queue nothing for
  ///     a suspended process.
  mutating func fixNeed(
    at now: Instant, fastest: Double, line: MotionLine, isRunning: Bool, isPaused: Bool
  ) -> FixNeed {
    var need = FixNeed()
    if significant.state != .idle, isGranted(.significantChange) {
      need.add(
        due: significant.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.significantAccuracy)
    }
    if visits.state != .idle, isGranted(.visits) {
      need.add(
        due: visits.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    if regions.count > 0 {
      need.add(
        due: regions.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    guard isGranted(.updates) else { return need }
    if isRunning, live.count > 0 {
      need.add(
        due: live.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
    if let parameters = request.parameters {
      need.add(due: now, accuracy: parameters.accuracy, until: parameters.deadline)
    }
    if isPaused {
      need.add(
        due: pause.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.regionAccuracy)
    }
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
  /// Whether a notice is pending.
  var hasNotices: Bool {
    !significantReport.isNil || !updateReport.isNil || hasAnswer || hasVisit || refusal != nil
      || regions.hasEvents
      || live.hasElements
  }

  /// Whether the result of a single request is unreported.
  private var hasAnswer: Bool {
    switch answer {
    case .nothing: false
    case .deliver, .fail: true
    }
  }

  /// Returns the next notice; nil if none is pending.
  mutating func nextNotice() -> Notice? {
    if let stored = updateReport {
      updateReport = nil
      return .coarse(stored)
    }
    if let stored = significantReport {
      significantReport = nil
      return .report(stored)
    }
    if let notice = nextAnswer() { return notice }
    if let notice = nextVisit() { return notice }
    if let notice = nextRefusal() { return notice }
    if let event = regions.nextEvent() { return .region(event) }
    if let element = live.nextElement() { return .live(element) }
    return nil
  }

  /// Whether a visit or a region crossing is pending.
  var hasDurableNotice: Bool {
    hasVisit || regions.hasCrossings
  }

  private var hasVisit: Bool { !arrival.isNil || !departure.isNil || !departureOfArrival.isNil }

  /// Returns the next visit or crossing event; answers to `requestState` stay pending (BKG-2).
  mutating func nextDurableNotice() -> Notice? {
    nextVisit() ?? regions.nextCrossingEvent().map { .region($0) }
  }

  private mutating func nextVisit() -> Notice? {
    if let visit = departure {
      departure = nil
      return .visit(visit)
    }
    if let visit = arrival {
      arrival = nil
      return .visit(visit)
    }
    if let visit = departureOfArrival {
      departureOfArrival = nil
      return .visit(visit)
    }
    return nil
  }

  /// Returns the pending refusal. It is reported at the end of the step of its request, so that at most one is pending.
  mutating func nextRefusal() -> Notice? {
    defer { refusal = nil }
    return switch refusal {
    case .region(let event): .region(event)
    case .live(let configuration): .liveRefused(configuration)
    case nil: nil
    }
  }

  private mutating func nextAnswer() -> Notice? {
    let pending = answer
    answer = .nothing
    switch pending {
    case .nothing: return nil
    case .deliver(let stored): return .report(stored)
    case .fail(let code): return .failure(code)
    }
  }
}
