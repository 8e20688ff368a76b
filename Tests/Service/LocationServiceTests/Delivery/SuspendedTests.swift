import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A suspended program on the socket")
struct SuspendedTests {
  /// A suspended client that was inside its circle 3 s ago.
  private func suspendedInside() throws -> Tracker {
    let tracker = try Tracker(.addRegion(.home(), assuming: .unknown), canIdle: false)
    for _ in 0..<3 { tracker.bench.fix() }
    #expect(tracker.words() == [])
    tracker.call(.setExecution(.suspended))
    return tracker
  }

  @Test("BKG-2, BKG-5: a resumed program receives N fixes and a gap for the unrecorded time")
  func queue() throws {
    let tracker = try Tracker(.startUpdating)
    #expect(tracker.run(3) == 3 && tracker.watch.fixes().count == 3)
    tracker.call(.setExecution(.suspended))
    let stop = tracker.bench.stage.now + .seconds(32)
    #expect(tracker.run(200) == 32, "N fixes, then the receiver sleeps")
    #expect(tracker.watch.notices().isEmpty)
    let start = tracker.bench.stage.now
    tracker.call(.setExecution(.background))
    tracker.run(2)
    let sent = tracker.watch.notices()
    #expect(sent.map(\.word) == ["fixes 32", "gap 0", "fixes 1", "fixes 1"])
    guard case .gap(let gap)? = sent.dropFirst().first else { return }
    #expect(gap.mayBeMore && gap.range == 35..<35)
    #expect(gap.from?.acquired == stop && gap.to?.acquired == start)
    #expect(gap.from?.utc != nil && gap.to?.utc != nil)
  }

  @Test("BKG-5: a deferral continues while its program is suspended, even if N fixes wait")
  func deferral() throws {
    let tracker = try Tracker(.startUpdating)
    tracker.run(1)
    tracker.call(.setExecution(.background))
    tracker.call(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 50))
    tracker.call(.setExecution(.suspended))
    _ = tracker.watch.notices()
    #expect(tracker.run(200) == 50)
    #expect(tracker.watch.notices().isEmpty)
    tracker.call(.setExecution(.foreground))
    #expect(tracker.words() == ["finished -1", "fixes 50", "gap 0"])
  }

  @Test("BKG-5, BKG-9: with a background session fixes are recorded until the session ends")
  func session() throws {
    let tracker = try Tracker(.startUpdating)
    #expect(tracker.call(.openBackgroundSession) == .active(true))
    tracker.call(.setExecution(.suspended))
    #expect(tracker.run(200) == 200)
    #expect(tracker.watch.notices().isEmpty)
    tracker.call(.setExecution(.background))
    let size = ServiceBench.ringCapacity
    #expect(
      tracker.words() == ["gap \(200 - size)", "fixes \(size)"], "the ring is full (RNG-4)")
  }

  @Test(
    "BKG-2, RNG-3: undelivered fixes of a suspended program and their gap go to the next process")
  func ends() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    tracker.quit()
    let (again, listener, _) = tracker.bench.client("tracker")
    #expect(listener.notices().isEmpty, "it has started no service")
    _ = tracker.bench.call(.startUpdating, again)
    #expect(listener.words() == ["fixes 32", "gap 0"])
  }

  @Test("BKG-5, BKG-20: the gap of a full queue is also reported after the service was killed")
  func killed() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    let next = try ServiceBench(after: tracker.bench.killed(), canIdle: true)
    let start = next.stage.now
    let (again, listener, _) = next.client("tracker")
    _ = next.call(.startUpdating, again)
    let sent = listener.notices()
    #expect(sent.map(\.word) == ["fixes 32", "gap 0"])
    guard case .gap(let gap)? = sent.last, case .fixes(let fixes)? = sent.first else { return }
    #expect(gap.mayBeMore && gap.from?.acquired == fixes.last?.fix.acquired)
    #expect(gap.to?.acquired == start)
  }

  @Test("BKG-20: the gap survives a second kill of the service")
  func killedTwice() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    let next = try ServiceBench(after: tracker.bench.killed(), canIdle: true)
    next.settle()
    let last = try ServiceBench(after: next.killed(), canIdle: true)
    let (again, listener, _) = last.client("tracker")
    _ = last.call(.startUpdating, again)
    let sent = listener.notices()
    #expect(sent.map(\.word) == ["fixes 32", "gap 0"])
    guard case .gap(let gap)? = sent.last, case .fixes(let fixes)? = sent.first else { return }
    #expect(gap.mayBeMore && gap.from?.acquired == fixes.last?.fix.acquired)
  }

  @Test("BKG-5: a drain reports the unrecorded time once")
  func drained() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    let program = tracker.bench.program()
    program.send(.drain(session: tracker.session))
    tracker.bench.settle()
    let bytes = program.bytes()
    let end = try #require(bytes.firstIndex(of: 0))
    let drain = WireCall.drain(session: tracker.session)
    let reply = try ReplyDecoder.decode(Array(bytes[..<end]), to: drain).reply
    guard case .drain(32, let gap?) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(gap.mayBeMore && gap.count == 0)
    #expect(tracker.bench.isDemanding, "the queue has space again")
    tracker.call(.setExecution(.foreground))
    #expect(tracker.watch.notices().isEmpty)
  }

  @Test("REG-8: each crossing is followed immediately by its state")
  func crossings() throws {
    let tracker = try Tracker(.addRegion(.home(), assuming: .unknown), canIdle: false)
    for _ in 0..<60 { tracker.bench.fix() }
    #expect(tracker.words() == ["exited", "determined 2"])
    tracker.call(.requestRegionState(.region, name: "home"))
    #expect(tracker.words() == ["determined 2"])
    tracker.quit()
    // Unacknowledged: both are sent to the next process.
    let (_, listener, _) = tracker.bench.client("tracker")
    #expect(listener.words() == ["exited", "determined 2"])
  }

  @Test("BKG-2, REG-8: a suspended program receives nothing, including region states")
  func regions() throws {
    let tracker = try suspendedInside()
    for _ in 0..<60 { tracker.bench.fix() }
    #expect(tracker.watch.notices().isEmpty)
    tracker.call(.setExecution(.background))
    #expect(tracker.words() == ["exited", "determined 2"])
  }

  @Test("BKG-2, REG-7: answers and diagnostics that come due while suspended wait")
  func answers() throws {
    let tracker = try Tracker(.addRegion(.home(), assuming: .unknown), canIdle: false)
    tracker.call(.requestRegionState(.region, name: "home"))
    tracker.call(.openServiceSession(.always, requiresFullAccuracy: true))
    _ = tracker.watch.notices()
    tracker.call(.setExecution(.suspended))
    tracker.bench.fix()
    tracker.bench.pass(120)
    #expect(tracker.watch.notices().isEmpty)
    tracker.call(.setExecution(.foreground))
    #expect(tracker.words().contains { $0.hasPrefix("determined") })
  }

  @Test("BKG-2: any call of a suspended program shows that it runs")
  func anyCall() throws {
    let tracker = try suspendedInside()
    for _ in 0..<60 { tracker.bench.fix() }
    tracker.call(.acknowledgeEvents(1))
    #expect(tracker.watch.notices().isEmpty)
    tracker.call(.startUpdating)
    #expect(tracker.words() == ["exited", "determined 2"])
  }

  @Test("BKG-21: an outstanding request continues; live updates stop until the program runs")
  func requestAndLive() throws {
    let tracker = try Tracker(.requestLocation)
    tracker.call(.setExecution(.suspended))
    #expect(tracker.bench.needsFix)
    tracker.bench.fix()
    #expect(!tracker.bench.needsFix && tracker.watch.notices().isEmpty)
    tracker.call(.setExecution(.foreground))
    #expect(tracker.watch.notices().contains { if case .report = $0 { true } else { false } })
    tracker.call(.openLive(.default))
    #expect(tracker.bench.isDemanding)
    tracker.call(.setExecution(.suspended))
    #expect(!tracker.bench.isDemanding && !tracker.bench.needsFix)
  }

  @Test("VIS-7: a current visit is delivered first when the service is started again")
  func cachedVisit() throws {
    let tracker = try Tracker(.startVisits, canIdle: false)
    tracker.bench.stay(900)
    #expect(tracker.words() == ["arrived"])
    tracker.call(.stopVisits)
    tracker.call(.startVisits)
    #expect(tracker.words() == ["arrived"])
    tracker.call(.stopVisits)
    tracker.bench.pass(301)
    tracker.call(.startVisits)
    #expect(!tracker.words().contains("arrived"))
  }

  @Test("AUT-12: with reduced accuracy running updates deliver coarse fixes")
  func reduced() throws {
    let tracker = try Tracker(
      on: ServiceBench(
        AccessPolicy(
          defaultRights: AccessRights(authorization: .always, isReduced: true),
          administrators: [UInt32(geteuid())])))
    tracker.call(.startUpdating)
    for _ in 0..<3 { tracker.bench.fix() }
    let sent = tracker.watch.notices()
    guard case .fixes(let fixes)? = sent.last, sent.count == 1 else {
      Issue.record("\(sent)")
      return
    }
    #expect(fixes.count == 1 && fixes[0].fix.horizontalAccuracy == 5_000)
    #expect(tracker.call(.acknowledge(fixes[0].name)) == .done)
    // While suspended, one fix waits for it and no more are acquired.
    tracker.call(.setExecution(.suspended))
    #expect(tracker.bench.nextNeed < .distantFuture)
    tracker.bench.pass(1_000)
    tracker.bench.fix()
    #expect(tracker.bench.nextNeed == .distantFuture && tracker.watch.notices().isEmpty)
    tracker.call(.setExecution(.background))
    #expect(tracker.watch.fixes().count == 1)
  }
}

@Suite("Programs that are denied or undetermined")
struct PermissionTests {
  private let me = geteuid()
  private var name: WireClientName { WireClientName(user: me, name: "tracker") }

  /// A client with this authorization that has received the notice of it.
  private func tracker(_ authorization: Authorization) throws -> Tracker {
    let tracker = try Tracker(
      on: ServiceBench(
        AccessPolicy(
          defaultRights: AccessRights(authorization: authorization), administrators: [UInt32(me)]),
        canIdle: true))
    #expect(sent(tracker).isEmpty)
    return tracker
  }

  /// The notices since the last call, without changes of authorization.
  private func sent(_ tracker: Tracker) -> [WireNotice] { sent(tracker.watch) }

  private func sent(_ watch: Program) -> [WireNotice] {
    watch.notices().filter { if case .authorization = $0 { false } else { true } }
  }

  /// An administrator's decision about the client.
  private func decide(_ decision: WireCall, _ tracker: Tracker) {
    #expect(tracker.bench.call(decision, tracker.bench.program()) == .done)
  }

  @Test(
    "AUT-10: each service that a denied client starts reports the denial",
    arguments: [Authorization.denied, .restricted])
  func denied(_ authorization: Authorization) throws {
    let tracker = try tracker(authorization)
    for call in [WireCall.startUpdating, .startSignificantChange, .startVisits, .requestLocation] {
      tracker.call(call)
      #expect(sent(tracker) == [.failure(.denied)], "\(call)")
    }
    tracker.call(.allowDeferred(distance: 1, timeout: 1))
    #expect(sent(tracker) == [.finished(.denied)])
    tracker.call(.addRegion(.home(), assuming: .unknown))
    #expect(
      sent(tracker) == [
        .region(WireRegionEvent(.region, name: "home", .failed(.regionMonitoringDenied)))
      ])
    #expect(tracker.call(.listRegions) == .regions([]))
  }

  @Test("AUT-11: an undetermined client gets no error, and its services start with permission")
  func undecided() throws {
    let tracker = try tracker(.notDetermined)
    for call in [
      WireCall.requestLocation, .startSignificantChange, .startVisits,
      .addRegion(.home(), assuming: .unknown),
    ] { tracker.call(call) }
    for _ in 0..<3 { tracker.bench.fix() }
    tracker.bench.pass(120)
    #expect(sent(tracker).isEmpty && !tracker.bench.isDemanding && !tracker.bench.needsFix)
    decide(.allowClient(name, .always), tracker)
    #expect(tracker.bench.needsFix)
    tracker.bench.fix()
    let reports = sent(tracker).filter { if case .report = $0 { true } else { false } }
    #expect(reports.count == 2, "for the request and for significant change")
    tracker.bench.stay(900)
    #expect(sent(tracker).contains { if case .visit = $0 { true } else { false } })
  }

  @Test("AUT-11: updates and a deferral wait for permission; the deferral's timeout runs")
  func undecidedUpdates() throws {
    let tracker = try tracker(.notDetermined)
    tracker.call(.startUpdating)
    tracker.call(.setExecution(.background))
    tracker.call(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 60))
    tracker.bench.fix()
    tracker.bench.pass(30)
    #expect(sent(tracker).isEmpty && !tracker.bench.isDemanding)
    decide(.allowClient(name, .always), tracker)
    #expect(tracker.bench.isDemanding)
    for _ in 0..<10 { tracker.bench.fix() }
    #expect(sent(tracker).isEmpty, "deferred")
    tracker.bench.pass(30)
    let all = sent(tracker)
    guard all.count == 2, case .fixes(let fixes) = all[1] else {
      Issue.record("\(all)")
      return
    }
    #expect(all[0] == .finished(nil) && fixes.count == 10)
  }

  @Test("AUT-10, AUT-11: a pending program that is denied is notified once")
  func decidedAgainst() throws {
    let tracker = try tracker(.notDetermined)
    tracker.call(.startUpdating)
    tracker.call(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 60))
    decide(.denyClient(name), tracker)
    #expect(sent(tracker) == [.finished(.denied), .failure(.denied)])
    let other = tracker.bench.client("other")
    _ = tracker.bench.call(.requestLocation, other.control)
    let otherName = WireClientName(user: me, name: "other")
    decide(.denyClient(otherName), tracker)
    #expect(sent(other.watch) == [.failure(.denied)])
  }

  @Test("VIS-2: visits start when always is granted and end when it is revoked")
  func visits() throws {
    let tracker = try tracker(.whenInUse)
    tracker.call(.startVisits)
    tracker.bench.stay(900)
    #expect(sent(tracker).isEmpty && !tracker.bench.needsFix)
    decide(.allowClient(name, .always), tracker)
    #expect(tracker.bench.needsFix)
    decide(.allowClient(name, .whenInUse), tracker)
    #expect(!tracker.bench.needsFix)
  }

  @Test(
    "SLC-11, VIS-12: significant change and visits report a missing fix once",
    arguments: [WireCall.startSignificantChange, .startVisits])
  func noFix(_ call: WireCall) throws {
    let tracker = try tracker(.always)
    tracker.call(call)
    tracker.bench.pass(330)
    #expect(sent(tracker) == [.failure(.locationUnknown)])
    tracker.bench.pass(3_600)
    #expect(sent(tracker).isEmpty)
    tracker.bench.fix()
    _ = sent(tracker)
    tracker.bench.pass(7_200)
    #expect(sent(tracker) == [.failure(.locationUnknown)])
  }

  @Test("DEF-43, DEF-1: a passive receiver is lost after a minute of silence")
  func silent() throws {
    let tracker = try tracker(.always)
    tracker.call(.startUpdating)
    tracker.call(.setExecution(.background))
    tracker.bench.fix()
    let deferral = WireCall.allowDeferred(
      distance: LocationLimits.distanceMax, timeout: LocationLimits.timeIntervalMax)
    tracker.call(deferral)
    for _ in 0..<3 { tracker.bench.fix() }
    _ = sent(tracker)
    tracker.bench.pass(59)
    #expect(sent(tracker).isEmpty)
    tracker.bench.pass(2)
    let all = sent(tracker)
    #expect(all.count == 3 && all.first == .finished(.deferredFailed), "\(all)")
    #expect(all.last == .failure(.locationUnknown))
    tracker.call(deferral)
    #expect(sent(tracker) == [.finished(.deferredFailed)])
    tracker.bench.fix()
    _ = sent(tracker)
    tracker.call(deferral)
    for _ in 0..<3 { tracker.bench.fix() }
    #expect(sent(tracker).isEmpty, "it sends again, and the deferral continues")
  }
}
