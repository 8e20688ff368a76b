import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("What a client loses, and is told of it")
struct ClientGapTests {
  @Test("DEF-31, RNG-4: a client that cannot take its fixes is told what was overwritten first")
  func suspended() {
    let world = World.started(capacity: 8)
    world.limit = 4
    world.fixes(2)
    world.ask(.acknowledge(world.name(1)), .setExecution(.suspended))
    #expect(world.fixes(11) == [])
    #expect(
      world.ask(.setExecution(.background)) == [.gap(2..<5, count: 3), .batch(5...12)])
    #expect(world.fixes() == [.batch(13...13)])
  }

  @Test("RNG-4: an engaged client that takes its fixes loses none, round after round")
  func engaged() {
    let world = World.engaged(capacity: 8)
    world.limit = 4
    for round in 0..<10 as Range<UInt64> {
      #expect(world.fixes(3) == [])
      #expect(world.fixes() == [.batch(round * 4...round * 4 + 3)])
      if round % 2 == 0 { world.ask(.acknowledge(world.name(round * 4 + 3))) }
    }
  }

  @Test("RNG-4: what was told and not acknowledged is a gap only to the next process")
  func unacknowledged() {
    let world = World.started(capacity: 4)
    for n in 0..<10 as Range<UInt64> { #expect(world.fixes() == [.batch(n...n)]) }
    world.ask(.disconnect)
    #expect(world.ask(.connect) == [.gap(0..<6, count: 6)])
    #expect(world.ask(.startUpdating) == [.batch(6...9)])
  }

  @Test("RNG-4: the gap of a dead client ends where its updates ended")
  func deadGap() {
    var world = World.started(capacity: 4)
    world.ask(.setExecution(.suspended))
    world.fixes(3)
    world.ask(.disconnect)
    world.fixes(3)
    #expect(world.ask(.connect, .startUpdating) == [.gap(0..<2, count: 2), .batch(2...2)])
    #expect(world.fixes() == [.batch(6...6)])
    for more in [4, 5, 20] {
      world = World.started(capacity: 4)
      world.ask(.setExecution(.suspended))
      world.fixes(3)
      world.ask(.disconnect)
      world.fixes(more)
      #expect(world.ask(.connect, .startUpdating) == [.gap(0..<3, count: 3)])
      #expect(world.fixes() == [.batch(UInt64(more) + 3...UInt64(more) + 3)])
    }
  }

  @Test(
    "RNG-3: a stopped client's unacknowledged fixes are there for its next process while the ring has them"
  )
  func stoppedUnacknowledged() {
    var world = World.started(capacity: 4)
    world.fixes(6)
    world.ask(.acknowledge(world.name(3)))
    #expect(world.ask(.stopUpdating) == [])
    world.fixes(1)
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(4...5)])
    world = World.started(capacity: 4)
    world.fixes(6)
    world.ask(.acknowledge(world.name(3)), .stopUpdating)
    world.fixes(3)
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.gap(4..<5, count: 1), .batch(5...5)])
    world = World.started(capacity: 4)
    world.fixes(6)
    world.ask(.acknowledge(world.name(3)), .stopUpdating)
    world.fixes(30)
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.gap(4..<6, count: 2)])
  }

  @Test("RNG-4: who is owed nothing loses nothing, however far the ring goes")
  func owedNothing() {
    var world = World.started(capacity: 4)
    world.fixes(3)
    world.ask(.acknowledge(world.name(2)), .stopUpdating)
    #expect(world.fixes(20) == [])
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(23...23)])
    // The same when it stopped with fixes unacknowledged, and lived on.
    world.ask(.stopUpdating)
    #expect(world.fixes(20) == [])
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(44...44)])
    // And for one that never started anything.
    world = World(capacity: 4)
    world.ask(.connect)
    world.fixes(9)
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(9...9)])
  }

  @Test("RNG-3: a hole in what a dead client is owed keeps back nothing behind it")
  func deadHole() {
    let world = World.started(capacity: 16)
    world.ask(.setExecution(.suspended))
    world.fixes(4)
    world.ask(.disconnect)
    world.fixes(1)
    world.ring.erase(1..<2)
    #expect(
      world.ask(.connect, .startUpdating) == [.batch(0...0), .gap(1..<2, count: 1), .batch(2...3)])
    #expect(world.fixes() == [.batch(5...5)])
  }

  @Test("RNG-6: a denied client has no gap of what was never for it")
  func denied() {
    let world = World.started(capacity: 4)
    world.ask(.setExecution(.suspended))
    world.fixes(6)
    world.ask(.setAuthorization(.denied))
    world.fixes(6)
    world.ask(.setAuthorization(.always))
    #expect(world.ask(.setExecution(.background)) == [])
    #expect(world.fixes() == [.batch(12...12)])
  }

  @Test("RNG-4: fixes that are missing in the ring are told as a gap, before what follows")
  func holes() {
    let world = World.engaged(capacity: 16)
    world.limit = 8
    #expect(world.fixes(6) == [])
    world.ring.erase(0..<1)
    world.ring.erase(3..<5)
    #expect(
      world.ask(.disallowDeferred) == [
        .finish(15), .gap(0..<1, count: 1), .batch(1...2), .gap(3..<5, count: 2), .batch(5...5),
      ])
    world.ask(.setDistanceFilter(10))
    world.isDraining = true
    world.fixes(1, east: 100)
    world.fixes(1, east: 200)
    world.fixes(1, east: 300)
    world.ring.erase(7..<8)
    #expect(world.drain() == [.batch(6...6), .gap(7..<8, count: 1), .batch(8...8)])
  }
}
