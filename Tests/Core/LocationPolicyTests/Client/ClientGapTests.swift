import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Gaps reported to a client")
struct ClientGapTests {
  @Test("DEF-31, RNG-4: a suspended client first gets the gap of its overwritten fixes")
  func suspended() {
    let bench = ClientBench.started(capacity: 8)
    bench.limit = 4
    bench.fixes(2)
    bench.send(.acknowledge(bench.name(1)), .setExecution(.suspended))
    #expect(bench.fixes(11) == [])
    #expect(
      bench.send(.setExecution(.background)) == [.gap(2..<5, count: 3), .batch(5...12)])
    #expect(bench.fixes() == [.batch(13...13)])
  }

  @Test("RNG-4: an engaged client that receives its batches loses no fix in any round")
  func engaged() {
    let bench = ClientBench.engaged(capacity: 8)
    bench.limit = 4
    for round in 0..<10 as Range<UInt64> {
      #expect(bench.fixes(3) == [])
      #expect(bench.fixes() == [.batch(round * 4...round * 4 + 3)])
      if round % 2 == 0 { bench.send(.acknowledge(bench.name(round * 4 + 3))) }
    }
  }

  @Test("RNG-4: overwritten unacknowledged fixes are a gap only for the next process")
  func unacknowledged() {
    let bench = ClientBench.started(capacity: 4)
    for n in 0..<10 as Range<UInt64> { #expect(bench.fixes() == [.batch(n...n)]) }
    bench.send(.disconnect)
    #expect(bench.send(.connect) == [.gap(0..<6, count: 6)])
    #expect(bench.send(.startUpdating) == [.batch(6...9)])
  }

  @Test("RNG-4: the gap of an exited client ends where its updates ended")
  func exitedClientGap() {
    var bench = ClientBench.started(capacity: 4)
    bench.send(.setExecution(.suspended))
    bench.fixes(3)
    bench.send(.disconnect)
    bench.fixes(3)
    #expect(bench.send(.connect, .startUpdating) == [.gap(0..<2, count: 2), .batch(2...2)])
    #expect(bench.fixes() == [.batch(6...6)])
    for more in [4, 5, 20] {
      bench = ClientBench.started(capacity: 4)
      bench.send(.setExecution(.suspended))
      bench.fixes(3)
      bench.send(.disconnect)
      bench.fixes(more)
      #expect(bench.send(.connect, .startUpdating) == [.gap(0..<3, count: 3)])
      #expect(bench.fixes() == [.batch(UInt64(more) + 3...UInt64(more) + 3)])
    }
  }

  @Test(
    "RNG-3: the next process gets a stopped client's unacknowledged fixes while the ring holds them"
  )
  func stoppedUnacknowledged() {
    var bench = ClientBench.started(capacity: 4)
    bench.fixes(6)
    bench.send(.acknowledge(bench.name(3)))
    #expect(bench.send(.stopUpdating) == [])
    bench.fixes(1)
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(4...5)])
    bench = ClientBench.started(capacity: 4)
    bench.fixes(6)
    bench.send(.acknowledge(bench.name(3)), .stopUpdating)
    bench.fixes(3)
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.gap(4..<5, count: 1), .batch(5...5)])
    bench = ClientBench.started(capacity: 4)
    bench.fixes(6)
    bench.send(.acknowledge(bench.name(3)), .stopUpdating)
    bench.fixes(30)
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.gap(4..<6, count: 2)])
  }

  @Test("RNG-4: a client without undelivered fixes gets no gap, however many fixes follow")
  func nothingUndelivered() {
    var bench = ClientBench.started(capacity: 4)
    bench.fixes(3)
    bench.send(.acknowledge(bench.name(2)), .stopUpdating)
    #expect(bench.fixes(20) == [])
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(23...23)])
    // The same when it stopped with unacknowledged fixes and kept running.
    bench.send(.stopUpdating)
    #expect(bench.fixes(20) == [])
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(44...44)])
    // The same for a client that never started a service.
    bench = ClientBench(capacity: 4)
    bench.send(.connect)
    bench.fixes(9)
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(9...9)])
  }

  @Test("RNG-3: a hole in an exited client's undelivered fixes does not block later ones")
  func exitedClientHole() {
    let bench = ClientBench.started(capacity: 16)
    bench.send(.setExecution(.suspended))
    bench.fixes(4)
    bench.send(.disconnect)
    bench.fixes(1)
    bench.ring.erase(1..<2)
    #expect(
      bench.send(.connect, .startUpdating) == [.batch(0...0), .gap(1..<2, count: 1), .batch(2...3)])
    #expect(bench.fixes() == [.batch(5...5)])
  }

  /// The notices of the next process after a restart at 10 s. The ring holds fixes until 3 s, and the receiver's buffer
  /// holds fixes of these times.
  private func restarted(buffer times: [Double]) -> [NoticeValue] {
    let bench = ClientBench.started()
    bench.limit = 8
    bench.fixes(3)
    let bookmark = bench.client.bookmark(in: bench.ring)
    bench.client = Client(restoring: bookmark, in: bench.ring)
    bench.now = 10
    bench.client.resumeRecording(
      from: bookmark, at: bench.context.now, recorder: .holdsFixes, slack: .seconds(2),
      limit: bench.limit, in: bench.ring)
    bench.drain(times)
    return bench.send(.connect, .startUpdating)
  }

  @Test("BKG-20, RNG-3: after a restart, buffered fixes that follow the ring's newest leave no gap")
  func restartWithoutGap() {
    #expect(restarted(buffer: [4, 5, 6, 7, 8, 9]) == [.batch(0...8)])
    #expect(restarted(buffer: [5, 6, 7, 8]) == [.batch(0...6)], "at most 2 s are no gap")
  }

  @Test("BKG-20, RNG-4: after a restart, fixes that the buffer no longer holds are a gap")
  func restartWithGap() {
    #expect(
      restarted(buffer: [6, 7, 8, 9]) == [.batch(0...2), .gap(3..<3, count: 0), .batch(3...6)])
    #expect(
      restarted(buffer: [4, 5]) == [.batch(0...4), .gap(5..<5, count: 0)], "the end is missing")
    #expect(restarted(buffer: []) == [.batch(0...2), .gap(3..<3, count: 0)])
  }

  @Test("RNG-6: a denied client gets no gap for fixes that were never its own")
  func denied() {
    let bench = ClientBench.started(capacity: 4)
    bench.send(.setExecution(.suspended))
    bench.fixes(6)
    bench.send(.setAuthorization(.denied))
    bench.fixes(6)
    bench.send(.setAuthorization(.always))
    #expect(bench.send(.setExecution(.background)) == [])
    #expect(bench.fixes() == [.batch(12...12)])
  }

  @Test("RNG-4: fixes missing in the ring are reported as a gap before the next fixes")
  func holes() {
    let bench = ClientBench.engaged(capacity: 16)
    bench.limit = 8
    #expect(bench.fixes(6) == [])
    bench.ring.erase(0..<1)
    bench.ring.erase(3..<5)
    #expect(
      bench.send(.disallowDeferred) == [
        .finish(15), .gap(0..<1, count: 1), .batch(1...2), .gap(3..<5, count: 2), .batch(5...5),
      ])
    bench.send(.setDistanceFilter(10))
    bench.isDraining = true
    bench.fixes(1, east: 100)
    bench.fixes(1, east: 200)
    bench.fixes(1, east: 300)
    bench.ring.erase(7..<8)
    #expect(bench.drain() == [.batch(6...6), .gap(7..<8, count: 1), .batch(8...8)])
  }
}
