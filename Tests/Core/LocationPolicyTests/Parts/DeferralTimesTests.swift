import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Times of a deferral") struct DeferralTimesTests {
  @Test("Each event changes its own time, whatever was set before")
  func everyPair() {
    let (old, new) = (Instant(seconds: 1), Instant(seconds: 2))
    for check in [Instant.distantFuture, old] {
      for deadline in [Instant.boot, old] {
        var start = DeferralTimes()
        if check == old { start.scheduleCheck(at: old) }
        if deadline == old { start.awaitCall(until: old) }
        #expect(start.distanceCheck == check && start.rearmDeadline == deadline)
        var times = start
        times.scheduleCheck(at: new)
        #expect(times.distanceCheck == new && times.rearmDeadline == deadline)
        times.cancelCheck()
        #expect(times.distanceCheck == .distantFuture && times.rearmDeadline == deadline)
        times = start
        times.awaitCall(until: new)
        #expect(times.distanceCheck == check && times.rearmDeadline == new)
        times.endAwait()
        #expect(times.distanceCheck == check && times.rearmDeadline == .boot)
      }
    }
  }
}
