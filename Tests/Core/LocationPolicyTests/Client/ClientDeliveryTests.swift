import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Fix delivery to a client")
struct ClientDeliveryTests {
  @Test("STD-3: start delivers each later fix; a second start adds nothing; a restart starts over")
  func start() {
    let bench = ClientBench(capacity: 16)
    #expect(bench.send(.connect) == [])
    #expect(bench.fixes() == [])
    #expect(bench.demand == .none)
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.demand == .live(isWatched: true))
    #expect(bench.fixes() == [.batch(1...1)])
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(2...2)])
    #expect(bench.send(.stopUpdating) == [])
    #expect(bench.fixes() == [])
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.fixes() == [.batch(4...4)])
  }

  @Test("STD-3, STD-4: the first fix after a start ignores the filter")
  func startResetsFilter() {
    let bench = ClientBench.started()
    bench.send(.setDistanceFilter(100))
    #expect(bench.fixes() == [.batch(0...0)])
    #expect(bench.fixes() == [])
    bench.send(.stopUpdating)
    bench.send(.startUpdating)
    #expect(bench.fixes() == [.batch(2...2)])
  }

  @Test("STD-4: the filter is measured from the last delivered fix")
  func filter() {
    let bench = ClientBench.started()
    bench.send(.setDistanceFilter(100))
    #expect(bench.fixes(1, east: 0) == [.batch(0...0)])
    #expect(bench.fixes(1, east: 60) == [])
    #expect(bench.fixes(1, east: 99) == [])
    #expect(bench.fixes(1, east: 101) == [.batch(3...3)])
    #expect(bench.fixes(1, east: 190) == [])
    #expect(bench.fixes(1, east: 0) == [.batch(5...5)])
    // A fix exactly at the filter distance passes.
    let edge = equator.localDistance(to: fix(at: 0, east: 50).coordinate)
    bench.send(.setDistanceFilter(edge))
    #expect(bench.fixes(1, east: 50) == [.batch(6...6)])
    bench.send(.setDistanceFilter(edge.nextUp))
    #expect(bench.fixes(1, east: 0) == [])
  }

  @Test("STD-4: a filter set later is measured from the last fix delivered without one")
  func filterLater() {
    let bench = ClientBench.started()
    bench.fixes(1, east: 0)
    bench.isDraining = true
    bench.fixes(1, east: 300)
    bench.fixes(1, east: 500)
    #expect(bench.drain() == [.batch(1...2)])
    bench.send(.setDistanceFilter(100))
    #expect(bench.fixes(1, east: 450) == [])
    #expect(bench.fixes(1, east: 601) == [.batch(4...4)])
    bench.send(.setDistanceFilter(-1))
    #expect(bench.fixes(1, east: 601) == [.batch(5...5)])
  }

  @Test("STD-6: batches run from oldest to newest; with a filter fixes are delivered one by one")
  func order() {
    let bench = ClientBench.started()
    bench.isDraining = true
    bench.fixes(3)
    #expect(bench.drain() == [.batch(0...2)])
    bench.send(.setDistanceFilter(10))
    bench.isDraining = true
    for east in [20.0, 25, 40] { bench.fixes(1, east: east) }
    #expect(bench.drain() == [.batch(3...3), .batch(5...5)])
  }

  @Test("STD-7, STD-8: the newest delivered fix is set as soon as its notice is read")
  func newest() {
    let bench = ClientBench.started()
    #expect(bench.client.newestDelivered == nil)
    bench.now = 1
    bench.append(fix(at: 1))
    #expect(bench.client.newestDelivered == nil)
    _ = bench.client.nextNotice(
      in: bench.ring, hold: Instant(seconds: bench.now) + bench.hold)
    #expect(bench.client.newestDelivered == 0)
    #expect(bench.ring.stored(at: 0)?.fix.acquired == Instant(seconds: 1))
  }

  @Test("STD-10: starting while denied reports 1 and delivers no fix")
  func denied() {
    let bench = ClientBench(capacity: 16)
    #expect(bench.send(.setAuthorization(.denied)) == [])
    #expect(bench.send(.connect, .startUpdating) == [.failure(1)])
    #expect(bench.demand == .none)
    #expect(bench.fixes(2) == [])
    bench.client.reportLocationUnknown(bench.context)
    #expect(bench.notices() == [])
    bench.send(.setAuthorization(.always))
    #expect(bench.demand == .live(isWatched: true))
    #expect(bench.fixes() == [.batch(2...2)])
  }

  @Test("A suspended client gets its waiting fixes in order when it runs again")
  func suspended() {
    let bench = ClientBench.started()
    bench.send(.setExecution(.suspended))
    #expect(bench.fixes(3) == [])
    #expect(bench.demand == .deferred(check: .distantFuture))
    #expect(!bench.hasNotices)
    #expect(bench.send(.setExecution(.background)) == [.batch(0...2)])
    bench.send(.setExecution(.suspended))
    #expect(bench.fixes() == [])
    // A request shows that the client is running.
    #expect(bench.send(.startUpdating) == [.batch(3...3)])
    bench.send(.setExecution(.suspended), .disallowDeferred)
    #expect(bench.client.execution == .background)
    bench.send(.setExecution(.suspended), .acknowledge(bench.name(0)))
    #expect(bench.client.execution == .suspended)
    bench.send(.stopUpdating)
    #expect(bench.client.execution == .background)
  }

  @Test("A suspended client's timeout is reported when it runs, with its own fixes")
  func suspendedTimeout() {
    let bench = ClientBench.engaged(timeout: 5)
    #expect(bench.fixes(2) == [])
    bench.send(.setExecution(.suspended))
    #expect(bench.wait(3) == [])
    #expect(bench.fixes(1) == [])
    #expect(bench.send(.setExecution(.background)) == [.finish(nil), .batch(0...1), .batch(2...2)])
  }

  @Test("An engaged client stays engaged through a suspension, and its fixes stay cached")
  func suspendedEngaged() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    bench.send(.setExecution(.suspended))
    #expect(bench.fixes(1) == [])
    #expect(bench.send(.setExecution(.background)) == [])
    #expect(bench.state == .engaged)
    #expect(bench.fixes() == [.batch(0...3)])
    // Engagement revoked during suspension: the fixes are delivered when it runs.
    #expect(bench.fixes(2) == [])
    bench.send(.setExecution(.suspended))
    #expect(bench.updateEngagement(false) == [])
    #expect(bench.send(.setExecution(.background)) == [.batch(4...5)])
  }

  @Test("DEF-11, RNG-3: after a crash the fixes wait for the next start; no finish is replayed")
  func crash() {
    let bench = ClientBench.engaged(timeout: 5)
    #expect(bench.fixes(3) == [])
    bench.send(.disconnect)
    #expect(bench.demand == .none)
    #expect(bench.wait(100) == [])
    #expect(bench.fixes() == [])
    #expect(bench.send(.connect) == [])
    #expect(!bench.hasNotices)
    #expect(bench.client.execution == .foreground)
    #expect(bench.state == .idle)
    #expect(bench.send(.startUpdating) == [.batch(0...2)])
    #expect(bench.fixes() == [.batch(4...4)])
  }

  @Test("DEF-11: pending ends and failures are dropped with the process")
  func crashDropsEnds() {
    let bench = ClientBench.engaged(timeout: 5)
    bench.buffers = true
    #expect(bench.wait(5) == [])
    bench.send(.disconnect)
    #expect(bench.drain([1, 2]) == [])
    #expect(bench.send(.connect) == [])
    #expect(bench.send(.startUpdating) == [.batch(0...1)])
    bench.send(.setExecution(.suspended))
    bench.loseReceiver()
    bench.send(.disconnect)
    // Unacknowledged fixes are delivered again.
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...1)])
  }

  @Test("DEF-11: a crash between a finish and its batch drops the end")
  func crashInBetween() {
    let bench = ClientBench.engaged()
    bench.fixes(2)
    bench.sendOnly(.disallowDeferred)
    let first = bench.client.nextNotice(
      in: bench.ring, hold: Instant(seconds: bench.now) + bench.hold)
    #expect(first.map { NoticeValue($0) } == .finish(15))
    bench.now += 1
    bench.append(fix(at: bench.now))
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...2)])
  }

  @Test("RNG-3: fixes drained after a stop wait for the next process's start")
  func crashAfterStop() {
    let bench = ClientBench.engaged()
    bench.buffers = true
    bench.now = 0.6
    bench.send(.stopUpdating)
    bench.send(.disconnect)
    #expect(bench.send(.connect) == [])
    #expect(bench.drain([0.5, 0.6]) == [])
    #expect(bench.fixes() == [])
    #expect(bench.send(.startUpdating) == [.batch(0...1)])
    #expect(bench.fixes() == [.batch(3...3)])
  }

  @Test("A connection before the drain gets the undelivered fixes, then the drained ones")
  func reconnectBeforeDrain() {
    let bench = ClientBench.engaged()
    bench.fixes(2)
    bench.buffers = true
    bench.send(.disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(0...1)])
    #expect(bench.drain([0.5]) == [.batch(2...2)])
  }

  @Test("A second connection replaces the first, with default settings")
  func secondConnection() {
    let bench = ClientBench.engaged()
    bench.send(.setDesiredAccuracy(10), .setDistanceFilter(7))
    #expect(bench.send(.connect) == [])
    #expect(bench.client.updates.settings == ClientSettings())
    #expect(bench.client.isUpdating == false)
    #expect(bench.state == .idle)
  }

  @Test("DEF-10: without a process only connections and authorization have an effect")
  func unconnected() {
    let bench = ClientBench(capacity: 16)
    for _ in 0..<6 {
      bench.send(
        .startUpdating, .allowDeferred(distance: 1, timeout: 0), .disallowDeferred, .stopUpdating,
        .setDesiredAccuracy(5), .setDistanceFilter(5), .setExecution(.suspended),
        .acknowledge(bench.name(0)), .disconnect)
    }
    #expect(bench.client.isUpdating == false)
    #expect(bench.client.updates.settings == ClientSettings())
    #expect(bench.client.execution == .foreground)
    #expect(bench.send(.connect) == [])
    bench.send(.disconnect, .setAuthorization(.denied))
    #expect(bench.client.isAuthorized == false)
  }

  @Test("RNG-3: unacknowledged fixes are delivered again under the same name, others never")
  func acknowledged() {
    let bench = ClientBench.started()
    bench.fixes(4)
    bench.send(.acknowledge(bench.name(1)), .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(2...3)])
    bench.send(.acknowledge(bench.name(3)), .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [])
    // Names of undelivered or impossible fixes change nothing.
    bench.fixes()
    bench.send(
      .acknowledge(bench.name(9)), .acknowledge(FixName(generation: 99, sequence: 4)), .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(4...4)])
  }

  @Test("The board stays awake for the last batch's acknowledgement, up to the delivery hold")
  func acknowledgement() {
    let bench = ClientBench.started()
    #expect(bench.acknowledgementDeadline == nil)
    bench.fixes(2)
    #expect(bench.acknowledgementDeadline == Instant(seconds: 4))
    bench.send(.acknowledge(bench.name(0)))
    #expect(bench.acknowledgementDeadline == Instant(seconds: 4))
    bench.send(.acknowledge(bench.name(7)))
    #expect(bench.acknowledgementDeadline != nil)
    bench.send(.acknowledge(bench.name(1)))
    #expect(bench.acknowledgementDeadline == nil)
    bench.fixes()
    bench.send(.disconnect)
    #expect(bench.acknowledgementDeadline == nil)
  }

  @Test("X1: after an end the demand stays for the handler's next call, despite an acknowledgement")
  func rearm() {
    var bench = ClientBench.engaged(timeout: 5)
    bench.fixes()
    #expect(bench.demand == .deferred(check: Instant(seconds: 5)))
    bench.wait(4)
    #expect(bench.demand == .deferred(check: Instant(seconds: 7)))
    bench.now = 6.999
    #expect(bench.demand == .deferred(check: Instant(seconds: 7)))
    bench.now = 7
    #expect(bench.demand == .live(isWatched: false))
    bench.now = 5
    bench.send(.acknowledge(bench.name(0)))
    #expect(bench.demand == .deferred(check: Instant(seconds: 7)))
    bench.now = 7
    #expect(bench.demand == .live(isWatched: false))

    bench = ClientBench.engaged(timeout: 5)
    bench.wait(5)
    #expect(bench.demand == .deferred(check: Instant(seconds: 7)))
    bench.send(.allowDeferred(distance: .infinity, timeout: .infinity))
    #expect(bench.demand == .deferred(check: .distantFuture))
    bench.send(.disallowDeferred)
    #expect(bench.demand == .deferred(check: Instant(seconds: 7)))
    bench.send(.stopUpdating, .startUpdating)
    #expect(bench.demand == .live(isWatched: false))
  }

  @Test("A call that fails immediately adds no deferred demand")
  func failedCallAddsNoDemand() {
    let bench = ClientBench.started()
    bench.send(.allowDeferred(distance: -1, timeout: 1))
    #expect(bench.demand == .live(isWatched: false))
    bench.send(.allowDeferred(distance: 1, timeout: 100))
    bench.send(.allowDeferred(distance: -1, timeout: 1))
    #expect(bench.demand == .deferred(check: Instant(seconds: 2)))
    bench.now = 1
    bench.send(.allowDeferred(distance: -1, timeout: 1))
    #expect(bench.demand == .deferred(check: Instant(seconds: 2)))
  }

  @Test("PWR-1: a client's demand follows from its state")
  func demands() {
    let bench = ClientBench(capacity: 16)
    #expect(bench.demand == .none)
    bench.send(.connect)
    #expect(bench.demand == .none)
    bench.send(.startUpdating)
    #expect(bench.demand == .live(isWatched: true))
    bench.send(.allowDeferred(distance: 100, timeout: 50))
    #expect(bench.demand == .live(isWatched: true))
    bench.send(.setExecution(.background))
    #expect(bench.demand == .deferred(check: Instant(seconds: 50)))
    bench.client.scheduleDistanceCheck(at: Instant(seconds: 40))
    #expect(bench.demand == .deferred(check: Instant(seconds: 40)))
    bench.client.scheduleDistanceCheck(at: Instant(seconds: 60))
    #expect(bench.demand == .deferred(check: Instant(seconds: 50)))
    bench.updateEngagement(true)
    #expect(bench.demand == .deferred(check: Instant(seconds: 50)))
    bench.client.scheduleDistanceCheck(at: Instant(seconds: 40))
    bench.send(.setExecution(.suspended))
    #expect(bench.demand == .deferred(check: Instant(seconds: 50)))
    bench.send(.setExecution(.background), .setAuthorization(.denied))
    #expect(bench.demand == .none)
    #expect(bench.client.distanceCheck == .distantFuture)
    bench.send(.setAuthorization(.always))
    bench.client.scheduleDistanceCheck(at: .boot)
    bench.send(.disconnect)
    #expect(bench.demand == .none)
    #expect(bench.client.distanceCheck == .distantFuture)
  }

  @Test("Client numbers start at 0")
  func numbers() async {
    #expect(ClientID(0).index == 0)
    await #expect(processExitsWith: .failure) { _ = ClientID(-1) }
  }
}
