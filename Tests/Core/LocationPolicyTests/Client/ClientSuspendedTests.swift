import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Recording for a suspended client")
struct ClientSuspendedTests {
  /// A client suspended before its first fix; N is 4.
  private func suspended() -> ClientBench {
    let bench = ClientBench.started(capacity: 32)
    bench.send(.setExecution(.suspended))
    return bench
  }

  /// Updates time and demand while no other client has fixes recorded.
  private func update(_ bench: ClientBench) {
    #expect(bench.wait(0) == [])
    if bench.client.isQueueFull { bench.client.beginUnrecorded(bench.context) }
  }

  /// The same with a queue that became full at 4 s.
  private func full() -> ClientBench {
    let bench = suspended()
    #expect(bench.fixes(4) == [])
    update(bench)
    return bench
  }

  @Test("BKG-5: the demand is deferred until N fixes wait; a background session removes the limit")
  func demand() {
    let bench = suspended()
    #expect(bench.demand == .deferred(check: .distantFuture))
    bench.fixes(3)
    update(bench)
    #expect(bench.demand == .deferred(check: .distantFuture) && !bench.client.isQueueFull)
    bench.fixes(1)
    update(bench)
    #expect(bench.demand == .none && bench.client.isQueueFull)
    bench.send(.setUse(ClientUse(keepsRunning: true)))
    #expect(bench.demand == .deferred(check: .distantFuture))
    bench.send(.setUse(ClientUse()))
    #expect(bench.demand == .none)
    bench.send(.setExecution(.background))
    #expect(bench.demand == .live(isWatched: false))
  }

  @Test("BKG-5: a deferral's timeout is checked; its end waits for no handler")
  func deferral() {
    let bench = ClientBench.started(capacity: 32)
    bench.send(.allowDeferred(distance: 100, timeout: 10))
    bench.client.scheduleDistanceCheck(at: Instant(seconds: 1))
    bench.send(.setExecution(.suspended))
    #expect(bench.updateEngagement(true) == [] && bench.state == .engaged)
    #expect(bench.demand == .deferred(check: Instant(seconds: 10)))
    bench.fixes(9)
    update(bench)
    #expect(bench.demand == .deferred(check: Instant(seconds: 10)), "beyond N")
    #expect(bench.wait(1) == [] && bench.state == .idle)
    update(bench)
    #expect(bench.demand == .none)
    bench.now += 5
    #expect(
      bench.send(.setExecution(.background))
        == [.finish(nil), .batch(0...8), .gap(9..<9, count: 0)])
    // Now the handler can call again (X1).
    #expect(bench.demand == .deferred(check: Instant(seconds: 17)))
  }

  @Test("BKG-5: an accuracy bound applies until N fixes wait")
  func within() {
    let bench = ClientBench.started(capacity: 32)
    bench.send(.setDesiredAccuracy(100), .setExecution(.suspended))
    #expect(bench.demand == .within(metres: 100))
    bench.fixes(4)
    update(bench)
    #expect(bench.demand == .none)
  }

  @Test("DEF-32: an engaged client that resumes with N fixes gets them immediately")
  func resumesFull() {
    let bench = ClientBench.engaged(capacity: 32)
    bench.send(.setExecution(.suspended))
    bench.fixes(5)
    #expect(bench.send(.setExecution(.background)) == [.batch(0...4)])
    #expect(bench.state == .engaged)
  }

  @Test("STD-3: the first fix is awaited until it is delivered, or queued for a suspended client")
  func firstFix() {
    let bench = ClientBench.started()
    func awaits() -> Bool { bench.client.awaitsFirstFix(bench.context) }
    #expect(awaits())
    bench.append(fix(at: 1))
    #expect(awaits(), "it is not delivered yet")
    bench.sendOnly(.setExecution(.suspended))
    #expect(!awaits(), "it is queued")
    bench.sendOnly(.setExecution(.background))
    #expect(bench.notices() == [.batch(0...0)])
    #expect(!awaits())
    let empty = ClientBench.started()
    empty.sendOnly(.setExecution(.suspended))
    #expect(empty.client.awaitsFirstFix(empty.context) == true)
  }

  @Test("BKG-5: the gap lies between the fixes before and after it, with its times")
  func gap() throws {
    let bench = full()
    bench.now = 6
    // The receiver had buffered this fix before it slept.
    bench.append(fix(at: 4))
    bench.now = 50
    // A fix for another client.
    bench.append(fix(at: 50))
    update(bench)
    bench.now = 60
    #expect(!bench.hasNotices)
    bench.sendOnly(.setExecution(.background))
    let sequence = try #require(bench.client.recording.period?.sequence)
    #expect(sequence == 5)
    #expect(bench.client.recording.period?.from.acquired == Instant(seconds: 4))
    #expect(bench.client.recording.period?.to?.acquired == Instant(seconds: 60))
    #expect(bench.notices() == [.batch(0...4), .gap(5..<5, count: 0), .batch(5...5)])
    #expect(!bench.hasNotices)
    #expect(bench.fixes() == [.batch(6...6)])
    #expect(bench.wait(1) == [])
  }

  @Test("BKG-5: two unrecorded periods in a row are one gap; without unrecorded time there is none")
  func several() {
    let bench = full()
    bench.now = 20
    bench.sendOnly(.setExecution(.background))
    bench.sendOnly(.setExecution(.suspended))
    bench.now = 30
    update(bench)
    bench.now = 40
    #expect(bench.send(.setExecution(.foreground)) == [.batch(0...3), .gap(4..<4, count: 0)])
    #expect(bench.client.recording.period?.from.acquired == Instant(seconds: 4))
    #expect(bench.client.recording.period?.to?.acquired == Instant(seconds: 40))
    let other = suspended()
    other.fixes(8)
    #expect(other.wait(0) == [])
    #expect(other.send(.setExecution(.background)) == [.batch(0...7)])
  }

  @Test("RNG-3, BKG-5: the next process gets the gap again until a later fix is acknowledged")
  func nextProcess() {
    for isAcknowledged in [false, true] {
      let bench = full()
      #expect(bench.send(.setExecution(.background)).count == 2)
      bench.fixes(1)
      bench.send(.acknowledge(bench.name(3)))
      if isAcknowledged { bench.send(.acknowledge(bench.name(4))) }
      bench.send(.disconnect)
      #expect(bench.send(.connect) == [])
      let again: [NoticeValue] = isAcknowledged ? [] : [.gap(4..<4, count: 0), .batch(4...4)]
      #expect(bench.send(.startUpdating) == again)
    }
  }

  /// A client that has received four fixes and a gap, and acknowledged only the fixes; its queue is full again.
  private func fullAgain() -> ClientBench {
    let bench = full()
    bench.now = 20
    #expect(bench.send(.setExecution(.background)) == [.batch(0...3), .gap(4..<4, count: 0)])
    bench.send(.acknowledge(bench.name(3)), .setExecution(.suspended))
    #expect(bench.fixes(4) == [])
    update(bench)
    return bench
  }

  /// The same client after it has received the second four fixes and the second gap.
  private func twiceFull() -> ClientBench {
    let bench = fullAgain()
    bench.now = 40
    #expect(bench.send(.setExecution(.background)) == [.batch(4...7), .gap(8..<8, count: 0)])
    return bench
  }

  @Test("RNG-4, BKG-5: the next process gets one gap for two periods of which none is acknowledged")
  func nextProcessAfterTwo() {
    let bench = twiceFull()
    #expect(bench.client.recording.period?.from.acquired == Instant(seconds: 4))
    bench.send(.disconnect)
    let again = bench.send(.connect, .startUpdating)
    #expect(again == [.gap(4..<4, count: 0), .batch(4...7)])
    #expect(bench.client.recording.period?.to?.acquired == Instant(seconds: 40))
    bench.send(.acknowledge(bench.name(4)), .disconnect)
    #expect(bench.send(.connect, .startUpdating) == [.batch(5...7)])
  }

  @Test("RNG-4: a fix before the second gap does not acknowledge it")
  func earlierFix() {
    for last in [7, 8] as [UInt64] {
      let bench = twiceFull()
      #expect(bench.fixes() == [.batch(8...8)])
      bench.send(.acknowledge(bench.name(last)))
      #expect((bench.client.recording.period == nil) == (last == 8))
    }
  }

  @Test(
    "RNG-4, BKG-5: a gap does not contain a period that was acknowledged before",
    arguments: [false, true])
  func acknowledgedPart(isFull: Bool) {
    let bench = twiceFull()
    // The attached process has received the first gap: its second one begins with the second period.
    let gaps = [8, 4].map { bench.client.recording.period?.gap(at: $0).from?.acquired ?? .boot }
    #expect(gaps[0] > Instant(seconds: 20) && gaps[1] == Instant(seconds: 4))
    #expect(bench.client.recording.gapAfter(in: bench.ring) == bench.name(3))
    if isFull {
      bench.send(.setExecution(.suspended))
      bench.fixes(4)
      update(bench)
    }
    bench.send(.acknowledge(bench.name(4)))
    let period = bench.client.recording.period
    #expect(period?.sequence == 8 && period?.coversFixes == isFull)
    #expect((period?.from.acquired ?? .boot) > Instant(seconds: 20))
    #expect(bench.client.recording.gapAfter(in: bench.ring) == bench.name(7))
    bench.send(.disconnect)
    let fixes: [NoticeValue] = isFull ? [.batch(8...11)] : []
    #expect(
      bench.send(.connect, .startUpdating) == [.batch(5...7), .gap(8..<8, count: 0)] + fixes)
  }

  @Test("BKG-5: a late fix from before the second stop is delivered before the second gap")
  func lateFix() {
    let bench = fullAgain()
    bench.now = 30
    bench.append(fix(at: 22, east: 0))
    bench.now = 40
    #expect(bench.send(.setExecution(.background)) == [.batch(4...8), .gap(9..<9, count: 0)])
  }

  @Test(
    "RNG-4, BKG-20: after a restart of the service one gap covers both periods, also if the second is open or the service is killed again",
    arguments: [false, true], [1, 2])
  func restartAfterTwo(isOpen: Bool, restarts: Int) {
    let bench = isOpen ? fullAgain() : twiceFull()
    bench.limit = 16
    for _ in 0..<restarts {
      bench.now += 10
      let bookmark = bench.client.bookmark(in: bench.ring)
      bench.client = Client(restoring: bookmark, in: bench.ring)
      bench.client.resumeRecording(
        from: bookmark, at: bench.context.now, recorder: .none, slack: .seconds(2),
        limit: bench.limit, in: bench.ring)
    }
    #expect(bench.client.recording.period?.from.acquired == Instant(seconds: 4))
    #expect(bench.client.recording.period?.to?.acquired == bench.context.now)
    let notices: [NoticeValue] = [.gap(4..<4, count: 0), .batch(4...7)]
    #expect(bench.send(.connect, .setAuthorization(.always), .startUpdating) == notices)
  }

  @Test("BKG-5: a stop delivers the gap once; a restart in the same process does not repeat it")
  func stops() {
    let bench = full()
    #expect(bench.send(.stopUpdating) == [.batch(0...3), .gap(4..<4, count: 0)])
    bench.send(.stopUpdating)
    #expect(bench.send(.startUpdating) == [])
    let running = full()
    running.send(.setExecution(.background))
    running.send(.acknowledge(running.name(3)))
    running.send(.stopUpdating)
    running.send(.disconnect, .connect)
    #expect(running.send(.startUpdating) == [], "the process that stopped has received it")
  }

  @Test("RNG-6, BKG-5: after a denial no earlier gap is delivered")
  func denied() {
    let bench = full()
    bench.send(.setAuthorization(.denied), .setAuthorization(.always))
    #expect(bench.send(.setExecution(.background)) == [])
  }

  @Test("AUT-11, BKG-2: a denial that ended during the suspension is not reported")
  func endedDenial() {
    for new in [Authorization.always, .notDetermined] {
      let bench = suspended()
      bench.send(.setAuthorization(.denied), .setAuthorization(new))
      #expect(bench.send(.setExecution(.background)) == [])
    }
    let bench = suspended()
    bench.send(.setAuthorization(.denied))
    #expect(bench.send(.setExecution(.background)) == [.failure(1)])
  }

  @Test("BKG-5: excluded fixes do not count towards N; the ring's capacity bounds them")
  func excludedFixes() {
    for (excluded, isFull) in [(4, false), (8, false), (9, true)] as [(UInt64, Bool)] {
      var delivery = ClientDelivery(at: 0)
      delivery.open()
      delivery.exclude(2..<2 + excluded)
      #expect(delivery.isQueueFull(6, at: 2 + excluded) == isFull, "\(excluded)")
    }
    var delivery = ClientDelivery(at: 0)
    delivery.open()
    #expect(delivery.isQueueFull(6, at: 5) == false)
    #expect(delivery.isQueueFull(6, at: 6) == true)
    delivery.exclude(2..<6)
    #expect(delivery.isQueueFull(6, at: 9) == false)
    #expect(delivery.isQueueFull(6, at: 10) == true)
  }

  @Test("BKG-5: a background session that records all fixes causes no gap")
  func sessionGap() {
    let bench = suspended()
    bench.send(.setUse(ClientUse(keepsRunning: true)))
    bench.fixes(5)
    update(bench)
    #expect(bench.client.isQueueFull == true)
    bench.now = 20
    #expect(bench.send(.setExecution(.background)) == [.batch(0...4)])
  }

  @Test("BKG-5, RNG-3: the next process gets the gap when it starts updates or reads its backlog")
  func exitedClientGap() {
    for wasReported in [false, true] {
      let bench = full()
      bench.now = 20
      if wasReported { bench.send(.setExecution(.background)) }
      bench.send(.disconnect)
      #expect(bench.client.backlog(in: bench.ring).gap?.to?.acquired == Instant(seconds: 20))
      #expect(bench.send(.connect) == [] && !bench.hasNotices)
      #expect(bench.send(.startUpdating) == [.batch(0...3), .gap(4..<4, count: 0)])
    }
    let bench = full()
    bench.send(.disconnect)
    bench.send(.connect, .readBacklog)
    #expect(bench.client.backlog(in: bench.ring).gap == nil)
    #expect(bench.send(.startUpdating) == [])
    let read = full()
    read.send(.setExecution(.background))
    read.send(.acknowledge(read.name(3)), .disconnect, .connect)
    #expect(read.client.backlog(in: read.ring).gap != nil)
    read.send(.readBacklog)
    #expect(read.client.backlog(in: read.ring).gap == nil, "even without a fix")
  }

  @Test("BKG-5, LIV-10: a background session's demand applies in addition to lesser updates")
  func sessionDemand() {
    let bench = ClientBench(capacity: 32)
    bench.send(.connect, .startUpdating, .setDesiredAccuracy(3_000), .openLive(.default))
    bench.send(.setUse(ClientUse(keepsRunning: true)), .setExecution(.suspended))
    #expect(bench.demand == .deferred(check: .distantFuture))
    bench.send(.setUse(ClientUse()))
    #expect(bench.demand == .within(metres: 3_000))
  }

  @Test("BKG-5: a bulk read includes the gap, even if other fixes were overwritten")
  func bulk() {
    let bench = full()
    let backlog = bench.client.backlog(in: bench.ring)
    #expect(backlog.gap?.mayBeMore == true && backlog.gap?.count == 0 && backlog.range == 0..<4)
    bench.sendOnly(.readBacklog)
    #expect(bench.client.backlog(in: bench.ring).gap == nil)
    #expect(bench.send(.setExecution(.background)) == [])
    let overflown = full()
    overflown.fixes(30)
    let gap = overflown.client.backlog(in: overflown.ring).gap
    #expect(gap?.count == 2 && gap?.mayBeMore == true)
  }

  @Test("STD-10: a missing location during the suspension is not reported once a fix exists")
  func staleFailure() {
    let bench = suspended()
    #expect(bench.loseReceiver() == [])
    bench.fixes(1)
    #expect(bench.send(.setExecution(.background)) == [.batch(0...0)])
    bench.send(.setExecution(.suspended))
    #expect(bench.loseReceiver() == [])
    #expect(bench.send(.setExecution(.background)) == [.failure(0)])
  }

  @Test("BKG-2: answers to requestState wait; crossings are handed over with their states")
  func regions() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect)
    let home = Region(RegionIdentifier(.region, 1), center: equator, radius: 100)
    bench.send(.addRegion(home, assuming: .unknown))
    bench.fixes(1)
    bench.sendOnly(.requestRegionState(home.identifier))
    bench.sendOnly(.setExecution(.suspended))
    #expect(bench.notices() == [] && !bench.hasNotices)
    var notices: [NoticeValue] = []
    for _ in 0..<30 { notices += bench.fixes(1, east: 500) }
    #expect(notices.count == 2)
    #expect(notices.last == .region(.determined(home.identifier, .outside)))
    #expect(
      bench.send(.setExecution(.background)) == [.region(.determined(home.identifier, .outside))])
  }

  @Test("REG-8, REG-9, BKG-2: crossings come in order, silent ones included, then the answer")
  func crossingOrder() {
    let bench = ClientBench(capacity: 128)
    bench.send(.connect)
    let home = RegionIdentifier(.region, 1)
    bench.send(.addRegion(circle(home, exit: false), assuming: .unknown))
    bench.sendOnly(.requestRegionState(home))
    bench.sendOnly(.setExecution(.suspended))
    // The first fix decides the state, and the answer waits.
    var notices = bench.fixes(1, east: 500)
    notices += bench.fixes(30)
    notices += bench.fixes(30, east: 500)
    notices += bench.send(.setExecution(.background))
    #expect(
      notices == [
        .region(.entered(home, at: Instant(seconds: 22))),
        .region(.determined(home, .inside)), .region(.crossedSilently(home, .outside)),
        .region(.determined(home, .outside)),
      ])
  }
}
