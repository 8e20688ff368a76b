import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

@Suite("A suspended client")
struct SuspendedTests {
  /// A client in the background whose first fixes have come, and which is suspended then.
  private func suspended(limit: Int, watermark: UInt16) -> BoardBench {
    let bench = BoardBench(limit: limit, watermark: watermark)
    bench.run(10)
    bench.client.suspend()
    bench.run(5)
    bench.forget()
    return bench
  }

  @Test(
    "BKG-5, PWR-2: its queue fills while the board sleeps, without a wake for each fix; then all rests"
  )
  func queue() {
    let bench = suspended(limit: 500, watermark: 100)
    #expect(bench.receiver == .batching)
    let before = bench.appended.count
    bench.run(480)
    #expect(bench.client.story.isEmpty)
    #expect(bench.hostWakes <= 5, "one for each 100 fixes")
    #expect(bench.busySeconds < 20)
    #expect(bench.appended.count - before >= 400)
    bench.run(200)
    #expect(bench.receiver == .standby, "N fixes wait")
    let recorded = bench.appended.count - before
    #expect(recorded >= 490 && recorded <= 600, "N, and what the receiver still held")
    bench.forget()
    bench.run(3_600)
    #expect(bench.hostWakes == 0 && bench.client.story.isEmpty)
    #expect(bench.appended.count == before + recorded)
    let resumed = bench.now
    bench.client.background()
    bench.run(20)
    guard case .gap(0)? = bench.client.story.dropFirst().first else {
      Issue.record("\(bench.client.text)")
      return
    }
    #expect(bench.client.batches.first.map { $0.count >= 500 } == true)
    #expect(bench.client.sequences.last == UInt64(bench.appended.count) - 1)
    let gap = bench.client.gaps[0]
    #expect(
      gap.mayBeMore && gap.range.lowerBound == bench.client.batches[0].last!.name.sequence + 1)
    #expect(
      gap.to?.acquired == resumed
        && gap.from.map { resumed - $0.acquired > .seconds(3_600) } == true)
    // What the receiver made until it rested lies behind the gap as well.
    let made = bench.client.batches[1].map(\.fix.acquired)
    let stopped = gap.from?.acquired ?? .boot
    #expect(made.allSatisfy { $0 >= stopped && ($0 < stopped + .seconds(5) || $0 >= resumed) })
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "BKG-5: a deferral of a suspended client lasts beyond N, its end is told when the client runs")
  func deferral() {
    let bench = BoardBench(limit: 100, watermark: 50)
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: 150)
    bench.client.suspend()
    bench.run(5)
    bench.forget()
    bench.run(140)
    #expect(bench.state == .engaged && bench.client.story.isEmpty)
    bench.run(10)
    #expect(bench.state == .idle)
    bench.run(30)
    // More than N wait, and nothing keeps the receiver up any more.
    #expect(bench.receiver == .standby && bench.client.story.isEmpty)
    bench.client.background()
    bench.run(1)
    #expect(bench.client.story.first == .finish(nil))
    #expect(bench.client.batches.first.map { $0.count >= 148 && $0.count <= 160 } == true)
    #expect(bench.client.gaps.map(\.count) == [0])
  }

  @Test("BKG-5: no distance is looked at for a suspended client, and no handler is waited for")
  func noLooks() {
    let bench = BoardBench(limit: 1_000, watermark: 200, speed: 10)
    bench.run(10)
    bench.client.defer(untilTraveled: 1_000, timeout: .unlimited)
    bench.client.suspend()
    bench.run(5)
    bench.forget()
    bench.run(390)
    #expect(bench.hostWakes <= 2)
    bench.client.background()
    bench.run(2)
    #expect(bench.client.finishes == [nil])
    let last = bench.client.batches.first?.last?.fix.coordinate
    let way = last.map { bench.appended[9].fix.coordinate.localDistance(to: $0) } ?? 0
    #expect(abs(way - 1_000) < 60, "the fix that met the criterion is the last of its batch")
  }

  @Test(
    "BKG-5, PWR-1: another client's fixes are owed to a suspended one beyond N, and no gap is told")
  func others() {
    let bench = BoardBench(limit: 50, watermark: 20, clients: 2)
    bench.run(10)
    bench.clients[0].suspend()
    bench.run(80)
    bench.clients[0].background()
    bench.run(5)
    #expect(bench.clients[0].gaps.isEmpty)
    #expect(bench.clients[0].sequences == Array(0..<UInt64(bench.appended.count)))
  }

  @Test("BKG-5: the gap ends where another client's fixes begin, which come behind it")
  func othersBegin() {
    let bench = BoardBench(limit: 50, watermark: 20, clients: 2)
    bench.clients[1].stop()
    bench.run(10)
    bench.clients[0].suspend()
    bench.run(300)
    #expect(bench.receiver == .standby)
    let begun = bench.now
    bench.clients[1].start()
    bench.run(30)
    bench.clients[0].background()
    bench.run(5)
    #expect(bench.clients[0].gaps.count == 1)
    let end = bench.clients[0].gaps.first?.to?.acquired ?? .boot
    #expect(end >= begun && end <= begun + .seconds(1))
    #expect(bench.clients[0].sequences == Array(0..<UInt64(bench.appended.count)))
  }

  @Test("DEF-43, BKG-5: a receiver that is lost while its only client is suspended is tried again")
  func lostMeanwhile() {
    let bench = BoardBench(limit: 500, watermark: 20) { board, _ in
      board.faults.deviceAbsent = [Instant(seconds: 60)..<Instant(seconds: 400)]
    }
    bench.run(10)
    bench.client.suspend()
    bench.run(290)
    let before = bench.appended.count
    bench.run(300)
    #expect(bench.appended.count > before + 80, "\(bench.appended.count - before)")
    #expect(bench.receiver == .batching, "it may gather again")
  }

  @Test("PWR-12, BKG-5: the board does not sleep over what a receiver sends that takes no commands")
  func streaming() {
    let bench = BoardBench(limit: 500, watermark: 20) { board, _ in
      board.faults.commandLoss = 1
      board.receiver.output = .nmea
    }
    bench.run(300)
    bench.client.suspend()
    bench.run(5)
    let before = bench.appended.count
    bench.run(300)
    #expect(bench.appended.count - before > 250, "\(bench.appended.count - before)")
  }

  @Test("STD-3, BKG-5: a fix that waits for a suspended client is its first one")
  func firstFix() {
    let bench = BoardBench(limit: 500, watermark: 20)
    bench.client.stop()
    bench.client.ask(.setDesiredAccuracy(100))
    bench.client.start()
    bench.client.suspend()
    bench.run(600)
    #expect(!bench.appended.isEmpty && bench.appended.count < 100, "\(bench.appended.count)")
    bench.client.background()
    bench.run(5)
    #expect(bench.client.sequences.first == bench.appended.first?.name.sequence)
  }
}

@Suite("A receiver that was not listened to")
struct UnheardTests {
  @Test(
    "DEF-43: a receiver is not lost because the board slept or the program was stopped; its silence counts from then",
    arguments: [false, true])
  func stopped(hasBytes: Bool) {
    let bench = EngineBench()
    bench.fixes(count: 5)
    if hasBytes {
      bench.sendAt(bench.now + .seconds(200), Array(bench.bytes(hasFix: true).prefix(10)))
    } else {
      bench.stop(for: .seconds(200))
    }
    let isLost = bench.engine.isReceiverLost
    #expect(!isLost && bench.client.failures.isEmpty)
    bench.run(50)
    #expect(bench.client.failures.isEmpty)
    bench.run(100)
    #expect(bench.client.failures == [.locationUnknown])
  }

  @Test("DEF-43: a lost receiver that is switched off has not shown that it works")
  func switchedOff() {
    let bench = EngineBench {
      $0.receiver = ReceiverSetup(family: .passive, hasSupplySwitch: true)
      $0.parameters.canSwitchOff = true
    }
    bench.run(1)
    bench.fixes(count: 5)
    bench.perform(.lineFault)
    bench.client.stop()
    bench.run(10)
    let planned = bench.engine.plannedReceiver
    let isLost = bench.engine.isReceiverLost
    #expect(planned == .off && isLost)
    bench.client.start()
    bench.run(1)
    bench.fixes(count: 2)
    let isFound = !bench.engine.isReceiverLost
    #expect(isFound)
  }
}

@Suite("Services that wait for a fix or for permission")
struct WaitingServiceTests {
  @Test(
    "SLC-11, VIS-12: who starts while the receiver is gone is told at once",
    arguments: [false, true])
  func gone(isVisits: Bool) {
    let bench = EngineBench(clients: 2, connects: false)
    bench.clients[0].connect()
    bench.clients[0].start()
    bench.fixes(count: 1)
    bench.perform(.lineFault)
    bench.clients[1].connect()
    bench.clients[1].ask(isVisits ? .startVisits : .startSignificantChange)
    #expect(bench.clients[1].failures == [.locationUnknown])
    bench.clients[1].ask(isVisits ? .startVisits : .startSignificantChange)
    #expect(bench.clients[1].failures.count == 1)
  }

  @Test("AUT-11, PWR-7: permission is a reason to search again soon after searches in vain")
  func permission() {
    let bench = EngineBench(clients: 2, connects: false) { $0.parameters.canStandby = true }
    bench.clients[0].connect()
    bench.clients[0].ask(.startSignificantChange)
    bench.clients[1].ask(.setAuthorization(.notDetermined))
    bench.clients[1].connect()
    bench.clients[1].ask(.requestLocation)
    bench.run(3_600)
    #expect(bench.engine.schedule.state == .backedOff)
    let before = bench.engine.schedule.wake
    bench.clients[1].ask(.setAuthorization(.always))
    #expect(bench.engine.schedule.wake < before)
    #expect(bench.clients[1].failures.isEmpty)
  }
}
