/// Core Location's error codes, with Apple's numbers (`CLError.Code`).
@frozen public enum LocationErrorCode: Int, Sendable {
  /// No location now; the service keeps trying.
  case locationUnknown = 0
  /// The client may not use location.
  case denied = 1
  case network = 2
  case headingFailure = 3
  case regionMonitoringDenied = 4
  case regionMonitoringFailure = 5
  case regionMonitoringSetupDelayed = 6
  case regionMonitoringResponseDelayed = 7
  case geocodeFoundNoResult = 8
  case geocodeFoundPartialResult = 9
  case geocodeCanceled = 10
  /// No usable receiver, or it failed (DEF-1, DEF-43).
  case deferredFailed = 11
  /// Updates are not running or are paused (DEF-4).
  case deferredNotUpdatingLocation = 12
  /// Desired accuracy is neither Best nor BestForNavigation (DEF-2).
  case deferredAccuracyTooLow = 13
  /// A distance filter is set (DEF-3).
  case deferredDistanceFiltered = 14
  /// The client's own act ended the deferral (DEF-13, DEF-15, DEF-37).
  case deferredCanceled = 15
  case rangingUnavailable = 16
  case rangingFailure = 17
  case promptDeclined = 18
  case historicalLocationError = 19
}
