import Foundation
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization
import TestSupport
import Testing

@testable import CoreLocation

/// A service that answers every call and records it, and a session with it.
///
/// `backgroundReplies` says of each opened background session whether it is active; false for all others.
final class FakeSession: Sendable {
  let service: FakeService
  let session: LocationSession

  init(
    _ authorization: Authorization = .always, regions: [WireMonitoredRegion] = [],
    regionRefusal: WireError? = nil, backgroundReplies: [Bool] = [],
    needsExplicitSessions: Bool = false
  ) {
    let next = Mutex(0)
    let nextBackground = Mutex(backgroundReplies[...])
    service = FakeService { call in
      let reply: WireReply?
      switch call {
      case .connect:
        reply = .connected(
          WireSession(
            session: 7, authorization: authorization, isReduced: false, isDeferralAvailable: true))
      case .watch, .acknowledge: reply = nil
      case .openLive, .openServiceSession:
        let number = next.withLock { next in
          defer { next += 1 }
          return next
        }
        reply =
          number < 4 ? .opened(number) : .error(.limitExceeded(what: "live updates", limit: 4))
      case .addRegion, .requestRegionState: reply = regionRefusal.map { .error($0) } ?? .done
      // A call for tests that ends the connection.
      case .disallowDeferred: return ([], true)
      case .openBackgroundSession:
        reply = .active(nextBackground.withLock { $0.popFirst() } ?? false)
      case .listRegions: reply = .regions(regions)
      case .getLocation: reply = .location(nil)
      default: reply = .done
      }
      return (reply.map { FakeService.frame($0) } ?? [], false)
    }
    session = LocationSession(
      ClientIdentity(
        name: "test", socket: service.path, needsExplicitSessions: needsExplicitSessions,
        hasBackgroundMode: true))
  }

  deinit { service.stop() }

  /// Makes the service close the connection.
  func closesNextCall() { session.change { $0.queue(OutgoingCall(call: .disallowDeferred)) } }

  /// Waits until the service has received this call.
  func received(_ call: WireCall) async -> Bool {
    await wait { self.service.calls.contains(call) }
  }
}

/// Waits up to 20 s until `condition` is true, without blocking a thread of the tests.
func wait(_ condition: () -> Bool) async -> Bool {
  for _ in 0..<20_000 {
    if condition() { return true }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return false
}

/// Records callbacks, and the thread on which they come.
final class Recorder: NSObject, CLLocationManagerDelegate, Sendable {
  let lines = Mutex<[String]>([])
  let threads = Mutex<Set<ObjectIdentifier>>([])
  /// Runs before `didUpdateLocations` returns.
  let onLocations: @Sendable () -> Void

  init(onLocations: @escaping @Sendable () -> Void = {}) { self.onLocations = onLocations }

  private func note(_ line: String) {
    lines.withLock { $0.append(line) }
    threads.withLock { _ = $0.insert(ObjectIdentifier(Thread.current)) }
  }

  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    note("authorization \(manager.authorizationStatus.rawValue)")
  }

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    let newest = manager.location.map { $0.coordinate.longitude * 1e9 }?.rounded()
    note("locations \(locations.count) \(Int(newest ?? -1))")
    onLocations()
  }

  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) { note("visit") }

  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    note("failed \((error as? CLError)?.code.rawValue ?? -1)")
  }

  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    note("started \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) {
    note("failed \(region?.identifier ?? "") \((error as? CLError)?.code.rawValue ?? -1)")
  }

  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    note("entered \(region.identifier)")
  }

  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    note("state \(state.rawValue)")
  }
}

/// A thread with a run loop, on which a test creates managers.
final class ManagerThread: Sendable {
  private let isOver = Mutex(false)
  /// Its thread.
  let identifier = Mutex<ObjectIdentifier?>(nil)

  /// Creates a manager with a delegate on a new thread, calls `start` there, and runs its run loop.
  init(
    _ session: LocationSession, _ delegate: Recorder,
    _ start: @escaping @Sendable (CLLocationManager) -> Void
  ) {
    let thread = Thread { [self] in
      identifier.withLock { $0 = ObjectIdentifier(Thread.current) }
      let manager = CLLocationManager(session: session)
      manager.delegate = delegate
      start(manager)
      while !isOver.withLock({ $0 }) {
        RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.02))
      }
      manager.stopUpdatingLocation()
    }
    thread.start()
  }

  func end() { isOver.withLock { $0 = true } }
}

func storedFix(_ sequence: UInt64) -> StoredFix {
  StoredFix(
    name: FixName(generation: 1, sequence: sequence),
    fix: Fix(
      acquired: Instant(seconds: Double(sequence)),
      coordinate: Coordinate(latitude_e9: 1, longitude_e9: Int64(sequence))))
}

@Suite("The session of a process", .tags(.realTime))
struct SessionTests {
  @Test(
    "STD-3, STD-6, STD-8: fixes come on the thread of the manager, `location` is the newest one")
  func delivery() async {
    let fake = FakeSession()
    let recorder = Recorder()
    let thread = ManagerThread(fake.session, recorder) { $0.startUpdatingLocation() }
    #expect(await fake.received(.startUpdating))
    fake.service.notify(.fixes([storedFix(1), storedFix(2)]))
    #expect(await wait { recorder.lines.withLock { $0.contains("locations 2 2") } })
    #expect(recorder.lines.withLock { $0.first } == "authorization 3")
    #expect(recorder.threads.withLock { $0 } == [thread.identifier.withLock { $0 }])
    #expect(await fake.received(.acknowledge(storedFix(2).name)))
    thread.end()
    #expect(await fake.received(.stopUpdating))
  }

  @Test("RNG-8: a fix is acknowledged only after the delegates of all managers have returned")
  func acknowledgement() async {
    let fake = FakeSession()
    let gate = DispatchSemaphore(value: 0)
    let quick = Recorder()
    let slow = Recorder { gate.wait() }
    let threads = [
      ManagerThread(fake.session, quick) { $0.startUpdatingLocation() },
      ManagerThread(fake.session, slow) { $0.startUpdatingLocation() },
    ]
    #expect(await fake.received(.startUpdating))
    // Both managers run before the fix arrives.
    #expect(
      await wait { fake.session.read { $0.demand.managers.values.count(where: \.isUpdating) } == 2 }
    )
    fake.service.notify(.fixes([storedFix(1)]))
    #expect(await wait { quick.lines.withLock { $0.contains("locations 1 1") } })
    #expect(await wait { slow.lines.withLock { $0.contains("locations 1 1") } })
    try? await Task.sleep(for: .milliseconds(50))
    #expect(!fake.service.calls.contains(.acknowledge(storedFix(1).name)))
    gate.signal()
    #expect(await fake.received(.acknowledge(storedFix(1).name)))
    for thread in threads { thread.end() }
  }

  @Test("REG-8, REG-11, REG-13: region events reach every manager, and are acknowledged afterwards")
  func regions() async {
    let home = WireRegion(
      .region, name: "home", center: Coordinate(latitude_e9: 0, longitude_e9: 0), radius: 100)
    let fake = FakeSession(regions: [WireMonitoredRegion(home, state: .unknown, lastEvent: nil)])
    #expect(
      await wait { fake.session.read { $0.regions["home"] } == home },
      "a region of an earlier process")
    let recorder = Recorder()
    let thread = ManagerThread(fake.session, recorder) { _ in }
    let time = FixTime(acquired: .boot, utc: nil)
    fake.service.notify(
      .region(WireRegionEvent(.region, name: "home", .entered(at: time)), number: 1))
    fake.service.notify(.region(WireRegionEvent(.region, name: "home", .determined(.inside))))
    #expect(await wait { recorder.lines.withLock { $0.suffix(2) == ["entered home", "state 1"] } })
    #expect(await fake.received(.acknowledgeEvents(1)))
    thread.end()
  }

  @Test("VIS-3: a visit is delivered to the manager that monitors visits, and acknowledged")
  func visit() async {
    let fake = FakeSession()
    let recorder = Recorder()
    let thread = ManagerThread(fake.session, recorder) { $0.startMonitoringVisits() }
    #expect(await fake.received(.startVisits))
    let visit = Visit(
      coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0), horizontalAccuracy: 5, arrival: nil)
    fake.service.notify(.visit(visit, number: 4))
    #expect(await wait { recorder.lines.withLock { $0.contains("visit") } })
    #expect(await fake.received(.acknowledgeEvents(4)))
    thread.end()
  }

  @Test("AUT-2: when another process becomes this client, loops throw and nothing reconnects")
  func takenOver() async {
    let fake = FakeSession()
    let loop = LiveLoop(.default, fake.session)
    let task = Task { try await loop.next() }
    #expect(await fake.received(.openLive(.default)))
    fake.service.notify(.takenOver)
    await #expect(throws: ClientError.takenOver) { try await task.value }
    let connections = fake.service.calls.count
    let second = LiveLoop(.fitness, fake.session)
    await #expect(throws: ClientError.takenOver) { try await second.next() }
    #expect(fake.service.calls.count == connections)
  }

  @Test("AUT-2: when another process has become this client, a call fails at once")
  func callAfterTakeover() async {
    let fake = FakeSession()
    #expect(await wait { fake.session.read { $0.phase } == .connected })
    fake.service.notify(.takenOver)
    #expect(await wait { fake.session.read { $0.phase } == .takenOver })
    let error = Mutex<ClientError?>(nil)
    fake.session.send(.requestAuthorization(.always)) { result in
      if case .failure(let failure) = result { error.withLock { $0 = failure } }
    }
    #expect(error.withLock { $0 } == .takenOver)
    #expect(fake.session.read { $0.outbox.isEmpty })
  }

  @Test("DEF-17: a deferral ends at its timeout without any notice", arguments: [true, false])
  func timeout(isConnected: Bool) async {
    let fake = FakeSession()
    let session =
      isConnected
      ? fake.session
      : LocationSession(
        ClientIdentity(
          name: "test", socket: "/nonexistent/socket", needsExplicitSessions: false,
          hasBackgroundMode: false))
    #expect(await wait { session.read { $0.phase } == (isConnected ? .connected : .absent) })
    session.change { state in
      for id in [1, 2] {
        state.demand.add(id)
        state.demand.start(id, at: .now)
      }
    }
    // The thread sleeps without a deadline, or until its next attempt to connect.
    try? await Task.sleep(for: .milliseconds(100))
    session.change {
      $0.demand.allowDeferred(1, distance: .infinity, timeout: 0.1, at: .now)
    }
    #expect(session.read { $0.demand.managers[1]?.deferral != nil })
    #expect(await wait { session.read { $0.demand.managers[1]?.deferral == nil } })
  }

  @Test("Calls that a program repeats while there is no service are kept once")
  func keptCalls() {
    var state = SessionState()
    state.phase = .absent
    for _ in 0..<10 {
      state.queue(OutgoingCall(call: .requestAuthorization(.always), isKept: true))
      state.queue(OutgoingCall(call: .requestRegionState(.region, name: "home"), isKept: true))
    }
    #expect(state.outbox.count == 2)
  }

  @Test("STD-1, STD-4: NaN is no accuracy and no distance, and is ignored")
  func settingsWithoutValue() {
    let manager = CLLocationManager(session: FakeSession().session)
    manager.desiredAccuracy = 10
    manager.desiredAccuracy = .nan
    manager.distanceFilter = .nan
    #expect(manager.desiredAccuracy == 10)
    #expect(manager.distanceFilter == kCLDistanceFilterNone)
  }

  @Test("LIV-2: a cancelled task gets nil, and the demand is removed")
  func cancellation() async throws {
    let fake = FakeSession()
    let task = Task {
      var count = 0
      for try await _ in CLLocationUpdate.Updates(configuration: .default, session: fake.session) {
        count += 1
      }
      return count
    }
    #expect(await fake.received(.openLive(.default)))
    task.cancel()
    #expect(try await task.value == 0)
    #expect(await fake.received(.closeLive(0)))
  }

  @Test("LIV-6, LIV-11: denial sets flags and does not throw")
  func denial() async throws {
    let fake = FakeSession()
    let loop = LiveLoop(.default, fake.session)
    let task = Task { try await loop.next().map { CLLocationUpdate($0) } }
    #expect(await fake.received(.openLive(.default)))
    fake.service.notify(
      .live(
        LiveElement(
          iterator: 0, location: nil, flags: .authorizationDenied, isStationary: false, dropped: 0))
    )
    let update = try await task.value
    #expect(update?.authorizationDenied == true && update?.location == nil)
  }

  @Test("BKG-8, BKG-10, BKG-17: sessions report what they lack, and end by a message of their own")
  func sessions() async throws {
    let fake = FakeSession()
    var service: CLServiceSession? = CLServiceSession(
      .always, requiresFullAccuracy: true, of: fake.session)
    #expect(await fake.received(.openServiceSession(.always, requiresFullAccuracy: true)))
    fake.service.notify(
      .session(
        0,
        SessionDiagnostics(
          flags: .empty, fullAccuracyDenied: true, alwaysAuthorizationDenied: false)))
    var diagnostics = service?.diagnostics.makeAsyncIterator()
    let diagnostic = try await diagnostics?.next()
    #expect(diagnostic?.fullAccuracyDenied == true)
    diagnostics = service?.diagnostics.makeAsyncIterator()
    #expect(try await diagnostics?.next()?.fullAccuracyDenied == true, "also a second loop")
    diagnostics = nil
    service = nil
    #expect(await fake.received(.closeServiceSession(0)))
    let background = CLBackgroundActivitySession(of: fake.session)
    for _ in 0..<2 {
      var reasons = background.diagnostics.makeAsyncIterator()
      #expect(try await reasons.next()?.insufficientlyInUse == true)
    }
    background.invalidate()
    var reasons = background.diagnostics.makeAsyncIterator()
    #expect(try await reasons.next() == nil)
  }

  @Test(
    "RNG-8: a manager whose thread is busy leaves fixes with the service, and gets all of them later"
  )
  func busyManager() async {
    let fake = FakeSession()
    let gate = DispatchSemaphore(value: 0)
    let recorder = Recorder()
    let thread = ManagerThread(fake.session, recorder) { manager in
      manager.startUpdatingLocation()
      gate.wait()
    }
    #expect(await fake.received(.startUpdating))
    let count = 3 * UInt64(ManagerMailbox.capacity)
    let sender = Task.detached {
      for sequence in 1...count {
        fake.service.notify(.paused)
        if sequence == count { fake.service.notify(.fixes([storedFix(sequence)])) }
      }
    }
    #expect(await wait { fake.session.read { $0.isFull } })
    try? await Task.sleep(for: .milliseconds(200))
    let pending = fake.session.read { $0.mailboxes.values.map(\.count).max() ?? 0 }
    #expect(pending <= 2 * ManagerMailbox.capacity)
    gate.signal()
    await sender.value
    #expect(await fake.received(.acknowledge(storedFix(count).name)))
    thread.end()
  }

  @Test("STD-2: a delegate that is set late gets the first authorization")
  func lateDelegate() async {
    let fake = FakeSession()
    let recorder = Recorder()
    let thread = ManagerThread(fake.session, recorder) { manager in
      manager.delegate = nil
      _ = manager.authorizationStatus
      RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.2))
      manager.delegate = recorder
    }
    #expect(await wait { recorder.lines.withLock { $0 == ["authorization 3"] } })
    thread.end()
  }

  @Test("an object of the program that ends with a manager may use the session")
  func endOfManager() async {
    let fake = FakeSession()
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread {
      let manager = CLLocationManager(session: fake.session)
      let user = SessionUser(fake.session, ended)
      manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "") { _ in
        withExtendedLifetime(user) {}
      }
    }
    thread.start()
    #expect(await wait { ended.wait(timeout: .now()) == .success })
  }

  @Test("REG-11, REG-13: the last event of a condition advances when the next one is requested")
  func monitor() async throws {
    let fake = FakeSession()
    let monitor = CLMonitor("doors", of: fake.session)
    let center = CLLocationCoordinate2D(latitude: 1, longitude: 2)
    await monitor.add(
      CLMonitor.CircularGeographicCondition(center: center, radius: 150), identifier: "home",
      assuming: .unsatisfied)
    let region = WireRegion(
      .condition, name: "doors/home",
      center: Coordinate(latitude_e9: 1_000_000_000, longitude_e9: 2_000_000_000), radius: 150)
    #expect(await fake.received(.addRegion(region, assuming: .unsatisfied)))
    #expect(await monitor.identifiers == ["home"])
    #expect(await monitor.record(for: "home")?.lastEvent.state == .unsatisfied)
    let time = FixTime(acquired: .boot, utc: nil)
    for (number, state) in [(1, MonitorState.satisfied), (2, .unsatisfied)]
      as [(UInt32, MonitorState)]
    {
      fake.service.notify(
        .region(
          WireRegionEvent(.condition, name: "doors/home", .monitor(state, nil, at: time)),
          number: number))
    }
    var events = await monitor.events.makeAsyncIterator()
    #expect(try await events.next()?.state == .satisfied)
    #expect(!fake.service.calls.contains(.acknowledgeEvents(1)))
    #expect(try await events.next()?.state == .unsatisfied)
    #expect(await fake.received(.acknowledgeEvents(1)))
    #expect(await monitor.record(for: "home")?.lastEvent.state == .satisfied)
    await monitor.remove("home")
    #expect(await fake.received(.removeRegion(.condition, name: "doors/home")))
    #expect(await monitor.record(for: "home") == nil)
  }
}

/// An object of a program whose end uses the session.
private final class SessionUser: Sendable {
  private let session: LocationSession
  private let ended: DispatchSemaphore

  init(_ session: LocationSession, _ ended: DispatchSemaphore) {
    self.session = session
    self.ended = ended
  }

  deinit {
    session.send(.requestAuthorization(.always))
    ended.signal()
  }
}
