import AccessPolicy
import Glibc
import LocationPolicy
import LocationTypes
import LocationWire
import Testing

@testable import LocationService

@Suite("A suspended program on the socket")
struct SuspendedTests {
  /// A receiver that makes a fix each second while somebody needs it, and is not listened to else.
  private func run(_ bench: ServiceBench, _ seconds: Int) -> Int {
    bench.loop.overlooksUnwanted = true
    var made = 0
    for _ in 0..<seconds {
      if bench.isDemanding {
        bench.fix()
        made += 1
      } else {
        bench.pass(1)
      }
    }
    return made
  }

  private func home() -> WireRegion {
    WireRegion(
      .region, name: "home",
      center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11), radius: 150)
  }

  /// What was told, in a word each.
  private func words(_ notices: [WireNotice]) -> [String] {
    notices.map { notice in
      switch notice {
      case .fixes(let fixes): "fixes \(fixes.count)"
      case .gap(let gap): "gap \(gap.count)"
      case .finished(let code): "finished \(code?.rawValue ?? -1)"
      case .region(let event, _):
        switch event.what {
        case .entered: "entered"
        case .exited: "exited"
        case .determined(let state): "determined \(state.rawValue)"
        case .monitor, .failed: "other"
        }
      case .visit(let visit, _): visit.departure == nil ? "arrived" : "departed"
      default: "other"
      }
    }
  }

  @Test(
    "BKG-2, BKG-5: a program that sleeps finds N fixes when it wakes, and then what was not recorded"
  )
  func queue() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    #expect(run(bench, 3) == 3 && watch.fixes().count == 3)
    _ = bench.ask(.setExecution(.suspended), control)
    let stop = bench.stage.now + .seconds(32)
    #expect(run(bench, 200) == 32, "N fixes, and then the receiver rests")
    #expect(watch.notices().isEmpty)
    let start = bench.stage.now
    _ = bench.ask(.setExecution(.background), control)
    _ = run(bench, 2)
    let told = watch.notices()
    #expect(words(told) == ["fixes 32", "gap 0", "fixes 1", "fixes 1"])
    guard case .gap(let gap)? = told.dropFirst().first else { return }
    #expect(gap.mayBeMore && gap.range == 35..<35)
    #expect(gap.from?.acquired == stop && gap.to?.acquired == start)
    #expect(gap.from?.utc != nil && gap.to?.utc != nil)
  }

  @Test("BKG-5: a deferral goes on while its program is suspended, though N fixes wait")
  func deferral() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    _ = run(bench, 1)
    _ = bench.ask(.setExecution(.background), control)
    _ = bench.ask(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 50), control)
    _ = bench.ask(.setExecution(.suspended), control)
    _ = watch.notices()
    #expect(run(bench, 200) == 50)
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(words(watch.notices()) == ["finished -1", "fixes 50", "gap 0"])
  }

  @Test("BKG-5, BKG-9: with a background session fixes are recorded as long as it lasts")
  func session() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    #expect(bench.ask(.openBackgroundSession, control) == .active(true))
    _ = bench.ask(.setExecution(.suspended), control)
    #expect(run(bench, 200) == 200)
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.background), control)
    let size = ServiceBench.ringCapacity
    #expect(
      words(watch.notices()) == ["gap \(200 - size)", "fixes \(size)"], "the ring is full (RNG-4)")
  }

  @Test("BKG-2, RNG-3: what a suspended program was not told comes to the next one, with its gap")
  func dies() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.setExecution(.suspended), control)
    #expect(run(bench, 100) == 32)
    watch.quit()
    control.quit()
    bench.settle()
    let (again, listener, _) = bench.client("tracker")
    #expect(listener.notices().isEmpty, "it has started nothing")
    _ = bench.ask(.startUpdating, again)
    #expect(words(listener.notices()) == ["fixes 32", "gap 0"])
  }

  @Test("BKG-5: a bulk read of a queue says with it what was not recorded, once")
  func drained() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, session) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.setExecution(.suspended), control)
    #expect(run(bench, 100) == 32)
    let program = bench.program()
    program.send(.drain(session: session))
    bench.settle()
    let bytes = program.bytes()
    let end = try #require(bytes.firstIndex(of: 0))
    let reply = try ReplyDecoder.decode(Array(bytes[..<end]), to: .drain(session: session)).reply
    guard case .drain(32, let gap?) = reply else {
      Issue.record("\(reply)")
      return
    }
    #expect(gap.mayBeMore && gap.count == 0)
    #expect(bench.isDemanding, "there is room again")
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(watch.notices().isEmpty)
  }

  @Test("REG-8: each crossing is told with its state right after it")
  func crossings() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.addRegion(home(), assuming: .unknown), control)
    for _ in 0..<60 { bench.fix() }
    #expect(words(watch.notices()) == ["exited", "determined 2"])
    _ = bench.ask(.requestRegionState(.region, name: "home"), control)
    #expect(words(watch.notices()) == ["determined 2"])
    control.quit()
    bench.settle()
    // It was not acknowledged: the next process is told both.
    let (_, listener, _) = bench.client("tracker")
    #expect(words(listener.notices()) == ["exited", "determined 2"])
  }

  @Test("BKG-2, REG-8: nothing is told while it is suspended, no state of a region either")
  func regions() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.addRegion(home(), assuming: .unknown), control)
    for _ in 0..<3 { bench.fix() }
    _ = watch.notices()
    _ = bench.ask(.setExecution(.suspended), control)
    for _ in 0..<60 { bench.fix() }
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.background), control)
    #expect(words(watch.notices()) == ["exited", "determined 2"])
  }

  @Test("BKG-2, REG-7: an answer that comes due while it is suspended waits; so do diagnostics")
  func answers() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.addRegion(home(), assuming: .unknown), control)
    _ = bench.ask(.requestRegionState(.region, name: "home"), control)
    _ = bench.ask(.openServiceSession(.always, wantsFullAccuracy: true), control)
    _ = watch.notices()
    _ = bench.ask(.setExecution(.suspended), control)
    bench.fix()
    bench.pass(120)
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(words(watch.notices()).contains { $0.hasPrefix("determined") })
  }

  @Test("BKG-2: whatever a suspended program asks shows that it runs")
  func asks() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.addRegion(home(), assuming: .unknown), control)
    for _ in 0..<3 { bench.fix() }
    _ = watch.notices()
    _ = bench.ask(.setExecution(.suspended), control)
    for _ in 0..<60 { bench.fix() }
    _ = bench.ask(.acknowledgeEvents(1), control)
    #expect(watch.notices().isEmpty)
    _ = bench.ask(.startUpdating, control)
    #expect(words(watch.notices()) == ["exited", "determined 2"])
  }

  @Test("BKG-21: a request that is outstanding goes on; live updates rest until the program runs")
  func requestAndLive() throws {
    let bench = try ServiceBench(canIdle: true)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.requestLocation, control)
    _ = bench.ask(.setExecution(.suspended), control)
    #expect(bench.needsFix)
    bench.fix()
    #expect(!bench.needsFix && watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.foreground), control)
    #expect(watch.notices().contains { if case .report = $0 { true } else { false } })
    _ = bench.ask(.openLive(.default), control)
    #expect(bench.isDemanding)
    _ = bench.ask(.setExecution(.suspended), control)
    #expect(!bench.isDemanding && !bench.needsFix)
  }

  @Test("VIS-7: a visit that lasted when the service was stopped comes first when it starts again")
  func cachedVisit() throws {
    let bench = try ServiceBench()
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startVisits, control)
    bench.stay(900)
    #expect(words(watch.notices()) == ["arrived"])
    _ = bench.ask(.stopVisits, control)
    _ = bench.ask(.startVisits, control)
    #expect(words(watch.notices()) == ["arrived"])
    _ = bench.ask(.stopVisits, control)
    bench.pass(301)
    _ = bench.ask(.startVisits, control)
    #expect(!words(watch.notices()).contains("arrived"))
  }

  @Test("AUT-12: with reduced accuracy running updates bring their coarse fix as fixes")
  func reduced() throws {
    let bench = try ServiceBench(
      AccessPolicy(
        standard: AccessTerms(authorization: .always, isReduced: true),
        administrators: [UInt32(geteuid())]))
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    for _ in 0..<3 { bench.fix() }
    let told = watch.notices()
    guard case .fixes(let fixes)? = told.last, told.count == 1 else {
      Issue.record("\(told)")
      return
    }
    #expect(fixes.count == 1 && fixes[0].fix.horizontalAccuracy == 5_000)
    #expect(bench.ask(.acknowledge(fixes[0].name), control) == .done)
    // While it is suspended, one waits for it and no more is acquired.
    _ = bench.ask(.setExecution(.suspended), control)
    #expect(bench.nextNeed < .distantFuture)
    bench.pass(1_000)
    bench.fix()
    #expect(bench.nextNeed == .distantFuture && watch.notices().isEmpty)
    _ = bench.ask(.setExecution(.background), control)
    #expect(watch.fixes().count == 1)
  }
}

@Suite("Programs that may not use location, or of whom nobody has decided")
struct PermissionTests {
  private let me = geteuid()
  private var name: WireClientName { WireClientName(user: me, name: "tracker") }
  private func bench(_ authorization: Authorization) throws -> ServiceBench {
    try ServiceBench(
      AccessPolicy(
        standard: AccessTerms(authorization: authorization), administrators: [UInt32(me)]),
      canIdle: true)
  }
  private let home = WireRegion(
    .region, name: "home",
    center: Coordinate(latitude_e9: 48_000_000_000, longitude_e9: 11), radius: 150)

  /// What was told, without changes of authorization.
  private func told(_ watch: Program) -> [WireNotice] {
    watch.notices().filter { if case .authorization = $0 { false } else { true } }
  }

  @Test(
    "AUT-10: who is denied is told so by each service it starts",
    arguments: [Authorization.denied, .restricted])
  func denied(_ authorization: Authorization) throws {
    let bench = try bench(authorization)
    let (control, watch, _) = bench.client("tracker")
    _ = told(watch)
    for call in [WireCall.startUpdating, .startSignificantChange, .startVisits, .requestLocation] {
      _ = bench.ask(call, control)
      #expect(told(watch) == [.failure(.denied)], "\(call)")
    }
    _ = bench.ask(.allowDeferred(distance: 1, timeout: 1), control)
    #expect(told(watch) == [.finished(.denied)])
    _ = bench.ask(.addRegion(home, assuming: .unknown), control)
    #expect(
      told(watch) == [
        .region(WireRegionEvent(.region, name: "home", .failed(.regionMonitoringDenied)))
      ])
    #expect(bench.ask(.listRegions, control) == .regions([]))
  }

  @Test("AUT-11: of whom nobody has decided brings no error, and is served when permission comes")
  func undecided() throws {
    let bench = try bench(.notDetermined)
    let (control, watch, _) = bench.client("tracker")
    _ = told(watch)
    for call in [
      WireCall.requestLocation, .startSignificantChange, .startVisits,
      .addRegion(home, assuming: .unknown),
    ] { _ = bench.ask(call, control) }
    for _ in 0..<3 { bench.fix() }
    bench.pass(120)
    #expect(told(watch).isEmpty && !bench.isDemanding && !bench.needsFix)
    #expect(bench.ask(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.needsFix)
    bench.fix()
    let reports = told(watch).filter { if case .report = $0 { true } else { false } }
    #expect(reports.count == 2, "of the request and of significant change")
    bench.stay(900)
    #expect(told(watch).contains { if case .visit = $0 { true } else { false } })
  }

  @Test("AUT-11: updates and a deferral wait for permission; the deferral's time runs")
  func undecidedUpdates() throws {
    let bench = try bench(.notDetermined)
    let (control, watch, _) = bench.client("tracker")
    _ = told(watch)
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.setExecution(.background), control)
    _ = bench.ask(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 60), control)
    bench.fix()
    bench.pass(30)
    #expect(told(watch).isEmpty && !bench.isDemanding)
    #expect(bench.ask(.allowClient(name, .always), bench.program()) == .done)
    #expect(bench.isDemanding)
    for _ in 0..<10 { bench.fix() }
    #expect(told(watch).isEmpty, "deferred")
    bench.pass(30)
    let all = told(watch)
    guard all.count == 2, case .fixes(let fixes) = all[1] else {
      Issue.record("\(all)")
      return
    }
    #expect(all[0] == .finished(nil) && fixes.count == 10)
  }

  @Test("AUT-10, AUT-11: a pending program that is denied is told so, once")
  func decidedAgainst() throws {
    let bench = try bench(.notDetermined)
    let (control, watch, _) = bench.client("tracker")
    _ = told(watch)
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.allowDeferred(distance: LocationLimits.distanceMax, timeout: 60), control)
    #expect(bench.ask(.denyClient(name), bench.program()) == .done)
    #expect(told(watch) == [.finished(.denied), .failure(.denied)])
    let other = bench.client("other")
    _ = bench.ask(.requestLocation, other.control)
    let otherName = WireClientName(user: me, name: "other")
    #expect(bench.ask(.denyClient(otherName), bench.program()) == .done)
    #expect(told(other.watch) == [.failure(.denied)])
  }

  @Test(
    "VIS-2: visits asked for while in use start when always is granted, and end when it is taken")
  func visits() throws {
    let bench = try bench(.whenInUse)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startVisits, control)
    bench.stay(900)
    #expect(told(watch).isEmpty && !bench.needsFix)
    _ = bench.ask(.allowClient(name, .always), bench.program())
    #expect(bench.needsFix)
    _ = bench.ask(.allowClient(name, .whenInUse), bench.program())
    #expect(!bench.needsFix)
  }

  @Test(
    "SLC-11, VIS-12: where no fix can be had, significant change and visits are told, once",
    arguments: [WireCall.startSignificantChange, .startVisits])
  func noFix(_ call: WireCall) throws {
    let bench = try bench(.always)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(call, control)
    bench.pass(330)
    #expect(told(watch) == [.failure(.locationUnknown)])
    bench.pass(3_600)
    #expect(told(watch).isEmpty)
    bench.fix()
    _ = told(watch)
    bench.pass(7_200)
    #expect(told(watch) == [.failure(.locationUnknown)])
  }

  @Test("DEF-43, DEF-1: a receiver that takes no commands is gone after a minute of silence")
  func silent() throws {
    let bench = try bench(.always)
    let (control, watch, _) = bench.client("tracker")
    _ = bench.ask(.startUpdating, control)
    _ = bench.ask(.setExecution(.background), control)
    bench.fix()
    let deferral = WireCall.allowDeferred(
      distance: LocationLimits.distanceMax, timeout: LocationLimits.timeIntervalMax)
    _ = bench.ask(deferral, control)
    for _ in 0..<3 { bench.fix() }
    _ = told(watch)
    bench.pass(59)
    #expect(told(watch).isEmpty)
    bench.pass(2)
    let all = told(watch)
    #expect(all.count == 3 && all.first == .finished(.deferredFailed), "\(all)")
    #expect(all.last == .failure(.locationUnknown))
    _ = bench.ask(deferral, control)
    #expect(told(watch) == [.finished(.deferredFailed)])
    bench.fix()
    _ = told(watch)
    _ = bench.ask(deferral, control)
    for _ in 0..<3 { bench.fix() }
    #expect(told(watch).isEmpty, "it talks again, and defers")
  }
}
