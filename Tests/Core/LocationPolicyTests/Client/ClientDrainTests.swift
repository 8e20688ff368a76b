import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Client with fixes buffered in the receiver")
struct ClientDrainTests {
  /// An engaged client; the receiver buffers the fixes since 0 s.
  static func buffering(distance: Double = .infinity, timeout: Double = .infinity) -> ClientBench {
    let bench = ClientBench.engaged(distance: distance, timeout: timeout)
    bench.buffers = true
    bench.limit = 8
    return bench
  }

  static let call = Request.allowDeferred(distance: .infinity, timeout: .infinity)

  @Test("X1, DEF-17: an end waits for the drain; the finish and its batch follow immediately")
  func timeout() {
    let bench = Self.buffering(timeout: 10)
    #expect(bench.wait(9) == [])
    #expect(bench.demand == .deferred(check: Instant(seconds: 10)))
    #expect(!bench.isWaitingForDrain)
    #expect(bench.wait(1) == [])
    #expect(bench.isWaitingForDrain)
    #expect(!bench.hasNotices)
    #expect(bench.demand == .deferred(check: Instant(seconds: 10)))
    #expect(bench.drain([1, 2, 3, 11]) == [.finish(nil), .batch(0...3)])
    #expect(!bench.isWaitingForDrain)
  }

  @Test("X1: the end after one that waited for a drain also precedes its batch")
  func nextEnd() {
    let bench = Self.buffering(timeout: 10)
    bench.wait(10)
    #expect(bench.drain([1]) == [.finish(nil), .batch(0...0)])
    bench.send(Self.call)
    bench.updateEngagement(true)
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.disallowDeferred) == [.finish(15), .batch(1...2)])
  }

  @Test("DEF-15, DEF-39: the other ends wait for the drain too")
  func otherEnds() {
    for (request, code) in [
      (Request.disallowDeferred, 15), (.setDesiredAccuracy(10), 13), (.stopUpdating, 15),
    ] {
      let bench = Self.buffering()
      bench.now = 5
      #expect(bench.send(request) == [])
      #expect(bench.isWaitingForDrain)
      #expect(bench.drain([1, 2]) == [.finish(code), .batch(0...1)])
      #expect(!bench.isWaitingForDrain)
    }
  }

  @Test("DEF-35: a drained fix that meets the distance ends the deferral with that fix")
  func distance() {
    let bench = Self.buffering(distance: 50)
    bench.now = 5
    #expect(bench.drain([1]) == [])
    bench.buffers = true
    #expect(bench.drain([2, 3], east: 60) == [.finish(nil), .batch(0...1), .batch(2...2)])
  }

  @Test("DEF-27: a flush on moving to the foreground waits for the drain")
  func flush() {
    let bench = Self.buffering()
    bench.drain([1])
    bench.buffers = true
    bench.now = 5
    bench.send(.setExecution(.foreground))
    #expect(bench.updateEngagement(true) == [])
    #expect(bench.state == .armed)
    #expect(bench.isWaitingForDrain)
    #expect(bench.drain([2, 3]) == [.batch(0...2)])
    #expect(bench.fixes() == [.batch(3...3)])
  }

  @Test("DEF-13, X1: each of several pending ends is delivered before its own fixes")
  func ownFixes() {
    let bench = Self.buffering()
    bench.now = 3
    #expect(bench.send(.allowDeferred(distance: 0, timeout: .infinity)) == [])
    #expect(bench.state == .armed)
    // The fix of 3 s belongs to the first call; that of 4 s meets the second call's distance of 0.
    #expect(
      bench.drain([1, 2, 3, 4, 5]) == [
        .finish(15), .batch(0...2), .finish(nil), .batch(3...3), .batch(4...4),
      ])
  }

  @Test("DEF-8: each of several calls in a row ends once, and the queue is bounded")
  func manyCalls() {
    let bench = Self.buffering()
    var notices: [NoticeValue] = []
    for second in 1...9 {
      bench.now = Double(second)
      notices += bench.send(Self.call)
    }
    notices += bench.drain([0.5, 8.5])
    notices += bench.send(.disallowDeferred)
    #expect(notices.filter { $0 == .finish(15) }.count == 10)
    #expect(notices.filter { if case .finish = $0 { false } else { true } } == [.batch(0...1)])
    #expect(bench.state == .idle)
  }

  @Test("DEF-8: each call ends once, also if a call ends both itself and the previous one")
  func manyEnds() {
    let bench = Self.buffering()
    var finishes = 0
    for second in 1...20 {
      bench.now = Double(second)
      let notices =
        switch second % 3 {
        case 0: bench.send(.allowDeferred(distance: 5, timeout: 0))
        case 1: bench.send(.allowDeferred(distance: -5, timeout: 0))
        default: bench.send(Self.call)
        }
      finishes += notices.count
    }
    finishes += bench.drain().count
    #expect(finishes == 21 - (bench.state == .idle ? 0 : 1))
  }

  @Test("DEF-8: a suspended client's ends are kept, with at most one more during suspension")
  func suspendedEnds() {
    let bench = Self.buffering()
    bench.send(Self.call)
    bench.send(Self.call)
    bench.send(.setExecution(.suspended))
    #expect(bench.wait(1) == [])
    #expect(bench.loseReceiver() == [])
    let notices = bench.send(.setDesiredAccuracy(-1))
    #expect(notices == [.finish(15), .finish(15), .finish(11), .failure(0)])
    #expect(bench.send(.allowDeferred(distance: 5, timeout: 0)) == [])
    #expect(bench.drain() == [.finish(nil)])
  }

  @Test("DEF-37: after stop only the buffered fixes from before it are delivered")
  func stop() {
    let bench = Self.buffering()
    bench.now = 5
    #expect(bench.send(.stopUpdating) == [])
    #expect(bench.demand == .none)
    #expect(bench.drain([1, 2]) == [.finish(15), .batch(0...1)])
    #expect(bench.fixes(2) == [])
    #expect(bench.send(.stopUpdating) == [])
  }

  @Test("DEF-37: also without a deferral, only buffered fixes from before the stop are delivered")
  func stopUndeferred() {
    let bench = ClientBench.started()
    bench.buffers = true
    bench.now = 0.5
    #expect(bench.send(.stopUpdating) == [])
    #expect(bench.isWaitingForDrain)
    #expect(bench.drain([0.5]) == [.batch(0...0)])
    #expect(bench.drain([0.6]) == [])
  }

  @Test("STD-3: restarting updates before the drain neither loses nor duplicates fixes")
  func restart() {
    let bench = Self.buffering()
    bench.now = 5
    bench.send(.stopUpdating)
    #expect(bench.send(.startUpdating) == [])
    #expect(bench.drain([1, 2]) == [.finish(15), .batch(0...1)])
    #expect(bench.fixes() == [.batch(2...2)])
    // The same without a deferral: normal delivery continues.
    bench.buffers = true
    bench.send(.stopUpdating)
    bench.send(.startUpdating)
    #expect(!bench.isWaitingForDrain)
    #expect(bench.drain([6]) == [.batch(3...3)])
  }

  @Test("During a drain normal delivery waits for the remaining fixes, N at most")
  func drainingHolds() {
    let bench = ClientBench.started()
    bench.isDraining = true
    #expect(bench.fixes(3) == [])
    #expect(bench.fixes() == [.batch(0...3)])
    #expect(bench.fixes(2) == [])
    #expect(bench.drain() == [.batch(4...5)])
  }

  @Test("DEF-28: no deferral engages while a drain is running or awaited")
  func noEngagement() {
    let bench = ClientBench.started()
    bench.send(Self.call)
    bench.isDraining = true
    bench.updateEngagement(true)
    #expect(bench.state == .armed)
    bench.isDraining = false
    bench.buffers = true
    bench.send(Self.call)
    bench.updateEngagement(true)
    #expect(bench.state == .armed)
    bench.drain()
    bench.updateEngagement(true)
    #expect(bench.state == .engaged)
    #expect(bench.drain([1, 2]) == [])
  }

  @Test("DEF-12: fixes from before the engagement are delivered, later ones are cached")
  func olderFirst() {
    let bench = ClientBench.started()
    bench.send(Self.call)
    bench.isDraining = true
    #expect(bench.fixes(2) == [])
    bench.isDraining = false
    #expect(bench.updateEngagement(true) == [.batch(0...1)])
    #expect(bench.state == .engaged)
    #expect(bench.fixes() == [])
  }

  @Test("DEF-43: a lost receiver ends the wait for a drain")
  func lost() {
    var bench = Self.buffering(timeout: 10)
    bench.drain([1])
    bench.buffers = true
    #expect(bench.wait(10) == [])
    #expect(bench.loseReceiver() == [.finish(nil), .batch(0...0), .failure(0)])
    #expect(!bench.isWaitingForDrain)
    bench = Self.buffering()
    bench.send(.stopUpdating)
    #expect(bench.loseReceiver() == [.finish(15)])
    #expect(!bench.isWaitingForDrain)
  }

  @Test("RNG-6, X7: buffered fixes from before or during a denial are never delivered")
  func denial() {
    let bench = Self.buffering(timeout: 10)
    #expect(bench.wait(10) == [])
    #expect(bench.send(.setAuthorization(.denied)) == [.finish(nil), .failure(1)])
    #expect(!bench.isWaitingForDrain)
    bench.now = 20
    #expect(bench.send(.setAuthorization(.always)) == [])
    #expect(bench.drain([5, 19.9, 20]) == [])
    #expect(bench.drain([20.1, 19.9]) == [.batch(3...3)])
  }

  @Test("RNG-6: after a denial nothing remains undelivered for a process that stopped or exited")
  func denialAfterEnd() {
    for request in [Request.stopUpdating, .disconnect] {
      let bench = Self.buffering()
      bench.drain([1])
      bench.buffers = true
      bench.send(request)
      bench.send(.setAuthorization(.denied))
      bench.drain([2])
      bench.send(.setAuthorization(.always))
      bench.now = 9
      bench.fixes()
      #expect(bench.send(.connect, .startUpdating) == [])
      #expect(!bench.hasNotices)
      #expect(bench.fixes() == [.batch(3...3)])
    }
  }
}
