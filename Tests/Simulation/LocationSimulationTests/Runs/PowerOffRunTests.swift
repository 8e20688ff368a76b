import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Boards that are switched off while the client's program is not connected.
@Suite("Runs with the board off between fixes")
struct PowerOffRunTests {
  static let boards = ["pi5-max-m10s", "zero2w-witty-pi-4-max-m10s"]

  private static func profile(_ board: String) throws -> BoardProfile {
    try BoardCatalog(directory: PackageBoards.folder).find(board)
  }

  /// A run over a part of the simulated day; `isLaunched` as in the script.
  private static func run(
    _ profile: BoardProfile, _ service: ScriptedService, isLaunched: Bool = true,
    hours: Double = 6, continues: Bool = true, sink: (TraceRecord) -> Void = { _ in }
  ) throws -> (summary: TraceSummary, energy: TraceEnergy) {
    var script = ClientScript()
    script.service = service
    script.defers = false
    script.isLaunched = isLaunched
    if service == .hourly { script.accuracy = 100 }
    let length = Interval(seconds: hours * 3_600)
    let plan = SimulationPlan(
      track: Scenario.day.track(seed: 3, duration: length), duration: length)
    var run = SimulationRun(profile, script)
    run.continuesServices = continues
    let result = run.simulate(plan, sink: sink)
    #expect(result.violations.isEmpty, "\(result.violations)")
    return (result.summary, try #require(result.summary.energy))
  }

  private static func total_mJ(_ energy: TraceEnergy) -> Double {
    energy.receiver_mJ + energy.board_mJ
  }

  @Test(
    "PWR-14: a launched program costs less than a connected one, and the board is off for most of the time",
    arguments: boards)
  func saves(_ board: String) throws {
    let profile = try Self.profile(board)
    for service in [ScriptedService.significantChange, .visits, .hourly] {
      let on = try Self.run(profile, service, isLaunched: false)
      let off = try Self.run(profile, service)
      #expect(on.energy.boardTime[Int(BoardState.off.rawValue)] == .zero)
      #expect(off.energy.boardTime[Int(BoardState.off.rawValue)] > .zero, "\(service)")
      #expect(Self.total_mJ(off.energy) < Self.total_mJ(on.energy), "\(service)")
      #expect(off.energy.boardTime.reduce(.zero, +) == off.summary.duration)
      #expect(off.energy.receiverTime.reduce(.zero, +) == off.summary.duration)
    }
  }

  @Test(
    "PWR-3: with the board off, too, no service costs more than one that demands more",
    arguments: boards)
  func order(_ board: String) throws {
    let profile = try Self.profile(board)
    let everyFix = try Self.run(profile, .updates, hours: 2)
    #expect(everyFix.energy.boardTime[Int(BoardState.off.rawValue)] == .zero, "it stays connected")
    let significant = try Self.total_mJ(Self.run(profile, .significantChange, hours: 2).energy)
    let visits = try Self.total_mJ(Self.run(profile, .visits, hours: 2).energy)
    let hourly = try Self.total_mJ(Self.run(profile, .hourly, hours: 2).energy)
    #expect(significant <= Self.total_mJ(everyFix.energy))
    #expect(visits <= significant)
    #expect(hourly <= visits)
  }

  @Test(
    "PWR-14: each time off is at least the shortest one, and follows at least 30 s on",
    arguments: boards)
  func gaps(_ board: String) throws {
    let profile = try Self.profile(board)
    let off = try #require(profile.board.off)
    var since: Instant?
    var lastEnd: Instant?
    var times: [Interval] = []
    _ = try Self.run(profile, .significantChange) { record in
      guard case .board(let state, _) = record.kind else { return }
      if state == .off {
        since = record.at
        // After a start by hand the shortest time counts.
        let required = lastEnd == nil ? off.minimumDuration : off.resumeTime + .seconds(30)
        #expect(record.at - (lastEnd ?? .boot) >= required)
      } else if let begin = since {
        times.append(record.at - begin)
        lastEnd = record.at
        since = nil
      }
    }
    #expect(times.count > 10)
    #expect(times.allSatisfy { $0 >= off.minimumDuration }, "\(times.map(\.seconds))")
  }

  @Test(
    "PWR-14: a time off changes no visit, and causes no initial event; without the fixes of the ring it would",
    arguments: boards)
  func continues(_ board: String) throws {
    let profile = try Self.profile(board)
    func count(
      _ service: ScriptedService, _ kind: TraceNotice.Kind, isLaunched: Bool = true,
      continues: Bool = true
    ) throws -> Int {
      try Self.run(profile, service, isLaunched: isLaunched, hours: 12, continues: continues)
        .summary.noticesByKind[kind] ?? 0
    }
    for kind in [TraceNotice.Kind.arrived, .departed] {
      let connected = try count(.visits, kind, isLaunched: false)
      #expect(connected > 0)
      #expect(try count(.visits, kind) == connected, "\(kind)")
      #expect(try count(.visits, kind, continues: false) < connected, "\(kind)")
    }
    let connected = try count(.significantChange, .report, isLaunched: false)
    let launched = try count(.significantChange, .report)
    #expect(abs(launched - connected) <= 1, "\(launched) and \(connected)")
    #expect(try count(.significantChange, .report, continues: false) > 2 * connected)
  }

  @Test("a fix an hour: as many fixes as hours, with the board off in between", arguments: boards)
  func hourly(_ board: String) throws {
    let result = try Self.run(Self.profile(board), .hourly)
    #expect(result.summary.fixes == 6)
    #expect(result.energy.boardTime[Int(BoardState.off.rawValue)] > .seconds(5 * 3_600))
  }

  @Test("a board without an alarm, and one with a motion line, stay on")
  func staysOn() throws {
    var profile = try Self.profile("pi5-max-m10s")
    profile.board.off = nil
    let launched = try Self.run(profile, .visits, hours: 1)
    let connected = try Self.run(profile, .visits, isLaunched: false, hours: 1)
    #expect(launched.summary == connected.summary)
    var script = ClientScript()
    script.service = .visits
    script.isLaunched = true
    var plan = SimulationPlan(
      track: Scenario.still.track(seed: 3, duration: .seconds(3_600)), duration: .seconds(3_600))
    plan.motionPeriods = []
    let summary = SimulationRun(try Self.profile("pi5-max-m10s"), script).simulate(plan).summary
    #expect(summary.energy?.boardTime[Int(BoardState.off.rawValue)] == .zero)
  }
}
