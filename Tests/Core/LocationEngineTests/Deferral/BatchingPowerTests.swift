import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationEngine

@Suite("A receiver that batches, its power and its faults")
struct BatchingPowerTests {
  @Test("DEF-42: a tunnel ends nothing; the timeout does, and the host is not kept awake by it")
  func tunnel() {
    let bench = BoardBench { board, _ in
      board.faults.signalOutages = [Instant(seconds: 60)..<Instant(seconds: 400)]
    }
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: 300)
    bench.settle()
    bench.run(250)
    #expect(bench.client.story.isEmpty)
    bench.run(60)
    #expect(bench.client.story.first == .finish(nil))
    #expect(bench.client.finishes.count == 1)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "DEF-43: the receiver goes: finish(11), batch, didFail(0); it comes back: service goes on by itself"
  )
  func goneAndBack() {
    let bench = BoardBench(watermark: 50) { board, _ in
      board.faults.deviceAbsent = [Instant(seconds: 100)..<Instant(seconds: 160)]
    }
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.settle()
    bench.run(110)
    let text = bench.client.text
    #expect(bench.client.story.first == .finish(.deferredFailed), "\(text)")
    #expect(bench.client.failures == [.locationUnknown], "\(text)")
    guard bench.client.story.count == 3, case .batch = bench.client.story[1] else {
      Issue.record("\(text)")
      return
    }
    bench.forget()
    bench.run(200)
    #expect(bench.client.fixes.count > 60)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(10)
    #expect(bench.state == .engaged)
  }

  @Test("PWR-1: with no demand the receiver sleeps within a second, and wakes with the next")
  func standby() {
    let bench = BoardBench()
    bench.run(10)
    #expect(bench.receiver == .tracking)
    bench.client.stop()
    #expect(!bench.isReceiverAwake)
    bench.run(3)
    #expect(bench.receiver == .standby)
    bench.forget()
    bench.run(3_600)
    #expect(bench.hostWakes == 0)
    bench.client.start()
    bench.run(10)
    #expect(bench.receiver == .tracking && !bench.client.fixes.isEmpty)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "PWR-1: the least state for all: tracking for a live client, batching for deferred ones alone")
  func leastState() {
    let bench = BoardBench.deferring(clients: 2)
    #expect(bench.receiver == .batching)
    bench.clients[1].disallow()
    bench.run(5)
    #expect(bench.receiver == .tracking)
    bench.clients[1].ask(.disconnect)
    bench.run(5)
    #expect(bench.receiver == .batching)
    bench.inhibit(true)
    bench.run(5)
    #expect(bench.receiver == .tracking)
    bench.inhibit(false)
    bench.client.stop()
    bench.run(5)
    #expect(bench.receiver == .standby)
    bench.expectWhole()
  }

  @Test("PWR-6: a receiver that has lost its configuration gets it again before its fixes count")
  func configuration() {
    let bench = BoardBench { board, _ in
      board.faults.configurationLosses = [Instant(seconds: 50), Instant(seconds: 100)]
    }
    bench.run(45)
    bench.client.stop()
    bench.run(3)
    bench.client.start()
    bench.run(40)
    bench.client.defer(untilTraveled: .unlimited, timeout: 60)
    bench.run(120)
    // Each wake from standby and each loss writes it again.
    #expect(bench.counters.configurationsLost >= 1)
    #expect(bench.appended.allSatisfy { $0.fix.horizontalAccuracy_mm != nil })
    #expect(bench.client.finishes == [nil])
    let taken = bench.seconds
    #expect(taken == taken.sorted() && Set(taken).count == taken.count)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "RNG-8: after a delivery the board is not suspended before the acknowledgement, and no longer than that"
  )
  func hold() {
    for isAcknowledged in [true, false] {
      let bench = BoardBench.deferring(limit: 30)
      bench.client.acknowledges = isAcknowledged
      bench.forget()
      bench.run(320)
      let wakes = Double(bench.hostWakes)
      #expect(wakes >= 10)
      if isAcknowledged {
        #expect(bench.busySeconds / wakes < 1.6)
      } else {
        #expect(bench.busySeconds / wakes >= 0.5)
        #expect(bench.busySeconds / wakes < 2.1)
      }
    }
  }

  @Test("STD-7: what waits in the line's buffer while nobody listens bears its own moment")
  func gathered() {
    let bench = BoardBench(hasDeepSleep: false) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 30)..<Instant(seconds: 97)]
    }
    bench.run(150)
    // What comes first was late by nobody knows how much.
    for fix in bench.appended.dropFirst(3) {
      let utc = fix.fix.utc ?? Scenario.start
      let truth = Instant.boot + (utc - Scenario.start)
      #expect((fix.fix.acquired - truth).seconds < 0.5)
    }
    bench.expectOrdered()
  }

  @Test(
    "PWR-4: a supply switch that is stuck is told, and tried again; nothing is driven meanwhile")
  func stuckSwitch() {
    let bench = BoardBench { board, setup in
      board.receiver.hasSupplySwitch = true
      setup.receiver?.hasSupplySwitch = true
      board.faults.supplySwitchStuck = [Instant(seconds: 0)..<Instant(seconds: 20)]
    }
    bench.run(19)
    // It failed before anybody was there: who starts then is told at once.
    #expect(bench.client.text == "fail(0)" && bench.receiver == .backup)
    bench.client.defer(untilTraveled: .unlimited, timeout: 60)
    #expect(bench.client.text == "fail(0) finish(11)")
    bench.run(40)
    #expect(bench.receiver == .tracking && !bench.client.fixes.isEmpty)
    bench.client.defer(untilTraveled: .unlimited, timeout: 60)
    bench.run(10)
    #expect(bench.state == .engaged && bench.receiver == .batching)
    #expect(bench.violations.isEmpty)
  }

  @Test("one refusal does not end batching for good: it is asked for again, ever more seldom")
  func refusedForAWhile() {
    let bench = BoardBench { board, _ in
      board.faults.batchingRejected = [Instant(seconds: 0)..<Instant(seconds: 200)]
    }
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(170)
    // Asked at 10, 70 and 190 s; the next time at 430 s.
    #expect(bench.counters.refusals == 2 && bench.receiver == .tracking)
    bench.run(40)
    #expect(bench.counters.refusals == 3)
    bench.run(200)
    #expect(bench.receiver == .tracking)
    bench.run(20)
    #expect(bench.receiver == .batching && bench.counters.refusals == 3)
    bench.client.disallow()
    bench.run(3)
    bench.expectWhole()
  }

  @Test("a receiver that comes back from a loss is asked to batch at once, whatever was refused")
  func refusedBeforeALoss() {
    let bench = BoardBench { board, _ in
      board.faults.batchingRejected = [Instant(seconds: 0)..<Instant(seconds: 75)]
      board.faults.deviceAbsent = [Instant(seconds: 80)..<Instant(seconds: 81)]
    }
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(65)
    #expect(bench.counters.refusals == 2 && bench.receiver == .tracking)
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(5)
    #expect(bench.receiver == .batching && bench.counters.refusals == 2)
  }

  @Test("STD-7: a first drain before any live fix: each entry bears its own moment")
  func firstDrain() {
    let bench = BoardBench(watermark: 50)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(120)
    #expect(bench.appended.count >= 90)
    for fix in bench.appended {
      let utc = fix.fix.utc ?? Scenario.start
      let late = fix.fix.acquired - (Instant.boot + (utc - Scenario.start))
      #expect(late >= .zero && late < .milliseconds(1_500))
    }
    // Of the first 50 entries five were made before there was a fix.
    let first = bench.appended.prefix(45)
    for (a, b) in zip(first, first.dropFirst()) {
      #expect(b.fix.acquired - a.fix.acquired == .seconds(1))
    }
    bench.expectOrdered()
  }

  @Test("a receiver that refuses to batch is used without: the deferral goes on in the ring")
  func refused() {
    let bench = BoardBench(hasDeepSleep: false) { board, _ in board.receiver.batchCapacity = nil }
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: 60)
    bench.forget()
    bench.run(65)
    #expect(bench.client.finishes == [nil])
    #expect(bench.client.batches.first.map { $0.count >= 55 } == true)
    #expect(bench.receiver == .tracking)
  }
}
