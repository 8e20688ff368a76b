import BoardProfiles
import CBench
import LocationSimulation
import LocationTypes
import SimulatedHAL

/// A day on the default board, simulated once: all stages from bytes to batches, including the
/// simulator, its energy ledger and its trace.
struct SimulatedDay {
  /// Service of the client: with deferred updates or without.
  enum Service: String, CaseIterable {
    case deferred, standard
  }

  /// Host cost of a simulated day; nil if the default board's profile cannot be read.
  static func measure(_ service: Service) -> DayMeasurement? {
    guard
      let catalog = try? BoardCatalog.standard(),
      let profile = try? catalog.find(BoardCatalog.defaultBoard)
    else { return nil }
    let day = Interval.seconds(86_400)
    let plan = SimulationPlan(track: Scenario.day.track(seed: 1, duration: day), duration: day)
    var script = ClientScript()
    script.defers = service == .deferred
    let session = SimulationRun(profile, script)
    let before = heap_allocations_now()
    let begin = bench_now_ns()
    let result = session.simulate(plan)
    let end = bench_now_ns()
    let allocations = heap_allocations_now() - before
    return DayMeasurement(
      service: service.rawValue, fixes: result.summary.fixes,
      seconds: Double(end - begin) / 1e9, allocations: allocations)
  }
}
