/// Core Location's error codes, with Apple's raw values (`CLError.Code`).
@frozen public enum LocationErrorCode: Int, Sendable {
  /// The location is unknown at present; the service keeps trying.
  case locationUnknown = 0
  /// The client is not permitted to use location.
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
  /// The receiver is missing, unusable or has failed (DEF-1, DEF-43).
  case deferredFailed = 11
  /// Location updates are stopped or paused (DEF-4).
  case deferredNotUpdatingLocation = 12
  /// Desired accuracy is neither Best nor BestForNavigation (DEF-2).
  case deferredAccuracyTooLow = 13
  /// A distance filter is set (DEF-3).
  case deferredDistanceFiltered = 14
  /// A request of the client itself ended the deferral (DEF-13, DEF-15, DEF-37).
  case deferredCanceled = 15
  case rangingUnavailable = 16
  case rangingFailure = 17
  case promptDeclined = 18
  case historicalLocationError = 19
}
