import LocationPolicy
import LocationTypes

/// What one location manager wants, and the fixes that it does not get yet. A part of ``MergedDemand``.
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
  /// Whether it monitors significant changes.
  var wantsSignificantChange = false
  /// Whether it monitors visits.
  var wantsVisits = false
  /// Number of the current run of updates: deliveries of an earlier run are dropped.
  var run = 0

  /// Whether the manager uses a service that reports failures.
  var usesService: Bool { isUpdating || requestsLocation || wantsSignificantChange || wantsVisits }

  /// Whether a deferral keeps fixes in the process.
  var holdsFixes: Bool { deferral.map { !$0.isForwarded } ?? false }
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
