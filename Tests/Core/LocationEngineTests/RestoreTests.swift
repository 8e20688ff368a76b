import DeferralCache
import LocationPolicy
import LocationRuntime
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Restoring a client after a restart of the service")
struct RestoreTests {
  static let setup = EngineBench.setup(limit: 4)

  /// Appends fixes to the ring directly, as the engine would.
  static func append(_ count: Int, to ring: inout FixRing) {
    for _ in 0..<count {
      let time = Instant(microseconds: Int64(ring.head) * 1_000_000)
      var fix = Fix(acquired: time, coordinate: EngineBench.home)
      fix.horizontalAccuracy_mm = 2_000
      ring.append(fix)
    }
  }

  /// Opens a ring of ten on the same memory and appends `count` fixes.
  static func ring(_ memory: EngineMemory, appending count: Int) -> FixRing {
    var ring = memory.openRing()
    append(count, to: &ring)
    return ring
  }

  /// The notices of a restored client that connects and starts updates.
  static func notices(_ bookmark: ClientBookmark, _ memory: EngineMemory) -> [Notice] {
    var engine = memory.makeEngine(setup)
    engine.restore(ClientID(0), from: bookmark)
    return start(&engine)
  }

  static func start(_ engine: inout Engine, at now: Instant = Instant(microseconds: 1)) -> [Notice]
  {
    var notices: [Notice] = []
    for request in [Request.connect, .startUpdating] {
      var effects = engine.step(.request(ClientID(0), request), at: now)
      while true {
        while let notice = engine.nextNotice() { notices.append(notice.notice) }
        guard effects.needsProceed else { break }
        effects = engine.step(.proceed, at: now)
      }
    }
    return notices
  }

  static func batches(_ notices: [Notice]) -> [ClosedRange<UInt64>] {
    notices.compactMap { if case .batch(let first, let last) = $0 { first...last } else { nil } }
  }

  static func gaps(_ notices: [Notice]) -> [Range<UInt64>] {
    notices.compactMap { if case .gap(let gap) = $0 { gap.range } else { nil } }
  }

  @Test("BKG-20, RNG-3: exactly the fixes after the acknowledged one are delivered")
  func undelivered() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    _ = Self.ring(memory, appending: 8)
    let acknowledged = FixName(generation: 1, sequence: 4)
    let notices = Self.notices(
      ClientBookmark(acknowledged: acknowledged, isOpenEnded: true), memory)
    #expect(Self.batches(notices) == [5...7] && Self.gaps(notices).isEmpty)
    let all = Self.notices(ClientBookmark(isOpenEnded: true), memory)
    #expect(Self.batches(all) == [0...7])
    let name = FixName(generation: 1, sequence: 7)
    #expect(Self.notices(ClientBookmark(acknowledged: name, isOpenEnded: true), memory).isEmpty)
  }

  @Test("BKG-20: fixes measured after a client's updates ended are not delivered")
  func ended() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    _ = Self.ring(memory, appending: 8)
    let bookmark = ClientBookmark(
      acknowledged: FixName(generation: 1, sequence: 2),
      undeliveredThrough: FixName(generation: 1, sequence: 5))
    #expect(Self.batches(Self.notices(bookmark, memory)) == [3...5])
    #expect(Self.notices(ClientBookmark(), memory).isEmpty)
  }

  @Test("BKG-20, RNG-6: fixes excluded in the middle stay excluded")
  func excluded() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    _ = Self.ring(memory, appending: 8)
    let bookmark = ClientBookmark(
      acknowledged: FixName(generation: 1, sequence: 0), isOpenEnded: true,
      excludedAfter: FixName(generation: 1, sequence: 2),
      excludedThrough: FixName(generation: 1, sequence: 4))
    #expect(Self.batches(Self.notices(bookmark, memory)) == [1...2, 5...7])
  }

  @Test("RNG-4, BKG-20: overwritten fixes are a gap, reported first, of undelivered fixes only")
  func overwritten() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    _ = Self.ring(memory, appending: 25)
    let acknowledged = FixName(generation: 1, sequence: 4)
    let notices = Self.notices(
      ClientBookmark(acknowledged: acknowledged, isOpenEnded: true), memory)
    #expect(Self.gaps(notices) == [5..<15] && Self.batches(notices) == [15...24])
    if case .gap? = notices.first {} else { Issue.record("the gap comes first") }
    let endsAtNine = ClientBookmark(
      acknowledged: acknowledged, undeliveredThrough: FixName(generation: 1, sequence: 9))
    let fewer = Self.notices(endsAtNine, memory)
    #expect(Self.gaps(fewer) == [5..<10] && Self.batches(fewer) == [])
    let ended = ClientBookmark(acknowledged: acknowledged, undeliveredThrough: acknowledged)
    #expect(Self.notices(ended, memory).isEmpty)
  }

  @Test("RNG-2, BKG-20: after a name of a replaced ring, all fixes of the new ring are delivered")
  func foreign() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    _ = Self.ring(memory, appending: 3)
    let name = FixName(generation: 900, sequence: 77)
    let notices = Self.notices(ClientBookmark(acknowledged: name, isOpenEnded: true), memory)
    #expect(Self.batches(notices) == [0...2])
  }

  @Test("BKG-20: a bookmark holds what a client is restored from")
  func bookmark() {
    let bench = EngineBench(limit: 4, capacity: 10)
    #expect(bench.engine.bookmark(of: ClientID(0)) == ClientBookmark(isOpenEnded: true))
    bench.fixes(count: 3)
    bench.client.acknowledges = false
    bench.fixes(count: 2)
    let running = bench.engine.bookmark(of: ClientID(0))
    let acknowledged = FixName(generation: 1, sequence: 2)
    #expect(running == ClientBookmark(acknowledged: acknowledged, isOpenEnded: true))
    bench.client.request(.stopUpdating)
    let stopped = bench.engine.bookmark(of: ClientID(0))
    #expect(stopped.acknowledged == acknowledged && !stopped.isOpenEnded)
    #expect(stopped.undeliveredThrough == FixName(generation: 1, sequence: 4))
  }

  @Test("RNG-6, BKG-20: a restored client that is then denied receives no earlier fix")
  func denied() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    _ = Self.ring(memory, appending: 8)
    var engine = memory.makeEngine(Self.setup)
    engine.restore(ClientID(0), from: ClientBookmark(isOpenEnded: true))
    let now = Instant(microseconds: 1)
    _ = engine.step(.request(ClientID(0), .setAuthorization(.denied)), at: now)
    #expect(engine.bookmark(of: ClientID(0)).acknowledged?.sequence == 7)
    #expect(Self.batches(Self.start(&engine)) == [])
  }

  @Test("BKG-20, REG-6: a region is restored with its state")
  func region() {
    let memory = EngineMemory(capacity: 10, clients: 1)
    var engine = memory.makeEngine(Self.setup)
    engine.restore(ClientID(0), from: ClientBookmark())
    _ = Self.start(&engine)
    let identifier = RegionIdentifier(.region, 1)
    let region = Region(identifier, center: EngineBench.home, radius: 100)
    _ = engine.step(
      .request(ClientID(0), .addRegion(region, assuming: .satisfied)), at: Instant(microseconds: 2))
    let record = engine.regionRecord(of: ClientID(0), at: 0)
    #expect(record?.region == region && record?.assuming == .satisfied)
  }

  @Test("clients can be restored only before the first step")
  func restoreAfterStep() async {
    await #expect(processExitsWith: .failure) {
      var engine = EngineMemory(capacity: 10, clients: 1).makeEngine(RestoreTests.setup)
      _ = engine.step(.time, at: Instant(microseconds: 1))
      engine.restore(ClientID(0), from: ClientBookmark())
    }
  }
}
