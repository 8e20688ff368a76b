import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

/// The engine skips a dormant client, because none of its state can change.
@Suite("Dormant client") struct ClientDormancyTests {
  static let near = Region(
    RegionIdentifier(.region, 1), center: equator.moved(east: 1_000, north: 0), radius: 200)

  /// A client far outside a circle, with all notices delivered.
  static func watching() -> ClientBench {
    let bench = ClientBench(capacity: 16)
    bench.send(.connect, .addRegion(near, assuming: .unknown))
    bench.fixes(1)
    bench.client.enterDormancy(at: bench.context.now)
    return bench
  }

  @Test("A client stays dormant for fixes far from its circles, and not near one")
  func fixes() {
    let bench = Self.watching()
    #expect(bench.client.dormantUntil == .distantFuture)
    #expect(bench.fixes(5, east: 300).isEmpty)
    #expect(bench.client.dormantUntil == .distantFuture)
    let notices = bench.fixes(25, east: 1_000)
    #expect(bench.client.dormantUntil == .boot)
    #expect(notices.count == 2, "entered and its state")
  }

  @Test("A request, the motion line, a failed search, a drain and a lost receiver end dormancy")
  func endsOfDormancy() {
    let events: [(ClientBench) -> Void] = [
      { $0.sendOnly(.setExecution(.background)) },
      { $0.client.motionLineChanged(.moving, at: $0.context.now) },
      { $0.client.acquisitionFailed(at: $0.context.now) },
      { $0.drain() },
      { $0.loseReceiver() },
    ]
    for event in events {
      let bench = Self.watching()
      event(bench)
      #expect(bench.client.dormantUntil == .boot)
    }
  }

  @Test("LIV-6: a client that becomes dormant without a location stays without one")
  func locationUnknown() {
    let bench = Self.watching()
    bench.client.reportLocationUnknown(bench.context)
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .distantFuture && !bench.client.hasSkippedFix)
    let unavailable = LiveFlags.locationUnavailable.rawValue
    #expect(
      bench.send(.openLive(.default)).contains {
        if case .live(_, _, _, let flags) = $0 { flags & unavailable != 0 } else { false }
      })
  }

  @Test("Dormancy ends when an answer is due")
  func deadline() {
    let bench = ClientBench(capacity: 16)
    bench.send(.connect, .addRegion(Self.near, assuming: .unknown))
    bench.send(.requestRegionState(Self.near.identifier))
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == bench.context.now + .seconds(60))
  }

  @Test(
    "A client with updates, live updates, reduced accuracy or a denial is not dormant",
    arguments: [
      [.startUpdating], [.openLive(.default)], [.setReducedAccuracy(true)],
      [.setAuthorization(.denied)],
    ] as [[Request]])
  func notDormant(_ requests: [Request]) {
    let bench = Self.watching()
    for request in requests { bench.send(request) }
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .boot)
  }

  @Test("RNG-6: after a denial a client becomes dormant again and ignores fixes of that time")
  func deniedOnce() {
    let bench = Self.watching()
    bench.send(.setAuthorization(.denied))
    bench.now += 100
    bench.send(.setAuthorization(.always))
    bench.fixes(1)
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .distantFuture)
    for second in 1...40 { bench.append(fix(at: 50 + Double(second), east: 1_000)) }
    #expect(bench.notices().isEmpty && bench.client.dormantUntil == .distantFuture)
    #expect(bench.fixes(25, east: 1_000).count == 2, "entered and its state")
  }

  @Test("A client with pending notices is not dormant")
  func pendingNotices() {
    let bench = Self.watching()
    bench.send(.setExecution(.suspended))
    for second in 1...25 { bench.append(fix(at: 50 + Double(second), east: 1_000)) }
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .boot)
    #expect(bench.notices().count == 2)
  }

  @Test("RNG-8: a client with an unacknowledged batch is not dormant")
  func unacknowledged() {
    let bench = ClientBench(capacity: 16)
    bench.send(.connect, .startUpdating)
    bench.fixes(1)
    bench.send(.stopUpdating)
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .boot)
    bench.send(.acknowledge(bench.name(0)))
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .distantFuture)
  }

  @Test("RNG-8: a report prevents dormancy too, until it is acknowledged or its hold ends")
  func unacknowledgedReport() {
    for acknowledges in [true, false] {
      let bench = ClientBench(capacity: 16)
      bench.send(.connect, .startSignificantChange)
      #expect(bench.fixes(1) == [.report(0, accuracy_mm: 3_000)])
      let until = bench.context.now + bench.hold
      #expect(bench.acknowledgementDeadline == until)
      bench.client.enterDormancy(at: bench.context.now)
      #expect(bench.client.dormantUntil == .boot)
      if acknowledges { bench.send(.acknowledge(bench.name(0))) } else { bench.now += 2 }
      #expect(bench.acknowledgementDeadline == (acknowledges ? nil : until))
      bench.client.enterDormancy(at: bench.context.now)
      #expect(bench.client.dormantUntil == .distantFuture)
    }
  }

  @Test(
    "DEF-11: a client without a process whose undelivered fixes may be overwritten is not dormant")
  func undelivered() {
    let bench = ClientBench(capacity: 16)
    bench.send(.connect, .startUpdating)
    bench.fixes(2)
    bench.send(.disconnect)
    bench.client.enterDormancy(at: bench.context.now)
    #expect(bench.client.dormantUntil == .boot)
  }

  @Test("RNG-4: fixes overwritten during dormancy are not a gap")
  func noGap() {
    let bench = Self.watching()
    bench.fixes(40, east: 300)
    #expect(bench.client.dormantUntil == .distantFuture)
    #expect(bench.send(.startUpdating).isEmpty)
    #expect(bench.fixes(1, east: 300) == [.batch(41...41)])
  }

  @Test("A significant change is checked with each fix and reported")
  func significant() {
    let bench = Self.watching()
    bench.send(.startSignificantChange)
    bench.fixes(1)
    bench.client.enterDormancy(at: bench.context.now)
    bench.now += 400
    bench.append(fix(at: bench.now, east: -5_000))
    #expect(bench.client.dormantUntil == .boot)
    #expect(bench.notices() == [.report(2, accuracy_mm: 3_000)])
  }

  @Test("AUT-6: a waiting change is not reported to a client whose accuracy was reduced since")
  func reducedChange() {
    for isReduced in [false, true] {
      let bench = ClientBench(capacity: 64)
      bench.send(.connect, .startSignificantChange)
      bench.fixes(1)
      bench.fixes(2, east: 1_000)
      if isReduced { bench.send(.setReducedAccuracy(true)) }
      let reports = bench.wait(400).filter { if case .report = $0 { true } else { false } }
      #expect(reports.count == (isReduced ? 0 : 1))
    }
  }
}
