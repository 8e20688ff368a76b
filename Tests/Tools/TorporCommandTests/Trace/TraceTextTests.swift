import LocationPolicy
import LocationSimulation
import LocationTypes
import Testing

@testable import torpor

@Suite("The trace for people")
struct TraceTextTests {
  func lines(_ records: [TraceRecord], coloured: Bool = false) -> [String] {
    var printer = TraceText(style: Style(isColoured: coloured))
    var text = TextBuffer()
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
      TraceRecord(at: second(at), .notice(client: client, notice))
    }
    let records = [
      told(10, .arrived(place: place, at: second(4))), told(11, .departed(place: place, at: nil)),
      told(12, .paused), told(13, .resumed), told(14, .entered(region: 1)),
      told(15, .exited(region: 1), client: 2), told(16, .stationary(true)),
      told(17, .stationary(false)), told(18, .failed(.regionMonitoringFailure)),
      told(19, .degraded(ServiceLevelSet(.everyFix), charge: 29)),
      told(20, .degraded(everything, charge: 3)), told(21, .degraded(.none, charge: 90)),
      told(22, .flags(LiveFlags.insufficientlyInUse.union(.locationUnavailable))),
      told(23, .flags(.empty)), TraceRecord(at: second(24), .batteryEmpty),
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
    let summary = tally.finish(at: second(10), baseline: TraceTallyTests.bill)
    var text = TextBuffer()
    SummaryText(style: Style(isColoured: false)).write(summary, to: &text)
    for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
    #expect(text.string.contains("delivered       4 in 1 batch, longest delay 4.5 s"))
    #expect(text.string.contains("49.5 %"))
    #expect(text.string.contains("tracking 8 s (80.0 %)"))
    #expect(!text.string.contains("notices") && !text.string.contains("\nerror "))
    #expect(!text.string.contains("refused") && !text.string.contains("suggestion"))
  }

  @Test("DEF-2: a deferral that was refused is told with its remedy, one that was canceled is not")
  func refusal() {
    var tally = TraceTally()
    func told(_ remedy: String?) -> String {
      var tally = tally
      var text = TextBuffer()
      SummaryText(style: Style(isColoured: false))
        .write(tally.finish(at: second(9)), suggestion: remedy, to: &text)
      for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
      return text.string
    }
    tally.add(TraceRecord(at: second(1), .finish(client: 0, code: nil)))
    tally.add(TraceRecord(at: second(1), .finish(client: 0, code: .deferredCanceled)))
    #expect(!told(nil).contains("refused"))
    tally.add(TraceRecord(at: second(2), .finish(client: 0, code: .deferredAccuracyTooLow)))
    #expect(told(nil).contains("refused         error: the desired accuracy is too low\n"))
    #expect(!told(nil).contains("suggestion"))
    tally.add(TraceRecord(at: second(3), .finish(client: 0, code: .deferredFailed)))
    #expect(told("ask again").contains("refused         twice, first: error: the des"))
    #expect(told("ask again").contains("\nsuggestion      ask again\n"))
    #expect(tally.finish(at: second(4)).deferralErrors == 2)
  }

  @Test("notices and what became of a promise are told where there are any")
  func promise() {
    var summary = TraceSummary()
    summary.notices = 1_234
    var promise = OptimumComparison()
    promise.bound_m = 100
    promise.error.seconds = 2_000
    promise.error.exceededSeconds = 5
    promise.error.p95_m = 85.44
    promise.error.maximum_m = 1_204
    promise.receiver_mJ = 8_500
    func told() -> String {
      var text = TextBuffer()
      SummaryText(style: Style(isColoured: false)).write(summary, promise, to: &text)
      for line in text.string.split(separator: "\n") { #expect(line.count <= 80) }
      return text.string
    }
    #expect(told().contains("notices         1,234\n"))
    #expect(
      told().contains(
        "error           above 100 m for 0.25 % of the time, p95 85.4 m, worst 1.2 km\n"))
    #expect(told().contains("first report: -\n"))
    promise.optimum_mJ = 5_000
    #expect(
      told().contains(
        "optimum         5.00 J; this run 8.50 J since the first report: 1.70 ×\n"
          + "                but error above 100 m for 5 s (0.25 %)\n"))
    promise.hasSampledTimesToFix = true
    #expect(told().contains("first report: -\n                (--ttff sampled: "))
    #expect(!told().contains("but error above"))
    promise.hasSampledTimesToFix = false
    promise.error.exceededSeconds = 0
    #expect(told().contains("1.70 ×\n") && !told().contains("but error above"))
  }

  @Test("what was delivered is told in the words of the service")
  func delivered() {
    var tally = TraceTally()
    let place = Coordinate(latitude_e9: 0, longitude_e9: 0)
    func tell(_ times: Int, _ notice: TraceNotice) {
      for _ in 0..<times { tally.add(TraceRecord(at: second(1), .notice(client: 0, notice))) }
    }
    tell(7, .report(sequence: 1))
    tell(2, .arrived(place: place, at: nil))
    tell(1, .departed(place: place, at: nil))
    tell(3, .entered(region: 1))
    tell(4, .exited(region: 1))
    tell(5, .stationary(true))
    tell(6, .flags(.empty))
    let summary = tally.finish(at: second(2))
    #expect(
      [
        ScriptedService.significantChange, .visits, .live, .region(place, radius: 1), .updates,
      ].map { SummaryText.delivered(summary, by: $0) } == [
        "7 significant changes", "2 arrivals, 1 departure",
        "7 locations, flags changed 6 times, stationary changed 5 times",
        "region entered 3 times, exited 4 times", "0 in 0 batches, longest delay 0 ms",
      ])
    var json = JSONWriter()
    TraceJSON.write(summary, to: &json)
    #expect(
      json.text.string.contains(
        #""notices":28,"told":{"report":7,"arrived":2,"departed":1,"entered":3,"exited":4,"#
          + #""stationary":5,"flags":6},"host_wakes":0"#), "\(json.text.string)")
  }
}
