import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// What holds of every run, whatever the board, the service and the journey.
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
    "PWR-11: a run ends with its scenario, takes no negative energy, and no less than the optimum",
    arguments: PackageBoards.names, Scenario.allCases)
  func invariants(_ board: String, _ scenario: Scenario) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    for (index, (name, script)) in Self.services.enumerated() {
      // Some lengths are no whole seconds.
      let length = Interval.milliseconds(240_000 + Int64(index % 3) * 617)
      var plan = SimulationPlan(
        track: scenario.track(seed: UInt64(index + 1), duration: length), duration: length)
      plan.noise = index % 2 == 0 ? .none : .real
      plan.seed = UInt64(index + 1)
      try expectInvariants(profile, script, plan, "\(name), \(length.seconds) s")
    }
  }

  /// Long enough for many searches, and for the standby of a CASIC to matter.
  @Test("PWR-11: two hours within a distance, on every board", arguments: PackageBoards.names)
  func hours(_ board: String) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let (name, script) = Self.services[2]
    let length = Interval.seconds(7_200)
    var plan = SimulationPlan(
      track: Scenario.commute.track(seed: 1, duration: length), duration: length)
    plan.noise = .none
    try expectInvariants(profile, script, plan, "\(name), two hours")
  }

  private func expectInvariants(
    _ profile: BoardProfile, _ script: ClientScript, _ plan: SimulationPlan, _ words: String
  ) throws {
    var promise = script.bound_m.flatMap { OptimumComparisonTally(plan.track, within: $0, profile) }
    var last = Instant.boot
    let result = SimulationRun(profile, script).simulate(
      plan,
      sink: { record in
        #expect(record.at >= last, "\(words)")
        last = record.at
        promise?.add(record)
      })
    let summary = result.summary
    let energy = try #require(summary.energy)
    #expect(result.violations.isEmpty, "\(words): \(result.violations)")
    #expect(summary.duration == plan.duration && last <= .boot + plan.duration, "\(words)")
    for times in [energy.receiverTime, energy.boardTime] {
      #expect(times.allSatisfy { $0 >= .zero }, "\(words)")
      #expect(times.reduce(.zero, +) == plan.duration, "\(words)")
    }
    #expect(energy.receiver_mJ >= 0 && energy.board_mJ > 0, "\(words)")
    guard let kept = promise?.finish(at: .boot + summary.duration) else { return }
    #expect(kept.receiver_mJ >= 0 && kept.optimum_mJ >= 0, "\(words)")
    if kept.error.exceededSeconds == 0, let ratio = kept.ratio {
      #expect(ratio > 1 - 1e-9, "\(words): \(kept.receiver_mJ) of \(kept.optimum_mJ)")
    }
  }
}
