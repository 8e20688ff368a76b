import CoreLocation
import Testing

// The shapes of the listings in Apple's articles about significant change, visits and live updates, with stand-ins for
// what is not Core Location: SwiftUI's property wrapper and protocol, and a logger. Compiled; only the delegate is run.

private protocol ObservableObject: AnyObject {}

@propertyWrapper private struct Published<Value> {
  var wrappedValue: Value
}

private struct Logger {
  func info(_ text: String) { print(text) }
}

/// "Using the Significant-Change Location Service" and "Using the Visits Location Service".
private final class ListingsDelegate: NSObject, CLLocationManagerDelegate {
  let locationManager = CLLocationManager()
  var seen: [String] = []

  func startMySignificantLocationChanges() {
    if !CLLocationManager.significantLocationChangeMonitoringAvailable() {
      // The device does not support this service.
      return
    }
    locationManager.startMonitoringSignificantLocationChanges()
  }

  func startReceivingVisitChanges() {
    let authorizationStatus = CLLocationManager.authorizationStatus()
    if authorizationStatus != .authorizedAlways {
      // User has not authorized access to location information.
      return
    }
    if !CLLocationManager.locationServicesEnabled() {
      // This service is not available.
      return
    }
    locationManager.startMonitoringVisits()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let lastLocation = locations.last!
    seen.append("location \(lastLocation.coordinate.latitude)")
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    seen.append("visit")
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: Error) {
    // The listing for visits compares the code of the error as it is, the other one that of a `CLError`.
    if error.code == .denied {
      seen.append("denied")
    }
    if let error = error as? CLError, error.code == .denied {
      // Location updates are not authorized.
      manager.stopMonitoringSignificantLocationChanges()
      manager.stopMonitoringVisits()
      return
    }
    // Notify the user of any errors.
    seen.append("failed")
  }
}

/// "Supporting live updates in SwiftUI and Mac Catalyst apps".
@MainActor private class LocationsHandler: ObservableObject {
  static let shared = LocationsHandler()
  private let manager: CLLocationManager
  private var background: CLBackgroundActivitySession?
  private let logger = Logger()

  @Published var lastLocation = CLLocation()
  @Published var isStationary = false
  @Published var count = 0

  @Published
  var updatesStarted: Bool = UserDefaults.standard.bool(forKey: "liveUpdatesStarted") {
    didSet { UserDefaults.standard.set(updatesStarted, forKey: "liveUpdatesStarted") }
  }

  @Published
  var backgroundActivity: Bool = UserDefaults.standard.bool(forKey: "BGActivitySessionStarted") {
    didSet {
      backgroundActivity
        ? self.background = CLBackgroundActivitySession() : self.background?.invalidate()
      UserDefaults.standard.set(backgroundActivity, forKey: "BGActivitySessionStarted")
    }
  }

  private init() {
    self.manager = CLLocationManager()
  }

  func startLocationUpdates() {
    if self.manager.authorizationStatus == .notDetermined {
      self.manager.requestWhenInUseAuthorization()
    }
    self.logger.info("Starting location updates")
    Task {
      do {
        self.updatesStarted = true
        let updates = CLLocationUpdate.liveUpdates()
        for try await update in updates {
          if !self.updatesStarted { break }
          if let loc = update.location {
            self.lastLocation = loc
            self.isStationary = update.isStationary
            self.count += 1
            print("Location \(self.count): \(self.lastLocation)")
          }
        }
      } catch {
        print("Could not start location updates")
      }
      return
    }
  }

  func stopLocationUpdates() {
    self.updatesStarted = false
  }
}

private class AppDelegate: NSObject, ObservableObject {
  @MainActor func applicationDidFinishLaunching() -> Bool {
    let locationsHandler = LocationsHandler.shared
    // If location updates were previously active, restart them after the background launch.
    if locationsHandler.updatesStarted {
      locationsHandler.startLocationUpdates()
    }
    // If a background activity session was previously active, reinstantiate it after the background launch.
    if locationsHandler.backgroundActivity {
      locationsHandler.backgroundActivity = true
    }
    return true
  }
}

@Suite("Listings of Apple's articles")
struct AppleListings {
  @Test("the delegate of the listings handles locations, visits and errors")
  func delegate() {
    let delegate = ListingsDelegate()
    let manager = delegate.locationManager
    delegate.locationManager(manager, didUpdateLocations: [CLLocation(latitude: 1, longitude: 2)])
    delegate.locationManager(manager, didVisit: CLVisit())
    delegate.locationManager(manager, didFailWithError: CLError(.denied))
    delegate.locationManager(manager, didFailWithError: CLError(.locationUnknown))
    delegate.locationManager(manager, didFailWithError: CocoaError(.featureUnsupported))
    #expect(delegate.seen == ["location 1.0", "visit", "denied", "failed", "failed"])
  }

  @Test("the functions of the listings are compiled, not called")
  func compiled() {
    _ = ListingsDelegate.startMySignificantLocationChanges
    _ = ListingsDelegate.startReceivingVisitChanges
    _ = AppDelegate.self
  }
}
