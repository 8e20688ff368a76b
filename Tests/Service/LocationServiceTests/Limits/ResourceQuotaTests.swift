import LocationTypes
import Testing

@testable import LocationService

@Suite("Quotas and rates")
struct ResourceQuotaTests {
  private let quota = ResourceQuota(
    total: 10, reserved: 2, unpermitted: 5, perUser: 4, perUnpermittedUser: 3)

  private func refusal(
    _ standing: Standing, all: Int = 0, unpermitted: Int = 0, own: Int = 0
  ) -> ResourceQuota.Refusal? {
    quota.refusal(standing, .init(all: all, unpermitted: unpermitted, own: own))
  }

  @Test("RES-3: each limit applies to its standing, at its exact number")
  func bounds() {
    #expect(refusal(.unpermitted, all: 4, unpermitted: 4, own: 2) == nil)
    #expect(refusal(.unpermitted, all: 3, unpermitted: 3, own: 3) == .user)
    #expect(refusal(.unpermitted, all: 5, unpermitted: 5, own: 0) == .unpermitted)
    #expect(refusal(.unpermitted, all: 8, unpermitted: 0, own: 0) == .total)
    #expect(refusal(.permitted, all: 7, unpermitted: 5, own: 3) == nil)
    #expect(refusal(.permitted, all: 7, own: 4) == .user)
    #expect(refusal(.permitted, all: 8) == .total)
    #expect(refusal(.administrator, all: 9, unpermitted: 9, own: 9) == nil)
    #expect(refusal(.administrator, all: 10) == .total)
  }

  private func candidate(
    _ index: Int, _ user: UInt32, idle: Bool = false, amount: Int = 1, at second: Int64 = 0
  ) -> DisplacementCandidate {
    DisplacementCandidate(
      index: index, user: user, amount: amount, isIdle: idle,
      lastUse: Instant(microseconds: second * 1_000_000))
  }

  @Test("RES-1: the user with most loses one, unless the gaining user would then have more")
  func displaced() {
    let two = [candidate(0, 1, at: 5), candidate(1, 1, at: 3), candidate(2, 2, at: 1)]
    #expect(DisplacementCandidate.selectDisplaced(for: 3, among: two, includesIdle: false) == 1)
    #expect(DisplacementCandidate.selectDisplaced(for: 2, among: two, includesIdle: false) == nil)
    #expect(DisplacementCandidate.selectDisplaced(for: 1, among: two, includesIdle: false) == nil)
    let one = [
      candidate(0, 1, idle: true, at: 5), candidate(1, 2, idle: true, at: 3), candidate(2, 4),
    ]
    #expect(DisplacementCandidate.selectDisplaced(for: 3, among: one, includesIdle: false) == nil)
    #expect(DisplacementCandidate.selectDisplaced(for: 3, among: one, includesIdle: true) == 1)
    #expect(DisplacementCandidate.selectDisplaced(for: nil, among: two, includesIdle: false) == 1)
    #expect(DisplacementCandidate.selectDisplaced(for: nil, among: [], includesIdle: true) == nil)
  }

  @Test("RES-1: an idle candidate goes first, then the largest, then the oldest")
  func least() {
    #expect(
      DisplacementCandidate.leastUseful([
        candidate(0, 1, at: 1), candidate(1, 1, idle: true, at: 9),
      ]) == 1)
    #expect(
      DisplacementCandidate.leastUseful([candidate(0, 1, at: 1), candidate(1, 1, amount: 2, at: 9)])
        == 1)
    #expect(
      DisplacementCandidate.leastUseful([candidate(0, 1, at: 7), candidate(1, 1, at: 6)]) == 1)
  }

  @Test("RES-6: a rate limit passes a burst, then a number per second, and computes the next time")
  func rate() {
    let start = Instant(microseconds: 1_000_000)
    var bucket = TokenBucket(RateLimit(burst: 4, perSecond: 2), at: start)
    for _ in 0..<4 { bucket.consume(1, at: start) }
    #expect(bucket.level(at: start) == 0)
    #expect(bucket.time(reaching: 1, at: start) == start + Interval(microseconds: 500_000))
    #expect(bucket.level(at: start + .seconds(1)) == 2)
    #expect(bucket.fullTime(at: start + .seconds(1)) == start + .seconds(2))
    #expect(bucket.fullTime(at: start + .seconds(3_600)) == start + .seconds(3_600))
    #expect(bucket.level(at: start + .seconds(3_600)) == 4)
    bucket.consume(6, at: start + .seconds(3_600))
    #expect(
      bucket.time(reaching: 1, at: start + .seconds(3_600)) == start + .seconds(3_600)
        + Interval(microseconds: 1_500_000))
  }

  @Test(
    "RES-6: the number of buckets is bounded although none is full, and the emptiest ones remain")
  func drainedBuckets() {
    var limits = CallRateLimits()
    let now = Instant(microseconds: 1_000_000)
    for _ in 0..<31 { limits.charge(1, to: 0, .unpermitted, at: now) }
    for user in 1..<1_000 as Range<UInt32> { limits.charge(5, to: user, .unpermitted, at: now) }
    #expect(limits.buckets.buckets.count == CallRateLimits.capacity)
    limits.charge(2, to: 0, .unpermitted, at: now)
    #expect(limits.nextCall(of: 0, .unpermitted, at: now) > now, "the emptiest bucket is kept")
  }

  @Test("RES-6: the number of buckets is bounded, and a full bucket is dropped")
  func buckets() {
    var limits = CallRateLimits()
    let now = Instant(microseconds: 1_000_000)
    for user in 0..<1_000 as Range<UInt32> {
      limits.charge(1, to: user, .unpermitted, at: now + .seconds(Int64(user)))
    }
    #expect(limits.buckets.buckets.count <= CallRateLimits.capacity)
    limits.charge(100, to: 5, .administrator, at: now)
    #expect(limits.nextCall(of: 5, .administrator, at: now) == now)
    for _ in 0..<32 { limits.charge(1, to: 7, .unpermitted, at: now + .seconds(2_000)) }
    #expect(
      limits.nextCall(of: 7, .unpermitted, at: now + .seconds(2_000)) == now + .seconds(2_001))
    // A user that gained permission is not charged for earlier calls.
    #expect(
      limits.nextCall(of: 7, .permitted, at: now + .seconds(2_000)) == now + .seconds(2_000))
  }

  @Test("RES-6: calls with and without permission are charged to separate buckets")
  func alternating() {
    var limits = CallRateLimits()
    let now = Instant(microseconds: 1_000_000)
    for _ in 0..<32 {
      limits.charge(1, to: 7, .unpermitted, at: now)
      limits.charge(8, to: 7, .permitted, at: now)
    }
    #expect(limits.nextCall(of: 7, .unpermitted, at: now) == now + .seconds(1))
    #expect(limits.nextCall(of: 7, .permitted, at: now) > now)
  }

  @Test("RES-7: the count of omitted lines uses one line, and the service has its own rate")
  func lines() throws {
    var limits = LogRateLimits()
    let now = Instant(microseconds: 1_000_000)
    for user in 0..<9 as Range<UInt32> { _ = limits.consumeLine(of: user, at: now) }
    #expect(limits.suppressedLines == 1)
    #expect(limits.consumeLine(of: nil, at: now) == 1, "the service may log")
    for _ in 0..<3 { #expect(limits.consumeLine(of: nil, at: now) != nil) }
    #expect(limits.consumeLine(of: nil, at: now) == nil, "within its own limit")
    let later = now + .seconds(60)
    #expect(limits.consumeSuppressedLines(at: later) == 1)
    for user in 20..<27 as Range<UInt32> {
      #expect(limits.consumeLine(of: user, at: later) != nil, "\(user)")
    }
    #expect(limits.consumeLine(of: 27, at: later) == nil)
  }
}
