import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// When a simulated board resumed from a sleep, and the totals of the run.
private struct SleepLog {
  /// Times at which a suspend ended.
  var resumes: [Instant] = []
  private var state = BoardState.awake

  mutating func add(_ record: TraceRecord) {
    switch record.kind {
    case .board(let state, _):
      if self.state >= .suspended, state < .suspended { resumes.append(record.at) }
      self.state = state
    case .receiver, .fix, .wake, .battery, .batteryEmpty, .batch, .ack, .finish, .gap, .notice:
      break
    }
  }
}

@Suite("Runs with uploads to a store")
struct UploadRunTests {
  private func run(_ script: ClientScript, _ board: String, hours: Int64, seed: UInt64) throws -> (
    SimulationResult, SleepLog
  ) {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let duration = Interval.seconds(3_600 * hours + 1_800)
    var plan = SimulationPlan(
      track: Scenario.walk.track(seed: seed, duration: duration), duration: duration)
    plan.seed = seed
    plan.noise = .real
    var log = SleepLog()
    let result = SimulationRun(profile, script).simulate(plan, sink: { log.add($0) })
    #expect(result.violations.isEmpty, "\(result.violations)")
    return (result, log)
  }

  @Test(
    "PWR-13: an upload at the end of each deferral wakes no board from its sleep",
    arguments: ["imx6ul-max-m10s", "beaglebone-max-m10s", "simulated"], [1, 2] as [UInt64])
  func hourly(_ board: String, _ seed: UInt64) throws {
    var script = ClientScript()
    script.timeout = 3_600
    let (without, plain) = try run(script, board, hours: 3, seed: seed)
    var upload = UploadScript(hold: .seconds(4))
    upload.every = .seconds(60)
    script.upload = upload
    let (with, held) = try run(script, board, hours: 3, seed: seed)
    #expect(without.uploads == 0 && with.uploads >= 4, "the first fix and three hours")
    #expect(with.summary.fixes == without.summary.fixes)
    #expect(with.summary.delivered == without.summary.delivered && with.summary.lost == 0)
    #expect(with.summary.finishes == without.summary.finishes)
    #expect(plain.resumes.count > 5)
    #expect(held.resumes.count <= plain.resumes.count)
    // The service itself runs twice more for each upload, while the board is awake: at the receipt, and when its hold ends.
    #expect(with.summary.hostWakes <= without.summary.hostWakes + 2 * with.uploads)
    let energy = try #require(with.summary.energy), before = try #require(without.summary.energy)
    #expect(energy.board_mJ > before.board_mJ)
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let most = 4 * Double(with.uploads) * profile.powerFigures.idle
    #expect(energy.board_mJ - before.board_mJ < most * 1.1)
  }
}
