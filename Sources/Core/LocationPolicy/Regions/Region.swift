import LocationTypes

/// Which of Core Location's two ways a circle is monitored by; each has its own names.
public enum RegionKind: UInt8, Sendable {
  /// `CLCircularRegion` of a location manager: enter, exit, state.
  case region = 0
  /// `CLMonitor.CircularGeographicCondition`: events with a state.
  case condition = 1
}

/// The name of a region or condition of one client: the service maps its strings to numbers.
///
/// A region and a condition of the same number are two. 8 bytes.
public struct RegionIdentifier: Hashable, Sendable {
  /// Region or condition.
  public var kind: RegionKind
  /// The service's number of the name.
  public var number: UInt32

  /// Creates an identifier.
  public init(_ kind: RegionKind, _ number: UInt32) {
    self.kind = kind
    self.number = number
  }
}

/// A circle on the ellipsoid whose boundary is watched.
public struct Region: Equatable, Sendable {
  /// Its name and kind.
  public var identifier: RegionIdentifier
  /// The middle of the circle.
  public var center: Coordinate
  /// Metres; valid when finite, above 0 and at most ``RegionLimits/maximumRadius`` (REG-3).
  public var radius: Double
  /// `didEnterRegion` is wanted (REG-9). Conditions do not look at it.
  public var notifyOnEntry: Bool
  /// `didExitRegion` is wanted (REG-9). Conditions do not look at it.
  public var notifyOnExit: Bool

  /// Creates a circle; whether it is valid is asked when it is added.
  public init(
    _ identifier: RegionIdentifier, center: Coordinate, radius: Double, notifyOnEntry: Bool = true,
    notifyOnExit: Bool = true
  ) {
    self.identifier = identifier
    self.center = center
    self.radius = radius
    self.notifyOnEntry = notifyOnEntry
    self.notifyOnExit = notifyOnExit
  }
}

/// `CLRegionState`, with Apple's numbers (REG-10).
public enum RegionState: Int, Sendable {
  /// Not decided yet, or not monitored.
  case unknown = 0
  /// Within the circle.
  case inside = 1
  /// Beyond the circle.
  case outside = 2

  /// The same in the monitor's words.
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

/// `CLMonitor.Event.State`, with Apple's numbers (REG-10).
public enum MonitorState: Int, Sendable {
  /// Not decided yet.
  case unknown = 0
  /// Inside the circle.
  case satisfied = 1
  /// Outside the circle.
  case unsatisfied = 2
  /// Nobody watches: refused, reduced accuracy, denied.
  case unmonitored = 3

  /// The same in a region's words.
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
  /// The client has ``RegionMonitor/capacity`` circles already (REG-2).
  case conditionLimitExceeded = 0
  /// The circle is not valid, or the condition is no circle (REG-3, REG-14).
  case conditionUnsupported = 1
  /// It is monitored, and a restart of the service forgets it: the disk does not take it (REG-14).
  case persistenceUnavailable = 2
}

/// What a client is told of its regions and conditions.
public enum RegionEvent: Equatable, Sendable {
  /// `didEnterRegion`; `at` is when the fix was acquired that settled it.
  case entered(RegionIdentifier, at: Instant)
  /// `didExitRegion`.
  case exited(RegionIdentifier, at: Instant)
  /// `didDetermineState`: right after ``entered(_:at:)`` or ``exited(_:at:)`` (REG-8), and once for each
  /// request (REG-7).
  case determined(RegionIdentifier, RegionState)
  /// `didDetermineState` of a crossing whose enter or exit the client has silenced (REG-8, REG-9).
  case crossedSilently(RegionIdentifier, RegionState)
  /// An event of a `CLMonitor`.
  case monitor(RegionIdentifier, MonitorState, MonitorProblem?, at: Instant)
  /// `monitoringDidFailFor`: 5 for a circle that cannot be monitored, 4 where the client is denied (AUT-10).
  case failure(RegionIdentifier, LocationErrorCode)
}

/// The numbers of region monitoring.
public struct RegionLimits: Equatable, Sendable {
  /// Metres above which a radius is refused (REG-3): `maximumRegionMonitoringDistance`.
  public var maximumRadius: Double
  /// Metres taken for a fix that does not tell its accuracy.
  public var assumedAccuracy: Double
  /// The least time from one fix to the next one that is asked for (REG-16).
  public var shortestWait: Interval
  /// The least time to the next fix while the motion line says that nothing moves (REG-16).
  public var stillWait: Interval

  /// Creates the numbers.
  ///
  /// - Precondition: radius and accuracy are above 0, the waits too.
  public init(
    maximumRadius: Double = 100_000, assumedAccuracy: Double = 10,
    shortestWait: Interval = .seconds(5), stillWait: Interval = .seconds(3_600)
  ) {
    precondition(maximumRadius > 0 && assumedAccuracy > 0, "a circle and an error have a size")
    precondition(shortestWait > .zero && stillWait > .zero, "a wait is longer than nothing")
    self.maximumRadius = maximumRadius
    self.assumedAccuracy = assumedAccuracy
    self.shortestWait = shortestWait
    self.stillWait = stillWait
  }

  /// Whether a circle can be monitored (REG-3).
  func allow(_ region: Region) -> Bool {
    region.center.isValid && region.radius > 0 && region.radius <= maximumRadius
      && region.radius.isFinite
  }
}
