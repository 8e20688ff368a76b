import CoreLocation

/// Monitors a gate, and states which permission it needs and why it may be missing.
@main
@MainActor
struct GateLog {
  static func main() async {
    // As long as this session exists, the program requires permission to use location at any time.
    let session = CLServiceSession(authorization: .always)
    let diagnostics = Task {
      for try await diagnostic in session.diagnostics {
        if diagnostic.authorizationRequestInProgress { print("waiting for permission") }
        if diagnostic.authorizationDenied { print("denied") }
        if diagnostic.alwaysAuthorizationDenied { print("allowed only while in use") }
        if diagnostic.insufficientlyInUse {
          print("not in use: start the program in the foreground")
        }
      }
    }
    await monitor()
    diagnostics.cancel()
    session.invalidate()
  }

  /// Prints each entry and exit.
  private static func monitor() async {
    let monitor = await CLMonitor("gates")
    // Adding a condition again would delete its last event.
    if await monitor.record(for: "gate") == nil {
      let center = CLLocationCoordinate2D(latitude: 52.3720, longitude: 4.9097)
      let gate = CLMonitor.CircularGeographicCondition(center: center, radius: 150)
      await monitor.add(gate, identifier: "gate")
    }
    do {
      for try await event in await monitor.events {
        switch event.state {
        case .satisfied: print(event.identifier, "entered", event.date)
        case .unsatisfied: print(event.identifier, "left", event.date)
        default: print(event.identifier, "not known now")
        }
      }
    } catch {
      print("the monitor ended: \(error)")
    }
  }
}
