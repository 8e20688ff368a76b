import CoreLocation

// Keeps the program in use while it is in the background.
let background = CLBackgroundActivitySession()

do {
  for try await update in CLLocationUpdate.liveUpdates(.fitness) {
    if let location = update.location {
      print(location.coordinate.latitude, location.coordinate.longitude)
    }
    if update.stationary { print("stationary: no updates until the device moves") }
    if update.authorizationRequestInProgress { print("waiting for permission") }
    if update.authorizationDenied { print("denied") }
    if update.locationUnavailable { print("no location now; updates continue") }
  }
} catch {
  print("could not start location updates: \(error)")
}
