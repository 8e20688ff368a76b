import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

/// Faults of a run, and their allowed consequences.
struct FaultCase: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// Seconds of the run whose fixes the receiver itself may lose.
  var mayMiss: [ClosedRange<Int>] = []
  /// Largest number of deferrals that may end with 11, because a receiver does not respond.
  var mayFail = 0
  /// Whether the receiver is absent for so long that a deferral must fail.
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

/// The two kinds of receivers: one batches, the other streams and only its supply is switched.
enum FaultBoard: CaseIterable, Sendable {
  case batching
  case passive

  func profile() throws -> BoardProfile {
    var profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    guard self == .passive else { return profile }
    profile.receiver?.family = .passive
    profile.receiver?.output = .nmea
    profile.receiver?.defaultLineSpeed_baud = 38_400
    profile.receiver?.lineSpeed_baud = 38_400
    profile.receiver?.wakeLine = nil
    profile.receiver?.batch = nil
    return profile
  }
}

/// A run's records, evaluated independently of the code that computes the summary.
private struct Audit {
  let profile: BoardProfile
  let script: ClientScript
  let fault: FaultCase
  var records: [TraceRecord] = []
  var result: SimulationResult?

  /// Runs the case with sampled times to first fix and noise.
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
  /// Seconds of the track with a fix.
  var seconds: [Int] {
    fixes.compactMap { $0.fix.utc.map { Int(($0 - Scenario.start).seconds.rounded()) } }
  }
  var codes: [LocationErrorCode?] {
    records.compactMap { if case .finish(_, let code) = $0.kind { .some(code) } else { nil } }
  }

  /// Times at which deferrals ended because the receiver failed, seconds.
  var failures: [Double] {
    records.compactMap {
      if case .finish(_, .deferredFailed?) = $0.kind { $0.at.seconds } else { nil }
    }
  }

  /// Expects no forbidden call of the board, no fix that is duplicated, out of order, or lost
  /// although the receiver could keep it, and correct fix times.
  func expectFixes() {
    #expect(result?.violations.isEmpty == true, "\(result?.violations ?? [])")
    let seconds = seconds
    #expect(seconds.count == fixes.count && fixes.count > 0)
    #expect(zip(seconds, seconds.dropFirst()).allSatisfy { $0 < $1 }, "duplicate or out of order")
    for (a, b) in zip(seconds, seconds.dropFirst()) where b > a + 1 {
      let isKnown = fault.mayMiss.contains { $0.contains(a + 1) && $0.contains(b - 1) }
      #expect(isKnown, "no fix from \(a + 1) to \(b - 1)")
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
    #expect(range.0 > -0.001 && range.1 < 1.5, "fix times differ by \(range)")
  }

  /// Expects that every fix is delivered once, oldest first, and that every deferral finishes once,
  /// without error not before its timeout.
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
          Issue.record("a finish at \(record.at.seconds) s without a deferral")
          continue
        }
        armed = nil
        switch code {
        case nil:
          let duration = (record.at - since).seconds
          #expect(duration >= script.timeout, "DEF-18: early at \(record.at.seconds) s")
          #expect(duration <= script.timeout + 60, "late at \(record.at.seconds) s")
        case .deferredCanceled: #expect(record.at >= end)
        default: break
        }
      case .ack(_, let sequence):
        #expect(sequence < next && acknowledged.map { $0 <= sequence } ?? true)
        acknowledged = sequence
      case .gap: Issue.record("a gap in a ring that can hold all fixes")
      case .receiver, .board, .battery, .batteryEmpty, .fix, .wake, .notice: break
      }
    }
    #expect(next == UInt64(fixes.count), "all stored fixes are delivered")
    #expect(acknowledged.map { $0 + 1 == next } ?? true, "all delivered fixes are acknowledged")
    #expect(armed == nil, "a deferral without its finish")
    let failed = failures.count
    #expect(failed <= fault.mayFail && (failed > 0 || !fault.mustFail), "11 at \(failures)")
    #expect(codes.allSatisfy { $0 == nil || $0 == .deferredFailed || $0 == .deferredCanceled })
  }

  // MARK: Totals

  /// Energy and time per state, computed from records of states and their power.
  private struct StateTotals {
    var mJ = 0.0
    var times: [Int: Interval] = [:]
    var firstAcquisition = (mJ: 0.0, time: Interval.zero)

    init(_ states: [(at: Instant, state: Int, mW: Double)], until end: Instant) {
      var hasTracked = false
      for (i, entry) in states.enumerated() {
        let time = (i + 1 < states.count ? states[i + 1].at : end) - entry.at
        mJ += entry.mW * time.seconds
        times[entry.state] = (times[entry.state] ?? .zero) + time
        if entry.state >= TraceReceiverState.tracking.rawValue { hasTracked = true }
        if entry.state == TraceReceiverState.acquiring.rawValue, !hasTracked {
          firstAcquisition.mJ += entry.mW * time.seconds
          firstAcquisition.time = firstAcquisition.time + time
        }
      }
    }

    func matches(_ times: [Interval]) -> Bool {
      times.enumerated().allSatisfy { $0.element == self.times[$0.offset] ?? .zero }
    }
  }

  /// Expects that the summary equals the totals of its records.
  func expectSums() throws {
    let summary = try #require(result?.summary)
    let energy = try #require(summary.energy)
    let receiver = try #require(profile.receiver)
    let end = records.map(\.at).reduce(Instant.boot + .seconds(fault.seconds), max)
    #expect(zip(records, records.dropFirst()).allSatisfy { $0.at <= $1.at })
    #expect(summary.duration == end - .boot)
    let totals = StateTotals(
      records.compactMap {
        if case .receiver(let state, let mW) = $0.kind { ($0.at, state.rawValue, mW) } else { nil }
      }, until: end)
    let board = StateTotals(
      records.compactMap {
        if case .board(let state, let mW) = $0.kind {
          ($0.at, Int(state.rawValue), mW)
        } else {
          nil
        }
      }, until: end)
    func expect(_ reported: Double, _ summed: Double) {
      #expect(abs(reported - summed) <= 1e-9 * summed + 1e-9, "\(reported) is \(summed)")
    }
    expect(energy.receiver_mJ, totals.mJ)
    expect(energy.board_mJ, board.mJ)
    expect(
      energy.receiverAlwaysOn_mJ,
      totals.firstAcquisition.mJ
        + receiver.power.track_mw * (summary.duration - totals.firstAcquisition.time).seconds)
    expect(energy.boardGpsd_mJ, EnergyBaseline(profile).gpsdBoard_mW * summary.duration.seconds)
    expect(energy.boardAlwaysAwake_mJ, profile.board.awake_mw * summary.duration.seconds)
    #expect(totals.matches(energy.receiverTime) && board.matches(energy.boardTime))
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
    var times: [UInt64: Instant] = [:]
    for (at, fix) in fixes { times[fix.name.sequence] = at }
    let delays = records.compactMap { record in
      if case .batch(_, let first, _, _) = record.kind {
        times[first].map { record.at - $0 }
      } else {
        nil
      }
    }
    #expect(summary.longestDelay == delays.max())
  }
}

@Suite("Runs with faults")
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
    FaultCase("no signal for 5 min, and for 20 s", mayMiss: [600...990, 2_000...2_110]) {
      $0.signalOutages = [FaultCase.span(600, 900), FaultCase.span(2_000, 2_020)]
    },
    FaultCase("garbage on the line") {
      $0.garbage = (1...60).map {
        FaultPlan.Garbage(time: Instant(seconds: Double($0) * 57.77), count: $0 * $0)
      }
    },
    FaultCase("absent for a minute", mayMiss: [940...1_440], mayFail: 2) {
      $0.deviceAbsent = [FaultCase.span(1_200, 1_260)]
    },
    FaultCase("early alarms") { $0.alarmsMayBeEarly = true },
    FaultCase("unlimited standby ignored") { $0.ignoresUnlimitedStandby = true },
    FaultCase("poll of the configuration rejected") { $0.rejectsConfigurationPoll = true },
    FaultCase("supply switch stuck at the start") {
      $0.supplySwitchStuck = [FaultCase.span(0, 20)]
    },
  ]

  @Test(
    "DEF-8, DEF-18, DEF-30: with any fault, no fix is lost, duplicated or delivered late",
    arguments: FaultBoard.allCases, oneFault)
  func single(_ board: FaultBoard, _ fault: FaultCase) throws {
    _ = try check(board, fault, seed: 11)
  }

  static let twoFaults: [FaultCase] = [
    FaultCase("acknowledgements lost, early alarms") {
      $0.acknowledgementLoss = 0.2
      $0.alarmsMayBeEarly = true
    },
    FaultCase("commands and configuration lost", mayMiss: [1_200...1_860], mayFail: 4) {
      $0.commandLoss = 0.1
      $0.configurationLosses = [Instant(seconds: 1_500), Instant(seconds: 1_500.4)]
    },
    FaultCase("garbage without signal", mayMiss: [1_500...2_190]) {
      $0.signalOutages = [FaultCase.span(1_500, 2_100)]
      $0.garbage = (0..<60).map {
        FaultPlan.Garbage(time: Instant(seconds: 1_480 + Double($0) * 11.1), count: 4_096)
      }
    },
    FaultCase("absent, then supply switch stuck", mayMiss: [300...1_200], mayFail: 2) {
      $0.deviceAbsent = [FaultCase.span(600, 900)]
      $0.supplySwitchStuck = [FaultCase.span(850, 960)]
    },
  ]

  @Test(
    "DEF-8, DEF-18, DEF-43: with two faults, no fix is lost, duplicated or delivered late",
    arguments: FaultBoard.allCases, twoFaults)
  func pairs(_ board: FaultBoard, _ fault: FaultCase) throws {
    _ = try check(board, fault, seed: 23)
  }

  @Test(
    "DEF-43: a receiver absent for an hour is reported once, and the service recovers",
    arguments: FaultBoard.allCases)
  func absentForAnHour(_ board: FaultBoard) throws {
    var fault = FaultCase("absent for an hour", mayMiss: [3_300...7_330], mayFail: 2) {
      $0.deviceAbsent = [FaultCase.span(3_600, 7_200)]
    }
    fault = fault.lasting(9_000)
    let audit = try check(board, fault, seed: 5)
    // The active deferral fails, and another one if the handler of its batch allowed one.
    #expect(audit.failures.allSatisfy { $0 > 3_600 && $0 < 3_660 })
    // Fixes resume within the longest back-off plus the time to first fix.
    #expect(audit.seconds.contains { (7_200...7_330).contains($0) })
  }

  @Test("DEF-18: in six hours with early alarms, outages and a reset, no delivery is late")
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
