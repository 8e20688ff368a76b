import LocationPolicy
import LocationSimulation
import LocationTypes
import Testing

@testable import torpor

/// Moments and records in few words.
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

/// All that can be given up.
private let everything: PromiseSet = {
  var set = PromiseSet.none
  for promise in [
    Promise.everyFix, .accuracy, .updates, .visits, .regions, .significantChange,
  ] {
    set.insert(promise)
  }
  return set
}()

@Suite("The trace as JSON Lines")
struct TraceJSONTests {
  func line(_ at: Double, _ kind: TraceRecord.Kind) -> String {
    var json = JSONWriter()
    TraceJSON.write(TraceRecord(at: second(at), kind), to: &json)
    return json.text.string
  }

  @Test("every kind has the keys of the reference, in its order")
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

  @Test("a fix has name, time, place and accuracy; what is not known is left out")
  func fixes() {
    var json = JSONWriter()
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

  @Test("RNG-4: a gap tells its count and its time range")
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

  @Test("what a service told has the members of the reference, in its order")
  func told() {
    let place = Coordinate(latitude_e9: 52_579_439_500, longitude_e9: -13_409_978_900)
    func members(_ notice: TraceNotice) -> String {
      let line = line(7, .told(client: 0, notice))
      let head = #"{"t":7,"kind":"told","client":0,"#
      #expect(line.hasPrefix(head) && line.hasSuffix("}\n"))
      return String(line.dropFirst(head.count).dropLast(2))
    }
    #expect(members(.report(sequence: 42)) == #""what":"report","seq":42"#)
    #expect(
      members(.arrived(place: place, at: second(1.5)))
        == #""what":"arrived","lat":52.5794395,"lon":-13.4099789,"at":1.5"#)
    #expect(
      members(.departed(place: place, at: nil))
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
      members(.degraded(everything, charge: 3))
        == #""what":"degraded","percent":3,"given_up":["every_fix","accuracy","updates","#
        + #""visits","regions","significant"]"#)
    #expect(
      members(.degraded(.none, charge: 90)) == #""what":"restored","percent":90,"given_up":[]"#)
  }

  @Test("a promise has the keys of the reference; the ratio only where there is one")
  func promise() {
    var promise = PromiseSummary()
    promise.bound_m = 100
    promise.error.seconds = 200
    promise.error.broken = 5
    promise.error.p95_m = 90
    promise.error.greatest_m = 120.5
    promise.receiver_mJ = 300
    func text() -> String {
      var json = JSONWriter()
      TraceJSON.write(TraceSummary(), promise, to: &json)
      return json.text.string
    }
    let members =
      #""promise":{"bound_m":100,"seconds":200,"broken_s":5,"broken_share":0.025,"#
      + #""p95_m":90,"worst_m":120.5,"receiver_mj":300,"optimum_mj":"#
    #expect(text().hasSuffix(members + "0}}\n"))
    promise.optimum_mJ = 200
    #expect(text().hasSuffix(members + #"200,"ratio":1.5}}"# + "\n"))
  }

  @Test("every state and reason has the word of the reference")
  func words() {
    #expect(
      TraceReceiverState.allCases.map(\.word)
        == ["off", "backup", "standby", "acquiring", "tracking", "powersave", "batching"])
    #expect(
      (0...3).compactMap { BoardState(rawValue: $0) }.map(TraceJSON.word)
        == ["awake", "idle", "suspended", "off"])
    #expect(
      (0...4).compactMap { WakeReason(rawValue: $0) }.map(TraceJSON.word)
        == ["alarm", "bytes", "batch_pin", "request", "motion"])
  }

  @Test("the summary has the keys of the reference")
  func summary() {
    var summary = TraceSummary()
    summary.fixes = 10
    summary.delivered = 9
    summary.batches = 2
    summary.finishes = 1
    summary.refusals = 1
    summary.lost = 1
    summary.notices = 4
    summary.hostWakes = 3
    summary.awake = Interval(microseconds: 1_250_000)
    summary.longestDelay = .seconds(300)
    summary.duration = .seconds(600)
    var json = JSONWriter()
    TraceJSON.write(summary, to: &json)
    #expect(
      json.text.string
        == #"{"kind":"summary","fixes":10,"delivered":9,"batches":2,"finishes":1,"refusals":1,"#
        + #""lost":1,"notices":4,"host_wakes":3,"awake_s":1.25,"max_delay_s":300,"duration_s":600}"#
        + "\n")
  }
}

@Suite("What a trace adds up to")
struct TraceTallyTests {
  /// Ten seconds: 2 s acquiring, 8 s tracking; awake, 5 s suspended, awake again.
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

  @Test("counts, delays, time and energy come from the records alone")
  func summary() throws {
    var tally = run()
    let summary = tally.finish(at: second(10), tracking_mw: 20, awake_mw: 1_000)
    #expect(summary.fixes == 5 && summary.delivered == 4 && summary.batches == 1)
    #expect(summary.finishes == 1 && summary.lost == 1 && summary.hostWakes == 1)
    #expect(summary.duration == .seconds(10) && summary.awake == .seconds(5))
    #expect(summary.longestDelay == Interval(microseconds: 4_500_000))
    let energy = try #require(summary.energy)
    #expect(energy.receiver_mJ == 2 * 30 + 8 * 20)
    #expect(energy.board_mJ == 5 * 1_000 + 5 * 10)
    #expect(energy.receiverAlwaysOn_mJ == 2 * 30 + 8 * 20 && energy.boardAlwaysAwake_mJ == 10_000)
    #expect(energy.receiverTime[Int(TraceReceiverState.tracking.rawValue)] == .seconds(8))
    #expect(energy.receiverTime[Int(TraceReceiverState.acquiring.rawValue)] == .seconds(2))
    #expect(energy.boardTime[Int(BoardState.suspended.rawValue)] == .seconds(5))
  }

  @Test("a receiver that was on all the time saves nothing, one that slept saves")
  func alwaysOn() throws {
    func energy(_ states: [(Double, TraceReceiverState, Double)]) throws -> TraceEnergy {
      var tally = TraceTally()
      for (time, state, power_mw) in states {
        tally.add(TraceRecord(at: second(time), .receiver(state: state, power_mw: power_mw)))
      }
      return try #require(tally.finish(at: second(100), tracking_mw: 20, awake_mw: 1_000).energy)
    }
    // Batching at the power of tracking, the search told twice.
    let busy = try energy([
      (0, .acquiring, 30), (10, .acquiring, 30), (20, .tracking, 20), (30, .batching, 20),
    ])
    #expect(busy.receiver_mJ == 20 * 30 + 80 * 20)
    #expect(busy.receiverAlwaysOn_mJ == busy.receiver_mJ)
    // Its second search is one that a receiver always on does not need.
    let asleep = try energy([
      (0, .off, 0), (10, .acquiring, 30), (20, .tracking, 20), (40, .standby, 0),
      (60, .acquiring, 30), (70, .tracking, 20),
    ])
    #expect(asleep.receiverAlwaysOn_mJ == 10 * 30 + 90 * 20)
    // No fix at all.
    let blind = try energy([(0, .acquiring, 30)])
    #expect(blind.receiverAlwaysOn_mJ == 100 * 30)
  }

  @Test("without a board there is no bill")
  func noBoard() {
    var tally = run()
    #expect(tally.finish(at: second(10)).energy == nil)
  }

  @Test("a jump in the sequence costs no memory and no wrong age")
  func jump() {
    var tally = TraceTally()
    tally.add(fixRecord(1, at: 1))
    tally.add(fixRecord(1 << 39, at: 2))
    #expect(tally.age(of: 1 << 39, at: second(5)) == .seconds(3))
    #expect(tally.age(of: 1, at: second(5)) == nil)
    #expect(tally.age(of: (1 << 39) + 1, at: second(5)) == nil)
  }
}

@Suite("The trace for people")
struct TraceTextTests {
  func lines(_ records: [TraceRecord], coloured: Bool = false) -> [String] {
    var printer = TraceText(style: Style(isColoured: coloured))
    var text = Text()
    for record in records { printer.write(record, to: &text) }
    printer.finish(to: &text)
    return text.string.split(separator: "\n").map(String.init)
  }

  @Test("a batch is told with its fixes and the age of the oldest")
  func batch() {
    let records = [
      fixRecord(1, at: 450), fixRecord(300, at: 749),
      TraceRecord(at: second(750), .batch(client: 0, first: 1, last: 300, count: 300)),
    ]
    #expect(lines(records) == ["00:12:30  batch     #1 … #300  300 fixes, oldest 5 min"])
  }

  @Test("what follows a sleep tells of it, a finish why it ended, a gap what was lost")
  func others() {
    let records = [
      TraceRecord(at: second(10), .board(state: .suspended, power_mw: 10)),
      TraceRecord(at: second(250), .wake(.batchPin)),
      TraceRecord(at: second(250), .board(state: .awake, power_mw: 10)),
      TraceRecord(at: second(251), .finish(client: 0, code: nil)),
      TraceRecord(at: second(252), .finish(client: 1, code: .deferredFailed)),
      TraceRecord(at: second(253), .gap(client: 0, count: 1_000, from: nil, to: nil)),
      TraceRecord(at: second(253.5), .receiver(state: .acquiring, power_mw: 30)),
      TraceRecord(at: second(254), .receiver(state: .standby, power_mw: 0.25)),
      TraceRecord(at: second(256), .receiver(state: .standby, power_mw: 0.25)),
    ]
    #expect(
      lines(records) == [
        "00:04:11  board     suspended 4 min; woke once (receiver's buffer)",
        "00:04:11  finish    a criterion was met",
        "00:04:12  finish    client 1: error 11, the receiver failed",
        "00:04:13  gap       1,000 fixes lost",
        "00:04:14  receiver  standby, 0.3 mW",
      ])
  }

  @Test("lines come in the order of time, though a receiver's state is told when it has lasted")
  func order() {
    func receiver(_ at: Double, _ state: TraceReceiverState) -> TraceRecord {
      TraceRecord(at: second(at), .receiver(state: state, power_mw: 1))
    }
    func finish(_ at: Double) -> TraceRecord {
      TraceRecord(at: second(at), .finish(client: 0, code: nil))
    }
    let records = [
      finish(1.5), receiver(1.6, .acquiring), finish(1.6), finish(2.5), finish(2.7),
      // What it passes through is left out, and holds nothing up.
      receiver(10, .standby), finish(10.2), receiver(10.9, .backup), finish(11.2), finish(30),
      receiver(40, .acquiring), finish(40.5), receiver(41, .acquiring),
    ]
    let told = lines(records).map { $0.prefix(18).split(separator: " ").joined(separator: "  ") }
    #expect(
      told == [
        "00:00:01  finish", "00:00:01  receiver", "00:00:01  finish", "00:00:02  finish",
        "00:00:02  finish", "00:00:10  finish", "00:00:10  receiver", "00:00:11  finish",
        "00:00:30  finish", "00:00:40  receiver", "00:00:40  finish",
      ])
  }

  @Test("fixes delivered one by one are counted after the third")
  func singles() {
    var records: [TraceRecord] = []
    for number in 1...10 {
      let moment = Double(number)
      records.append(fixRecord(UInt64(number), at: moment))
      records.append(TraceRecord(at: second(moment), .wake(.bytes)))
      let sequence = UInt64(number)
      records.append(
        TraceRecord(
          at: second(moment), .batch(client: 0, first: sequence, last: sequence, count: 1)))
    }
    let told = lines(records)
    #expect(told.count == 4)
    #expect(told.last == "     ...  7 more, one by one, until 00:00:10")
    // What follows ends the counting.
    records.append(TraceRecord(at: second(21), .finish(client: 0, code: nil)))
    #expect(
      lines(records).suffix(2) == [
        "     ...  7 more, one by one, until 00:00:10", "00:00:21  finish    a criterion was met",
      ])
  }

  @Test("what a service told is a line each; reports that follow each other are counted")
  func told() {
    let place = Coordinate(latitude_e9: 52_579_439_500, longitude_e9: 13_409_978_900)
    func told(_ at: Double, _ notice: TraceNotice, client: Int = 0) -> TraceRecord {
      TraceRecord(at: second(at), .told(client: client, notice))
    }
    let records = [
      told(10, .arrived(place: place, at: second(4))), told(11, .departed(place: place, at: nil)),
      told(12, .paused), told(13, .resumed), told(14, .entered(region: 1)),
      told(15, .exited(region: 1), client: 2), told(16, .stationary(true)),
      told(17, .stationary(false)), told(18, .failed(.regionMonitoringFailure)),
      told(19, .degraded(PromiseSet(.everyFix), charge: 29)),
      told(20, .degraded(everything, charge: 3)), told(21, .degraded(.none, charge: 90)),
      told(22, .flags(LiveFlags.insufficientlyInUse.union(.locationUnavailable))),
      told(23, .flags(.empty)), TraceRecord(at: second(24), .batteryEmpty),
    ]
    #expect(
      lines(records) == [
        "00:00:10  arrived   52.5794395, 13.4099789, 4 s after the start",
        "00:00:11  departed  52.5794395, 13.4099789",
        "00:00:12  paused    nobody moves",
        "00:00:13  resumed   somebody moves",
        "00:00:14  entered   region 1",
        "00:00:15  exited    client 2: region 1",
        "00:00:16  stationary stands",
        "00:00:17  stationary moves",
        "00:00:18  failed    error 5, the region cannot be monitored",
        "00:00:19  degraded  battery at 29 %: within 100 m at best",
        "00:00:20  degraded  battery at 3 %: no updates, no visits, no regions, no significant change",
        "00:00:21  restored  battery at 90 %: all as it was",
        "00:00:22  flags     insufficiently in use, location unavailable",
        "00:00:23  flags     none",
        "00:00:24  battery   empty",
      ])
    let often = (1...10).map { told(Double($0), .report(sequence: UInt64($0))) }
    #expect(
      lines(often + [told(20.1, .report(sequence: 11)), told(31, .report(sequence: 12))]) == [
        "00:00:01  report    #1", "00:00:02  report    #2", "00:00:03  report    #3",
        "     ...  7 more, one by one, until 00:00:10",
        "00:00:20  report    #11", "00:00:31  report    #12",
      ])
  }

  @Test("colour only where it is wanted, and lines fit 80 columns")
  func colour() {
    let record = TraceRecord(at: second(1), .finish(client: 0, code: nil))
    #expect(lines([record], coloured: true)[0].contains("\u{1B}[32mfinish\u{1B}[0m    a"))
    #expect(!lines([record])[0].contains("\u{1B}"))
  }

  @Test("the summary has the energy bill and fits 80 columns")
  func summary() {
    var tally = TraceTallyTests().run()
    let summary = tally.finish(at: second(10), tracking_mw: 20, awake_mw: 1_000)
    var text = Text()
    SummaryText(style: Style(isColoured: false)).write(summary, to: &text)
    for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
    #expect(text.string.contains("delivered       4 in 1 batch, longest delay 4.5 s"))
    #expect(text.string.contains("49.5 %"))
    #expect(text.string.contains("tracking 8 s (80.0 %)"))
    #expect(!text.string.contains("notices") && !text.string.contains("promise"))
    #expect(!text.string.contains("refused") && !text.string.contains("remedy"))
  }

  @Test("DEF-2: a deferral that was refused is told with its remedy, one that was canceled is not")
  func refusal() {
    var tally = TraceTally()
    func told(_ remedy: String?) -> String {
      var tally = tally
      var text = Text()
      SummaryText(style: Style(isColoured: false))
        .write(tally.finish(at: second(9)), remedy: remedy, to: &text)
      for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
      return text.string
    }
    tally.add(TraceRecord(at: second(1), .finish(client: 0, code: nil)))
    tally.add(TraceRecord(at: second(1), .finish(client: 0, code: .deferredCanceled)))
    #expect(!told(nil).contains("refused"))
    tally.add(TraceRecord(at: second(2), .finish(client: 0, code: .deferredAccuracyTooLow)))
    #expect(told(nil).contains("refused         error 13, the accuracy asked for is too low\n"))
    #expect(!told(nil).contains("remedy"))
    tally.add(TraceRecord(at: second(3), .finish(client: 0, code: .deferredFailed)))
    #expect(told("ask again").contains("refused         twice, first: error 13, the acc"))
    #expect(told("ask again").contains("\nremedy          ask again\n"))
    #expect(tally.finish(at: second(4)).refusals == 2)
  }

  @Test("notices and what became of a promise are told where there are any")
  func promise() {
    var summary = TraceSummary()
    summary.notices = 1_234
    var promise = PromiseSummary()
    promise.bound_m = 100
    promise.error.seconds = 2_000
    promise.error.broken = 5
    promise.error.p95_m = 85.44
    promise.error.greatest_m = 1_204
    promise.receiver_mJ = 8_500
    func told() -> String {
      var text = Text()
      SummaryText(style: Style(isColoured: false)).write(summary, promise, to: &text)
      for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
      return text.string
    }
    #expect(told().contains("notices         1,234\n"))
    #expect(
      told().contains(
        "promise         100 m broken 0.25 % of the time, p95 85.4 m, worst 1.2 km\n"))
    #expect(told().contains("first report on: -\n"))
    promise.optimum_mJ = 5_000
    #expect(
      told().contains("optimum         5.00 J; this run 8.50 J from the first report on: 1.70 ×\n"))
  }
}
