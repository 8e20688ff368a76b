import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Totals of a run's records, computed in the simplest way.
private struct RunTotals {
  var fixes = 0
  var delivered = 0
  var batches = 0
  var finishes = 0
  var lost: UInt64 = 0
  var wakes = 0
  /// Number of sleeps that ended: suspends, and idle waits longer than any answer or drain.
  var sleepsEnded = 0
  /// Total time of these sleeps.
  var sleepTime = Interval.zero
  var notices = 0
  private var wait: (state: BoardState, since: Instant)?
  var last: UInt64?
  var isInOrder = true
  /// Longest time from a fix to its delivery, of the fixes after the first delivery.
  var longestLaterDelay = Interval.zero
  private var fixTimes: [Instant] = []
  private var firstDelivery: Instant?

  mutating func add(_ record: TraceRecord) {
    switch record.kind {
    case .fix:
      fixes += 1
      fixTimes.append(record.at)
    case .wake:
      wakes += 1
      guard let wait else { return }
      let length = record.at - wait.since
      if wait.state >= .suspended || length > .seconds(5) {
        sleepsEnded += 1
        sleepTime = sleepTime + length
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
      let firstTime = firstDelivery ?? record.at
      firstDelivery = firstTime
      let oldest = fixTimes[Int(first)]
      if oldest > firstTime { longestLaterDelay = max(longestLaterDelay, record.at - oldest) }
    case .notice: notices += 1
    case .receiver, .battery, .batteryEmpty, .ack: break
    }
  }
}

@Suite("Whole runs on simulated boards")
struct WholeRunTests {
  private func run(
    _ board: String, _ plan: SimulationPlan, _ script: ClientScript = ClientScript()
  ) throws -> (SimulationResult, RunTotals) {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    var totals = RunTotals()
    let result = SimulationRun(profile, script).simulate(plan, sink: { totals.add($0) })
    #expect(result.violations.isEmpty, "\(result.violations)")
    #expect(totals.isInOrder)
    #expect(result.summary.fixes == totals.fixes)
    #expect(result.summary.delivered == totals.delivered)
    #expect(result.summary.batches == totals.batches)
    #expect(result.summary.finishes == totals.finishes)
    #expect(result.summary.lost == totals.lost)
    #expect(result.summary.hostWakes == totals.wakes)
    #expect(result.summary.notices == totals.notices)
    return (result, totals)
  }

  private func hour(_ scenario: Scenario, seed: UInt64) -> SimulationPlan {
    var plan = SimulationPlan(
      track: scenario.track(seed: seed, duration: .seconds(3_600)), duration: .seconds(3_600))
    plan.seed = seed
    plan.noise = .real
    return plan
  }

  @Test(
    "PWR-2: a deferred hour has at most ceil(fixes / min(N, W)) + 2 wakes of at most 2 s each",
    arguments: try PackageBoards.names.filter { name in
      try BoardCatalog(directory: PackageBoards.folder).find(name).receiver?.batch != nil
    }, [Scenario.walk, .drive])
  func deferredHour(_ board: String, _ scenario: Scenario) throws {
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(board)
    let receiver = try #require(profile.receiver), batch = try #require(receiver.batch)
    let (result, totals) = try run(board, hour(scenario, seed: 1))
    #expect(totals.fixes > 3_500)
    #expect(totals.delivered == totals.fixes && totals.lost == 0)
    let size = min(profile.cache.deferralLimit, batch.watermark)
    #expect(totals.sleepsEnded <= (totals.fixes + size - 1) / size + 2)
    // A LOG-BATCH frame of 108 bytes, ten bits each, for every fix.
    let draining = Double(totals.fixes * 1_080) / Double(receiver.lineSpeed_baud)
    let busy = (result.summary.duration - totals.sleepTime).seconds
    #expect(busy - draining <= 2 * Double(totals.sleepsEnded))
    // Of that time the board is awake only for resumes and for about 1 ms per wake.
    let resumes = Double(totals.sleepsEnded) * (profile.board.suspended?.resumeTime.seconds ?? 0)
    #expect(result.summary.awakeTime.seconds <= resumes + 0.001_1 * Double(totals.wakes))
  }

  @Test(
    "DEF-8, DEF-30: with criteria, no fix is lost or duplicated, and each deferral finishes",
    arguments: 1...2 as ClosedRange<UInt64>)
  func criteria(_ seed: UInt64) throws {
    for board in PackageBoards.names {
      var script = ClientScript()
      script.distance = 700
      script.timeout = 240
      var plan = hour(.drive, seed: seed)
      plan.samplesTimeToFirstFix = true
      let (result, totals) = try run(board, plan, script)
      #expect(totals.delivered == totals.fixes && totals.lost == 0)
      #expect(totals.finishes >= 14)
      #expect(result.summary.longestDelay <= .seconds(250))
    }
  }

  @Test("DEF-42, DEF-43, PWR-6: faults lose only fixes that the receiver could not keep")
  func faults() throws {
    for board in PackageBoards.names {
      var plan = hour(.drive, seed: 7)
      plan.faults.acknowledgementLoss = 0.1
      plan.faults.firstAcknowledgementsLost = 1
      plan.faults.signalOutages = [Instant(seconds: 900)..<Instant(seconds: 1_100)]
      plan.faults.configurationLosses = [Instant(seconds: 1_800)]
      var script = ClientScript()
      script.timeout = 300
      let (_, totals) = try run(board, plan, script)
      #expect(totals.delivered == totals.fixes && totals.lost == 0)
      #expect(totals.fixes > 2_500)
      #expect(totals.finishes >= 8)
    }
  }

  @Test("a client without deferral receives each fix separately when it is available")
  func standard() throws {
    for board in PackageBoards.names {
      var script = ClientScript()
      script.defers = false
      let (result, totals) = try run(board, hour(.walk, seed: 3), script)
      #expect(totals.delivered == totals.fixes && totals.batches == totals.fixes)
      #expect(totals.finishes == 0)
      // A first fix that arrives early is read when the board polls for it, at the latest when the line's buffer is full.
      #expect(result.summary.longestDelay <= .seconds(5), "\(board)")
      #expect(totals.longestLaterDelay <= .milliseconds(200), "\(board)")
    }
  }

  @Test("a replay of a simulation's bytes gives the same fixes", arguments: [false, true])
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
