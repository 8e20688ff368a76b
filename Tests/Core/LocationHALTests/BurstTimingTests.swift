import LocationTypes
import Testing

@testable import LocationHAL

@Suite("How long an epoch's bytes keep coming") struct BurstTimingTests {
  private func at(_ milliseconds: Int64) -> Instant { .boot + .milliseconds(milliseconds) }

  /// Watched epochs of `length_ms`, every second.
  private func taught(_ length_ms: Int64) -> (timing: BurstTiming, next: Int64) {
    var timing = BurstTiming()
    var time: Int64 = 1_000
    for _ in 0..<BurstTiming.measurementCount {
      #expect(timing.didWake(at: at(time)) == .measure)
      timing.didMeasure(until: at(time + length_ms), at: at(time + length_ms + 30))
      time += 1_000
    }
    return (timing, time)
  }

  @Test("three epochs are watched; then it sleeps as long as they took, and a little more")
  func lessons() {
    var (timing, next) = taught(480)
    #expect(timing.didWake(at: at(next)) == .delay(until: at(next + 500)))
    (timing, next) = taught(100)
    #expect(timing.didWake(at: at(next)) == .delay(until: at(next) + .microseconds(106_250)))
  }

  @Test("what comes at once is handed on at once")
  func atOnce() {
    for length in [0, 1, 2] as [Int64] {
      var (timing, next) = taught(length)
      #expect(timing.didWake(at: at(next)) == .deliver)
    }
  }

  @Test("bytes right after the sleep make it longer, and are handed on at once")
  func stretch() {
    var (timing, next) = taught(100)
    #expect(timing.didWake(at: at(next)) != .deliver)
    timing.didDelay(until: at(next + 107))
    #expect(timing.didWake(at: at(next + 120)) == .deliver)
    #expect(timing.didWake(at: at(next + 140)) == .deliver)
    #expect(
      timing.didWake(at: at(next + 1_000))
        == .delay(until: at(next + 1_000) + .microseconds(148_750)))
  }

  @Test("a stream without silence is never waited for longer than 900 ms")
  func longest() {
    var (timing, next) = taught(100)
    _ = timing.didWake(at: at(next))
    for step in 1...200 { _ = timing.didWake(at: at(next + Int64(step) * 20)) }
    #expect(timing.epochSpan <= BurstTiming.maximumSpan)
  }

  @Test("an epoch is watched again every 600, and the sleep shrinks with it")
  func again() {
    var (timing, next) = taught(400)
    var watched = 0
    for _ in 0..<BurstTiming.measurementPeriod {
      if timing.didWake(at: at(next)) == .measure {
        watched += 1
        timing.didMeasure(until: at(next + 50), at: at(next + 80))
      } else {
        timing.didDelay(until: at(next + 420))
      }
      next += 1_000
    }
    #expect(watched == 1 && timing.epochSpan < .milliseconds(60))
  }

  @Test("answers to what was written are handed on at once, and teach nothing")
  func answers() {
    var (timing, next) = taught(400)
    timing.didWrite(at: at(next))
    #expect(timing.didWake(at: at(next + 200)) == .deliver)
    #expect(timing.didWake(at: at(next + 220)) == .deliver)
    #expect(timing.epochSpan == .milliseconds(420))
    #expect(timing.didWake(at: at(next + 2_000)) == .delay(until: at(next + 2_420)))
  }

  @Test("epochs that are not seen to their end teach nothing, and soon are not watched any more")
  func unfinished() {
    var timing = BurstTiming()
    for second in 1...Int64(BurstTiming.maximumFailedMeasurements) {
      #expect(timing.didWake(at: at(second * 1_000)) == .measure)
      timing.didMeasure(until: nil, at: at(second * 1_000 + 200))
    }
    #expect(timing.didWake(at: at(100_000)) == .deliver && timing.epochSpan == .zero)
  }

  @Test("an engine that misses the rest of epochs asks for a lesson, ever more seldom")
  func doubts() {
    var (timing, next) = taught(0)
    var lessons: [Int] = []
    for epoch in 0..<100 {
      if timing.didWake(at: at(next)) == .measure {
        lessons.append(epoch)
        timing.didMeasure(until: at(next), at: at(next + 30))
      }
      timing.didBufferInput(from: at(next), until: at(next + 40))
      next += 1_000
    }
    #expect(lessons == [4, 12, 28, 60])
  }
}

extension Interval {
  fileprivate static func microseconds(_ count: Int64) -> Interval { Interval(microseconds: count) }
}
