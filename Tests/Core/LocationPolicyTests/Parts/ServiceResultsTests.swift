import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Unreported results of services") struct ServiceResultsTests {
  static func stored(_ sequence: UInt64) -> StoredFix {
    StoredFix(name: FixName(generation: 1, sequence: sequence), fix: fix(at: Double(sequence)))
  }

  /// A visit that arrived at `arrival` seconds, and left at `departure` seconds.
  static func visit(_ arrival: Double, _ departure: Double? = nil) -> Visit {
    var visit = Visit(
      coordinate: equator, horizontalAccuracy: 10,
      arrival: FixTime(acquired: Instant(seconds: arrival), utc: nil))
    visit.departure = departure.map { FixTime(acquired: Instant(seconds: $0), utc: nil) }
    return visit
  }

  static func visits(_ outcomes: [VisitMonitor.Outcome]) -> [NoticeValue] {
    var results = ServiceResults()
    for outcome in outcomes { results.note(outcome) }
    let (hasVisit, hasNotices) = (results.hasVisit, results.hasNotices)
    #expect(hasVisit == hasNotices)
    var all: [NoticeValue] = []
    while let notice = results.nextVisit() { all.append(NoticeValue(notice)) }
    return all
  }

  @Test("VIS-6: a departure, then the latest visit; unreported visits between them are dropped")
  func visitOrder() {
    let first = NoticeValue.visit(arrival: 1, departure: nil)
    let firstEnd = NoticeValue.visit(arrival: 1, departure: 2)
    let second = NoticeValue.visit(arrival: 3, departure: nil)
    let secondEnd = NoticeValue.visit(arrival: 3, departure: 4)
    let arrived = VisitMonitor.Outcome.arrived(Self.visit(1))
    let departed = VisitMonitor.Outcome.departed(Self.visit(1, 2))
    let arrivedAgain = VisitMonitor.Outcome.arrived(Self.visit(3))
    let departedAgain = VisitMonitor.Outcome.departed(Self.visit(3, 4))
    #expect(Self.visits([.nothing]).isEmpty)
    #expect(Self.visits([arrived]) == [first])
    #expect(Self.visits([departed]) == [firstEnd])
    #expect(Self.visits([arrived, departed]) == [first, firstEnd])
    #expect(Self.visits([departed, arrivedAgain]) == [firstEnd, second])
    #expect(Self.visits([arrived, departed, arrivedAgain]) == [second])
    #expect(Self.visits([departed, arrivedAgain, departedAgain]) == [firstEnd, second, secondEnd])
  }

  @Test("VIS-6: each reported arrival gets its departure, also if events come between two notices")
  func everyDeparture() {
    let events: [VisitMonitor.Outcome] = [
      .arrived(Self.visit(1)), .departed(Self.visit(1, 2)), .arrived(Self.visit(3)),
      .departed(Self.visit(3, 4)), .arrived(Self.visit(5)), .departed(Self.visit(5, 6)),
    ]
    // Bit i of the pattern: a notice is taken after event i.
    for pattern in 0..<64 {
      var results = ServiceResults()
      var notices: [NoticeValue] = []
      for (i, event) in events.enumerated() {
        results.note(event)
        if pattern >> i & 1 == 1, let notice = results.nextVisit() {
          notices.append(NoticeValue(notice))
        }
      }
      while let notice = results.nextVisit() { notices.append(NoticeValue(notice)) }
      let times: [Double] = [1, 3, 5].filter {
        notices.contains(.visit(arrival: $0, departure: nil))
      }
      #expect(times.last == 5)
      let expected: [NoticeValue] = times.flatMap { (time: Double) -> [NoticeValue] in
        [.visit(arrival: time, departure: nil), .visit(arrival: time, departure: time + 1)]
      }
      #expect(notices == expected, "pattern \(pattern)")
    }
  }

  @Test("PAU-3: pause and resume alternate; an unreported one is cancelled by its opposite")
  func pauses() {
    typealias Outcome = PauseMonitor.Outcome
    let rows: [(old: Outcome, new: Outcome, result: Outcome)] = [
      (.nothing, .nothing, .nothing), (.nothing, .pause, .pause), (.nothing, .resume, .resume),
      (.pause, .nothing, .pause), (.pause, .pause, .pause), (.pause, .resume, .nothing),
      (.resume, .nothing, .resume), (.resume, .pause, .nothing), (.resume, .resume, .resume),
    ]
    for row in rows {
      var results = ServiceResults()
      results.note(row.old)
      results.note(row.new)
      let pending = results.pause
      #expect(pending == row.result, "\(row.old) \(row.new)")
      #expect(results.hasNotices == false)
      let isPauseTaken = results.take(.pause)
      let isResumeTaken = results.take(.resume)
      #expect(isPauseTaken == (row.result == .pause))
      #expect(isResumeTaken == (row.result == .resume))
      let remaining = results.pause
      #expect(remaining == .nothing)
    }
  }

  @Test("Reports come as coarse fix, significant change, answer; each once, the latest of its kind")
  func reports() {
    var results = ServiceResults()
    results.note(.deliver(Self.stored(1)))
    results.note(.fail(.locationUnknown))
    results.note(LocationRequest.Outcome.nothing)
    results.note(fix(at: 3), Self.stored(2))
    results.note(fix(at: 3), Self.stored(3))
    results.note(nil, Self.stored(9))
    results.setUpdateReport(Self.stored(4))
    results.setUpdateReport(Self.stored(5))
    #expect(results.hasNotices == true && results.hasAnswer == true)
    var all: [NoticeValue] = []
    while let notice = results.nextReport() { all.append(NoticeValue(notice)) }
    #expect(
      all == [
        .coarse(5, accuracy_mm: 3_000), .report(3, accuracy_mm: 3_000),
        .failure(LocationErrorCode.locationUnknown.rawValue),
      ])
    #expect(results.hasNotices == false && results.hasAnswer == false)
  }

  @Test("Each kind of result can be discarded; a detached process leaves those that launch another")
  func discards() {
    func results() -> ServiceResults {
      var results = ServiceResults()
      results.note(fix(at: 1), Self.stored(1))
      results.note(.arrived(Self.visit(1)))
      results.note(.deliver(Self.stored(2)))
      results.setUpdateReport(Self.stored(3))
      results.refuse(.live(.default))
      results.note(.pause)
      return results
    }
    func kinds(_ results: consuming ServiceResults) -> [String] {
      var all: [String] = []
      while let notice = results.nextReport() { all.append(NoticeValue(notice).description) }
      while let notice = results.nextVisit() { all.append(NoticeValue(notice).description) }
      while let notice = results.nextRefusal() { all.append(NoticeValue(notice).description) }
      if results.pause != .nothing { all.append("pause") }
      return all
    }
    let (coarse, change, answer) = ("coarse(3)", "report(1)", "report(2)")
    let (visit, refusal, pause) = ("visit(1.0, -1.0)", "liveRefused(0)", "pause")
    #expect(kinds(results()) == [coarse, change, answer, visit, refusal, pause])
    var some = results()
    some.discardSignificantReport()
    #expect(kinds(some) == [coarse, answer, visit, refusal, pause])
    some = results()
    some.discardVisits()
    #expect(kinds(some) == [coarse, change, answer, refusal, pause])
    some = results()
    some.discardAnswer()
    #expect(kinds(some) == [coarse, change, visit, refusal, pause])
    some = results()
    some.setUpdateReport(nil)
    #expect(kinds(some) == [change, answer, visit, refusal, pause])
    some = results()
    some.detach()
    #expect(kinds(some) == [change, visit])
  }
}
