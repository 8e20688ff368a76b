import BoardProfiles
import LocationTypes
import SimulatedHAL
import TestSupport
import Testing

@testable import LocationSimulation

@Suite("Comparison of a run with the optimum")
struct OptimumComparisonTallyTests {
  /// One metre per second for 100 s.
  static let line = TestTracks.track((0...100).map { Double($0) })

  static func profile() throws -> BoardProfile {
    try BoardCatalog(directory: PackageBoards.folder).find(BoardCatalog.defaultBoard)
  }

  static func fix(_ sequence: UInt64, east: Double, at time: Double) -> TraceRecord {
    let position = TestTracks.origin.moved(east: east, north: 0)
    let fix = Fix(acquired: Instant(seconds: time), coordinate: position)
    return TraceRecord(
      at: Instant(seconds: time),
      .fix(TraceFix(name: FixName(generation: 1, sequence: sequence), fix: fix)))
  }

  static func batch(_ first: UInt64, _ last: UInt64, at time: Double) -> TraceRecord {
    TraceRecord(
      at: Instant(seconds: time),
      .batch(client: 0, first: first, last: last, count: Int(last - first) + 1))
  }

  static func receiver(
    _ state: TraceReceiverState, _ power_mW: Double, at time: Double
  ) -> TraceRecord {
    TraceRecord(at: Instant(seconds: time), .receiver(state: state, power_mw: power_mW))
  }

  static func summary(
    _ records: [TraceRecord], within bound_m: Double = 25, end: Double = 100
  ) throws -> OptimumComparison {
    var tally = try #require(OptimumComparisonTally(line, within: bound_m, try profile()))
    for record in records { tally.add(record) }
    return tally.finish(at: Instant(seconds: end))
  }

  @Test("energy counts from the first whole second with a report to the end")
  func energy() throws {
    let found = try Self.summary([
      Self.receiver(.acquiring, 30, at: 0), Self.receiver(.tracking, 20, at: 5),
      Self.fix(0, east: 10, at: 10), Self.batch(0, 0, at: 10.1),
      Self.receiver(.standby, 1, at: 30.1),
      Self.receiver(.tracking, 20, at: 60.1), Self.receiver(.tracking, 20, at: 90.1),
    ])
    #expect(abs(found.receiver_mJ - (19.1 * 20 + 30 * 1 + 39.9 * 20)) < 1e-9)
    #expect(found.total_mJ == found.receiver_mJ)
  }

  @Test("the total contains the board's energy over the same time")
  func total() throws {
    func board(_ state: BoardState, _ power_mW: Double, at time: Double) -> TraceRecord {
      TraceRecord(at: Instant(seconds: time), .board(state: state, power_mw: power_mW))
    }
    let found = try Self.summary([
      board(.awake, 1_000, at: 0), Self.receiver(.tracking, 20, at: 0), board(.idle, 100, at: 5),
      Self.fix(0, east: 10, at: 10), Self.batch(0, 0, at: 10.1), board(.suspended, 10, at: 20),
    ])
    #expect(abs(found.receiver_mJ - 89 * 20) < 1e-9)
    #expect(abs(found.total_mJ - (89 * 20 + 9 * 100 + 80 * 10)) < 1e-9)
    // Seconds 11 to 100 of the track, of which the last is not evaluated.
    let evaluated = TestTracks.track((11...99).map { Double($0) } + [99])
    let costs = try #require(ScheduleCosts(try Self.profile(), .total))
    let least = Optimum(SampledTrack(evaluated), within: 25, costs).energy_mJ
    #expect(abs(found.totalOptimum_mJ - least) < least * 1e-6)
    #expect(found.totalRatio == found.total_mJ / found.totalOptimum_mJ)
    #expect(found.totalOptimum_mJ > found.optimum_mJ)
  }

  @Test("errors are computed for the newest fix of each batch, from the first batch on")
  func errors() throws {
    let found = try Self.summary(
      [
        Self.fix(0, east: 0, at: 0), Self.fix(1, east: 10, at: 10), Self.batch(0, 1, at: 10.1),
        Self.fix(2, east: 60, at: 60), Self.batch(2, 2, at: 60.2),
      ], within: 25.5)
    // Errors: 0 to 49 m in seconds 10 to 59, 0 to 39 m in 60 to 99; second 100 is not evaluated.
    #expect(found.bound_m == 25.5 && found.error.seconds == 90)
    #expect(found.error.exceededSeconds == 24 + 14)
    #expect(abs(found.error.maximum_m - 49) < 1e-3)
  }

  @Test("the optimum is computed for the track from the first report on")
  func optimum() throws {
    let found = try Self.summary([
      Self.receiver(.tracking, 20, at: 0), Self.fix(0, east: 40, at: 40), Self.batch(0, 0, at: 40),
    ])
    let costs = try #require(ScheduleCosts(try Self.profile()))
    // Second 100 is not evaluated: its position is set to that of second 99.
    let evaluated = TestTracks.track((40...99).map { Double($0) } + [99])
    let least = Optimum(SampledTrack(evaluated), within: 25, costs).energy_mJ
    #expect(least > 0 && abs(found.optimum_mJ - least) < least * 1e-6)
    #expect(abs(found.receiver_mJ - 1_200) < 1e-9)
    #expect(found.ratio == found.receiver_mJ / found.optimum_mJ)
    // Time after the track's end counts neither for the run nor for the optimum.
    let late = try Self.summary(
      [
        Self.receiver(.tracking, 20, at: 0), Self.fix(0, east: 40, at: 40),
        Self.batch(0, 0, at: 40),
      ],
      end: 500)
    #expect(late.error.seconds == 61 && abs(late.receiver_mJ - 1_200) < 1e-9)
    #expect(late.optimum_mJ > 0)
  }

  @Test("run and optimum start at the first whole second with a report, and end together")
  func alignment() throws {
    // The optimum is always on at full power, except in the last second, which is not evaluated. Its last fix is a
    // second earlier, with an error of 1 m then.
    let profile = try BoardCatalog(directory: PackageBoards.folder).find("pi4-l76k-hat")
    let power = try #require(profile.receiver).power
    for first in [10.0, 10.1, 10.4, 10.6] {
      var tally = try #require(OptimumComparisonTally(Self.line, within: 1.5, profile))
      tally.add(Self.receiver(.tracking, power.track_mw, at: 0))
      for second in 10...99 {
        let at = Double(second) + first - 10
        tally.add(Self.fix(UInt64(second), east: Double(second), at: Double(second)))
        tally.add(Self.batch(UInt64(second), UInt64(second), at: at))
      }
      let found = tally.finish(at: Instant(seconds: 100))
      let begin = first.rounded(.up)
      #expect(found.error.exceededSeconds == 0)
      #expect(abs(found.receiver_mJ - (100 - begin) * power.track_mw) < 1e-6, "\(first)")
      let least = (99 - begin) * power.track_mw + power.standby_mw
      #expect(abs(found.optimum_mJ - least) < 1e-6, "\(first)")
    }
  }

  @Test("sampled times to fix give no ratio, because the optimum is no lower bound then")
  func sampledTimesToFix() throws {
    var tally = try #require(
      OptimumComparisonTally(Self.line, within: 25, try Self.profile(), hasSampledTimesToFix: true))
    tally.add(Self.receiver(.tracking, 20, at: 0))
    tally.add(Self.fix(0, east: 0, at: 0))
    tally.add(Self.batch(0, 0, at: 0))
    let found = tally.finish(at: Instant(seconds: 100))
    #expect(found.optimum_mJ > 0 && found.receiver_mJ > 0 && found.ratio == nil)
    #expect(found.totalOptimum_mJ > 0 && found.totalRatio == nil)
  }

  @Test("seconds without points count on a generated track, and not on a recorded one")
  func gaps() throws {
    var least: [Double] = []
    // The position at the start of a gap is known.
    for (limit, seconds) in [(Interval.unlimited, 100), (.seconds(60), 1)] {
      let positions = [0.0, 100].map { east in
        TrackPoint(
          offset: .seconds(Int64(east)), coordinate: TestTracks.origin.moved(east: east, north: 0))
      }
      let track = Track(start: UTCTime(microseconds: 0), points: positions, gapLimit: limit)
      var tally = try #require(OptimumComparisonTally(track, within: 25, try Self.profile()))
      tally.add(Self.receiver(.tracking, 20, at: 0))
      tally.add(Self.fix(0, east: 0, at: 0))
      tally.add(Self.batch(0, 0, at: 0))
      let found = tally.finish(at: Instant(seconds: 100))
      #expect(found.error.seconds == seconds)
      least.append(found.optimum_mJ)
    }
    #expect(least[0] > least[1] && least[1] > 0)
  }

  @Test("without a report the result is empty; a batch of unknown fixes is not a report")
  func nothing() throws {
    var found = try Self.summary([Self.receiver(.tracking, 20, at: 0), Self.batch(3, 4, at: 9)])
    #expect(found.receiver_mJ == 0 && found.optimum_mJ == 0 && found.ratio == nil)
    #expect(found.error == BoundSummary())
    found = try Self.summary([
      Self.receiver(.tracking, 20, at: 0), Self.fix(0, east: 0, at: 100), Self.batch(0, 0, at: 100),
    ])
    #expect(found.ratio == nil && found.error.seconds == 0)
  }

  @Test("a board without a receiver has no comparison")
  func noReceiver() throws {
    var profile = try Self.profile()
    profile.receiver = nil
    #expect(OptimumComparisonTally(Self.line, within: 25, profile) == nil)
  }

  @Test("a script has a bound for updates that are not deferred and need not every fix")
  func script() {
    var script = ClientScript()
    script.accuracy = 100
    #expect(script.bound_m == nil)
    script.defers = false
    #expect(script.bound_m == 100)
    script.service = .visits
    #expect(script.bound_m == nil)
    script.service = .updates
    script.accuracy = -1
    #expect(script.bound_m == nil)
  }
}

@Suite("Part of a sampled track")
struct TrackPartTests {
  @Test("a part equals those seconds of the whole, with gaps; later seconds are not evaluated")
  func part() {
    let east: [Double?] = [0, 10, 20, nil, nil, nil, nil, 70, 80, 90, 100]
    let whole = SampledTrack(TestTracks.track(east), gapLimit: .seconds(3))
    #expect(whole.lastSecond == 10)
    let part = whole.part(5...9, evaluatedUpTo: 8)
    #expect(part.coordinates == Array(whole.coordinates[5...9]))
    // The gap is also a gap in the part, although the remainder is short.
    #expect(part.isGap == [true, true, false, false, true])
  }
}
