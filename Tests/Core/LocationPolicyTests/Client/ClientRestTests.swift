import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

/// A client is not looked at while nothing of it can change.
@Suite("A client that rests") struct ClientRestTests {
  static let near = Region(
    RegionIdentifier(.region, 1), center: equator.moved(east: 1_000, north: 0), radius: 200)

  /// Far enough outside a circle, and all told.
  static func watching() -> World {
    let world = World(capacity: 16)
    world.ask(.connect, .addRegion(near, assuming: .unknown))
    world.fixes(1)
    world.client.enterDormancy(at: world.context.now)
    return world
  }

  @Test("Far from its circles it rests through fixes, and near one it does not")
  func fixes() {
    let world = Self.watching()
    #expect(world.client.dormantUntil == .distantFuture)
    #expect(world.fixes(5, east: 300).isEmpty)
    #expect(world.client.dormantUntil == .distantFuture)
    let told = world.fixes(25, east: 1_000)
    #expect(world.client.dormantUntil == .boot)
    #expect(told.count == 2, "entered and its state")
  }

  @Test("A request, the motion line, a search in vain, a drain and a loss end the rest")
  func whatEndsIt() {
    let events: [(World) -> Void] = [
      { $0.askQuietly(.setExecution(.background)) },
      { $0.client.motionLineChanged(.moving, at: $0.context.now) },
      { $0.client.acquisitionFailed(at: $0.context.now) },
      { $0.drain() },
      { $0.lose() },
    ]
    for event in events {
      let world = Self.watching()
      event(world)
      #expect(world.client.dormantUntil == .boot)
    }
  }

  @Test("It is looked at when an answer is due")
  func deadline() {
    let world = World(capacity: 16)
    world.ask(.connect, .addRegion(Self.near, assuming: .unknown))
    world.ask(.requestRegionState(Self.near.identifier))
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == world.context.now + .seconds(60))
  }

  @Test(
    "Whoever updates, has live updates, is reduced or denied, or has to be told does not rest",
    arguments: [
      [.startUpdating], [.openLive(.default)], [.setReducedAccuracy(true)],
      [.setAuthorization(.denied)],
    ] as [[Request]])
  func noRest(_ requests: [Request]) {
    let world = Self.watching()
    for request in requests { world.ask(request) }
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == .boot)
  }

  @Test("RNG-6: who was denied once rests again, and no fix of that time means anything to it")
  func deniedOnce() {
    let world = Self.watching()
    world.ask(.setAuthorization(.denied))
    world.now += 100
    world.ask(.setAuthorization(.always))
    world.fixes(1)
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == .distantFuture)
    for second in 1...40 { world.append(fix(at: 50 + Double(second), east: 1_000)) }
    #expect(world.told().isEmpty && world.client.dormantUntil == .distantFuture)
    #expect(world.fixes(25, east: 1_000).count == 2, "entered and its state")
  }

  @Test("Whoever was not told all does not rest")
  func untold() {
    let world = Self.watching()
    world.ask(.setExecution(.suspended))
    for second in 1...25 { world.append(fix(at: 50 + Double(second), east: 1_000)) }
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == .boot)
    #expect(world.told().count == 2)
  }

  @Test("RNG-8: whoever has not acknowledged a batch does not rest, for it is waited for")
  func unacknowledged() {
    let world = World(capacity: 16)
    world.ask(.connect, .startUpdating)
    world.fixes(1)
    world.ask(.stopUpdating)
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == .boot)
    world.ask(.acknowledge(world.name(0)))
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == .distantFuture)
  }

  @Test(
    "RNG-8: a report is waited for as well, until its acknowledgement or until its time is over")
  func unacknowledgedReport() {
    for acknowledges in [true, false] {
      let world = World(capacity: 16)
      world.ask(.connect, .startSignificantChange)
      #expect(world.fixes(1) == [.report(0, accuracy_mm: 3_000)])
      let until = world.context.now + world.hold
      #expect(world.awaitsAcknowledgementUntil == until)
      world.client.enterDormancy(at: world.context.now)
      #expect(world.client.dormantUntil == .boot)
      if acknowledges { world.ask(.acknowledge(world.name(0))) } else { world.now += 2 }
      #expect(world.awaitsAcknowledgementUntil == (acknowledges ? nil : until))
      world.client.enterDormancy(at: world.context.now)
      #expect(world.client.dormantUntil == .distantFuture)
    }
  }

  @Test("DEF-11: whoever is owed fixes and has no process does not rest: they may be overwritten")
  func owed() {
    let world = World(capacity: 16)
    world.ask(.connect, .startUpdating)
    world.fixes(2)
    world.ask(.disconnect)
    world.client.enterDormancy(at: world.context.now)
    #expect(world.client.dormantUntil == .boot)
  }

  @Test("RNG-4: fixes that the ring overwrote during the rest are no gap for it")
  func noGap() {
    let world = Self.watching()
    world.fixes(40, east: 300)
    #expect(world.client.dormantUntil == .distantFuture)
    #expect(world.ask(.startUpdating).isEmpty)
    #expect(world.fixes(1, east: 300) == [.batch(41...41)])
  }

  @Test("A significant change is looked at with each fix, and tells")
  func significant() {
    let world = Self.watching()
    world.ask(.startSignificantChange)
    world.fixes(1)
    world.client.enterDormancy(at: world.context.now)
    world.now += 400
    world.append(fix(at: world.now, east: -5_000))
    #expect(world.client.dormantUntil == .boot)
    #expect(world.told() == [.report(2, accuracy_mm: 3_000)])
  }

  @Test("AUT-6: a change that waits for its time is not shown to a client reduced meanwhile")
  func reducedChange() {
    for isReduced in [false, true] {
      let world = World(capacity: 64)
      world.ask(.connect, .startSignificantChange)
      world.fixes(1)
      world.fixes(2, east: 1_000)
      if isReduced { world.ask(.setReducedAccuracy(true)) }
      let reports = world.wait(400).filter { if case .report = $0 { true } else { false } }
      #expect(reports.count == (isReduced ? 0 : 1))
    }
  }
}
