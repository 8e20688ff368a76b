import LocationTypes

/// Identifies a client by its index in the table that the creator of `Engine` provided.
@frozen public struct ClientID: Hashable, Sendable {
  /// The index, from 0.
  public let index: Int

  /// Creates the identifier of the client at `index`.
  ///
  /// - Precondition: `index` is not negative.
  @inlinable public init(_ index: Int) {
    precondition(index >= 0, "client index must not be negative")
    self.index = index
  }
}

/// Execution state of a client's process (BKG-1).
public enum ExecutionState: UInt8, Sendable {
  /// In use.
  case foreground = 0
  /// Running in the background.
  case background = 1
  /// Not running, or not reading its socket: its fixes are still recorded and stay in the ring (BKG-2).
  case suspended = 2
}

/// Request of a client, or of the service on its behalf. Never answered within the call (DEF-10).
public enum Request: Sendable {
  /// A process attaches under this client's name. Fixes that the previous process did not acknowledge are delivered
  /// again once it starts updates (RNG-3).
  case connect
  /// The process ended without stopping its services (DEF-11).
  case disconnect
  /// The client's name is no longer used: its index is free for another client. Does nothing while a process is
  /// attached.
  case forget
  /// `startUpdatingLocation()`; a repeated call does nothing (STD-3).
  case startUpdating
  /// `stopUpdatingLocation()` (DEF-37).
  case stopUpdating
  /// `desiredAccuracy`, metres or a constant of ``LocationAccuracy``.
  case setDesiredAccuracy(Double)
  /// `distanceFilter`, metres or ``LocationLimits/distanceFilterNone``.
  case setDistanceFilter(Double)
  /// `allowDeferredLocationUpdates(untilTraveled:timeout:)`, metres and seconds; with slack, the end after the timeout
  /// waits up to that many seconds for fixes that arrive anyway (DEF-45).
  case allowDeferred(distance: Double, timeout: Double, slack: Double = 0)
  /// `disallowDeferredLocationUpdates()` (DEF-15).
  case disallowDeferred
  /// The process changed its execution state.
  case setExecution(ExecutionState)
  /// The client has durably handled the fix of this name and all earlier ones (RNG-3).
  case acknowledge(FixName)
  /// All undelivered and unacknowledged fixes are read in bulk and count as delivered; see ``Client/backlog(in:)``.
  case readBacklog
  /// Authorization of the client (DEF-5, AUT-1).
  case setAuthorization(Authorization)
  /// Whether the client's accuracy is reduced (AUT-5).
  case setReducedAccuracy(Bool)
  /// Use of location that follows from the client's sessions and its process (BKG-5, BKG-13 to BKG-15).
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
  /// Opens an iterator of live updates. It gets the lowest free number, 0 to 3 (LIV-9); a fifth one is refused with
  /// ``Notice/liveRefused(_:)``.
  case openLive(LiveConfiguration)
  /// Closes the iterator of that number.
  case closeLive(Int)

  /// Whether the request may need a fix that was not needed before, so that a backed-off acquisition is retried.
  public var mayStartAcquisition: Bool {
    switch self {
    case .setAuthorization, .startUpdating, .setDesiredAccuracy, .requestLocation,
      .startSignificantChange,
      .startVisits, .addRegion, .requestRegionState, .openLive:
      true
    case .connect, .disconnect, .forget, .stopUpdating, .setDistanceFilter, .allowDeferred,
      .disallowDeferred, .setExecution, .acknowledge, .readBacklog, .setUse,
      .setReducedAccuracy, .setPausesAutomatically, .setActivity, .stopSignificantChange,
      .stopVisits, .removeRegion, .closeLive:
      false
    }
  }

  /// Whether the request starts a service whose client is notified when no location is available (STD-10, SLC-11,
  /// VIS-12).
  public var startsService: Bool {
    switch self {
    case .startUpdating, .startSignificantChange, .startVisits: true
    case .connect, .disconnect, .forget, .stopUpdating, .setDesiredAccuracy, .setDistanceFilter,
      .allowDeferred, .disallowDeferred, .setExecution, .acknowledge, .readBacklog,
      .setAuthorization, .setReducedAccuracy, .setUse, .setPausesAutomatically, .setActivity,
      .requestLocation, .stopSignificantChange, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive:
      false
    }
  }

  /// Who sends a request.
  enum Origin: Sendable {
    /// The service: valid while no process is attached.
    case service
    /// The service, about the attached process or its deliveries.
    case connection
    /// The attached process: it is running, whatever was reported before.
    case process
  }

  /// Who sends this request.
  var origin: Origin {
    switch self {
    case .connect, .forget, .setAuthorization, .setReducedAccuracy, .setUse: .service
    case .disconnect, .setExecution, .acknowledge, .readBacklog: .connection
    case .startUpdating, .stopUpdating, .setDesiredAccuracy, .setDistanceFilter, .allowDeferred,
      .disallowDeferred, .setPausesAutomatically, .setActivity, .requestLocation,
      .startSignificantChange, .stopSignificantChange, .startVisits, .stopVisits, .addRegion,
      .removeRegion, .requestRegionState, .openLive, .closeLive:
      .process
    }
  }
}
