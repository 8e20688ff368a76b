import LocationTypes
import Testing

@testable import LocationEngine
@testable import LocationPolicy

/// Fixes of a client that needs every fix reach a client that only monitors regions.
@Suite("Fixes for regions") struct RegionFixTests {
  static let watcher = ClientID(1)

  /// One client receives all fixes; another monitors a region 5 km away.
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

  @Test("REG-7: the newest fix decides the state of an added region")
  func added() {
    let bench = Self.bench()
    let region = Self.region(2, at: bench.position)
    bench.request(.addRegion(region, assuming: .unknown), of: Self.watcher)
    let record = bench.engine.regionRecord(of: Self.watcher, at: 1)
    #expect(record?.region == region && record?.assuming == .satisfied)
  }

  @Test("REG-16: when another client stops updates, the newest fix decides the next sample")
  func nextSample() {
    let bench = Self.bench()
    bench.client.request(.stopUpdating)
    #expect(Self.newest(bench)?.coordinate == bench.newest?.coordinate)
  }

  @Test("REG-4: of fixes with the same time the first counts")
  func repeated() {
    let bench = Self.bench()
    let first = bench.newest?.coordinate
    bench.utcError = .seconds(-5)
    bench.fixes(count: 2, east: 20)
    let isRepeated = bench.newest?.coordinate != first
    #expect(isRepeated && Self.newest(bench)?.coordinate == first)
  }
}
