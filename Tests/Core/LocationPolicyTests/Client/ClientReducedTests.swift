import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("What a client of reduced accuracy is shown again")
struct ClientReducedTests {
  /// A reduced client that was shown the coarse fix of the fix number 0, made at 1 s.
  static func world() -> World {
    let world = World(capacity: 64)
    world.ask(.connect, .setReducedAccuracy(true), .startUpdating)
    #expect(world.fixes(1).map(\.description) == ["coarse(0)"])
    return world
  }

  @Test("STD-8, AUT-6: location is the coarse fix, and none once what may be shown has changed")
  func location() {
    let world = Self.world()
    let location = world.client.location(in: world.ring)
    #expect(location?.name == world.name(0))
    #expect(location?.fix.horizontalAccuracy_mm == AccuracyReduction.accuracy_mm)
    world.ask(.setReducedAccuracy(false))
    #expect(world.client.location(in: world.ring) == nil)
    world.fixes(1)
    #expect(world.client.location(in: world.ring)?.fix.horizontalAccuracy_mm == 3_000)
    world.ask(.setReducedAccuracy(true))
    #expect(world.client.location(in: world.ring) == nil)
  }

  @Test("AUT-5: who starts again is told the last coarse fix as long as no new one is due")
  func startedAgain() {
    let world = Self.world()
    world.ask(.stopUpdating)
    world.now = 901
    #expect(world.ask(.startUpdating).map(\.description) == ["coarse(0)"])
    world.ask(.stopUpdating)
    world.now = 901.1
    #expect(world.ask(.startUpdating) == [])
  }

  @Test("STD-11, AUT-5: a request is answered with the coarse fix there is, or the next one")
  func request() {
    let world = Self.world()
    world.ask(.stopUpdating)
    world.now = 800
    #expect(world.ask(.requestLocation).map(\.description) == ["report(0)"])
    world.now = 902
    #expect(world.ask(.requestLocation) == [])
    #expect(world.need().due == Instant(seconds: 902))
    #expect(world.fixes(1).map(\.description) == ["report(1)"], "5 km is as good as it gets")
    #expect(!world.need().isRequired)
  }

  @Test("SLC-5, AUT-5: significant change begins with the coarse fix there is")
  func significantChange() {
    let world = Self.world()
    world.ask(.stopUpdating)
    world.now = 100
    #expect(world.ask(.startSignificantChange).map(\.description) == ["report(0)"])
  }

  @Test("AUT-3: after a denial no coarse fix of before is shown")
  func denied() {
    let world = Self.world()
    world.ask(.stopUpdating, .setAuthorization(.denied), .setAuthorization(.always))
    #expect(world.ask(.startUpdating) == [])
    #expect(world.client.location(in: world.ring) == nil)
  }
}

@Suite("What a client is told while its deferral waits for the receiver's fixes")
struct ClientWaitingTests {
  @Test("REG-1, REG-7: each call that cannot be granted is answered at once")
  func refusals() {
    let world = World.engaged(capacity: 64)
    world.buffers = true
    for number in 0..<UInt32(RegionMonitor.capacity) {
      let region = Region(RegionIdentifier(.region, number), center: equator, radius: 100)
      world.ask(.addRegion(region, assuming: .unknown))
    }
    #expect(world.ask(.disallowDeferred) == [], "the finish waits for the drain")
    #expect(world.isWaitingForDrain)
    for number: UInt32 in [30, 31] {
      let region = Region(RegionIdentifier(.region, number), center: equator, radius: 100)
      let told = world.ask(.addRegion(region, assuming: .unknown))
      #expect(told.count == 1 && told[0].description.contains("failure"), "\(told)")
    }
    #expect(world.drain([5]).first == .finish(15))
  }

  @Test("STD-8: location is the newest that was told, by whatever service")
  func location() {
    let world = World(capacity: 64)
    world.ask(.connect, .requestLocation)
    world.fixes(1)
    #expect(world.client.location(in: world.ring)?.name == world.name(0))
    world.ask(.startUpdating)
    world.fixes(1)
    #expect(world.client.location(in: world.ring)?.name == world.name(1))
  }
}
