import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Drains of the receiver's buffer")
struct BufferDrainTests {
  private let interval = Interval.seconds(1)

  @Test("a drain is requested until it finishes or the receiver is lost")
  func states() {
    var drain = BufferDrain()
    #expect(!drain.isRequested)
    drain.request()
    #expect(drain.isRequested)
    drain.finish(head: 3, at: Instant(seconds: 10))
    #expect(!drain.isRequested && drain.lastTime == Instant(seconds: 10))
    drain.request()
    drain.cancel()
    #expect(!drain.isRequested && drain.lastTime == Instant(seconds: 10))
  }

  @Test("PWR-7: the wait doubles with each drain without a fix, 12 times at most; a fix ends that")
  func doubling() {
    var drain = BufferDrain()
    drain.finish(head: 5, at: .boot)
    #expect(drain.nextTime(interval) == Instant(seconds: 1))
    for count in 1...14 {
      drain.finish(head: 5, at: .boot)
      #expect(drain.nextTime(interval) == Instant(seconds: Double(1 << min(count, 12))))
    }
    drain.finish(head: 6, at: Instant(seconds: 50))
    #expect(drain.nextTime(interval) == Instant(seconds: 51))
    drain.finish(head: 6, at: Instant(seconds: 60))
    #expect(drain.nextTime(interval) == Instant(seconds: 62))
  }

  @Test("when batching is commanded, the wait restarts")
  func batching() {
    var drain = BufferDrain()
    drain.beginBatching(at: Instant(seconds: 7))
    #expect(drain.lastTime == Instant(seconds: 7) && !drain.isRequested)
    #expect(drain.nextTime(interval) == Instant(seconds: 8))
  }
}
