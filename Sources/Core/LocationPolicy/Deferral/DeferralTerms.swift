import LocationTypes

/// The criteria of one call of `allowDeferredLocationUpdates(untilTraveled:timeout:)`.
public struct DeferralTerms: Equatable, Sendable {
  /// When the call was made; only fixes acquired after it count (DEF-13).
  public let called: Instant
  /// Metres to travel; infinite when unlimited (DEF-22).
  public let distance: Double
  /// When the timeout is over, on the boot clock (DEF-17); `.distantFuture` when unlimited.
  public let deadline: Instant

  /// Reads the arguments of the call.
  ///
  /// Nil for a negative value or one that is not a number, which ends the call with
  /// `deferredFailed` (DEF-23). `CLLocationDistanceMax`, `CLTimeIntervalMax` and infinity are
  /// unlimited (DEF-22).
  ///
  /// - Parameters:
  ///   - distance: Metres.
  ///   - timeout: Seconds.
  public init?(distance: Double, timeout: Double, calledAt now: Instant) {
    guard distance >= 0, timeout >= 0 else { return nil }
    called = now
    self.distance = distance >= LocationLimits.distanceMax ? .infinity : distance
    deadline =
      timeout >= LocationLimits.timeIntervalMax ? .distantFuture : now + Interval(seconds: timeout)
  }

  /// Whether a distance ends the deferral.
  public var hasDistance: Bool { distance < .infinity }
  /// Whether a timeout ends the deferral.
  public var hasTimeout: Bool { deadline < .distantFuture }
}
