import CoreLocation

/// Receives every fix of a ride, in one batch every ten minutes, so that the board sleeps in between.
final class RideRecorder: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private var isDeferring = false
  /// Seconds between two batches.
  private let interval: TimeInterval

  init(interval: TimeInterval) {
    self.interval = interval
    super.init()
    manager.delegate = self
    // Deferral requires the best accuracy and no distance filter.
    manager.desiredAccuracy = kCLLocationAccuracyBest
    manager.distanceFilter = kCLDistanceFilterNone
    manager.activityType = .fitness
    manager.allowsBackgroundLocationUpdates = true
    manager.requestAlwaysAuthorization()
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations {
      print(location.timestamp.timeIntervalSince1970, location.coordinate.latitude, location.speed)
    }
    print("batch of \(locations.count)")
    deferUpdates()
  }

  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {
    isDeferring = false
    if let error = error as? CLError {
      // Updates arrive one by one until the next call.
      print("not deferred: \(error.code.rawValue)")
    } else {
      // The batch follows; deferring before it arrives keeps the receiver batching.
      deferUpdates()
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    if let error = error as? CLError, error.code == .denied {
      print("denied")
      manager.stopUpdatingLocation()
    } else {
      print("no location now; updates continue")
    }
  }

  /// A second call would cancel the deferral that runs.
  private func deferUpdates() {
    guard !isDeferring, CLLocationManager.deferredLocationUpdatesAvailable() else { return }
    isDeferring = true
    manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: interval)
  }
}

let minutes = CommandLine.arguments.dropFirst().first.flatMap(Double.init) ?? 10
let recorder = RideRecorder(interval: minutes * 60)
RunLoop.main.run()
