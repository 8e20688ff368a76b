import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("What is recorded for a suspended client")
struct ClientSuspendedTests {
  /// Suspended after no fix; N is 4.
  private func suspended() -> World {
    let world = World.started(capacity: 32)
    world.ask(.setExecution(.suspended))
    return world
  }

  /// Time and demand are looked at, and nobody else has fixes recorded.
  private func look(_ world: World) {
    #expect(world.wait(0) == [])
    if world.client.isQueueFull { world.client.beginUnrecorded(world.context) }
  }

  /// The same with a full queue, which was full at 4 s.
  private func full() -> World {
    let world = suspended()
    #expect(world.fixes(4) == [])
    look(world)
    return world
  }

  @Test("BKG-5: its demand is every fix, later, until N wait; a background session lifts the limit")
  func demand() {
    let world = suspended()
    #expect(world.demand == .deferred(check: .distantFuture))
    world.fixes(3)
    look(world)
    #expect(world.demand == .deferred(check: .distantFuture) && !world.client.isQueueFull)
    world.fixes(1)
    look(world)
    #expect(world.demand == .none && world.client.isQueueFull)
    world.ask(.setUse(ClientUse(keepsRunning: true)))
    #expect(world.demand == .deferred(check: .distantFuture))
    world.ask(.setUse(ClientUse()))
    #expect(world.demand == .none)
    world.ask(.setExecution(.background))
    #expect(world.demand == .live(isWatched: false))
  }

  @Test("BKG-5: of a deferral its timeout is looked at, of its end no handler is waited for")
  func deferral() {
    let world = World.started(capacity: 32)
    world.ask(.allowDeferred(distance: 100, timeout: 10))
    world.client.distanceCheck = Instant(seconds: 1)
    world.ask(.setExecution(.suspended))
    #expect(world.may(true) == [] && world.state == .engaged)
    #expect(world.demand == .deferred(check: Instant(seconds: 10)))
    world.fixes(9)
    look(world)
    #expect(world.demand == .deferred(check: Instant(seconds: 10)), "beyond N")
    #expect(world.wait(1) == [] && world.state == .idle)
    look(world)
    #expect(world.demand == .none)
    world.now += 5
    #expect(
      world.ask(.setExecution(.background)) == [.finish(nil), .batch(0...8), .gap(9..<9, count: 0)])
    // Now its handler has its turn (X1).
    #expect(world.demand == .deferred(check: Instant(seconds: 17)))
  }

  @Test("BKG-5: a position within some metres is promised on, until N fixes wait")
  func within() {
    let world = World.started(capacity: 32)
    world.ask(.setDesiredAccuracy(100), .setExecution(.suspended))
    #expect(world.demand == .within(metres: 100))
    world.fixes(4)
    look(world)
    #expect(world.demand == .none)
  }

  @Test("DEF-32: an engaged client that comes back with N fixes gets them at once")
  func resumesFull() {
    let world = World.engaged(capacity: 32)
    world.ask(.setExecution(.suspended))
    world.fixes(5)
    #expect(world.ask(.setExecution(.background)) == [.batch(0...4)])
    #expect(world.state == .engaged)
  }

  @Test("BKG-5: the gap lies between the fixes made before and after, with its time")
  func gap() throws {
    let world = full()
    world.now = 6
    // The receiver still held it when it was put to rest.
    world.append(fix(at: 4))
    world.now = 50
    // Another client's.
    world.append(fix(at: 50))
    look(world)
    world.now = 60
    #expect(!world.hasNotices)
    world.askQuietly(.setExecution(.background))
    let place = try #require(world.client.unrecorded?.sequence)
    #expect(place == 5)
    #expect(world.client.unrecorded?.from.acquired == Instant(seconds: 4))
    #expect(world.client.unrecorded?.to?.acquired == Instant(seconds: 60))
    #expect(world.told() == [.batch(0...4), .gap(5..<5, count: 0), .batch(5...5)])
    #expect(!world.hasNotices)
    #expect(world.fixes() == [.batch(6...6)])
    #expect(world.wait(1) == [])
  }

  @Test(
    "BKG-5: two such times in a row are one gap; while it runs and while all is recorded there is none"
  )
  func several() {
    let world = full()
    world.now = 20
    world.askQuietly(.setExecution(.background))
    world.askQuietly(.setExecution(.suspended))
    world.now = 30
    look(world)
    world.now = 40
    #expect(world.ask(.setExecution(.foreground)) == [.batch(0...3), .gap(4..<4, count: 0)])
    #expect(world.client.unrecorded?.from.acquired == Instant(seconds: 4))
    #expect(world.client.unrecorded?.to?.acquired == Instant(seconds: 40))
    let other = suspended()
    other.fixes(8)
    #expect(other.wait(0) == [])
    #expect(other.ask(.setExecution(.background)) == [.batch(0...7)])
  }

  @Test("RNG-3, BKG-5: a gap comes again to the next process until a fix behind it is acknowledged")
  func nextProcess() {
    for isAcknowledged in [false, true] {
      let world = full()
      #expect(world.ask(.setExecution(.background)).count == 2)
      world.fixes(1)
      world.ask(.acknowledge(world.name(3)))
      if isAcknowledged { world.ask(.acknowledge(world.name(4))) }
      world.ask(.disconnect)
      #expect(world.ask(.connect) == [])
      let again: [Told] = isAcknowledged ? [] : [.gap(4..<4, count: 0), .batch(4...4)]
      #expect(world.ask(.startUpdating) == again)
    }
  }

  @Test("BKG-5: who stops is told the gap once; who starts again in the same process is not")
  func stops() {
    let world = full()
    #expect(world.ask(.stopUpdating) == [.batch(0...3), .gap(4..<4, count: 0)])
    world.ask(.stopUpdating)
    #expect(world.ask(.startUpdating) == [])
    let told = full()
    told.ask(.setExecution(.background))
    told.ask(.stopUpdating)
    #expect(told.ask(.startUpdating) == [])
  }

  @Test("RNG-6, BKG-5: after a denial no gap of before is told")
  func denied() {
    let world = full()
    world.ask(.setAuthorization(.denied), .setAuthorization(.always))
    #expect(world.ask(.setExecution(.background)) == [])
  }

  @Test("AUT-11, BKG-2: a refusal that is over is no news to a client that was suspended")
  func staleRefusal() {
    for new in [Authorization.always, .notDetermined] {
      let world = suspended()
      world.ask(.setAuthorization(.denied), .setAuthorization(new))
      #expect(world.ask(.setExecution(.background)) == [])
    }
    let world = suspended()
    world.ask(.setAuthorization(.denied))
    #expect(world.ask(.setExecution(.background)) == [.failure(1)])
  }

  @Test("BKG-5: fixes that are passed over do not count to N; the ring's room bounds them")
  func passedOver() {
    for (passed, isFull) in [(4, false), (8, false), (9, true)] as [(Int, Bool)] {
      let world = suspended()
      world.limit = 6
      world.fixes(2 + passed)
      world.client.exclude(2..<UInt64(2 + passed))
      look(world)
      #expect(world.client.isQueueFull == isFull, "\(passed)")
    }
    let world = suspended()
    world.limit = 6
    world.fixes(6)
    world.client.exclude(2..<6)
    world.fixes(3)
    look(world)
    #expect(!world.client.isQueueFull)
    world.fixes(1)
    look(world)
    #expect(world.client.isQueueFull)
  }

  @Test("BKG-5: there is no gap while a background session has all recorded")
  func sessionGap() {
    let world = suspended()
    world.ask(.setUse(ClientUse(keepsRunning: true)))
    world.fixes(5)
    look(world)
    #expect(world.client.isQueueFull)
    world.now = 20
    #expect(world.ask(.setExecution(.background)) == [.batch(0...4)])
  }

  @Test("BKG-5, RNG-3: the next process is told the gap when it starts, or reads its backlog")
  func deadGap() {
    for wasTold in [false, true] {
      let world = full()
      world.now = 20
      if wasTold { world.ask(.setExecution(.background)) }
      world.ask(.disconnect)
      #expect(world.client.backlog(in: world.ring).gap?.to?.acquired == Instant(seconds: 20))
      #expect(world.ask(.connect) == [] && !world.hasNotices)
      #expect(world.ask(.startUpdating) == [.batch(0...3), .gap(4..<4, count: 0)])
    }
    let world = full()
    world.ask(.disconnect)
    world.ask(.connect, .readBacklog)
    #expect(world.client.backlog(in: world.ring).gap == nil)
    #expect(world.ask(.startUpdating) == [])
    let read = full()
    read.ask(.setExecution(.background))
    read.ask(.acknowledge(read.name(3)), .disconnect, .connect)
    #expect(read.client.backlog(in: read.ring).gap != nil)
    read.ask(.readBacklog)
    #expect(read.client.backlog(in: read.ring).gap == nil, "also where no fix comes with it")
  }

  @Test("BKG-5, LIV-10: what a background session keeps up counts beside updates that need less")
  func liveBeside() {
    let world = World(capacity: 32)
    world.ask(.connect, .startUpdating, .setDesiredAccuracy(3_000), .openLive(.default))
    world.ask(.setUse(ClientUse(keepsRunning: true)), .setExecution(.suspended))
    #expect(world.demand == .deferred(check: .distantFuture))
    world.ask(.setUse(ClientUse()))
    #expect(world.demand == .within(metres: 3_000))
  }

  @Test("BKG-5: a bulk read takes the gap with it, also where others were overwritten")
  func bulk() {
    let world = full()
    let backlog = world.client.backlog(in: world.ring)
    #expect(backlog.gap?.mayBeMore == true && backlog.gap?.count == 0 && backlog.range == 0..<4)
    world.askQuietly(.readBacklog)
    #expect(world.client.backlog(in: world.ring).gap == nil)
    #expect(world.ask(.setExecution(.background)) == [])
    let overflown = full()
    overflown.fixes(30)
    let gap = overflown.client.backlog(in: overflown.ring).gap
    #expect(gap?.count == 2 && gap?.mayBeMore == true)
  }

  @Test("STD-10: that there was no location while it was suspended is no news once there is one")
  func staleFailure() {
    let world = suspended()
    #expect(world.lose() == [])
    world.fixes(1)
    #expect(world.ask(.setExecution(.background)) == [.batch(0...0)])
    world.ask(.setExecution(.suspended))
    #expect(world.lose() == [])
    #expect(world.ask(.setExecution(.background)) == [.failure(0)])
  }

  @Test("BKG-2: answers to requestState wait, crossings are handed to the owner with their states")
  func regions() {
    let world = World(capacity: 64)
    world.ask(.connect)
    let home = Region(RegionIdentifier(.region, 1), center: equator, radius: 100)
    world.ask(.addRegion(home, assuming: .unknown))
    world.fixes(1)
    world.askQuietly(.requestRegionState(home.identifier))
    world.askQuietly(.setExecution(.suspended))
    #expect(world.told() == [] && !world.hasNotices)
    var told: [Told] = []
    for _ in 0..<30 { told += world.fixes(1, east: 500) }
    #expect(told.count == 2)
    #expect(told.last == .region(.determined(home.identifier, .outside)))
    #expect(
      world.ask(.setExecution(.background)) == [.region(.determined(home.identifier, .outside))])
  }

  @Test("REG-8, REG-9, BKG-2: crossings come in their order, silenced ones too, then the answer")
  func crossingOrder() {
    let world = World(capacity: 128)
    world.ask(.connect)
    let home = RegionIdentifier(.region, 1)
    world.ask(.addRegion(circle(home, exit: false), assuming: .unknown))
    world.askQuietly(.requestRegionState(home))
    world.askQuietly(.setExecution(.suspended))
    // The first fix decides the state, and the answer waits.
    var told = world.fixes(1, east: 500)
    told += world.fixes(30)
    told += world.fixes(30, east: 500)
    told += world.ask(.setExecution(.background))
    #expect(
      told == [
        .region(.entered(home, at: Instant(seconds: 22))),
        .region(.determined(home, .inside)), .region(.crossedSilently(home, .outside)),
        .region(.determined(home, .outside)),
      ])
  }
}
