import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

extension ClientBench {
  /// Sheds these service levels from now on and returns the notices.
  @discardableResult
  func shed(_ levels: ServiceLevel...) -> [NoticeValue] {
    shedLevels = .none
    for level in levels { shedLevels.insert(level) }
    client.elapse(context)
    return notices()
  }

  var flags: UInt8 { client.services.live.flags.rawValue }
}

/// The notice that reports these levels as shed.
private func degraded(_ levels: ServiceLevel...) -> NoticeValue {
  var set = ServiceLevelSet.none
  for level in levels { set.insert(level) }
  return .degraded(set.rawValue)
}

@Suite("Client on a low battery")
struct ClientBatteryTests {
  // MARK: Updates

  @Test("PWR-10: the finest demand is 100 m without everyFix, then 1 km, then none")
  func demands() {
    let bench = ClientBench.started()
    for (accuracy, demands) in [
      (-1.0, [100.0, 1_000]), (-2, [100, 1_000]), (10, [100, 1_000]), (50, [100, 1_000]),
      (.nan, [100, 1_000]), (100, [100, 1_000]), (300, [300, 1_000]), (3_000, [3_000, 3_000]),
    ] {
      bench.send(.setDesiredAccuracy(accuracy))
      bench.shed(.everyFix)
      #expect(bench.demand == .within(metres: demands[0]), "\(accuracy)")
      bench.shed(.everyFix, .accuracy)
      #expect(bench.demand == .within(metres: demands[1]), "\(accuracy)")
      bench.shed(.everyFix, .accuracy, .updates)
      #expect(bench.demand == .none)
      bench.shed()
      #expect(bench.demand != .none)
    }
    bench.send(.setDesiredAccuracy(-1))
    #expect(bench.demand == .live(isWatched: false), "the demand is restored")
  }

  @Test("PWR-10: fixes from a period without updates are excluded; earlier and later ones are not")
  func shedPeriod() {
    let bench = ClientBench.started()
    #expect(bench.fixes(2) == [.batch(0...0), .batch(1...1)])
    #expect(bench.shed(.updates) == [degraded(.updates)])
    #expect(bench.fixes(3) == [], "fixes for another client")
    #expect(bench.shed() == [.degraded(0)])
    #expect(bench.fixes(2) == [.batch(5...5), .batch(6...6)], "without a gap")
    #expect(bench.client.shed == .none)
  }

  @Test("PWR-10, STD-10: a missing location is reported only while updates are granted")
  func unknown() {
    let bench = ClientBench.started()
    bench.shed(.updates)
    bench.client.reportLocationUnknown(bench.context)
    #expect(bench.notices() == [])
    bench.shed()
    bench.client.reportLocationUnknown(bench.context)
    #expect(bench.notices() == [.failure(0)])
  }

  // MARK: Deferrals

  @Test("PWR-10, DEF-8: a deferral ends once, with 13, then its batch and the shed levels")
  func deferral() {
    let bench = ClientBench.engaged()
    #expect(bench.fixes(2) == [])
    #expect(bench.shed(.everyFix) == [.finish(13), .batch(0...1), degraded(.everyFix)])
    #expect(bench.demand == .within(metres: 100), "a call that would fail adds no demand")
    #expect(bench.shed(.everyFix, .accuracy) == [degraded(.everyFix, .accuracy)])
    #expect(bench.send(.allowDeferred(distance: .infinity, timeout: .infinity)) == [.finish(13)])
    #expect(
      bench.shed(.everyFix, .accuracy, .updates)
        == [degraded(.everyFix, .accuracy, .updates)], "no second finish")
    #expect(bench.send(.allowDeferred(distance: .infinity, timeout: .infinity)) == [.finish(12)])
    #expect(bench.shed() == [.degraded(0)])
    #expect(bench.send(.allowDeferred(distance: .infinity, timeout: .infinity)) == [])
    bench.updateEngagement(true)
    #expect(bench.state == .engaged)
  }

  @Test("PWR-10, DEF-4: if updates are shed too, the deferral ends with 12")
  func deferralWithoutUpdates() {
    let bench = ClientBench.engaged()
    bench.fixes(1)
    #expect(bench.shed(.updates) == [.finish(12), .batch(0...0), degraded(.updates)])
    #expect(bench.demand == .none)
  }

  @Test("PWR-10: a criterion met at the same time ends the deferral without error (DEF-9)")
  func metAtSameTime() {
    let bench = ClientBench.engaged(timeout: 5)
    bench.fixes(1)
    bench.now = 5
    #expect(bench.shed(.everyFix) == [.finish(nil), .batch(0...0), degraded(.everyFix)])
  }

  @Test(
    "PWR-10, DEF-43: shedding waits for the drain, then delivers the end and its fixes",
    arguments: [(ServiceLevel.everyFix, 13), (.updates, 12)])
  func drain(_ level: ServiceLevel, _ code: Int) {
    let bench = ClientBench.engaged()
    bench.buffers = true
    bench.now = 10
    #expect(bench.shed(level) == [], "it waits for the drain")
    #expect(bench.demand == .deferred(check: bench.now_i) && bench.isWaitingForDrain)
    bench.now = 12
    let notices = bench.drain([8, 9, 11])
    #expect(bench.demand == (level == .updates ? .none : .within(metres: 100)))
    if level == .updates {
      #expect(notices == [.finish(code), .batch(0...1), degraded(level)], "11 s is after it")
    } else {
      #expect(notices == [.finish(code), .batch(0...2), degraded(level)])
    }
  }

  @Test("PWR-10, DEF-8: fixes after a shed period belong to the deferral called after it")
  func laterDeferral() {
    let bench = ClientBench.engaged()
    bench.buffers = true
    bench.now = 10
    bench.shed(.updates)
    bench.now = 20
    bench.shed()
    bench.now = 21
    #expect(bench.send(.allowDeferred(distance: .infinity, timeout: .infinity)) == [])
    bench.now = 30
    #expect(bench.send(.disallowDeferred) == [])
    let notices = bench.drain([5, 15, 25])
    #expect(notices == [.finish(12), .batch(0...0), .finish(15), .batch(2...2)])
  }

  @Test("PWR-10, BKG-2: on resuming, a suspended client gets the shed levels once if they changed")
  func suspended() {
    let bench = ClientBench.engaged()
    bench.fixes(1)
    bench.send(.setExecution(.suspended))
    #expect(bench.shed(.everyFix) == [] && bench.shed(.everyFix, .accuracy) == [])
    #expect(
      bench.send(.setExecution(.background))
        == [.finish(13), .batch(0...0), degraded(.everyFix, .accuracy)])
    bench.send(.setExecution(.suspended))
    bench.shed()
    bench.shed(.everyFix, .accuracy)
    #expect(bench.send(.setExecution(.background)) == [], "no change since the last report")
  }

  // MARK: Single requests

  @Test("PWR-10, STD-11: a pending request fails; a new one gets a recent fix or fails")
  func requests() {
    let bench = ClientBench()
    bench.send(.connect, .requestLocation)
    #expect(bench.need().isRequired)
    #expect(bench.shed(.updates) == [degraded(.updates), .failure(0)])
    #expect(!bench.need().isRequired && bench.check == .distantFuture)
    #expect(bench.send(.requestLocation) == [.failure(0)], "the reason is already reported")
    bench.send(.startVisits)
    bench.fixes(1)
    #expect(bench.send(.requestLocation) == [.report(0, accuracy_mm: 3_000)], "recent fix")
    #expect(bench.wait(60) == [])
  }

  @Test("PWR-10, STD-11: without everyFix a request accepts 100 m")
  func coarseRequest() {
    let bench = ClientBench()
    bench.send(.connect)
    #expect(bench.shed(.everyFix) == [], "it uses no level")
    #expect(bench.send(.requestLocation) == [degraded(.everyFix)])
    #expect(bench.need().accuracy == 100)
    bench.now = 1
    bench.append(fix(at: 1, accuracy_mm: 90_000))
    #expect(bench.notices() == [.report(0, accuracy_mm: 90_000)])
    #expect(bench.shed(.everyFix, .accuracy) == [], "it no longer uses a level")
    #expect(
      bench.send(.requestLocation) == [
        degraded(.everyFix, .accuracy), .report(0, accuracy_mm: 90_000),
      ])
    #expect(bench.send(.requestLocation) == [.report(0, accuracy_mm: 90_000)], "reported once")
  }

  @Test("PWR-10: a request for 1 km or more gets no notice of levels it does not use")
  func kilometreRequest() {
    let bench = ClientBench()
    bench.send(.connect, .setDesiredAccuracy(3_000))
    bench.shed(.everyFix, .accuracy)
    #expect(bench.send(.requestLocation) == [])
    #expect(bench.shed(.everyFix, .accuracy, .updates) == [degraded(.updates), .failure(0)])
    #expect(bench.send(.requestLocation) == [.failure(0)])
  }

  // MARK: Live updates

  @Test("PWR-10, LIV-7: live updates become coarse, then stop with a flag that gives the reason")
  func live() {
    let bench = ClientBench()
    bench.send(.connect, .openLive(.default))
    #expect(bench.demand == .live(isWatched: true))
    #expect(bench.shed(.everyFix) == [degraded(.everyFix)])
    #expect(bench.demand == .within(metres: 100))
    bench.shed(.everyFix, .accuracy)
    #expect(bench.demand == .within(metres: 1_000))
    bench.send(.startUpdating, .setDesiredAccuracy(3_000))
    #expect(bench.demand == .within(metres: 1_000), "the finer of both")
    bench.send(.stopUpdating)
    let silent = bench.shed(.updates)
    let flag = LiveFlags.locationUnavailable.rawValue
    #expect(
      silent == [degraded(.updates), .live(0, fix: nil, stationary: false, flags: flag)])
    #expect(bench.demand == .none && !bench.need().isRequired && bench.flags == flag)
    bench.send(.startSignificantChange)
    let others = bench.fixes(1)
    #expect(others == [.report(0, accuracy_mm: 3_000)], "live updates get no fix of other services")
    let back = bench.shed()
    #expect(back == [.degraded(0), .live(0, fix: nil, stationary: false, flags: 0)])
    #expect(bench.demand == .live(isWatched: true))
  }

  @Test("PWR-10: live updates wait while the receiver is drained for a deferral")
  func liveAndDrain() {
    let bench = ClientBench.engaged()
    bench.send(.openLive(.default))
    bench.buffers = true
    bench.shed(.everyFix)
    #expect(bench.demand == .deferred(check: bench.now_i))
    bench.drain([])
    #expect(bench.demand == .within(metres: 100))
  }

  // MARK: Other services

  @Test("PWR-10: a shed service requests and reports nothing, and continues when restored")
  func services() {
    for (level, request) in [
      (ServiceLevel.visits, Request.startVisits), (.significantChange, .startSignificantChange),
      (.regions, .addRegion(circle, assuming: .unknown)),
    ] {
      let bench = ClientBench(capacity: 64)
      bench.send(.connect, request)
      #expect(bench.need().isRequired)
      #expect(bench.shed(level) == [degraded(level)], "\(level)")
      #expect(!bench.need().isRequired && bench.check == .distantFuture)
      #expect(bench.stay(1_200).isEmpty, "\(level): fixes for other services cause no notice")
      #expect(bench.shed() == [.degraded(0)])
      #expect(bench.need().isRequired)
      if level == .regions { continue }
      #expect(!bench.stay(1_200).isEmpty, "\(level): it continues as requested")
    }
  }

  @Test("PWR-10, REG-15: shed regions report unknown and are decided again when restored")
  func regions() {
    let bench = ClientBench()
    bench.send(.connect, .addRegion(circle, assuming: .unknown))
    bench.fixes(1)
    #expect(bench.send(.requestRegionState(circle.identifier)) == [.region(state(.inside))])
    bench.shed(.regions)
    #expect(bench.send(.requestRegionState(circle.identifier)) == [.region(state(.unknown))])
    #expect(bench.fixes(3, east: 900) == [])
    bench.shed()
    #expect(bench.stay(60, east: 900).isEmpty, "as after a start: no crossing is reported (REG-6)")
    #expect(bench.send(.requestRegionState(circle.identifier)) == [.region(state(.outside))])
  }

  @Test("PWR-10, VIS-11: a reported visit stays open during shedding and ends after it")
  func visitContinues() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .startVisits)
    let notices = bench.stay(900)
    #expect(notices.count == 1)
    bench.shed(.visits)
    #expect(bench.stay(600, east: 5_000).isEmpty)
    bench.shed()
    let after = bench.stay(300, east: 5_000)
    guard case .visit(_, let departure?)? = after.first else {
      Issue.record("\(after)")
      return
    }
    #expect(departure <= bench.now)
  }

  @Test("PWR-10, SLC-4: a waiting change is reported after shedding, with the newest fix")
  func significantWaits() {
    let bench = ClientBench()
    bench.send(.connect, .startSignificantChange)
    bench.fixes(1)
    #expect(bench.fixes(1, east: 600) == [], "five minutes have not passed")
    bench.shed(.significantChange)
    #expect(bench.check == .distantFuture)
    bench.send(.startVisits)
    #expect(bench.fixes(1, east: 700) == [] && bench.wait(400) == [])
    #expect(bench.shed() == [.degraded(0), .report(2, accuracy_mm: 3_000)])
    #expect(bench.wait(400) == [])
  }

  @Test("PWR-10, AUT-5: a reduced client loses its coarse fixes only when updates are shed")
  func reduced() {
    let bench = ClientBench()
    bench.send(.connect, .setReducedAccuracy(true), .startUpdating)
    #expect(bench.shed(.everyFix, .accuracy) == [], "it does not use these levels")
    #expect(bench.need().isRequired)
    #expect(bench.shed(.everyFix, .accuracy, .updates) == [degraded(.updates)])
    #expect(!bench.need().isRequired && bench.fixes(1) == [])
    bench.send(.startSignificantChange)
    #expect(bench.need().isRequired)
    bench.shed(.everyFix, .accuracy, .updates, .significantChange)
    #expect(!bench.need().isRequired)
  }

  // MARK: Notices

  @Test("PWR-10: a client is notified only when it uses, or starts to use, a shed level")
  func notifiedClients() {
    let bench = ClientBench()
    bench.send(.connect)
    #expect(bench.shed(.everyFix, .visits) == [] && !bench.hasNotices)
    #expect(bench.send(.setDesiredAccuracy(100), .startUpdating) == [], "100 m is still available")
    #expect(bench.send(.setDesiredAccuracy(99)) == [degraded(.everyFix)])
    #expect(bench.send(.startVisits) == [degraded(.everyFix, .visits)])
    #expect(bench.send(.stopVisits) == [], "its own stop needs no notice")
    #expect(bench.send(.startVisits) == [], "already reported")
    #expect(bench.send(.stopVisits) == [] && bench.shed(.everyFix) == [])
    #expect(bench.shed(.everyFix, .visits) == [])
    #expect(bench.send(.startVisits) == [degraded(.everyFix, .visits)], "restored in between")
    #expect(bench.shed(.visits) == [degraded(.visits)])
    #expect(bench.send(.disconnect, .connect, .startVisits) == [degraded(.visits)], "a new process")
    #expect(bench.send(.setAuthorization(.denied)) == [.failure(1)])
    #expect(bench.shed() == [], "a denied client uses no level")
  }

  private let circle = Region(
    RegionIdentifier(.region, 1), center: equator, radius: 200)
  private func state(_ state: RegionState) -> RegionEvent { .determined(circle.identifier, state) }
}
