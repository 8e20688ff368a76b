import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("Significant-change state machine")
struct SignificantChangeTests {
  static func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

  /// Watching since 0 s at (0, 0).
  static func watching() -> SignificantChange {
    var service = SignificantChange()
    #expect(service.start(at: at(0), cached: nil) == nil)
    #expect(service.accept(fix(at: 0), at: at(0)) == fix(at: 0))
    return service
  }

  static func service(in state: SignificantChange.State) -> SignificantChange {
    switch state {
    case .idle: return SignificantChange()
    case .first:
      var service = SignificantChange()
      #expect(service.start(at: at(0), cached: nil) == nil)
      return service
    case .watching: return watching()
    }
  }

  enum Event: Sendable { case start, startCached, stop, near, far, time, noFix }

  struct Row: Sendable {
    var state: SignificantChange.State
    var event: Event
    var next: SignificantChange.State
    var reported: Fix?
    init(
      _ state: SignificantChange.State, _ event: Event, _ next: SignificantChange.State,
      _ reported: Fix? = nil
    ) {
      (self.state, self.event, self.next, self.reported) = (state, event, next, reported)
    }
  }

  static let near = fix(at: 399, east: 10)
  static let far = fix(at: 399, east: 900)
  static let cached = fix(at: 390, east: 7)
  static let table: [Row] = [
    Row(.idle, .start, .first), Row(.idle, .startCached, .first, cached), Row(.idle, .stop, .idle),
    Row(.idle, .near, .idle), Row(.idle, .far, .idle), Row(.idle, .time, .idle),
    Row(.idle, .noFix, .idle),
    Row(.first, .start, .first), Row(.first, .startCached, .first), Row(.first, .stop, .idle),
    Row(.first, .near, .watching, near), Row(.first, .far, .watching, far),
    Row(.first, .time, .first), Row(.first, .noFix, .first),
    Row(.watching, .start, .watching), Row(.watching, .startCached, .watching),
    Row(.watching, .stop, .idle), Row(.watching, .near, .watching),
    Row(.watching, .far, .watching, far), Row(.watching, .time, .watching),
    Row(.watching, .noFix, .watching),
  ]

  @Test("SLC-9: every event has one defined result in every state", arguments: table)
  func everyPair(_ row: Row) {
    var service = Self.service(in: row.state)
    let now = Self.at(400)
    var outcome: Fix?
    switch row.event {
    case .start: outcome = service.start(at: now, cached: nil)
    case .startCached: outcome = service.start(at: now, cached: Self.cached)
    case .stop: service.stop()
    case .near: outcome = service.accept(Self.near, at: now)
    case .far: outcome = service.accept(Self.far, at: now)
    case .time: outcome = service.elapse(at: now)
    case .noFix: service.acquisitionFailed(at: now)
    }
    #expect(outcome == row.reported)
    #expect(service.state == row.next)
    if row.next == .idle { #expect(service == SignificantChange()) }
  }

  @Test("SLC-9: stop and start give a new initial event, a second start does not")
  func restart() {
    var service = Self.watching()
    #expect(service.start(at: Self.at(10), cached: fix(at: 9)) == nil)
    #expect(service.accept(fix(at: 11), at: Self.at(11)) == nil)
    service.stop()
    #expect(service.start(at: Self.at(12), cached: nil) == nil)
    #expect(service.accept(fix(at: 13), at: Self.at(13)) == fix(at: 13))
  }

  @Test("SLC-5: a cached fix of 5 minutes is reported first, then a current one without a wait")
  func cached() {
    for (now, isReported) in [(300.0, true), (300.001, false), (-0.001, false)] {
      var service = SignificantChange()
      let outcome = service.start(at: Self.at(now), cached: fix(at: 0))
      #expect(outcome == (isReported ? fix(at: 0) : nil))
      #expect(service.state == .first)
      let current = fix(at: 302)
      #expect(service.accept(current, at: Self.at(302)) == current)
    }
  }

  @Test("SLC-5: the cached fix received again is not the current one")
  func cachedAgain() {
    var service = SignificantChange()
    _ = service.start(at: Self.at(5), cached: fix(at: 0))
    #expect(service.accept(fix(at: 0), at: Self.at(6)) == nil)
    #expect(service.state == .first)
  }

  @Test("SLC-5: a buffered fix from before the start is not the current fix")
  func drained() {
    var service = SignificantChange()
    _ = service.start(at: Self.at(100), cached: nil)
    #expect(service.accept(fix(at: 89.9), at: Self.at(101)) == nil)
    #expect(service.state == .first)
    #expect(service.accept(fix(at: 90), at: Self.at(101)) == fix(at: 90))
  }

  @Test("SLC-7: beyond the accuracy one fix is enough, else two; never below 500 m")
  func distances() {
    var accurate = Self.watching()
    #expect(accurate.accept(fix(at: 400, east: 503.01), at: Self.at(400)) != nil)
    var unconfirmed = Self.watching()
    #expect(unconfirmed.accept(fix(at: 400, east: 502.99), at: Self.at(400)) == nil)
    #expect(unconfirmed.accept(fix(at: 401, east: 500.01), at: Self.at(401)) != nil)
    var short = Self.watching()
    for second in 400..<410 {
      let outcome = short.accept(fix(at: Double(second), east: 499.99), at: Self.at(410))
      #expect(outcome == nil)
    }
    var separate = Self.watching()
    for (second, east) in [(400.0, 501.0), (401, 499), (402, 501), (403, 499)] {
      #expect(separate.accept(fix(at: second, east: east), at: Self.at(second)) == nil)
    }
  }

  @Test("SLC-7: inaccurate fixes confirm nothing")
  func badFixes() {
    for (accuracy, isReported) in [(Int32(250_000), true), (250_001, false)] {
      var service = Self.watching()
      let bad = [400.0, 401].map { fix(at: $0, east: 600, accuracy_mm: accuracy) }
      #expect(service.accept(bad[0], at: Self.at(400)) == nil)
      #expect((service.accept(bad[1], at: Self.at(401)) != nil) == isReported)
    }
    var silent = Self.watching()
    let unknown = fix(at: 400, east: 509.9, accuracy_mm: nil)
    #expect(silent.accept(unknown, at: Self.at(400)) == nil)
  }

  @Test("SLC-7: a day at standstill with a noisy receiver gives no report")
  func standstill() {
    var generator = SplitMix64(seed: 3)
    var service = Self.watching()
    var (east, north) = (0.0, 0.0)
    for second in 1..<86_400 {
      east = east * 0.98 + 8 * generator.normal()
      north = north * 0.98 + 8 * generator.normal()
      let noisy = fix(at: Double(second), east: east, north: north, accuracy_mm: 50_000)
      #expect(service.accept(noisy, at: Self.at(Double(second))) == nil)
    }
  }

  @Test("SLC-4: a change within the interval is reported at its end, with the newest fix")
  func interval() {
    var service = Self.watching()
    #expect(service.accept(fix(at: 100, east: 600), at: Self.at(100)) == nil)
    #expect(service.isWaiting)
    #expect(service.earliestReport == Self.at(300))
    let newest = fix(at: 200, east: 900)
    #expect(service.accept(newest, at: Self.at(200)) == nil)
    #expect(service.nextFix(at: Self.at(200), speed: .constant(40), line: .still) == Self.at(300))
    #expect(service.elapse(at: Self.at(299.999)) == nil)
    #expect(service.elapse(at: Self.at(300)) == newest)
    #expect(service.elapse(at: Self.at(900)) == nil)
    #expect(!service.isWaiting)
    #expect(service.lastReported == newest)
  }

  @Test("SLC-4: a fix at the end of the interval is the one reported")
  func fixAtIntervalEnd() {
    var service = Self.watching()
    #expect(service.accept(fix(at: 100, east: 600), at: Self.at(100)) == nil)
    let newest = fix(at: 300, east: 502)
    #expect(service.accept(newest, at: Self.at(300)) == newest)
  }

  @Test("SLC-2: a return before the end of the interval is no significant change")
  func back() {
    var service = Self.watching()
    #expect(service.accept(fix(at: 100, east: 600), at: Self.at(100)) == nil)
    #expect(service.accept(fix(at: 200, east: 499), at: Self.at(200)) == nil)
    #expect(service.elapse(at: Self.at(300)) == nil)
    #expect(!service.isWaiting)
  }

  @Test("SLC-2: fixes count in the order of acquisition, from the last reported position")
  func order() {
    var service = Self.watching()
    #expect(service.accept(fix(at: 400, east: 600), at: Self.at(400)) != nil)
    #expect(service.accept(fix(at: 399, east: 5000), at: Self.at(900)) == nil)
    #expect(service.accept(fix(at: 400, east: 5000), at: Self.at(900)) == nil)
    #expect(service.accept(fix(at: 900, east: 101), at: Self.at(900)) == nil)
    #expect(service.accept(fix(at: 901, east: 96), at: Self.at(901)) != nil)
  }

  @Test("SLC-3: on any path, reported positions are 500 m and 5 minutes apart", arguments: 1...8)
  func walks(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    var service = Self.watching()
    var (east, north, last) = (0.0, 0.0, fix(at: 0))
    var reported = 0
    for second in 1..<20_000 {
      let speed = second / 2000 % 2 == 0 ? 12.0 : 1.5
      east += Double.random(in: -0.3...1, using: &generator) * speed
      north += Double.random(in: -1...1, using: &generator) * speed
      let now = Self.at(Double(second))
      let step = fix(at: Double(second), east: east, north: north)
      if let fix = service.accept(step, at: now) {
        #expect(fix.coordinate.localDistance(to: last.coordinate) >= 500)
        #expect(fix.acquired - last.acquired >= .seconds(300))
        last = fix
        reported += 1
      }
      let next = service.nextFix(at: now, speed: .constant(40), line: .absent)
      #expect(next >= service.earliestReport)
      #expect(service.isWaiting || next >= now + .seconds(60))
    }
    #expect(reported > 5)
  }
}

@Suite("When the significant-change service needs a fix")
struct SignificantChangePlanTests {
  static func at(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

  static func next(
    _ service: SignificantChange, fastest: Double = 40, line: MotionLine = .absent, now: Double = 1
  ) -> Double { service.nextFix(at: at(now), speed: .constant(fastest), line: line).seconds }

  @Test("SLC-6: no fix before start, one immediately after it, 5 minutes after a failed search")
  func beginning() {
    var service = SignificantChange()
    #expect(service.nextFix(at: Self.at(1), speed: .constant(40), line: .absent) == .distantFuture)
    service.acquisitionFailed(at: Self.at(1))
    _ = service.start(at: Self.at(2), cached: nil)
    #expect(Self.next(service, now: 2) == 2)
    service.acquisitionFailed(at: Self.at(60))
    #expect(Self.next(service, now: 61) == 360)
    service.acquisitionFailed(at: Self.at(50))
    #expect(Self.next(service, now: 61) == 360)
  }

  @Test("SLC-10: no fix within the interval; then every 5 minutes, every 30 with a still line")
  func standstill() {
    var service = SignificantChangeTests.watching()
    #expect(Self.next(service) == 300)
    #expect(Self.next(service, line: .moving) == 300)
    #expect(Self.next(service, line: .still) == 1800)
    _ = service.accept(fix(at: 400, east: 100, speed_mmps: 999), at: Self.at(400))
    #expect(Self.next(service) == 700)
    #expect(Self.next(service, line: .still) == 2200)
    service.acquisitionFailed(at: Self.at(720))
    #expect(Self.next(service) == 1020)
  }

  @Test("SLC-6: a fix is due after the remaining distance at the plausible speed")
  func slow() {
    var service = SignificantChangeTests.watching()
    _ = service.accept(fix(at: 400, east: 100), at: Self.at(400))
    #expect(abs(Self.next(service, fastest: 0.5) - 1200) < 0.01)
    #expect(Self.next(service, fastest: 1.34) == 700)
  }

  @Test("SLC-6: a fix is due after the remaining distance at the measured speed, 1 to 5 minutes")
  func measured() {
    for (east, speed, expected) in [
      (300.0, Int32(2_000), 500.0), (300, 1_000, 600), (300, 20_000, 460), (100, 1_000, 700),
    ] {
      var service = SignificantChangeTests.watching()
      _ = service.accept(fix(at: 400, east: east, speed_mmps: speed), at: Self.at(400))
      #expect(abs(Self.next(service) - expected) < 0.01)
      // An old speed is ignored.
      service.acquisitionFailed(at: Self.at(450))
      #expect(Self.next(service) == 750)
    }
    var early = SignificantChangeTests.watching()
    _ = early.accept(fix(at: 100, east: 450, speed_mmps: 10_000), at: Self.at(100))
    #expect(Self.next(early) == 300)
  }
}
