import LocationTypes
import Testing

@Suite struct RetryBackoffTests {
  @Test("the delay doubles with each failure, up to the longest")
  func doubling() {
    var retry = RetryBackoff(initial: .seconds(60), longest: .seconds(300))
    #expect(!retry.isWaiting(at: .boot))
    let now = Instant(seconds: 1_000)
    let delays = (1...5).map { _ in (retry.recordFailure(at: now) - now).seconds }
    #expect(delays == [60, 120, 240, 300, 300])
    #expect(retry.failures == 5)
    #expect(retry.delay == .seconds(300))
    #expect(retry.isWaiting(at: Instant(seconds: 1_299.999)))
    #expect(!retry.isWaiting(at: Instant(seconds: 1_300)))
  }

  @Test("a reset clears the failures and the wait")
  func reset() {
    var retry = RetryBackoff(initial: .seconds(1), longest: .seconds(8))
    retry.recordFailure(at: Instant(seconds: 10))
    retry.recordFailure(at: Instant(seconds: 20))
    retry.reset()
    #expect(retry == RetryBackoff(initial: .seconds(1), longest: .seconds(8)))
    #expect(!retry.isWaiting(at: Instant(seconds: 20)))
    #expect(retry.recordFailure(at: Instant(seconds: 20)) == Instant(seconds: 21))
  }

  @Test("a time set by the owner counts as no failure")
  func nextTime() {
    var retry = RetryBackoff(initial: .seconds(1), longest: .seconds(8))
    retry.nextTime = Instant(seconds: 5)
    #expect(retry.isWaiting(at: Instant(seconds: 4)))
    #expect(retry.failures == 0)
    #expect(retry.delay == .seconds(1))
    #expect(retry.recordFailure(at: Instant(seconds: 5)) == Instant(seconds: 6))
  }

  @Test("any number of failures is possible")
  func limit() {
    var retry = RetryBackoff(initial: .seconds(86_400), longest: .unlimited)
    for _ in 0..<100 { retry.recordFailure(at: .boot) }
    #expect(retry.failures == 17)
    #expect(retry.delay == .seconds(86_400 << 16))
    #expect(
      RetryBackoff.delay(after: .max, initial: .seconds(1), longest: .seconds(9)) == .seconds(9))
    for none in [0, -1] as [Int64] {
      #expect(
        RetryBackoff.delay(after: none, initial: .seconds(2), longest: .seconds(9)) == .seconds(2))
    }
  }
}
