import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// Soak run of the energy order (PWR-3): on a random board and track, a client that is content with an accuracy costs
/// no more in total than one that wants every fix; nor does a service whose program is launched for each event, on a
/// board that is switched off in between (PWR-14).
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
    if profile.board.off != nil { checkOff(profile, track, every_mJ: every) }
    return tally
  }

  /// Runs each service that leaves the board off between its fixes.
  private mutating func checkOff(_ profile: BoardProfile, _ track: Track, every_mJ: Double) {
    for service in [ScriptedService.significantChange, .visits, .hourly] {
      var script = ClientScript()
      script.service = service
      script.isLaunched = true
      script.accuracy = 100
      let result = run(profile, track, script)
      let total = result.summary.energy.map { $0.receiver_mJ + $0.board_mJ } ?? 0
      if total > every_mJ * (1 + EnergySoak.tolerance) || !result.violations.isEmpty {
        tally.failure = .init(
          seed: soakRun.seed,
          text:
            "PWR-14: \(profile.name), off for \(service): \(total) mJ instead of \(every_mJ) mJ for "
            + "every fix; \(result.violations)")
      }
    }
  }

  private mutating func board(of catalog: BoardCatalog) -> BoardProfile? {
    guard let names = try? catalog.names(), !names.isEmpty else { return nil }
    return try? catalog.find(names[Int(random.next() % UInt64(names.count))])
  }

  private func total_mJ(_ profile: BoardProfile, _ track: Track, accuracy: Double?) -> Double {
    var script = ClientScript()
    script.defers = false
    if let accuracy { script.accuracy = accuracy }
    return run(profile, track, script).summary.energy.map { $0.receiver_mJ + $0.board_mJ } ?? 0
  }

  private func run(
    _ profile: BoardProfile, _ track: Track, _ script: ClientScript
  ) -> SimulationResult {
    var plan = SimulationPlan(track: track, duration: track.duration)
    plan.noise = .real
    plan.seed = soakRun.seed
    return SimulationRun(profile, script).simulate(plan)
  }
}
