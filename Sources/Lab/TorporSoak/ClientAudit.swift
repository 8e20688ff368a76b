import DeferralCache
import LocationEngine
import LocationPolicy
import LocationTypes

/// Independent check of the guarantees for one client, computed from its requests and notices alone;
/// does not read the engine's client state.
struct ClientAudit {
  /// Last reported side of a region or visit; unknown if nothing was reported.
  enum Side {
    case unknown
    case inside
    case outside
  }

  private(set) var isConnected = false
  private(set) var execution = ExecutionState.foreground
  private(set) var isUpdating = false
  private(set) var isGranted = true
  private(set) var isReduced = false
  private(set) var mayPause = true
  private(set) var hasFilter = false
  /// Number of deferral calls whose finish was not delivered yet.
  private(set) var outstandingCalls = 0
  /// Number of batches delivered.
  private(set) var batches = 0
  /// Sequence number before which no batch of this connection may begin.
  private var nextExpected: UInt64 = 0
  /// Sequence number before which all fixes are acknowledged.
  private var acknowledgedEnd: UInt64 = 0
  /// Sequence number before which fixes may be missing, because the client was not entitled to every fix.
  private var skipBefore: UInt64 = 0
  /// Sequence number before which no fix may be delivered: they precede the end of a revocation.
  private var hiddenBefore: UInt64 = 0
  private var grantedAt: Instant?
  /// Time at which full accuracy was granted again.
  private var preciseAt: Instant?
  private var isPaused = false
  private var visitSide = Side.unknown
  private var arrival: Visit?
  private var sides = [Side](repeating: .unknown, count: 2 * ClientAudit.regionCount)
  private var resetsSidesLater = false
  private var battery = BatteryAudit()
  /// Whether each fix is stored immediately, so that missing fixes can be determined exactly.
  private let isExact: Bool

  /// Bound of the regions' numbers (exclusive).
  static let regionCount = 6

  init(isExact: Bool) { self.isExact = isExact }

  /// Whether the client must receive every fix stored in the ring.
  var expectsEveryFix: Bool {
    isConnected && isUpdating && isGranted && !isReduced && !mayPause && !hasFilter
      && battery.updatesShedSince == nil
  }

  /// Handles a new charge of the battery.
  mutating func updateCharge(_ charge: UInt8, head: UInt64, at now: Instant) {
    let hadRegions = battery.hasRegions
    battery.update(charge, at: now)
    // A crossing while regions are unavailable is not reported (REG-15).
    if hadRegions != battery.hasRegions { invalidateSides() }
    if !expectsEveryFix { skipBefore = head }
  }

  // MARK: Requests

  /// Updates the expectations for a request.
  mutating func apply(_ request: Request, head: UInt64, at now: Instant) {
    applyPendingReset()
    if applyRequest(request, head: head, at: now) { skipBefore = head }
    if !expectsEveryFix { skipBefore = head }
  }

  /// Resets the sides again if the previous request required it: all notices of that request have been delivered.
  mutating func applyPendingReset() {
    guard resetsSidesLater else { return }
    resetsSidesLater = false
    resetSides()
  }

  private mutating func resetVisit() {
    visitSide = .unknown
    arrival = nil
  }

  private mutating func resetSides() {
    resetVisit()
    for index in sides.indices { sides[index] = .unknown }
  }

  /// Applies a request. Returns whether fixes that were due before may now be missing.
  private mutating func applyRequest(_ request: Request, head: UInt64, at now: Instant) -> Bool {
    switch request {
    case .connect:
      isConnected = true
      execution = .foreground
      resetProcess()
    case .disconnect:
      isConnected = false
      resetProcess()
    case .setAuthorization(let authorization):
      if authorization != .always { resetVisit() }
      setGranted(authorization.isGranted, head: head, at: now)
    // The random clients send none of these.
    case .forget, .readBacklog, .setUse: return false
    case .setReducedAccuracy(let reduced):
      guard reduced != isReduced else { return false }
      isReduced = reduced
      if !reduced { preciseAt = now }
      hiddenBefore = head
      invalidateSides()
    case .startUpdating, .stopUpdating, .setDesiredAccuracy, .setDistanceFilter, .allowDeferred,
      .disallowDeferred, .setExecution, .acknowledge, .setPausesAutomatically, .setActivity,
      .requestLocation, .startSignificantChange, .stopSignificantChange, .startVisits, .stopVisits,
      .addRegion, .removeRegion, .requestRegionState, .openLive, .closeLive:
      guard isConnected else { return false }
      return applyProcessRequest(request)
    }
    return true
  }

  private mutating func applyProcessRequest(_ request: Request) -> Bool {
    if case .acknowledge(let name) = request {
      acknowledgedEnd = max(acknowledgedEnd, name.sequence + 1)
      return false
    }
    if case .setExecution(let state) = request {
      execution = state
      return false
    }
    if execution == .suspended { execution = .background }
    switch request {
    case .startUpdating: isUpdating = true
    case .stopUpdating: isUpdating = false
    case .setDistanceFilter(let filter): hasFilter = filter != LocationLimits.distanceFilterNone
    case .setPausesAutomatically(let allowed): mayPause = allowed
    case .allowDeferred:
      outstandingCalls += 1
      return false
    case .stopVisits: invalidateSides()
    case .addRegion(let region, _): resetSide(region.identifier)
    case .removeRegion(let identifier): resetSide(identifier)
    case .setDesiredAccuracy, .disallowDeferred, .setActivity, .requestLocation,
      .startSignificantChange, .stopSignificantChange, .startVisits, .requestRegionState, .openLive,
      .closeLive, .connect, .disconnect, .forget, .setAuthorization, .setReducedAccuracy, .setUse,
      .setExecution, .acknowledge, .readBacklog:
      return false
    }
    return true
  }

  /// Resets the state of a process that ended or is new.
  private mutating func resetProcess() {
    isUpdating = false
    mayPause = true
    hasFilter = false
    outstandingCalls = 0
    nextExpected = 0
    isPaused = false
    battery.resetProcess()
  }

  private mutating func setGranted(_ granted: Bool, head: UInt64, at now: Instant) {
    guard granted != isGranted else { return }
    isGranted = granted
    hiddenBefore = head
    if granted { grantedAt = now }
    invalidateSides()
  }

  /// Resets the sides now and, because notices may still come, at the next request. Also called if regions were shed or
  /// restored at an unknown charge: crossings meanwhile are not reported (REG-15).
  mutating func invalidateSides() {
    resetSides()
    resetsSidesLater = true
  }

  private mutating func resetSide(_ identifier: RegionIdentifier) {
    if let index = index(of: identifier) { sides[index] = .unknown }
  }

  private func index(of identifier: RegionIdentifier) -> Int? {
    let number = Int(identifier.number)
    guard number < ClientAudit.regionCount else { return nil }
    switch identifier.kind {
    case .region: return number
    case .condition: return ClientAudit.regionCount + number
    }
  }

  /// Handles a fix stored in the ring. A fix whose time precedes the grant of location, of updates or of full
  /// accuracy, for example because UTC was set back, is not for this client.
  mutating func didAppend(_ sequence: UInt64, acquired: Instant) {
    let isHidden = [grantedAt, preciseAt, battery.updatesRestoredAt].contains {
      acquired <= $0 ?? .boot
    }
    if !expectsEveryFix || isHidden { skipBefore = sequence + 1 }
  }

  // MARK: Notices

  /// Checks a notice; returns a description of the violation, or nil.
  mutating func check(_ notice: Notice, from engine: borrowing Engine, _ tally: inout SoakTotals)
    -> String?
  {
    switch notice {
    // Visits and region events are kept until a process runs (VIS-8, REG-13); a report starts the process.
    case .visit, .region: break
    case .report where !isConnected: break
    default:
      guard isConnected else { return "a notice without a process" }
      if execution == .suspended { return "BKG-2: a notice while suspended" }
    }
    switch notice {
    case .gap(let gap): return check(gap, &tally)
    case .finish:
      tally.finishes += 1
      outstandingCalls -= 1
      return outstandingCalls < 0 ? "DEF-8: a finish without an outstanding call" : nil
    case .batch(let first, let last):
      tally.batches += 1
      batches += 1
      return check(first, last, from: engine)
    case .failure, .authorization: return nil
    case .degraded(let shed):
      tally.transitions += 1
      return battery.check(shed, isExact: isExact)
    case .paused:
      tally.transitions += 1
      defer { isPaused = true }
      return isPaused ? "PAU-3: paused twice" : nil
    case .resumed:
      tally.transitions += 1
      defer { isPaused = false }
      return isPaused ? nil : "PAU-3: resumed without a pause"
    case .report(let stored): return checkFix(at: stored, "report")
    case .coarse(let stored):
      return isReduced ? checkFix(at: stored, "fix") : "AUT-12: a coarse fix with full accuracy"
    case .visit(let visit):
      tally.transitions += 1
      return check(visit)
    case .region(let event): return check(event, &tally)
    case .live(let element): return element.location.flatMap { checkFix(at: $0, "live") }
    case .liveRefused: return nil
    }
  }

  private mutating func check(_ gap: Gap, _ tally: inout SoakTotals) -> String? {
    tally.gaps += 1
    guard gap.count > 0 || gap.mayBeMore, gap.range.lowerBound >= nextExpected else {
      return "RNG-4: a gap \(gap.range) out of order, expected from \(nextExpected)"
    }
    nextExpected = gap.range.upperBound
    return nil
  }

  private mutating func check(
    _ first: UInt64, _ last: UInt64, from engine: borrowing Engine
  ) -> String? {
    if first > last { return "DEF-34: an empty batch" }
    if !isGranted { return "AUT-3: a batch for a denied client" }
    if isExact, let text = battery.checkFix(at: last, from: engine) { return text }
    if isReduced { return "AUT-6: a batch for a reduced client" }
    if first < nextExpected {
      return "RNG-3: \(first) is delivered again, expected \(nextExpected)"
    }
    if first < acknowledgedEnd { return "RNG-3: \(first) is delivered after its acknowledgement" }
    if isExact && first < hiddenBefore { return "RNG-6: \(first) precedes \(hiddenBefore)" }
    if isExact && nextExpected > 0 && first > nextExpected && first > skipBefore {
      return "RNG-4: \(max(nextExpected, skipBefore)) to \(first - 1) are missing without a gap"
    }
    nextExpected = last + 1
    var newest: Instant?
    for sequence in first...last {
      guard let stored = engine.stored(at: sequence) else {
        return "\(sequence) is not in the ring"
      }
      if let newest, stored.fix.acquired < newest { return "a batch out of order at \(sequence)" }
      newest = stored.fix.acquired
      if isExact, let text = checkTime(of: stored, "batch") { return text }
    }
    return nil
  }

  private func checkTime(of stored: StoredFix, _ source: String) -> String? {
    guard let grantedAt, stored.fix.acquired <= grantedAt else { return nil }
    return "RNG-6: a \(source) with a fix of \(stored.fix.acquired.seconds) s, "
      + "before location was granted at \(grantedAt.seconds) s"
  }

  /// Checks a fix delivered outside the running updates: none for a denied client, a coarse one for a reduced client.
  private func checkFix(at stored: StoredFix, _ source: String) -> String? {
    if !isGranted { return "AUT-3: a \(source) with a fix for a denied client" }
    if let text = checkTime(of: stored, source) { return text }
    guard isReduced else { return nil }
    let fix = stored.fix
    let isCoarse =
      fix.horizontalAccuracy_mm == AccuracyReduction.accuracy_mm && fix.altitude_mm == nil
      && fix.ellipsoidalAltitude_mm == nil && fix.speed_mmps == nil && fix.course_e4 == nil
    return isCoarse ? nil : "AUT-6: a precise \(source) for a reduced client"
  }

  private mutating func check(_ visit: Visit) -> String? {
    if !isGranted || isReduced { return "AUT-6: a visit for a denied or reduced client" }
    guard let departure = visit.departure else {
      defer {
        visitSide = .inside
        arrival = visit
      }
      return visitSide == .inside ? "VIS-6: two arrivals without a departure" : nil
    }
    defer {
      visitSide = .outside
      arrival = nil
    }
    if let reportedArrival = visit.arrival, reportedArrival.acquired > departure.acquired {
      return "VIS-6: the departure precedes the arrival"
    }
    if visitSide == .outside { return "VIS-6: two departures without an arrival" }
    if let arrival, arrival.coordinate != visit.coordinate { return "VIS-6: another coordinate" }
    return nil
  }

  private mutating func check(_ event: RegionEvent, _ tally: inout SoakTotals) -> String? {
    switch event {
    case .entered(let identifier, _): return checkCrossing(identifier, .inside, &tally)
    case .exited(let identifier, _): return checkCrossing(identifier, .outside, &tally)
    case .determined, .crossedSilently, .monitor, .failure: return nil
    }
  }

  private mutating func checkCrossing(
    _ identifier: RegionIdentifier, _ side: Side, _ tally: inout SoakTotals
  ) -> String? {
    tally.transitions += 1
    if !isGranted || isReduced { return "REG-15: a crossing for a denied or reduced client" }
    guard let index = index(of: identifier) else { return "a region that was never added" }
    defer { sides[index] = side }
    return sides[index] == side ? "REG-8: region \(identifier.number) \(side) reported twice" : nil
  }
}
