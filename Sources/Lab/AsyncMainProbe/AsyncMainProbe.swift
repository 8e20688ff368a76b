import CoreLocation

/// A program with an asynchronous main function, for measurements of idle wakes.
///
/// `AsyncMainProbe live` iterates over live updates; `AsyncMainProbe delegate` reads the callbacks of a manager's delegate
/// from a stream. Both print each location, and run until they are killed.
@main
@MainActor
struct AsyncMainProbe {
  static func main() async throws {
    switch CommandLine.arguments.dropFirst().first {
    case "live":
      for try await update in CLLocationUpdate.liveUpdates() {
        if let location = update.location { report(location) }
      }
    case "delegate":
      let relay = Relay()
      for await location in relay.locations { report(location) }
    default:
      print("usage: AsyncMainProbe live | delegate")
      exit(64)
    }
  }

  private static func report(_ location: CLLocation) {
    print("fix", location.coordinate.latitude, location.coordinate.longitude)
  }
}

/// Relays the locations of a manager to a stream.
@MainActor
final class Relay: NSObject, @MainActor CLLocationManagerDelegate {
  /// The delivered locations.
  let locations: AsyncStream<CLLocation>
  private let continuation: AsyncStream<CLLocation>.Continuation
  private let manager = CLLocationManager()

  override init() {
    (locations, continuation) = AsyncStream.makeStream()
    super.init()
    manager.delegate = self
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations { continuation.yield(location) }
  }
}
