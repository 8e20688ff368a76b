import CoreLocation
import LocationClient

// A program with an asynchronous main function, for tests that run it against the service: prints one line for each
// element or callback.
//
//     CoreLocationAsyncProbe SHAPE
//
// live: a loop over live updates, with a background session; delegate: a manager whose delegate is on the main actor;
// monitor: adds a condition and prints the events; session: prints the diagnostics of a service session; first: ends
// with the first location of a loop; five: opens five loops.

ClientProgram.bufferLines()

@MainActor final class Delegate: NSObject, @preconcurrency CLLocationManagerDelegate {
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    print("delegate", locations.last?.coordinate.latitude ?? -1)
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print("failed", (error as? CLError)?.code.rawValue ?? -1)
  }
}

func printFirst() async throws {
  for try await update in CLLocationUpdate.liveUpdates() where update.location != nil {
    describe(update)
    break
  }
}

func describe(_ update: CLLocationUpdate) {
  var words = ["live"]
  if let location = update.location { words.append("\(location.coordinate.latitude)") }
  if update.stationary { words.append("stationary") }
  if update.locationUnavailable { words.append("unavailable") }
  if update.authorizationDenied { words.append("denied") }
  if update.authorizationRequestInProgress { words.append("undecided") }
  if update.insufficientlyInUse { words.append("insufficient") }
  if update.serviceSessionRequired { words.append("session-required") }
  print(words.joined(separator: " "))
}

switch CommandLine.arguments.dropFirst().first {
case "live":
  let background = CLBackgroundActivitySession()
  for try await update in CLLocationUpdate.liveUpdates(.fitness) { describe(update) }
  background.invalidate()
case "first":
  try await printFirst()
  print("left the loop")
  for try await _ in CLServiceSession(authorization: .none).diagnostics {}
case "delegate":
  let manager = CLLocationManager()
  let delegate = Delegate()
  manager.delegate = delegate
  manager.startUpdatingLocation()
  while true { unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
case "monitor":
  let monitor = await CLMonitor("probe")
  let center = CLLocationCoordinate2D(latitude: 52.372, longitude: 4.909677)
  await monitor.add(
    CLMonitor.CircularGeographicCondition(center: center, radius: 100_000), identifier: "here")
  await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: UUID()), identifier: "beacon")
  print("conditions", await monitor.identifiers)
  for try await event in await monitor.events {
    let record = await monitor.record(for: event.identifier)
    print(
      "event", event.identifier, event.state.rawValue, event.conditionUnsupported,
      record?.lastEvent.state.rawValue ?? -1)
  }
case "session":
  let session = CLServiceSession(authorization: .always, fullAccuracyPurposeKey: "trail")
  for try await diagnostic in session.diagnostics {
    print(
      "diagnostic", diagnostic.alwaysAuthorizationDenied, diagnostic.authorizationDenied,
      diagnostic.authorizationRequestInProgress)
  }
case "five":
  var loops: [CLLocationUpdate.Updates.Iterator] = []
  for _ in 0..<5 {
    var loop = CLLocationUpdate.liveUpdates().makeAsyncIterator()
    do { print("opened", try await loop.next() != nil) } catch { print("refused", error) }
    loops.append(loop)
  }
default: fatalError("name a shape")
}
