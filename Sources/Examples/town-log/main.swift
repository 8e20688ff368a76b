import CoreLocation

/// Records in which part of a town the device is, from significant changes of the location.
final class TownRecorder: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()

  func startMySignificantLocationChanges() {
    if !CLLocationManager.significantLocationChangeMonitoringAvailable() {
      print("this board has no source of locations")
      return
    }
    manager.delegate = self
    manager.requestAlwaysAuthorization()
    manager.startMonitoringSignificantLocationChanges()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let lastLocation = locations.last!
    // The first location may be a stored one.
    let age = -lastLocation.timestamp.timeIntervalSinceNow
    let kind = age > 60 ? "stored" : "current"
    print(kind, lastLocation.coordinate.latitude, lastLocation.coordinate.longitude)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    if let error = error as? CLError, error.code == .denied {
      print("denied")
      manager.stopMonitoringSignificantLocationChanges()
      return
    }
    print("no location now; the service continues")
  }
}

let recorder = TownRecorder()
recorder.startMySignificantLocationChanges()
RunLoop.main.run()
