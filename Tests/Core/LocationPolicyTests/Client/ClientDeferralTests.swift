import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("A client and its deferral")
struct ClientDeferralTests {
  @Test("DEF-1, X6: without a usable receiver the call ends with 11")
  func noReceiver() {
    let world = World.started()
    world.isAvailable = false
    #expect(world.ask(.allowDeferred(distance: 1, timeout: 1)) == [.finish(11)])
    #expect(world.state == .idle)
  }

  @Test("DEF-2, DEF-3, DEF-4, DEF-5, DEF-6: each failed precondition ends the call once")
  func preconditions() {
    let call = Request.allowDeferred(distance: 1, timeout: 1)
    let world = World(capacity: 16)
    #expect(world.ask(.connect, call) == [.finish(12)])
    #expect(world.ask(.allowDeferred(distance: -1, timeout: 1)) == [.finish(11)])
    #expect(world.ask(.startUpdating, .setDesiredAccuracy(1), call) == [.finish(13)])
    #expect(world.ask(.setDistanceFilter(5), call) == [.finish(13)])
    #expect(world.ask(.setDesiredAccuracy(-2), call) == [.finish(14)])
    #expect(world.ask(.setDistanceFilter(-1), call) == [])
    #expect(world.state == .armed)
    #expect(world.ask(.stopUpdating) == [.finish(15)])
    #expect(world.ask(call) == [.finish(12)])
    #expect(world.ask(.setAuthorization(.denied)) == [])
    #expect(world.ask(call) == [.finish(1)])
  }

  @Test("DEF-8, DEF-14: a call that fails cancels the one before all the same")
  func failedSecondCall() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(
      world.ask(.allowDeferred(distance: -1, timeout: 1)) == [
        .finish(15), .batch(0...1), .finish(11),
      ])
    #expect(world.state == .idle)
    #expect(world.fixes() == [.batch(2...2)])
  }

  @Test("DEF-10: nothing is told inside the call")
  func notInside() {
    let world = World.started()
    world.askQuietly(.allowDeferred(distance: -1, timeout: 1))
    #expect(world.hasNotices)
    #expect(world.told() == [.finish(11)])
    #expect(!world.hasNotices)
    world.askQuietly(.allowDeferred(distance: 1, timeout: 0))
    #expect(world.hasNotices)
    #expect(world.told() == [.finish(nil)])
  }

  @Test("DEF-12: after the finish normal updates go on")
  func afterFinish() {
    let world = World.engaged(timeout: 10)
    #expect(world.fixes(3) == [])
    #expect(world.wait(7) == [.finish(nil), .batch(0...2)])
    #expect(world.fixes(2) == [.batch(3...3), .batch(4...4)])
    #expect(
      world.demand == .live(isWatched: false)
        || world.demand == .deferred(check: Instant(seconds: 12)))
  }

  @Test("DEF-13, DEF-14: a second call cancels the first, tells its batch, and counts for itself")
  func secondCall() {
    let world = World.engaged(distance: 100)
    #expect(world.fixes(1, east: 0) == [])
    #expect(world.fixes(1, east: 90) == [])
    #expect(
      world.ask(.allowDeferred(distance: 100, timeout: .infinity)) == [.finish(15), .batch(0...1)])
    #expect(world.state == .armed)
    world.may(true)
    // The start of the second is the last fix, 90 m out.
    #expect(world.fixes(1, east: 180) == [])
    #expect(world.fixes(1, east: 193) == [.finish(nil), .batch(2...3)])
  }

  @Test("DEF-15: disallow cancels and flushes, once; with nothing outstanding it tells nothing")
  func disallow() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.ask(.disallowDeferred) == [.finish(15), .batch(0...1)])
    #expect(world.ask(.disallowDeferred) == [])
    #expect(world.fixes() == [.batch(2...2)])
  }

  @Test("DEF-16, DEF-35: the fix that meets the distance is the last of the final batch")
  func distance() {
    let world = World.engaged(distance: 50, timeout: 100)
    #expect(world.fixes(2) == [])
    #expect(world.fixes(1, east: 51) == [.finish(nil), .batch(0...2)])
    #expect(world.wait(200) == [])
  }

  @Test("DEF-17, DEF-18, DEF-42: without any fix the timeout ends it, not before its time")
  func timeoutWithoutFix() {
    let world = World.engaged(timeout: 60)
    #expect(world.wait(59.999) == [])
    #expect(world.wait(0.001) == [.finish(nil)])
    #expect(world.wait(60) == [])
  }

  @Test("DEF-19: a last fix of up to 10 s is the start of the distance, an older one is not")
  func start() {
    for (age, met) in [(10.0, true), (10.000_001, false)] {
      let world = World.started()
      world.fixes(1, east: 0)
      world.now += age
      world.ask(.allowDeferred(distance: 50, timeout: .infinity))
      world.may(true)
      #expect(world.fixes(1, east: 51) == (met ? [.finish(nil), .batch(1...1)] : []))
      #expect(Client.freshness == .seconds(10))
    }
  }

  @Test("DEF-23: distance 0 is met at the next fix, timeout 0 at once")
  func zeros() {
    let world = World.started()
    #expect(world.ask(.allowDeferred(distance: 0, timeout: 60)) == [])
    #expect(world.fixes() == [.finish(nil), .batch(0...0)])
    #expect(world.ask(.allowDeferred(distance: 60, timeout: 0)) == [.finish(nil)])
    #expect(world.state == .idle)
    #expect(world.ask(.allowDeferred(distance: .nan, timeout: 0)) == [.finish(11)])
  }

  @Test("DEF-25, X2: in the foreground fixes come as they are made, and the criteria are watched")
  func foreground() {
    let world = World.started()
    world.ask(.setExecution(.foreground), .allowDeferred(distance: 50, timeout: 100))
    world.may(true)
    #expect(world.state == .armed)
    #expect(world.fixes(2) == [.batch(0...0), .batch(1...1)])
    #expect(world.fixes(1, east: 51) == [.finish(nil), .batch(2...2)])
    world.ask(.allowDeferred(distance: 50, timeout: 100))
    #expect(world.wait(100) == [.finish(nil)])
  }

  @Test("DEF-26: going to the background, it may engage; time and distance carry over")
  func carriesOver() {
    let world = World.started()
    world.ask(.setExecution(.foreground), .allowDeferred(distance: 50, timeout: 100))
    world.fixes(1, east: 0)
    #expect(world.fixes(1, east: 30) == [.batch(1...1)])
    world.ask(.setExecution(.background))
    world.may(true)
    #expect(world.state == .engaged)
    #expect(world.fixes(1, east: 45) == [])
    #expect(world.fixes(1, east: 58) == [.finish(nil), .batch(2...3)])
    world.ask(.allowDeferred(distance: .infinity, timeout: 100))
    world.wait(60)
    world.ask(.setExecution(.foreground))
    world.may(true)
    #expect(world.wait(39) == [])
    #expect(world.wait(1) == [.finish(nil)])
  }

  @Test("DEF-27, X2: coming to the foreground flushes at once, without a finish")
  func toForeground() {
    let world = World.engaged(timeout: 100)
    #expect(world.fixes(3) == [])
    world.ask(.setExecution(.foreground))
    #expect(world.may(true) == [.batch(0...2)])
    #expect(world.state == .armed)
    #expect(world.fixes() == [.batch(3...3)])
    world.ask(.setExecution(.background))
    world.may(true)
    #expect(world.fixes() == [])
    #expect(world.wait(96) == [.finish(nil), .batch(4...4)])
  }

  @Test("DEF-28, DEF-29: engaged only in the background and while it may; else normal updates")
  func mayNot() {
    let world = World.started()
    world.ask(.allowDeferred(distance: .infinity, timeout: 100))
    world.may(false)
    #expect(world.state == .armed)
    #expect(world.fixes() == [.batch(0...0)])
    world.may(true)
    #expect(world.state == .engaged)
    #expect(world.fixes(2) == [])
    #expect(world.may(true) == [])
    #expect(world.may(false) == [.batch(1...2)])
    #expect(world.state == .armed)
    #expect(world.fixes() == [.batch(3...3)])
    // A deferral that is not outstanding cannot engage.
    world.ask(.disallowDeferred)
    world.may(true)
    #expect(world.state == .idle)
    #expect(!world.client.isDeferrable)
  }

  @Test("DEF-28: what makes a client deferrable")
  func deferrable() {
    let world = World.started()
    #expect(!world.client.isDeferrable)
    world.ask(.allowDeferred(distance: .infinity, timeout: .infinity))
    #expect(world.client.isDeferrable)
    world.ask(.setExecution(.foreground))
    #expect(!world.client.isDeferrable)
    world.ask(.setExecution(.suspended))
    #expect(world.client.isDeferrable)
    world.ask(.setExecution(.background))
    #expect(world.client.isDeferrable)
    world.ask(.stopUpdating)
    #expect(!world.client.isDeferrable)
  }

  @Test("DEF-32, RNG-1, RNG-4: at N one batch of all, no finish; time and distance go on")
  func full() {
    let world = World.engaged(distance: 50, timeout: 100)
    #expect(world.fixes(3) == [])
    #expect(world.fixes(1, east: 30) == [.batch(0...3)])
    #expect(world.state == .engaged)
    #expect(world.fixes(3, east: 35) == [])
    #expect(world.fixes(1, east: 35) == [.batch(4...7)])
    #expect(world.fixes(1, east: 51) == [.finish(nil), .batch(8...8)])
  }

  @Test("DEF-34, STD-6: an end with an empty cache is the finish alone; batches are never empty")
  func empty() {
    let world = World.engaged(timeout: 100)
    #expect(world.ask(.disallowDeferred) == [.finish(15)])
    world.ask(.allowDeferred(distance: .infinity, timeout: 100))
    world.may(true)
    #expect(world.may(false) == [])
  }

  @Test("DEF-37, X5: stop tells finish(15), the batch, then nothing more")
  func stop() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.ask(.stopUpdating) == [.finish(15), .batch(0...1)])
    #expect(world.fixes(3) == [])
    #expect(world.wait(1_000) == [])
    #expect(world.lose() == [])
    #expect(world.ask(.stopUpdating) == [])
    #expect(world.demand == .none)
  }

  @Test("DEF-37: a failure that waited for a suspended client dies with its updates")
  func stopForgetsFailure() {
    let world = World.started()
    world.ask(.setExecution(.suspended))
    #expect(world.lose() == [])
    #expect(world.ask(.stopUpdating) == [])
  }

  @Test("DEF-39: settings that do not fit end it with 13 or 14; those that fit do not")
  func incompatible() {
    var world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.ask(.setDesiredAccuracy(-2)) == [])
    #expect(world.ask(.setDistanceFilter(-1)) == [])
    #expect(world.ask(.setDesiredAccuracy(10)) == [.finish(13), .batch(0...1)])
    #expect(world.ask(.setDesiredAccuracy(100)) == [])
    world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.ask(.setDistanceFilter(10)).prefix(2) == [.finish(14), .batch(0...0)])
    #expect(world.ask(.setDistanceFilter(20)) == [])
    #expect(world.ask(.setDesiredAccuracy(20)) == [])
  }

  @Test("DEF-43: a lost receiver ends it with 11, then the batch, then didFail(0), once")
  func lost() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.lose() == [.finish(11), .batch(0...1), .failure(0)])
    #expect(world.state == .idle)
    #expect(world.fixes() == [.batch(2...2)])
    #expect(world.lose() == [.failure(0)])
  }

  @Test("STD-10: no fix now is told as 0, and only to clients that update")
  func unknown() {
    let world = World.started()
    world.client.reportLocationUnknown(world.context)
    #expect(world.told() == [.failure(0)])
    #expect(world.told() == [])
    world.ask(.stopUpdating)
    world.client.reportLocationUnknown(world.context)
    #expect(world.told() == [])
  }

  @Test("DEF-5, X7: denial ends it with 1, erases what was cached, and nothing follows")
  func denial() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.ask(.setAuthorization(.denied)) == [.finish(1), .failure(1)])
    #expect(world.ask(.setAuthorization(.denied)) == [])
    #expect(world.demand == .none)
    #expect(world.fixes(3) == [])
    #expect(world.lose() == [])
    #expect(world.ask(.setAuthorization(.always)) == [])
    #expect(world.fixes() == [.batch(5...5)])
  }
}
