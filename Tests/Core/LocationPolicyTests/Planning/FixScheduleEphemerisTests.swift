import LocationTypes
import Testing

@testable import LocationPolicy

/// The instant `seconds` after boot.
private func at(_ seconds: Int64) -> Instant { .boot + .seconds(seconds) }

@Suite("Searches with an expired ephemeris")
struct FixScheduleEphemerisTests {
  static let parameters: PlannerParameters = {
    var table = TimeToFixTable(cold: .seconds(28))
    table.append(off: .seconds(5), fix: .seconds(3))
    var parameters = PlannerParameters(
      fixInterval: .seconds(1), deferralLimit: 100, timeToFix: table)
    parameters.canStandby = true
    parameters.receiver.startUp = .zero
    return parameters
  }()

  static func need(at seconds: Int64) -> FixNeed {
    var need = FixNeed()
    need.add(due: at(seconds), accuracy: 100)
    return need
  }

  /// Plans until the fix due at `seconds`, which a search of `search` seconds finds; returns how
  /// long before it the receiver was started, and the timeout of the search.
  static func cycle(
    _ schedule: inout FixSchedule, to seconds: Int64, search: Int64, from now: Instant
  ) -> (lead: Interval, timeout: Interval) {
    schedule.handle(.plan(need(at: seconds), isKeptOn: false), parameters, at: now)
    let start = schedule.wake
    schedule.handle(.plan(need(at: seconds), isKeptOn: false), parameters, at: start)
    let end = schedule.wake
    let fix = start + .seconds(search)
    schedule.handle(.fix(accuracy: 3, measured: fix, need(at: seconds)), parameters, at: fix)
    return (at(seconds) - start, end - start)
  }

  /// A schedule that sleeps since 28 s, when the receiver read its ephemeris, for a fix at `seconds`.
  static func asleep(until seconds: Int64) -> FixSchedule {
    var schedule = FixSchedule()
    schedule.handle(.plan(need(at: 0), isKeptOn: false), parameters, at: .boot)
    schedule.handle(.fix(accuracy: 3, measured: at(28), need(at: 0)), parameters, at: at(28))
    schedule.handle(.plan(need(at: seconds), isKeptOn: false), parameters, at: at(28))
    return schedule
  }

  @Test("PWR-7, PWR-8: the time of a fix includes the search for an expired ephemeris")
  func fixTime() {
    let schedule = Self.asleep(until: 20_000)
    #expect(schedule.state == .asleep)
    #expect(schedule.fixTime(startingAt: at(6_000), Self.parameters.receiver) == at(6_003))
    #expect(schedule.fixTime(startingAt: at(19_000), Self.parameters.receiver) == at(19_028))
  }

  @Test("PWR-7, PWR-8: a search with an expired ephemeris fails after the time that it takes")
  func failed() {
    let cases: [(Int64, FixSchedule.State)] = [(27, .idle), (28, .backedOff)]
    for (seconds, state) in cases {
      var schedule = Self.asleep(until: 20_000)
      let start = schedule.wake
      schedule.handle(.plan(Self.need(at: 20_000), isKeptOn: false), Self.parameters, at: start)
      #expect(start == at(19_972) && schedule.state == .acquiring)
      let end = start + .seconds(seconds)
      schedule.handle(.plan(FixNeed(), isKeptOn: false), Self.parameters, at: end)
      #expect(schedule.state == state)
    }
  }

  @Test("PWR-7, PWR-8: the receiver starts earlier, searches longer, and trains no prediction")
  func oldEphemeris() {
    var schedule = FixSchedule()
    schedule.handle(
      .plan(Self.need(at: 0), isKeptOn: false), Self.parameters, at: .boot)
    schedule.handle(
      .fix(accuracy: 3, measured: at(28), Self.need(at: 0)), Self.parameters, at: at(28))
    // Renewals are due from 12,600 s after 28 s; the ephemeris expires at 14,428 s.
    let young = Self.cycle(&schedule, to: 6_000, search: 3, from: at(28))
    #expect(young.lead == .seconds(3))
    #expect(young.timeout < .seconds(28))
    _ = Self.cycle(&schedule, to: 12_000, search: 3, from: at(6_000))
    let scale = schedule.predictor.scale
    let old = Self.cycle(&schedule, to: 14_600, search: 28, from: at(12_000))
    #expect(old.lead == .seconds(28))
    #expect(old.timeout == Self.parameters.receiver.acquisitionTimeout)
    #expect(schedule.predictor.scale == scale)
    // The ephemeris has been read again.
    let fresh = Self.cycle(&schedule, to: 18_000, search: 3, from: at(14_600))
    #expect(fresh.lead == .seconds(3))
  }

  @Test("The ephemeris is used until it expires")
  func youngEphemeris() {
    var schedule = FixSchedule()
    schedule.handle(
      .plan(Self.need(at: 0), isKeptOn: false), Self.parameters, at: .boot)
    schedule.handle(
      .fix(accuracy: 3, measured: at(28), Self.need(at: 0)), Self.parameters, at: at(28))
    let last = Self.cycle(&schedule, to: 14_428, search: 3, from: at(28))
    #expect(last.lead == .seconds(3))
    var late = FixSchedule()
    late.handle(.plan(Self.need(at: 0), isKeptOn: false), Self.parameters, at: .boot)
    late.handle(.fix(accuracy: 3, measured: at(28), Self.need(at: 0)), Self.parameters, at: at(28))
    let first = Self.cycle(&late, to: 14_429, search: 28, from: at(28))
    #expect(first.lead == .seconds(28))
  }
}
