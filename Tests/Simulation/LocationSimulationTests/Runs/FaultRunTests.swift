import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// What goes wrong in a run, and what it may cost.
struct FaultCase: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// Seconds of the run whose fixes the receiver itself cannot have kept.
  var mayMiss: [ClosedRange<Int>] = []
  /// So many deferrals may end with 11: the receiver did not answer three times running.
  var mayFail = 0
  /// The receiver goes for longer than can be hidden.
  var mustFail: Bool { !faults.deviceAbsent.isEmpty }
  var faults = FaultPlan()
  var seconds: Int64 = 3_600

  init(
    _ name: String, mayMiss: [ClosedRange<Int>] = [], mayFail: Int = 0,
    _ fill: (inout FaultPlan) -> Void
  ) {
    testDescription = name
    self.mayMiss = mayMiss
    self.mayFail = mayFail
    fill(&faults)
  }

  func lasting(_ seconds: Int64) -> FaultCase {
    var copy = self
    copy.seconds = seconds
    return copy
  }

  static func span(_ from: Double, _ to: Double) -> Range<Instant> {
    Instant(seconds: from)..<Instant(seconds: to)
  }
}

/// The two ways to live with a receiver: it batches, or it streams and only its supply is switched.
enum FaultBoard: CaseIterable, Sendable {
  case batching
  case passive

  func profile() throws -> BoardProfile {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    guard self == .passive else { return profile }
    profile.receiver?.family = .nmea
    profile.receiver?.output = .nmea
    profile.receiver?.defaultLineSpeed_baud = 38_400
    profile.receiver?.lineSpeed_baud = 38_400
    profile.receiver?.wakeLine = nil
    profile.receiver?.batch = nil
    return profile
  }
}

/// A run's records, added up without the code that makes the summary.
private struct Audit {
  let profile: BoardProfile
  let script: ClientScript
  let fault: FaultCase
  var records: [TraceRecord] = []
  var result: SimulationResult?

  /// Runs the case, sampled times to first fix and noise included.
  init(_ board: FaultBoard, _ fault: FaultCase, seed: UInt64, timeout: Double = 300) throws {
    profile = try board.profile()
    self.fault = fault
    var script = ClientScript()
    script.timeout = timeout
    self.script = script
    var plan = SimulationPlan(
      track: Scenario.drive.track(seed: seed, duration: .seconds(fault.seconds)),
      duration: .seconds(fault.seconds))
    plan.seed = seed
    plan.noise = .real
    plan.samplesTimeToFirstFix = true
    plan.faults = fault.faults
    var records: [TraceRecord] = []
    result = SimulationRun(profile, script).simulate(plan, sink: { records.append($0) })
    self.records = records
  }

  // MARK: The contract

  var fixes: [(at: Instant, fix: TraceFix)] {
    records.compactMap { if case .fix(let fix) = $0.kind { ($0.at, fix) } else { nil } }
  }
  /// The seconds of the track at which fixes were made.
  var seconds: [Int] {
    fixes.compactMap { $0.fix.utc.map { Int(($0 - Scenario.start).seconds.rounded()) } }
  }
  var codes: [LocationErrorCode?] {
    records.compactMap { if case .finish(_, let code) = $0.kind { .some(code) } else { nil } }
  }

  /// When deferrals ended because the receiver failed, seconds.
  var failures: [Double] {
    records.compactMap {
      if case .finish(_, .deferredFailed?) = $0.kind { $0.at.seconds } else { nil }
    }
  }

  /// The board was asked for nothing that must never be; no fix doubled, out of order, or lost that
  /// the receiver could have kept; each moment told as it was.
  func expectFixes() {
    #expect(result?.violations.isEmpty == true, "\(result?.violations ?? [])")
    let seconds = seconds
    #expect(seconds.count == fixes.count && fixes.count > 0)
    #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $0 < $1 }, "doubled or out of order")
    for (a, b) in zip(seconds, seconds.dropFirst()) where b > a + 1 {
      let isKnown = fault.mayMiss.contains { $0.contains(a + 1) && $0.contains(b - 1) }
      #expect(isKnown, "nothing from \(a + 1) to \(b - 1)")
    }
    if let first = seconds.first, let last = seconds.last {
      #expect(first < 120)
      #expect(last >= Int(fault.seconds) - 3)
    }
    #expect(fixes.enumerated().allSatisfy { $0.element.fix.name.sequence == UInt64($0.offset) })
    let late = fixes.compactMap { at, fix in
      fix.utc.map { (at - (Instant.boot + ($0 - Scenario.start))).seconds }
    }
    let range = (late.min() ?? 0, late.max() ?? 0)
    #expect(range.0 > -0.001 && range.1 < 1.5, "a moment told wrong by \(range)")
  }

  /// Every fix is delivered once, oldest first; every deferral finishes exactly once, none before its
  /// time without error.
  func expectDeliveries() {
    let end = Instant.boot + .seconds(fault.seconds)
    var next: UInt64 = 0
    var armed: Instant?
    var acknowledged: UInt64?
    for record in records {
      switch record.kind {
      case .batch(_, let first, let last, let count):
        #expect(first == next && last >= first && count == Int(last - first) + 1)
        next = last + 1
        if armed == nil && record.at < end { armed = record.at }
      case .finish(_, let code):
        guard let since = armed else {
          Issue.record("a finish at \(record.at.seconds) s that nobody waits for")
          continue
        }
        armed = nil
        switch code {
        case nil:
          let lasted = (record.at - since).seconds
          #expect(lasted >= script.timeout, "DEF-18: early at \(record.at.seconds) s")
          #expect(lasted <= script.timeout + 60, "late at \(record.at.seconds) s")
        case .deferredCanceled: #expect(record.at >= end)
        default: break
        }
      case .ack(_, let sequence):
        #expect(sequence < next && acknowledged.map { $0 <= sequence } ?? true)
        acknowledged = sequence
      case .gap: Issue.record("a gap in a ring with room for all")
      case .receiver, .board, .battery, .batteryEmpty, .fix, .wake, .notice: break
      }
    }
    #expect(next == UInt64(fixes.count), "all that was kept is delivered")
    #expect(acknowledged.map { $0 + 1 == next } ?? true, "all that is delivered is acknowledged")
    #expect(armed == nil, "a deferral without its finish")
    let failed = failures.count
    #expect(failed <= fault.mayFail && (failed > 0 || !fault.mustFail), "11 at \(failures)")
    #expect(codes.allSatisfy { $0 == nil || $0 == .deferredFailed || $0 == .deferredCanceled })
  }

  // MARK: The sums

  /// Energy and time per state of what is told by records of a state and its power.
  private struct Bill {
    var mJ = 0.0
    var times: [Int: Interval] = [:]
    var firstSearch = (mJ: 0.0, time: Interval.zero)

    init(_ states: [(at: Instant, state: Int, mW: Double)], until end: Instant) {
      var isSearchOver = false
      for (i, entry) in states.enumerated() {
        let time = (i + 1 < states.count ? states[i + 1].at : end) - entry.at
        mJ += entry.mW * time.seconds
        times[entry.state] = (times[entry.state] ?? .zero) + time
        if entry.state >= TraceReceiverState.tracking.rawValue { isSearchOver = true }
        if entry.state == TraceReceiverState.acquiring.rawValue, !isSearchOver {
          firstSearch.mJ += entry.mW * time.seconds
          firstSearch.time = firstSearch.time + time
        }
      }
    }

    func isLike(_ times: [Interval]) -> Bool {
      times.enumerated().allSatisfy { $0.element == self.times[$0.offset] ?? .zero }
    }
  }

  /// The summary says what its records add up to.
  func expectSums() throws {
    let summary = try #require(result?.summary)
    let energy = try #require(summary.energy)
    let receiver = try #require(profile.receiver)
    let end = records.map(\.at).reduce(Instant.boot + .seconds(fault.seconds), max)
    #expect(zip(records, records.dropFirst()).allSatisfy { $0.at <= $1.at })
    #expect(summary.duration == end - .boot)
    let bill = Bill(
      records.compactMap {
        if case .receiver(let state, let mW) = $0.kind { ($0.at, state.rawValue, mW) } else { nil }
      }, until: end)
    let board = Bill(
      records.compactMap {
        if case .board(let state, let mW) = $0.kind {
          ($0.at, Int(state.rawValue), mW)
        } else {
          nil
        }
      }, until: end)
    func expect(_ told: Double, _ summed: Double) {
      #expect(abs(told - summed) <= 1e-9 * summed + 1e-9, "\(told) is \(summed)")
    }
    expect(energy.receiver_mJ, bill.mJ)
    expect(energy.board_mJ, board.mJ)
    expect(
      energy.receiverAlwaysOn_mJ,
      bill.firstSearch.mJ
        + receiver.power.track_mw * (summary.duration - bill.firstSearch.time).seconds)
    expect(energy.boardGpsd_mJ, EnergyBaseline(profile).gpsdBoard_mW * summary.duration.seconds)
    expect(energy.boardAlwaysAwake_mJ, profile.board.awake_mw * summary.duration.seconds)
    #expect(bill.isLike(energy.receiverTime) && board.isLike(energy.boardTime))
    #expect(summary.awakeTime == board.times[0])
    expectCounts(summary)
  }

  private func expectCounts(_ summary: TraceSummary) {
    func count(_ isOne: (TraceRecord.Kind) -> Bool) -> Int { records.count { isOne($0.kind) } }
    #expect(summary.fixes == fixes.count)
    #expect(summary.hostWakes == count { if case .wake = $0 { true } else { false } })
    #expect(summary.batches == count { if case .batch = $0 { true } else { false } })
    #expect(summary.finishes == codes.count)
    #expect(summary.delivered == fixes.count && summary.lost == 0)
    var moments: [UInt64: Instant] = [:]
    for (at, fix) in fixes { moments[fix.name.sequence] = at }
    let delays = records.compactMap { record in
      if case .batch(_, let first, _, _) = record.kind {
        moments[first].map { record.at - $0 }
      } else {
        nil
      }
    }
    #expect(summary.longestDelay == delays.max())
  }
}

@Suite("Hours in which things go wrong")
struct FaultRunTests {
  private func check(_ board: FaultBoard, _ fault: FaultCase, seed: UInt64) throws -> Audit {
    let audit = try Audit(board, fault, seed: seed)
    audit.expectFixes()
    audit.expectDeliveries()
    try audit.expectSums()
    return audit
  }

  static let oneFault: [FaultCase] = [
    FaultCase("nothing") { _ in },
    FaultCase("a fifth of the acknowledgements lost") { $0.acknowledgementLoss = 0.2 },
    FaultCase("the first five acknowledgements lost") { $0.firstAcknowledgementsLost = 5 },
    FaultCase("a tenth of the commands lost", mayFail: 2) { $0.commandLoss = 0.1 },
    FaultCase("configuration lost twice", mayMiss: [700...1_310, 2_100...2_720], mayFail: 4) {
      $0.configurationLosses = [Instant(seconds: 1_000.3), Instant(seconds: 2_400)]
    },
    FaultCase("no sky for 5 min, and for 20 s", mayMiss: [600...990, 2_000...2_110]) {
      $0.signalOutages = [FaultCase.span(600, 900), FaultCase.span(2_000, 2_020)]
    },
    FaultCase("garbage on the line") {
      $0.garbage = (1...60).map {
        FaultPlan.Garbage(time: Instant(seconds: Double($0) * 57.77), count: $0 * $0)
      }
    },
    FaultCase("gone for a minute", mayMiss: [940...1_440], mayFail: 2) {
      $0.deviceAbsent = [FaultCase.span(1_200, 1_260)]
    },
    FaultCase("early alarms") { $0.alarmsMayBeEarly = true },
    FaultCase("endless standby ignored") { $0.ignoresUnlimitedStandby = true },
    FaultCase("the supply switch stuck at first") {
      $0.supplySwitchStuck = [FaultCase.span(0, 20)]
    },
  ]

  @Test(
    "DEF-8, DEF-18, DEF-30: whatever goes wrong, no fix is lost, doubled or told late",
    arguments: FaultBoard.allCases, oneFault)
  func single(_ board: FaultBoard, _ fault: FaultCase) throws {
    _ = try check(board, fault, seed: 11)
  }

  static let twoFaults: [FaultCase] = [
    FaultCase("acknowledgements lost, early alarms") {
      $0.acknowledgementLoss = 0.2
      $0.alarmsMayBeEarly = true
    },
    FaultCase("commands lost while the configuration is", mayMiss: [1_200...1_860], mayFail: 4) {
      $0.commandLoss = 0.1
      $0.configurationLosses = [Instant(seconds: 1_500), Instant(seconds: 1_500.4)]
    },
    FaultCase("garbage without sky", mayMiss: [1_500...2_190]) {
      $0.signalOutages = [FaultCase.span(1_500, 2_100)]
      $0.garbage = (0..<60).map {
        FaultPlan.Garbage(time: Instant(seconds: 1_480 + Double($0) * 11.1), count: 4_096)
      }
    },
    FaultCase("gone, and the supply switch stuck when it comes", mayMiss: [300...1_200], mayFail: 2)
    {
      $0.deviceAbsent = [FaultCase.span(600, 900)]
      $0.supplySwitchStuck = [FaultCase.span(850, 960)]
    },
  ]

  @Test(
    "DEF-8, DEF-18, DEF-43: two things at a time", arguments: FaultBoard.allCases, twoFaults)
  func pairs(_ board: FaultBoard, _ fault: FaultCase) throws {
    _ = try check(board, fault, seed: 23)
  }

  @Test(
    "DEF-43: gone for an hour: told once, and the service goes on by itself",
    arguments: FaultBoard.allCases)
  func goneForAnHour(_ board: FaultBoard) throws {
    var fault = FaultCase("gone for an hour", mayMiss: [3_300...7_330], mayFail: 2) {
      $0.deviceAbsent = [FaultCase.span(3_600, 7_200)]
    }
    fault = fault.lasting(9_000)
    let audit = try check(board, fault, seed: 5)
    // The deferral that was engaged; where the handler of its batch called again, that one too.
    #expect(audit.failures.allSatisfy { $0 > 3_600 && $0 < 3_660 })
    // Back within the longest back-off and a first fix.
    #expect(audit.seconds.contains { (7_200...7_330).contains($0) })
  }

  @Test("DEF-18: six hours of early alarms, now and then no sky, a configuration lost")
  func sixHours() throws {
    var fault = FaultCase(
      "six hours", mayMiss: [3_000...3_690, 9_700...10_310, 15_000...15_220], mayFail: 2
    ) {
      $0.alarmsMayBeEarly = true
      $0.acknowledgementLoss = 0.05
      $0.signalOutages = [FaultCase.span(3_000, 3_600), FaultCase.span(15_000, 15_100)]
      $0.configurationLosses = [Instant(seconds: 10_000)]
    }
    fault = fault.lasting(6 * 3_600)
    let audit = try check(.batching, fault, seed: 3)
    #expect(audit.codes.count >= 60)
  }
}
