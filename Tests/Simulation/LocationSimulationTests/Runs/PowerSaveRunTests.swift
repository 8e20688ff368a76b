import BoardHardware
import BoardProfiles
import LocationPolicy
import LocationTypes
import ReceiverDrivers
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Runs with the receiver's own duty cycle")
struct PowerSaveRunTests {
  private static func run(_ change: (inout BoardProfile) -> Void = { _ in }) throws -> TraceSummary
  {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    change(&profile)
    var script = ClientScript()
    script.defers = false
    script.accuracy = 50
    var plan = SimulationPlan(
      track: Scenario.drive.track(seed: 1, duration: .seconds(3_600)), duration: .seconds(3_600))
    plan.seed = 1
    plan.noise = .real
    let result = SimulationRun(profile, script).simulate(plan, sink: { _ in })
    #expect(result.violations.isEmpty, "\(result.violations)")
    return result.summary
  }

  private static func seconds(_ summary: TraceSummary, _ state: ReceiverPowerState) -> Double {
    (summary.energy?.receiverTime[Int(state.rawValue)] ?? .zero).seconds
  }

  @Test("PWR-1: the receiver's duty cycle is used and saves energy")
  func energy() throws {
    let saving = try Self.run()
    let full = try Self.run { $0.receiver?.power.powersave_mw = nil }
    #expect(Self.seconds(full, .powersave) == 0)
    #expect(Self.seconds(saving, .powersave) > Self.seconds(full, .tracking) / 2)
    // Full power only until the ephemeris is read.
    #expect(Self.seconds(saving, .tracking) < 60)
    let energy = try #require(saving.energy?.receiver_mJ)
    let fullPower_mJ = try #require(full.energy?.receiver_mJ)
    #expect(energy < 0.85 * fullPower_mJ, "\(energy) of \(fullPower_mJ) mJ")
  }

  @Test("the engine uses a duty cycle if the profile has its power and the driver supports it")
  func setup() throws {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    #expect(profile.engineSetup.parameters.receiver.powersave_mW == 10)
    #expect(profile.engineSetup.receiver?.canSavePower == true)
    #expect(profile.passiveSetup.parameters.receiver.powersave_mW == nil)
    profile.receiver?.fixInterval = .milliseconds(100)
    #expect(profile.engineSetup.parameters.receiver.powersave_mW == nil)
    profile.receiver?.fixInterval = .seconds(1)
    profile.receiver?.family = .passive
    #expect(profile.engineSetup.parameters.receiver.powersave_mW == nil)
    profile.receiver?.family = .ubloxM10
    profile.receiver?.power.powersave_mw = nil
    #expect(profile.engineSetup.parameters.receiver.powersave_mW == nil)
    #expect(profile.engineSetup.receiver?.canSavePower == false)
  }
}
