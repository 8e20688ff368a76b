import LocationTypes

/// Criteria of one call of `allowDeferredLocationUpdates(untilTraveled:timeout:)`.
public struct DeferralCriteria: Equatable, Sendable {
  /// Time of the call; only fixes acquired after it count (DEF-13).
  public let calledAt: Instant
  /// Metres to travel; infinite if unlimited (DEF-22).
  public let distance: Double
  /// When the timeout is met, on the boot clock (DEF-17); `.distantFuture` if unlimited. From then on a fix ends the
  /// deferral (DEF-45).
  public let timeoutEnd: Instant
  /// When the deferral ends without a further fix: ``timeoutEnd`` plus the slack (DEF-45).
  public let deadline: Instant

  /// Creates the criteria from the arguments of the call.
  ///
  /// Nil for a negative value or NaN, which ends the call with `deferredFailed` (DEF-23). `CLLocationDistanceMax`,
  /// `CLTimeIntervalMax` and infinity are unlimited (DEF-22).
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - timeout: Seconds.
  ///   - slack: Seconds by which the end may be later than the timeout, to join fixes that arrive anyway.
  public init?(distance: Double, timeout: Double, slack: Double = 0, calledAt now: Instant) {
    guard distance >= 0, timeout >= 0, slack >= 0 else { return nil }
    calledAt = now
    self.distance = distance >= LocationLimits.distanceMax ? .infinity : distance
    timeoutEnd =
      timeout >= LocationLimits.timeIntervalMax ? .distantFuture : now + Interval(seconds: timeout)
    deadline = timeoutEnd + Interval(seconds: slack)
  }

  /// Whether a distance ends the deferral.
  public var hasDistance: Bool { distance < .infinity }
  /// Whether a timeout ends the deferral.
  public var hasTimeout: Bool { deadline < .distantFuture }
  /// Whether a fix between timeout and deadline ends the deferral.
  public var hasSlack: Bool { timeoutEnd < deadline }
}
