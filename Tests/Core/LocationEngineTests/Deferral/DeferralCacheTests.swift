import LocationPolicy
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Cache and end of a deferral")
struct DeferralCacheTests {
  @Test("DEF-31: the cache has the given size and never grows")
  func fixedSize() {
    let bench = EngineBench(limit: 4, capacity: 9)
    bench.client.suspend()
    bench.fixes(count: 100)
    #expect(bench.engine.capacity == 9)
    bench.background()
    #expect(bench.client.text == "gap(91) batch(91...99)")
  }

  @Test("DEF-32: a full cache is flushed, and the deferral continues")
  func flushOnFull() {
    let bench = EngineBench(limit: 4)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.background()
    bench.fixes(count: 43, every: .seconds(1))
    #expect(bench.client.batches.map(\.count) == Array(repeating: 4, count: 10))
    #expect(bench.client.finishes.isEmpty && bench.cached == 3)
    #expect(bench.hostWakes >= 43)  // the receiver streams: one wake per fix
  }

  @Test("DEF-32: time and distance continue over a flush")
  func continues() {
    let bench = EngineBench(limit: 4)
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 100, timeout: .unlimited)
    bench.fixes(count: 10, east: 10.1)
    #expect(bench.client.text == "batch(1...4) batch(5...8) finish batch(9...10)")
  }

  @Test("DEF-34: with an empty cache, the end is the finish alone")
  func emptyEnd() {
    let bench = EngineBench.deferring(.unlimited, 5)
    bench.run(6)
    #expect(bench.client.text == "finish")
  }

  @Test(
    "DEF-43: a lost receiver ends deferrals with 11, batch, error 0; updates resume by themselves")
  func lost() {
    let bench = EngineBench.deferring(clients: 2)
    let live = bench.clients[1]
    live.stop()
    bench.fixes(count: 3)
    bench.perform(.lineFault)
    #expect(bench.client.text == "finish(11) batch(0...2) fail(0)")
    #expect(live.failures.isEmpty)
    bench.perform(.lineFault)
    #expect(bench.client.failures == [.locationUnknown])
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.client.finishes == [.deferredFailed, .deferredFailed])
    bench.fixes(count: 2)
    #expect(bench.client.sequences == [0, 1, 2, 3, 4])
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.state == .engaged)
    bench.perform(.lineFault)
    #expect(bench.client.failures == [.locationUnknown, .locationUnknown])
  }

  @Test("DEF-11: a client's death ends its deferral; its fixes are delivered after it reconnects")
  func crash() {
    let bench = EngineBench.deferring(.unlimited, 10)
    bench.client.acknowledges = false
    bench.fixes(count: 3)
    bench.client.request(.disconnect)
    bench.run(20)
    #expect(bench.client.notices.isEmpty)
    bench.client.connect(in: .background)
    bench.client.start()
    #expect(bench.client.text == "batch(0...2)")
    #expect(bench.client.finishes.isEmpty)
    #expect(bench.state == .idle)
  }

  @Test("X1: the handler of a finish may call again without another fix in between")
  func callsAgain() {
    let bench = EngineBench.deferring(.unlimited, 5)
    bench.client.onFinish = [.allowDeferred(distance: .infinity, timeout: 5)]
    bench.fixes(count: 20)
    #expect(
      bench.client.text
        == "finish batch(0...3) finish batch(4...8) finish batch(9...13) finish batch(14...18)")
  }
}
