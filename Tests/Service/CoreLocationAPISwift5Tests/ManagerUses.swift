import CoreLocation
import CoreLocation.CLLocationManager
import CoreLocation.CLLocationManagerDelegate
import Testing

// Every public symbol of managers, monitors, live updates and sessions, used as Apple documents it. Functions that
// would connect to the service are compiled and not called; see ValueUses.swift for the two modes.

/// A delegate with every method.
private final class FullDelegate: NSObject, CLLocationManagerDelegate {
  var calls: [String] = []

  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    // As in Apple's "Using the Significant-Change Location Service".
    let lastLocation = locations.last!
    calls.append("locations \(lastLocation.coordinate.latitude)")
  }
  func locationManager(_ manager: CLLocationManager, didUpdateHeading newHeading: CLHeading) {
    calls.append("heading")
  }
  func locationManagerShouldDisplayHeadingCalibration(_ manager: CLLocationManager) -> Bool {
    true
  }
  func locationManager(
    _ manager: CLLocationManager, didDetermineState state: CLRegionState, for region: CLRegion
  ) {
    calls.append("state \(state.rawValue) \(region.identifier)")
  }
  func locationManager(
    _ manager: CLLocationManager, didRange beacons: [CLBeacon],
    satisfying beaconConstraint: CLBeaconIdentityConstraint
  ) {
    calls.append("ranged")
  }
  func locationManager(
    _ manager: CLLocationManager, didFailRangingFor beaconConstraint: CLBeaconIdentityConstraint,
    error: any Error
  ) {
    calls.append("ranging failed")
  }
  func locationManager(
    _ manager: CLLocationManager, didRangeBeacons beacons: [CLBeacon], in region: CLBeaconRegion
  ) {
    calls.append("ranged region")
  }
  func locationManager(
    _ manager: CLLocationManager, rangingBeaconsDidFailFor region: CLBeaconRegion,
    withError error: any Error
  ) {
    calls.append("ranging of region failed")
  }
  func locationManager(_ manager: CLLocationManager, didEnterRegion region: CLRegion) {
    calls.append("entered \(region.identifier)")
  }
  func locationManager(_ manager: CLLocationManager, didExitRegion region: CLRegion) {
    calls.append("left \(region.identifier)")
  }
  func locationManager(_ manager: CLLocationManager, didFailWithError error: any Error) {
    if let error = error as? CLError, error.code == .denied {
      manager.stopMonitoringSignificantLocationChanges()
      return
    }
    calls.append("failed")
  }
  func locationManager(
    _ manager: CLLocationManager, monitoringDidFailFor region: CLRegion?,
    withError error: any Error
  ) {
    calls.append("monitoring failed \(region?.identifier ?? "")")
  }
  func locationManager(
    _ manager: CLLocationManager, didChangeAuthorization status: CLAuthorizationStatus
  ) {
    calls.append("status \(status.rawValue)")
  }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    calls.append("authorization")
  }
  func locationManager(_ manager: CLLocationManager, didStartMonitoringFor region: CLRegion) {
    calls.append("monitoring")
  }
  func locationManagerDidPauseLocationUpdates(_ manager: CLLocationManager) {
    calls.append("paused")
  }
  func locationManagerDidResumeLocationUpdates(_ manager: CLLocationManager) {
    calls.append("resumed")
  }
  func locationManager(
    _ manager: CLLocationManager, didFinishDeferredUpdatesWithError error: (any Error)?
  ) {
    calls.append("finished")
    // The headline: the next deferral begins when the last one ended.
    manager.allowDeferredLocationUpdates(untilTraveled: CLLocationDistanceMax, timeout: 600)
  }
  func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    calls.append("visit")
  }
}

/// A delegate without any method: all have defaults.
private final class EmptyDelegate: NSObject, CLLocationManagerDelegate {}

/// A delegate on the main actor, as an app for Swift 6 declares it.
@MainActor private final class Model: NSObject, @preconcurrency CLLocationManagerDelegate {
  private let manager = CLLocationManager()
  private(set) var last: CLLocation?

  func start() {
    manager.delegate = self
    manager.startUpdatingLocation()
  }
  func locationManager(_ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]) {
    last = locations.last
  }
  func locationManagerDidChangeAuthorization(_ manager: CLLocationManager) {
    if manager.authorizationStatus == .notDetermined { manager.requestAlwaysAuthorization() }
  }
}

/// The same with methods that are not isolated, and that send what they received to the main actor.
@MainActor private final class NonisolatedModel: NSObject, CLLocationManagerDelegate {
  private(set) var last: CLLocation?

  nonisolated func locationManager(
    _ manager: CLLocationManager, didUpdateLocations locations: [CLLocation]
  ) {
    Task { @MainActor in last = locations.last }
  }
  nonisolated func locationManager(_ manager: CLLocationManager, didVisit visit: CLVisit) {
    MainActor.assumeIsolated {
      last = CLLocation(latitude: visit.coordinate.latitude, longitude: 0)
    }
  }
}

/// A mock, as programs declare it for their tests: it overrides every member.
private class MockManager: CLLocationManager {
  var started = false
  var accuracy = kCLLocationAccuracyBest

  override init() { super.init() }

  override var delegate: (any CLLocationManagerDelegate)? {
    get { super.delegate }
    set { super.delegate = newValue }
  }
  override var location: CLLocation? { CLLocation(latitude: 1, longitude: 2) }
  override var heading: CLHeading? { CLHeading() }
  override var authorizationStatus: CLAuthorizationStatus { .authorizedAlways }
  override var accuracyAuthorization: CLAccuracyAuthorization { .fullAccuracy }
  override var isAuthorizedForWidgetUpdates: Bool { true }
  override var desiredAccuracy: CLLocationAccuracy {
    get { accuracy }
    set { accuracy = newValue }
  }
  override var distanceFilter: CLLocationDistance {
    get { 5 }
    set {}
  }
  override var activityType: CLActivityType {
    get { .fitness }
    set {}
  }
  override var pausesLocationUpdatesAutomatically: Bool {
    get { false }
    set {}
  }
  override var allowsBackgroundLocationUpdates: Bool {
    get { true }
    set {}
  }
  override var showsBackgroundLocationIndicator: Bool {
    get { true }
    set {}
  }
  override var headingFilter: CLLocationDegrees {
    get { 1 }
    set {}
  }
  override var headingOrientation: CLDeviceOrientation {
    get { .portrait }
    set {}
  }
  override var monitoredRegions: Set<CLRegion> { [] }
  override var rangedRegions: Set<CLRegion> { [] }
  override var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { [] }
  override var maximumRegionMonitoringDistance: CLLocationDistance { 1 }
  override class func locationServicesEnabled() -> Bool { true }
  override class func authorizationStatus() -> CLAuthorizationStatus { .denied }
  override class func deferredLocationUpdatesAvailable() -> Bool { true }
  override class func significantLocationChangeMonitoringAvailable() -> Bool { true }
  override class func headingAvailable() -> Bool { true }
  override class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool { true }
  override class func isRangingAvailable() -> Bool { true }
  override func requestWhenInUseAuthorization() {}
  override func requestAlwaysAuthorization() {}
  override func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    completion?(nil)
  }
  override func startUpdatingLocation() { started = true }
  override func stopUpdatingLocation() { started = false }
  override func requestLocation() {
    delegate?.locationManager?(self, didUpdateLocations: [location!])
  }
  override func startUpdatingHeading() {}
  override func stopUpdatingHeading() {}
  override func dismissHeadingCalibrationDisplay() {}
  override func startMonitoringSignificantLocationChanges() {}
  override func stopMonitoringSignificantLocationChanges() {}
  override func startMonitoringVisits() {}
  override func stopMonitoringVisits() {}
  override func startMonitoring(for region: CLRegion) {}
  override func stopMonitoring(for region: CLRegion) {}
  override func requestState(for region: CLRegion) {}
  override func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}
  override func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}
  override func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {}
  override func disallowDeferredLocationUpdates() {}
}

/// Uses of a manager. Compiled, not called.
private func useManager(_ delegate: any CLLocationManagerDelegate) {
  let manager = CLLocationManager()
  manager.delegate = delegate
  manager.desiredAccuracy = kCLLocationAccuracyBest
  manager.distanceFilter = kCLDistanceFilterNone
  manager.activityType = .fitness
  manager.pausesLocationUpdatesAutomatically = true
  manager.allowsBackgroundLocationUpdates = true
  manager.showsBackgroundLocationIndicator = false
  manager.headingFilter = kCLHeadingFilterNone
  manager.headingOrientation = .portrait
  switch manager.authorizationStatus {
  case .notDetermined: manager.requestWhenInUseAuthorization()
  case .authorizedWhenInUse: manager.requestAlwaysAuthorization()
  case .authorizedAlways: break
  case .restricted, .denied: return
  @unknown default: return
  }
  if manager.accuracyAuthorization == .reducedAccuracy {
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "trail")
    manager.requestTemporaryFullAccuracyAuthorization(withPurposeKey: "trail") { error in
      if let error = error as? CLError, error.code == .promptDeclined { return }
    }
  }
  if !CLLocationManager.locationServicesEnabled() { return }
  manager.startUpdatingLocation()
  manager.requestLocation()
  if CLLocationManager.deferredLocationUpdatesAvailable() {
    manager.allowDeferredLocationUpdates(untilTraveled: 1_000, timeout: CLTimeIntervalMax)
    manager.disallowDeferredLocationUpdates()
  }
  manager.stopUpdatingLocation()
  if CLLocationManager.significantLocationChangeMonitoringAvailable() {
    manager.startMonitoringSignificantLocationChanges()
    manager.stopMonitoringSignificantLocationChanges()
  }
  manager.startMonitoringVisits()
  manager.stopMonitoringVisits()
  if CLLocationManager.headingAvailable() {
    manager.startUpdatingHeading()
    manager.stopUpdatingHeading()
    manager.dismissHeadingCalibrationDisplay()
  }
  _ = (manager.location, manager.heading, manager.isAuthorizedForWidgetUpdates)
}

/// Uses of regions. Compiled, not called.
private func useRegions(_ manager: CLLocationManager) {
  if CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self) {
    let region = CLCircularRegion(
      center: CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777),
      radius: min(150, manager.maximumRegionMonitoringDistance), identifier: "gate")
    region.notifyOnEntry = true
    manager.startMonitoring(for: region)
    manager.requestState(for: region)
  }
  for region in manager.monitoredRegions { manager.stopMonitoring(for: region) }
  if CLLocationManager.isRangingAvailable() {
    let constraint = CLBeaconIdentityConstraint(uuid: UUID())
    manager.startRangingBeacons(satisfying: constraint)
    manager.stopRangingBeacons(satisfying: constraint)
  }
  _ = manager.rangedBeaconConstraints
}

/// Uses of live updates. Compiled, not called.
private func useLiveUpdates() async throws {
  let background = CLBackgroundActivitySession()
  defer { background.invalidate() }
  let updates: CLLocationUpdate.Updates = CLLocationUpdate.liveUpdates()
  for try await update in updates {
    if let location = update.location { print(location.coordinate.latitude) }
    if update.stationary { break }
    let reasons = [
      update.accuracyLimited, update.authorizationDenied, update.authorizationDeniedGlobally,
      update.authorizationRequestInProgress, update.authorizationRestricted,
      update.insufficientlyInUse, update.locationUnavailable, update.serviceSessionRequired,
    ]
    if reasons.contains(true) { break }
  }
  for try await update in CLLocationUpdate.liveUpdates(.fitness) {
    print(update.location?.speed ?? -1)
    break
  }
  var iterator: CLLocationUpdate.Updates.Iterator =
    CLLocationUpdate.liveUpdates(.airborne).makeAsyncIterator()
  _ = try await iterator.next()
  let speeds = CLLocationUpdate.liveUpdates().compactMap { $0.location?.speed }.filter { $0 > 1 }
  for try await _ in speeds { break }
}

/// Uses of a monitor. Compiled, not called.
private func useMonitor() async throws {
  let monitor = await CLMonitor("gates")
  let circle = CLMonitor.CircularGeographicCondition(
    center: CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777), radius: 150)
  await monitor.add(circle, identifier: "gate")
  await monitor.add(circle, identifier: "other gate", assuming: .unsatisfied)
  await monitor.add(
    CLMonitor.BeaconIdentityCondition(uuid: UUID(), major: 1, minor: 2), identifier: "desk")
  for identifier in await monitor.identifiers {
    guard let record = await monitor.record(for: identifier) else { continue }
    let condition: any CLCondition = record.condition
    if let circle = condition as? CLMonitor.CircularGeographicCondition { print(circle.radius) }
    let lastEvent: CLMonitor.Event = record.lastEvent
    print(lastEvent.date, lastEvent.identifier, lastEvent.refinement as Any)
  }
  for try await event in await monitor.events {
    switch event.state {
    case .satisfied: print("inside", event.identifier)
    case .unsatisfied: print("outside", event.identifier)
    case .unknown, .unmonitored: break
    @unknown default: break
    }
    let reasons = [
      event.accuracyLimited, event.authorizationDenied, event.authorizationDeniedGlobally,
      event.authorizationRequestInProgress, event.authorizationRestricted,
      event.conditionLimitExceeded, event.conditionUnsupported, event.insufficientlyInUse,
      event.persistenceUnavailable, event.serviceSessionRequired,
    ]
    if reasons.contains(true) { break }
  }
  await monitor.remove("gate")
}

/// Uses of service sessions and background sessions. Compiled, not called.
private func useSessions() async throws {
  let session = CLServiceSession(authorization: .whenInUse)
  let precise = CLServiceSession(authorization: .always, fullAccuracyPurposeKey: "trail")
  for try await diagnostic in session.diagnostics {
    let reasons = [
      diagnostic.alwaysAuthorizationDenied, diagnostic.authorizationDenied,
      diagnostic.authorizationDeniedGlobally, diagnostic.authorizationRequestInProgress,
      diagnostic.authorizationRestricted, diagnostic.fullAccuracyDenied,
      diagnostic.insufficientlyInUse, diagnostic.serviceSessionRequired,
    ]
    if reasons.contains(true) { break }
  }
  precise.invalidate()
  let background = CLBackgroundActivitySession()
  for try await diagnostic in background.diagnostics {
    let reasons = [
      diagnostic.authorizationDenied, diagnostic.authorizationDeniedGlobally,
      diagnostic.authorizationRequestInProgress, diagnostic.authorizationRestricted,
      diagnostic.insufficientlyInUse, diagnostic.serviceSessionRequired,
    ]
    if reasons.contains(true) { break }
  }
  background.invalidate()
  try await CLLocationManager().requestTemporaryFullAccuracyAuthorization(withPurposeKey: "trail")
}

/// An actor that owns sessions and a task, and a task group: what Swift 6 checks for isolation.
private actor Tracker {
  private var session: CLServiceSession?
  private var distance: CLLocationDistance = 0
  private var last: CLLocation?

  func track() async throws {
    session = CLServiceSession(authorization: .always)
    for try await update in CLLocationUpdate.liveUpdates(.otherNavigation) {
      guard let location = update.location else { continue }
      if let last { distance += location.distance(from: last) }
      last = location
    }
  }

  func stop() { session?.invalidate() }
}

/// Compiled, not called.
@MainActor private func useOnMainActor() async throws {
  let model = Model()
  model.start()
  let monitor = await CLMonitor("main")
  let task = Task {
    for try await event in await monitor.events { print(event.identifier) }
  }
  for try await update in CLLocationUpdate.liveUpdates() where update.location != nil { break }
  task.cancel()
}

private func requireSendable<T: Sendable>(_ type: T.Type) {}

@Suite("Core Location's services as Apple documents them")
struct ManagerUses {
  /// Calls each method of a delegate as an optional one.
  private func callAll(_ delegate: (any CLLocationManagerDelegate)?, _ manager: CLLocationManager) {
    let region = CLCircularRegion(center: CLLocationCoordinate2D(), radius: 1, identifier: "a")
    let beacons = CLBeaconRegion(uuid: UUID(), identifier: "b")
    let constraint = beacons.beaconIdentityConstraint
    let error = CLError(.network)
    delegate?.locationManager?(
      manager, didUpdateLocations: [CLLocation(latitude: 1, longitude: 2)])
    delegate?.locationManager?(manager, didUpdateHeading: CLHeading())
    _ = delegate?.locationManagerShouldDisplayHeadingCalibration?(manager)
    delegate?.locationManager?(manager, didDetermineState: .inside, for: region)
    delegate?.locationManager?(manager, didRange: [], satisfying: constraint)
    delegate?.locationManager?(manager, didFailRangingFor: constraint, error: error)
    delegate?.locationManager?(manager, didRangeBeacons: [], in: beacons)
    delegate?.locationManager?(manager, rangingBeaconsDidFailFor: beacons, withError: error)
    delegate?.locationManager?(manager, didEnterRegion: region)
    delegate?.locationManager?(manager, didExitRegion: region)
    delegate?.locationManager?(manager, didFailWithError: error)
    delegate?.locationManager?(manager, monitoringDidFailFor: region, withError: error)
    delegate?.locationManager?(manager, didChangeAuthorization: .denied)
    delegate?.locationManagerDidChangeAuthorization?(manager)
    delegate?.locationManager?(manager, didStartMonitoringFor: region)
    delegate?.locationManagerDidPauseLocationUpdates?(manager)
    delegate?.locationManagerDidResumeLocationUpdates?(manager)
    delegate?.locationManager?(manager, didFinishDeferredUpdatesWithError: nil)
    delegate?.locationManager?(manager, didVisit: CLVisit())
  }

  @Test("every delegate method can be called as an optional one")
  func optionalCalls() {
    let delegate = FullDelegate()
    let manager = MockManager()
    callAll(delegate, manager)
    #expect(
      delegate.calls == [
        "locations 1.0", "heading", "state 1 a", "ranged", "ranging failed", "ranged region",
        "ranging of region failed", "entered a", "left a", "failed", "monitoring failed a",
        "status 2", "authorization", "monitoring", "paused", "resumed", "finished", "visit",
      ])
    callAll(EmptyDelegate(), manager)
    callAll(nil, manager)
  }

  @Test("a subclass replaces the members of a manager")
  func mocks() {
    let mock = MockManager()
    let manager: CLLocationManager = mock
    let delegate = FullDelegate()
    manager.delegate = delegate
    #expect(manager.delegate === delegate)
    manager.startUpdatingLocation()
    manager.desiredAccuracy = kCLLocationAccuracyKilometer
    manager.requestLocation()
    #expect(mock.started && mock.accuracy == 1_000)
    #expect(delegate.calls == ["locations 1.0"])
    #expect(manager.authorizationStatus == .authorizedAlways)
    #expect(MockManager.locationServicesEnabled())
  }

  @Test("services that no board has are not available")
  func availability() {
    #expect(!CLLocationManager.headingAvailable())
    #expect(!CLLocationManager.isRangingAvailable())
    #expect(CLLocationManager.isMonitoringAvailable(for: CLCircularRegion.self))
    #expect(!CLLocationManager.isMonitoringAvailable(for: CLBeaconRegion.self))
    #expect(CLLocationManager.significantLocationChangeMonitoringAvailable())
  }

  @Test("LIV-8, REG-10, BKG-12: the nested enumerations have Apple's raw values")
  func enumerations() {
    let configurations: [CLLocationUpdate.LiveConfiguration] = [
      .default, .automotiveNavigation, .otherNavigation, .fitness, .airborne,
    ]
    #expect(configurations.map(\.rawValue) == [0, 1, 2, 3, 4])
    let states: [CLMonitor.Event.State] = [.unknown, .satisfied, .unsatisfied, .unmonitored]
    #expect(states.map(\.rawValue) == [0, 1, 2, 3])
    let requirements: [CLServiceSession.AuthorizationRequirement] = [.none, .whenInUse, .always]
    #expect(requirements.map(\.rawValue) == [0, 1, 2])
  }

  @Test("conditions can be encoded")
  func conditions() throws {
    let circle = CLMonitor.CircularGeographicCondition(
      center: CLLocationCoordinate2D(latitude: 52.5163, longitude: 13.3777), radius: 150)
    let data = try JSONEncoder().encode(circle)
    let read = try JSONDecoder().decode(CLMonitor.CircularGeographicCondition.self, from: data)
    #expect(read.center.longitude == 13.3777 && read.radius == 150)
    let uuid = UUID()
    let beacon = CLMonitor.BeaconIdentityCondition(uuid: uuid, major: 1)
    #expect(beacon.uuid == uuid && beacon.major == 1 && beacon.minor == nil)
    #expect(CLMonitor.BeaconIdentityCondition(uuid: uuid).major == nil)
    let condition: any CLCondition & Codable & Sendable = beacon
    #expect(condition is CLMonitor.BeaconIdentityCondition)
  }

  @Test("updates, events and sessions can be sent to other threads")
  func sendable() {
    requireSendable(CLLocationUpdate.self)
    requireSendable(CLLocationUpdate.Updates.self)
    requireSendable(CLLocationUpdate.LiveConfiguration.self)
    requireSendable(CLMonitor.self)
    requireSendable(CLMonitor.Event.self)
    requireSendable(CLMonitor.Events.self)
    requireSendable(CLMonitor.Record.self)
    requireSendable(CLMonitor.CircularGeographicCondition.self)
    requireSendable(CLMonitor.BeaconIdentityCondition.self)
    requireSendable(CLServiceSession.self)
    requireSendable(CLServiceSession.Diagnostic.self)
    requireSendable(CLBackgroundActivitySession.self)
    requireSendable(CLBackgroundActivitySession.Diagnostic.self)
  }

  @Test("the functions above are compiled, not called")
  func compiled() {
    _ = (useManager, useRegions, useLiveUpdates, useMonitor, useSessions, useOnMainActor)
    _ = (Tracker.self, NonisolatedModel.self)
  }
}
