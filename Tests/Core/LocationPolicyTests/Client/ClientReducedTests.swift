import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Cached coarse fixes of a client with reduced accuracy")
struct ClientReducedTests {
  /// A reduced client that received the coarse fix of fix 0, measured at 1 s.
  static func bench() -> ClientBench {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .setReducedAccuracy(true), .startUpdating)
    #expect(bench.fixes(1).map(\.description) == ["coarse(0)"])
    return bench
  }

  @Test("STD-8, AUT-6: location is the coarse fix, and nil after the accuracy has changed")
  func location() {
    let bench = Self.bench()
    let location = bench.client.location(in: bench.ring)
    #expect(location?.name == bench.name(0))
    #expect(location?.fix.horizontalAccuracy_mm == AccuracyReduction.accuracy_mm)
    bench.send(.setReducedAccuracy(false))
    #expect(bench.client.location(in: bench.ring) == nil)
    bench.fixes(1)
    #expect(bench.client.location(in: bench.ring)?.fix.horizontalAccuracy_mm == 3_000)
    bench.send(.setReducedAccuracy(true))
    #expect(bench.client.location(in: bench.ring) == nil)
  }

  @Test("AUT-12: an undelivered coarse fix is discarded when full accuracy returns")
  func undelivered() {
    let bench = Self.bench()
    bench.send(.stopUpdating)
    bench.sendOnly(.startUpdating)
    bench.sendOnly(.setReducedAccuracy(false))
    #expect(bench.notices().map(\.description).allSatisfy { !$0.contains("coarse") })
    #expect(bench.fixes(1).map(\.description) == ["batch(1...1)"])
  }

  @Test(
    "RNG-6: a coarse answer after full accuracy returned does not reveal the precise fix of its name"
  )
  func answeredLater() {
    let bench = Self.bench()
    bench.send(.stopUpdating)
    bench.sendOnly(.requestLocation)
    bench.sendOnly(.setReducedAccuracy(false))
    #expect(bench.notices().map(\.description).contains("report(0)"))
    #expect(bench.client.location(in: bench.ring) == nil)
    #expect(bench.client.newestDelivered == nil)
  }

  @Test("AUT-5: a restart delivers the last coarse fix while no new one is due")
  func startedAgain() {
    let bench = Self.bench()
    bench.send(.stopUpdating)
    bench.now = 901
    #expect(bench.send(.startUpdating).map(\.description) == ["coarse(0)"])
    bench.send(.stopUpdating)
    bench.now = 901.1
    #expect(bench.send(.startUpdating) == [])
  }

  @Test("STD-11, AUT-5: a request is answered with the cached coarse fix or the next one")
  func request() {
    let bench = Self.bench()
    bench.send(.stopUpdating)
    bench.now = 800
    #expect(bench.send(.requestLocation).map(\.description) == ["report(0)"])
    bench.now = 902
    #expect(bench.send(.requestLocation) == [])
    #expect(bench.need().due == Instant(seconds: 902))
    #expect(bench.fixes(1).map(\.description) == ["report(1)"], "5 km is the best coarse accuracy")
    #expect(!bench.need().isRequired)
  }

  @Test("SLC-5, AUT-5: significant change starts with the cached coarse fix")
  func significantChange() {
    let bench = Self.bench()
    bench.send(.stopUpdating)
    bench.now = 100
    #expect(bench.send(.startSignificantChange).map(\.description) == ["report(0)"])
  }

  @Test("AUT-3: after a denial no earlier coarse fix is delivered")
  func denied() {
    let bench = Self.bench()
    bench.send(.stopUpdating, .setAuthorization(.denied), .setAuthorization(.always))
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.client.location(in: bench.ring) == nil)
  }
}

@Suite("Notices to a client whose deferral waits for a drain")
struct ClientWaitingTests {
  @Test("REG-1, REG-7: each refused call is answered immediately")
  func refusals() {
    let bench = ClientBench.engaged(capacity: 64)
    bench.buffers = true
    for number in 0..<UInt32(RegionMonitor.capacity) {
      let region = Region(RegionIdentifier(.region, number), center: equator, radius: 100)
      bench.send(.addRegion(region, assuming: .unknown))
    }
    #expect(bench.send(.disallowDeferred) == [], "the finish waits for the drain")
    #expect(bench.isWaitingForDrain)
    for number: UInt32 in [30, 31] {
      let region = Region(RegionIdentifier(.region, number), center: equator, radius: 100)
      let notices = bench.send(.addRegion(region, assuming: .unknown))
      #expect(notices.count == 1 && notices[0].description.contains("failure"), "\(notices)")
    }
    #expect(bench.drain([5]).first == .finish(15))
  }

  @Test("STD-8: location is the newest fix delivered by any service")
  func location() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .requestLocation)
    bench.fixes(1)
    #expect(bench.client.location(in: bench.ring)?.name == bench.name(0))
    bench.send(.startUpdating)
    bench.fixes(1)
    #expect(bench.client.location(in: bench.ring)?.name == bench.name(1))
  }
}
