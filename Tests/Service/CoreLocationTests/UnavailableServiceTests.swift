import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// Records the errors of services that no board has.
private final class ErrorRecorder: NSObject, CLLocationManagerDelegate, @unchecked Sendable {
  let lines = Mutex<[String]>([])

  func note(_ line: String, _ error: (any Error)?) {
    let code = (error as? CLError)?.code.rawValue
    lines.withLock { $0.append("\(line) \(code.map { "\($0)" } ?? "nil")") }
  }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    note("failed", error)
  }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    note("ranging of \(beaconConstraint.major ?? 0)", error)
  }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) {
    note("ranging of \(region.identifier)", error)
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) {
    note("monitoring of \(region?.identifier ?? "nil")", error)
  }
}

@Suite("Services that no board has", .tags(.realTime))
struct UnavailableServiceTests {
  /// Creates a manager of a session without a service on a thread of its own, calls `start`, and runs its run loop until
  /// the delegate was called `count` times, at most 20 s.
  private func errors(
    _ count: Int, _ start: @escaping @Sendable (CLLocationManager, ErrorRecorder) -> Void
  ) async -> [String] {
    await withCheckedContinuation { continuation in
      Thread {
        let session = LocationSession(
          ClientIdentity(
            name: "test", socket: "/nonexistent/socket", needsExplicitSessions: false,
            hasBackgroundMode: false))
        let recorder = ErrorRecorder()
        let manager = CLLocationManager(session: session)
        manager.delegate = recorder
        start(manager, recorder)
        if !recorder.lines.withLock({ $0.isEmpty }) { recorder.note("called at once", nil) }
        let limit = Date(timeIntervalSinceNow: 20)
        while recorder.lines.withLock({ $0.count < count }), Date() < limit {
          RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.02))
        }
        RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.05))
        continuation.resume(returning: recorder.lines.withLock { $0 })
      }.start()
    }
  }

  @Test("REG-14: ranging fails with rangingUnavailable, a region of beacons with 5, later")
  func beacons() async {
    let lines = await errors(3) { manager, _ in
      let region = CLBeaconRegion(uuid: UUID(), major: 7, identifier: "desk")
      manager.startRangingBeacons(satisfying: region.beaconIdentityConstraint)
      manager.startRangingBeacons(in: region)
      manager.startMonitoring(for: region)
    }
    #expect(lines == ["ranging of 7 16", "ranging of desk 16", "monitoring of desk 5"])
  }

  @Test("a heading fails with headingFailure, later")
  func heading() async {
    let lines = await errors(1) { manager, _ in
      manager.startUpdatingHeading()
      manager.stopUpdatingHeading()
    }
    #expect(lines == ["failed 3"])
  }

  @Test("the request of full accuracy is answered on the manager's thread, later")
  func fullAccuracy() async {
    let lines = await errors(1) { manager, recorder in
      manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "trail") { error in
        recorder.note("answer", error)
      }
    }
    // Apple documents promptDeclined also for a program that already has full accuracy.
    #expect(lines == ["answer 18"])
  }

  @Test("REG-3: the monitoring of a circle with an invalid centre fails with 5")
  func invalidCircle() async {
    let lines = await errors(1) { manager, _ in
      manager.startMonitoring(
        for: CLCircularRegion(
          center: kCLLocationCoordinate2DInvalid, radius: 100, identifier: "nowhere"))
    }
    #expect(lines == ["monitoring of nowhere 5"])
  }
}
