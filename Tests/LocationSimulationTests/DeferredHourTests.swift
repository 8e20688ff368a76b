import BoardProfiles
import LocationSimulation
import LocationTypes
import SimulatedHAL
import Testing

@Suite("A simulated hour")
struct SimulatedHourTests {
  @Test("PWR-2: a deferred hour wakes the host ceil(fixes / min(N, W)) + 2 times")
  func deferredHour() throws {
    let profile = try BoardCatalog.standard().find("zero2w-max-m10s")
    let session = Session(profile)
    let track = Scenario.walk.track(seed: 1, duration: .seconds(3600))
    var records: [String] = []
    let result = session.simulate(
      SimulationPlan(track: track, duration: .seconds(3600)),
      sink: {
        if case .fix = $0.kind { return }
        records.append("\($0.at.seconds) \($0.kind)")
      })
    for record in records.prefix(100) { print(record) }
    print(result.summary)
    print(result.violations)
  }
}
