import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A suspended program on the socket")
struct SuspendedTests {
  /// A suspended client that was inside its circle 3 s before.
  private func suspendedInside() throws -> Tracker {
    let tracker = try Tracker(.addRegion(.home(), assuming: .unknown), canIdle: false)
    for _ in 0..<3 { tracker.bench.fix() }
    #expect(tracker.words() == [])
    tracker.ask(.setExecution(.suspended))
    return tracker
  }

  @Test(
    "BKG-2, BKG-5: a program that sleeps finds N fixes when it wakes, and then what was not recorded"
  )
  func queue() throws {
    let tracker = try Tracker(.startUpdating)
    #expect(tracker.run(3) == 3 && tracker.watch.fixes().count == 3)
    tracker.ask(.setExecution(.suspended))
    let stop = tracker.bench.stage.now + .seconds(32)
    #expect(tracker.run(200) == 32, "N fixes, and then the receiver rests")
    #expect(tracker.watch.notices().isEmpty)
    let start = tracker.bench.stage.now
    tracker.ask(.setExecution(.background))
    tracker.run(2)
    let told = tracker.watch.notices()
    #expect(told.map(\.word) == ["fixes 32", "gap 0", "fixes 1", "fixes 1"])
    guard case .gap(let gap)? = told.dropFirst().first else { return }
    #expect(gap.mayBeMore && gap.range == 35..<35)
    #expect(gap.from?.acquired == stop && gap.to?.acquired == start)
    #expect(gap.from?.utc != nil && gap.to?.utc != nil)
  }

  @Test("BKG-5: a deferral goes on while its program is suspended, though N fixes wait")
  func deferral() throws {
    let tracker = try Tracker(.startUpdating)
    tracker.run(1)
    tracker.ask(.setExecution(.background))
    tracker.ask(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 50))
    tracker.ask(.setExecution(.suspended))
    _ = tracker.watch.notices()
    #expect(tracker.run(200) == 50)
    #expect(tracker.watch.notices().isEmpty)
    tracker.ask(.setExecution(.foreground))
    #expect(tracker.words() == ["finished -1", "fixes 50", "gap 0"])
  }

  @Test("BKG-5, BKG-9: with a background session fixes are recorded as long as it lasts")
  func session() throws {
    let tracker = try Tracker(.startUpdating)
    #expect(tracker.ask(.openBackgroundSession) == .active(true))
    tracker.ask(.setExecution(.suspended))
    #expect(tracker.run(200) == 200)
    #expect(tracker.watch.notices().isEmpty)
    tracker.ask(.setExecution(.background))
    let size = ServiceBench.ringCapacity
    #expect(
      tracker.words() == ["gap \(200 - size)", "fixes \(size)"], "the ring is full (RNG-4)")
  }

  @Test("BKG-2, RNG-3: what a suspended program was not told comes to the next one, with its gap")
  func dies() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    tracker.quit()
    let (again, listener, _) = tracker.bench.client("tracker")
    #expect(listener.notices().isEmpty, "it has started nothing")
    _ = tracker.bench.ask(.startUpdating, again)
    #expect(listener.words() == ["fixes 32", "gap 0"])
  }

  @Test("BKG-5, BKG-20: that its queue was full is a gap after the service was killed, too")
  func killed() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    let next = try ServiceBench(after: tracker.bench.killed(), canIdle: true)
    let start = next.stage.now
    let (again, listener, _) = next.client("tracker")
    _ = next.ask(.startUpdating, again)
    let told = listener.notices()
    #expect(told.map(\.word) == ["fixes 32", "gap 0"])
    guard case .gap(let gap)? = told.last, case .fixes(let fixes)? = told.first else { return }
    #expect(gap.mayBeMore && gap.from?.acquired == fixes.last?.fix.acquired)
    #expect(gap.to?.acquired == start)
  }

  @Test("BKG-20: the gap of a kill outlives a second one")
  func killedTwice() throws {
    let tracker = try Tracker(.startUpdating, .setExecution(.suspended))
    #expect(tracker.run(100) == 32)
    let next = try ServiceBench(after: tracker.bench.killed(), canIdle: true)
    next.settle()
    let last = try ServiceBench(after: next.killed(), canIdle: true)
    let (again, listener, _) = last.client("tracker")
    _ = last.ask(.startUpdating, again)
    let told = listener.notices()
    #expect(told.map(\.word) == ["fixes 32", "gap 0"])
    guard case .gap(let gap)? = told.last, case .fixes(let fixes)? = told.first else { return }
    #expect(gap.mayBeMore && gap.from?.acquired == fixes.last?.fix.acquired)
  }

  @Test("BKG-5: a bulk read of a queue says with it what was not recorded, once")
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
    #expect(tracker.bench.isDemanding, "there is room again")
    tracker.ask(.setExecution(.foreground))
    #expect(tracker.watch.notices().isEmpty)
  }

  @Test("REG-8: each crossing is told with its state right after it")
  func crossings() throws {
    let tracker = try Tracker(.addRegion(.home(), assuming: .unknown), canIdle: false)
    for _ in 0..<60 { tracker.bench.fix() }
    #expect(tracker.words() == ["exited", "determined 2"])
    tracker.ask(.requestRegionState(.region, name: "home"))
    #expect(tracker.words() == ["determined 2"])
    tracker.quit()
    // It was not acknowledged: the next process is told both.
    let (_, listener, _) = tracker.bench.client("tracker")
    #expect(listener.words() == ["exited", "determined 2"])
  }

  @Test("BKG-2, REG-8: nothing is told while it is suspended, no state of a region either")
  func regions() throws {
    let tracker = try suspendedInside()
    for _ in 0..<60 { tracker.bench.fix() }
    #expect(tracker.watch.notices().isEmpty)
    tracker.ask(.setExecution(.background))
    #expect(tracker.words() == ["exited", "determined 2"])
  }

  @Test("BKG-2, REG-7: an answer that comes due while it is suspended waits; so do diagnostics")
  func answers() throws {
    let tracker = try Tracker(.addRegion(.home(), assuming: .unknown), canIdle: false)
    tracker.ask(.requestRegionState(.region, name: "home"))
    tracker.ask(.openServiceSession(.always, wantsFullAccuracy: true))
    _ = tracker.watch.notices()
    tracker.ask(.setExecution(.suspended))
    tracker.bench.fix()
    tracker.bench.pass(120)
    #expect(tracker.watch.notices().isEmpty)
    tracker.ask(.setExecution(.foreground))
    #expect(tracker.words().contains { $0.hasPrefix("determined") })
  }

  @Test("BKG-2: whatever a suspended program asks shows that it runs")
  func asks() throws {
    let tracker = try suspendedInside()
    for _ in 0..<60 { tracker.bench.fix() }
    tracker.ask(.acknowledgeEvents(1))
    #expect(tracker.watch.notices().isEmpty)
    tracker.ask(.startUpdating)
    #expect(tracker.words() == ["exited", "determined 2"])
  }

  @Test("BKG-21: a request that is outstanding goes on; live updates rest until the program runs")
  func requestAndLive() throws {
    let tracker = try Tracker(.requestLocation)
    tracker.ask(.setExecution(.suspended))
    #expect(tracker.bench.needsFix)
    tracker.bench.fix()
    #expect(!tracker.bench.needsFix && tracker.watch.notices().isEmpty)
    tracker.ask(.setExecution(.foreground))
    #expect(tracker.watch.notices().contains { if case .report = $0 { true } else { false } })
    tracker.ask(.openLive(.default))
    #expect(tracker.bench.isDemanding)
    tracker.ask(.setExecution(.suspended))
    #expect(!tracker.bench.isDemanding && !tracker.bench.needsFix)
  }

  @Test("VIS-7: a visit that lasted when the service was stopped comes first when it starts again")
  func cachedVisit() throws {
    let tracker = try Tracker(.startVisits, canIdle: false)
    tracker.bench.stay(900)
    #expect(tracker.words() == ["arrived"])
    tracker.ask(.stopVisits)
    tracker.ask(.startVisits)
    #expect(tracker.words() == ["arrived"])
    tracker.ask(.stopVisits)
    tracker.bench.pass(301)
    tracker.ask(.startVisits)
    #expect(!tracker.words().contains("arrived"))
  }

  @Test("AUT-12: with reduced accuracy running updates bring their coarse fix as fixes")
  func reduced() throws {
    let tracker = try Tracker(
      on: ServiceBench(
        AccessPolicy(
          defaultRights: AccessRights(authorization: .always, isReduced: true),
          administrators: [UInt32(geteuid())])))
    tracker.ask(.startUpdating)
    for _ in 0..<3 { tracker.bench.fix() }
    let told = tracker.watch.notices()
    guard case .fixes(let fixes)? = told.last, told.count == 1 else {
      Issue.record("\(told)")
      return
    }
    #expect(fixes.count == 1 && fixes[0].fix.horizontalAccuracy == 5_000)
    #expect(tracker.ask(.acknowledge(fixes[0].name)) == .done)
    // While it is suspended, one waits for it and no more is acquired.
    tracker.ask(.setExecution(.suspended))
    #expect(tracker.bench.nextNeed < .distantFuture)
    tracker.bench.pass(1_000)
    tracker.bench.fix()
    #expect(tracker.bench.nextNeed == .distantFuture && tracker.watch.notices().isEmpty)
    tracker.ask(.setExecution(.background))
    #expect(tracker.watch.fixes().count == 1)
  }
}

@Suite("Programs that may not use location, or of whom nobody has decided")
struct PermissionTests {
  private let me = geteuid()
  private var name: WireClientName { WireClientName(user: me, name: "tracker") }

  /// A client that may so much, and has had the notice of that.
  private func tracker(_ authorization: Authorization) throws -> Tracker {
    let tracker = try Tracker(
      on: ServiceBench(
        AccessPolicy(
          defaultRights: AccessRights(authorization: authorization), administrators: [UInt32(me)]),
        canIdle: true))
    #expect(told(tracker).isEmpty)
    return tracker
  }

  /// The notices that have come since the last look, without changes of authorization.
  private func told(_ tracker: Tracker) -> [WireNotice] { told(tracker.watch) }

  private func told(_ watch: Program) -> [WireNotice] {
    watch.notices().filter { if case .authorization = $0 { false } else { true } }
  }

  /// An administrator's decision about the client.
  private func decide(_ decision: WireCall, _ tracker: Tracker) {
    #expect(tracker.bench.ask(decision, tracker.bench.program()) == .done)
  }

  @Test(
    "AUT-10: who is denied is told so by each service it starts",
    arguments: [Authorization.denied, .restricted])
  func denied(_ authorization: Authorization) throws {
    let tracker = try tracker(authorization)
    for call in [WireCall.startUpdating, .startSignificantChange, .startVisits, .requestLocation] {
      tracker.ask(call)
      #expect(told(tracker) == [.failure(.denied)], "\(call)")
    }
    tracker.ask(.allowDeferred(distance: 1, timeout: 1))
    #expect(told(tracker) == [.finished(.denied)])
    tracker.ask(.addRegion(.home(), assuming: .unknown))
    #expect(
      told(tracker) == [
        .region(WireRegionEvent(.region, name: "home", .failed(.regionMonitoringDenied)))
      ])
    #expect(tracker.ask(.listRegions) == .regions([]))
  }

  @Test("AUT-11: of whom nobody has decided brings no error, and is served when permission comes")
  func undecided() throws {
    let tracker = try tracker(.notDetermined)
    for call in [
      WireCall.requestLocation, .startSignificantChange, .startVisits,
      .addRegion(.home(), assuming: .unknown),
    ] { tracker.ask(call) }
    for _ in 0..<3 { tracker.bench.fix() }
    tracker.bench.pass(120)
    #expect(told(tracker).isEmpty && !tracker.bench.isDemanding && !tracker.bench.needsFix)
    decide(.allowClient(name, .always), tracker)
    #expect(tracker.bench.needsFix)
    tracker.bench.fix()
    let reports = told(tracker).filter { if case .report = $0 { true } else { false } }
    #expect(reports.count == 2, "of the request and of significant change")
    tracker.bench.stay(900)
    #expect(told(tracker).contains { if case .visit = $0 { true } else { false } })
  }

  @Test("AUT-11: updates and a deferral wait for permission; the deferral's time runs")
  func undecidedUpdates() throws {
    let tracker = try tracker(.notDetermined)
    tracker.ask(.startUpdating)
    tracker.ask(.setExecution(.background))
    tracker.ask(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 60))
    tracker.bench.fix()
    tracker.bench.pass(30)
    #expect(told(tracker).isEmpty && !tracker.bench.isDemanding)
    decide(.allowClient(name, .always), tracker)
    #expect(tracker.bench.isDemanding)
    for _ in 0..<10 { tracker.bench.fix() }
    #expect(told(tracker).isEmpty, "deferred")
    tracker.bench.pass(30)
    let all = told(tracker)
    guard all.count == 2, case .fixes(let fixes) = all[1] else {
      Issue.record("\(all)")
      return
    }
    #expect(all[0] == .finished(nil) && fixes.count == 10)
  }

  @Test("AUT-10, AUT-11: a pending program that is denied is told so, once")
  func decidedAgainst() throws {
    let tracker = try tracker(.notDetermined)
    tracker.ask(.startUpdating)
    tracker.ask(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 60))
    decide(.denyClient(name), tracker)
    #expect(told(tracker) == [.finished(.denied), .failure(.denied)])
    let other = tracker.bench.client("other")
    _ = tracker.bench.ask(.requestLocation, other.control)
    let otherName = WireClientName(user: me, name: "other")
    decide(.denyClient(otherName), tracker)
    #expect(told(other.watch) == [.failure(.denied)])
  }

  @Test(
    "VIS-2: visits asked for while in use start when always is granted, and end when it is taken")
  func visits() throws {
    let tracker = try tracker(.whenInUse)
    tracker.ask(.startVisits)
    tracker.bench.stay(900)
    #expect(told(tracker).isEmpty && !tracker.bench.needsFix)
    decide(.allowClient(name, .always), tracker)
    #expect(tracker.bench.needsFix)
    decide(.allowClient(name, .whenInUse), tracker)
    #expect(!tracker.bench.needsFix)
  }

  @Test(
    "SLC-11, VIS-12: where no fix can be had, significant change and visits are told, once",
    arguments: [WireCall.startSignificantChange, .startVisits])
  func noFix(_ call: WireCall) throws {
    let tracker = try tracker(.always)
    tracker.ask(call)
    tracker.bench.pass(330)
    #expect(told(tracker) == [.failure(.locationUnknown)])
    tracker.bench.pass(3_600)
    #expect(told(tracker).isEmpty)
    tracker.bench.fix()
    _ = told(tracker)
    tracker.bench.pass(7_200)
    #expect(told(tracker) == [.failure(.locationUnknown)])
  }

  @Test("DEF-43, DEF-1: a receiver that takes no commands is gone after a minute of silence")
  func silent() throws {
    let tracker = try tracker(.always)
    tracker.ask(.startUpdating)
    tracker.ask(.setExecution(.background))
    tracker.bench.fix()
    let deferral = WireCall.allowDeferred(
      distance: LocationLimits.distanceMax, timeout: LocationLimits.timeIntervalMax)
    tracker.ask(deferral)
    for _ in 0..<3 { tracker.bench.fix() }
    _ = told(tracker)
    tracker.bench.pass(59)
    #expect(told(tracker).isEmpty)
    tracker.bench.pass(2)
    let all = told(tracker)
    #expect(all.count == 3 && all.first == .finished(.deferredFailed), "\(all)")
    #expect(all.last == .failure(.locationUnknown))
    tracker.ask(deferral)
    #expect(told(tracker) == [.finished(.deferredFailed)])
    tracker.bench.fix()
    _ = told(tracker)
    tracker.ask(deferral)
    for _ in 0..<3 { tracker.bench.fix() }
    #expect(told(tracker).isEmpty, "it talks again, and defers")
  }
}
