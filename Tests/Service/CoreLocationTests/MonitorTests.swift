import Foundation
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import CoreLocation

@Suite("Monitors for programs", .tags(.realTime))
struct MonitorTests {
  private let home = CLMonitor.CircularGeographicCondition(
    center: CLLocationCoordinate2D(latitude: 5e-9, longitude: 6e-9), radius: 150)
  private let center = Coordinate(latitude_e9: 5, longitude_e9: 6)

  private func event(_ name: String, _ state: MonitorState) -> WireRegionEvent {
    WireRegionEvent(
      .condition, name: name, .monitor(state, nil, at: FixTime(acquired: .boot, utc: nil)))
  }

  @Test("REG-11: a name can be opened again after it was released")
  func openAgain() async {
    let fake = FakeSession()
    var monitor: CLMonitor? = CLMonitor("doors", of: fake.session)
    #expect(monitor?.name == "doors")
    monitor = nil
    monitor = CLMonitor("doors", of: fake.session)
    #expect(await monitor?.identifiers == [])
  }

  @Test("REG-11, REG-12: a monitor has the conditions of earlier processes under its name")
  func conditions() async throws {
    let region = WireRegion(.condition, name: "doors/home", center: center, radius: 150)
    let other = WireRegion(.condition, name: "windows/home", center: center, radius: 1)
    let marked = WireRegion(.condition, name: "doors/\u{301}x", center: center, radius: 1)
    let plain = WireRegion(.region, name: "doors/office", center: center, radius: 1)
    let fake = FakeSession(regions: [
      WireMonitoredRegion(region, state: .satisfied, lastEvent: event("doors/home", .satisfied)),
      WireMonitoredRegion(other, state: .unknown, lastEvent: nil),
      WireMonitoredRegion(plain, state: .unknown, lastEvent: nil),
      WireMonitoredRegion(marked, state: .unknown, lastEvent: nil),
    ])
    let monitor = CLMonitor("doors", of: fake.session)
    #expect(await monitor.identifiers == ["home", "\u{301}x"])
    #expect(ConditionEvent.parts(marked.name)?.identifier == "\u{301}x")
    let record = try #require(await monitor.record(for: "home"))
    let circle = record.condition as? CLMonitor.CircularGeographicCondition
    #expect(circle?.radius == 150 && circle?.center.latitude == 5e-9)
    #expect(record.lastEvent.state == .satisfied && record.lastEvent.identifier == "home")
    #expect(await monitor.record(for: "office") == nil)
    await monitor.add(home, identifier: "home", assuming: .unsatisfied)
    #expect(await fake.received(.addRegion(region, assuming: .unsatisfied)))
    await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: UUID()), identifier: "home")
    #expect(await fake.received(.removeRegion(.condition, name: "doors/home")), "it was replaced")
  }

  @Test(
    "REG-14: a beacon is unsupported; a condition that cannot be stored is reported and monitored")
  func problems() async throws {
    let start = Date()
    let fake = FakeSession(regionRefusal: .notAvailable(what: "the disk"))
    let monitor = CLMonitor("doors", of: fake.session)
    var events = await monitor.events.makeAsyncIterator()
    await monitor.add(CLMonitor.BeaconIdentityCondition(uuid: UUID()), identifier: "key")
    let beacon = try #require(try await events.next())
    #expect(beacon.identifier == "key" && beacon.conditionUnsupported)
    #expect(beacon.state == .unmonitored && !beacon.conditionLimitExceeded)
    #expect(await monitor.identifiers == ["key"])
    await monitor.add(home, identifier: "home")
    let event = try #require(try await events.next())
    #expect(event.identifier == "home" && event.persistenceUnavailable && event.state == .unknown)
    #expect(event.date >= start - 1 && event.date <= Date())
  }

  @Test("BKG-15: with the explicit key, events say that a session is required, until there is one")
  func requiredSession() async throws {
    let fake = FakeSession(needsExplicitSessions: true)
    let monitor = CLMonitor("doors", of: fake.session)
    var events = await monitor.events.makeAsyncIterator()
    let condition = CLMonitor.BeaconIdentityCondition(uuid: UUID())
    await monitor.add(condition, identifier: "key")
    let first = try #require(try await events.next())
    #expect(first.serviceSessionRequired)
    let session = CLServiceSession(.whenInUse, requiresFullAccuracy: false, of: fake.session)
    await monitor.add(condition, identifier: "other")
    let second = try #require(try await events.next())
    #expect(!second.serviceSessionRequired)
    #expect(await monitor.record(for: "key")?.lastEvent.serviceSessionRequired == false)
    session.invalidate()
    #expect(await monitor.record(for: "key")?.lastEvent.serviceSessionRequired == true)
  }

  @Test("REG-2: only a refusal for the limit or the parameters is reported as such")
  func refusals() async throws {
    let expected: [(WireError, Bool)] = [
      (.limitExceeded(what: "regions", limit: 20), true), (.invalidParameter("radius"), true),
      (.permissionDenied, false),
    ]
    for (refusal, isLimit) in expected {
      let fake = FakeSession(regionRefusal: refusal)
      let monitor = CLMonitor("doors", of: fake.session)
      var events = await monitor.events.makeAsyncIterator()
      await monitor.add(home, identifier: "home")
      let event = try #require(try await events.next())
      #expect(event.state == .unmonitored && event.conditionLimitExceeded == isLimit)
    }
  }

  @Test("REG-13: the event whose loop was left is the first one of the next loop")
  func leftLoop() async throws {
    let fake = FakeSession()
    let monitor = CLMonitor("doors", of: fake.session)
    for (number, state) in [(1, MonitorState.satisfied), (2, .unsatisfied)]
      as [(UInt32, MonitorState)]
    {
      fake.service.notify(.region(event("doors/d", state), number: number))
    }
    for _ in 0..<2 {
      for try await event in await monitor.events {
        #expect(event.state == .satisfied)
        break
      }
    }
    var events = await monitor.events.makeAsyncIterator()
    #expect(try await events.next()?.state == .satisfied)
    #expect(try await events.next()?.state == .unsatisfied)
    #expect(await fake.received(.acknowledgeEvents(1)))
  }

  @Test("REG-13: a handled event is acknowledged with those before it, over all monitors")
  func handled() async throws {
    let fake = FakeSession()
    let doors = CLMonitor("doors", of: fake.session)
    let windows = CLMonitor("windows", of: fake.session)
    fake.service.notify(.region(event("windows/w", .satisfied), number: 3))
    fake.service.notify(.region(event("doors/d", .satisfied), number: 4))
    fake.service.notify(.region(event("doors/d", .unsatisfied), number: 5))
    var atDoors = await doors.events.makeAsyncIterator()
    #expect(try await atDoors.next()?.state == .satisfied)
    #expect(try await atDoors.next()?.state == .unsatisfied)
    #expect(fake.service.calls.allSatisfy { !$0.acknowledges }, "event 3 comes first")
    let end = Task {
      var atWindows = await windows.events.makeAsyncIterator()
      let first = try await atWindows.next()
      return (first?.identifier, try await atWindows.next() == nil)
    }
    #expect(await fake.received(.acknowledgeEvents(4)))
    end.cancel()
    let (identifier, isOver) = try await end.value
    #expect(identifier == "w" && isOver)
  }

  @Test("REG-13: events received before a monitor was opened wait for it, also unread ones")
  func unclaimed() async throws {
    let fake = FakeSession()
    fake.service.notify(.region(event("doors/d", .satisfied), number: 1))
    fake.service.notify(.region(event("other", .satisfied), number: 2))
    let monitor = CLMonitor("doors", of: fake.session)
    var events = await monitor.events.makeAsyncIterator()
    #expect(try await events.next()?.identifier == "d")
    var closing: CLMonitor? = CLMonitor("windows", of: fake.session)
    fake.service.notify(.region(event("windows/w", .satisfied), number: 3))
    fake.service.notify(.authorization(.denied, isReduced: false))
    #expect(await wait { fake.session.read { $0.demand.authorization } == .denied })
    #expect(closing?.name == "windows")
    closing = nil
    let again = CLMonitor("windows", of: fake.session)
    var next = await again.events.makeAsyncIterator()
    let event = try await next.next()
    #expect(event?.identifier == "w" && event?.authorizationDenied == true)
  }
}

extension WireCall {
  fileprivate var acknowledges: Bool {
    if case .acknowledgeEvents = self { true } else { false }
  }
}
