import LocationTypes
import Testing

@testable import LocationHAL

@Suite("Duration of an epoch's input") struct BurstTimingTests {
  private func at(_ milliseconds: Int64) -> Instant { .boot + .milliseconds(milliseconds) }

  /// A timing that has measured epochs of `length_ms`, one per second.
  private func measured(_ length_ms: Int64) -> (timing: BurstTiming, next: Int64) {
    var timing = BurstTiming()
    var time: Int64 = 1_000
    for _ in 0..<BurstTiming.measurementCount {
      #expect(timing.didWake(at: at(time)) == .measure)
      timing.didMeasure(until: at(time + length_ms), at: at(time + length_ms + 30))
      time += 1_000
    }
    return (timing, time)
  }

  @Test("three epochs are measured; then the delay is their length and a margin")
  func measurements() {
    var (timing, next) = measured(480)
    #expect(timing.didWake(at: at(next)) == .delay(until: at(next + 500)))
    (timing, next) = measured(100)
    #expect(timing.didWake(at: at(next)) == .delay(until: at(next) + .microseconds(106_250)))
  }

  @Test("input that arrives in one piece is delivered immediately")
  func immediate() {
    for length in [0, 1, 2] as [Int64] {
      var (timing, next) = measured(length)
      #expect(timing.didWake(at: at(next)) == .deliver)
    }
  }

  @Test("bytes right after the delay extend it and are delivered immediately")
  func extended() {
    var (timing, next) = measured(100)
    #expect(timing.didWake(at: at(next)) != .deliver)
    timing.didDelay(until: at(next + 107))
    #expect(timing.didWake(at: at(next + 120)) == .deliver)
    #expect(timing.didWake(at: at(next + 140)) == .deliver)
    #expect(
      timing.didWake(at: at(next + 1_000))
        == .delay(until: at(next + 1_000) + .microseconds(148_750)))
  }

  @Test("on a stream without silence, the delay is at most 900 ms")
  func longest() {
    var (timing, next) = measured(100)
    _ = timing.didWake(at: at(next))
    for step in 1...200 { _ = timing.didWake(at: at(next + Int64(step) * 20)) }
    #expect(timing.epochSpan <= BurstTiming.maximumSpan)
  }

  @Test("every 600 epochs one is measured again, and the delay shrinks with it")
  func again() {
    var (timing, next) = measured(400)
    var count = 0
    for _ in 0..<BurstTiming.measurementPeriod {
      if timing.didWake(at: at(next)) == .measure {
        count += 1
        timing.didMeasure(until: at(next + 50), at: at(next + 80))
      } else {
        timing.didDelay(until: at(next + 420))
      }
      next += 1_000
    }
    #expect(count == 1 && timing.epochSpan < .milliseconds(60))
  }

  @Test("replies to written commands are delivered immediately and not measured")
  func replies() {
    var (timing, next) = measured(400)
    timing.didWrite(at: at(next))
    #expect(timing.didWake(at: at(next + 200)) == .deliver)
    #expect(timing.didWake(at: at(next + 220)) == .deliver)
    #expect(timing.epochSpan == .milliseconds(420))
    #expect(timing.didWake(at: at(next + 2_000)) == .delay(until: at(next + 2_420)))
  }

  @Test("epochs without a measured end are ignored, and measuring soon stops")
  func unfinished() {
    var timing = BurstTiming()
    for second in 1...Int64(BurstTiming.maximumFailedMeasurements) {
      #expect(timing.didWake(at: at(second * 1_000)) == .measure)
      timing.didMeasure(until: nil, at: at(second * 1_000 + 200))
    }
    #expect(timing.didWake(at: at(100_000)) == .deliver && timing.epochSpan == .zero)
  }

  @Test("repeated late input requests a measurement, with back-off")
  func lateInput() {
    var (timing, next) = measured(0)
    var measurements: [Int] = []
    for epoch in 0..<100 {
      if timing.didWake(at: at(next)) == .measure {
        measurements.append(epoch)
        timing.didMeasure(until: at(next), at: at(next + 30))
      }
      timing.didBufferInput(from: at(next), until: at(next + 40))
      next += 1_000
    }
    #expect(measurements == [4, 12, 28, 60])
  }
}

extension Interval {
  fileprivate static func microseconds(_ count: Int64) -> Interval { Interval(microseconds: count) }
}
