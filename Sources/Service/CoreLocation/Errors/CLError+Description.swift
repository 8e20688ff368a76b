extension CLError.Code {
  /// What `localizedDescription` returns. Foundation has only the number of a code that it does not know.
  var text: String {
    switch self {
    case .locationUnknown: "the location is not known now"
    case .denied: "this program may not use location"
    case .network: "geocoding is not available"
    case .headingFailure: "the heading cannot be determined"
    case .regionMonitoringDenied: "this program may not monitor regions"
    case .regionMonitoringFailure: "this region cannot be monitored"
    case .regionMonitoringSetupDelayed: "the monitoring of this region starts later"
    case .regionMonitoringResponseDelayed: "events of this region may be late"
    case .geocodeFoundNoResult: "there is no result"
    case .geocodeFoundPartialResult: "there is only a partial result"
    case .geocodeCanceled: "the request was cancelled"
    case .deferredFailed: "not deferred: the receiver is missing, unusable or has failed"
    case .deferredNotUpdatingLocation: "not deferred: location updates are stopped or paused"
    case .deferredAccuracyTooLow:
      "not deferred: the desired accuracy must be kCLLocationAccuracyBest or BestForNavigation"
    case .deferredDistanceFiltered:
      "not deferred: the distance filter must be kCLDistanceFilterNone"
    case .deferredCanceled: "the deferral was ended by a call of this program"
    case .rangingUnavailable: "beacons cannot be ranged"
    case .rangingFailure: "ranging failed"
    case .promptDeclined: "the request was declined: an administrator decides about it"
    case .historicalLocationError: "a location of the past cannot be determined"
    }
  }
}
