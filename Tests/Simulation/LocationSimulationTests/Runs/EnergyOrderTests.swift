import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Energy of the services, compared")
struct EnergyOrderTests {
  /// Energy of receiver and board over trips and stops, joules.
  static func energy(_ script: ClientScript) throws -> Double {
    let track = Scenario.day.track(seed: 3, duration: .seconds(6 * 3_600))
    let plan = SimulationPlan(track: track, duration: .seconds(6 * 3_600))
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    let result = SimulationRun(profile, script).simulate(plan)
    #expect(result.violations.isEmpty)
    let energy = try #require(result.summary.energy)
    return (energy.receiver_mJ + energy.board_mJ) / 1_000
  }

  @Test("PWR-3: visits ≤ significant change ≤ deferred ≤ standard, over trips and stops")
  func order() throws {
    var scripts: [ClientScript] = []
    for service in [ScriptedService.visits, .significantChange, .updates, .updates] {
      var script = ClientScript()
      script.service = service
      script.defers = scripts.count == 2
      scripts.append(script)
    }
    let energy = try scripts.map(Self.energy)
    #expect(energy[0] <= energy[1], "\(energy)")
    #expect(energy[1] <= energy[2], "\(energy)")
    #expect(energy[2] <= energy[3], "\(energy)")
  }

  /// Energy of receiver and board over `track`, mJ.
  private static func total_mJ(
    _ profile: BoardProfile, _ track: Track, _ change: (inout ClientScript) -> Void
  ) throws -> Double {
    var script = ClientScript()
    script.defers = false
    change(&script)
    let plan = SimulationPlan(track: track, duration: track.duration)
    let energy = try #require(SimulationRun(profile, script).simulate(plan).summary.energy)
    return energy.receiver_mJ + energy.board_mJ
  }

  @Test(
    "PWR-3: on every board a client that is content with less costs no more than one that wants every fix",
    arguments: PackageBoards.names, Scenario.allCases)
  func total(_ board: String, _ scenario: Scenario) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let track = scenario.track(seed: 5, duration: .seconds(900))
    let everyFix = try Self.total_mJ(profile, track) { _ in }
    for metres in [10.0, 30, 100, 500] {
      let single = try Self.total_mJ(profile, track) { $0.accuracy = metres }
      #expect(single <= everyFix * 1.0005, "\(metres) m")
    }
    for service in [
      ScriptedService.significantChange, .visits, .region(Scenario.home, radius: 200),
    ] {
      let other = try Self.total_mJ(profile, track) { $0.service = service }
      #expect(other <= everyFix * 1.0005, "\(service)")
    }
  }

  @Test(
    "PWR-3: the same holds for four hours at one position, whose fixes are rare",
    arguments: ["simulated", "zero2w-max-m10s", "imx6ul-max-m10s"])
  func still(_ board: String) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let track = Scenario.still.track(seed: 5, duration: .seconds(4 * 3_600))
    let everyFix = try Self.total_mJ(profile, track) { _ in }
    for metres in [30.0, 500] {
      let single = try Self.total_mJ(profile, track) { $0.accuracy = metres }
      #expect(single <= everyFix, "\(metres) m")
    }
    let visits = try Self.total_mJ(profile, track) { $0.service = .visits }
    #expect(visits <= everyFix)
  }
}
