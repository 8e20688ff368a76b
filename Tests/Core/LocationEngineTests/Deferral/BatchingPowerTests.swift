import LocationPolicy
import LocationTypes
import SimulatedHAL
import Testing

@testable import LocationEngine

@Suite("Power and faults of a batching receiver")
struct BatchingPowerTests {
  @Test(
    "DEF-42: a deferral continues in a tunnel until its timeout, without keeping the host awake")
  func tunnel() {
    let bench = BoardBench { board, _ in
      board.faults.signalOutages = [Instant(seconds: 60)..<Instant(seconds: 400)]
    }
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: 300)
    bench.runUntilBatching()
    bench.run(250)
    #expect(bench.client.notices.isEmpty)
    bench.run(60)
    #expect(bench.client.notices.first == .finish(nil))
    #expect(bench.client.finishes.count == 1)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "DEF-43: a lost receiver gives finish(11), batch, didFail(0); when it is back, updates resume")
  func lostAndBack() {
    let bench = BoardBench(watermark: 50) { board, _ in
      board.faults.deviceAbsent = [Instant(seconds: 100)..<Instant(seconds: 160)]
    }
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.runUntilBatching()
    bench.run(110)
    let text = bench.client.text
    #expect(bench.client.notices.first == .finish(.deferredFailed), "\(text)")
    #expect(bench.client.failures == [.locationUnknown], "\(text)")
    guard bench.client.notices.count == 3, case .batch = bench.client.notices[1] else {
      Issue.record("\(text)")
      return
    }
    bench.clearRecords()
    bench.run(200)
    #expect(bench.client.fixes.count > 60)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(10)
    #expect(bench.state == .engaged)
  }

  @Test("PWR-1: without demand the receiver sleeps within a second, and wakes at the next demand")
  func standby() {
    let bench = BoardBench()
    bench.run(10)
    #expect(bench.receiver == .tracking)
    bench.client.stop()
    #expect(!bench.isReceiverAwake)
    bench.run(3)
    #expect(bench.receiver == .standby)
    bench.clearRecords()
    bench.run(3_600)
    #expect(bench.hostWakes == 0)
    bench.client.start()
    bench.run(10)
    #expect(bench.receiver == .tracking && !bench.client.fixes.isEmpty)
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "PWR-1: the lowest-power state: tracking for a live client, batching for only deferred clients")
  func lowestPowerState() {
    let bench = BoardBench.deferring(clients: 2)
    #expect(bench.receiver == .batching)
    bench.clients[1].disallow()
    bench.run(5)
    #expect(bench.receiver == .tracking)
    bench.clients[1].request(.disconnect)
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

  @Test("PWR-6: a lost configuration is written again before the receiver's fixes count")
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
    // The configuration is written again after each standby and each loss.
    #expect(bench.counters.configurationsLost >= 1)
    #expect(bench.appended.allSatisfy { $0.fix.horizontalAccuracy_mm != nil })
    #expect(bench.client.finishes == [nil])
    let utc = bench.seconds
    #expect(utc == utc.sorted() && Set(utc).count == utc.count)
    #expect(bench.violations.isEmpty)
  }

  @Test("RNG-8: after a delivery, suspend waits for the acknowledgement, not longer")
  func hold() {
    for isAcknowledged in [true, false] {
      let bench = BoardBench.deferring(limit: 30)
      bench.client.acknowledges = isAcknowledged
      bench.clearRecords()
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

  @Test("STD-7: fixes in unread input have their own times")
  func buffered() {
    let bench = BoardBench(hasDeepSleep: false) { board, _ in
      board.faults.signalOutages = [Instant(seconds: 30)..<Instant(seconds: 97)]
    }
    bench.run(150)
    // The delay of the first fixes is unknown.
    for fix in bench.appended.dropFirst(3) {
      let utc = fix.fix.utc ?? Scenario.start
      let truth = Instant.boot + (utc - Scenario.start)
      #expect((fix.fix.acquired - truth).seconds < 0.5)
    }
    bench.expectOrdered()
  }

  @Test("PWR-4: a stuck supply switch is reported and retried; no pin is driven until it works")
  func stuckSwitch() {
    let bench = BoardBench { board, setup in
      board.receiver.hasSupplySwitch = true
      setup.receiver?.hasSupplySwitch = true
      board.faults.supplySwitchStuck = [Instant(seconds: 0)..<Instant(seconds: 20)]
    }
    bench.run(19)
    // The switch failed before the client started: it receives the error immediately.
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

  @Test("refused batching is requested again with back-off")
  func refusedForAWhile() {
    let bench = BoardBench { board, _ in
      board.faults.batchingRejected = [Instant(seconds: 0)..<Instant(seconds: 200)]
    }
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.run(170)
    // Requested at 10, 70 and 190 s; the next time at 430 s.
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

  @Test("after a loss, batching is requested immediately, regardless of earlier refusals")
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

  @Test("STD-7: in a first drain before any live fix, each entry has its own time")
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
    // Five of the first 50 entries were recorded before the first fix.
    let first = bench.appended.prefix(45)
    for (a, b) in zip(first, first.dropFirst()) {
      #expect(b.fix.acquired - a.fix.acquired == .seconds(1))
    }
    bench.expectOrdered()
  }

  @Test("with a receiver that refuses to batch, the deferral caches in the ring")
  func refused() {
    let bench = BoardBench(hasDeepSleep: false) { board, _ in board.receiver.batchCapacity = nil }
    bench.run(20)
    bench.client.defer(untilTraveled: .unlimited, timeout: 60)
    bench.clearRecords()
    bench.run(65)
    #expect(bench.client.finishes == [nil])
    #expect(bench.client.batches.first.map { $0.count >= 55 } == true)
    #expect(bench.receiver == .tracking)
  }
}
