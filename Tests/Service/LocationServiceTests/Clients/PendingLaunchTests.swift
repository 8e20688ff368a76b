import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("The start of a client's program") struct PendingLaunchTests {
  private func time(_ seconds: Int64) -> Instant { .boot + .seconds(seconds) }

  @Test("PWR-14: a program counts as started if it connects within 30 s of the last one that did")
  func launched() {
    var launch = PendingLaunch()
    launch.request(.visit, at: time(1))
    launch.recordStart(at: time(1))
    #expect(!launch.isLaunched)
    // The script's first command, its next ones, and a person's command later.
    for (connect, end, isLaunched) in [
      (5, 10, true), (40, 41, true), (71, 72, true), (103, 104, false), (105, 106, false),
    ] {
      #expect(launch.recordConnect(at: time(Int64(connect))) == (connect == 5))
      #expect(launch.isLaunched == isLaunched, "\(connect)")
      launch.recordEnd(at: time(Int64(end)))
    }
  }
}
