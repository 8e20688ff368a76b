import BoardHardware
import BoardProfiles
import LocationPolicy
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("A receiver that is cut off between fixes, over a whole journey")
struct AidingRunTests {
  /// A board on which a cut is cheaper than standby, for single fixes along a walk.
  private static func run(keeps: Bool, hasBackup: Bool = false) throws -> SimulationResult {
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
    session.storesAidingData = keeps
    return session.simulate(plan)
  }

  private static func seconds(_ result: SimulationResult, _ state: ReceiverPowerState) -> Double {
    (result.summary.energy?.receiverTime[Int(state.rawValue)] ?? .zero).seconds
  }

  @Test("PWR-8: with memory fixes after a cut come warm, and the ledger has less to pay")
  func bill() throws {
    let kept = try Self.run(keeps: true)
    let cold = try Self.run(keeps: false)
    #expect(kept.violations.isEmpty && cold.violations.isEmpty)
    // Both are cut off between fixes.
    #expect(Self.seconds(kept, .off) > 7_200 && Self.seconds(cold, .off) > 7_200)
    let (searching, coldly) = (Self.seconds(kept, .acquiring), Self.seconds(cold, .acquiring))
    #expect(searching < 0.6 * coldly, "\(searching) s of \(coldly) s")
    let bill = try #require(kept.summary.energy?.receiver_mJ)
    let without = try #require(cold.summary.energy?.receiver_mJ)
    #expect(bill < 0.6 * without, "\(bill) of \(without) mJ")
    #expect(kept.summary.fixes >= cold.summary.fixes)
  }

  @Test("PWR-8: with a backup supply the memory changes nothing")
  func backup() throws {
    let kept = try Self.run(keeps: true, hasBackup: true)
    let without = try Self.run(keeps: false, hasBackup: true)
    #expect(kept.summary.energy == without.summary.energy)
  }
}
