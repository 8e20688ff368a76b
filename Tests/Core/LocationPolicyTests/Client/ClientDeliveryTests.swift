import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("A client and its fixes")
struct ClientDeliveryTests {
  @Test("STD-3: start tells nothing at once, then each fix; again adds nothing; a new start is new")
  func start() {
    let world = World(capacity: 16)
    #expect(world.ask(.connect) == [])
    #expect(world.fixes() == [])
    #expect(world.demand == .none)
    #expect(world.ask(.startUpdating) == [])
    #expect(world.demand == .live(isWatched: true))
    #expect(world.fixes() == [.batch(1...1)])
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(2...2)])
    #expect(world.ask(.stopUpdating) == [])
    #expect(world.fixes() == [])
    #expect(world.ask(.startUpdating) == [])
    #expect(world.fixes() == [.batch(4...4)])
  }

  @Test("STD-3, STD-4: a new start gives its first fix whatever the filter says")
  func startForgetsFilter() {
    let world = World.started()
    world.ask(.setDistanceFilter(100))
    #expect(world.fixes() == [.batch(0...0)])
    #expect(world.fixes() == [])
    world.ask(.stopUpdating)
    world.ask(.startUpdating)
    #expect(world.fixes() == [.batch(2...2)])
  }

  @Test("STD-4: the filter is measured from the last delivered fix")
  func filter() {
    let world = World.started()
    world.ask(.setDistanceFilter(100))
    #expect(world.fixes(1, east: 0) == [.batch(0...0)])
    #expect(world.fixes(1, east: 60) == [])
    #expect(world.fixes(1, east: 99) == [])
    #expect(world.fixes(1, east: 101) == [.batch(3...3)])
    #expect(world.fixes(1, east: 190) == [])
    #expect(world.fixes(1, east: 0) == [.batch(5...5)])
    // What is exactly at the filter passes.
    let edge = equator.localDistance(to: fix(at: 0, east: 50).coordinate)
    world.ask(.setDistanceFilter(edge))
    #expect(world.fixes(1, east: 50) == [.batch(6...6)])
    world.ask(.setDistanceFilter(edge.nextUp))
    #expect(world.fixes(1, east: 0) == [])
  }

  @Test("STD-4: a filter set later counts from the fix delivered without one")
  func filterLater() {
    let world = World.started()
    world.fixes(1, east: 0)
    world.isDraining = true
    world.fixes(1, east: 300)
    world.fixes(1, east: 500)
    #expect(world.drain() == [.batch(1...2)])
    world.ask(.setDistanceFilter(100))
    #expect(world.fixes(1, east: 450) == [])
    #expect(world.fixes(1, east: 601) == [.batch(4...4)])
    world.ask(.setDistanceFilter(-1))
    #expect(world.fixes(1, east: 601) == [.batch(5...5)])
  }

  @Test("STD-6: oldest first, newest last; a filter tells one by one")
  func order() {
    let world = World.started()
    world.isDraining = true
    world.fixes(3)
    #expect(world.drain() == [.batch(0...2)])
    world.ask(.setDistanceFilter(10))
    world.isDraining = true
    for east in [20.0, 25, 40] { world.fixes(1, east: east) }
    #expect(world.drain() == [.batch(3...3), .batch(5...5)])
  }

  @Test("STD-7, STD-8: the newest told fix is known before it is told on")
  func newest() {
    let world = World.started()
    #expect(world.client.newestDelivered == nil)
    world.now = 1
    world.append(fix(at: 1))
    #expect(world.client.newestDelivered == nil)
    _ = world.client.nextNotice(
      in: world.ring, hold: Instant(seconds: world.now) + world.hold)
    #expect(world.client.newestDelivered == 0)
    #expect(world.ring.stored(at: 0)?.fix.acquired == Instant(seconds: 1))
  }

  @Test("STD-10: starting while denied tells 1, and no fix")
  func denied() {
    let world = World(capacity: 16)
    #expect(world.ask(.setAuthorization(.denied)) == [])
    #expect(world.ask(.connect, .startUpdating) == [.failure(1)])
    #expect(world.demand == .none)
    #expect(world.fixes(2) == [])
    world.client.reportLocationUnknown(world.context)
    #expect(world.told() == [])
    world.ask(.setAuthorization(.always))
    #expect(world.demand == .live(isWatched: true))
    #expect(world.fixes() == [.batch(2...2)])
  }

  @Test("a suspended client gets nothing until it runs; then what waited, in order")
  func suspended() {
    let world = World.started()
    world.ask(.setExecution(.suspended))
    #expect(world.fixes(3) == [])
    #expect(world.demand == .deferred(check: .distantFuture))
    #expect(!world.hasNotices)
    #expect(world.ask(.setExecution(.background)) == [.batch(0...2)])
    world.ask(.setExecution(.suspended))
    #expect(world.fixes() == [])
    // A request shows that it runs.
    #expect(world.ask(.startUpdating) == [.batch(3...3)])
    world.ask(.setExecution(.suspended), .disallowDeferred)
    #expect(world.client.execution == .background)
    world.ask(.setExecution(.suspended), .acknowledge(world.name(0)))
    #expect(world.client.execution == .suspended)
    world.ask(.stopUpdating)
    #expect(world.client.execution == .background)
  }

  @Test("a suspended client's timeout is met, and told when it runs; its end has its own fixes")
  func suspendedTimeout() {
    let world = World.engaged(timeout: 5)
    #expect(world.fixes(2) == [])
    world.ask(.setExecution(.suspended))
    #expect(world.wait(3) == [])
    #expect(world.fixes(1) == [])
    #expect(world.ask(.setExecution(.background)) == [.finish(nil), .batch(0...1), .batch(2...2)])
  }

  @Test("an engaged client suspended and back is still engaged, its fixes still cached")
  func suspendedEngaged() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    world.ask(.setExecution(.suspended))
    #expect(world.fixes(1) == [])
    #expect(world.ask(.setExecution(.background)) == [])
    #expect(world.state == .engaged)
    #expect(world.fixes() == [.batch(0...3)])
    // Engagement taken away while it is suspended: told when it runs.
    #expect(world.fixes(2) == [])
    world.ask(.setExecution(.suspended))
    #expect(world.may(false) == [])
    #expect(world.ask(.setExecution(.background)) == [.batch(4...5)])
  }

  @Test("DEF-11, RNG-3: a dead client's fixes wait for its next start; no finish is replayed")
  func crash() {
    let world = World.engaged(timeout: 5)
    #expect(world.fixes(3) == [])
    world.ask(.disconnect)
    #expect(world.demand == .none)
    #expect(world.wait(100) == [])
    #expect(world.fixes() == [])
    #expect(world.ask(.connect) == [])
    #expect(!world.hasNotices)
    #expect(world.client.execution == .foreground)
    #expect(world.state == .idle)
    #expect(world.ask(.startUpdating) == [.batch(0...2)])
    #expect(world.fixes() == [.batch(4...4)])
  }

  @Test("DEF-11: ends and failures that waited die with the process")
  func crashForgets() {
    let world = World.engaged(timeout: 5)
    world.buffers = true
    #expect(world.wait(5) == [])
    world.ask(.disconnect)
    #expect(world.drain([1, 2]) == [])
    #expect(world.ask(.connect) == [])
    #expect(world.ask(.startUpdating) == [.batch(0...1)])
    world.ask(.setExecution(.suspended))
    world.lose()
    world.ask(.disconnect)
    // What was told and not acknowledged comes again.
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...1)])
  }

  @Test("DEF-11: a process that dies between a finish and its batch leaves no trace of the end")
  func crashInBetween() {
    let world = World.engaged()
    world.fixes(2)
    world.askQuietly(.disallowDeferred)
    let first = world.client.nextNotice(
      in: world.ring, hold: Instant(seconds: world.now) + world.hold)
    #expect(first.map { Told($0) } == .finish(15))
    world.now += 1
    world.append(fix(at: world.now))
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...2)])
  }

  @Test("RNG-3: after a stop, too, what a drain brings waits for the next process's start")
  func crashAfterStop() {
    let world = World.engaged()
    world.buffers = true
    world.now = 0.6
    world.ask(.stopUpdating)
    world.ask(.disconnect)
    #expect(world.ask(.connect) == [])
    #expect(world.drain([0.5, 0.6]) == [])
    #expect(world.fixes() == [])
    #expect(world.ask(.startUpdating) == [.batch(0...1)])
    #expect(world.fixes() == [.batch(3...3)])
  }

  @Test("a connection made before the drain gets what is owed with it")
  func reconnectBeforeDrain() {
    let world = World.engaged()
    world.fixes(2)
    world.buffers = true
    world.ask(.disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(0...1)])
    #expect(world.drain([0.5]) == [.batch(2...2)])
  }

  @Test("a second connection takes over, with defaults")
  func takeOver() {
    let world = World.engaged()
    world.ask(.setDesiredAccuracy(10), .setDistanceFilter(7))
    #expect(world.ask(.connect) == [])
    #expect(world.client.settings == ClientSettings())
    #expect(!world.client.isUpdating)
    #expect(world.state == .idle)
  }

  @Test("DEF-10: without a process only connecting and authorization mean anything")
  func unconnected() {
    let world = World(capacity: 16)
    for _ in 0..<6 {
      world.ask(
        .startUpdating, .allowDeferred(distance: 1, timeout: 0), .disallowDeferred, .stopUpdating,
        .setDesiredAccuracy(5), .setDistanceFilter(5), .setExecution(.suspended),
        .acknowledge(world.name(0)), .disconnect)
    }
    #expect(!world.client.isUpdating)
    #expect(world.client.settings == ClientSettings())
    #expect(world.client.execution == .foreground)
    #expect(world.ask(.connect) == [])
    world.ask(.disconnect, .setAuthorization(.denied))
    #expect(!world.client.isAuthorized)
  }

  @Test("RNG-3: what was acknowledged never comes again, what was not does, under its name")
  func acknowledged() {
    let world = World.started()
    world.fixes(4)
    world.ask(.acknowledge(world.name(1)), .disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(2...3)])
    world.ask(.acknowledge(world.name(3)), .disconnect)
    #expect(world.ask(.connect, .startUpdating) == [])
    // Names that were not told yet, or can be no fix's, change nothing.
    world.fixes()
    world.ask(
      .acknowledge(world.name(9)), .acknowledge(FixName(generation: 99, sequence: 4)), .disconnect)
    #expect(world.ask(.connect, .startUpdating) == [.batch(4...4)])
  }

  @Test(
    "the board stays awake for the acknowledgement of the last batch, as long as the profile says")
  func acknowledgement() {
    let world = World.started()
    #expect(world.awaitsAcknowledgementUntil == nil)
    world.fixes(2)
    #expect(world.awaitsAcknowledgementUntil == Instant(seconds: 4))
    world.ask(.acknowledge(world.name(0)))
    #expect(world.awaitsAcknowledgementUntil == Instant(seconds: 4))
    world.ask(.acknowledge(world.name(7)))
    #expect(world.awaitsAcknowledgementUntil != nil)
    world.ask(.acknowledge(world.name(1)))
    #expect(world.awaitsAcknowledgementUntil == nil)
    world.fixes()
    world.ask(.disconnect)
    #expect(world.awaitsAcknowledgementUntil == nil)
  }

  @Test(
    "X1: after an end nothing is torn down until the handler calls again; acknowledging ends nothing"
  )
  func turn() {
    var world = World.engaged(timeout: 5)
    world.fixes()
    #expect(world.demand == .deferred(check: Instant(seconds: 5)))
    world.wait(4)
    #expect(world.demand == .deferred(check: Instant(seconds: 7)))
    world.now = 6.999
    #expect(world.demand == .deferred(check: Instant(seconds: 7)))
    world.now = 7
    #expect(world.demand == .live(isWatched: false))
    world.now = 5
    world.ask(.acknowledge(world.name(0)))
    #expect(world.demand == .deferred(check: Instant(seconds: 7)))
    world.now = 7
    #expect(world.demand == .live(isWatched: false))

    world = World.engaged(timeout: 5)
    world.wait(5)
    #expect(world.demand == .deferred(check: Instant(seconds: 7)))
    world.ask(.allowDeferred(distance: .infinity, timeout: .infinity))
    #expect(world.demand == .deferred(check: .distantFuture))
    world.ask(.disallowDeferred)
    #expect(world.demand == .deferred(check: Instant(seconds: 7)))
    world.ask(.stopUpdating, .startUpdating)
    #expect(world.demand == .live(isWatched: false))
  }

  @Test("a call that fails at once keeps nothing up that was not deferred")
  func failedCallKeepsNothing() {
    let world = World.started()
    world.ask(.allowDeferred(distance: -1, timeout: 1))
    #expect(world.demand == .live(isWatched: false))
    world.ask(.allowDeferred(distance: 1, timeout: 100))
    world.ask(.allowDeferred(distance: -1, timeout: 1))
    #expect(world.demand == .deferred(check: Instant(seconds: 2)))
    world.now = 1
    world.ask(.allowDeferred(distance: -1, timeout: 1))
    #expect(world.demand == .deferred(check: Instant(seconds: 2)))
  }

  @Test("PWR-1: what a client needs follows from its state")
  func demands() {
    let world = World(capacity: 16)
    #expect(world.demand == .none)
    world.ask(.connect)
    #expect(world.demand == .none)
    world.ask(.startUpdating)
    #expect(world.demand == .live(isWatched: true))
    world.ask(.allowDeferred(distance: 100, timeout: 50))
    #expect(world.demand == .live(isWatched: true))
    world.ask(.setExecution(.background))
    #expect(world.demand == .deferred(check: Instant(seconds: 50)))
    world.client.distanceCheck = Instant(seconds: 40)
    #expect(world.demand == .deferred(check: Instant(seconds: 40)))
    world.client.distanceCheck = Instant(seconds: 60)
    #expect(world.demand == .deferred(check: Instant(seconds: 50)))
    world.may(true)
    #expect(world.demand == .deferred(check: Instant(seconds: 50)))
    world.client.distanceCheck = Instant(seconds: 40)
    world.ask(.setExecution(.suspended))
    #expect(world.demand == .deferred(check: Instant(seconds: 50)))
    world.ask(.setExecution(.background), .setAuthorization(.denied))
    #expect(world.demand == .none)
    #expect(world.client.distanceCheck == .distantFuture)
    world.ask(.setAuthorization(.always))
    world.client.distanceCheck = .boot
    world.ask(.disconnect)
    #expect(world.demand == .none)
    #expect(world.client.distanceCheck == .distantFuture)
  }

  @Test("clients are numbered from 0")
  func numbers() async {
    #expect(ClientID(0).index == 0)
    await #expect(processExitsWith: .failure) { _ = ClientID(-1) }
  }
}
