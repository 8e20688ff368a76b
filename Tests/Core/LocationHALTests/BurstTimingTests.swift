import LocationTypes
import Testing

@testable import LocationHAL

@Suite("How long an epoch's bytes keep coming") struct BurstTimingTests {
  private func at(_ milliseconds: Int64) -> Instant { .boot + .milliseconds(milliseconds) }

  /// Watched epochs of `length_ms`, every second.
  private func taught(_ length_ms: Int64) -> (timing: BurstTiming, next: Int64) {
    var timing = BurstTiming()
    var time: Int64 = 1_000
    for _ in 0..<BurstTiming.lessons {
      #expect(timing.woke(at: at(time)) == .watch)
      timing.watched(until: at(time + length_ms), at: at(time + length_ms + 30))
      time += 1_000
    }
    return (timing, time)
  }

  @Test("three epochs are watched; then it sleeps as long as they took, and a little more")
  func lessons() {
    var (timing, next) = taught(480)
    #expect(timing.woke(at: at(next)) == .hold(until: at(next + 500)))
    (timing, next) = taught(100)
    #expect(timing.woke(at: at(next)) == .hold(until: at(next) + .microseconds(106_250)))
  }

  @Test("what comes at once is handed on at once")
  func atOnce() {
    for length in [0, 1, 2] as [Int64] {
      var (timing, next) = taught(length)
      #expect(timing.woke(at: at(next)) == .handOn)
    }
  }

  @Test("bytes right after the sleep make it longer, and are handed on at once")
  func stretch() {
    var (timing, next) = taught(100)
    #expect(timing.woke(at: at(next)) != .handOn)
    timing.held(until: at(next + 107))
    #expect(timing.woke(at: at(next + 120)) == .handOn)
    #expect(timing.woke(at: at(next + 140)) == .handOn)
    #expect(
      timing.woke(at: at(next + 1_000)) == .hold(until: at(next + 1_000) + .microseconds(148_750)))
  }

  @Test("a stream without silence is never waited for longer than 900 ms")
  func longest() {
    var (timing, next) = taught(100)
    _ = timing.woke(at: at(next))
    for step in 1...200 { _ = timing.woke(at: at(next + Int64(step) * 20)) }
    #expect(timing.span <= BurstTiming.longest)
  }

  @Test("an epoch is watched again every 600, and the sleep shrinks with it")
  func again() {
    var (timing, next) = taught(400)
    var watched = 0
    for _ in 0..<BurstTiming.lessonEvery {
      if timing.woke(at: at(next)) == .watch {
        watched += 1
        timing.watched(until: at(next + 50), at: at(next + 80))
      } else {
        timing.held(until: at(next + 420))
      }
      next += 1_000
    }
    #expect(watched == 1 && timing.span < .milliseconds(60))
  }

  @Test("answers to what was written are handed on at once, and teach nothing")
  func answers() {
    var (timing, next) = taught(400)
    timing.wrote(at: at(next))
    #expect(timing.woke(at: at(next + 200)) == .handOn)
    #expect(timing.woke(at: at(next + 220)) == .handOn)
    #expect(timing.span == .milliseconds(420))
    #expect(timing.woke(at: at(next + 2_000)) == .hold(until: at(next + 2_420)))
  }

  @Test("epochs that are not seen to their end teach nothing, and soon are not watched any more")
  func unfinished() {
    var timing = BurstTiming()
    for second in 1...Int64(BurstTiming.attempts) {
      #expect(timing.woke(at: at(second * 1_000)) == .watch)
      timing.watched(until: nil, at: at(second * 1_000 + 200))
    }
    #expect(timing.woke(at: at(100_000)) == .handOn && timing.span == .zero)
  }

  @Test("an engine that misses the rest of epochs asks for a lesson, ever more seldom")
  func doubts() {
    var (timing, next) = taught(0)
    var lessons: [Int] = []
    for epoch in 0..<100 {
      if timing.woke(at: at(next)) == .watch {
        lessons.append(epoch)
        timing.watched(until: at(next), at: at(next + 30))
      }
      timing.wasDeaf(from: at(next), until: at(next + 40))
      next += 1_000
    }
    #expect(lessons == [4, 12, 28, 60])
  }
}

extension Interval {
  fileprivate static func microseconds(_ count: Int64) -> Interval { Interval(microseconds: count) }
}
