import LocationPolicy
import LocationSimulation
import LocationTypes
import LocationWire
import Testing
import TextFormats

@testable import torpor

// Short constructors for times and records.
func second(_ value: Double) -> Instant { Instant(microseconds: Int64(value * 1e6)) }

func fixRecord(_ sequence: UInt64, at moment: Double) -> TraceRecord {
  var fix = Fix(
    acquired: second(moment),
    coordinate: Coordinate(latitude_e9: 47_661_981_667, longitude_e9: -122_326_393_667))
  fix.utc = UTCTime(microseconds: 1_396_515_251_500_000)
  fix.horizontalAccuracy_mm = 2_500
  let name = FixName(generation: 3, sequence: sequence)
  return TraceRecord(at: second(moment), .fix(TraceFix(name: name, fix: fix)))
}

/// All service levels that can be shed.
let allServiceLevels: ServiceLevelSet = {
  var set = ServiceLevelSet.none
  for level in [
    ServiceLevel.everyFix, .accuracy, .updates, .visits, .regions, .significantChange,
  ] {
    set.insert(level)
  }
  return set
}()

@Suite("The trace as JSON Lines")
struct TraceJSONTests {
  func line(_ at: Double, _ kind: TraceRecord.Kind) -> String {
    var json = JSONOutput()
    TraceJSON.write(TraceRecord(at: second(at), kind), to: &json)
    return json.text.string
  }

  @Test("records of every kind have the keys of the reference, in its order")
  func kinds() {
    #expect(
      line(0, .receiver(state: .acquiring, power_mw: 27.5))
        == #"{"t":0,"kind":"receiver","state":"acquiring","mw":27.5}"# + "\n")
    #expect(
      line(1.5, .board(state: .suspended, power_mw: 10))
        == #"{"t":1.5,"kind":"board","state":"suspended","mw":10}"# + "\n")
    #expect(
      line(2, .wake(.batchPin)) == #"{"t":2,"kind":"wake","reason":"batch_pin"}"# + "\n")
    #expect(line(3, .battery(29)) == #"{"t":3,"kind":"battery","percent":29}"# + "\n")
    #expect(line(3, .batteryEmpty) == #"{"t":3,"kind":"empty"}"# + "\n")
    #expect(
      line(300.000001, .batch(client: 0, first: 1, last: 300, count: 299))
        == #"{"t":300.000001,"kind":"batch","client":0,"first":1,"last":300,"count":299}"# + "\n")
    #expect(
      line(4, .ack(client: 1, sequence: 300))
        == #"{"t":4,"kind":"ack","client":1,"seq":300}"# + "\n")
  }

  @Test("a fix has name, time, position and accuracy; unknown fields are omitted")
  func fixes() {
    var json = JSONOutput()
    TraceJSON.write(fixRecord(42, at: 1), to: &json)
    #expect(
      json.text.string
        == #"{"t":1,"kind":"fix","generation":3,"seq":42,"unix_time":1396515251.5,"#
        + #""lat":47.661981667,"lon":-122.326393667,"hacc":2.5}"# + "\n")
    let bare = Fix(acquired: second(1), coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
    let name = FixName(generation: 1, sequence: 0)
    #expect(
      line(1, .fix(TraceFix(name: name, fix: bare)))
        == #"{"t":1,"kind":"fix","generation":1,"seq":0,"lat":0,"lon":0}"# + "\n")
  }

  @Test("DEF-9: a finish without error has the code null")
  func finishes() {
    #expect(
      line(5, .finish(client: 0, code: nil))
        == #"{"t":5,"kind":"finish","client":0,"code":null}"# + "\n")
    #expect(
      line(5, .finish(client: 0, code: .deferredCanceled))
        == #"{"t":5,"kind":"finish","client":0,"code":15}"# + "\n")
  }

  @Test("RNG-4: a gap has its count and its time range")
  func gaps() {
    let from = UTCTime(microseconds: 1_000_000)
    let to = UTCTime(microseconds: 2_500_000)
    #expect(
      line(6, .gap(client: 0, count: 7, from: from, to: to))
        == #"{"t":6,"kind":"gap","client":0,"count":7,"from":1,"to":2.5}"# + "\n")
    #expect(
      line(6, .gap(client: 0, count: 7, from: nil, to: nil))
        == #"{"t":6,"kind":"gap","client":0,"count":7}"# + "\n")
  }

  @Test("notices have the keys of the reference, in its order")
  func notices() {
    let coordinate = Coordinate(latitude_e9: 52_579_439_500, longitude_e9: -13_409_978_900)
    func members(_ notice: TraceNotice) -> String {
      let line = line(7, .notice(client: 0, notice))
      let head = #"{"t":7,"kind":"told","client":0,"#
      #expect(line.hasPrefix(head) && line.hasSuffix("}\n"))
      return String(line.dropFirst(head.count).dropLast(2))
    }
    #expect(members(.report(sequence: 42)) == #""what":"report","seq":42"#)
    #expect(
      members(.arrived(coordinate: coordinate, at: second(1.5)))
        == #""what":"arrived","lat":52.5794395,"lon":-13.4099789,"at":1.5"#)
    #expect(
      members(.departed(coordinate: coordinate, at: nil))
        == #""what":"departed","lat":52.5794395,"lon":-13.4099789"#)
    #expect(members(.paused) == #""what":"paused""#)
    #expect(members(.resumed) == #""what":"resumed""#)
    #expect(members(.entered(region: 1)) == #""what":"entered","region":1"#)
    #expect(members(.exited(region: 2)) == #""what":"exited","region":2"#)
    #expect(members(.stationary(true)) == #""what":"stationary","stands":true"#)
    #expect(members(.stationary(false)) == #""what":"stationary","stands":false"#)
    #expect(
      members(.flags(LiveFlags.locationUnavailable.union(.accuracyLimited)))
        == #""what":"flags","flags":["location_unavailable","accuracy_limited"]"#)
    #expect(members(.flags(.empty)) == #""what":"flags","flags":[]"#)
    #expect(members(.failed(.regionMonitoringFailure)) == #""what":"failed","code":5"#)
    #expect(
      members(.degraded(allServiceLevels, charge: 3))
        == #""what":"degraded","percent":3,"given_up":["every_fix","accuracy","updates","#
        + #""visits","regions","significant"]"#)
    #expect(
      members(.degraded(.none, charge: 90)) == #""what":"restored","percent":90,"given_up":[]"#)
  }

  @Test("the comparison with the optimum has the keys of the reference; the ratio if defined")
  func comparison() {
    var comparison = OptimumComparison()
    comparison.bound_m = 100
    comparison.error.seconds = 200
    comparison.error.exceededSeconds = 5
    comparison.error.p95_m = 90
    comparison.error.maximum_m = 120.5
    comparison.receiver_mJ = 300
    func text() -> String {
      var json = JSONOutput()
      TraceJSON.write(TraceSummary(), comparison, to: &json)
      return json.text.string
    }
    let members =
      #""promise":{"bound_m":100,"seconds":200,"broken_s":5,"broken_share":0.025,"#
      + #""p95_m":90,"worst_m":120.5,"receiver_mj":300,"optimum_mj":"#
    comparison.total_mJ = 900
    let total = #","total_mj":900,"total_optimum_mj":"#
    #expect(text().hasSuffix(members + "0" + total + "0}}\n"))
    comparison.optimum_mJ = 200
    comparison.totalOptimum_mJ = 800
    #expect(
      text().hasSuffix(
        members + #"200,"ratio":1.5"# + total + #"800,"total_ratio":1.125}}"# + "\n"))
  }

  @Test("every state and reason has its name in the reference")
  func words() {
    #expect(
      TraceReceiverState.allCases.map(\.name)
        == ["off", "backup", "standby", "acquiring", "tracking", "powersave", "batching"])
    #expect(
      (0...3).compactMap { BoardState(rawValue: $0) }.map(\.jsonName)
        == ["awake", "idle", "suspended", "off"])
    #expect(
      (0...4).compactMap { WakeReason(rawValue: $0) }.map(\.jsonName)
        == ["alarm", "bytes", "batch_pin", "request", "motion"])
  }

  @Test("the summary has the keys of the reference")
  func summary() {
    var summary = TraceSummary()
    summary.fixes = 10
    summary.delivered = 9
    summary.batches = 2
    summary.finishes = 1
    summary.deferralErrors = 1
    summary.lost = 1
    summary.notices = 4
    summary.hostWakes = 3
    summary.awakeTime = Interval(microseconds: 1_250_000)
    summary.processorTime = Interval(microseconds: 270)
    summary.suspendedTime = .seconds(590)
    summary.longestDelay = .seconds(300)
    summary.duration = .seconds(600)
    var json = JSONOutput()
    TraceJSON.write(summary, to: &json)
    #expect(
      json.text.string
        == #"{"kind":"summary","fixes":10,"delivered":9,"batches":2,"finishes":1,"refusals":1,"#
        + #""lost":1,"notices":4,"host_wakes":3,"awake_s":1.25,"processor_s":0.00027,"#
        + #""suspended_s":590,"not_suspended_s":10,"max_delay_s":300,"duration_s":600}"# + "\n")
  }
}

@Suite("Summary of a trace")
struct TraceTallyTests {
  /// Powers for comparison with an always-on receiver, an awake board and gpsd.
  static let baseline = EnergyBaseline(tracking_mW: 20, awake_mW: 2_000, gpsdBoard_mW: 1_000)

  /// Ten seconds: 2 s acquiring, 8 s tracking; board 2 s awake, 5 s suspended, 3 s awake.
  func run() -> TraceTally {
    var tally = TraceTally()
    tally.add(TraceRecord(at: second(0), .receiver(state: .acquiring, power_mw: 30)))
    tally.add(TraceRecord(at: second(0), .board(state: .awake, power_mw: 1_000)))
    for sequence in 0..<5 { tally.add(fixRecord(UInt64(sequence) + 7, at: 2 + Double(sequence))) }
    tally.add(TraceRecord(at: second(2), .receiver(state: .tracking, power_mw: 20)))
    tally.add(TraceRecord(at: second(2), .board(state: .suspended, power_mw: 10)))
    tally.add(TraceRecord(at: second(7), .board(state: .awake, power_mw: 1_000)))
    tally.add(TraceRecord(at: second(7), .wake(.alarm)))
    tally.add(TraceRecord(at: second(7.5), .batch(client: 0, first: 8, last: 11, count: 4)))
    tally.add(TraceRecord(at: second(7.5), .finish(client: 0, code: nil)))
    tally.add(TraceRecord(at: second(8), .gap(client: 0, count: 1, from: nil, to: nil)))
    return tally
  }

  @Test("counts, delays, times and energy are computed from the records alone")
  func summary() throws {
    var tally = run()
    let summary = tally.finish(
      at: second(10), processorPerWake: Interval(microseconds: 90),
      baseline: TraceTallyTests.baseline)
    #expect(summary.fixes == 5 && summary.delivered == 4 && summary.batches == 1)
    #expect(summary.finishes == 1 && summary.lost == 1 && summary.hostWakes == 1)
    #expect(summary.duration == .seconds(10) && summary.awakeTime == .seconds(5))
    #expect(summary.longestDelay == Interval(microseconds: 4_500_000))
    let energy = try #require(summary.energy)
    #expect(energy.receiver_mJ == 2 * 30 + 8 * 20)
    #expect(energy.board_mJ == 5 * 1_000 + 5 * 10)
    #expect(energy.receiverAlwaysOn_mJ == 2 * 30 + 8 * 20 && energy.boardAlwaysAwake_mJ == 20_000)
    #expect(energy.boardGpsd_mJ == 10_000)
    #expect(
      summary.processorTime == Interval(microseconds: 90) && summary.suspendedTime == .seconds(5))
    #expect(energy.receiverTime[Int(TraceReceiverState.tracking.rawValue)] == .seconds(8))
    #expect(energy.receiverTime[Int(TraceReceiverState.acquiring.rawValue)] == .seconds(2))
    #expect(energy.boardTime[Int(BoardState.suspended.rawValue)] == .seconds(5))
  }

  @Test("an always-on receiver saves no energy, a receiver that slept does")
  func alwaysOn() throws {
    func energy(_ states: [(Double, TraceReceiverState, Double)]) throws -> TraceEnergy {
      var tally = TraceTally()
      for (time, state, power_mw) in states {
        tally.add(TraceRecord(at: second(time), .receiver(state: state, power_mw: power_mw)))
      }
      return try #require(tally.finish(at: second(100), baseline: TraceTallyTests.baseline).energy)
    }
    // Batching at the power of tracking, with a repeated acquiring record.
    let busy = try energy([
      (0, .acquiring, 30), (10, .acquiring, 30), (20, .tracking, 20), (30, .batching, 20),
    ])
    #expect(busy.receiver_mJ == 20 * 30 + 80 * 20)
    #expect(busy.receiverAlwaysOn_mJ == busy.receiver_mJ)
    // An always-on receiver does not need the second acquisition.
    let asleep = try energy([
      (0, .off, 0), (10, .acquiring, 30), (20, .tracking, 20), (40, .standby, 0),
      (60, .acquiring, 30), (70, .tracking, 20),
    ])
    #expect(asleep.receiverAlwaysOn_mJ == 10 * 30 + 90 * 20)
    // No fix at all.
    let blind = try energy([(0, .acquiring, 30)])
    #expect(blind.receiverAlwaysOn_mJ == 100 * 30)
  }

  @Test("without a board there is no energy summary")
  func noBoard() {
    var tally = run()
    #expect(tally.finish(at: second(10)).energy == nil)
  }

  @Test("a jump in the sequence uses no memory and gives no wrong age")
  func jump() {
    var times = FixTimes()
    times.store(1, second(1))
    times.store(1 << 39, second(2))
    #expect(times.age(of: 1 << 39, at: second(5)) == .seconds(3))
    #expect(times.age(of: 1, at: second(5)) == nil)
    #expect(times.age(of: (1 << 39) + 1, at: second(5)) == nil)
    var tally = TraceTally()
    tally.add(fixRecord(1, at: 1))
    tally.add(fixRecord(1 << 39, at: 2))
    tally.add(batch(from: 1 << 39, at: 4))
    tally.add(batch(from: 1, at: 5))
    #expect(tally.finish(at: second(6)).longestDelay == .seconds(2))
  }

  private func batch(from first: UInt64, at time: Double) -> TraceRecord {
    TraceRecord(at: second(time), .batch(client: 0, first: first, last: first, count: 1))
  }
}
