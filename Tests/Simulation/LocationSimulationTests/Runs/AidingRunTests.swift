import BoardHardware
import BoardProfiles
import LocationPolicy
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Stored assistance data in whole runs with power-offs")
struct AidingRunTests {
  /// A run with single fixes on a board for which a power-off costs less energy than standby.
  private static func run(stores: Bool, hasBackup: Bool = false) throws -> SimulationResult {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    profile.receiver?.hasBackupSupply = hasBackup
    profile.receiver?.power.standby_mw = 6
    profile.receiver?.power.off_mw = 0
    var script = ClientScript()
    script.service = .significantChange
    var plan = SimulationPlan(
      track: Scenario.day.track(seed: 5, duration: .seconds(4 * 3_600)),
      duration: .seconds(4 * 3_600))
    plan.seed = 5
    var session = SimulationRun(profile, script)
    session.storesAidingData = stores
    return session.simulate(plan)
  }

  private static func seconds(_ result: SimulationResult, _ state: ReceiverPowerState) -> Double {
    (result.summary.energy?.receiverTime[Int(state.rawValue)] ?? .zero).seconds
  }

  @Test("PWR-8: stored assistance data shorten acquisition and save energy")
  func energy() throws {
    let stored = try Self.run(stores: true)
    let cold = try Self.run(stores: false)
    #expect(stored.violations.isEmpty && cold.violations.isEmpty)
    // Both power the receiver off between fixes.
    #expect(Self.seconds(stored, .off) > 7_200 && Self.seconds(cold, .off) > 7_200)
    let acquiring = Self.seconds(stored, .acquiring)
    let withoutData = Self.seconds(cold, .acquiring)
    #expect(acquiring < 0.6 * withoutData, "\(acquiring) s of \(withoutData) s")
    let energy = try #require(stored.summary.energy?.receiver_mJ)
    let cold_mJ = try #require(cold.summary.energy?.receiver_mJ)
    #expect(energy < 0.6 * cold_mJ, "\(energy) of \(cold_mJ) mJ")
    #expect(stored.summary.fixes >= cold.summary.fixes)
  }

  @Test("PWR-8: with a backup supply, stored assistance data change nothing")
  func backup() throws {
    let stored = try Self.run(stores: true, hasBackup: true)
    let unstored = try Self.run(stores: false, hasBackup: true)
    #expect(stored.summary.energy == unstored.summary.energy)
  }
}
