import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("What a client is owed, by the time at which it was made")
struct ClientOwedTests {
  static let call = Request.allowDeferred(distance: .infinity, timeout: .infinity)

  @Test("DEF-37: a fix made after stop is not told, though it comes out of the same drain")
  func madeAfterStop() {
    var world = World.engaged()
    world.limit = 8
    world.buffers = true
    world.now = 5
    world.ask(.stopUpdating)
    #expect(world.drain([4, 5, 5.1, 6]) == [.finish(15), .batch(0...1)])
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(4...4)])
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...1), .batch(4...4)])
    // The process that stopped died before the drain.
    world = World.engaged()
    world.buffers = true
    world.now = 5
    world.ask(.stopUpdating, .disconnect)
    #expect(world.drain([5, 6]) == [])
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...0)])
  }

  @Test("STD-3: a client that starts is not told what the receiver holds for others")
  func madeBeforeStart() {
    let world = World(capacity: 64)
    world.ask(.connect)
    world.buffers = true
    world.now = 10
    #expect(world.ask(.startUpdating, Self.call, .disallowDeferred) == [])
    #expect(world.drain([1, 2, 9, 10]) == [.finish(15)])
    #expect(world.fixes() == [.batch(4...4)])
    world.buffers = true
    #expect(world.drain([12, 13]) == [.batch(5...6)])
  }

  @Test("STD-3: fixes for others neither are lost to a client nor lose it any of its own")
  func manyForOthers() {
    let world = World.started(capacity: 8)
    world.fixes(2)
    world.ask(.disconnect, .connect)
    world.buffers = true
    world.now = 200
    #expect(world.ask(.startUpdating) == [.batch(0...1)])
    #expect(world.drain((0..<50).map { 100 + Double($0) }) == [])
    #expect(world.fixes() == [.batch(52...52)])
    world.ask(.acknowledge(world.name(52)), .disconnect)
    #expect(world.ask(.connect, .startUpdating) == [])
  }

  @Test("STD-3: who starts again before its stop's drain gets what was made before, and between")
  func restartBeforeDrain() {
    let world = World.started()
    world.buffers = true
    world.now = 5
    world.ask(.stopUpdating)
    world.now = 7
    world.ask(.startUpdating)
    #expect(world.drain([4, 6, 8]) == [.batch(0...2)])
  }

  @Test("RNG-3: what was told and not acknowledged comes after each crash until it is acknowledged")
  func crashTwice() {
    let world = World.engaged()
    #expect(world.fixes(3) == [])
    world.ask(.disconnect)
    #expect(world.fixes(2) == [])
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...2)])
    for _ in 0..<3 {
      world.ask(.disconnect)
      #expect(world.ask(.connect, .startUpdating) == [.batch(0...2)])
    }
    #expect(world.fixes() == [.batch(5...5)])
    world.ask(.acknowledge(world.name(0)), .disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(1...2), .batch(5...5)])
    // A second stretch between runs, when all before the first is acknowledged.
    world.ask(.acknowledge(world.name(2)), .disconnect)
    world.fixes(2)
    #expect(world.ask(.connect, .startUpdating) == [.batch(5...5)])
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(5...5)])
    #expect(world.fixes() == [.batch(8...8)])
  }

  @Test("RNG-3: a stop and a start do not settle what was not acknowledged")
  func restartThenCrash() {
    let world = World.started()
    world.fixes(2)
    world.ask(.stopUpdating)
    world.fixes(2)
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(4...4)])
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...1), .batch(4...4)])
  }

  @Test("RNG-3: a stretch before which all is acknowledged stays passed over after the next one")
  func settledStretch() {
    let world = World.started()
    world.fixes(1)
    world.ask(.stopUpdating)
    world.fixes(1)
    world.ask(.startUpdating)
    #expect(world.fixes(1) == [.batch(2...2)])
    world.ask(.acknowledge(world.name(0)))
    // The same process stops and starts once more with a stretch between.
    world.ask(.stopUpdating)
    world.fixes(1)
    world.ask(.startUpdating, .disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(2...2)])
  }

  @Test("RNG-3: with two stretches before which something waits, the first may come, the last not")
  func twoStretches() {
    let world = World.started()
    for _ in 0..<2 {
      world.fixes(1)
      world.ask(.disconnect)
      world.fixes(1)
      world.ask(.connect, .startUpdating)
    }
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...2)])
    #expect(world.fixes() == [.batch(4...4)])
  }

  @Test("RNG-1, RNG-4: an end that waits is told at N, before the ring overwrites its fixes")
  func longDrain() {
    for stops in [false, true] {
      let world = World.engaged(timeout: 150, capacity: 8)
      world.buffers = true
      world.limit = 4
      world.now = 150
      #expect(world.ask(stops ? .stopUpdating : .disallowDeferred) == [])
      #expect(world.isWaitingForDrain)
      let told = world.drain((1...150).map(Double.init))
      #expect(Array(told.prefix(2)) == [.finish(15), .batch(0...3)])
      var next: UInt64 = 0
      for case .batch(let range) in told {
        #expect(range.lowerBound == next)
        next = range.upperBound + 1
      }
      #expect(next == 150)
      #expect(told.count == 39)  // the end, 37 batches of four and the rest
    }
  }

  @Test("X7, RNG-6: revoked, authorized and stopped or gone: nothing of the denied time is shown")
  func deniedThenEnded() {
    for request in [Request.stopUpdating, .disconnect, .disallowDeferred] {
      let world = World.engaged()
      world.limit = 8
      world.buffers = true
      world.now = 10
      #expect(world.ask(.setAuthorization(.denied)) == [.finish(1), .failure(1)])
      world.now = 20
      #expect(world.ask(.setAuthorization(.always)) == [])
      world.now = 30
      #expect(world.ask(request) == [])
      var told = world.drain([5, 15, 20, 25, 19, 26, 18])
      told += world.ask(.connect, .startUpdating)
      // Of the denied time are 0, 1, 2 and, out of order, 4 and 6.
      #expect(told.contains(.batch(3...3)))
      for case .batch(let range) in told { #expect(range == 3...3 || range == 5...5) }
    }
  }

  @Test("X7, DEF-13: ends that a denial left untold come before any fix made after it")
  func deniedEnds() {
    let world = World.engaged()
    world.buffers = true
    world.ask(Self.call)
    world.ask(.setExecution(.suspended), .setAuthorization(.denied), .setAuthorization(.always))
    world.now = 1
    #expect(world.drain([1]) == [])
    #expect(
      world.ask(.setExecution(.background)) == [
        .finish(15), .finish(1), .batch(0...0),
      ])
  }

  @Test("STD-8: after a denial there is no location")
  func deniedLocation() {
    let world = World.started()
    world.fixes(2)
    #expect(world.client.newestDelivered == 1)
    world.ask(.setAuthorization(.denied))
    #expect(world.client.newestDelivered == nil)
    world.fixes(1)
    world.ask(.setAuthorization(.always))
    #expect(world.client.newestDelivered == nil)
    world.fixes(1)
    #expect(world.client.newestDelivered == 3)
  }

  @Test("X1: a handler may acknowledge first and call afterwards")
  func acknowledgeThenCall() {
    let world = World.engaged(timeout: 5)
    world.fixes(1)
    #expect(world.wait(4) == [.finish(nil), .batch(0...0)])
    world.now = 5.5
    world.ask(.acknowledge(world.name(0)))
    #expect(world.awaitsAcknowledgementUntil == nil)
    #expect(world.demand == .deferred(check: Instant(seconds: 7)))
    world.ask(Self.call)
    #expect(world.demand == .deferred(check: .distantFuture))
  }

  @Test("BKG-2: whatever a suspended client asks shows that it runs")
  func asksSuspended() {
    let requests: [Request] = [
      .startUpdating, .stopUpdating, .setDesiredAccuracy(-1), .setDistanceFilter(-1), Self.call,
      .disallowDeferred,
    ]
    for request in requests {
      let world = World.started()
      world.ask(.setExecution(.suspended))
      world.fixes(2)
      world.askQuietly(request)
      #expect(world.client.execution == .background)
      #expect(world.told().contains(.batch(0...1)))
    }
    let world = World.started()
    world.fixes(1)
    world.ask(.setExecution(.suspended), .acknowledge(world.name(0)), .setAuthorization(.denied))
    #expect(world.client.execution == .suspended)
  }

  @Test("STD-5: inside the filter a fix is told if it is more accurate than the last told one")
  func moreAccurate() {
    let world = World.started()
    world.ask(.setDistanceFilter(100))
    func fix(_ accuracy_mm: Int32?) -> [Told] {
      world.now += 1
      world.append(LocationPolicyTests.fix(at: world.now, accuracy_mm: accuracy_mm))
      return world.told()
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
