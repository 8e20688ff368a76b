import LocationPolicy
import LocationTypes
import ReceiverDrivers
import Testing

@testable import LocationEngine

@Suite("Suspended clients")
struct SuspendedTests {
  /// A client in the background that is suspended after its first fixes.
  private func suspended(limit: Int, watermark: UInt16) -> BoardBench {
    let bench = BoardBench(limit: limit, watermark: watermark)
    bench.run(10)
    bench.client.suspend()
    bench.run(5)
    bench.clearRecords()
    return bench
  }

  @Test(
    "BKG-5, PWR-2: the queue fills while the board sleeps, without a wake per fix, then the receiver sleeps"
  )
  func queue() {
    let bench = suspended(limit: 500, watermark: 100)
    #expect(bench.receiver == .batching)
    let before = bench.appended.count
    bench.run(480)
    #expect(bench.client.notices.isEmpty)
    #expect(bench.hostWakes <= 5, "one per 100 fixes")
    #expect(bench.busySeconds < 20)
    #expect(bench.appended.count - before >= 400)
    bench.run(200)
    #expect(bench.receiver == .standby, "N fixes wait")
    let recorded = bench.appended.count - before
    #expect(recorded >= 490 && recorded <= 600, "N, and the fixes buffered in the receiver")
    bench.clearRecords()
    bench.run(3_600)
    #expect(bench.hostWakes == 0 && bench.client.notices.isEmpty)
    #expect(bench.appended.count == before + recorded)
    let resumed = bench.now
    bench.client.background()
    bench.run(20)
    guard case .gap(0)? = bench.client.notices.dropFirst().first else {
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
    // The fixes that the receiver measured until it slept are also after the gap.
    let times = bench.client.batches[1].map(\.fix.acquired)
    let stopped = gap.from?.acquired ?? .boot
    #expect(times.allSatisfy { $0 >= stopped && ($0 < stopped + .seconds(5) || $0 >= resumed) })
    #expect(bench.violations.isEmpty)
  }

  @Test(
    "BKG-5: a deferral of a suspended client continues beyond N; its finish waits for the client")
  func deferral() {
    let bench = BoardBench(limit: 100, watermark: 50)
    bench.run(10)
    bench.client.defer(untilTraveled: .unlimited, timeout: 150)
    bench.client.suspend()
    bench.run(5)
    bench.clearRecords()
    bench.run(140)
    #expect(bench.state == .engaged && bench.client.notices.isEmpty)
    bench.run(10)
    #expect(bench.state == .idle)
    bench.run(30)
    // More than N fixes are queued, and no client needs the receiver.
    #expect(bench.receiver == .standby && bench.client.notices.isEmpty)
    bench.client.background()
    bench.run(1)
    #expect(bench.client.notices.first == .finish(nil))
    #expect(bench.client.batches.first.map { $0.count >= 148 && $0.count <= 160 } == true)
    #expect(bench.client.gaps.map(\.count) == [0])
  }

  @Test("BKG-5: for a suspended client, distance is not checked and no handler is awaited")
  func noDistanceChecks() {
    let bench = BoardBench(limit: 1_000, watermark: 200, speed: 10)
    bench.run(10)
    bench.client.defer(untilTraveled: 1_000, timeout: .unlimited)
    bench.client.suspend()
    bench.run(5)
    bench.clearRecords()
    bench.run(390)
    #expect(bench.hostWakes <= 2)
    bench.client.background()
    bench.run(2)
    #expect(bench.client.finishes == [nil])
    let last = bench.client.batches.first?.last?.fix.coordinate
    let travelled = last.map { bench.appended[9].fix.coordinate.localDistance(to: $0) } ?? 0
    #expect(abs(travelled - 1_000) < 60, "the fix that met the criterion is the last of its batch")
  }

  @Test(
    "BKG-5, PWR-1: another client's fixes are queued for a suspended one beyond N, without a gap")
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

  @Test("BKG-5: the gap ends where another client's fixes begin; they follow it")
  func othersBegin() {
    let bench = BoardBench(limit: 50, watermark: 20, clients: 2)
    bench.clients[1].stop()
    bench.run(10)
    bench.clients[0].suspend()
    bench.run(300)
    #expect(bench.receiver == .standby)
    let restarted = bench.now
    bench.clients[1].start()
    bench.run(30)
    bench.clients[0].background()
    bench.run(5)
    #expect(bench.clients[0].gaps.count == 1)
    let end = bench.clients[0].gaps.first?.to?.acquired ?? .boot
    #expect(end >= restarted && end <= restarted + .seconds(1))
    #expect(bench.clients[0].sequences == Array(0..<UInt64(bench.appended.count)))
  }

  @Test("DEF-43, BKG-5: a receiver lost while its only client is suspended is retried")
  func lostReceiver() {
    let bench = BoardBench(limit: 500, watermark: 20) { board, _ in
      board.faults.deviceAbsent = [Instant(seconds: 60)..<Instant(seconds: 400)]
    }
    bench.run(10)
    bench.client.suspend()
    bench.run(290)
    let before = bench.appended.count
    bench.run(300)
    #expect(bench.appended.count > before + 80, "\(bench.appended.count - before)")
    #expect(bench.receiver == .batching, "it batches again")
  }

  @Test("PWR-12, BKG-5: the board does not sleep while a receiver without commands streams")
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

  @Test("STD-3, BKG-5: the queued fix of a suspended client is its first fix")
  func firstFix() {
    let bench = BoardBench(limit: 500, watermark: 20)
    bench.client.stop()
    bench.client.request(.setDesiredAccuracy(100))
    bench.client.start()
    bench.client.suspend()
    bench.run(600)
    #expect(!bench.appended.isEmpty && bench.appended.count < 100, "\(bench.appended.count)")
    bench.client.background()
    bench.run(5)
    #expect(bench.client.sequences.first == bench.appended.first?.name.sequence)
  }
}

@Suite("Input that was not read")
struct DiscardedInputTests {
  @Test(
    "DEF-43: sleep of the board or a stop of the program does not count as silence of the receiver",
    arguments: [false, true])
  func stopped(hasBytes: Bool) {
    let bench = EngineBench()
    bench.fixes(count: 5)
    if hasBytes {
      bench.sendAt(bench.now + .seconds(200), Array(bench.bytes(hasFix: true).prefix(10)))
    } else {
      bench.stop(for: .seconds(200))
    }
    let isLost = bench.engine.receiver.isLost
    #expect(!isLost && bench.client.failures.isEmpty)
    bench.run(50)
    #expect(bench.client.failures.isEmpty)
    bench.run(100)
    #expect(bench.client.failures == [.locationUnknown])
  }

  @Test("DEF-43: a lost receiver that is switched off stays lost until it sends")
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
    let planned = bench.engine.receiverMode
    let isLost = bench.engine.receiver.isLost
    #expect(planned == .off && isLost)
    bench.client.start()
    bench.run(1)
    bench.fixes(count: 2)
    let isFound = !bench.engine.receiver.isLost
    #expect(isFound)
  }
}

@Suite("Services that wait for a fix or for permission")
struct WaitingServiceTests {
  @Test(
    "SLC-11, VIS-12: a service started while the receiver is lost receives error 0 immediately",
    arguments: [false, true])
  func lost(isVisits: Bool) {
    let bench = EngineBench(clients: 2, connects: false)
    bench.clients[0].connect()
    bench.clients[0].start()
    bench.fixes(count: 1)
    bench.perform(.lineFault)
    bench.clients[1].connect()
    bench.clients[1].request(isVisits ? .startVisits : .startSignificantChange)
    #expect(bench.clients[1].failures == [.locationUnknown])
    bench.clients[1].request(isVisits ? .startVisits : .startSignificantChange)
    #expect(bench.clients[1].failures.count == 1)
  }

  @Test("AUT-11, PWR-7: a new permission shortens the back-off after failed acquisitions")
  func permission() {
    let bench = EngineBench(clients: 2, connects: false) { $0.parameters.canStandby = true }
    bench.clients[0].connect()
    bench.clients[0].request(.startSignificantChange)
    bench.clients[1].request(.setAuthorization(.notDetermined))
    bench.clients[1].connect()
    bench.clients[1].request(.requestLocation)
    bench.run(3_600)
    #expect(bench.engine.receiver.schedule.state == .backedOff)
    let before = bench.engine.receiver.schedule.wake
    bench.clients[1].request(.setAuthorization(.always))
    #expect(bench.engine.receiver.schedule.wake < before)
    #expect(bench.clients[1].failures.isEmpty)
  }
}
