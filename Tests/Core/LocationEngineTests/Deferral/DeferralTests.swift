import GNSSProtocols
import LocationPolicy
import LocationTypes
import TestSupport
import Testing

@testable import LocationEngine

@Suite("Outstanding deferrals")
struct DeferralTests {
  // MARK: Criteria

  @Test("DEF-16: distance and timeout met at the same time give one finish")
  func bothAtTheSameTime() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 50, timeout: 5)
    bench.fixes(count: 5, east: 10.1)
    bench.fixes(count: 5, east: 10.1)
    #expect(bench.client.finishes == [nil])
  }

  @Test(
    "DEF-16: the first criterion that is met ends the deferral",
    arguments: [(30.0, 100.0, 3), (1_000, 4, 4)])
  func firstOfTwo(_ distance: Double, _ timeout: Double, _ end: Int64) {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    let start = bench.now
    bench.client.defer(untilTraveled: distance, timeout: timeout)
    bench.fixes(count: 10, east: 10.1)
    #expect(bench.client.time(of: .finish(nil)) == start + .seconds(end))
  }

  @Test(
    "DEF-17: the timeout counts boot time, independent of steps of UTC",
    arguments: [Interval.seconds(3_600), .seconds(-3_600), .seconds(18), .seconds(-619_315_200)])
  func utcJumps(_ jump: Interval) {
    let bench = EngineBench.deferring(.unlimited, 10)
    let start = bench.now
    bench.fixes(count: 4)
    bench.utcError = jump
    bench.fixes(count: 5)
    #expect(bench.client.notices.isEmpty)
    bench.utcError = .zero
    bench.fixes(count: 3)
    #expect(bench.client.time(of: .finish(nil)) == start + .seconds(10))
  }

  @Test(
    "DEF-18: a timeout is never early, and late at most by the wake latency",
    arguments: [5.0, 0.5, 7.25, 3.001, 86_400])
  func punctual(_ timeout: Double) {
    for isForeground in [false, true] {
      let bench = EngineBench { $0.locationUnknownTimeout = .seconds(100_000) }
      if !isForeground { bench.background() }
      let start = bench.now
      bench.client.defer(untilTraveled: .unlimited, timeout: timeout)
      bench.run(timeout + 1)
      let late = (bench.client.time(of: .finish(nil)) ?? .distantFuture) - start
      #expect(late >= Interval(seconds: timeout))
      #expect(late <= Interval(seconds: timeout) + .milliseconds(3))
    }
  }

  @Test("DEF-18: the alarm is set early by the time to wake")
  func alarm() {
    let bench = EngineBench.deferring(.unlimited, 100) { $0.locationUnknownTimeout = .seconds(200) }
    // 2 ms to resume and 1 ms resolution of the alarm.
    #expect(bench.plan.wake == bench.now + .seconds(100) - .milliseconds(3))
    #expect(bench.plan.board == .idle)
    bench.run(until: bench.plan.wake)
    #expect(bench.plan.board == .idle)
    #expect(bench.plan.wake == bench.now + .milliseconds(3))
  }

  @Test("DEF-19: distance counts from the last fix if it is at most 10 s old")
  func freshStart() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.run(9)
    bench.client.defer(untilTraveled: 50, timeout: .unlimited)
    bench.fixes(count: 1, east: 50.5)
    #expect(bench.client.finishes == [nil])
  }

  @Test("DEF-19: otherwise distance counts from the first fix after the call")
  func staleStart() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.run(10.1)
    bench.client.defer(untilTraveled: 50, timeout: .unlimited)
    bench.fixes(count: 1, east: 50.5)
    #expect(bench.client.finishes.isEmpty)
    bench.fixes(count: 1, east: 50.5)
    #expect(bench.client.finishes == [nil])
  }

  @Test("DEF-20: an hour of stationary noise adds no distance")
  func stationary() {
    let bench = EngineBench.deferring(50, .unlimited, limit: 4_000)
    var random = SplitMix64(seed: 1)
    let home = bench.position
    for _ in 0..<3_600 {
      bench.position = home.moved(east: random.normal() * 2, north: random.normal() * 2)
      bench.fixes(count: 1)
    }
    #expect(bench.client.notices.isEmpty)
  }

  @Test("DEF-20: on a loop, every lap counts")
  func loop() {
    let bench = EngineBench(limit: 4_000)
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 1_000, timeout: .unlimited)
    var seconds = 0
    // 100 m out and back at 10.1 m/s.
    while bench.client.finishes.isEmpty && seconds < 200 {
      bench.fixes(count: 1, east: seconds / 10 % 2 == 0 ? 10.1 : -10.1)
      seconds += 1
    }
    #expect(abs(seconds - 100) <= 2)
  }

  @Test(
    "DEF-21: if the host receives each fix, the first one beyond the distance ends the deferral")
  func overshoot() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 300, timeout: .unlimited)
    bench.fixes(count: 40, east: 10.1)
    #expect(bench.client.batches.first?.count == 30)
  }

  @Test("DEF-24: an invalid fix counts neither for the distance nor in a batch")
  func invalid() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 100, timeout: .unlimited)
    bench.position = bench.position.moved(east: 500, north: 0)
    bench.run(1)
    bench.noFix()
    bench.position = bench.position.moved(east: -490, north: 0)
    bench.fixes(count: 1, east: 0)
    #expect(bench.client.notices.isEmpty)
    #expect(bench.cached == 1)
  }

  @Test("DEF-35: the fix that met the criterion is the last of the final batch")
  func last() {
    let bench = EngineBench()
    bench.background()
    bench.fixes(count: 1)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 50, timeout: .unlimited)
    bench.fixes(count: 8, east: 10.1)
    #expect(bench.client.text == "finish batch(1...5) batch(6...6) batch(7...7) batch(8...8)")
  }

  @Test("DEF-42: without fixes a deferral continues, and the timeout ends it")
  func tunnel() {
    let bench = EngineBench.deferring(.unlimited, 300)
    let start = bench.now
    bench.fixes(count: 5)
    for _ in 0..<290 {
      bench.run(1)
      bench.noFix()
    }
    #expect(bench.client.notices.isEmpty)
    bench.run(10)
    #expect(bench.client.text == "finish batch(0...4) fail(0)")
    #expect(bench.client.times[0] == start + .seconds(300))
  }

  // MARK: Foreground, background, sleep

  @Test("DEF-25: in the foreground delivery is normal and criteria are monitored")
  func foreground() {
    let bench = EngineBench()
    bench.client.defer(untilTraveled: .unlimited, timeout: 3)
    bench.fixes(count: 4)
    #expect(bench.client.text == "batch(0...0) batch(1...1) finish batch(2...2) batch(3...3)")
    #expect(bench.state == .idle)
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: 30, timeout: .unlimited)
    bench.fixes(count: 3, east: 10.1)
    #expect(bench.client.text == "batch(4...4) batch(5...5) finish batch(6...6)")
  }

  @Test("DEF-26: time and distance of the foreground carry over to the background")
  func carriesOver() {
    let bench = EngineBench()
    bench.fixes(count: 1)
    let start = bench.now
    bench.client.defer(untilTraveled: 100, timeout: .unlimited)
    bench.fixes(count: 5, east: 10.1)
    bench.background()
    #expect(bench.state == .engaged)
    bench.client.clearRecords()
    bench.fixes(count: 5, east: 10.1)
    #expect(bench.client.text == "finish batch(6...10)")
    bench.foreground()
    bench.client.clearRecords()
    bench.client.defer(untilTraveled: .unlimited, timeout: 10)
    bench.run(6)
    bench.background()
    bench.run(4)
    #expect(bench.client.time(of: .finish(nil)) == start + .seconds(20))
  }

  @Test("DEF-27: a change to the foreground flushes immediately; armed again, no finish")
  func toForeground() {
    let bench = EngineBench.deferring()
    bench.fixes(count: 3)
    bench.foreground()
    #expect(bench.client.text == "batch(0...2)")
    #expect(bench.state == .armed)
    bench.fixes(count: 1)
    bench.background()
    #expect(bench.state == .engaged)
    bench.fixes(count: 2)
    #expect(bench.client.text == "batch(0...2) batch(3...3)")
    bench.client.disallow()
    #expect(bench.client.text == "batch(0...2) batch(3...3) finish(15) batch(4...5)")
  }

  @Test("DEF-28: a deferral engages only in the background and while the board may sleep")
  func engages() {
    let bench = EngineBench()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    #expect(bench.state == .armed)
    bench.inhibit(true)
    bench.background()
    #expect(bench.state == .armed)
    bench.fixes(count: 1)
    #expect(bench.client.text == "batch(0...0)")
    #expect(bench.plan.board == .idle && bench.plan.wakesOnInput)
    bench.inhibit(false)
    #expect(bench.state == .engaged)
    bench.fixes(count: 2)
    #expect(bench.client.text == "batch(0...0)")
    bench.inhibit(true)
    #expect(bench.client.text == "batch(0...0) batch(1...2)")
    #expect(bench.state == .armed)
  }

  @Test("DEF-29: a client that needs fixes now keeps another from engaging")
  func otherClient() {
    let bench = EngineBench.deferring(clients: 2)
    let (deferred, live) = (bench.clients[0], bench.clients[1])
    #expect(bench.state == .armed)
    bench.fixes(count: 2)
    #expect(deferred.text == "batch(0...0) batch(1...1)")
    live.stop()
    #expect(bench.state == .engaged)
    bench.fixes(count: 2)
    live.start()
    #expect(bench.state == .armed)
    #expect(deferred.text == "batch(0...0) batch(1...1) batch(2...3)")
    bench.fixes(count: 1)
    #expect(deferred.sequences == [0, 1, 2, 3, 4])
    #expect(live.sequences == [0, 1, 4])
  }

  @Test("two deferrals with their own criteria cache independently")
  func twoDeferred() {
    let bench = EngineBench(clients: 2)
    let (first, second) = (bench.clients[0], bench.clients[1])
    for client in bench.clients { client.background() }
    first.defer(untilTraveled: .unlimited, timeout: 5)
    bench.fixes(count: 2)
    #expect(first.sequences == [0, 1] && second.sequences == [0, 1])
    second.defer(untilTraveled: .unlimited, timeout: 10)
    #expect(bench.state(of: first) == .engaged && bench.state(of: second) == .engaged)
    bench.fixes(count: 3)
    #expect(first.text.hasSuffix("finish batch(2...3) batch(4...4)"))
    // A client whose deferral has ended first runs its handler; then it is live again.
    bench.run(5)
    bench.fixes(count: 2)
    #expect(first.sequences == [0, 1, 2, 3, 4, 5, 6])
    #expect(second.sequences == [0, 1, 2, 3, 4, 5, 6])
    #expect(second.finishes == [nil])
    first.stop()
    bench.fixes(count: 1)
    #expect(second.sequences.last == 7 && first.sequences.last == 6)
  }

  @Test(
    "DEF-30, BKG-5: changes of foreground, background, suspension and sleep keep every fix once, in order",
    arguments: 1...20)
  func switching(_ seed: UInt64) {
    let bench = EngineBench.deferring(limit: 20, clients: 3)
    var random = SplitMix64(seed: seed)
    for client in bench.clients.dropFirst() { client.background() }
    for _ in 0..<300 {
      switch random.below(9) {
      case 8: bench.clients[random.below(3)].suspend()
      case 0: bench.clients[random.below(3)].foreground()
      case 1, 2: bench.clients[random.below(3)].background()
      case 3: bench.inhibit(random.below(2) == 0)
      case 4: bench.clients[random.below(3)].defer(untilTraveled: .unlimited, timeout: 30)
      default: bench.fixes(count: 1)
      }
    }
    for client in bench.clients { client.disallow() }
    bench.inhibit(false)
    for client in bench.clients { client.foreground() }
    for client in bench.clients {
      #expect(client.sequences == Array(0..<bench.head))
      #expect(client.gaps.isEmpty)
    }
  }
}
