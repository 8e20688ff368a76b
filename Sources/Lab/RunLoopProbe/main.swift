import CoreLocation

/// Prints each location that its manager delivers.
final class Printer: NSObject, CLLocationManagerDelegate {
  private let manager = CLLocationManager()

  func start() {
    manager.delegate = self
    manager.startUpdatingLocation()
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    for location in locations {
      print("fix", location.coordinate.latitude, location.coordinate.longitude)
    }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    print("error", (error as? CLError)?.code.rawValue ?? -1)
  }
}

/// How a program waits for locations.
enum Shape: String {
  /// A manager of the main thread; the main thread runs its run loop.
  case mainRunLoop = "main-run-loop"
  /// A manager of the main thread; the main thread runs the main queue.
  case dispatchMain = "dispatch-main"
  /// A manager of another thread, which runs its run loop; the main thread waits.
  case thread
  /// Live updates in a task; the main thread runs its run loop.
  case task
}

/// Runs until it is killed.
@MainActor func run(_ shape: Shape) {
  let printer = Printer()
  switch shape {
  case .mainRunLoop:
    printer.start()
    RunLoop.main.run()
  case .dispatchMain:
    printer.start()
    withExtendedLifetime(printer) { dispatchMain() }
  case .thread:
    Thread {
      let printer = Printer()
      printer.start()
      withExtendedLifetime(printer) { RunLoop.current.run() }
    }.start()
    DispatchSemaphore(value: 0).wait()
  case .task:
    Task {
      for try await update in CLLocationUpdate.liveUpdates() {
        guard let location = update.location else { continue }
        print("fix", location.coordinate.latitude, location.coordinate.longitude)
      }
    }
    RunLoop.main.run()
  }
}

guard let shape = CommandLine.arguments.dropFirst().first.flatMap(Shape.init(rawValue:)) else {
  print("usage: RunLoopProbe main-run-loop | dispatch-main | thread | task")
  exit(64)
}
run(shape)
