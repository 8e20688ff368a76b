import Foundation
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import TestSupport
import Testing

@testable import CoreLocation

@Suite("Start and state of regions", .tags(.realTime))
struct RegionStartTests {
  private static func region(_ name: String, radius: Double = 100) -> CLCircularRegion {
    CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 0, longitude: 0), radius: radius, identifier: name)
  }

  /// What the delegate of a new manager receives after the authorization, up to `last`.
  private func lines(
    _ fake: FakeSession, until last: String,
    _ start: @escaping @Sendable (CLLocationManager) -> Void
  ) async -> [String] {
    let recorder = Recorder()
    let thread = ManagerThread(fake.session, recorder, start)
    #expect(await wait { recorder.lines.withLock { $0.contains(last) } })
    thread.end()
    return recorder.lines.withLock { $0.filter { !$0.hasPrefix("authorization") } }
  }

  @Test("REG-3: a radius that is refused fails with 5, and its start is not reported")
  func radius() async {
    let fake = FakeSession()
    let lines = await lines(fake, until: "started valid") { manager in
      for radius in [0, -1, 1e6, .nan] {
        manager.startMonitoring(for: RegionStartTests.region("wrong", radius: radius))
      }
      manager.startMonitoring(for: RegionStartTests.region("valid"))
    }
    #expect(lines == Array(repeating: "failed wrong 5", count: 4) + ["started valid"])
    #expect(fake.session.read { Array($0.regions.keys) } == ["valid"])
  }

  @Test("REG-2: the 21st region fails with 5, a replacement does not")
  func limit() async {
    let fake = FakeSession()
    let lines = await lines(fake, until: "started 7") { manager in
      for number in 1...21 { manager.startMonitoring(for: RegionStartTests.region("\(number)")) }
      manager.startMonitoring(for: RegionStartTests.region("7", radius: 50))
    }
    #expect(lines.contains("failed 21 5") && !lines.contains("started 21"))
    #expect(await wait { fake.session.read { $0.regions["7"]?.radius } == 50 })
  }

  @Test("REG-14: a region that cannot be stored has started")
  func notStored() async {
    let fake = FakeSession(regionRefusal: .notAvailable(what: "the disk"))
    let lines = await lines(fake, until: "started home") {
      $0.startMonitoring(for: RegionStartTests.region("home"))
    }
    #expect(lines == ["started home"])
  }

  @Test("AUT-10: without permission only the failure is reported")
  func denied() async {
    let fake = FakeSession(.denied)
    let lines = await lines(fake, until: "failed home 4") {
      $0.startMonitoring(for: RegionStartTests.region("home"))
      while !fake.service.calls.contains(where: { if case .addRegion = $0 { true } else { false } })
      { usleep(1_000) }
      fake.service.notify(
        .region(WireRegionEvent(.region, name: "home", .failed(.regionMonitoringDenied))))
    }
    #expect(lines == ["failed home 4"])
  }

  @Test("REG-1: a region that the service accepted after it refused an earlier one is monitored")
  func acceptedLater() {
    var state = SessionState()
    let center = Coordinate(latitude_e9: 0, longitude_e9: 0)
    let region = WireRegion(.region, name: "home", center: center, radius: 100)
    let begins = state.beginMonitoring(region, for: 1)
    #expect(begins)
    let failure = WireRegionEvent(.region, name: "home", .failed(.regionMonitoringFailure))
    state.receive([.region(failure)], at: .boot)
    #expect(state.regions["home"] == nil)
    state.finishStart(of: region, .success(.done), for: 1)
    #expect(state.regions["home"] == region)
  }

  @Test("REG-7: a request that the service refuses is answered with unknown")
  func refusedRequest() async {
    let fake = FakeSession(regionRefusal: .invalidParameter("name"))
    let lines = await lines(fake, until: "state 0") {
      $0.requestState(for: RegionStartTests.region("home"))
    }
    #expect(lines == ["state 0"])
  }

  @Test("REG-7: a request without an answer is repeated on the next connection, once")
  func repeatedRequest() async {
    let fake = FakeSession()
    let call = WireCall.requestRegionState(.region, name: "home")
    fake.session.requestState("home", for: 1)
    #expect(await wait { fake.session.read { $0.stateRequests.count } == 1 })
    fake.closesNextCall()
    #expect(await wait { fake.service.calls.count { $0 == call } == 2 })
    #expect(await wait { fake.session.read { $0.stateRequests.count } == 1 })
    fake.service.notify(.region(WireRegionEvent(.region, name: "home", .determined(.inside))))
    #expect(await wait { fake.session.read { $0.stateRequests.isEmpty } })
  }
}
