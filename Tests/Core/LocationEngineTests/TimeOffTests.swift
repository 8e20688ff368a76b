import DeferralCache
import LocationPolicy
import LocationRuntime
import LocationTypes
import Testing

@testable import LocationEngine

@Suite("Services after the board was off")
struct TimeOffTests {
  /// A ring with a fix every two minutes: one far away, then nine at one place.
  private static func appendStay(to ring: inout FixRing) {
    for n in 0..<10 {
      let time = Interval.seconds(Int64(n) * 120)
      var place = EngineBench.home
      if n == 0 { place.latitude_e9 += 10_000_000 }
      var fix = Fix(acquired: .boot + time, coordinate: place)
      fix.utc = EngineBench.base + time
      fix.horizontalAccuracy_mm = 2_000
      ring.append(fix)
    }
  }

  /// An engine on that ring, whose clock starts 20 min after the ring's first fix. The services continue from the fix
  /// with that number; nil if they do not continue.
  private static func resumed(_ memory: EngineMemory, from sequence: UInt64?) -> Engine {
    var ring = memory.openRing()
    appendStay(to: &ring)
    var engine = memory.makeEngine(RestoreTests.setup)
    let name = sequence.map { FixName(generation: 1, sequence: $0) }
    let bookmark = ClientBookmark(significantFrom: name, visitsFrom: name)
    engine.restore(ClientID(0), from: bookmark)
    let off = TimeOff(
      from: .boot - .seconds(90), to: Instant(microseconds: 1),
      bootUTC: EngineBench.base + .seconds(1_200))
    engine.resume(ClientID(0), from: bookmark, after: off)
    engine.resumeSpeed(after: off)
    return engine
  }

  @Test(
    "PWR-14: after a time off, visits and significant change continue from the ring, and report nothing again"
  )
  func continues() {
    let memory = EngineMemory(capacity: 16, clients: 1)
    var resumed = Self.resumed(memory, from: 0)
    for request in [Request.connect, .startSignificantChange, .startVisits] {
      var effects = resumed.step(.request(ClientID(0), request), at: Instant(microseconds: 1))
      while effects.needsProceed {
        while let notice = resumed.nextNotice() {
          if case .visit = notice.notice { Issue.record("the visit was reported before") }
          if case .report = notice.notice { Issue.record("the change was reported before") }
        }
        effects = resumed.step(.proceed, at: Instant(microseconds: 1))
      }
    }
    let visits = resumed.withClient(ClientID(0)) { $0.services.visits }
    #expect(visits.state == .visiting)
    // The stay began between the first two fixes, before this boot.
    let arrival = visits.visit?.arrival
    #expect(arrival.map { $0.acquired < .boot - .seconds(1_000) } == true)
    #expect(arrival?.utc.map { $0 > EngineBench.base } == true)
    let change = resumed.withClient(ClientID(0)) { $0.services.significant }
    #expect(change.state == .watching)
    #expect(change.lastReported?.coordinate == EngineBench.home)
    // The next fix is due after the last one in the ring, which is 120 s old.
    let due = change.nextFix(at: .boot, speed: PlausibleSpeed(limit: 70), line: .absent)
    #expect(due > .boot && due <= .boot + .seconds(180))
    // The next time off continues from the same fixes.
    let bookmark = resumed.bookmark(of: ClientID(0))
    let first = FixName(generation: 2, sequence: 0)
    #expect(bookmark.significantFrom == first && bookmark.visitsFrom == first)
    withExtendedLifetime(memory) {}
  }

  @Test("PWR-14: only fixes since the start of the services count; without a start they restart")
  func continuesSince() {
    let memory = EngineMemory(capacity: 16, clients: 1)
    let late = Self.resumed(memory, from: 9)
    let visits = late.withClient(ClientID(0)) { $0.services.visits.state }
    #expect(visits == .underWay, "one fix is no visit")
    let change = late.withClient(ClientID(0)) { $0.services.significant.state }
    #expect(change == .watching)
    let otherMemory = EngineMemory(capacity: 16, clients: 1)
    let none = Self.resumed(otherMemory, from: nil)
    let isIdle = none.withClient(ClientID(0)) {
      $0.services.visits.state == .idle && $0.services.significant.state == .idle
    }
    #expect(isIdle)
    withExtendedLifetime((memory, otherMemory)) {}
  }

  @Test("RNG-3, PWR-14: after a time off no fix is delivered twice, and none is left out")
  func delivery() {
    let memory = EngineMemory(capacity: 16, clients: 1)
    var ring = memory.openRing()
    Self.appendStay(to: &ring)
    let name = FixName(generation: 1, sequence: 0)
    let bookmark = ClientBookmark(
      acknowledged: FixName(generation: 1, sequence: 6), isOpenEnded: true, significantFrom: name,
      visitsFrom: name)
    var engine = memory.makeEngine(RestoreTests.setup)
    engine.restore(ClientID(0), from: bookmark)
    engine.resume(
      ClientID(0), from: bookmark,
      after: TimeOff(
        from: .boot, to: Instant(microseconds: 1), bootUTC: EngineBench.base + .seconds(1_200)))
    #expect(RestoreTests.batches(RestoreTests.start(&engine)) == [7...9])
  }

  @Test("RNG-6, PWR-14: no fix from before a change of rights is used after a time off")
  func rights() {
    let bench = EngineBench()
    func starts() -> [FixName?] {
      let bookmark = bench.engine.bookmark(of: ClientID(0))
      return [bookmark.significantFrom, bookmark.visitsFrom]
    }
    func name(_ sequence: UInt64) -> FixName { FixName(generation: 1, sequence: sequence) }
    #expect(starts() == [nil, nil])
    bench.fixes(count: 2)
    bench.client.request(.startSignificantChange)
    bench.client.request(.startVisits)
    bench.fixes(count: 2)
    #expect(bench.head == 4 && starts() == [name(2), name(2)])
    bench.client.request(.setAuthorization(.notDetermined))
    bench.fixes(count: 2)
    bench.client.request(.setAuthorization(.always))
    let granted = bench.head
    bench.fixes(count: 2)
    #expect(starts() == [name(granted), name(granted)])
    bench.client.request(.setReducedAccuracy(true))
    bench.fixes(count: 2)
    #expect(starts()[1] == nil, "visits need full accuracy")
    bench.client.request(.setReducedAccuracy(false))
    let full = bench.head
    bench.fixes(count: 2)
    #expect(full > granted && starts() == [name(full), name(full)])
    bench.client.request(.stopSignificantChange)
    bench.client.request(.stopVisits)
    #expect(starts() == [nil, nil])
  }

  @Test(
    "PWR-14: times are those of the newest fix before the time off, or of the wall clock without one"
  )
  func times() throws {
    let memory = EngineMemory(capacity: 16, clients: 1)
    var first = memory.openRing()
    var fix = Fix(acquired: .boot + .seconds(500), coordinate: EngineBench.home)
    fix.utc = EngineBench.base + .seconds(500)
    first.append(fix)
    fix.utc = EngineBench.base + .seconds(90_000)
    // Without UTC the fix before it would not count; a date in the future is wrong.
    first.append(fix)
    fix.utc = EngineBench.base + .seconds(510)
    fix.acquired = .boot + .seconds(510)
    first.append(fix)
    func timeOff(_ ring: borrowing FixRing) -> TimeOff {
      TimeOff(
        length: .seconds(480), since: .boot + .seconds(530), offUTC: UTCTime(microseconds: 0),
        until: .boot + .seconds(20), ring)
    }
    let next = memory.openRing()
    let off = timeOff(next)
    #expect(off.start == .boot - .seconds(460) && off.end == .boot + .seconds(20))
    #expect(off.bootUTC == EngineBench.base + .seconds(990))
    #expect(off.earlierFix(at: 0, in: next)?.acquired == .boot - .seconds(490))
    #expect(off.earlierFix(at: 1, in: next) == nil)
    #expect(off.earlierFix(at: 2, in: next)?.acquired == .boot - .seconds(480))
    // The service has stored no fix since then: the wall clock at the power-off counts.
    let later = memory.openRing()
    #expect(timeOff(later).bootUTC == UTCTime(microseconds: 460_000_000))
  }
}
