import CoreLocation

/// Records where the device stays, and for how long.
final class VisitRecorder: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()

  func start() {
    manager.delegate = self
    manager.requestAlwaysAuthorization()
  }

  func startReceivingVisitChanges() {
    let authorizationStatus = manager.authorizationStatus
    if authorizationStatus != .authorizedAlways {
      print(authorizationStatus == .notDetermined ? "waiting for permission" : "denied")
      return
    }
    if !CLLocationManager.locationServicesEnabled() {
      print("location services are off")
      return
    }
    manager.startMonitoringVisits()
    print("monitoring visits")
  }

  /// Called once with the first authorization, then with each change.
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    startReceivingVisitChanges()
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    let place = "\(visit.coordinate.latitude) \(visit.coordinate.longitude)"
    if visit.departureDate == .distantFuture {
      print("arrived", place)
    } else if visit.arrivalDate == .distantPast {
      print("left", place)
    } else {
      let duration = visit.departureDate.timeIntervalSince(visit.arrivalDate)
      print("left", place, "after \(Int(duration / 60)) min")
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    if let error = error as? CLError, error.code == .denied {
      print("denied")
      manager.stopMonitoringVisits()
      return
    }
    print("no location now; the service continues")
  }
}

let recorder = VisitRecorder()
recorder.start()
RunLoop.main.run()
