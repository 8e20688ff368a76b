import LocationTypes

/// Criteria of one call of `allowDeferredLocationUpdates(untilTraveled:timeout:)`.
public struct DeferralCriteria: Equatable, Sendable {
  /// Time of the call; only fixes acquired after it count (DEF-13).
  public let calledAt: Instant
  /// Metres to travel; infinite if unlimited (DEF-22).
  public let distance: Double
  /// When the timeout is met, on the boot clock (DEF-17); `.distantFuture` if unlimited.
  public let deadline: Instant

  /// Creates the criteria from the arguments of the call.
  ///
  /// Nil for a negative value or NaN, which ends the call with `deferredFailed` (DEF-23). `CLLocationDistanceMax`,
  /// `CLTimeIntervalMax` and infinity are unlimited (DEF-22).
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - timeout: Seconds.
  public init?(distance: Double, timeout: Double, calledAt now: Instant) {
    guard distance >= 0, timeout >= 0 else { return nil }
    calledAt = now
    self.distance = distance >= LocationLimits.distanceMax ? .infinity : distance
    deadline =
      timeout >= LocationLimits.timeIntervalMax ? .distantFuture : now + Interval(seconds: timeout)
  }

  /// Whether a distance ends the deferral.
  public var hasDistance: Bool { distance < .infinity }
  /// Whether a timeout ends the deferral.
  public var hasTimeout: Bool { deadline < .distantFuture }
}
