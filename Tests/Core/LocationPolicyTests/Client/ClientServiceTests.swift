import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

extension World {
  var now_i: Instant { Instant(seconds: now) }

  /// What the client's services need now.
  func need(fastest: Double = 5) -> FixNeed {
    client.fixNeed(at: now_i, fastest: fastest, line: line)
  }

  /// The motion line says something.
  func hear(_ new: MotionLine) -> [Told] {
    line = new
    client.motionLineChanged(new, at: now_i)
    return told()
  }

  /// Fixes each `step` seconds at a place, for so long.
  @discardableResult
  func stay(_ seconds: Double, east: Double = 0, step: Double = 10) -> [Told] {
    var all: [Told] = []
    let end = now + seconds
    while now < end {
      now += step
      if client.mayNeed(fix(at: now, east: east)) { append(fix(at: now, east: east)) }
      client.elapse(context)
      all += told()
    }
    return all
  }
}

@Suite("What a client asks beside updates")
struct ClientServiceTests {
  @Test("SLC-2, SLC-3: a report after 500 m, and no oftener than every five minutes")
  func significantChange() {
    let world = World()
    world.ask(.connect, .startSignificantChange)
    #expect(world.need().due <= world.now_i)
    #expect(world.fixes(1) == [.report(0, accuracy_mm: 3_000)])
    #expect(world.fixes(1, east: 600) == [])
    #expect(world.need().due > world.now_i)
    world.now = 301
    #expect(world.fixes(1, east: 600).contains { if case .report = $0 { true } else { false } })
    world.ask(.stopSignificantChange)
    #expect(!world.need().isRequired)
    #expect(world.demand == .none)
  }

  @Test(
    "SLC-5, SLC-9: a cached fix may come first, then a current one; a second start is none"
  )
  func cachedFirst() {
    let world = World()
    world.ask(.connect, .requestLocation)
    world.fixes(1)
    let first = world.ask(.startSignificantChange)
    #expect(first == [.report(0, accuracy_mm: 3_000)])
    #expect(world.ask(.startSignificantChange) == [])
    #expect(world.fixes(1, east: 5) == [.report(1, accuracy_mm: 3_000)])
    world.ask(.stopSignificantChange)
    world.now += 400
    #expect(world.ask(.startSignificantChange) == [])
    #expect(world.fixes(1, east: 5) == [.report(2, accuracy_mm: 3_000)])
  }

  @Test("VIS-2, VIS-5: visits need authorization at any time; an arrival, then its departure")
  func visits() {
    let world = World(capacity: 4_096)
    world.ask(.connect, .setAuthorization(.whenInUse), .startVisits)
    #expect(!world.need().isRequired)
    world.ask(.setAuthorization(.always), .startVisits)
    #expect(world.need().isRequired)
    let arrived = world.stay(1_200)
    #expect(arrived.count == 1)
    guard case .visit(_, let open)? = arrived.first else {
      Issue.record("no arrival: \(arrived)")
      return
    }
    #expect(open == nil)
    var way = 0.0
    var left: [Told] = []
    for _ in 0..<60 {
      way += 50
      left += world.stay(10, east: way)
    }
    guard case .visit(_, let departure?)? = left.first else {
      Issue.record("no departure: \(left)")
      return
    }
    #expect(departure >= 1_190 && departure < 1_300)
    world.ask(.stopVisits)
    #expect(!world.need().isRequired)
  }

  @Test(
    "VIS-6, BKG-2: visits of a suspended client are handed to its owner in order, none left out")
  func visitsOfASuspendedClient() {
    let world = World(capacity: 4_096)
    world.ask(.connect, .startVisits)
    world.stay(1_200)
    world.ask(.setExecution(.suspended))
    // Away, and three stays elsewhere; the last one lasts.
    let whole =
      world.stay(600, east: 2_000) + world.stay(600, east: 5_000) + world.stay(600, east: 9_000)
    let stays = whole.map { told in
      if case .visit(_, let departure) = told { departure != nil } else { false }
    }
    #expect(stays == [true, false, true, false, true, false], "\(whole)")
    #expect(world.ask(.setExecution(.background)) == [])
  }

  @Test("SLC-5, AUT-3: a denied client gets no cached fix when it starts significant change")
  func noCachedFixForADeniedClient() {
    let world = World()
    world.ask(.connect, .requestLocation)
    world.fixes(1)
    world.ask(.setAuthorization(.denied))
    let told = world.ask(.startSignificantChange)
    #expect(!told.contains { if case .report = $0 { true } else { false } }, "\(told)")
  }

  @Test("REG-2, REG-6, REG-7, REG-8: starting inside is no entry; leaving is told with its state")
  func regions() {
    let world = World(capacity: 256)
    world.ask(.connect)
    let region = Region(RegionIdentifier(.region, 7), center: equator, radius: 200)
    world.ask(.addRegion(region, assuming: .unknown))
    #expect(world.need().due <= world.now_i)
    #expect(world.stay(60) == [])
    let asked = world.ask(.requestRegionState(region.identifier))
    #expect(asked == [.region(.determined(region.identifier, .inside))])
    let left = world.stay(60, east: 400)
    #expect(left.count == 2)
    if case .region(.exited(region.identifier, _))? = left.first {
    } else {
      Issue.record("no exit: \(left)")
    }
    #expect(left.last == .region(.determined(region.identifier, .outside)))
    for number in 100..<119 {
      let other = Region(
        RegionIdentifier(.region, UInt32(number)), center: equator, radius: 50)
      #expect(world.ask(.addRegion(other, assuming: .unknown)) == [])
    }
    let tooMany = Region(RegionIdentifier(.region, 999), center: equator, radius: 50)
    #expect(
      world.ask(.addRegion(tooMany, assuming: .unknown))
        == [.region(.failure(tooMany.identifier, .regionMonitoringFailure))])
    for number in 100..<119 { world.ask(.removeRegion(RegionIdentifier(.region, UInt32(number)))) }
    world.ask(.removeRegion(region.identifier))
    #expect(!world.need().isRequired)
  }

  @Test(
    "PAU-3, PAU-10, DEF-38: finish(12), the batch up to the fix that shows the stop, the pause")
  func pause() {
    let world = World(capacity: 512)
    world.pauses = true
    world.limit = 200
    world.ask(.connect, .startUpdating, .setExecution(.background))
    world.ask(.allowDeferred(distance: .infinity, timeout: .infinity))
    world.may(true)
    #expect(world.state == .engaged)
    let told = world.stay(700)
    #expect(told.map(\.description) == ["finish(12)", "batch(0...60)", "paused"])
    #expect(world.demand == .none)
    #expect(world.need().due < .distantFuture, "PAU-4: a sentinel")
    #expect(
      world.ask(.allowDeferred(distance: .infinity, timeout: .infinity)) == [.finish(12)],
      "DEF-4: paused is not updating")
    // PAU-4: outside the radius it goes on, and the resume is told before the fix.
    let gone = world.stay(30, east: 300)
    #expect(gone.first == .resumed)
    #expect(gone.count >= 2 && gone[1].description.hasPrefix("batch"))
    #expect(world.demand == .live(isWatched: false))
  }

  @Test("PAU-10: the fix that shows the stop is delivered whatever the filter says")
  func pauseFiltered() {
    let world = World(capacity: 512)
    world.pauses = true
    world.ask(.connect, .setDistanceFilter(100), .startUpdating)
    #expect(world.stay(10) == [.batch(0...0)])
    let told = world.stay(700)
    #expect(told.map(\.description) == ["batch(60...60)", "paused"])
  }

  @Test("PAU-5: switched off it never pauses, and ends a pause; switched on it takes effect")
  func pauseSwitched() {
    let world = World(capacity: 1_024)
    world.ask(.connect, .startUpdating)
    let steady = world.stay(2_000)
    #expect(!steady.contains(.paused))
    world.ask(.setPausesAutomatically(true))
    #expect(world.stay(30).last == .paused)
    #expect(world.ask(.setPausesAutomatically(false)) == [.resumed])
    world.ask(.stopUpdating)
    #expect(world.demand == .none)
  }

  @Test("SLC-1, VIS-1: filter and accuracy change nothing for significant change and visits")
  func ignoresSettings() {
    func told(_ settings: [Request], _ service: Request) -> [Told] {
      let world = World(capacity: 4_096)
      world.ask(.connect)
      for request in settings { world.ask(request) }
      world.ask(service)
      var all = world.stay(900)
      for step in 1...40 { all += world.stay(10, east: Double(step) * 60) }
      return all
    }
    for service in [Request.startSignificantChange, .startVisits] {
      let plain = told([], service)
      let set = told([.setDistanceFilter(5_000), .setDesiredAccuracy(3_000)], service)
      #expect(plain == set && plain.count >= 2)
    }
  }

  @Test("AUT-3, RNG-6: a client that is denied is told nothing that was cached, whatever it starts")
  func deniedCached() {
    for start in [Request.startSignificantChange, .requestLocation, .startUpdating] {
      let world = World(capacity: 64)
      world.ask(.connect, .requestLocation)
      world.fixes(1)
      world.ask(.setAuthorization(.denied))
      #expect(world.ask(start) == [.failure(1)])
      #expect(world.stay(60).isEmpty)
    }
  }

  @Test("AUT-6: an answer that waits, or is about to come, is not shown to a reduced client")
  func reducedAnswer() {
    let world = World(capacity: 64)
    world.ask(.connect, .requestLocation)
    world.now += 1
    world.append(fix(at: world.now, accuracy_mm: 20_000))
    #expect(world.ask(.setReducedAccuracy(true)) == [.failure(0)])
    #expect(world.wait(40) == [])
    let told = World(capacity: 64)
    told.ask(.connect, .requestLocation, .setExecution(.suspended))
    told.now += 1
    told.append(fix(at: told.now))
    told.askQuietly(.setReducedAccuracy(true))
    let late = told.ask(.setExecution(.background))
    #expect(!late.contains { if case .report = $0 { true } else { false } })
  }

  @Test(
    "VIS-2, VIS-5: visits end with the authorization at any time; one that is over is told in its order"
  )
  func visitsEnd() {
    let world = World(capacity: 4_096)
    world.ask(.connect, .startVisits)
    world.stay(600)
    world.ask(.setAuthorization(.whenInUse))
    #expect(world.client.services.visits.state == .idle && !world.need().isRequired)
    let away = World(capacity: 4_096)
    away.ask(.connect, .startVisits, .setExecution(.suspended))
    var told = away.stay(1_200)
    for step in 1...40 { told += away.stay(10, east: Double(step) * 60) }
    #expect(told.count == 2)
    if case .visit(_, nil)? = told.first {} else { Issue.record("\(told)") }
    if case .visit(_, .some)? = told.last {} else { Issue.record("\(told)") }
  }

  @Test("STD-9: while refining, less accurate fixes are delivered too")
  func refining() {
    let world = World()
    world.ask(.connect, .startUpdating)
    var told: [Told] = []
    for accuracy_mm in [90_000, 60_000, 30_000, 45_000, 8_000] as [Int32] {
      world.now += 1
      world.append(fix(at: world.now, accuracy_mm: accuracy_mm))
      told += world.told()
    }
    #expect(told == [.batch(0...0), .batch(1...1), .batch(2...2), .batch(3...3), .batch(4...4)])
  }

  @Test("STD-11, DEF-44: one fix or one error, cancelled by start, deferral and stop")
  func request() {
    let world = World(capacity: 64)
    world.ask(.connect, .setDesiredAccuracy(100), .requestLocation)
    #expect(world.need().due <= world.now_i)
    #expect(world.fixes(1) == [.report(0, accuracy_mm: 3_000)])
    #expect(world.fixes(1) == [] && !world.need().isRequired)
    world.now = 100
    world.ask(.requestLocation)
    #expect(world.wait(29) == [])
    #expect(world.wait(2) == [.failure(0)])
    #expect(world.wait(60) == [])
    for cancelling in [
      Request.startUpdating, .stopUpdating, .allowDeferred(distance: 1, timeout: 1),
    ] {
      let other = World(capacity: 64)
      other.ask(.connect, .requestLocation)
      other.ask(cancelling)
      let told = other.wait(60) + other.fixes(2)
      #expect(!told.contains { if case .report = $0 { true } else { false } })
      #expect(!told.contains(.failure(0)))
    }
    let updating = World.started()
    #expect(updating.ask(.requestLocation) == [])
    #expect(updating.client.services.request.state == .idle)
  }

  @Test("LIV-4, LIV-5, LIV-9: one element that says stationary, silence, one that says it is over")
  func live() {
    let world = World(capacity: 1_024)
    world.ask(.connect, .openLive(.default))
    #expect(world.demand == .live(isWatched: true))
    let told = world.stay(900)
    let stands = told.filter { if case .live(_, _, true, _) = $0 { true } else { false } }
    #expect(stands.count == 1 && told.last == stands.first)
    #expect(world.demand == .none && world.need().due < .distantFuture)
    let moved = world.stay(20, east: 300)
    #expect(!moved.isEmpty)
    if case .live(_, _, false, _)? = moved.first {} else { Issue.record("\(moved)") }
    world.ask(.openLive(.fitness))
    world.ask(.closeLive(0))
    #expect(world.demand == .live(isWatched: true))
    world.ask(.closeLive(1))
    #expect(world.demand == .none && !world.need().isRequired)
  }

  @Test("LIV-9: a fifth iterator is refused at once, and nothing else changes")
  func fifthIterator() {
    let world = World(capacity: 64)
    world.ask(.connect)
    for _ in 0..<4 { #expect(world.ask(.openLive(.default)) == []) }
    #expect(world.ask(.openLive(.fitness)) == [.liveRefused(.fitness)])
    #expect(world.client.services.live.count == 4)
    world.ask(.closeLive(2))
    #expect(world.ask(.openLive(.fitness)) == [])
    #expect(world.ask(.openLive(.airborne)) == [.liveRefused(.airborne)])
  }

  @Test("LIV-7: each change of a flag is one element, without a location too")
  func liveFlags() {
    let world = World(capacity: 64)
    world.ask(.connect, .openLive(.default))
    let denied = world.ask(.setAuthorization(.denied))
    #expect(denied == [.live(0, fix: nil, stationary: false, flags: 1)])
    #expect(world.wait(10) == [])
    #expect(world.demand == .none)
    let granted = world.ask(.setAuthorization(.always))
    #expect(granted == [.live(0, fix: nil, stationary: false, flags: 0)])
    let reduced = world.ask(.setReducedAccuracy(true))
    #expect(reduced == [.live(0, fix: nil, stationary: false, flags: 1 << 5)])
  }

  @Test(
    "DEF-40, AUT-3: the change is told, finish(1), didFail(1); nothing that was cached")
  func denial() {
    let world = World(capacity: 64)
    world.showsAuthorization = true
    world.ask(.connect, .startUpdating, .setExecution(.background), .startSignificantChange)
    world.ask(.allowDeferred(distance: .infinity, timeout: .infinity))
    world.may(true)
    world.fixes(3)
    let told = world.ask(.setAuthorization(.denied))
    #expect(
      told.map(\.description)
        == ["authorization(denied, full)", "finish(1)", "failure(1)"])
    #expect(world.demand == .none && !world.need().isRequired)
    #expect(world.ask(.setAuthorization(.denied)) == [])
    world.showsAuthorization = false
    world.ask(.setAuthorization(.always))
    #expect(world.fixes(2) == [.batch(3...3), .batch(4...4)], "RNG-6: nothing from before")
  }

  @Test(
    "DEF-41, AUT-5, AUT-6: reduced accuracy ends a deferral with 13, shows coarse fixes")
  func reduced() {
    let world = World(capacity: 512)
    world.showsAuthorization = true
    world.ask(.connect, .startUpdating, .setExecution(.background))
    world.ask(.allowDeferred(distance: .infinity, timeout: .infinity))
    world.may(true)
    world.fixes(3)
    let told = world.ask(.setReducedAccuracy(true))
    #expect(
      told.map(\.description) == ["authorization(always, reduced)", "finish(13)"],
      "precise fixes that were cached are erased")
    let hour = world.stay(3_600)
    #expect(hour.count >= 2 && hour.count <= 5, "a few an hour: \(hour.count)")
    for told in hour {
      guard case .coarse(_, let accuracy) = told else {
        Issue.record("a precise fix: \(told)")
        continue
      }
      #expect(accuracy == AccuracyReduction.accuracy_mm)
    }
    #expect(world.client.location == nil)
    let region = Region(RegionIdentifier(.region, 1), center: equator, radius: 100)
    world.ask(.addRegion(region, assuming: .unknown))
    #expect(world.stay(200).allSatisfy { if case .region = $0 { false } else { true } }, "REG-15")
    world.ask(.setReducedAccuracy(false))
    #expect(world.fixes(1).contains { $0.description.hasPrefix("batch") })
  }

  @Test("DEF-11: with its process end live updates and single requests, not what outlives it")
  func disconnect() {
    let world = World(capacity: 64)
    world.ask(.connect, .openLive(.default), .requestLocation, .startSignificantChange)
    world.ask(.disconnect)
    #expect(world.client.services.live.count == 0)
    #expect(world.client.services.request.state == .idle)
    #expect(world.need().isRequired, "SLC-8: it is still watched for")
    world.ask(.connect, .stopSignificantChange)
    #expect(!world.need().isRequired && world.demand == .none)
  }
}

extension Client {
  /// Core Location's `location`, as far as the client itself knows.
  var location: UInt64? { newestDelivered }
}
