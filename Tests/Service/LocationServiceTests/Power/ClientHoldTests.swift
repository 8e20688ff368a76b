import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("Holds of clients")
struct ClientHoldTests {
  private func time(_ seconds: Double) -> Instant { Instant(seconds: seconds) }

  @Test("PWR-13: a hold ends with its time or with `EndHold`, which returns the rest to the budget")
  func holds() {
    var holds = ClientHolds()
    #expect(holds.deadline == .distantFuture)
    #expect(holds.begin(.seconds(60), "a", at: time(100)) == 1)
    #expect(holds.begin(.seconds(60), "b", at: time(101)) == 2)
    #expect(holds.begin(.seconds(40), "c", at: time(102)) == nil, "30 s are left")
    #expect(holds.deadline == time(160))
    holds.end(1, at: time(110))
    holds.end(1, at: time(110))
    #expect(holds.all.map(\.id) == [2])
    #expect(holds.begin(.seconds(60), "c", at: time(110)) == 3, "80 s are left")
    holds.expire(at: time(161))
    #expect(holds.all == [ClientHolds.Hold(id: 3, reason: "c", end: time(170))])
    holds.endAll(at: time(162))
    #expect(holds.all.isEmpty)
  }

  @Test("PWR-13: a client has at most four holds")
  func capacity() {
    var holds = ClientHolds()
    for id in 1...4 as ClosedRange<Int64> {
      #expect(holds.begin(.seconds(1), "a", at: time(5)) == id)
    }
    #expect(holds.begin(.seconds(1), "a", at: time(5)) == nil)
  }

  @Test("PWR-13: a client that holds whenever it may has at most 5 minutes in any hour")
  func anyHour() {
    var holds = ClientHolds()
    var granted: [(at: Double, seconds: Double)] = []
    for second in stride(from: 0.0, to: 20_000, by: 1) {
      holds.expire(at: time(second))
      for length in [60.0, 10, 1]
      where holds.begin(Interval(seconds: length), "a", at: time(second)) != nil {
        granted.append((second, length))
      }
    }
    for begin in stride(from: 0.0, to: 16_000, by: 100) {
      let total = granted.filter { $0.at >= begin && $0.at < begin + 3_600 }.map(\.seconds)
      #expect(total.reduce(0, +) <= 300)
    }
    #expect(granted.map(\.seconds).reduce(0, +) > 900)
  }
}

@Suite("Holds on the socket")
struct HoldCallTests {
  private func begin(_ seconds: Int64 = 30, _ reason: String = "send fixes") -> WireCall {
    .beginHold(seconds: .seconds(seconds), reason: reason)
  }

  @Test("PWR-13: a hold keeps the board awake until it is ended, at most for its time")
  func keepsAwake() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("uplink")
    defer { watch.quit() }
    #expect(!bench.isHeld)
    #expect(bench.call(begin(), control) == .holding(1))
    #expect(bench.isHeld)
    #expect(bench.deadline == bench.stage.now + .seconds(30))
    #expect(bench.call(.endHold(1), control) == .done)
    #expect(!bench.isHeld)
    #expect(bench.call(.endHold(1), control) == .done)
  }

  @Test("PWR-13: a hold neither ends nor flushes a deferral")
  func keepsDeferral() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.clientWithFix("uplink")
    defer { watch.quit() }
    _ = bench.call(.setExecution(.background), control)
    _ = bench.call(.allowDeferred(timeout: 3_600), control)
    _ = watch.frames()
    #expect(bench.call(begin(), control) == .holding(1))
    #expect(bench.call(.endHold(1), control) == .done)
    #expect(watch.frames().isEmpty, "no finish, no fix")
  }

  @Test("PWR-13: a hold ends after its time, and with its connection")
  func ends() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("uplink")
    defer { watch.quit() }
    #expect(bench.call(begin(10), control) == .holding(1))
    bench.pass(9)
    #expect(bench.isHeld)
    bench.pass(2)
    #expect(!bench.isHeld)
    #expect(bench.call(begin(60), control) == .holding(2))
    control.quit()
    bench.settle { !bench.isHeld }
    #expect(!bench.isHeld)
  }

  @Test("PWR-13: a client that may not use location gets no hold, and loses it with the permission")
  func permission() throws {
    let bench = try ServiceBench(policy(.always))
    let (control, watch, _) = bench.client("theirs", of: 4_711)
    defer { watch.quit() }
    #expect(bench.call(begin(), control) == .holding(1))
    bench.adopt(policy(.denied))
    bench.settle()
    #expect(!bench.isHeld)
    #expect(bench.call(begin(), control) == .error(.notAuthorized))
  }

  @Test("PWR-13: the status names the client and its reason; others see neither")
  func status() throws {
    let bench = try ServiceBench(policy(.always), canIdle: true)
    let (control, watch, _) = bench.client("uplink", of: 4_711)
    defer { watch.quit() }
    _ = bench.call(begin(), control)
    let name = WireClientName(user: 4_711, name: "uplink")
    let own = try LocationServiceTests.status(bench, control).holds.first { $0.reason == .client }
    #expect(own == WireHold(.client, client: name, detail: "send fixes"))
    let other = try LocationServiceTests.status(bench, bench.program(of: 1_000)).holds
    #expect(other.first { $0.reason == .client } == WireHold(.client))
  }

  @Test("PWR-13: more time than the budget is refused with the limit")
  func limit() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("uplink")
    defer { watch.quit() }
    for _ in 0..<2 { _ = bench.call(begin(60), control) }
    #expect(
      bench.call(begin(60), control)
        == .error(.limitExceeded(what: "seconds of holds", limit: 150)))
    #expect(bench.call(begin(30), control) == .holding(3))
  }

  @Test("PWR-13: a fifth active hold is refused with the limit")
  func fifth() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("uplink")
    defer { watch.quit() }
    for id in 1...4 as ClosedRange<Int64> { #expect(bench.call(begin(1), control) == .holding(id)) }
    #expect(
      bench.call(begin(1), control) == .error(.limitExceeded(what: "active holds", limit: 4)))
    _ = bench.call(.endHold(2), control)
    #expect(bench.call(begin(1), control) == .holding(5))
  }

  @Test("RNG-2: `Connect` returns the ring's id to clients that may use location")
  func ringID() throws {
    let bench = try ServiceBench(policy(.always))
    let program = bench.program(of: 4_711)
    guard case .connected(let session)? = bench.call(.connect(name: "a"), program) else {
      Issue.record("no session")
      return
    }
    #expect(session.ringID == RingIdentifier(bench.loop.engine.ringID))
    #expect(session.ringID?.number == ServiceBench.ringID)
    bench.adopt(policy(.denied))
    let other = bench.program(of: 4_711)
    guard case .connected(let denied)? = bench.call(.connect(name: "b"), other) else {
      Issue.record("no session")
      return
    }
    #expect(denied.ringID == nil)
  }
}
