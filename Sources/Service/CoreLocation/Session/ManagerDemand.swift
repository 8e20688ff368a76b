import LocationPolicy
import LocationTypes

/// The demand of one location manager, and the fixes that are held for it. A part of ``MergedDemand``.
struct ManagerDemand: Sendable {
  /// Whether `startUpdatingLocation` was called last.
  var isUpdating = false
  /// Accuracy and filter.
  var settings = ClientSettings()
  /// `activityType`.
  var activity = ActivityType.other
  /// `pausesLocationUpdatesAutomatically`.
  var pausesAutomatically = true
  /// `allowsBackgroundLocationUpdates`.
  var allowsBackground = false
  /// The manager's own distance filter.
  var filter = FilterOrigin()
  /// The newest fix if the filter dropped it; it is delivered before a pause (PAU-10).
  var skipped: StoredFix?
  /// The outstanding call of `allowDeferredLocationUpdates`.
  var deferral: OutstandingDeferral?
  /// Fixes that its own deferral keeps, oldest first.
  var held: [StoredFix] = []
  /// When the updates stopped last.
  var stoppedAt: Instant?
  /// Whether the batch of a deferral that ended with the updates may still arrive (DEF-37).
  var awaitsFinalBatch = false
  /// Whether updates are deferred since they started: from `allowDeferredLocationUpdates` until `disallow…` or a stop.
  var isDeferring = false
  /// Whether a call of `requestLocation` is outstanding.
  var requestsLocation = false
  /// When the last request ends, if the service does not end it.
  var requestDeadline: Instant?
  /// Number of the current run of updates: deliveries of an earlier run are dropped.
  var run = 0

  /// Whether a deferral keeps fixes in the process.
  var holdsFixes: Bool { deferral.map { !$0.isForwarded } ?? false }

  // MARK: Updates

  /// Begins a run of updates (STD-3).
  mutating func begin() {
    isUpdating = true
    filter = FilterOrigin()
    skipped = nil
    isDeferring = false
    run += 1
    stoppedAt = nil
    awaitsFinalBatch = false
  }

  /// Ends the run of updates.
  mutating func end(at now: Instant) {
    isUpdating = false
    stoppedAt = now
    isDeferring = false
    run += 1
  }

  /// What happens to a fix that is offered to a running manager.
  enum Acceptance: Sendable {
    /// The deferral keeps it, and its distance may be met by it.
    case kept(meetsDistance: Bool)
    case delivered
    /// The distance filter drops it.
    case filtered
  }

  /// Decides what happens to a fix.
  ///
  /// - Parameter applied: The distance filter that the service has applied, metres.
  mutating func accept(_ stored: StoredFix, applied: Double) -> Acceptance {
    let isMet = deferral?.count(stored.fix) ?? false
    if holdsFixes {
      held.append(stored)
      return .kept(meetsDistance: isMet)
    }
    // The service applied the same filter already, with its exception for pauses (PAU-10).
    let isFiltered =
      settings.hasDistanceFilter && settings.distanceFilter != applied
      && !filter.passes(stored.fix, filter: settings.distanceFilter)
    skipped = isFiltered ? stored : nil
    if isFiltered { return .filtered }
    filter.move(to: stored.fix)
    return .delivered
  }

  /// Removes and returns the newest fix if the filter dropped it: it is delivered before a pause (PAU-10).
  mutating func consumeSkipped() -> StoredFix? {
    guard let last = skipped else { return nil }
    skipped = nil
    filter.move(to: last.fix)
    return last
  }

  /// The fixes that belong to the batch of a deferral that ended with the updates: those up to the stop (DEF-37).
  func finalBatch(of fixes: [StoredFix]) -> ArraySlice<StoredFix> {
    guard awaitsFinalBatch, let stoppedAt else { return [] }
    return fixes.prefix { $0.fix.acquired <= stoppedAt }
  }

  // MARK: Deferral

  /// Removes and returns the fixes that the deferral keeps.
  mutating func consumeHeld() -> [StoredFix] {
    defer { held = [] }
    if let last = held.last { filter.move(to: last.fix) }
    return held
  }

  /// Ends the deferral; returns the fixes that it kept, nil if there is no deferral.
  mutating func endDeferral() -> [StoredFix]? {
    guard deferral != nil else { return nil }
    deferral = nil
    return consumeHeld()
  }
}

/// A call of `allowDeferredLocationUpdates` without its finish.
struct OutstandingDeferral: Sendable {
  /// Number of the call.
  let call: Int
  /// Distance and deadline.
  let criteria: DeferralCriteria
  /// Path travelled since the call (DEF-20).
  var meter: PathMeter
  /// Whether the service counts this call itself; otherwise the fixes are kept in the process.
  var isForwarded: Bool

  /// Metres that are still to be travelled.
  var remainingDistance: Double {
    criteria.hasDistance
      ? max(criteria.distance - meter.length, 0) : LocationLimits.distanceMax
  }

  /// Seconds until the deadline.
  func remainingTime(at now: Instant) -> Double {
    criteria.hasTimeout
      ? max((criteria.deadline - now).seconds, 0) : LocationLimits.timeIntervalMax
  }

  /// Counts a fix; returns whether the distance is met by it.
  mutating func count(_ fix: Fix) -> Bool {
    guard criteria.hasDistance, fix.acquired > criteria.calledAt else { return false }
    meter.add(fix)
    return meter.length >= criteria.distance
  }

  /// Whether the timeout is met.
  func isOver(at now: Instant) -> Bool { criteria.hasTimeout && now >= criteria.deadline }
}

/// A manager's distance filter, with the rule of the service (STD-4, STD-5).
struct FilterOrigin: Sendable {
  private var coordinate: Coordinate?
  private var accuracy_mm: Int32?

  /// Whether a fix is far enough from the last delivered one, or more accurate.
  func passes(_ fix: Fix, filter: Double) -> Bool {
    guard let coordinate else { return true }
    if coordinate.localDistance(to: fix.coordinate) >= filter { return true }
    guard let accuracy = fix.horizontalAccuracy_mm, let accuracy_mm else { return false }
    return accuracy < accuracy_mm
  }

  /// Records the last delivered fix.
  mutating func move(to fix: Fix) {
    coordinate = fix.coordinate
    accuracy_mm = fix.horizontalAccuracy_mm
  }
}
