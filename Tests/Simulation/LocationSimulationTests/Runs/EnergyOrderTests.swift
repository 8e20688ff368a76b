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
}
