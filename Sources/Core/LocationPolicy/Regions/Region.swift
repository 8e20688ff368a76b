import LocationTypes

// The values of region monitoring: regions, their states, the events for the client, the limits. ``RegionMonitor``
// monitors them. Pure: no I/O, no clock, no heap.

/// Which Core Location API monitors a region; each API has its own names.
public enum RegionKind: UInt8, Sendable {
  /// `CLCircularRegion` of a location manager: enter, exit, state.
  case region = 0
  /// `CLMonitor.CircularGeographicCondition`: events with a state.
  case condition = 1
}

/// Identifier of a region or condition of one client. It has a number instead of the name that the client gave, because
/// a string needs heap memory: `LocationService` keeps the names.
///
/// A region and a condition with the same number are different. 8 bytes.
public struct RegionIdentifier: Hashable, Sendable {
  /// Region or condition.
  public var kind: RegionKind
  /// Number that `LocationService` assigned to the name.
  public var number: UInt32

  /// Creates an identifier.
  public init(_ kind: RegionKind, _ number: UInt32) {
    self.kind = kind
    self.number = number
  }
}

/// A shape on the ellipsoid whose boundary is monitored.
public struct Region: Equatable, Sendable {
  /// Identifier and kind.
  public var identifier: RegionIdentifier
  /// The shape; the only property that has geometry.
  public var shape: Shape
  /// Whether `didEnterRegion` is requested (REG-9). Ignored for conditions.
  public var notifyOnEntry: Bool
  /// Whether `didExitRegion` is requested (REG-9). Ignored for conditions.
  public var notifyOnExit: Bool

  /// Creates a region; its shape is validated when it is added.
  public init(
    _ identifier: RegionIdentifier, _ shape: Shape, notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true
  ) {
    self.identifier = identifier
    self.shape = shape
    self.notifyOnEntry = notifyOnEntry
    self.notifyOnExit = notifyOnExit
  }

  /// Creates a circle.
  public init(
    _ identifier: RegionIdentifier, center: Coordinate, radius: Double, notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true
  ) {
    self.init(
      identifier, .circle(Circle(center: center, radius: radius)), notifyOnEntry: notifyOnEntry,
      notifyOnExit: notifyOnExit)
  }

  /// Content of a slot that monitors no region.
  static var unset: Region {
    Region(
      RegionIdentifier(.region, 0), center: Coordinate(latitude_e9: 0, longitude_e9: 0), radius: 1)
  }
}

/// `CLRegionState`, with Apple's raw values (REG-10).
public enum RegionState: Int, Sendable {
  /// Not decided yet, or not monitored.
  case unknown = 0
  /// Inside the shape.
  case inside = 1
  /// Outside the shape.
  case outside = 2

  /// The corresponding state of a `CLMonitor` condition.
  public var monitorState: MonitorState {
    switch self {
    case .unknown: .unknown
    case .inside: .satisfied
    case .outside: .unsatisfied
    }
  }

  var opposite: RegionState {
    switch self {
    case .unknown: .unknown
    case .inside: .outside
    case .outside: .inside
    }
  }
}

/// `CLMonitor.Event.State`, with Apple's raw values (REG-10).
public enum MonitorState: Int, Sendable {
  /// Not decided yet.
  case unknown = 0
  /// Inside the circle.
  case satisfied = 1
  /// Outside the circle.
  case unsatisfied = 2
  /// Not monitored: refused, reduced accuracy, denied, or shed.
  case unmonitored = 3

  /// The corresponding state of a region.
  public var regionState: RegionState {
    switch self {
    case .unknown, .unmonitored: .unknown
    case .satisfied: .inside
    case .unsatisfied: .outside
    }
  }
}

/// Why a condition is not monitored: the flags of `CLMonitor.Event`.
public enum MonitorProblem: UInt8, Sendable {
  /// The client already has ``RegionMonitor/capacity`` circles (REG-2).
  case conditionLimitExceeded = 0
  /// The circle is invalid, or the condition is not a circle (REG-3, REG-14).
  case conditionUnsupported = 1
  /// The condition is monitored but could not be stored; it is lost when the service restarts (REG-14).
  case persistenceUnavailable = 2
}

/// An event of a region or condition that is reported to its client.
public enum RegionEvent: Equatable, Sendable {
  /// `didEnterRegion`; `at` is the acquisition time of the fix that decided it.
  case entered(RegionIdentifier, at: Instant)
  /// `didExitRegion`.
  case exited(RegionIdentifier, at: Instant)
  /// `didDetermineState`: immediately after ``entered(_:at:)`` or ``exited(_:at:)`` (REG-8), and once for each request
  /// (REG-7).
  case determined(RegionIdentifier, RegionState)
  /// `didDetermineState` of a crossing whose enter or exit event the client has switched off (REG-8, REG-9).
  case crossedSilently(RegionIdentifier, RegionState)
  /// An event of a `CLMonitor`.
  case monitor(RegionIdentifier, MonitorState, MonitorProblem?, at: Instant)
  /// `monitoringDidFailFor`: 5 for a circle that cannot be monitored, 4 if the client is denied (AUT-10).
  case failure(RegionIdentifier, LocationErrorCode)
}

/// Parameters of region monitoring.
public struct RegionLimits: Equatable, Sendable {
  /// The limits of the service.
  public static var standard: RegionLimits { RegionLimits() }

  /// Greatest accepted radius, metres (REG-3): `maximumRegionMonitoringDistance`.
  public var maximumRadius = 100_000.0
  /// Horizontal accuracy assumed for a fix that reports none, metres.
  public var assumedAccuracy = PathMeter.assumedAccuracy
  /// Shortest time from one fix to the next requested one (REG-16).
  public var shortestWait = Interval.seconds(5)
  /// Shortest time to the next fix while the motion line reports no motion (REG-16).
  public var stillWait = Interval.seconds(3_600)
}
