import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// Soak run of the energy order (PWR-3): on a random board and track, a client that is content with an accuracy costs
/// no more in total than one that wants every fix.
///
/// Faults and sampled times to fix are off: they differ between two runs with different starts.
struct EnergySoak {
  private let soakRun: SoakRun
  private var random: SimulationRandom
  private var tally = SoakTotals()

  /// Part of the energy by which the run with an accuracy may exceed the other: their first acquisitions are equal.
  static let tolerance = 0.001

  init(_ run: SoakRun) {
    soakRun = run
    random = SimulationRandom(seed: run.seed, stream: 14)
    tally.runs = 1
  }

  mutating func run() -> SoakTotals {
    guard let catalog = try? BoardCatalog.standard(), let profile = board(of: catalog) else {
      tally.failure = .init(seed: soakRun.seed, text: "the boards cannot be read")
      return tally
    }
    let scenarios = Scenario.allCases
    let scenario = scenarios[Int(random.next() % UInt64(scenarios.count))]
    let track = scenario.track(
      seed: random.next(), duration: .seconds(900 + Int64(random.next() % 2_700)))
    let metres = random.uniform(10, [50, 200, 1_000][Int(random.next() % 3)])
    let every = total_mJ(profile, track, accuracy: nil)
    let single = total_mJ(profile, track, accuracy: metres)
    if single > every * (1 + EnergySoak.tolerance) {
      tally.failure = .init(
        seed: soakRun.seed,
        text: "PWR-3: \(profile.name), \(scenario), within \(metres) m: \(single) mJ instead of "
          + "\(every) mJ for every fix")
    }
    tally.digest.add(single)
    return tally
  }

  private mutating func board(of catalog: BoardCatalog) -> BoardProfile? {
    guard let names = try? catalog.names(), !names.isEmpty else { return nil }
    return try? catalog.find(names[Int(random.next() % UInt64(names.count))])
  }

  private func total_mJ(_ profile: BoardProfile, _ track: Track, accuracy: Double?) -> Double {
    var script = ClientScript()
    script.defers = false
    if let accuracy { script.accuracy = accuracy }
    var plan = SimulationPlan(track: track, duration: track.duration)
    plan.noise = .real
    plan.seed = soakRun.seed
    guard let energy = SimulationRun(profile, script).simulate(plan).summary.energy else {
      return 0
    }
    return energy.receiver_mJ + energy.board_mJ
  }
}
