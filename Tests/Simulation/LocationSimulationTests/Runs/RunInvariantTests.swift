import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Invariants of every run, for any board, service and scenario.
@Suite("Every board, service and scenario")
struct RunInvariantTests {
  static let services: [(name: String, script: ClientScript)] = {
    var all: [(String, ClientScript)] = []
    func add(_ name: String, _ change: (inout ClientScript) -> Void) {
      var script = ClientScript()
      script.defers = false
      change(&script)
      all.append((name, script))
    }
    for metres in [20.0, 50, 100, 500] { add("within \(metres) m") { $0.accuracy = metres } }
    add("standard") { _ in }
    add("deferred") { $0.defers = true }
    add("significant") { $0.service = .significantChange }
    add("visits") { $0.service = .visits }
    add("live") { $0.service = .live }
    add("region") { $0.service = .region(Scenario.home, radius: 200) }
    return all
  }()

  @Test(
    "PWR-11: a run ends with its scenario; its energy is at least 0 and the optimum",
    arguments: PackageBoards.names, Scenario.allCases)
  func invariants(_ board: String, _ scenario: Scenario) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    for (index, (name, script)) in Self.services.enumerated() {
      // Some durations are not whole seconds.
      let length = Interval.milliseconds(240_000 + Int64(index % 3) * 617)
      var plan = SimulationPlan(
        track: scenario.track(seed: UInt64(index + 1), duration: length), duration: length)
      plan.noise = index % 2 == 0 ? .none : .real
      plan.seed = UInt64(index + 1)
      try expectInvariants(profile, script, plan, "\(name), \(length.seconds) s")
    }
  }

  /// Two hours contain many acquisitions, and make the standby power of a CASIC significant.
  @Test(
    "PWR-11: with an accuracy bound, a run of two hours uses at least the optimum",
    arguments: PackageBoards.names)
  func hours(_ board: String) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let (name, script) = Self.services[2]
    let length = Interval.seconds(7_200)
    var plan = SimulationPlan(
      track: Scenario.commute.track(seed: 1, duration: length), duration: length)
    plan.noise = .none
    try expectInvariants(profile, script, plan, "\(name), two hours")
  }

  /// Costs whose total optimum is a lower bound: the board does no work and is always in its sleep state, so that waits
  /// in the idle state and the processor time of the simulated board do not matter.
  static func totalBound(_ profile: BoardProfile) throws -> ScheduleCosts {
    let receiver = try #require(ScheduleCosts(profile))
    let sleeping_mW = (profile.board.suspended ?? profile.board.idle).power_mw
    return ScheduleCosts(
      acquire_mW: receiver.acquire_mW + sleeping_mW, track_mW: receiver.track_mW + sleeping_mW,
      on_mW: receiver.on_mW + sleeping_mW, off_mW: receiver.off_mW + sleeping_mW,
      timeToFix: receiver.pieces.isEmpty ? nil : profile.simulationSetup.receiver.timeToFirstFix)
  }

  private func expectInvariants(
    _ profile: BoardProfile, _ script: ClientScript, _ plan: SimulationPlan, _ label: String
  ) throws {
    var comparison = script.bound_m.flatMap {
      OptimumComparisonTally(plan.track, within: $0, profile)
    }
    comparison?.totalCosts = try Self.totalBound(profile)
    var last = Instant.boot
    let result = SimulationRun(profile, script).simulate(
      plan,
      sink: { record in
        #expect(record.at >= last, "\(label)")
        last = record.at
        comparison?.add(record)
      })
    let summary = result.summary
    let energy = try #require(summary.energy)
    #expect(result.violations.isEmpty, "\(label): \(result.violations)")
    #expect(summary.duration == plan.duration && last <= .boot + plan.duration, "\(label)")
    for times in [energy.receiverTime, energy.boardTime] {
      #expect(times.allSatisfy { $0 >= .zero }, "\(label)")
      #expect(times.reduce(.zero, +) == plan.duration, "\(label)")
    }
    #expect(energy.receiver_mJ >= 0 && energy.board_mJ > 0, "\(label)")
    guard let found = comparison?.finish(at: .boot + summary.duration) else { return }
    #expect(found.receiver_mJ >= 0 && found.optimum_mJ >= 0, "\(label)")
    if found.error.exceededSeconds == 0, let ratio = found.ratio {
      #expect(ratio > 1 - 1e-9, "\(label): \(found.receiver_mJ) of \(found.optimum_mJ)")
      let total = try #require(found.totalRatio)
      #expect(total > 1 - 1e-9, "\(label): \(found.total_mJ) of \(found.totalOptimum_mJ)")
    }
  }
}
