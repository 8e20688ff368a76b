import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("A client whose fixes gather in the receiver")
struct ClientDrainTests {
  /// An engaged client; the receiver holds what was made since 0 s.
  static func buffering(distance: Double = .infinity, timeout: Double = .infinity) -> World {
    let world = World.engaged(distance: distance, timeout: timeout)
    world.buffers = true
    world.limit = 8
    return world
  }

  static let call = Request.allowDeferred(distance: .infinity, timeout: .infinity)

  @Test(
    "X1, DEF-17: an end waits for what the receiver holds; then the finish and at once the batch")
  func timeout() {
    let world = Self.buffering(timeout: 10)
    #expect(world.wait(9) == [])
    #expect(world.demand == .deferred(check: Instant(seconds: 10)))
    #expect(!world.isWaitingForDrain)
    #expect(world.wait(1) == [])
    #expect(world.isWaitingForDrain)
    #expect(!world.hasNotices)
    #expect(world.demand == .deferred(check: Instant(seconds: 10)))
    #expect(world.drain([1, 2, 3, 11]) == [.finish(nil), .batch(0...3)])
    #expect(!world.isWaitingForDrain)
  }

  @Test("X1: the next end after one that waited comes before its batch again")
  func nextEnd() {
    let world = Self.buffering(timeout: 10)
    world.wait(10)
    #expect(world.drain([1]) == [.finish(nil), .batch(0...0)])
    world.ask(Self.call)
    world.may(true)
    #expect(world.fixes(2) == [])
    #expect(world.ask(.disallowDeferred) == [.finish(15), .batch(1...2)])
  }

  @Test("DEF-15, DEF-39: so do the other ends")
  func otherEnds() {
    for (request, code) in [
      (Request.disallowDeferred, 15), (.setDesiredAccuracy(10), 13), (.stopUpdating, 15),
    ] {
      let world = Self.buffering()
      world.now = 5
      #expect(world.ask(request) == [])
      #expect(world.isWaitingForDrain)
      #expect(world.drain([1, 2]) == [.finish(code), .batch(0...1)])
      #expect(!world.isWaitingForDrain)
    }
  }

  @Test("DEF-35: a fix of the drain that meets the distance ends it there and then")
  func distance() {
    let world = Self.buffering(distance: 50)
    world.now = 5
    #expect(world.drain([1]) == [])
    world.buffers = true
    #expect(world.drain([2, 3], east: 60) == [.finish(nil), .batch(0...1), .batch(2...2)])
  }

  @Test("DEF-27: a flush to the foreground waits for what the receiver holds")
  func flush() {
    let world = Self.buffering()
    world.drain([1])
    world.buffers = true
    world.now = 5
    world.ask(.setExecution(.foreground))
    #expect(world.may(true) == [])
    #expect(world.state == .armed)
    #expect(world.isWaitingForDrain)
    #expect(world.drain([2, 3]) == [.batch(0...2)])
    #expect(world.fixes() == [.batch(3...3)])
  }

  @Test("DEF-13, X1: each of several calls that wait is told with its own fixes behind it")
  func ownFixes() {
    let world = Self.buffering()
    world.now = 3
    #expect(world.ask(.allowDeferred(distance: 0, timeout: .infinity)) == [])
    #expect(world.state == .armed)
    // 3.0 was made with the call, not after it; 4 meets the second call's distance of 0.
    #expect(
      world.drain([1, 2, 3, 4, 5]) == [
        .finish(15), .batch(0...2), .finish(nil), .batch(3...3), .batch(4...4),
      ])
  }

  @Test("DEF-8: with several calls in a row, each is told once, and the wait is bounded")
  func manyCalls() {
    let world = Self.buffering()
    var told: [Told] = []
    for second in 1...9 {
      world.now = Double(second)
      told += world.ask(Self.call)
    }
    told += world.drain([0.5, 8.5])
    told += world.ask(.disallowDeferred)
    #expect(told.filter { $0 == .finish(15) }.count == 10)
    #expect(told.filter { if case .finish = $0 { false } else { true } } == [.batch(0...1)])
    #expect(world.state == .idle)
  }

  @Test("DEF-8: even two ends a call are bounded, whatever waits")
  func manyEnds() {
    let world = Self.buffering()
    var finishes = 0
    for second in 1...20 {
      world.now = Double(second)
      let told =
        switch second % 3 {
        case 0: world.ask(.allowDeferred(distance: 5, timeout: 0))
        case 1: world.ask(.allowDeferred(distance: -5, timeout: 0))
        default: world.ask(Self.call)
        }
      finishes += told.count
    }
    finishes += world.drain().count
    #expect(finishes == 21 - (world.state == .idle ? 0 : 1))
  }

  @Test("DEF-8: a suspended client's ends are kept, at most one more while it is away")
  func suspendedEnds() {
    let world = Self.buffering()
    world.ask(Self.call)
    world.ask(Self.call)
    world.ask(.setExecution(.suspended))
    #expect(world.wait(1) == [])
    #expect(world.lose() == [])
    let told = world.ask(.setDesiredAccuracy(-1))
    #expect(told == [.finish(15), .finish(15), .finish(11), .failure(0)])
    #expect(world.ask(.allowDeferred(distance: 5, timeout: 0)) == [])
    #expect(world.drain() == [.finish(nil)])
  }

  @Test("DEF-37: after stop what the receiver holds of the time until then is told, and no more")
  func stop() {
    let world = Self.buffering()
    world.now = 5
    #expect(world.ask(.stopUpdating) == [])
    #expect(world.demand == .none)
    #expect(world.drain([1, 2]) == [.finish(15), .batch(0...1)])
    #expect(world.fixes(2) == [])
    #expect(world.ask(.stopUpdating) == [])
  }

  @Test("DEF-37: without a deferral too")
  func stopUndeferred() {
    let world = World.started()
    world.buffers = true
    world.now = 0.5
    #expect(world.ask(.stopUpdating) == [])
    #expect(world.isWaitingForDrain)
    #expect(world.drain([0.5]) == [.batch(0...0)])
    #expect(world.drain([0.6]) == [])
  }

  @Test("STD-3: updates started again before the drain lose nothing and double nothing")
  func restart() {
    let world = Self.buffering()
    world.now = 5
    world.ask(.stopUpdating)
    #expect(world.ask(.startUpdating) == [])
    #expect(world.drain([1, 2]) == [.finish(15), .batch(0...1)])
    #expect(world.fixes() == [.batch(2...2)])
    // The same without a deferral: normal delivery goes on as the fixes come.
    world.buffers = true
    world.ask(.stopUpdating)
    world.ask(.startUpdating)
    #expect(!world.isWaitingForDrain)
    #expect(world.drain([6]) == [.batch(3...3)])
  }

  @Test("while the receiver is drained normal delivery waits for the rest, N at most")
  func drainingHolds() {
    let world = World.started()
    world.isDraining = true
    #expect(world.fixes(3) == [])
    #expect(world.fixes() == [.batch(0...3)])
    #expect(world.fixes(2) == [])
    #expect(world.drain() == [.batch(4...5)])
  }

  @Test("DEF-28: nothing engages while a drain is under way or awaited")
  func noEngagement() {
    let world = World.started()
    world.ask(Self.call)
    world.isDraining = true
    world.may(true)
    #expect(world.state == .armed)
    world.isDraining = false
    world.buffers = true
    world.ask(Self.call)
    world.may(true)
    #expect(world.state == .armed)
    world.drain()
    world.may(true)
    #expect(world.state == .engaged)
    #expect(world.drain([1, 2]) == [])
  }

  @Test("DEF-12: what came before the engagement is told, what comes after waits")
  func olderFirst() {
    let world = World.started()
    world.ask(Self.call)
    world.isDraining = true
    #expect(world.fixes(2) == [])
    world.isDraining = false
    #expect(world.may(true) == [.batch(0...1)])
    #expect(world.state == .engaged)
    #expect(world.fixes() == [])
  }

  @Test("DEF-43: a lost receiver keeps nobody waiting")
  func lost() {
    var world = Self.buffering(timeout: 10)
    world.drain([1])
    world.buffers = true
    #expect(world.wait(10) == [])
    #expect(world.lose() == [.finish(nil), .batch(0...0), .failure(0)])
    #expect(!world.isWaitingForDrain)
    world = Self.buffering()
    world.ask(.stopUpdating)
    #expect(world.lose() == [.finish(15)])
    #expect(!world.isWaitingForDrain)
  }

  @Test("RNG-6, X7: what the receiver held of the time before a denial is never shown")
  func denial() {
    let world = Self.buffering(timeout: 10)
    #expect(world.wait(10) == [])
    #expect(world.ask(.setAuthorization(.denied)) == [.finish(nil), .failure(1)])
    #expect(!world.isWaitingForDrain)
    world.now = 20
    #expect(world.ask(.setAuthorization(.always)) == [])
    #expect(world.drain([5, 19.9, 20]) == [])
    #expect(world.drain([20.1, 19.9]) == [.batch(3...3)])
  }

  @Test("RNG-6: a process that stopped or died before the denial is owed nothing after it")
  func denialAfterEnd() {
    for request in [Request.stopUpdating, .disconnect] {
      let world = Self.buffering()
      world.drain([1])
      world.buffers = true
      world.ask(request)
      world.ask(.setAuthorization(.denied))
      world.drain([2])
      world.ask(.setAuthorization(.always))
      world.now = 9
      world.fixes()
      #expect(world.ask(.connect, .startUpdating) == [])
      #expect(!world.hasNotices)
      #expect(world.fixes() == [.batch(3...3)])
    }
  }
}
