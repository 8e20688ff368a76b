import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Client deferrals")
struct ClientDeferralTests {
  @Test("DEF-1, X6: without a usable receiver the call ends with 11")
  func noReceiver() {
    let bench = ClientBench.started()
    bench.isAvailable = false
    #expect(bench.send(.allowDeferred(distance: 1, timeout: 1)) == [.finish(11)])
    #expect(bench.state == .idle)
  }

  @Test("DEF-2, DEF-3, DEF-4, DEF-5, DEF-6: each failed precondition ends the call once")
  func preconditions() {
    let call = Request.allowDeferred(distance: 1, timeout: 1)
    let bench = ClientBench(capacity: 16)
    #expect(bench.send(.connect, call) == [.finish(12)])
    #expect(bench.send(.allowDeferred(distance: -1, timeout: 1)) == [.finish(11)])
    #expect(bench.send(.startUpdating, .setDesiredAccuracy(1), call) == [.finish(13)])
    #expect(bench.send(.setDistanceFilter(5), call) == [.finish(13)])
    #expect(bench.send(.setDesiredAccuracy(-2), call) == [.finish(14)])
    #expect(bench.send(.setDistanceFilter(-1), call) == [])
    #expect(bench.state == .armed)
    #expect(bench.send(.stopUpdating) == [.finish(15)])
    #expect(bench.send(call) == [.finish(12)])
    #expect(bench.send(.setAuthorization(.denied)) == [])
    #expect(bench.send(call) == [.finish(1)])
  }

  @Test("DEF-8, DEF-14: a call that fails still cancels the previous one")
  func failedSecondCall() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(
      bench.send(.allowDeferred(distance: -1, timeout: 1)) == [
        .finish(15), .batch(0...1), .finish(11),
      ])
    #expect(bench.state == .idle)
    #expect(bench.fixes() == [.batch(2...2)])
  }

  @Test("DEF-10: no notice is delivered inside the call")
  func notInside() {
    let bench = ClientBench.started()
    bench.sendOnly(.allowDeferred(distance: -1, timeout: 1))
    #expect(bench.hasNotices)
    #expect(bench.notices() == [.finish(11)])
    #expect(!bench.hasNotices)
    bench.sendOnly(.allowDeferred(distance: 1, timeout: 0))
    #expect(bench.hasNotices)
    #expect(bench.notices() == [.finish(nil)])
  }

  @Test("DEF-12: after the finish normal updates continue")
  func afterFinish() {
    let bench = ClientBench.engaged(timeout: 10)
    #expect(bench.fixes(3) == [])
    #expect(bench.wait(7) == [.finish(nil), .batch(0...2)])
    #expect(bench.fixes(2) == [.batch(3...3), .batch(4...4)])
    #expect(
      bench.demand == .live(isWatched: false)
        || bench.demand == .deferred(check: Instant(seconds: 12)))
  }

  @Test(
    "DEF-13, DEF-14: a second call cancels the first, delivers its batch, and measures separately")
  func secondCall() {
    let bench = ClientBench.engaged(distance: 100)
    #expect(bench.fixes(1, east: 0) == [])
    #expect(bench.fixes(1, east: 90) == [])
    #expect(
      bench.send(.allowDeferred(distance: 100, timeout: .infinity)) == [.finish(15), .batch(0...1)])
    #expect(bench.state == .armed)
    bench.updateEngagement(true)
    // The second call starts at the last fix, at 90 m.
    #expect(bench.fixes(1, east: 180) == [])
    #expect(bench.fixes(1, east: 193) == [.finish(nil), .batch(2...3)])
  }

  @Test("DEF-15: disallow cancels and flushes once; without an outstanding call it does nothing")
  func disallow() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.disallowDeferred) == [.finish(15), .batch(0...1)])
    #expect(bench.send(.disallowDeferred) == [])
    #expect(bench.fixes() == [.batch(2...2)])
  }

  @Test("DEF-16, DEF-35: the fix that meets the distance is the last of the final batch")
  func distance() {
    let bench = ClientBench.engaged(distance: 50, timeout: 100)
    #expect(bench.fixes(2) == [])
    #expect(bench.fixes(1, east: 51) == [.finish(nil), .batch(0...2)])
    #expect(bench.wait(200) == [])
  }

  @Test("DEF-17, DEF-18, DEF-42: without any fix the timeout ends the deferral, never early")
  func timeoutWithoutFix() {
    let bench = ClientBench.engaged(timeout: 60)
    #expect(bench.wait(59.999) == [])
    #expect(bench.wait(0.001) == [.finish(nil)])
    #expect(bench.wait(60) == [])
  }

  @Test("DEF-19: the distance starts at the last fix if it is at most 10 s old")
  func start() {
    for (age, met) in [(10.0, true), (10.000_001, false)] {
      let bench = ClientBench.started()
      bench.fixes(1, east: 0)
      bench.now += age
      bench.send(.allowDeferred(distance: 50, timeout: .infinity))
      bench.updateEngagement(true)
      #expect(bench.fixes(1, east: 51) == (met ? [.finish(nil), .batch(1...1)] : []))
      #expect(Client.freshness == .seconds(10))
    }
  }

  @Test("DEF-23: distance 0 is met at the next fix, timeout 0 immediately")
  func zeros() {
    let bench = ClientBench.started()
    #expect(bench.send(.allowDeferred(distance: 0, timeout: 60)) == [])
    #expect(bench.fixes() == [.finish(nil), .batch(0...0)])
    #expect(bench.send(.allowDeferred(distance: 60, timeout: 0)) == [.finish(nil)])
    #expect(bench.state == .idle)
    #expect(bench.send(.allowDeferred(distance: .nan, timeout: 0)) == [.finish(11)])
  }

  @Test(
    "DEF-25, X2: in the foreground fixes are delivered immediately and the criteria still apply")
  func foreground() {
    let bench = ClientBench.started()
    bench.send(.setExecution(.foreground), .allowDeferred(distance: 50, timeout: 100))
    bench.updateEngagement(true)
    #expect(bench.state == .armed)
    #expect(bench.fixes(2) == [.batch(0...0), .batch(1...1)])
    #expect(bench.fixes(1, east: 51) == [.finish(nil), .batch(2...2)])
    bench.send(.allowDeferred(distance: 50, timeout: 100))
    #expect(bench.wait(100) == [.finish(nil)])
  }

  @Test("DEF-26: in the background the deferral may engage; time and distance carry over")
  func carriesOver() {
    let bench = ClientBench.started()
    bench.send(.setExecution(.foreground), .allowDeferred(distance: 50, timeout: 100))
    bench.fixes(1, east: 0)
    #expect(bench.fixes(1, east: 30) == [.batch(1...1)])
    bench.send(.setExecution(.background))
    bench.updateEngagement(true)
    #expect(bench.state == .engaged)
    #expect(bench.fixes(1, east: 45) == [])
    #expect(bench.fixes(1, east: 58) == [.finish(nil), .batch(2...3)])
    bench.send(.allowDeferred(distance: .infinity, timeout: 100))
    bench.wait(60)
    bench.send(.setExecution(.foreground))
    bench.updateEngagement(true)
    #expect(bench.wait(39) == [])
    #expect(bench.wait(1) == [.finish(nil)])
  }

  @Test("DEF-27, X2: moving to the foreground flushes immediately, without a finish")
  func toForeground() {
    let bench = ClientBench.engaged(timeout: 100)
    #expect(bench.fixes(3) == [])
    bench.send(.setExecution(.foreground))
    #expect(bench.updateEngagement(true) == [.batch(0...2)])
    #expect(bench.state == .armed)
    #expect(bench.fixes() == [.batch(3...3)])
    bench.send(.setExecution(.background))
    bench.updateEngagement(true)
    #expect(bench.fixes() == [])
    #expect(bench.wait(96) == [.finish(nil), .batch(4...4)])
  }

  @Test("DEF-28, DEF-29: a deferral engages only in the background and while allowed")
  func notAllowed() {
    let bench = ClientBench.started()
    bench.send(.allowDeferred(distance: .infinity, timeout: 100))
    bench.updateEngagement(false)
    #expect(bench.state == .armed)
    #expect(bench.fixes() == [.batch(0...0)])
    bench.updateEngagement(true)
    #expect(bench.state == .engaged)
    #expect(bench.fixes(2) == [])
    #expect(bench.updateEngagement(true) == [])
    #expect(bench.updateEngagement(false) == [.batch(1...2)])
    #expect(bench.state == .armed)
    #expect(bench.fixes() == [.batch(3...3)])
    // A deferral that is not outstanding cannot engage.
    bench.send(.disallowDeferred)
    bench.updateEngagement(true)
    #expect(bench.state == .idle)
    #expect(bench.client.isDeferrable == false)
  }

  @Test("DEF-28: a client is deferrable with an outstanding call outside the foreground")
  func deferrable() {
    let bench = ClientBench.started()
    #expect(bench.client.isDeferrable == false)
    bench.send(.allowDeferred(distance: .infinity, timeout: .infinity))
    #expect(bench.client.isDeferrable == true)
    bench.send(.setExecution(.foreground))
    #expect(bench.client.isDeferrable == false)
    bench.send(.setExecution(.suspended))
    #expect(bench.client.isDeferrable == true)
    bench.send(.setExecution(.background))
    #expect(bench.client.isDeferrable == true)
    bench.send(.stopUpdating)
    #expect(bench.client.isDeferrable == false)
  }

  @Test("DEF-32, RNG-1, RNG-4: N fixes give one batch without a finish; the criteria continue")
  func full() {
    let bench = ClientBench.engaged(distance: 50, timeout: 100)
    #expect(bench.fixes(3) == [])
    #expect(bench.fixes(1, east: 30) == [.batch(0...3)])
    #expect(bench.state == .engaged)
    #expect(bench.fixes(3, east: 35) == [])
    #expect(bench.fixes(1, east: 35) == [.batch(4...7)])
    #expect(bench.fixes(1, east: 51) == [.finish(nil), .batch(8...8)])
  }

  @Test("DEF-34, STD-6: an end with an empty cache is the finish alone; batches are never empty")
  func empty() {
    let bench = ClientBench.engaged(timeout: 100)
    #expect(bench.send(.disallowDeferred) == [.finish(15)])
    bench.send(.allowDeferred(distance: .infinity, timeout: 100))
    bench.updateEngagement(true)
    #expect(bench.updateEngagement(false) == [])
  }

  @Test("DEF-37, X5: stop delivers finish(15), the batch, then nothing more")
  func stop() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.stopUpdating) == [.finish(15), .batch(0...1)])
    #expect(bench.fixes(3) == [])
    #expect(bench.wait(1_000) == [])
    #expect(bench.loseReceiver() == [])
    #expect(bench.send(.stopUpdating) == [])
    #expect(bench.demand == .none)
  }

  @Test("DEF-37: stopping updates drops the pending failure of a suspended client")
  func stopDropsFailure() {
    let bench = ClientBench.started()
    bench.send(.setExecution(.suspended))
    #expect(bench.loseReceiver() == [])
    #expect(bench.send(.stopUpdating) == [])
  }

  @Test("DEF-39: incompatible settings end the deferral with 13 or 14; compatible ones do not")
  func incompatible() {
    var bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.setDesiredAccuracy(-2)) == [])
    #expect(bench.send(.setDistanceFilter(-1)) == [])
    #expect(bench.send(.setDesiredAccuracy(10)) == [.finish(13), .batch(0...1)])
    #expect(bench.send(.setDesiredAccuracy(100)) == [])
    bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.setDistanceFilter(10)).prefix(2) == [.finish(14), .batch(0...0)])
    #expect(bench.send(.setDistanceFilter(20)) == [])
    #expect(bench.send(.setDesiredAccuracy(20)) == [])
  }

  @Test("DEF-43: a lost receiver ends the deferral with 11, then the batch, then didFail(0), once")
  func lost() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.loseReceiver() == [.finish(11), .batch(0...1), .failure(0)])
    #expect(bench.state == .idle)
    #expect(bench.fixes() == [.batch(2...2)])
    #expect(bench.loseReceiver() == [.failure(0)])
  }

  @Test("STD-10: a missing location is reported as 0, only to clients with updates")
  func unknown() {
    let bench = ClientBench.started()
    bench.client.reportLocationUnknown(bench.context)
    #expect(bench.notices() == [.failure(0)])
    #expect(bench.notices() == [])
    bench.send(.stopUpdating)
    bench.client.reportLocationUnknown(bench.context)
    #expect(bench.notices() == [])
  }

  @Test("DEF-5, X7: denial ends the deferral with 1 and erases the cached fixes; nothing follows")
  func denial() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.setAuthorization(.denied)) == [.finish(1), .failure(1)])
    #expect(bench.send(.setAuthorization(.denied)) == [])
    #expect(bench.demand == .none)
    #expect(bench.fixes(3) == [])
    #expect(bench.loseReceiver() == [])
    #expect(bench.send(.setAuthorization(.always)) == [])
    #expect(bench.fixes() == [.batch(5...5)])
  }
}
