import DeferralCache
import LocationTypes

/// A call that is answered by a refusal, at once.
enum RefusedCall: Sendable {
  /// A region, or a question about one.
  case region(RegionEvent)
  /// Live updates: every place was taken.
  case live(LiveConfiguration)
}

/// What a client asked for beside plain updates: each service a machine of its own, and what they
/// have found that was not told yet. Everything is bounded: of a kind the latest counts.
public struct ClientServices: Sendable {
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
  /// What a client of reduced accuracy is shown.
  var reduction = AccuracyReduction()
  /// The last that it was made.
  private var coarse: StoredFix?
  /// What the battery is too low for (PWR-10); written by `giveUp` alone.
  var givenUp = PromiseSet.none

  /// `startMonitoringVisits` was called: visits run as far as the client may have them (VIS-2).
  var wantsVisits = false
  /// `requestLocation` was called while nobody had decided whether the client may use location (AUT-11).
  var isRequestPending = false

  var significantReport: StoredFix?
  var updateReport: StoredFix?
  var answer = LocationRequest.Outcome.nothing
  // Of visits the order must stay whole (VIS-6): first the end of the one that was told, then the
  // latest one, as far as it has got. Those between, which nobody was told of, are dropped.
  var departure: Visit?
  var arrival: Visit?
  var arrivalsDeparture: Visit?
  var refusal: RefusedCall?

  init() {}

  /// Whether a fix means something to one of them.
  ///
  /// `mutating`, so that they are looked at in place: they are large. It changes nothing.
  var areActive: Bool {
    mutating get {
      significant.state != .idle || visits.state != .idle || regions.count > 0 || live.count > 0
        || request.state != .idle || pause.isPaused
    }
  }

  /// Whether a fix means something to regions only; the pause is the updates' affair.
  var areRegionsAlone: Bool {
    mutating get {
      significant.state == .idle && visits.state == .idle && live.count == 0
        && request.state == .idle
    }
  }

  /// Whether a single fix is asked for, or what came of it was not told.
  var asksOnce: Bool {
    mutating get { request.state != .idle || hasAnswer }
  }

  /// Whether one of them works while no process is attached, and wakes its client (SLC-8, VIS-8).
  var outliveProcess: Bool {
    mutating get { significant.state != .idle || visits.state != .idle || regions.count > 0 }
  }
}

// MARK: - What happens to them

extension ClientServices {
  /// What a client of reduced accuracy is shown of a fix; nil when it is too early for one.
  mutating func reduce(_ stored: StoredFix) -> StoredFix? {
    guard let fix = reduction.reduce(stored.fix) else { return nil }
    coarse = StoredFix(name: stored.name, fix: fix)
    return coarse
  }

  /// The coarse fix that holds until the next one may be given; nil when there is none.
  func coarse(at now: Instant) -> StoredFix? {
    guard let coarse, now - coarse.fix.acquired <= AccuracyReduction.pace else { return nil }
    return coarse
  }

  /// A fix for all of them but the pause, which the updates see to.
  mutating func take(_ stored: StoredFix, at now: Instant) {
    if gets(.visits) { note(visits.take(stored.fix)) }
    regions.take(stored.fix)
    takeCoarse(stored, at: now)
  }

  /// A coarse fix, for those that can do with it (AUT-6): visits and regions get none (REG-15).
  mutating func takeCoarse(_ stored: StoredFix, at now: Instant) {
    if gets(.significantChange) { note(significant.take(stored.fix, at: now), stored) }
    if gets(.updates) { live.take(stored) }
    note(request.handle(.fix(stored)))
  }

  /// Time has passed.
  mutating func elapse(at now: Instant, newest: StoredFix?) {
    if gets(.significantChange), significant.isWaiting, let newest {
      note(significant.elapse(at: now), newest)
    }
    if regions.deadline <= now { regions.elapse(to: now) }
    if gets(.updates), live.check <= now { live.elapse(at: now) }
    if request.check <= now { note(request.handle(.time(now))) }
  }

  /// A search that began for single fixes found nothing.
  mutating func miss(at now: Instant) {
    significant.miss(at: now)
    visits.miss(at: now)
    live.miss(at: now)
  }

  /// What the motion line says.
  mutating func hear(_ line: MotionLine, at now: Instant) {
    visits.turn(line, at: now)
    live.hear(line, at: now)
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
      arrivalsDeparture = nil
    case .departed(let visit):
      if arrival == nil { departure = visit } else { arrivalsDeparture = visit }
    }
  }

  /// Nothing that was found of visits is told.
  mutating func forgetVisits() {
    departure = nil
    arrival = nil
    arrivalsDeparture = nil
  }

  mutating func note(_ outcome: LocationRequest.Outcome) {
    switch outcome {
    case .nothing: break
    case .deliver, .fail: answer = outcome
    }
  }

  /// The client may not use location any more: nothing that was found is shown (AUT-3, RNG-6). What it
  /// asked for begins anew when it may.
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

  /// The client is refused: what it asked for is over.
  mutating func deny() {
    significant.stop()
    wantsVisits = false
    endVisits()
    if isRequestPending { answer = .fail(.denied) }
    isRequestPending = false
  }

  /// `requestLocation` is cancelled (STD-11).
  mutating func cancelRequest() {
    isRequestPending = false
    _ = request.handle(.cancel)
  }

  /// No visit is looked for, and none that was found is told.
  mutating func endVisits() {
    visits.forget()
    forgetVisits()
  }

  /// From now on nothing precise is shown (AUT-6): a request that was made for it fails.
  mutating func forgetPrecise() {
    significantReport = nil
    answer = .nothing
    note(request.handle(.fail(.locationUnknown)))
    endVisits()
  }

  /// The process is gone: what lives in it alone ends (DEF-11).
  mutating func detach() {
    for i in 0..<LiveUpdates.capacity { live.close(i) }
    cancelRequest()
    answer = .nothing
    updateReport = nil
    refusal = nil
    pause = PauseMonitor()
  }
}

// MARK: - What they need

extension ClientServices {
  /// Accuracies that single fixes must have, metres.
  static let significantAccuracy = 100.0
  static let placeAccuracy = 25.0

  // As with a client: `mutating` so that it is looked at in place, and each machine only where it
  // works. It changes nothing.

  /// The single fixes they need.
  ///
  /// - Parameters:
  ///   - fastest: How fast the wearer can be until then, m/s.
  ///   - isRunning: A process is attached and runs, or has a background session: live updates keep
  ///     nothing for one that is suspended.
  mutating func need(
    at now: Instant, fastest: Double, line: MotionLine, isRunning: Bool, isPaused: Bool
  ) -> FixNeed {
    var need = FixNeed()
    if significant.state != .idle, gets(.significantChange) {
      need.add(
        due: significant.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.significantAccuracy)
    }
    if visits.state != .idle, gets(.visits) {
      need.add(
        due: visits.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.placeAccuracy)
    }
    if regions.count > 0 {
      need.add(
        due: regions.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.placeAccuracy)
    }
    guard gets(.updates) else { return need }
    if isRunning, live.count > 0 {
      need.add(
        due: live.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.placeAccuracy)
    }
    if let terms = request.terms {
      need.add(due: now, accuracy: terms.accuracy, until: terms.until)
    }
    if isPaused {
      need.add(
        due: pause.nextFix(at: now, fastest: fastest, line: line),
        accuracy: ClientServices.placeAccuracy)
    }
    return need
  }

  /// When time alone must be looked at for them.
  var check: Instant {
    mutating get {
      var check = regions.deadline
      if gets(.updates) {
        check = min(check, live.check)
        check = min(check, request.check)
        if pause.isPaused { check = min(check, pause.check) }
      }
      let waits = gets(.significantChange) && significant.isWaiting
      return waits ? min(check, significant.gateOpens) : check
    }
  }
}

// MARK: - What is told

extension ClientServices {
  /// Whether there is something to tell; `mutating` as ``areActive`` is.
  var hasNotices: Bool {
    mutating get {
      significantReport != nil || updateReport != nil || hasAnswer || arrival != nil
        || departure != nil || arrivalsDeparture != nil || refusal != nil || regions.hasEvents
        || live.hasElements
    }
  }

  /// Whether a request's answer was not told.
  private var hasAnswer: Bool {
    mutating get {
      switch answer {
      case .nothing: false
      case .deliver, .fail: true
      }
    }
  }

  /// The next thing to tell; nil when all is told.
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

  /// Whether there is a visit or a crossing.
  var hasKept: Bool {
    mutating get {
      arrival != nil || departure != nil || arrivalsDeparture != nil || regions.hasCrossings
    }
  }

  /// The next visit, or the next event of a crossing; answers to `requestState` wait (BKG-2).
  mutating func nextKept() -> Notice? {
    nextVisit() ?? regions.nextOfCrossing().map { .region($0) }
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
    if let visit = arrivalsDeparture {
      arrivalsDeparture = nil
      return .visit(visit)
    }
    return nil
  }

  /// What was refused is told at the end of the step of its call: one waits at the most.
  mutating func nextRefusal() -> Notice? {
    defer { refusal = nil }
    return switch refusal {
    case .region(let event): .region(event)
    case .live(let configuration): .liveRefused(configuration)
    case nil: nil
    }
  }

  private mutating func nextAnswer() -> Notice? {
    let told = answer
    answer = .nothing
    switch told {
    case .nothing: return nil
    case .deliver(let stored): return .report(stored)
    case .fail(let code): return .failure(code)
    }
  }
}
