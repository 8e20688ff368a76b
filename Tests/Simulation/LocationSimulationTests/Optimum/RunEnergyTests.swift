import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Board states and energy of a run, and the gpsd baseline")
struct RunEnergyTests {
  /// A client with updates in the first minute of every two, three times; the board sleeps between.
  private func starts(
    acknowledgesAfter delay: Interval? = nil
  ) throws -> (summary: TraceSummary, records: [TraceRecord]) {
    var profile = try BoardProfile.load(
      path: PackageBoards.testFolder + "/gpio-sim-m10/profile.toml")
    profile.board.suspended?.wakeSources.insert(.motion)
    var script = ClientScript()
    script.defers = false
    script.acknowledgementDelay = delay
    script.sessions = (0..<3).map { (count: Int64) in
      let begin = Instant.boot + .seconds(120) * count
      return begin..<(begin + .seconds(60))
    }
    let length = Interval.seconds(360)
    var plan = SimulationPlan(
      track: Scenario.drive.track(seed: 1, duration: length), duration: length)
    plan.motionPeriods = []
    var records: [TraceRecord] = []
    let result = SimulationRun(profile, script).simulate(plan, sink: { records.append($0) })
    #expect(result.violations.isEmpty, "\(result.violations)")
    return (result.summary, records)
  }

  @Test("the board idles while waiting; awake time is resumes and processor time")
  func awake() throws {
    let (summary, records) = try starts()
    let suspends = records.count {
      if case .board(.suspended, _) = $0.kind { true } else { false }
    }
    #expect((2...4).contains(suspends))
    // The first stop waits 2 s to observe that the receiver sleeps; the others are trusted (PWR-4).
    let running = summary.duration - summary.suspendedTime
    #expect(running > .seconds(3 * 60 + 2) && running < .seconds(3 * 60 + 5), "\(running)")
    // 90 µs per wake, 1 ms to resume from idle, 500 ms from a suspend; the last suspend may outlast
    // the run. The board is awake shortly before an alarm.
    let code = 0.000_09 * Double(summary.hostWakes)
    let resumes = 0.001 * Double(summary.hostWakes) + 0.5 * Double(suspends)
    #expect(summary.awakeTime.seconds > code + 0.5 * Double(suspends - 1))
    #expect(summary.awakeTime.seconds < code + resumes + 0.02)
    #expect(summary.processorTime == Interval(microseconds: 90) * Int64(summary.hostWakes))
  }

  @Test("updates start and stop with each session; the board is suspended in between")
  func sessions() throws {
    let (summary, records) = try starts()
    let times = records.compactMap { if case .batch = $0.kind { $0.at } else { nil } }
    #expect(times.count > 3 * 50 && times.count < 3 * 61)
    #expect(times.allSatisfy { $0.seconds.truncatingRemainder(dividingBy: 120) < 60.1 })
    let suspended = summary.suspendedTime.seconds
    #expect(suspended > 3 * 58 && suspended < 3 * 60)
    #expect(summary.suspendedTime == summary.energy?.boardTime[Int(BoardState.suspended.rawValue)])
  }

  @Test("an epoch takes two wakes, first and last bytes; an acknowledgement one more")
  func wakes() throws {
    let plain = try starts().summary
    let real = try starts(acknowledgesAfter: Interval(microseconds: 500)).summary
    #expect(real.fixes == plain.fixes && real.delivered == plain.delivered)
    // An acknowledgement that arrives while the board is awake causes no wake.
    let acknowledgements = real.hostWakes - plain.hostWakes
    #expect(acknowledgements <= plain.batches && acknowledgements >= plain.batches - 5)
    let otherWakes = plain.hostWakes - 2 * plain.fixes
    #expect(otherWakes > 0 && otherWakes < 3 * 80, "\(otherWakes) wakes for three starts and stops")
  }

  @Test("under gpsd the board is idle except for the measured processor time per fix")
  func gpsd() throws {
    func power(_ board: String) throws -> Double {
      try EnergyBaseline(BoardCatalog(directory: PackageBoards.folder).find(board)).gpsdBoard_mW
    }
    // 600 mW idle, 1,000 mW awake.
    #expect(abs(try power("zero2w-pa1616s") - (600 + 400 * 0.006_459)) < 1e-9)
    #expect(abs(try power("zero2w-max-m10s") - (600 + 400 * 0.000_184)) < 1e-9)
    let board = try BoardCatalog(directory: PackageBoards.folder).find("zero2w-pa1616s").board
    let fastest = GpsdLoad.nmea.board_mW(board, fixInterval: .milliseconds(5))
    #expect(fastest == 1_000, "no more than awake")
  }

  @Test("a board that streams each fix and cannot sleep saves nothing compared with gpsd")
  func nothingSaved() throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find("zero2w-max-m10s")
    var script = ClientScript()
    script.defers = false
    let length = Interval.seconds(3_600)
    let plan = SimulationPlan(
      track: Scenario.walk.track(seed: 1, duration: length), duration: length)
    let energy = try #require(SimulationRun(profile, script).simulate(plan).summary.energy)
    let ratio =
      (energy.receiver_mJ + energy.board_mJ) / (energy.receiverAlwaysOn_mJ + energy.boardGpsd_mJ)
    #expect(abs(ratio - 1) < 0.01, "\(ratio)")
  }
}
