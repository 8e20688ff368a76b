import TorporLocation

QuietProgram.main {
  for try await update in LocationUpdate.liveUpdates(.fitness) {
    if let location = update.location {
      print(location.coordinate.latitude, location.coordinate.longitude)
    }
    if update.stationary { print("stationary: no updates until the device moves") }
    if update.authorizationRequestInProgress {
      print("not decided yet: sudo torpor clients allow $USER/trail-log")
    }
    if update.authorizationDenied { print("denied: sudo torpor clients allow $USER/trail-log") }
    if update.locationUnavailable { print("no location now; updates continue") }
  }
}
