import LocationTypes
import Testing
import UplinkPayload

@testable import Uplink

@Suite("In which order the uplink tries destinations")
struct DestinationOrderTests {
  @Test("each of up to four destinations gets time, also if none answers", arguments: 1...4)
  func shares(count: Int) {
    let end = Instant(seconds: 1_055)
    var now = Instant(seconds: 1_000)
    for number in 0..<count {
      let limit = DestinationOrder.end(of: end, remaining: count - number, at: now)
      #expect(limit - now >= .seconds(13) && limit <= end)
      now = limit
    }
    #expect(now == end, "the last one gets all that is left")
  }

  @Test("time that a destination does not use is for the next ones")
  func rest() {
    let end = Instant(seconds: 1_055)
    let limit = DestinationOrder.end(of: end, remaining: 2, at: Instant(seconds: 1_001))
    #expect(limit == Instant(seconds: 1_028))
    #expect(
      DestinationOrder.end(of: end, remaining: 2, at: Instant(seconds: 1_060))
        == Instant(seconds: 1_060), "the time is over")
  }

  @Test("uploads begin with the destination that worked last, for a day")
  func preference() {
    let start = Instant(seconds: 100)
    var order = DestinationOrder(count: 4)
    #expect(order.indices(at: start) == [0, 1, 2, 3])
    order.succeed(2, at: start)
    #expect(order.indices(at: start) == [2, 0, 1, 3])
    // Further successes do not extend the time.
    order.succeed(2, at: Instant(seconds: 80_000))
    #expect(order.indices(at: Instant(seconds: 86_499)) == [2, 0, 1, 3])
    #expect(order.indices(at: Instant(seconds: 86_500)) == [0, 1, 2, 3])
    // The first one does not work yet.
    order.succeed(2, at: Instant(seconds: 86_500))
    #expect(order.indices(at: Instant(seconds: 86_501)) == [2, 0, 1, 3])
    order.succeed(0, at: Instant(seconds: 86_502))
    #expect(order.indices(at: Instant(seconds: 86_503)) == [0, 1, 2, 3])
    order.succeed(3, at: Instant(seconds: 86_504))
    #expect(order.indices(at: Instant(seconds: 86_505)) == [3, 0, 1, 2])
  }
}
