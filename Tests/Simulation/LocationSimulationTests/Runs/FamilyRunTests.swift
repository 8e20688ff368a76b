import BoardHardware
import BoardProfiles
import GNSSProtocols
import LocationPolicy
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Whole runs with a receiver of each family")
struct FamilyRunTests {
  static let families: [ReceiverFamily] = [
    .ubloxM10, .ubloxM8, .mtk, .airoha, .casic, .teseo,
  ]

  private static func profile(_ family: ReceiverFamily) throws -> BoardProfile {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find("simulated")
    profile.receiver?.family = family
    guard !family.isUBlox else {
      profile.receiver?.batch?.capacity = 300
      return profile
    }
    profile.receiver?.output = .nmea
    profile.receiver?.batch = nil
    profile.receiver?.lineSpeed_baud = 38_400
    return profile
  }

  private static func run(
    _ profile: BoardProfile, _ script: ClientScript, hours: Double = 1,
    _ change: (inout SimulationPlan) -> Void = { _ in }
  ) -> TraceSummary {
    let duration = Interval(seconds: hours * 3_600)
    var plan = SimulationPlan(
      track: Scenario.drive.track(seed: 1, duration: duration), duration: duration)
    plan.seed = 1
    plan.noise = .real
    change(&plan)
    let result = SimulationRun(profile, script).simulate(plan, sink: { _ in })
    #expect(result.violations.isEmpty, "\(result.violations)")
    return result.summary
  }

  private static func seconds(_ summary: TraceSummary, _ state: ReceiverPowerState) -> Double {
    (summary.energy?.receiverTime[Int(state.rawValue)] ?? .zero).seconds
  }

  @Test("every fix of an hour is delivered, deferred or immediately", arguments: families)
  func everyFix(_ family: ReceiverFamily) throws {
    for defers in [false, true] {
      var script = ClientScript()
      script.defers = defers
      let summary = Self.run(try Self.profile(family), script)
      #expect(summary.fixes > 3_550, "\(summary.fixes)")
      #expect(summary.delivered == summary.fixes && summary.lost == 0)
      #expect((Self.seconds(summary, .batching) > 3_000) == (defers && family.isUBlox))
    }
  }

  @Test(
    "PWR-1, PWR-8: at 500 m the receiver sleeps between fixes, and each start is hot",
    arguments: families)
  func sleeps(_ family: ReceiverFamily) throws {
    var script = ClientScript()
    script.defers = false
    script.accuracy = 500
    let summary = Self.run(try Self.profile(family), script)
    let asleep = Self.seconds(summary, .standby) + Self.seconds(summary, .backup)
    #expect(asleep > 2_000, "\(asleep)")
    // Without ephemeris each acquisition would take half a minute.
    #expect(Self.seconds(summary, .acquiring) < 600, "\(Self.seconds(summary, .acquiring))")
    #expect(summary.delivered > 20)
  }

  @Test("PWR-7: without signal, acquisition times are bounded", arguments: families)
  func noSignal(_ family: ReceiverFamily) throws {
    var script = ClientScript()
    script.defers = false
    script.accuracy = 500
    let summary = Self.run(try Self.profile(family), script, hours: 3) {
      $0.faults.signalOutages = [Instant(seconds: 600)..<Instant(seconds: 10_000)]
    }
    #expect(Self.seconds(summary, .acquiring) < 5_400, "\(Self.seconds(summary, .acquiring))")
    #expect(Self.seconds(summary, .acquiring) > 100)
  }
}
