import BoardProfiles
import LocationPolicy
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Runs on a battery that empties")
struct BatteryRunTests {
  /// A run on a battery that starts with `charge` percent of `capacity_J`.
  private func run(
    _ service: ScriptedService, hours: Double, capacity_J: Double, charge: Double,
    _ change: (inout ClientScript) -> Void = { _ in }
  ) throws -> (SimulationResult, [TraceRecord]) {
    var script = ClientScript()
    script.service = service
    script.defers = false
    change(&script)
    let length = Interval(seconds: hours * 3_600)
    var plan = SimulationPlan(
      track: Scenario.walk.track(seed: 1, duration: length), duration: length)
    plan.battery = SimulatedBattery(capacity_J: capacity_J, charge: charge)
    var records: [TraceRecord] = []
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    let result = SimulationRun(profile, script).simulate(plan, sink: { records.append($0) })
    #expect(result.violations.isEmpty)
    return (result, records)
  }

  private func degradations(_ records: [TraceRecord]) -> [(at: Instant, ServiceLevelSet, UInt8)] {
    records.compactMap {
      guard case .notice(_, .degraded(let set, let charge)) = $0.kind else { return nil }
      return ($0.at, set, charge)
    }
  }

  /// Mean power of receiver and board between two times, mW.
  private func power(_ records: [TraceRecord], from begin: Instant, to end: Instant) -> Double {
    var energy = 0.0
    for isReceiver in [true, false] {
      var open: (mW: Double, since: Instant)?
      func close(at now: Instant) {
        guard let state = open else { return }
        let from = max(state.since, begin), to = min(now, end)
        if to > from { energy += state.mW * (to - from).seconds }
      }
      for record in records {
        switch record.kind {
        case .receiver(_, let mW) where isReceiver:
          close(at: record.at)
          open = (mW, record.at)
        case .board(_, let mW) where !isReceiver:
          close(at: record.at)
          open = (mW, record.at)
        case .receiver, .board, .battery, .batteryEmpty, .fix, .wake, .batch, .ack, .finish, .gap,
          .notice:
          break
        }
      }
      close(at: end)
    }
    return energy / (end - begin).seconds
  }

  @Test("PWR-10: service levels are shed as the charge falls, and each step saves power")
  func standard() throws {
    let (result, records) = try run(.updates, hours: 4, capacity_J: 1_500, charge: 40)
    let notices = degradations(records)
    #expect(notices.map(\.2) == [29, 19, 14], "the charges of the profile")
    let levels = notices.map(\.1.rawValue)
    #expect(levels == [1, 3, 7], "every fix, accuracy, updates")
    #expect(!result.isBatteryEmpty)
    let times = [.boot] + notices.map(\.at) + [.boot + result.summary.duration]
    let powers = zip(times, times.dropFirst()).map { power(records, from: $0, to: $1) }
    for (before, after) in zip(powers, powers.dropFirst()) { #expect(after < before, "\(powers)") }
    #expect(powers[0] > 100 && powers[3] < 15, "\(powers)")
    // After the last level no batch is delivered.
    let last = records.last { if case .batch = $0.kind { true } else { false } }
    #expect((last?.at ?? .distantFuture) <= notices[2].at)
  }

  @Test("PWR-10, DEF-8: a deferring client receives finish, batch and the degradation")
  func deferred() throws {
    let (result, records) = try run(.updates, hours: 3, capacity_J: 1_500, charge: 32) {
      $0.defers = true
    }
    let notices = records.compactMap { record -> String? in
      switch record.kind {
      case .finish(_, let code): "finish \(code?.rawValue ?? 0)"
      case .batch(_, _, _, let count): count > 1 ? "batch" : nil
      case .notice(_, .degraded): "degraded"
      case .receiver, .board, .battery, .batteryEmpty, .fix, .wake, .ack, .gap, .notice: nil
      }
    }
    let first = try #require(notices.firstIndex(of: "degraded"))
    #expect(notices[..<first].suffix(2) == ["finish 13", "batch"], "\(notices)")
    let calls = notices.filter { $0.hasPrefix("finish") }.count
    #expect(calls == result.summary.finishes && result.summary.lost == 0)
  }

  @Test("PWR-10: an accuracy bound applies and is evaluated until it is shed")
  func accuracyBound() throws {
    let (result, records) = try run(.updates, hours: 3, capacity_J: 200, charge: 25) {
      $0.accuracy = 100
    }
    let notices = degradations(records)
    #expect(notices.first?.1 == ServiceLevelSet(.accuracy))
    let profile = try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
    let track = Scenario.walk.track(seed: 1, duration: .seconds(10_800))
    var tally = try #require(OptimumComparisonTally(track, within: 100, profile))
    for record in records { tally.add(record) }
    let summary = tally.finish(at: .boot + result.summary.duration)
    let end = try #require(notices.first?.at.seconds)
    #expect(Double(summary.error.seconds) <= end && Double(summary.error.seconds) > end - 60)
    #expect(summary.error.exceededShare < 0.05)
  }

  @Test("an empty battery ends the run, and the energy used equals the battery's charge")
  func empty() throws {
    let (result, _) = try run(.updates, hours: 4, capacity_J: 1_000, charge: 2)
    #expect(result.isBatteryEmpty && result.summary.duration < .seconds(4 * 3_600))
    let energy = try #require(result.summary.energy)
    let used_J = (energy.receiver_mJ + energy.board_mJ) / 1_000
    #expect(used_J >= 20 && used_J < 30, "\(used_J)")
  }
}
