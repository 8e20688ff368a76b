import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

// The words of other rooms that a program meets here: it imports this module alone.

/// One position.
public typealias Fix = LocationTypes.Fix
/// A place on the ellipsoid.
public typealias Coordinate = LocationTypes.Coordinate
/// A moment: on the board's boot clock, and UTC where that is known.
public typealias FixTime = LocationTypes.FixTime
/// A length of time.
public typealias Interval = LocationTypes.Interval
/// What live updates are for (LIV-8).
public typealias LiveConfiguration = LocationPolicy.LiveConfiguration
/// The state of a condition (REG-10).
public typealias MonitorState = LocationPolicy.MonitorState
/// Why a condition is not monitored.
public typealias MonitorProblem = LocationPolicy.MonitorProblem
/// What a program may (AUT-1).
public typealias Authorization = LocationPolicy.Authorization
/// What a program says it is: in the foreground, in the background, suspended.
public typealias ExecutionState = LocationPolicy.ExecutionState
/// What a service session asks for (BKG-12).
public typealias SessionRequirement = LocationPolicy.SessionRequirement
/// What may be asked for (AUT-4).
public typealias WirePermission = LocationWire.WirePermission
/// Why the service could not be asked, or said no.
public typealias ClientError = LocationClient.ClientError

/// Where a location comes from (`CLLocationSourceInformation`).
public struct SourceInformation: Equatable, Sendable {
  /// A simulation or a replay made it.
  public let isSimulatedBySoftware: Bool
  /// A receiver on USB or Bluetooth made it.
  public let isProducedByAccessory: Bool
}

extension Fix {
  /// Where it comes from (LOC-8).
  public var sourceInformation: SourceInformation {
    SourceInformation(isSimulatedBySoftware: isSimulated, isProducedByAccessory: isFromAccessory)
  }
  /// The floor of a building: nil, for no board of this service has an indoor source (LOC-9).
  public var floor: Int? { nil }
}

/// What a program may, and how exactly.
public struct LocationAuthorization: Equatable, Sendable {
  /// `authorizationStatus`.
  public var status: Authorization
  /// `accuracyAuthorization`: it knows no more than about where it is.
  public var isReduced: Bool
}
