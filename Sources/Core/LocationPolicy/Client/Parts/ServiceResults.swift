import DeferralCache
import LocationTypes

/// A request that was refused; the refusal is reported immediately.
enum RefusedCall: Sendable {
  /// A region, or a state request for one.
  case region(RegionEvent)
  /// Live updates: all iterators are in use.
  case live(LiveConfiguration)
}

/// The unreported results of a client's services, except those of regions and live updates, which keep their own. A
/// part of ``ClientServices``.
///
/// # Problem
///
/// A client may read its notices long after the services produced them, or never. Of each kind only the latest result
/// is kept, so that memory is bounded and the client receives the present state.
///
/// # Order of visits (VIS-6)
///
/// First the departure of the visit whose arrival was reported, then the latest visit, with its departure if it has
/// one. Visits between them that were never reported are dropped:
///
///     event                 ``latest`` is nil                ``latest`` is a visit
///     arrived               becomes ``latest``               replaces it
///     departed              becomes ``departure``            replaces it: the same visit with its departure
///     the arrival is read   –                                moves to ``departure`` if it has one, otherwise nil
///
/// So each reported arrival gets its departure, whenever the client reads its notices.
///
/// # Who changes what
///
/// Only the functions of this file write the properties; ``ClientServices`` calls them. All are O(1).
struct ServiceResults: ~Copyable, Sendable {
  private let marker = AddressOnly()
  /// A report of significant change.
  private(set) var significantReport: StoredFix? { didSet { updateStatus() } }
  /// A coarse fix of running updates.
  private(set) var updateReport: StoredFix? { didSet { updateStatus() } }
  /// The answer to a single request.
  private var answer = LocationRequest.Outcome.nothing { didSet { updateStatus() } }
  /// The departure of a visit whose arrival was reported.
  private var departure: Visit? { didSet { updateStatus() } }
  /// The latest visit, whose arrival is unreported; with its departure if it has ended.
  private var latest: Visit? { didSet { updateStatus() } }
  /// The refusal of the latest request.
  private(set) var refusal: RefusedCall? { didSet { updateStatus() } }
  /// A pause or resume of updates.
  private(set) var pause = PauseMonitor.Outcome.nothing

  init() {}

  // MARK: Status

  /// Whether `nextReport`, `nextVisit` or `nextRefusal` returns a notice. Computed when a result changes, because each
  /// step of the engine reads it for each client.
  private(set) var hasNotices = false

  private mutating func updateStatus() {
    hasNotices =
      !significantReport.isNil || !updateReport.isNil || hasAnswer || hasVisit || refusal != nil
  }

  /// Whether the result of a single request is unreported.
  var hasAnswer: Bool {
    switch answer {
    case .nothing: false
    case .deliver, .fail: true
    }
  }

  /// Whether a visit is unreported.
  var hasVisit: Bool { !latest.isNil || !departure.isNil }

  // MARK: Events

  /// Records the fix that significant change reports, under the name of `stored`; nil for none.
  mutating func note(_ report: Fix?, _ stored: StoredFix) {
    if let report { significantReport = StoredFix(name: stored.name, fix: report) }
  }

  /// A visit began or ended.
  mutating func note(_ outcome: VisitMonitor.Outcome) {
    switch outcome {
    case .nothing: break
    case .arrived(let visit): latest = visit
    case .departed(let visit): if latest.isNil { departure = visit } else { latest = visit }
    }
  }

  /// A single request has a result.
  mutating func note(_ outcome: LocationRequest.Outcome) {
    switch outcome {
    case .nothing: break
    case .deliver, .fail: answer = outcome
    }
  }

  /// Updates paused or resumed. Pause and resume alternate strictly (PAU-3): an unreported one is cancelled by its
  /// opposite.
  mutating func note(_ outcome: PauseMonitor.Outcome) {
    switch outcome {
    case .nothing: break
    case .pause, .resume: pause = pause == .nothing || pause == outcome ? outcome : .nothing
    }
  }

  /// Running updates have a coarse fix; nil discards an unreported one.
  mutating func setUpdateReport(_ coarse: StoredFix?) { updateReport = coarse }

  /// A request was refused.
  mutating func refuse(_ call: RefusedCall) { refusal = call }

  // MARK: Discarding

  /// Discards an unreported significant change.
  mutating func discardSignificantReport() { significantReport = nil }

  /// Discards unreported visits.
  mutating func discardVisits() {
    departure = nil
    latest = nil
  }

  /// Discards the unreported result of a single request.
  mutating func discardAnswer() { answer = .nothing }

  /// The process detaches: results that belong to it are discarded, those that launch another one remain.
  mutating func detach() {
    answer = .nothing
    updateReport = nil
    refusal = nil
    pause = .nothing
  }

  // MARK: Notices

  /// Returns the next result, except a pause, a resume, a visit and a refusal; nil if none is pending.
  mutating func nextReport() -> Notice? {
    if let stored = updateReport {
      updateReport = nil
      return .coarse(stored)
    }
    if let stored = significantReport {
      significantReport = nil
      return .report(stored)
    }
    let pending = answer
    answer = .nothing
    switch pending {
    case .nothing: return nil
    case .deliver(let stored): return .report(stored)
    case .fail(let code): return .failure(code)
    }
  }

  /// Returns the next visit; nil if none is pending.
  mutating func nextVisit() -> Notice? {
    if let visit = departure {
      departure = nil
      return .visit(visit)
    }
    guard var visit = latest else { return nil }
    latest = nil
    if visit.departure != nil { departure = visit }
    visit.departure = nil
    return .visit(visit)
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

  /// Whether this outcome of the pause monitor is unreported; it then counts as reported.
  mutating func take(_ outcome: PauseMonitor.Outcome) -> Bool {
    guard pause == outcome else { return false }
    pause = .nothing
    return true
  }
}
