import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// What a run told, added up in the simplest way.
private struct Told {
  var fixes = 0
  var delivered = 0
  var batches = 0
  var finishes = 0
  var lost: UInt64 = 0
  var wakes = 0
  /// Wakes out of a rest: a suspend, or idling for longer than any answer or drain takes.
  var restsEnded = 0
  /// Time at rest.
  var rested = Interval.zero
  var notices = 0
  private var wait: (state: BoardState, since: Instant)?
  var last: UInt64?
  var isInOrder = true

  mutating func add(_ record: TraceRecord) {
    switch record.kind {
    case .fix: fixes += 1
    case .wake:
      wakes += 1
      guard let wait else { return }
      let length = record.at - wait.since
      if wait.state >= .suspended || length > .seconds(5) {
        restsEnded += 1
        rested = rested + length
      }
      self.wait = nil
    case .board(let state, _): if state != .awake { wait = (state, record.at) }
    case .finish: finishes += 1
    case .gap(_, let count, _, _): lost += count
    case .batch(_, let first, let end, let count):
      batches += 1
      delivered += count
      if let last, first != last + 1 { isInOrder = false }
      if end < first { isInOrder = false }
      last = end
    case .notice: notices += 1
    case .receiver, .battery, .batteryEmpty, .ack: break
    }
  }
}

@Suite("Whole runs on simulated boards")
struct WholeRunTests {
  private func run(
    _ board: String, _ plan: SimulationPlan, _ script: ClientScript = ClientScript()
  ) throws -> (SimulationResult, Told) {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    var told = Told()
    let result = SimulationRun(profile, script).simulate(plan, sink: { told.add($0) })
    #expect(result.violations.isEmpty, "\(result.violations)")
    #expect(told.isInOrder)
    #expect(result.summary.fixes == told.fixes)
    #expect(result.summary.delivered == told.delivered)
    #expect(result.summary.batches == told.batches)
    #expect(result.summary.finishes == told.finishes)
    #expect(result.summary.lost == told.lost)
    #expect(result.summary.hostWakes == told.wakes)
    #expect(result.summary.notices == told.notices)
    return (result, told)
  }

  private func hour(_ scenario: Scenario, seed: UInt64) -> SimulationPlan {
    var plan = SimulationPlan(
      track: scenario.track(seed: seed, duration: .seconds(3_600)), duration: .seconds(3_600))
    plan.seed = seed
    plan.noise = .real
    return plan
  }

  @Test(
    "PWR-2: a deferred hour wakes the host ceil(fixes / min(N, W)) + 2 times, 2 s awake a wake",
    arguments: try PackageBoards.names.filter { name in
      try BoardCatalog(directory: PackageBoards.folder).find(name).receiver?.batch != nil
    }, [Scenario.walk, .drive])
  func deferredHour(_ board: String, _ scenario: Scenario) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let receiver = try #require(profile.receiver), batch = try #require(receiver.batch)
    let (result, told) = try run(board, hour(scenario, seed: 1))
    #expect(told.fixes > 3_500)
    #expect(told.delivered == told.fixes && told.lost == 0)
    let size = min(profile.cache.deferralLimit, batch.watermark)
    #expect(told.restsEnded <= (told.fixes + size - 1) / size + 2)
    // A LOG-BATCH frame of 108 bytes, ten bits each, for every fix.
    let draining = Double(told.fixes * 1_080) / Double(receiver.lineSpeed_baud)
    let busy = (result.summary.duration - told.rested).seconds
    #expect(busy - draining <= 2 * Double(told.restsEnded))
    // And of that time only coming back, for every drain and for its pieces, is spent awake.
    let resumes = Double(told.restsEnded) * (profile.board.suspended?.resume.seconds ?? 0)
    #expect(result.summary.awakeTime.seconds <= resumes + 0.001_1 * Double(told.wakes))
  }

  @Test(
    "DEF-8, DEF-30: with criteria, nothing is lost, doubled or left without its finish",
    arguments: 1...4 as ClosedRange<UInt64>)
  func criteria(_ seed: UInt64) throws {
    for board in PackageBoards.names {
      var script = ClientScript()
      script.distance = 700
      script.timeout = 240
      var plan = hour(.drive, seed: seed)
      plan.samplesTimeToFirstFix = true
      let (result, told) = try run(board, plan, script)
      #expect(told.delivered == told.fixes && told.lost == 0)
      #expect(told.finishes >= 14)
      #expect(result.summary.longestDelay <= .seconds(250))
    }
  }

  @Test("DEF-42, DEF-43, PWR-6: faults cost what the receiver could not keep, and nothing else")
  func faults() throws {
    for board in PackageBoards.names {
      var plan = hour(.drive, seed: 7)
      plan.faults.acknowledgementLoss = 0.1
      plan.faults.firstAcknowledgementsLost = 1
      plan.faults.signalOutages = [Instant(seconds: 900)..<Instant(seconds: 1_100)]
      plan.faults.configurationLosses = [Instant(seconds: 1_800)]
      var script = ClientScript()
      script.timeout = 300
      let (_, told) = try run(board, plan, script)
      #expect(told.delivered == told.fixes && told.lost == 0)
      #expect(told.fixes > 2_500)
      #expect(told.finishes >= 8)
    }
  }

  @Test("a standard client gets each fix by itself, as it comes")
  func standard() throws {
    for board in PackageBoards.names {
      var script = ClientScript()
      script.defers = false
      let (result, told) = try run(board, hour(.walk, seed: 3), script)
      #expect(told.delivered == told.fixes && told.batches == told.fixes)
      #expect(told.finishes == 0)
      // A first fix that comes before its time is found when the board looks for it.
      #expect(result.summary.longestDelay <= .milliseconds(1_200))
    }
  }

  @Test("the bytes of a simulation, replayed, give the same fixes", arguments: [false, true])
  func replayed(_ defers: Bool) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    var script = ClientScript()
    script.defers = defers
    let track = Scenario.walk.track(seed: 5, duration: .seconds(900))
    var bytes: [UInt8] = []
    var sent: [TraceFix] = []
    _ = SimulationRun(profile, script).simulate(
      SimulationPlan(track: track, duration: .seconds(900)), bytes: { bytes += $0 },
      sink: { if case .fix(let fix) = $0.kind { sent.append(fix) } })
    var played: [TraceFix] = []
    let scan = RecordingScan(
      bytes, date: nil, interval: .seconds(1),
      lineSpeed: UInt32(profile.receiver?.lineSpeed_baud ?? 115_200))
    let result = SimulationRun(profile).replay(
      scan, sink: { if case .fix(let fix) = $0.kind { played.append(fix) } })
    #expect(result.violations.isEmpty)
    #expect(sent.count > 800)
    #expect(played.map(\.utc) == sent.map(\.utc))
    #expect(played.map(\.coordinate) == sent.map(\.coordinate))
    #expect(played.map(\.horizontalAccuracy_mm) == sent.map(\.horizontalAccuracy_mm))
  }
}
