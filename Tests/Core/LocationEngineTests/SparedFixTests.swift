import LocationTypes
import Testing

@testable import LocationEngine
@testable import LocationPolicy

/// Clients that rest are spared fixes that mean nothing to them, and have the newest as soon as it counts.
@Suite("Fixes that a client is spared") struct SparedFixTests {
  static let watcher = ClientID(1)

  /// One client is told all fixes, another one watches a circle 5 km away and was spared the newest.
  static func bench() -> EngineBench {
    let bench = EngineBench(clients: 2, connects: false)
    for client in bench.clients { client.connect() }
    bench.client.start()
    bench.ask(
      .addRegion(region(1, at: bench.place.moved(east: -5_000, north: 0)), assuming: .unknown),
      of: watcher)
    bench.fixes(count: 30, east: 20)
    return bench
  }

  static func region(_ number: UInt32, at center: Coordinate) -> Region {
    Region(RegionIdentifier(.region, number), center: center, radius: 100)
  }

  static func newest(_ bench: EngineBench) -> RegionMonitor.Newest? {
    bench.engine.client(watcher).services.regions.newest
  }

  @Test("REG-16: far from its circle a client takes no fix")
  func spared() throws {
    let bench = Self.bench()
    let newest = try #require(Self.newest(bench)?.acquired)
    #expect(bench.now - newest > .seconds(20))
  }

  @Test(
    "REG-7: a circle that is added is decided by the newest fix, though its client was spared it")
  func added() {
    let bench = Self.bench()
    let here = Self.region(2, at: bench.place)
    bench.ask(.addRegion(here, assuming: .unknown), of: Self.watcher)
    let state = bench.engine.client(Self.watcher).services.regions.state(of: here.identifier)
    #expect(state == .inside)
  }

  @Test(
    "REG-16: what a client needs when nobody is told all fixes any more follows from the newest one"
  )
  func needed() {
    let bench = Self.bench()
    bench.client.ask(.stopUpdating)
    #expect(Self.newest(bench)?.coordinate == bench.newest?.coordinate)
  }

  @Test("PWR-10: before all clients are looked at, each has the newest fix")
  func stirred() {
    let bench = Self.bench()
    bench.battery(50)
    #expect(Self.newest(bench)?.coordinate == bench.newest?.coordinate)
  }

  @Test("REG-4: of fixes of one moment the first counts, whoever was spared it")
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
