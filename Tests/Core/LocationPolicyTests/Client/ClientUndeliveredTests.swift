import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Undelivered fixes of a client, selected by fix time")
struct ClientUndeliveredTests {
  static let call = Request.allowDeferred(distance: .infinity, timeout: .infinity)

  @Test("DEF-37: a fix measured after stop is not delivered, even from the same drain")
  func measuredAfterStop() {
    var bench = ClientBench.engaged()
    bench.limit = 8
    bench.buffers = true
    bench.now = 5
    bench.send(.stopUpdating)
    #expect(bench.drain([4, 5, 5.1, 6]) == [.finish(15), .batch(0...1)])
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(4...4)])
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...1), .batch(4...4)])
    // The stopped process exits before the drain.
    bench = ClientBench.engaged()
    bench.buffers = true
    bench.now = 5
    bench.send(.stopUpdating, .disconnect)
    #expect(bench.drain([5, 6]) == [])
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...0)])
  }

  @Test("STD-3: a starting client does not get fixes buffered for other clients")
  func measuredBeforeStart() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect)
    bench.buffers = true
    bench.now = 10
    #expect(bench.send(.startUpdating, Self.call, .disallowDeferred) == [])
    #expect(bench.drain([1, 2, 9, 10]) == [.finish(15)])
    #expect(bench.fixes() == [.batch(4...4)])
    bench.buffers = true
    #expect(bench.drain([12, 13]) == [.batch(5...6)])
  }

  @Test("RNG-6, STD-3: buffered fixes from before the start or the authorization are not needed")
  func neededAfterStart() {
    let bench = ClientBench(capacity: 64)
    func needs(_ acquired: Double) -> Bool {
      bench.client.mayNeed(fix(at: acquired, east: 0))
    }
    bench.send(.connect)
    bench.buffers = true
    bench.now = 10
    bench.send(.startUpdating)
    #expect(!needs(10))
    #expect(needs(10.5))
    bench.now = 12
    bench.send(.setAuthorization(.denied))
    #expect(!needs(12.5))
    bench.now = 20
    bench.send(.setAuthorization(.always), .stopUpdating)
    #expect(!needs(11))
    #expect(!needs(20.5))
    bench.send(.startSignificantChange)
    #expect(!needs(20))
    #expect(needs(20.5))
  }

  @Test("STD-3: fixes for other clients cause neither gaps nor lost fixes")
  func manyForOthers() {
    let bench = ClientBench.started(capacity: 8)
    bench.fixes(2)
    bench.send(.disconnect, .connect)
    bench.buffers = true
    bench.now = 200
    #expect(bench.send(.startUpdating) == [.batch(0...1)])
    #expect(bench.drain((0..<50).map { 100 + Double($0) }) == [])
    #expect(bench.fixes() == [.batch(52...52)])
    bench.send(.acknowledge(bench.name(52)), .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [])
  }

  @Test("STD-3: a restart before the drain of a stop delivers the fixes from before and between")
  func restartBeforeDrain() {
    let bench = ClientBench.started()
    bench.buffers = true
    bench.now = 5
    bench.send(.stopUpdating)
    bench.now = 7
    bench.send(.startUpdating)
    #expect(bench.drain([4, 6, 8]) == [.batch(0...2)])
  }

  @Test("RNG-3: unacknowledged fixes are delivered again after each crash until acknowledged")
  func crashTwice() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(3) == [])
    bench.send(.disconnect)
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...2)])
    for _ in 0..<3 {
      bench.send(.disconnect)
      #expect(bench.send(.connect, .startUpdating) == [.batch(0...2)])
    }
    #expect(bench.fixes() == [.batch(5...5)])
    bench.send(.acknowledge(bench.name(0)), .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(1...2), .batch(5...5)])
    // A second excluded range between runs, when all fixes before the first are acknowledged.
    bench.send(.acknowledge(bench.name(2)), .disconnect)
    bench.fixes(2)
    #expect(bench.send(.connect, .startUpdating) == [.batch(5...5)])
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(5...5)])
    #expect(bench.fixes() == [.batch(8...8)])
  }

  @Test("RNG-3: a stop and a start do not acknowledge fixes")
  func restartThenCrash() {
    let bench = ClientBench.started()
    bench.fixes(2)
    bench.send(.stopUpdating)
    bench.fixes(2)
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(4...4)])
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...1), .batch(4...4)])
  }

  @Test(
    "RNG-3: an excluded range without undelivered fixes before it stays excluded after the next")
  func acknowledgedRange() {
    let bench = ClientBench.started()
    bench.fixes(1)
    bench.send(.stopUpdating)
    bench.fixes(1)
    bench.send(.startUpdating)
    #expect(bench.fixes(1) == [.batch(2...2)])
    bench.send(.acknowledge(bench.name(0)))
    // The same process stops and starts again with an excluded range between.
    bench.send(.stopUpdating)
    bench.fixes(1)
    bench.send(.startUpdating, .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(2...2)])
  }

  @Test("RNG-3: of two excluded ranges after undelivered fixes only the first may be delivered")
  func twoRanges() {
    let bench = ClientBench.started()
    for _ in 0..<2 {
      bench.fixes(1)
      bench.send(.disconnect)
      bench.fixes(1)
      bench.send(.connect, .startUpdating)
    }
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...2)])
    #expect(bench.fixes() == [.batch(4...4)])
  }

  @Test("RNG-1, RNG-4: a pending end is delivered at N fixes, before the ring overwrites them")
  func longDrain() {
    for stops in [false, true] {
      let bench = ClientBench.engaged(timeout: 150, capacity: 8)
      bench.buffers = true
      bench.limit = 4
      bench.now = 150
      #expect(bench.send(stops ? .stopUpdating : .disallowDeferred) == [])
      #expect(bench.isWaitingForDrain)
      let notices = bench.drain((1...150).map(Double.init))
      #expect(Array(notices.prefix(2)) == [.finish(15), .batch(0...3)])
      var next: UInt64 = 0
      for case .batch(let range) in notices {
        #expect(range.lowerBound == next)
        next = range.upperBound + 1
      }
      #expect(next == 150)
      #expect(notices.count == 39)  // the end, 37 batches of four and the remainder
    }
  }

  @Test("X7, RNG-6: after revoking, authorizing and ending, no fix of the denied time is delivered")
  func deniedThenEnded() {
    for request in [Request.stopUpdating, .disconnect, .disallowDeferred] {
      let bench = ClientBench.engaged()
      bench.limit = 8
      bench.buffers = true
      bench.now = 10
      #expect(bench.send(.setAuthorization(.denied)) == [.finish(1), .failure(1)])
      bench.now = 20
      #expect(bench.send(.setAuthorization(.always)) == [])
      bench.now = 30
      #expect(bench.send(request) == [])
      var notices = bench.drain([5, 15, 20, 25, 19, 26, 18])
      notices += bench.send(.connect, .startUpdating)
      // Fixes 0, 1, 2 and, out of order, 4 and 6 are not newer than the denied time.
      #expect(notices.contains(.batch(3...3)))
      for case .batch(let range) in notices { #expect(range == 3...3 || range == 5...5) }
    }
  }

  @Test("X7, DEF-13: ends pending at a denial are delivered before any later fix")
  func deniedEnds() {
    let bench = ClientBench.engaged()
    bench.buffers = true
    bench.send(Self.call)
    bench.send(.setExecution(.suspended), .setAuthorization(.denied), .setAuthorization(.always))
    bench.now = 1
    #expect(bench.drain([1]) == [])
    #expect(
      bench.send(.setExecution(.background)) == [
        .finish(15), .finish(1), .batch(0...0),
      ])
  }

  @Test("STD-8: after a denial there is no location")
  func deniedLocation() {
    let bench = ClientBench.started()
    bench.fixes(2)
    #expect(bench.client.newestDelivered == 1)
    bench.send(.setAuthorization(.denied))
    #expect(bench.client.newestDelivered == nil)
    bench.fixes(1)
    bench.send(.setAuthorization(.always))
    #expect(bench.client.newestDelivered == nil)
    bench.fixes(1)
    #expect(bench.client.newestDelivered == 3)
  }

  @Test("X1: a handler may acknowledge first and call afterwards")
  func acknowledgeThenCall() {
    let bench = ClientBench.engaged(timeout: 5)
    bench.fixes(1)
    #expect(bench.wait(4) == [.finish(nil), .batch(0...0)])
    bench.now = 5.5
    bench.send(.acknowledge(bench.name(0)))
    #expect(bench.acknowledgementDeadline == nil)
    #expect(bench.demand == .deferred(check: Instant(seconds: 7)))
    bench.send(Self.call)
    #expect(bench.demand == .deferred(check: .distantFuture))
  }

  @Test("BKG-2: any request of a suspended client shows that it is running")
  func requestsWhileSuspended() {
    let requests: [Request] = [
      .startUpdating, .stopUpdating, .setDesiredAccuracy(-1), .setDistanceFilter(-1), Self.call,
      .disallowDeferred,
    ]
    for request in requests {
      let bench = ClientBench.started()
      bench.send(.setExecution(.suspended))
      bench.fixes(2)
      bench.sendOnly(request)
      #expect(bench.client.execution == .background)
      #expect(bench.notices().contains(.batch(0...1)))
    }
    let bench = ClientBench.started()
    bench.fixes(1)
    bench.send(.setExecution(.suspended), .acknowledge(bench.name(0)), .setAuthorization(.denied))
    #expect(bench.client.execution == .suspended)
  }

  @Test("STD-5: inside the filter a fix passes if it is more accurate than the last delivered one")
  func moreAccurate() {
    let bench = ClientBench.started()
    bench.send(.setDistanceFilter(100))
    func fix(_ accuracy_mm: Int32?) -> [NoticeValue] {
      bench.now += 1
      bench.append(LocationPolicyTests.fix(at: bench.now, accuracy_mm: accuracy_mm))
      return bench.notices()
    }
    #expect(fix(50_000) == [.batch(0...0)])
    #expect(fix(50_000) == [])
    #expect(fix(60_000) == [])
    #expect(fix(49_999) == [.batch(3...3)])
    #expect(fix(nil) == [])
    #expect(fix(49_999) == [])
    #expect(fix(5_000) == [.batch(6...6)])
    #expect(fix(10_000) == [])
  }
}
