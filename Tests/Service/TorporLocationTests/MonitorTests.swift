import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import TorporLocation

@Suite("Monitors and sessions for programs", .tags(.realTime))
struct MonitorTests {
  private let home = LocationMonitor.CircularCondition(
    center: Coordinate(latitude_e9: 5, longitude_e9: 6), radius: 150)

  private func event(_ name: String, _ state: MonitorState) -> WireRegionEvent {
    WireRegionEvent(
      .condition, name: name, .monitor(state, nil, at: FixTime(acquired: .boot, utc: nil)))
  }

  @Test("REG-11: a name can be open once, and again after it was released")
  func openOnce() async throws {
    let staged = StagedService()
    var monitor: LocationMonitor? = try await LocationMonitor("doors", of: staged.center)
    #expect(monitor?.name == "doors")
    await #expect(throws: LocationMonitor.Refusal.alreadyOpen("doors")) {
      try await LocationMonitor("doors", of: staged.center)
    }
    _ = try await LocationMonitor("windows", of: staged.center)
    monitor = nil
    monitor = try await LocationMonitor("doors", of: staged.center)
    _ = monitor
    for name in ["", "a/b", "a\u{7}", String(repeating: "x", count: 64)] {
      await #expect(throws: LocationMonitor.Refusal.invalidName(name)) {
        try await LocationMonitor(name, of: staged.center)
      }
    }
  }

  @Test("REG-11, REG-12: conditions are stored in the service under the monitor's name")
  func conditions() async throws {
    let region = WireRegion(
      .condition, name: "doors/home", center: home.center, radius: home.radius)
    let other = WireRegion(
      .condition, name: "windows/home", center: home.center, radius: 1)
    let plain = WireRegion(.region, name: "doors/office", center: home.center, radius: 1)
    let staged = StagedService(regions: [
      WireMonitoredRegion(
        region, state: .satisfied, lastEvent: event("doors/home", .satisfied)),
      WireMonitoredRegion(other, state: .unknown, lastEvent: nil),
      WireMonitoredRegion(plain, state: .unknown, lastEvent: nil),
    ])
    let monitor = try await LocationMonitor("doors", of: staged.center)
    try await monitor.add(home, identifier: "home", assuming: .unsatisfied)
    #expect(await staged.received(.addRegion(region, assuming: .unsatisfied)))
    #expect(try await monitor.identifiers == ["home"])
    let record = try #require(try await monitor.record(for: "home"))
    #expect(record.condition == home && record.lastEvent?.state == .satisfied)
    #expect(record.lastEvent?.identifier == "home")
    #expect(try await monitor.record(for: "office") == nil)
    try await monitor.remove("home")
    #expect(await staged.received(.removeRegion(.condition, name: "doors/home")))
  }

  @Test(
    "REG-14: a beacon is unsupported; a condition that cannot be stored is reported and monitored")
  func problems() async throws {
    let staged = StagedService(storesRegions: false)
    let monitor = try await LocationMonitor("doors", of: staged.center)
    var loop = monitor.events.makeAsyncIterator()
    monitor.add(
      LocationMonitor.BeaconIdentityCondition(uuid: "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"),
      identifier: "key")
    let beacon = try #require(try await loop.next())
    #expect(beacon.identifier == "key" && beacon.problem == .conditionUnsupported)
    #expect(beacon.state == .unmonitored)
    #expect(staged.service.calls.allSatisfy { !$0.addsRegion }, "the service receives no call")
    try await monitor.add(home, identifier: "home")
    let event = try #require(try await loop.next())
    #expect(event.identifier == "home" && event.problem == .persistenceUnavailable)
    #expect(event.state == .unknown && event.date.acquired > .boot)
  }

  @Test("LOC-8: a fix shows whether it comes from a simulation or an accessory")
  func source() {
    var fix = StagedService.fix(1).fix
    #expect(!fix.sourceInformation.isSimulatedBySoftware)
    #expect(!fix.sourceInformation.isProducedByAccessory)
    fix.isSimulated = true
    #expect(fix.sourceInformation.isSimulatedBySoftware)
    fix = StagedService.fix(1).fix
    fix.isFromAccessory = true
    #expect(fix.sourceInformation.isProducedByAccessory)
  }

  @Test("LOC-9: no fix has a floor")
  func floor() {
    #expect(StagedService.fix(1).fix.floor == nil)
  }

  @Test("REG-13: the next iteration of the loop acknowledges the event and those before it")
  func handled() async throws {
    let staged = StagedService()
    let doors = try await LocationMonitor("doors", of: staged.center)
    let windows = try await LocationMonitor("windows", of: staged.center)
    staged.service.notify(.region(event("windows/w", .satisfied), number: 3))
    staged.service.notify(.region(event("doors/d", .satisfied), number: 4))
    staged.service.notify(.region(event("doors/d", .unsatisfied), number: 5))
    var atDoors = doors.events.makeAsyncIterator()
    #expect(try await atDoors.next()?.state == .satisfied)
    #expect(try await atDoors.next()?.state == .unsatisfied)
    #expect(staged.service.calls.filter(\.acknowledges).isEmpty, "event 3 comes first")
    var atWindows = windows.events.makeAsyncIterator()
    #expect(try await atWindows.next()?.identifier == "w")
    let end = Task { [events = windows.events] in
      var loop = atWindows
      _ = events
      return try await loop.next()
    }
    #expect(await staged.received(.acknowledgeEvents(4)))
    end.cancel()
    #expect(try await end.value == nil)
  }

  @Test("REG-13: events received before a monitor was opened wait for it")
  func unclaimed() async throws {
    let staged = StagedService()
    _ = try await staged.center.authorization
    staged.service.notify(.region(event("doors/d", .satisfied), number: 1))
    staged.service.notify(.region(event("other", .satisfied), number: 2))
    let monitor = try await LocationMonitor("doors", of: staged.center)
    var loop = monitor.events.makeAsyncIterator()
    let first = try #require(try await loop.next())
    #expect(first.identifier == "d" && first.problem == nil)
    // An event unread when its monitor was released waits for the next one of that name.
    var closing: LocationMonitor? = try await LocationMonitor("windows", of: staged.center)
    staged.service.notify(.region(event("windows/w", .satisfied), number: 3))
    staged.service.notify(.authorization(.denied, isReduced: false))
    while try await staged.center.authorization.status != .denied { await Task.yield() }
    #expect(closing?.name == "windows")
    closing = nil
    let again = try await LocationMonitor("windows", of: staged.center)
    var next = again.events.makeAsyncIterator()
    #expect(try await next.next()?.identifier == "w")
  }

  @Test("BKG-8, BKG-10: a background session is active immediately and ends when released")
  func background() async throws {
    let staged = StagedService()
    var session: BackgroundActivitySession? = BackgroundActivitySession(of: staged.center)
    #expect(try await session?.isActive == true)
    session = nil
    #expect(await staged.received(.closeBackgroundSession))
  }

  @Test("BKG-12, BKG-17: a service session reports diagnostics until it is invalidated")
  func session() async throws {
    let staged = StagedService()
    let session = ServiceSession(
      authorization: .always, requiresFullAccuracy: true, of: staged.center)
    #expect(await staged.received(.openServiceSession(.always, requiresFullAccuracy: true)))
    staged.service.notify(
      .session(
        0, SessionDiagnostics(flags: .insufficientlyInUse, alwaysAuthorizationDenied: true)))
    var loop = session.diagnostics.makeAsyncIterator()
    let diagnostics = try #require(try await loop.next())
    #expect(diagnostics.alwaysAuthorizationDenied && !diagnostics.fullAccuracyDenied)
    #expect(diagnostics.update.insufficientlyInUse)
    session.invalidate()
    #expect(try await loop.next() == nil)
    #expect(await staged.received(.closeServiceSession(0)))
  }

  @Test("a center uses one connection under its name for all calls")
  func center() async throws {
    let staged = StagedService()
    let service = staged.service
    try await staged.center.requestAuthorization(.whenInUse)
    try await staged.center.setExecution(.background)
    #expect(service.calls.first == .connect(name: "test"))
    #expect(await staged.received(.requestAuthorization(.whenInUse)))
    #expect(await staged.received(.setExecution(.background)))
    let explicit = LocationCenter(
      name: "strict", socket: service.path, needsExplicitSessions: true)
    _ = try await explicit.authorization
    #expect(service.calls.contains(.connect(name: "strict", needsExplicitSessions: true)))
    #expect(!LocationCenter().name.isEmpty)
  }
}

extension WireCall {
  fileprivate var addsRegion: Bool {
    if case .addRegion = self { true } else { false }
  }
  fileprivate var acknowledges: Bool {
    if case .acknowledgeEvents = self { true } else { false }
  }
}
