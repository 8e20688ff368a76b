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
    "PWR-14: a program that connects more than 30 s after the start, or although it failed, does not"
  )
  func late() {
    for (start, isLaunched) in [(-30, true), (-31, false), (nil, false)] as [(Int64?, Bool)] {
      var launch = PendingLaunch()
      launch.request(.visit, at: time(100))
      launch.recordStart(at: time(100))
      if let start { launch.recordUse(at: time(130 + start)) }
      let hasReason = launch.recordConnect(at: time(130))
      #expect(hasReason)
      #expect(launch.isLaunched == isLaunched)
    }
  }
}
