import COtherExecutor
import CoreLocation
import Glibc
import LocationClient

// A program with location managers, for tests that run it against the service: prints one line for each callback.
// With PROBE_EXECUTOR in the environment, another library has set a hook of Swift's executor.
//
//     CoreLocationProbe SHAPE [ACTION …]
//
// SHAPE: run-loop, dispatch-main, thread, task (a Task with live updates plus a run loop).
// ACTION: update, defer=METRES:SECONDS (calls again at each end), significant, visits, request, background,
//         times (prints the UTC of each location and of its delivery, microseconds), filter=METRES,
//         second-manager (another one that updates), second-defer=METRES:SECONDS (and defers),
//         region=LATITUDE:LONGITUDE:RADIUS

ClientProgram.bufferLines()

final class Delegate: NSObject, CLLocationManagerDelegate {
  let name: String
  /// Criteria that are set again at each end; nil for no deferral.
  var deferral: (distance: Double, timeout: Double)?
  /// Whether times are printed instead of locations.
  var printsTimes = false

  init(_ name: String) { self.name = name }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    print(name, "authorization", manager.authorizationStatus.rawValue)
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    if printsTimes { return printTimes(of: locations) }
    print(
      name, "locations", locations.count, locations.last?.coordinate.latitude ?? -1,
      manager.location?.coordinate.latitude ?? -1)
    if let criteria = deferral, !isDeferred { deferUpdates(manager, criteria) }
  }

  private func printTimes(of locations: [CLLocation]) {
    func microseconds(_ date: Date) -> Int64 {
      Int64((date.timeIntervalSince1970 * 1e6).rounded())
    }
    let now = Date()
    for location in locations {
      print(name, "received", microseconds(location.timestamp), microseconds(now))
    }
  }

  private var isDeferred = false

  private func deferUpdates(_ manager: CLLocationManager, _ criteria: (Double, Double)) {
    isDeferred = true
    print(name, "defers")
    manager.allowDeferredLocationUpdates(untilTraveled: criteria.0, timeout: criteria.1)
  }

  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {
    print(name, "finished", (error as? CLError)?.code.rawValue ?? -1)
    isDeferred = false
    if let criteria = deferral { deferUpdates(manager, criteria) }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print(name, "failed", (error as? CLError)?.code.rawValue ?? -1)
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    print(name, "visit", visit.coordinate.latitude)
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    print(name, "monitoring", region.identifier)
    manager.requestState(for: region)
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    print(name, "state", region.identifier, state.rawValue)
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) {
    print(name, "monitoring failed", (error as? CLError)?.code.rawValue ?? -1)
  }

  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    print(name, "paused")
  }

  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {
    print(name, "resumed")
  }
}

final class Program {
  private var managers: [CLLocationManager] = []
  private var delegates: [Delegate] = []

  private func add(_ name: String) -> (CLLocationManager, Delegate) {
    let manager = CLLocationManager()
    let delegate = Delegate(name)
    manager.delegate = delegate
    managers.append(manager)
    delegates.append(delegate)
    return (manager, delegate)
  }

  func start(_ actions: [String]) {
    let (manager, delegate) = add("first")
    for action in actions {
      let parts = action.split(separator: "=")
      let numbers = parts.dropFirst().first?.split(separator: ":").map { Double($0) ?? .nan } ?? []
      switch parts[0] {
      case "update": manager.startUpdatingLocation()
      case "defer": delegate.deferral = (numbers[0], numbers[1])
      case "times": delegate.printsTimes = true
      case "significant": manager.startMonitoringSignificantLocationChanges()
      case "visits": manager.startMonitoringVisits()
      case "request": manager.requestLocation()
      case "background": manager.allowsBackgroundLocationUpdates = true
      case "filter": manager.distanceFilter = numbers[0]
      case "second-manager": add("second").0.startUpdatingLocation()
      case "second-defer":
        let (second, itsDelegate) = add("second")
        itsDelegate.deferral = (numbers[0], numbers[1])
        second.allowsBackgroundLocationUpdates = true
        second.startUpdatingLocation()
      case "region":
        manager.startMonitoring(
          for: CLCircularRegion(
            center: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]),
            radius: numbers[2], identifier: "place"))
      default: fatalError("unknown action \(action)")
      }
    }
  }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let actions = Array(arguments.dropFirst())

/// Starts the actions; their managers live until `body` returns.
func start(_ actions: [String], then body: () -> Void) {
  let program = Program()
  program.start(actions)
  withExtendedLifetime(program, body)
}

switch arguments.first {
case "run-loop": start(actions) { RunLoop.main.run() }
case "dispatch-main": start(actions) { dispatchMain() }
case "thread":
  Thread {
    start(actions) { while RunLoop.current.run(mode: .default, before: .distantFuture) {} }
  }.start()
  while true { pause() }
case "task":
  Task {
    for try await update in CLLocationUpdate.liveUpdates() {
      if other_executor_jobs() > 0 { print("other executor") }
      print(
        "live", update.location?.coordinate.latitude ?? -1,
        update.locationUnavailable ? "unavailable" : "")
    }
  }
  RunLoop.main.run()
default: fatalError("name a shape")
}
