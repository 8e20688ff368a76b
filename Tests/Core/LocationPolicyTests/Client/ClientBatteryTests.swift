import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

extension World {
  /// The battery is too low for these from now on; what is told of it.
  @discardableResult
  func giveUp(_ promises: ServiceLevel...) -> [Told] {
    givenUp = .none
    for promise in promises { givenUp.insert(promise) }
    client.elapse(context)
    return told()
  }

  var flags: UInt8 { client.services.live.flags.rawValue }
}

/// What a client is told that does not get these.
private func degraded(_ promises: ServiceLevel...) -> Told {
  var set = ServiceLevelSet.none
  for promise in promises { set.insert(promise) }
  return .degraded(set.rawValue)
}

@Suite("A client on a low battery")
struct ClientBatteryTests {
  // MARK: Updates

  @Test("PWR-10: without every fix a hundred metres are the finest, then a kilometre, then nothing")
  func demands() {
    let world = World.started()
    for (accuracy, demands) in [
      (-1.0, [100.0, 1_000]), (-2, [100, 1_000]), (10, [100, 1_000]), (50, [100, 1_000]),
      (.nan, [100, 1_000]), (100, [100, 1_000]), (300, [300, 1_000]), (3_000, [3_000, 3_000]),
    ] {
      world.ask(.setDesiredAccuracy(accuracy))
      world.giveUp(.everyFix)
      #expect(world.demand == .within(metres: demands[0]), "\(accuracy)")
      world.giveUp(.everyFix, .accuracy)
      #expect(world.demand == .within(metres: demands[1]), "\(accuracy)")
      world.giveUp(.everyFix, .accuracy, .updates)
      #expect(world.demand == .none)
      world.giveUp()
      #expect(world.demand != .none)
    }
    world.ask(.setDesiredAccuracy(-1))
    #expect(world.demand == .live(isWatched: false), "all is as it was")
  }

  @Test("PWR-10: fixes of a time without updates are nobody's, those before and after are owed")
  func unserved() {
    let world = World.started()
    #expect(world.fixes(2) == [.batch(0...0), .batch(1...1)])
    #expect(world.giveUp(.updates) == [degraded(.updates)])
    #expect(world.fixes(3) == [], "made for somebody else")
    #expect(world.giveUp() == [.degraded(0)])
    #expect(world.fixes(2) == [.batch(5...5), .batch(6...6)], "and no gap")
    #expect(world.client.shed == .none)
  }

  @Test("PWR-10, STD-10: nobody is told of missing fixes while updates are given up, but after it")
  func unknown() {
    let world = World.started()
    world.giveUp(.updates)
    world.client.reportLocationUnknown(world.context)
    #expect(world.told() == [])
    world.giveUp()
    world.client.reportLocationUnknown(world.context)
    #expect(world.told() == [.failure(0)])
  }

  // MARK: Deferrals

  @Test("PWR-10, DEF-8: a deferral ends once, with 13, its batch and then what is given up")
  func deferral() {
    let world = World.engaged()
    #expect(world.fixes(2) == [])
    #expect(world.giveUp(.everyFix) == [.finish(13), .batch(0...1), degraded(.everyFix)])
    #expect(world.demand == .within(metres: 100), "nothing is kept up for a call that would fail")
    #expect(world.giveUp(.everyFix, .accuracy) == [degraded(.everyFix, .accuracy)])
    #expect(world.ask(.allowDeferred(distance: .infinity, timeout: .infinity)) == [.finish(13)])
    #expect(
      world.giveUp(.everyFix, .accuracy, .updates)
        == [degraded(.everyFix, .accuracy, .updates)], "no second finish")
    #expect(world.ask(.allowDeferred(distance: .infinity, timeout: .infinity)) == [.finish(12)])
    #expect(world.giveUp() == [.degraded(0)])
    #expect(world.ask(.allowDeferred(distance: .infinity, timeout: .infinity)) == [])
    world.may(true)
    #expect(world.state == .engaged)
  }

  @Test("PWR-10, DEF-4: where updates go at once the deferral ends with 12")
  func deferralWithoutUpdates() {
    let world = World.engaged()
    world.fixes(1)
    #expect(world.giveUp(.updates) == [.finish(12), .batch(0...0), degraded(.updates)])
    #expect(world.demand == .none)
  }

  @Test("PWR-10: a criterion that is met at the same moment is met (DEF-9)")
  func metAtOnce() {
    let world = World.engaged(timeout: 5)
    world.fixes(1)
    world.now = 5
    #expect(world.giveUp(.everyFix) == [.finish(nil), .batch(0...0), degraded(.everyFix)])
  }

  @Test(
    "PWR-10, DEF-43: what the receiver holds comes first: the end, all its fixes, the rest is not",
    arguments: [(ServiceLevel.everyFix, 13), (.updates, 12)])
  func drain(_ promise: ServiceLevel, _ code: Int) {
    let world = World.engaged()
    world.buffers = true
    world.now = 10
    #expect(world.giveUp(promise) == [], "it waits for the drain")
    #expect(world.demand == .deferred(check: world.now_i) && world.isWaitingForDrain)
    world.now = 12
    let story = world.drain([8, 9, 11])
    #expect(world.demand == (promise == .updates ? .none : .within(metres: 100)))
    if promise == .updates {
      #expect(story == [.finish(code), .batch(0...1), degraded(promise)], "11 was made after it")
    } else {
      #expect(story == [.finish(code), .batch(0...2), degraded(promise)])
    }
  }

  @Test("PWR-10, BKG-2: a suspended client hears what holds when it runs again, once or not at all")
  func suspended() {
    let world = World.engaged()
    world.fixes(1)
    world.ask(.setExecution(.suspended))
    #expect(world.giveUp(.everyFix) == [] && world.giveUp(.everyFix, .accuracy) == [])
    #expect(
      world.ask(.setExecution(.background))
        == [.finish(13), .batch(0...0), degraded(.everyFix, .accuracy)])
    world.ask(.setExecution(.suspended))
    world.giveUp()
    world.giveUp(.everyFix, .accuracy)
    #expect(world.ask(.setExecution(.background)) == [], "all is as it was told")
  }

  // MARK: Single requests

  @Test("PWR-10, STD-11: a request that is pending fails, a new one has what lies there or nothing")
  func requests() {
    let world = World()
    world.ask(.connect, .requestLocation)
    #expect(world.need().isRequired)
    #expect(world.giveUp(.updates) == [degraded(.updates), .failure(0)])
    #expect(!world.need().isRequired && world.client.check == .distantFuture)
    #expect(world.ask(.requestLocation) == [.failure(0)], "it was told why")
    world.ask(.startVisits)
    world.fixes(1)
    #expect(world.ask(.requestLocation) == [.report(0, accuracy_mm: 3_000)], "it costs nothing")
    #expect(world.wait(60) == [])
  }

  @Test("PWR-10, STD-11: without every fix a request is content with a hundred metres")
  func coarseRequest() {
    let world = World()
    world.ask(.connect)
    #expect(world.giveUp(.everyFix) == [], "it uses nothing")
    #expect(world.ask(.requestLocation) == [degraded(.everyFix)])
    #expect(world.need().accuracy == 100)
    world.now = 1
    world.append(fix(at: 1, accuracy_mm: 90_000))
    #expect(world.told() == [.report(0, accuracy_mm: 90_000)])
    #expect(world.giveUp(.everyFix, .accuracy) == [], "it uses nothing any more")
    #expect(
      world.ask(.requestLocation) == [
        degraded(.everyFix, .accuracy), .report(0, accuracy_mm: 90_000),
      ])
    #expect(world.ask(.requestLocation) == [.report(0, accuracy_mm: 90_000)], "told once")
  }

  @Test("PWR-10: a request that was content with a kilometre anyhow is told of nothing it lacks")
  func modestRequest() {
    let world = World()
    world.ask(.connect, .setDesiredAccuracy(3_000))
    world.giveUp(.everyFix, .accuracy)
    #expect(world.ask(.requestLocation) == [])
    #expect(world.giveUp(.everyFix, .accuracy, .updates) == [degraded(.updates), .failure(0)])
    #expect(world.ask(.requestLocation) == [.failure(0)])
  }

  // MARK: Live updates

  @Test("PWR-10, LIV-7: live updates become coarse, then silent with a flag that says why")
  func live() {
    let world = World()
    world.ask(.connect, .openLive(.default))
    #expect(world.demand == .live(isWatched: true))
    #expect(world.giveUp(.everyFix) == [degraded(.everyFix)])
    #expect(world.demand == .within(metres: 100))
    world.giveUp(.everyFix, .accuracy)
    #expect(world.demand == .within(metres: 1_000))
    world.ask(.startUpdating, .setDesiredAccuracy(3_000))
    #expect(world.demand == .within(metres: 1_000), "the finer of both")
    world.ask(.stopUpdating)
    let silent = world.giveUp(.updates)
    let flag = LiveFlags.locationUnavailable.rawValue
    #expect(
      silent == [degraded(.updates), .live(0, fix: nil, stationary: false, flags: flag)])
    #expect(world.demand == .none && !world.need().isRequired && world.flags == flag)
    world.ask(.startSignificantChange)
    let others = world.fixes(1)
    #expect(others == [.report(0, accuracy_mm: 3_000)], "a fix for others is not for it")
    let back = world.giveUp()
    #expect(back == [.degraded(0), .live(0, fix: nil, stationary: false, flags: 0)])
    #expect(world.demand == .live(isWatched: true))
  }

  @Test("PWR-10: while the receiver is drained for a deferral, live updates wait")
  func liveAndDrain() {
    let world = World.engaged()
    world.ask(.openLive(.default))
    world.buffers = true
    world.giveUp(.everyFix)
    #expect(world.demand == .deferred(check: world.now_i))
    world.drain([])
    #expect(world.demand == .within(metres: 100))
  }

  // MARK: Other services

  @Test("PWR-10: each service asks for nothing and tells nothing while it is given up, and goes on")
  func services() {
    for (promise, request) in [
      (ServiceLevel.visits, Request.startVisits), (.significantChange, .startSignificantChange),
      (.regions, .addRegion(circle, assuming: .unknown)),
    ] {
      let world = World(capacity: 64)
      world.ask(.connect, request)
      #expect(world.need().isRequired)
      #expect(world.giveUp(promise) == [degraded(promise)], "\(promise)")
      #expect(!world.need().isRequired && world.client.check == .distantFuture)
      #expect(world.stay(1_200).isEmpty, "\(promise): a fix for others tells it nothing")
      #expect(world.giveUp() == [.degraded(0)])
      #expect(world.need().isRequired)
      if promise == .regions { continue }
      #expect(!world.stay(1_200).isEmpty, "\(promise): it goes on as it was asked")
    }
  }

  @Test("PWR-10, REG-15: regions rest and are decided anew; a state that is asked for is unknown")
  func regions() {
    let world = World()
    world.ask(.connect, .addRegion(circle, assuming: .unknown))
    world.fixes(1)
    #expect(world.ask(.requestRegionState(circle.identifier)) == [.region(state(.inside))])
    world.giveUp(.regions)
    #expect(world.ask(.requestRegionState(circle.identifier)) == [.region(state(.unknown))])
    #expect(world.fixes(3, east: 900) == [])
    world.giveUp()
    #expect(world.stay(60, east: 900).isEmpty, "as at a start: no crossing is made up (REG-6)")
    #expect(world.ask(.requestRegionState(circle.identifier)) == [.region(state(.outside))])
  }

  @Test("PWR-10, VIS-11: a visit that was told outlasts the low battery and ends after it")
  func visitGoesOn() {
    let world = World(capacity: 64)
    world.ask(.connect, .startVisits)
    let told = world.stay(900)
    #expect(told.count == 1)
    world.giveUp(.visits)
    #expect(world.stay(600, east: 5_000).isEmpty)
    world.giveUp()
    let after = world.stay(300, east: 5_000)
    guard case .visit(_, let departure?)? = after.first else {
      Issue.record("\(after)")
      return
    }
    #expect(departure <= world.now)
  }

  @Test("PWR-10, SLC-4: a change that waits is told after it, with the fix that is newest then")
  func significantWaits() {
    let world = World()
    world.ask(.connect, .startSignificantChange)
    world.fixes(1)
    #expect(world.fixes(1, east: 600) == [], "five minutes are not over")
    world.giveUp(.significantChange)
    #expect(world.client.check == .distantFuture)
    world.ask(.startVisits)
    #expect(world.fixes(1, east: 700) == [] && world.wait(400) == [])
    #expect(world.giveUp() == [.degraded(0), .report(2, accuracy_mm: 3_000)])
    #expect(world.wait(400) == [])
  }

  @Test("PWR-10, AUT-5: a reduced client loses its few fixes with updates, and not before")
  func reduced() {
    let world = World()
    world.ask(.connect, .setReducedAccuracy(true), .startUpdating)
    #expect(world.giveUp(.everyFix, .accuracy) == [], "it never had that")
    #expect(world.need().isRequired)
    #expect(world.giveUp(.everyFix, .accuracy, .updates) == [degraded(.updates)])
    #expect(!world.need().isRequired && world.fixes(1) == [])
    world.ask(.startSignificantChange)
    #expect(world.need().isRequired)
    world.giveUp(.everyFix, .accuracy, .updates, .significantChange)
    #expect(!world.need().isRequired)
  }

  // MARK: Who is told what

  @Test("PWR-10: who uses nothing of it is told nothing, and who begins to use it is told at once")
  func whoIsTold() {
    let world = World()
    world.ask(.connect)
    #expect(world.giveUp(.everyFix, .visits) == [] && !world.hasNotices)
    #expect(world.ask(.setDesiredAccuracy(100), .startUpdating) == [], "100 m are still to be had")
    #expect(world.ask(.setDesiredAccuracy(99)) == [degraded(.everyFix)])
    #expect(world.ask(.startVisits) == [degraded(.everyFix, .visits)])
    #expect(world.ask(.stopVisits) == [], "what it does itself is no news to it")
    #expect(world.ask(.startVisits) == [], "and what it knows neither")
    #expect(world.ask(.stopVisits) == [] && world.giveUp(.everyFix) == [])
    #expect(world.giveUp(.everyFix, .visits) == [])
    #expect(world.ask(.startVisits) == [degraded(.everyFix, .visits)], "it was charged meanwhile")
    #expect(world.giveUp(.visits) == [degraded(.visits)])
    #expect(world.ask(.disconnect, .connect, .startVisits) == [degraded(.visits)], "a new process")
    #expect(world.ask(.setAuthorization(.denied)) == [.failure(1)])
    #expect(world.giveUp() == [], "a denied client has nothing to lose")
  }

  private let circle = Region(
    RegionIdentifier(.region, 1), center: equator, radius: 200)
  private func state(_ state: RegionState) -> RegionEvent { .determined(circle.identifier, state) }
}
