import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import LocationService

/// Ring and state as written by commit 9ba8f67: a client of user 0, `trail-log`, with visits, the
/// circle `home` and updates, had acknowledged 12 of the 20 fixes of generation 1 when the service
/// was stopped.
@Suite("Files of an earlier version")
struct UpgradeTests {
  private func remains() -> ServiceBench.Remains {
    let saved = "\(packageRoot)/Tests/Snapshots/service-9ba8f67"
    let folder = TestFolder()
    folder.write(readFile("\(saved)/state.db"), to: "state.db")
    return ServiceBench.Remains(folder: folder, ring: readFile("\(saved)/ring"), second: 0)
  }

  @Test("RNG-3, BKG-20: ring and state of 9ba8f67 open, and their client continues")
  func opens() throws {
    let remains = remains()
    #expect(remains.ring.count == 5_120)
    let bench = try ServiceBench(.builtIn(owner: 0), after: remains)
    let (control, watch, _) = bench.client("trail-log", of: 0)
    _ = bench.call(.startUpdating, control)
    bench.fix()
    let fixes = watch.fixes()
    #expect(fixes.dropLast().map(\.name.sequence) == Array(13..<20))
    #expect(fixes.dropLast().allSatisfy { $0.name.generation == 1 })
    #expect(fixes.dropLast().first?.fix.coordinate.latitude_e9 == 52_373_271_667)
    #expect(fixes.last.map { $0.name.generation > 1 } == true)
    guard case .regions(let regions)? = bench.call(.listRegions, control) else {
      Issue.record("the regions are listed")
      return
    }
    #expect(regions.map(\.region.name) == ["home"] && regions.map(\.region.radius) == [100])
    let visits = bench.loop.engine.withClient(ClientID(0)) { $0.services.visits.state }
    #expect(visits != .idle)
  }
}
