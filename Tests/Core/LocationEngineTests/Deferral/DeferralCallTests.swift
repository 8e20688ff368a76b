import LocationPolicy
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Calls of allowDeferredLocationUpdates")
struct DeferralCallTests {
  @Test("DEF-1: without a receiver a call fails with 11")
  func noReceiver() {
    let bench = EngineBench { $0.receiver = nil }
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "fail(0) finish(11)")
    #expect(!bench.isDeferralAvailable)
  }

  @Test(
    "DEF-2: an accuracy other than Best fails with 13, also a small number",
    arguments: [1.0, 0, 10, 100, 3000, .nan, -3])
  func accuracy(_ accuracy: Double) {
    let bench = EngineBench()
    bench.client.request(.setDesiredAccuracy(accuracy))
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "finish(13)")
  }

  @Test("DEF-2: Best and BestForNavigation are accepted", arguments: [-1.0, -2.0])
  func bestAccuracy(_ accuracy: Double) {
    let bench = EngineBench()
    bench.client.request(.setDesiredAccuracy(accuracy))
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.notices.isEmpty)
    #expect(bench.state == .armed)
  }

  @Test("DEF-3: a distance filter fails with 14", arguments: [0.0, 10, 1e9])
  func filter(_ filter: Double) {
    let bench = EngineBench()
    bench.client.request(.setDistanceFilter(filter))
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "finish(14)")
  }

  @Test("DEF-4: without updates a call fails with 12")
  func notStarted() {
    let bench = EngineBench(connects: false)
    bench.client.connect()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "finish(12)")
    bench.client.start()
    bench.client.stop()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "finish(12) finish(12)")
  }

  @Test("DEF-5: a denied client's call fails with 1")
  func denied() {
    let bench = EngineBench()
    bench.client.request(.setAuthorization(.denied))
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "finish(1)")
  }

  @Test("DEF-6: of several reasons, the first of denied, 11, 12, 13, 14 is reported")
  func order() {
    let bench = EngineBench()
    let client = bench.client
    client.request(.setDistanceFilter(5))
    client.request(.setDesiredAccuracy(10))
    client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    client.stop()
    client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.perform(.lineFault)
    client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    client.request(.setAuthorization(.denied))
    client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(
      client.finishes == [
        .deferredAccuracyTooLow, .deferredNotUpdatingLocation, .deferredFailed, .denied,
      ])
  }

  @Test("DEF-7: deferral is available exactly with a receiver and a caching state")
  func available() {
    #expect(EngineBench().isDeferralAvailable)
    let bench = EngineBench { $0.parameters.idle = nil }
    #expect(!bench.isDeferralAvailable)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.text == "finish(11)")
  }

  @Test("DEF-8: each call has exactly one finish, on every path")
  func oneFinish() {
    let bench = EngineBench()
    let client = bench.client
    var calls = 0
    func call(_ distance: Double, _ timeout: Double) {
      client.defer(untilTraveled: distance, timeout: timeout)
      calls += 1
    }
    call(-1, 1)
    call(.unlimited, 5)
    bench.run(6)
    call(50, .unlimited)
    bench.fixes(count: 10, east: 10.1)
    call(.unlimited, .unlimited)
    call(.unlimited, .unlimited)
    client.request(.setDesiredAccuracy(10))
    call(.unlimited, .unlimited)
    client.request(.setDesiredAccuracy(-1))
    call(.unlimited, .unlimited)
    client.disallow()
    client.disallow()
    call(0, 0)
    bench.fixes(count: 2)
    call(.unlimited, .unlimited)
    bench.perform(.lineFault)
    bench.fixes(count: 2)
    call(.unlimited, .unlimited)
    client.stop()
    #expect(client.finishes.count == calls)
  }

  @Test("DEF-9: a finish has no error exactly if a criterion was met")
  func errors() {
    let bench = EngineBench()
    bench.client.defer(untilTraveled: .unlimited, timeout: 5)
    bench.run(5)
    bench.client.defer(untilTraveled: 20, timeout: .unlimited)
    bench.fixes(count: 5, east: 10.1)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.client.disallow()
    #expect(bench.client.finishes == [nil, nil, .deferredCanceled])
  }

  @Test("DEF-10: a finish is not delivered inside the call, and is in order with other events")
  func outsideTheCall() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 3)
    // The step of a call yields notices; the call itself returns nothing to its caller.
    let effects = bench.engine.step(.request(bench.client.id, .disallowDeferred), at: bench.now)
    #expect(effects.hasNotices && effects.needsProceed)
    #expect(bench.client.notices.isEmpty)
    var delivered: [String] = []
    while let notice = bench.engine.nextNotice() { delivered.append("\(notice.notice)") }
    #expect(delivered.map { $0.prefix(5) } == ["finis", "batch"])
  }

  @Test("DEF-12: after the end, fixes are delivered one by one until the next call")
  func afterTheEnd() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: 3)
    bench.fixes(count: 6)
    #expect(
      bench.client.text == "finish batch(0...1) batch(2...2) batch(3...3) batch(4...4) batch(5...5)"
    )
  }

  @Test("DEF-13: a second call ends the first with 15 and its batch, then starts")
  func secondCall() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: 100)
    bench.fixes(count: 3)
    bench.client.defer(untilTraveled: .unlimited, timeout: 100)
    #expect(bench.client.text == "finish(15) batch(0...2)")
    #expect(bench.state == .engaged)
    bench.fixes(count: 99)
    #expect(bench.client.notices.count == 2)
    bench.run(1)
    #expect(bench.client.text == "finish(15) batch(0...2) finish batch(3...101)")
  }

  @Test("DEF-13: distance travelled before the second call counts only for the first")
  func secondDistance() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.client.defer(untilTraveled: 100, timeout: .unlimited)
    bench.fixes(count: 9, east: 10.1)
    bench.client.defer(untilTraveled: 100, timeout: .unlimited)
    bench.fixes(count: 9, east: 10.1)
    #expect(bench.client.finishes == [.deferredCanceled])
    bench.fixes(count: 1, east: 10.1)
    #expect(bench.client.finishes == [.deferredCanceled, nil])
  }

  @Test("DEF-14: a failing second call and an equal second call also cancel the first")
  func cancelled() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: 10, timeout: 10)
    bench.fixes(count: 2)
    bench.client.defer(untilTraveled: -1, timeout: 10)
    #expect(bench.client.text == "finish(15) batch(0...1) finish(11)")
    #expect(bench.state == .idle)
    bench.client.defer(untilTraveled: 10, timeout: 10)
    bench.client.defer(untilTraveled: 10, timeout: 10)
    #expect(bench.client.text == "finish(15) batch(0...1) finish(11) finish(15)")
    #expect(bench.state != .idle)
  }

  @Test(
    "DEF-15: disallow ends with 15 and a flush, updates continue; without a call it has no effect")
  func disallow() {
    let bench = EngineBench()
    bench.background()
    bench.client.disallow()
    #expect(bench.client.notices.isEmpty)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 3)
    bench.client.disallow()
    bench.client.disallow()
    bench.fixes(count: 1)
    #expect(bench.client.text == "finish(15) batch(0...2) batch(3...3)")
  }

  @Test(
    "DEF-22: unlimited criteria never end a deferral", arguments: [Double.infinity, .unlimited])
  func unlimited(_ value: Double) {
    let bench = EngineBench(limit: 100) { $0.locationUnknownTimeout = .seconds(100_000) }
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: value, timeout: value)
    bench.fixes(count: 50, every: .seconds(86_400), east: 10_000)
    #expect(bench.client.notices.isEmpty)
    #expect(bench.state == .engaged)
  }

  @Test(
    "DEF-23: a negative criterion or NaN fails with 11 exactly once",
    arguments: [(-1.0, 1.0), (1, -1), (.nan, 1), (1, .nan), (-.infinity, 1), (1, -.infinity)])
  func invalid(_ distance: Double, _ timeout: Double) {
    let bench = EngineBench()
    bench.client.defer(untilTraveled: distance, timeout: timeout)
    bench.fixes(count: 3)
    #expect(bench.client.finishes == [.deferredFailed])
  }

  @Test("DEF-23: timeout 0 is met immediately, distance 0 by the next valid fix")
  func zero() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: 0)
    #expect(bench.client.text == "finish")
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 0, timeout: .unlimited)
    bench.run(0.5)
    #expect(bench.client.notices.isEmpty)
    bench.noFix()
    #expect(bench.client.notices.isEmpty)
    bench.fixes(count: 1)
    #expect(bench.client.text == "finish batch(1...1)")
  }

  @Test("DEF-37: stop gives 15, then the batch, then nothing")
  func stop() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 3)
    bench.client.stop()
    bench.fixes(count: 3)
    #expect(bench.client.text == "finish(15) batch(0...2)")
  }

  @Test("DEF-39: an incompatible setting ends the deferral with 13 or 14 and its batch")
  func incompatible() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 3)
    bench.client.request(.setDesiredAccuracy(100))
    #expect(bench.client.text == "finish(13) batch(0...2)")
    bench.client.request(.setDesiredAccuracy(-1))
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 2)
    bench.client.request(.setDesiredAccuracy(-2))
    #expect(bench.client.notices.isEmpty)
    bench.client.request(.setDistanceFilter(0))
    #expect(bench.client.text.hasPrefix("finish(14) batch"))
    #expect(bench.client.sequences == [3, 4])
  }

  @Test("DEF-39: a new filter applies to each cached fix")
  func filteredEnd() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 5, east: 6)
    bench.client.request(.setDistanceFilter(10))
    #expect(bench.client.finishes == [.deferredDistanceFiltered])
    #expect(bench.client.sequences == [0, 2, 4])
  }
}
