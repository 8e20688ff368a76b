import LocationTypes
import Testing

@testable import LocationEngine
@testable import LocationPolicy

/// Dormant clients skip fixes without effect on them; they process the newest one when it matters.
@Suite("Skipped fixes") struct SkippedFixTests {
  static let watcher = ClientID(1)

  /// One client receives all fixes; another monitors a region 5 km away and skipped the newest.
  static func bench() -> EngineBench {
    let bench = EngineBench(clients: 2, connects: false)
    for client in bench.clients { client.connect() }
    bench.client.start()
    bench.request(
      .addRegion(region(1, at: bench.position.moved(east: -5_000, north: 0)), assuming: .unknown),
      of: watcher)
    bench.fixes(count: 30, east: 20)
    return bench
  }

  static func region(_ number: UInt32, at center: Coordinate) -> Region {
    Region(RegionIdentifier(.region, number), center: center, radius: 100)
  }

  static func newest(_ bench: EngineBench) -> RegionMonitor.Newest? {
    bench.engine.withClient(watcher) { $0.services.regions.newest }
  }

  @Test("REG-16: a client far from its region skips fixes")
  func skipped() throws {
    let bench = Self.bench()
    let newest = try #require(Self.newest(bench)?.acquired)
    #expect(bench.now - newest > .seconds(20))
  }

  @Test("REG-7: the newest fix decides the state of an added region, even if its client skipped it")
  func added() {
    let bench = Self.bench()
    let region = Self.region(2, at: bench.position)
    bench.request(.addRegion(region, assuming: .unknown), of: Self.watcher)
    let state = bench.engine.withClient(Self.watcher) {
      $0.services.regions.state(of: region.identifier)
    }
    #expect(state == .inside)
  }

  @Test("REG-16: when another client stops updates, the newest fix decides the next sample")
  func nextSample() {
    let bench = Self.bench()
    bench.client.request(.stopUpdating)
    #expect(Self.newest(bench)?.coordinate == bench.newest?.coordinate)
  }

  @Test("PWR-10: before all clients are checked, each has processed the newest fix")
  func markedDirty() {
    let bench = Self.bench()
    bench.battery(50)
    #expect(Self.newest(bench)?.coordinate == bench.newest?.coordinate)
  }

  @Test("REG-4: of fixes with the same time the first counts, even if it was skipped")
  func repeated() {
    let bench = Self.bench()
    let first = bench.newest?.coordinate
    bench.utcError = .seconds(-5)
    bench.fixes(count: 2, east: 20)
    bench.battery(50)
    let isRepeated = bench.newest?.coordinate != first
    #expect(isRepeated && Self.newest(bench)?.coordinate == first)
  }
}
