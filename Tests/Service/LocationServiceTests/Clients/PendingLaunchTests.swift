import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("The start of a client's program") struct PendingLaunchTests {
  private func time(_ seconds: Int64) -> Instant { .boot + .seconds(seconds) }

  @Test("PWR-14: a session counts as launched within 30 s of the start or of the last such session")
  func launched() {
    var launch = PendingLaunch()
    launch.request(.visit, at: time(1))
    launch.recordStart(at: time(1))
    launch.recordUse(at: time(1))
    #expect(!launch.isLaunched)
    // The script's first command, its next ones, and a person's command later.
    for (connect, end, isLaunched) in [
      (5, 10, true), (40, 41, true), (71, 72, true), (103, 104, false), (105, 106, false),
    ] {
      let hasReason = launch.recordConnect(at: time(Int64(connect)))
      #expect(hasReason == (connect == 5))
      #expect(launch.isLaunched == isLaunched, "\(connect)")
      launch.recordEnd(at: time(Int64(end)))
    }
  }

  @Test(
    "PWR-14: a session more than 30 s after the start, or after a start that failed, does not count as launched"
  )
  func late() {
    for (start, isLaunched) in [(100, true), (99, false), (nil, false)] as [(Int64?, Bool)] {
      var launch = PendingLaunch()
      launch.request(.visit, at: time(100))
      launch.recordStart(at: time(100))
      if let start { launch.recordUse(at: time(start)) }
      let hasReason = launch.recordConnect(at: time(130))
      #expect(hasReason)
      #expect(launch.isLaunched == isLaunched)
    }
  }
}
