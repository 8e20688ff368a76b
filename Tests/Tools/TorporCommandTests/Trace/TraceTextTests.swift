import LocationPolicy
import LocationSimulation
import LocationTypes
import Testing
import TextFormats

@testable import torpor

@Suite("The trace as text")
struct TraceTextTests {
  func lines(_ records: [TraceRecord], coloured: Bool = false) -> [String] {
    var printer = TraceText(style: Style(isColoured: coloured))
    var text = TextBuffer()
    for record in records { printer.write(record, to: &text) }
    printer.finish(to: &text)
    return text.string.split(separator: "\n").map(String.init)
  }

  @Test("a batch is shown with its fixes and the age of the oldest")
  func batch() {
    let records = [
      fixRecord(1, at: 450), fixRecord(300, at: 749),
      TraceRecord(at: second(750), .batch(client: 0, first: 1, last: 300, count: 300)),
    ]
    #expect(lines(records) == ["00:12:30  batch     #1 … #300  300 fixes, oldest 5 min"])
  }

  @Test("a wake shows the preceding sleep, a finish its reason, a gap the number of lost fixes")
  func others() {
    let records = [
      TraceRecord(at: second(10), .board(state: .suspended, power_mw: 10)),
      TraceRecord(at: second(250), .wake(.batchPin)),
      TraceRecord(at: second(250), .board(state: .awake, power_mw: 10)),
      TraceRecord(at: second(251), .finish(client: 0, code: nil)),
      TraceRecord(at: second(252), .finish(client: 1, code: .deferredFailed)),
      TraceRecord(at: second(252), .finish(client: 1, code: .deferredCanceled)),
      TraceRecord(at: second(253), .gap(client: 0, count: 1_000, from: nil, to: nil)),
      TraceRecord(at: second(253.5), .receiver(state: .acquiring, power_mw: 30)),
      TraceRecord(at: second(254), .receiver(state: .standby, power_mw: 0.25)),
      TraceRecord(at: second(256), .receiver(state: .standby, power_mw: 0.25)),
    ]
    #expect(
      lines(records) == [
        "00:04:11  board     suspended 4 min; woke once (receiver's buffer)",
        "00:04:11  finish    a criterion was met",
        "00:04:12  finish    client 1: error: the receiver failed",
        "00:04:12  finish    client 1: canceled by the client",
        "00:04:13  gap       1,000 fixes lost",
        "00:04:14  receiver  standby, 0.3 mW",
      ])
  }

  @Test("lines are ordered by time, although a receiver's state is shown only once it has lasted")
  func order() {
    func receiver(_ at: Double, _ state: TraceReceiverState) -> TraceRecord {
      TraceRecord(at: second(at), .receiver(state: state, power_mw: 1))
    }
    func finish(_ at: Double) -> TraceRecord {
      TraceRecord(at: second(at), .finish(client: 0, code: nil))
    }
    let records = [
      finish(1.5), receiver(1.6, .acquiring), finish(1.6), finish(2.5), finish(2.7),
      // A short state is omitted and does not delay other lines.
      receiver(10, .standby), finish(10.2), receiver(10.9, .backup), finish(11.2), finish(30),
      receiver(40, .acquiring), finish(40.5), receiver(41, .acquiring),
    ]
    let starts = lines(records).map { $0.prefix(18).split(separator: " ").joined(separator: "  ") }
    #expect(
      starts == [
        "00:00:01  finish", "00:00:01  receiver", "00:00:01  finish", "00:00:02  finish",
        "00:00:02  finish", "00:00:10  finish", "00:00:10  receiver", "00:00:11  finish",
        "00:00:30  finish", "00:00:40  receiver", "00:00:40  finish",
      ])
  }

  @Test("fixes delivered individually are counted after the third")
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
    let output = lines(records)
    #expect(output.count == 4)
    #expect(output.last == "     ...  7 more, one by one, until 00:00:10")
    // The next record ends the count.
    records.append(TraceRecord(at: second(21), .finish(client: 0, code: nil)))
    #expect(
      lines(records).suffix(2) == [
        "     ...  7 more, one by one, until 00:00:10", "00:00:21  finish    a criterion was met",
      ])
  }

  @Test("each notice is a line; consecutive reports are counted")
  func notices() {
    let coordinate = Coordinate(latitude_e9: 52_579_439_500, longitude_e9: 13_409_978_900)
    func notice(_ at: Double, _ notice: TraceNotice, client: Int = 0) -> TraceRecord {
      TraceRecord(at: second(at), .notice(client: client, notice))
    }
    let records = [
      notice(10, .arrived(coordinate: coordinate, at: second(4))),
      notice(11, .departed(coordinate: coordinate, at: nil)),
      notice(12, .paused), notice(13, .resumed), notice(14, .entered(region: 1)),
      notice(15, .exited(region: 1), client: 2), notice(16, .stationary(true)),
      notice(17, .stationary(false)), notice(18, .failed(.regionMonitoringFailure)),
      notice(19, .degraded(ServiceLevelSet(.everyFix), charge: 29)),
      notice(20, .degraded(allServiceLevels, charge: 3)), notice(21, .degraded(.none, charge: 90)),
      notice(22, .flags(LiveFlags.insufficientlyInUse.union(.locationUnavailable))),
      notice(23, .flags(.empty)), TraceRecord(at: second(24), .batteryEmpty),
    ]
    #expect(
      lines(records) == [
        "00:00:10  arrived   52.57944, 13.40998, 4 s after the start",
        "00:00:11  departed  52.57944, 13.40998",
        "00:00:12  paused    device stationary",
        "00:00:13  resumed   device moving",
        "00:00:14  entered   region 1",
        "00:00:15  exited    client 2: region 1",
        "00:00:16  stationary yes",
        "00:00:17  stationary no",
        "00:00:18  failed    error: the region cannot be monitored",
        "00:00:19  degraded  battery at 29 %: within 100 m at best",
        "00:00:20  degraded  battery at 3 %: no updates, no visits, no regions, no significant change",
        "00:00:21  restored  battery at 90 %: full service",
        "00:00:22  flags     insufficiently in use, location unavailable",
        "00:00:23  flags     none",
        "00:00:24  battery   empty",
      ])
    let often = (1...10).map { notice(Double($0), .report(sequence: UInt64($0))) }
    #expect(
      lines(often + [notice(20.1, .report(sequence: 11)), notice(31, .report(sequence: 12))]) == [
        "00:00:01  report    #1", "00:00:02  report    #2", "00:00:03  report    #3",
        "     ...  7 more, one by one, until 00:00:10",
        "00:00:20  report    #11", "00:00:31  report    #12",
      ])
  }

  @Test("colour is used only if enabled, and lines fit 80 columns")
  func colour() {
    let record = TraceRecord(at: second(1), .finish(client: 0, code: nil))
    #expect(lines([record], coloured: true)[0].contains("\u{1B}[32mfinish\u{1B}[0m    a"))
    #expect(!lines([record])[0].contains("\u{1B}"))
  }

  @Test("the summary has the energy and fits 80 columns")
  func summary() {
    var tally = TraceTallyTests().run()
    let summary = tally.finish(at: second(10), baseline: TraceTallyTests.baseline)
    var text = TextBuffer()
    SummaryText(style: Style(isColoured: false)).write(summary, to: &text)
    for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
    #expect(text.string.contains("delivered       4 in 1 batch, longest delay 4.5 s"))
    #expect(text.string.contains("49.5 %"))
    #expect(text.string.contains("tracking 8 s (80.0 %)"))
    #expect(!text.string.contains("notices") && !text.string.contains("\nerror "))
    #expect(!text.string.contains("refused") && !text.string.contains("suggestion"))
  }

  @Test("DEF-2: a refused deferral is shown with a suggestion, a canceled one is not")
  func refusal() {
    var tally = TraceTally()
    func text(_ suggestion: String?) -> String {
      var tally = tally
      var text = TextBuffer()
      SummaryText(style: Style(isColoured: false))
        .write(tally.finish(at: second(9)), suggestion: suggestion, to: &text)
      for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
      return text.string
    }
    tally.add(TraceRecord(at: second(1), .finish(client: 0, code: nil)))
    tally.add(TraceRecord(at: second(1), .finish(client: 0, code: .deferredCanceled)))
    #expect(!text(nil).contains("refused"))
    tally.add(TraceRecord(at: second(2), .finish(client: 0, code: .deferredAccuracyTooLow)))
    #expect(text(nil).contains("refused         error: the desired accuracy is too low\n"))
    #expect(!text(nil).contains("suggestion"))
    tally.add(TraceRecord(at: second(3), .finish(client: 0, code: .deferredFailed)))
    #expect(text("ask again").contains("refused         twice, first: error: the des"))
    #expect(text("ask again").contains("\nsuggestion      ask again\n"))
    #expect(tally.finish(at: second(4)).deferralErrors == 2)
  }

  @Test("notices and the comparison with the optimum are shown if they exist")
  func comparison() {
    var summary = TraceSummary()
    summary.notices = 1_234
    var comparison = OptimumComparison()
    comparison.bound_m = 100
    comparison.error.seconds = 2_000
    comparison.error.exceededSeconds = 5
    comparison.error.p95_m = 85.44
    comparison.error.maximum_m = 1_204
    comparison.receiver_mJ = 8_500
    func text() -> String {
      var text = TextBuffer()
      SummaryText(style: Style(isColoured: false)).write(summary, comparison, to: &text)
      for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
      return text.string
    }
    #expect(text().contains("notices         1,234\n"))
    #expect(
      text().contains(
        "error           above 100 m for 0.25 % of the time, p95 85.4 m, worst 1.2 km\n"))
    #expect(text().contains("first report: -\n"))
    comparison.optimum_mJ = 5_000
    comparison.total_mJ = 42_000
    comparison.totalOptimum_mJ = 30_000
    #expect(
      text().contains(
        "optimum         total 30.00 J; this run 42.00 J since the first report: 1.40 ×\n"
          + "                receiver 5.00 J; this run 8.50 J since the first report: 1.70 ×\n"
          + "                but error above 100 m for 5 s (0.25 %)\n"))
    comparison.hasSampledTimesToFix = true
    #expect(text().contains("first report: -\n                (--ttff sampled: "))
    #expect(!text().contains("but error above"))
    comparison.hasSampledTimesToFix = false
    comparison.error.exceededSeconds = 0
    #expect(text().contains("1.70 ×\n") && !text().contains("but error above"))
  }

  @Test("delivered items are named after the service")
  func delivered() {
    var tally = TraceTally()
    let coordinate = Coordinate(latitude_e9: 0, longitude_e9: 0)
    func add(_ times: Int, _ notice: TraceNotice) {
      for _ in 0..<times { tally.add(TraceRecord(at: second(1), .notice(client: 0, notice))) }
    }
    add(7, .report(sequence: 1))
    add(2, .arrived(coordinate: coordinate, at: nil))
    add(1, .departed(coordinate: coordinate, at: nil))
    add(3, .entered(region: 1))
    add(4, .exited(region: 1))
    add(5, .stationary(true))
    add(6, .flags(.empty))
    let summary = tally.finish(at: second(2))
    #expect(
      [
        ScriptedService.significantChange, .visits, .live, .region(coordinate, radius: 1), .updates,
      ].map { SummaryText.delivered(summary, by: $0) } == [
        "7 significant changes", "2 arrivals, 1 departure",
        "7 locations, flags changed 6 times, stationary changed 5 times",
        "region entered 3 times, exited 4 times", "0 in 0 batches, longest delay 0 ms",
      ])
    var json = JSONOutput()
    TraceJSON.write(summary, to: &json)
    #expect(
      json.text.string.contains(
        #""notices":28,"told":{"report":7,"arrived":2,"departed":1,"entered":3,"exited":4,"#
          + #""stationary":5,"flags":6},"host_wakes":0"#), "\(json.text.string)")
  }
}
