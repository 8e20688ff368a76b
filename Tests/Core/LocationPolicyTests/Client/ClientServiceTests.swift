import DeferralCache
import LocationTypes
import Testing

@testable import LocationPolicy

extension ClientBench {
  var now_i: Instant { Instant(seconds: now) }

  /// Fix need of the client's services now.
  func need(fastest: Double = 5) -> FixNeed {
    client.fixNeed(at: now_i, speed: .constant(fastest), line: line)
  }

  /// Reports a state of the motion line.
  func motionLineChanged(_ new: MotionLine) -> [NoticeValue] {
    line = new
    client.motionLineChanged(new, at: now_i)
    return notices()
  }

  /// Appends fixes every `step` seconds at one position, for `seconds` seconds.
  @discardableResult
  func stay(_ seconds: Double, east: Double = 0, step: Double = 10) -> [NoticeValue] {
    var all: [NoticeValue] = []
    let end = now + seconds
    while now < end {
      now += step
      if client.mayNeed(fix(at: now, east: east)) { append(fix(at: now, east: east)) }
      client.elapse(context)
      all += notices()
    }
    return all
  }
}

@Suite("Client services other than updates")
struct ClientServiceTests {
  @Test("SLC-2, SLC-3: a change of 500 m is reported, at most every five minutes")
  func significantChange() {
    let bench = ClientBench()
    bench.send(.connect, .startSignificantChange)
    #expect(bench.need().due <= bench.now_i)
    #expect(bench.fixes(1) == [.report(0, accuracy_mm: 3_000)])
    #expect(bench.fixes(1, east: 600) == [])
    #expect(bench.need().due > bench.now_i)
    bench.now = 301
    #expect(bench.fixes(1, east: 600).contains { if case .report = $0 { true } else { false } })
    bench.send(.stopSignificantChange)
    #expect(!bench.need().isRequired)
    #expect(bench.demand == .none)
  }

  @Test(
    "SLC-5, SLC-9: a cached fix may come first, then a current one; a second start has no effect"
  )
  func cachedFirst() {
    let bench = ClientBench()
    bench.send(.connect, .requestLocation)
    bench.fixes(1)
    let first = bench.send(.startSignificantChange)
    #expect(first == [.report(0, accuracy_mm: 3_000)])
    #expect(bench.send(.startSignificantChange) == [])
    #expect(bench.fixes(1, east: 5) == [.report(1, accuracy_mm: 3_000)])
    bench.send(.stopSignificantChange)
    bench.now += 400
    #expect(bench.send(.startSignificantChange) == [])
    #expect(bench.fixes(1, east: 5) == [.report(2, accuracy_mm: 3_000)])
  }

  @Test("VIS-2, VIS-5: visits need authorization always; an arrival is followed by its departure")
  func visits() {
    let bench = ClientBench(capacity: 4_096)
    bench.send(.connect, .setAuthorization(.whenInUse), .startVisits)
    #expect(!bench.need().isRequired)
    bench.send(.setAuthorization(.always), .startVisits)
    #expect(bench.need().isRequired)
    let arrived = bench.stay(1_200)
    #expect(arrived.count == 1)
    guard case .visit(_, let open)? = arrived.first else {
      Issue.record("no arrival: \(arrived)")
      return
    }
    #expect(open == nil)
    var path = 0.0
    var notices: [NoticeValue] = []
    for _ in 0..<60 {
      path += 50
      notices += bench.stay(10, east: path)
    }
    guard case .visit(_, let departure?)? = notices.first else {
      Issue.record("no departure: \(notices)")
      return
    }
    #expect(departure >= 1_190 && departure < 1_300)
    bench.send(.stopVisits)
    #expect(!bench.need().isRequired)
  }

  @Test("VIS-5, VIS-6: visits that are not read immediately keep their order")
  func unreadVisits() {
    let bench = ClientBench(capacity: 4_096)
    bench.send(.connect, .startVisits)
    func stayUnread(_ seconds: Double, east: Double) {
      let end = bench.now + seconds
      while bench.now < end {
        bench.now += 10
        bench.append(fix(at: bench.now, east: east))
        bench.client.elapse(bench.context)
      }
    }
    func departures(_ notices: [NoticeValue]) -> [Bool] {
      notices.map { if case .visit(_, let departure) = $0 { departure != nil } else { false } }
    }
    stayUnread(1_200, east: 0)
    stayUnread(60, east: 2_000)
    #expect(departures(bench.notices()) == [false, true], "an arrival, then its departure")
    stayUnread(600, east: 2_000)
    #expect(departures(bench.notices()) == [false])
    stayUnread(600, east: 5_000)
    #expect(departures(bench.notices()) == [true, false], "a departure, then the next arrival")
  }

  @Test("VIS-6, BKG-2: visits of a suspended client are handed over in order and completely")
  func visitsOfASuspendedClient() {
    let bench = ClientBench(capacity: 4_096)
    bench.send(.connect, .startVisits)
    bench.stay(1_200)
    bench.send(.setExecution(.suspended))
    // Departure, then three stays elsewhere; the last one stays open.
    let whole =
      bench.stay(600, east: 2_000) + bench.stay(600, east: 5_000) + bench.stay(600, east: 9_000)
    let stays = whole.map { notice in
      if case .visit(_, let departure) = notice { departure != nil } else { false }
    }
    #expect(stays == [true, false, true, false, true, false], "\(whole)")
    #expect(bench.send(.setExecution(.background)) == [])
  }

  @Test("SLC-5, AUT-3: a denied client gets no cached fix when it starts significant change")
  func noCachedFixForADeniedClient() {
    let bench = ClientBench()
    bench.send(.connect, .requestLocation)
    bench.fixes(1)
    bench.send(.setAuthorization(.denied))
    let notices = bench.send(.startSignificantChange)
    #expect(!notices.contains { if case .report = $0 { true } else { false } }, "\(notices)")
  }

  @Test("REG-2, REG-6, REG-7, REG-8: a start inside is no entry; an exit is followed by its state")
  func regions() {
    let bench = ClientBench(capacity: 256)
    bench.send(.connect)
    let region = Region(RegionIdentifier(.region, 7), center: equator, radius: 200)
    bench.send(.addRegion(region, assuming: .unknown))
    #expect(bench.need().due <= bench.now_i)
    #expect(bench.stay(60) == [])
    let answer = bench.send(.requestRegionState(region.identifier))
    #expect(answer == [.region(.determined(region.identifier, .inside))])
    let other = RegionIdentifier(.region, 8)
    let unknown = bench.send(.requestRegionState(other))
    #expect(unknown == [.region(.determined(other, .unknown))], "it is not monitored")
    let notices = bench.stay(60, east: 400)
    #expect(notices.count == 2)
    if case .region(.exited(region.identifier, _))? = notices.first {
    } else {
      Issue.record("no exit: \(notices)")
    }
    #expect(notices.last == .region(.determined(region.identifier, .outside)))
    for number in 100..<119 {
      let other = Region(
        RegionIdentifier(.region, UInt32(number)), center: equator, radius: 50)
      #expect(bench.send(.addRegion(other, assuming: .unknown)) == [])
    }
    let tooMany = Region(RegionIdentifier(.region, 999), center: equator, radius: 50)
    #expect(
      bench.send(.addRegion(tooMany, assuming: .unknown))
        == [.region(.failure(tooMany.identifier, .regionMonitoringFailure))])
    for number in 100..<119 { bench.send(.removeRegion(RegionIdentifier(.region, UInt32(number)))) }
    bench.send(.removeRegion(region.identifier))
    #expect(!bench.need().isRequired)
  }

  @Test("PAU-3, PAU-10, DEF-38: finish(12), the batch up to the deciding fix, then the pause")
  func pause() {
    let bench = ClientBench(capacity: 512)
    bench.pauses = true
    bench.limit = 200
    bench.send(.connect, .startUpdating, .setExecution(.background))
    bench.send(.allowDeferred(distance: .infinity, timeout: .infinity))
    bench.updateEngagement(true)
    #expect(bench.state == .engaged)
    let notices = bench.stay(700)
    #expect(notices.map(\.description) == ["finish(12)", "batch(0...60)", "paused"])
    #expect(bench.demand == .none)
    #expect(bench.need().due < .distantFuture, "PAU-4: checks continue")
    #expect(
      bench.send(.allowDeferred(distance: .infinity, timeout: .infinity)) == [.finish(12)],
      "DEF-4: paused is not updating")
    // PAU-4: outside the radius updates resume, and the resume precedes the fix.
    let resumed = bench.stay(30, east: 300)
    #expect(resumed.first == .resumed)
    #expect(resumed.count >= 2 && resumed[1].description.hasPrefix("batch"))
    #expect(bench.demand == .live(isWatched: false))
  }

  @Test("PAU-10: the fix that decides the pause is delivered despite the filter")
  func pauseFiltered() {
    let bench = ClientBench(capacity: 512)
    bench.pauses = true
    bench.send(.connect, .setDistanceFilter(100), .startUpdating)
    #expect(bench.stay(10) == [.batch(0...0)])
    let notices = bench.stay(700)
    #expect(notices.map(\.description) == ["batch(60...60)", "paused"])
  }

  @Test("PAU-5: switched off, updates never pause and a pause ends; switched on, they pause")
  func pauseSwitched() {
    let bench = ClientBench(capacity: 1_024)
    bench.send(.connect, .startUpdating)
    let steady = bench.stay(2_000)
    #expect(!steady.contains(.paused))
    bench.send(.setPausesAutomatically(true))
    #expect(bench.stay(30).last == .paused)
    #expect(bench.send(.setPausesAutomatically(false)) == [.resumed])
    bench.send(.stopUpdating)
    #expect(bench.demand == .none)
  }

  @Test("SLC-1, VIS-1: filter and accuracy settings do not affect significant change and visits")
  func ignoresSettings() {
    func notices(_ settings: [Request], _ service: Request) -> [NoticeValue] {
      let bench = ClientBench(capacity: 4_096)
      bench.send(.connect)
      for request in settings { bench.send(request) }
      bench.send(service)
      var all = bench.stay(900)
      for step in 1...40 { all += bench.stay(10, east: Double(step) * 60) }
      return all
    }
    for service in [Request.startSignificantChange, .startVisits] {
      let plain = notices([], service)
      let set = notices([.setDistanceFilter(5_000), .setDesiredAccuracy(3_000)], service)
      #expect(plain == set && plain.count >= 2)
    }
  }

  @Test("AUT-3, RNG-6: a denied client gets no cached fix from any service it starts")
  func deniedCached() {
    for start in [Request.startSignificantChange, .requestLocation, .startUpdating] {
      let bench = ClientBench(capacity: 64)
      bench.send(.connect, .requestLocation)
      bench.fixes(1)
      bench.send(.setAuthorization(.denied))
      #expect(bench.send(start) == [.failure(1)])
      #expect(bench.stay(60).isEmpty)
    }
  }

  @Test("AUT-6: a pending or queued precise answer is not delivered to a reduced client")
  func reducedAnswer() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .requestLocation)
    bench.now += 1
    bench.append(fix(at: bench.now, accuracy_mm: 20_000))
    #expect(bench.send(.setReducedAccuracy(true)) == [.failure(0)])
    #expect(bench.wait(40) == [])
    let queued = ClientBench(capacity: 64)
    queued.send(.connect, .requestLocation, .setExecution(.suspended))
    queued.now += 1
    queued.append(fix(at: queued.now))
    queued.sendOnly(.setReducedAccuracy(true))
    let late = queued.send(.setExecution(.background))
    #expect(!late.contains { if case .report = $0 { true } else { false } })
  }

  @Test("VIS-2, VIS-5: visits end with authorization always; a finished visit is reported in order")
  func visitsEnd() {
    let bench = ClientBench(capacity: 4_096)
    bench.send(.connect, .startVisits)
    bench.stay(600)
    bench.send(.setAuthorization(.whenInUse))
    #expect(bench.client.services.visits.state == .idle && !bench.need().isRequired)
    let away = ClientBench(capacity: 4_096)
    away.send(.connect, .startVisits, .setExecution(.suspended))
    var notices = away.stay(1_200)
    for step in 1...40 { notices += away.stay(10, east: Double(step) * 60) }
    #expect(notices.count == 2)
    if case .visit(_, nil)? = notices.first {} else { Issue.record("\(notices)") }
    if case .visit(_, .some)? = notices.last {} else { Issue.record("\(notices)") }
  }

  @Test("STD-9: while refining, less accurate fixes are delivered too")
  func refining() {
    let bench = ClientBench()
    bench.send(.connect, .startUpdating)
    var notices: [NoticeValue] = []
    for accuracy_mm in [90_000, 60_000, 30_000, 45_000, 8_000] as [Int32] {
      bench.now += 1
      bench.append(fix(at: bench.now, accuracy_mm: accuracy_mm))
      notices += bench.notices()
    }
    #expect(notices == [.batch(0...0), .batch(1...1), .batch(2...2), .batch(3...3), .batch(4...4)])
  }

  @Test("STD-11, DEF-44: a request gives one fix or one error; start, deferral and stop cancel it")
  func request() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .setDesiredAccuracy(100), .requestLocation)
    #expect(bench.need().due <= bench.now_i)
    #expect(bench.fixes(1) == [.report(0, accuracy_mm: 3_000)])
    #expect(bench.fixes(1) == [] && !bench.need().isRequired)
    bench.now = 100
    bench.send(.requestLocation)
    #expect(bench.wait(29) == [])
    #expect(bench.wait(2) == [.failure(0)])
    #expect(bench.wait(60) == [])
    for cancelling in [
      Request.startUpdating, .stopUpdating, .allowDeferred(distance: 1, timeout: 1),
    ] {
      let other = ClientBench(capacity: 64)
      other.send(.connect, .requestLocation)
      other.send(cancelling)
      let notices = other.wait(60) + other.fixes(2)
      #expect(!notices.contains { if case .report = $0 { true } else { false } })
      #expect(!notices.contains(.failure(0)))
    }
    let updating = ClientBench.started()
    #expect(updating.send(.requestLocation) == [])
    #expect(updating.client.services.request.state == .idle)
  }

  @Test("LIV-4, LIV-5, LIV-9: one stationary element, none while stationary, one when moving")
  func live() {
    let bench = ClientBench(capacity: 1_024)
    bench.send(.connect, .openLive(.default))
    #expect(bench.demand == .live(isWatched: true))
    let notices = bench.stay(900)
    let stationary = notices.filter { if case .live(_, _, true, _) = $0 { true } else { false } }
    #expect(stationary.count == 1 && notices.last == stationary.first)
    #expect(bench.demand == .none && bench.need().due < .distantFuture)
    let moved = bench.stay(20, east: 300)
    #expect(!moved.isEmpty)
    if case .live(_, _, false, _)? = moved.first {} else { Issue.record("\(moved)") }
    bench.send(.openLive(.fitness))
    bench.send(.closeLive(0))
    #expect(bench.demand == .live(isWatched: true))
    bench.send(.closeLive(1))
    #expect(bench.demand == .none && !bench.need().isRequired)
  }

  @Test("LIV-9: a fifth iterator is refused immediately, and nothing else changes")
  func fifthIterator() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect)
    for _ in 0..<4 { #expect(bench.send(.openLive(.default)) == []) }
    #expect(bench.send(.openLive(.fitness)) == [.liveRefused(.fitness)])
    #expect(bench.client.services.live.count == 4)
    bench.send(.closeLive(2))
    #expect(bench.send(.openLive(.fitness)) == [])
    #expect(bench.send(.openLive(.airborne)) == [.liveRefused(.airborne)])
  }

  @Test("LIV-7: each change of a flag gives one element, even without a location")
  func liveFlags() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .openLive(.default))
    let denied = bench.send(.setAuthorization(.denied))
    #expect(denied == [.live(0, fix: nil, stationary: false, flags: 1)])
    #expect(bench.wait(10) == [])
    #expect(bench.demand == .none)
    let granted = bench.send(.setAuthorization(.always))
    #expect(granted == [.live(0, fix: nil, stationary: false, flags: 0)])
    let reduced = bench.send(.setReducedAccuracy(true))
    #expect(reduced == [.live(0, fix: nil, stationary: false, flags: 1 << 5)])
  }

  @Test("DEF-40, AUT-3: denial gives the change, finish(1), didFail(1), and no cached fix")
  func denial() {
    let bench = ClientBench(capacity: 64)
    bench.showsAuthorization = true
    bench.send(.connect, .startUpdating, .setExecution(.background), .startSignificantChange)
    bench.send(.allowDeferred(distance: .infinity, timeout: .infinity))
    bench.updateEngagement(true)
    bench.fixes(3)
    let notices = bench.send(.setAuthorization(.denied))
    #expect(
      notices.map(\.description)
        == ["authorization(denied, full)", "finish(1)", "failure(1)"])
    #expect(bench.demand == .none && !bench.need().isRequired)
    #expect(bench.send(.setAuthorization(.denied)) == [])
    bench.showsAuthorization = false
    bench.send(.setAuthorization(.always))
    #expect(bench.fixes(2) == [.batch(3...3), .batch(4...4)], "RNG-6: nothing from before")
  }

  @Test("DEF-41, AUT-5, AUT-6: reduced accuracy ends a deferral with 13 and gives coarse fixes")
  func reduced() {
    let bench = ClientBench(capacity: 512)
    bench.showsAuthorization = true
    bench.send(.connect, .startUpdating, .setExecution(.background))
    bench.send(.allowDeferred(distance: .infinity, timeout: .infinity))
    bench.updateEngagement(true)
    bench.fixes(3)
    let notices = bench.send(.setReducedAccuracy(true))
    #expect(
      notices.map(\.description) == ["authorization(always, reduced)", "finish(13)"],
      "cached precise fixes are erased")
    let hour = bench.stay(3_600)
    #expect(hour.count >= 2 && hour.count <= 5, "a few per hour: \(hour.count)")
    for notice in hour {
      guard case .coarse(_, let accuracy) = notice else {
        Issue.record("a precise fix: \(notice)")
        continue
      }
      #expect(accuracy == AccuracyReduction.accuracy_mm)
    }
    #expect(bench.client.location == nil)
    let region = Region(RegionIdentifier(.region, 1), center: equator, radius: 100)
    bench.send(.addRegion(region, assuming: .unknown))
    #expect(bench.stay(200).allSatisfy { if case .region = $0 { false } else { true } }, "REG-15")
    bench.send(.setReducedAccuracy(false))
    #expect(bench.fixes(1).contains { $0.description.hasPrefix("batch") })
  }

  @Test("DEF-11: a disconnect ends live updates and single requests, not significant change")
  func disconnect() {
    let bench = ClientBench(capacity: 64)
    bench.send(.connect, .openLive(.default), .requestLocation, .startSignificantChange)
    bench.send(.disconnect)
    #expect(bench.client.services.live.count == 0)
    #expect(bench.client.services.request.state == .idle)
    #expect(bench.need().isRequired, "SLC-8: significant change stays active")
    bench.send(.connect, .stopSignificantChange)
    #expect(!bench.need().isRequired && bench.demand == .none)
  }
}

extension Client {
  /// Sequence number of the fix that Core Location's `location` returns.
  var location: UInt64? { newestDelivered }
}
