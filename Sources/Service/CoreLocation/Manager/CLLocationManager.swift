import Foundation
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

/// Starts and stops the services of the location service, and calls a delegate with their results.
///
/// All managers of a process are one client of the service: their demands are merged, and each manager gets what it
/// asked for. Create a manager on a thread with a run loop; the delegate is called there. Every member can be
/// overridden. Source: Apple's documentation of `CLLocationManager`.
open class CLLocationManager: NSObject {
  private let session: LocationSession
  // Assigned once, at the end of the initialiser.
  private var id: MergedDemand.ManagerID = 0
  private var settings = ManagerDemand()
  private let delegateReference = DelegateReference()

  /// Creates a manager with Core Location's default settings (STD-2).
  public override init() {
    session = .shared
    super.init()
    id = session.addManager(self)
  }

  /// Creates a manager of another session, for tests.
  init(session: LocationSession) {
    self.session = session
    super.init()
    id = session.addManager(self)
  }

  deinit { session.removeManager(id) }

  // MARK: Delegate and location

  /// The object that receives the results; not retained.
  ///
  /// A delegate that is set after the callback of the first authorization was due gets it then.
  open var delegate: (any CLLocationManagerDelegate)? {
    get { delegateReference.delegate }
    set {
      guard delegateReference.set(newValue) else { return }
      session.change { [id] in $0.mailboxes[id]?.post(.delivery(.authorization)) }
    }
  }

  /// The newest location that was delivered to this process (STD-8); nil if there is none.
  open var location: CLLocation? {
    session.read { $0.location }.map { CLLocation($0) }
  }

  // MARK: Authorization

  /// Whether the process may use location (AUT-1).
  open var authorizationStatus: CLAuthorizationStatus { session.authorizationStatus }

  /// Whether the process gets precise locations (AUT-5).
  open var accuracyAuthorization: CLAccuracyAuthorization {
    session.read { $0.demand.isReduced } ? .reducedAccuracy : .fullAccuracy
  }

  /// Whether widgets may use location: false.
  open var isAuthorizedForWidgetUpdates: Bool { false }

  /// Requests the use of location while the process is in use; an administrator decides (AUT-4, AUT-7).
  open func requestWhenInUseAuthorization() { session.send(.requestAuthorization(.whenInUse)) }

  /// Requests the use of location at any time; an administrator decides (AUT-4, AUT-7).
  open func requestAlwaysAuthorization() { session.send(.requestAuthorization(.always)) }

  /// Requests precise locations for a while; fails with `promptDeclined`, because nobody can be prompted.
  ///
  /// Apple documents the same error for a program that already has full accuracy.
  open func requestTemporaryFullAccuracyAuthorization(
    withPurposeKey purposeKey: String, completion: (((any Error)?) -> Void)? = nil
  ) {
    let answer = Transferred(value: completion)
    post { _ in answer.value?(CLError(.promptDeclined)) }
  }

  /// Requests precise locations for a while; throws `promptDeclined`, because nobody can be prompted.
  open func requestTemporaryFullAccuracyAuthorization(withPurposeKey purposeKey: String)
    async throws
  {
    throw CLError(.promptDeclined)
  }

  // MARK: Availability

  /// Whether this board has a service of location that runs.
  open class func locationServicesEnabled() -> Bool {
    LocationSession.shared.read { $0.phase == .connected }
  }

  /// Whether the process may use location (AUT-1).
  open class func authorizationStatus() -> CLAuthorizationStatus {
    LocationSession.shared.authorizationStatus
  }

  /// Whether updates can be deferred (DEF-7).
  open class func deferredLocationUpdatesAvailable() -> Bool {
    LocationSession.shared.read { $0.demand.isDeferralAvailable }
  }

  /// Whether significant changes can be monitored (SLC-6).
  open class func significantLocationChangeMonitoringAvailable() -> Bool { true }

  /// Whether there is a compass: false.
  open class func headingAvailable() -> Bool { false }

  /// Whether regions of a class can be monitored: true for ``CLCircularRegion``.
  open class func isMonitoringAvailable(for regionClass: AnyClass) -> Bool {
    regionClass is CLCircularRegion.Type
  }

  /// Whether beacons can be ranged: false (REG-14).
  open class func isRangingAvailable() -> Bool { false }

  /// Whether regions can be monitored: true.
  open class func regionMonitoringAvailable() -> Bool { true }

  /// Whether regions can be monitored: true.
  open class func regionMonitoringEnabled() -> Bool { true }

  // MARK: Settings

  /// Desired accuracy, metres, or a constant (STD-1); NaN is ignored.
  open var desiredAccuracy: CLLocationAccuracy {
    get { settings.settings.desiredAccuracy }
    set { if !newValue.isNaN { change { $0.settings.desiredAccuracy = newValue } } }
  }

  /// Metres between two deliveries; ``kCLDistanceFilterNone`` for every location (STD-4); NaN is ignored.
  open var distanceFilter: CLLocationDistance {
    get { settings.settings.distanceFilter }
    set { if !newValue.isNaN { change { $0.settings.distanceFilter = newValue } } }
  }

  /// Activity of the user, which determines when updates pause (PAU-6).
  open var activityType: CLActivityType {
    get { CLActivityType(rawValue: Int(settings.activity.rawValue)) ?? .other }
    set { change { $0.activity = ActivityType(newValue) } }
  }

  /// Whether updates pause while the device does not move (PAU-1). They pause only if all managers allow it.
  open var pausesLocationUpdatesAutomatically: Bool {
    get { settings.pausesAutomatically }
    set { change { $0.pausesAutomatically = newValue } }
  }

  /// Whether updates continue in the background, and may be deferred there (BKG-18, DEF-28).
  ///
  /// `Info.plist` beside the executable must have `location` in `UIBackgroundModes`; otherwise a line on standard error
  /// says so, and the value has no effect.
  open var allowsBackgroundLocationUpdates: Bool {
    get { settings.allowsBackground }
    set {
      if newValue, !session.identity.hasBackgroundMode { session.messages.reportMissingMode() }
      let isEffective = newValue && session.identity.hasBackgroundMode
      settings.allowsBackground = newValue
      session.change { [id] in
        $0.demand.change(id, at: .now) { $0.allowsBackground = isEffective }
      }
    }
  }

  /// Whether an indicator shows that location is used in the background; without effect.
  open var showsBackgroundLocationIndicator = false

  private func change(_ change: @Sendable (inout ManagerDemand) -> Void) {
    change(&settings)
    session.change { [id] in $0.demand.change(id, at: .now, change) }
  }

  // MARK: Standard updates

  /// Starts updates (STD-3).
  open func startUpdatingLocation() { session.change { [id] in $0.demand.start(id, at: .now) } }

  /// Stops updates (DEF-37).
  open func stopUpdatingLocation() { session.change { [id] in $0.demand.stop(id, at: .now) } }

  /// Requests one location or one error (STD-11).
  open func requestLocation() { session.change { [id] in $0.demand.request(id, at: .now) } }

  /// Defers updates until the device has travelled `distance` metres or `timeout` seconds have passed (section DEF).
  ///
  /// Updates are deferred while the process is in the background: the service then counts it as such while
  /// ``allowsBackgroundLocationUpdates`` is set and all running managers defer.
  open func allowDeferredLocationUpdates(
    untilTraveled distance: CLLocationDistance, timeout: TimeInterval
  ) {
    session.change { [id] in
      $0.demand.allowDeferred(id, distance: distance, timeout: timeout, at: .now)
    }
  }

  /// Ends the deferral with `deferredCanceled`; without one it does nothing (DEF-15).
  open func disallowDeferredLocationUpdates() {
    session.change { [id] in $0.demand.disallowDeferred(id, at: .now) }
  }

  // MARK: Significant changes and visits

  /// Starts reports of movements of 500 m or more (section SLC).
  open func startMonitoringSignificantLocationChanges() {
    session.change { [id] in $0.demand.setSignificantChange(id, true) }
  }

  /// Stops these reports.
  open func stopMonitoringSignificantLocationChanges() {
    session.change { [id] in $0.demand.setSignificantChange(id, false) }
  }

  /// Starts reports of visits (section VIS).
  open func startMonitoringVisits() { session.change { [id] in $0.demand.setVisits(id, true) } }

  /// Stops these reports.
  open func stopMonitoringVisits() { session.change { [id] in $0.demand.setVisits(id, false) } }

  // MARK: Regions

  /// Greatest radius of a region, metres (REG-3).
  open var maximumRegionMonitoringDistance: CLLocationDistance {
    RegionLimits.standard.maximumRadius
  }

  /// The regions of the process, shared by all managers, with those of earlier processes (REG-1).
  open var monitoredRegions: Set<CLRegion> {
    Set(session.read { $0.regions.values.map { $0 } }.map { CLCircularRegion($0) })
  }

  /// Monitors a region; replaces one with the same identifier (REG-1).
  open func startMonitoring(for region: CLRegion) {
    guard let circle = region as? CLCircularRegion, let wire = WireRegion(circle) else {
      let failed = Transferred(value: region)
      return post { manager in
        manager.delegate?.locationManager(
          manager, monitoringDidFailFor: failed.value, withError: CLError(.regionMonitoringFailure))
      }
    }
    session.startMonitoring(wire, for: id)
  }

  /// Monitors a region; the accuracy has no effect.
  open func startMonitoring(for region: CLRegion, desiredAccuracy accuracy: CLLocationAccuracy) {
    startMonitoring(for: region)
  }

  /// Ends the monitoring of the region with that identifier.
  open func stopMonitoring(for region: CLRegion) { session.stopMonitoring(region.identifier) }

  /// Requests the state of a region, which `didDetermineState` reports once (REG-7).
  open func requestState(for region: CLRegion) {
    session.requestState(region.identifier, for: id)
  }

  // MARK: Beacons (REG-14)

  /// Regions in which beacons are ranged: none.
  open var rangedRegions: Set<CLRegion> { [] }

  /// Identities of beacons that are ranged: none.
  open var rangedBeaconConstraints: Set<CLBeaconIdentityConstraint> { [] }

  /// Fails with `rangingUnavailable`, because no board detects beacons.
  open func startRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {
    post { manager in
      manager.delegate?.locationManager(
        manager, didFailRangingFor: constraint, error: CLError(.rangingUnavailable))
    }
  }

  /// Does nothing.
  open func stopRangingBeacons(satisfying constraint: CLBeaconIdentityConstraint) {}

  /// Fails with `rangingUnavailable`, because no board detects beacons.
  open func startRangingBeacons(in region: CLBeaconRegion) {
    let failed = Transferred(value: region)
    post { manager in
      manager.delegate?.locationManager(
        manager, rangingBeaconsDidFailFor: failed.value, withError: CLError(.rangingUnavailable))
    }
  }

  /// Does nothing.
  open func stopRangingBeacons(in region: CLBeaconRegion) {}

  // MARK: Heading

  /// The newest heading: nil, because no board has a compass.
  open var heading: CLHeading? { nil }

  /// Degrees between two headings; without effect.
  open var headingFilter: CLLocationDegrees = 1

  /// Orientation of the device; without effect.
  open var headingOrientation = CLDeviceOrientation.portrait

  /// Fails with `headingFailure`, because no board has a compass.
  open func startUpdatingHeading() {
    post { manager in
      manager.delegate?.locationManager(manager, didFailWithError: CLError(.headingFailure))
    }
  }

  /// Does nothing.
  open func stopUpdatingHeading() {}

  /// Does nothing.
  open func dismissHeadingCalibrationDisplay() {}

  // MARK: Delivery

  /// Calls `action` on the manager's thread, in the order of its other callbacks.
  private func post(_ action: @escaping @Sendable (CLLocationManager) -> Void) {
    session.change { [id] in $0.mailboxes[id]?.post(.action(action)) }
  }

  /// Calls the delegate; on the manager's thread.
  final func receive(_ item: MailboxItem) {
    switch item {
    case .delivery(let delivery): receive(delivery)
    case .region(let event, let region, _): receive(event, of: region)
    case .action(let action): action(self)
    }
  }

  private func receive(_ delivery: MergedDemand.Delivery) {
    if case .authorization = delivery, delegate == nil, delegateReference.missAuthorization() {
      return
    }
    guard let delegate else { return }
    switch delivery {
    case .fixes(let fixes, _):
      delegate.locationManager(self, didUpdateLocations: fixes.map { CLLocation($0) })
    case .finished(let code):
      delegate.locationManager(self, didFinishDeferredUpdatesWithError: code.map { CLError($0) })
    case .paused: delegate.locationManagerDidPauseLocationUpdates(self)
    case .resumed: delegate.locationManagerDidResumeLocationUpdates(self)
    case .failure(let code): delegate.locationManager(self, didFailWithError: CLError(code))
    case .visit(let visit, _): delegate.locationManager(self, didVisit: CLVisit(visit))
    case .authorization: delegate.locationManagerDidChangeAuthorization(self)
    }
  }

  private func receive(_ event: WireRegionEvent, of region: WireRegion?) {
    guard let delegate else { return }
    let region = region.map { CLCircularRegion($0) } ?? CLRegion(identifier: event.name)
    switch event.change {
    case .entered: delegate.locationManager(self, didEnterRegion: region)
    case .exited: delegate.locationManager(self, didExitRegion: region)
    case .determined(let state):
      delegate.locationManager(self, didDetermineState: CLRegionState(state), for: region)
    case .failed(let code):
      delegate.locationManager(self, monitoringDidFailFor: region, withError: CLError(code))
    case .monitor: break
    }
  }
}

/// A value on its way to the manager's thread, which alone uses it from then on.
private struct Transferred<Value>: @unchecked Sendable {
  let value: Value
}
