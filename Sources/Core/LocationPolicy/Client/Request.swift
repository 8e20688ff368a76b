import LocationTypes

/// Which client; an index into the table that the engine's owner handed in.
@frozen public struct ClientID: Hashable, Sendable {
  /// The index, from 0.
  public let index: Int

  /// Names the client at `index`.
  ///
  /// - Precondition: `index` is not negative.
  @inlinable public init(_ index: Int) {
    precondition(index >= 0, "clients are numbered from 0")
    self.index = index
  }
}

/// In what state a client's process is (BKG-1).
public enum ExecutionState: UInt8, Sendable {
  /// In use.
  case foreground = 0
  /// Running unseen.
  case background = 1
  /// Not running, or not taking what is sent: its fixes go on to be recorded and wait in the ring (BKG-2).
  case suspended = 2
}

/// What a client, or the service on its behalf, asks. Never answered inside the call (DEF-10).
public enum Request: Sendable {
  /// A process attaches under this client's name. What it had not acknowledged is owed again once it
  /// starts updates (RNG-3).
  case connect
  /// The process is gone without a word (DEF-11).
  case disconnect
  /// Nobody will come back under this name: its place is free for another client. Does nothing while a
  /// process is attached.
  case forget
  /// `startUpdatingLocation()`; again does nothing (STD-3).
  case startUpdating
  /// `stopUpdatingLocation()` (DEF-37).
  case stopUpdating
  /// `desiredAccuracy`, metres or a constant of ``LocationAccuracy``.
  case setDesiredAccuracy(Double)
  /// `distanceFilter`, metres or ``LocationLimits/distanceFilterNone``.
  case setDistanceFilter(Double)
  /// `allowDeferredLocationUpdates(untilTraveled:timeout:)`, metres and seconds.
  case allowDeferred(distance: Double, timeout: Double)
  /// `disallowDeferredLocationUpdates()` (DEF-15).
  case disallowDeferred
  /// The process changed its state.
  case setExecution(ExecutionState)
  /// The fix of this name and all before it are handled for good (RNG-3).
  case acknowledge(FixName)
  /// All that it is owed is handed over to it in bulk, and counts as delivered; see
  /// ``Client/backlog(in:)``.
  case takeBacklog
  /// What the client may (DEF-5, AUT-1).
  case setAuthorization(Authorization)
  /// Whether it is to know no more than about where it is (AUT-5).
  case setReducedAccuracy(Bool)
  /// What its sessions and its process make of its use of location (BKG-5, BKG-13 to BKG-15).
  case setUse(ClientUse)
  /// `pausesLocationUpdatesAutomatically` (PAU-5).
  case setPausesAutomatically(Bool)
  /// `activityType` (PAU-6).
  case setActivity(ActivityType)
  /// `requestLocation()` (STD-11).
  case requestLocation
  /// `startMonitoringSignificantLocationChanges()` (SLC-9).
  case startSignificantChange
  /// `stopMonitoringSignificantLocationChanges()`.
  case stopSignificantChange
  /// `startMonitoringVisits()` (VIS-2).
  case startVisits
  /// `stopMonitoringVisits()`.
  case stopVisits
  /// `startMonitoring(for:)`, or `CLMonitor.add(_:identifier:assuming:)` (REG-1, REG-12).
  case addRegion(Region, assuming: MonitorState)
  /// `stopMonitoring(for:)`, or `CLMonitor.remove(_:)`.
  case removeRegion(RegionIdentifier)
  /// `requestState(for:)` (REG-7).
  case requestRegionState(RegionIdentifier)
  /// A new iterator of live updates; it gets the lowest free number, 0 to 3 (LIV-9); a fifth
  /// one is answered by ``Notice/liveRefused(_:)``.
  case openLive(LiveConfiguration)
  /// That iterator has ended.
  case closeLive(Int)

  /// Whether somebody asks for a fix who may not have done so before.
  public var wantsFix: Bool {
    switch self {
    case .setAuthorization, .startUpdating, .setDesiredAccuracy, .requestLocation,
      .startSignificantChange,
      .startVisits, .addRegion, .requestRegionState, .openLive:
      true
    case .connect, .disconnect, .forget, .stopUpdating, .setDistanceFilter, .allowDeferred,
      .disallowDeferred, .setExecution, .acknowledge, .takeBacklog, .setUse,
      .setReducedAccuracy, .setPausesAutomatically, .setActivity, .stopSignificantChange,
      .stopVisits, .removeRegion, .closeLive:
      false
    }
  }

  /// Whether it starts a service whose client is told when there is no location (STD-10, SLC-11, VIS-12).
  public var startsService: Bool {
    switch self {
    case .startUpdating, .startSignificantChange, .startVisits: true
    case .connect, .disconnect, .forget, .stopUpdating, .setDesiredAccuracy, .setDistanceFilter,
      .allowDeferred, .disallowDeferred, .setExecution, .acknowledge, .takeBacklog,
      .setAuthorization, .setReducedAccuracy, .setUse, .setPausesAutomatically, .setActivity,
      .requestLocation, .stopSignificantChange, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive:
      false
    }
  }

  /// Whether it means something while no process is attached.
  var needsNoProcess: Bool {
    switch self {
    case .connect, .forget, .setAuthorization, .setReducedAccuracy, .setUse: true
    case .disconnect, .startUpdating, .stopUpdating, .setDesiredAccuracy, .setDistanceFilter,
      .allowDeferred, .disallowDeferred, .setExecution, .acknowledge, .takeBacklog,
      .setPausesAutomatically,
      .setActivity, .requestLocation, .startSignificantChange, .stopSignificantChange,
      .startVisits, .stopVisits, .addRegion, .removeRegion, .requestRegionState, .openLive,
      .closeLive:
      false
    }
  }
}
