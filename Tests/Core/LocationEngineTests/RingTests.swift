import DeferralCache
import LocationPolicy
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Ring, names and delivery")
struct RingTests {
  @Test("RNG-1: a deferral is full at N fixes, although the ring holds more")
  func limit() {
    let bench = EngineBench(limit: 3, capacity: 50)
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 7)
    #expect(bench.client.batches.map(\.count) == [3, 3] && bench.cached == 1)
  }

  @Test("RNG-1: an N of more than half the ring is refused")
  func limitTooLarge() async {
    await #expect(processExitsWith: .failure) { _ = EngineBench(limit: 3, capacity: 5) }
    await #expect(processExitsWith: .failure) { _ = EngineBench(limit: 0, capacity: 5) }
    _ = EngineBench(limit: 3, capacity: 6)
  }

  @Test("RNG-3: unacknowledged fixes are delivered again with their names; acknowledged ones never")
  func redelivery() {
    let bench = EngineBench()
    bench.fixes(count: 2)
    bench.client.acknowledges = false
    bench.fixes(count: 3)
    let names = bench.client.fixes.suffix(3).map(\.name)
    bench.client.clearRecords()
    bench.client.request(.disconnect)
    bench.client.connect()
    bench.client.start()
    #expect(bench.client.fixes.map(\.name) == names)
    bench.client.request(.acknowledge(names[2]))
    bench.client.clearRecords()
    bench.client.request(.disconnect)
    bench.client.connect()
    bench.client.start()
    #expect(bench.client.notices.isEmpty)
    bench.fixes(count: 1)
    #expect(bench.client.sequences == [5])
  }

  @Test("RNG-3: acknowledging an undelivered or unknown fix has no effect")
  func foreignAcknowledgement() {
    let bench = EngineBench()
    bench.client.acknowledges = false
    bench.fixes(count: 2)
    bench.client.request(.acknowledge(FixName(generation: 77, sequence: 1)))
    bench.client.request(.acknowledge(FixName(generation: 1, sequence: 9)))
    bench.client.request(.disconnect)
    bench.client.clearRecords()
    bench.client.connect()
    bench.client.start()
    #expect(bench.client.sequences == [0, 1])
  }

  @Test("RNG-4: fixes overwritten before a suspended client received them are reported as a gap")
  func gap() {
    let bench = EngineBench(limit: 4, capacity: 10, clients: 2)
    let start = bench.now
    bench.client.suspend()
    bench.fixes(count: 25)
    #expect(bench.clients[1].sequences == Array(0..<25))
    bench.background()
    #expect(bench.client.text == "gap(15) batch(15...24)")
    let gap = bench.client.gaps[0]
    #expect(gap.from?.acquired == start + .seconds(1) && gap.to?.acquired == start + .seconds(15))
    #expect(gap.from?.utc == EngineBench.base + (start - .boot) + .seconds(1))
  }

  @Test("RNG-4: an exactly full ring loses no fix")
  func exactlyFull() {
    let bench = EngineBench(limit: 4, capacity: 10)
    bench.client.suspend()
    bench.fixes(count: 10)
    bench.background()
    #expect(bench.client.text == "batch(0...9)")
  }

  @Test("RNG-5: the service reads a fix for its clients until it is overwritten")
  func reads() {
    let bench = EngineBench(limit: 2, capacity: 4)
    bench.fixes(count: 6)
    let stored = (0..<8).map { bench.engine.stored(at: UInt64($0)) != nil }
    #expect(stored == [false, false, true, true, true, true, false, false])
  }

  @Test("RNG-6: revocation moves the cursor to the head; no fix up to there is delivered")
  func revoked() {
    let bench = EngineBench()
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 5)
    bench.client.request(.setAuthorization(.denied))
    #expect(bench.client.text == "finish(1) fail(1)")
    bench.fixes(count: 3)
    bench.client.request(.setAuthorization(.always))
    bench.fixes(count: 1)
    #expect(bench.client.sequences == [5])
  }

  @Test(
    "RNG-6, DEF-40, DEF-41: fixes that no other client needs are zeroed", arguments: [false, true])
  func erased(_ reduces: Bool) {
    let bench = EngineBench(clients: 2)
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 4)
    bench.clients[1].connect()
    bench.clients[1].start()
    bench.fixes(count: 4)
    // The other client has acknowledged all fixes; the newest of them is its location (STD-8).
    #expect(bench.engine.withClient(ClientID(1)) { $0.cursor.acknowledged } == 8)
    bench.client.request(reduces ? .setReducedAccuracy(true) : .setAuthorization(.denied))
    for sequence in 0..<UInt64(8) {
      #expect((bench.engine.stored(at: sequence) != nil) == (sequence == 7))
    }
    #expect(bench.engine.location(of: ClientID(1))?.name.sequence == 7)
    // A later request of the client without permission erases nothing more.
    bench.client.request(.setActivity(.fitness))
    #expect(bench.engine.stored(at: 7) != nil)
    // Without the other client no fix is needed.
    bench.clients[1].request(.setAuthorization(.denied))
    #expect(bench.engine.stored(at: 7) == nil)
  }

  @Test("RNG-6, AUT-5: without a client of full accuracy, fixes are stored with reduced accuracy")
  func storedCoarse() throws {
    let bench = EngineBench(clients: 2)
    bench.clients[1].request(.setAuthorization(.denied))
    bench.client.request(.setReducedAccuracy(true))
    bench.client.request(.startSignificantChange)
    bench.fixes(count: 20)
    let begin = bench.appended.count - 20
    #expect(begin >= 0)
    for name in bench.appended.suffix(20) {
      guard let fix = bench.engine.stored(at: name.sequence)?.fix else { continue }
      #expect(fix.coordinate != bench.position && fix.horizontalAccuracy_mm == 5_000_000)
      #expect(fix.altitude_mm == nil && fix.speed_mmps == nil)
    }
    // With a client of full accuracy, new fixes are stored with full accuracy.
    bench.clients[1].request(.setAuthorization(.always))
    bench.clients[1].start()
    bench.fixes(count: 1)
    let precise = try #require(bench.appended.last)
    #expect(bench.engine.stored(at: precise.sequence)?.fix.coordinate == bench.position)
    // Denying the client of reduced accuracy erases the fixes that only it needed.
    bench.clients[1].request(.setAuthorization(.denied))
    bench.fixes(count: 3)
    let last = try #require(bench.appended.last)
    #expect(bench.engine.stored(at: last.sequence) != nil)
    bench.client.request(.setAuthorization(.denied))
    #expect(bench.engine.stored(at: last.sequence) == nil)
    #expect(bench.engine.stored(at: precise.sequence) == nil)
  }

  @Test("RNG-3, RNG-6: fixes undelivered to another client are not zeroed")
  func neededByOthers() {
    let bench = EngineBench(clients: 2)
    bench.background()
    bench.client.defer(untilTraveled: .unlimited, timeout: .unlimited)
    bench.fixes(count: 4)
    bench.clients[1].connect()
    bench.clients[1].start()
    bench.clients[1].request(.setExecution(.suspended))
    bench.fixes(count: 4)
    bench.client.request(.setAuthorization(.denied))
    bench.clients[1].request(.setExecution(.foreground))
    #expect(bench.clients[1].sequences == Array(0..<8))
  }

  @Test("RNG-2: after a restart of the service, names continue in a new generation")
  func restart() {
    let bench = EngineBench()
    bench.fixes(count: 3)
    bench.restart()
    bench.client.connect()
    bench.client.start()
    bench.fixes(count: 2)
    let names = bench.client.fixes.map(\.name)
    #expect(names.map(\.sequence) == [0, 1, 2, 3, 4])
    #expect(names.map(\.generation) == [1, 1, 1, 2, 2])
  }

  @Test("RNG-8: a delivery prevents suspend until its acknowledgement, at most for the hold time")
  func hold() {
    let bench = EngineBench()
    bench.client.acknowledges = false
    bench.background()
    bench.fixes(count: 1)
    #expect(bench.plan.board == .idle && bench.plan.wake == bench.now + .seconds(2))
    bench.client.request(.acknowledge(FixName(generation: 1, sequence: 0)))
    #expect(bench.plan.wake > bench.now + .seconds(2))
    bench.fixes(count: 1)
    #expect(bench.plan.wake == bench.now + .seconds(2))
    bench.run(2)
    #expect(bench.plan.wake > bench.now + .seconds(2))
  }

  @Test("RNG-8: a single fix prevents suspend until its acknowledgement, as a batch does")
  func holdReport() {
    let bench = EngineBench(connects: false)
    bench.client.acknowledges = false
    bench.client.connect(in: .background)
    bench.client.request(.startSignificantChange)
    bench.fixes(count: 1)
    #expect(bench.client.reports.count == 1)
    #expect(bench.plan.board == .idle && bench.plan.wake == bench.now + .seconds(2))
    bench.client.request(.acknowledge(FixName(generation: 1, sequence: 0)))
    #expect(bench.plan.wake > bench.now + .seconds(2))
  }

  @Test("RNG-8, DEF-18: a deadline is met while an acknowledgement is pending")
  func deadlineInHold() {
    let bench = EngineBench()
    bench.client.acknowledges = false
    bench.client.defer(untilTraveled: .unlimited, timeout: 2.5)
    let start = bench.now
    bench.fixes(count: 2)
    bench.run(3)
    #expect(bench.client.time(of: .finish(nil)) == start + .milliseconds(2_500))
  }

  @Test("DEF-18, DEF-28: a deadline is met while sleep is inhibited")
  func deadlineInhibited() {
    let bench = EngineBench()
    bench.background()
    bench.inhibit(true)
    let start = bench.now
    bench.client.defer(untilTraveled: .unlimited, timeout: 2.5)
    bench.run(10)
    #expect(bench.client.time(of: .finish(nil)) == start + .milliseconds(2_500))
  }

  @Test("RNG-2: closing the ring changes its header, which must be synced twice")
  func closing() {
    let bench = EngineBench()
    for _ in 0..<3 { bench.engine.markSynced(bench.engine.unsynced) }
    #expect(bench.engine.unsynced.isEmpty)
    bench.engine.closeRing()
    for _ in 0..<2 {
      let isEmpty = bench.engine.unsynced.isEmpty
      #expect(!isEmpty)
      bench.engine.markSynced(bench.engine.unsynced)
    }
    #expect(bench.engine.unsynced.isEmpty)
  }
}
