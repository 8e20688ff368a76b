import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire

// Types of other modules that a program uses with this one, which is the only module that it imports.

/// A location fix.
public typealias Fix = LocationTypes.Fix
/// A position on the ellipsoid.
public typealias Coordinate = LocationTypes.Coordinate
/// A time: on the board's boot clock, and UTC if known.
public typealias FixTime = LocationTypes.FixTime
/// A duration.
public typealias Interval = LocationTypes.Interval
/// Activity for live updates (LIV-8).
public typealias LiveConfiguration = LocationPolicy.LiveConfiguration
/// State of a condition (REG-10).
public typealias MonitorState = LocationPolicy.MonitorState
/// Why a condition is not monitored.
public typealias MonitorProblem = LocationPolicy.MonitorProblem
/// Authorization of a program (AUT-1).
public typealias Authorization = LocationPolicy.Authorization
/// Execution state of a program: foreground, background or suspended.
public typealias ExecutionState = LocationPolicy.ExecutionState
/// Requirement of a service session (BKG-12).
public typealias SessionRequirement = LocationPolicy.SessionRequirement
/// Permission that a program can request (AUT-4).
public typealias WirePermission = LocationWire.WirePermission
/// Why the service could not be called, or refused the call.
public typealias ClientError = LocationClient.ClientError

/// Source of a location (`CLLocationSourceInformation`).
public struct SourceInformation: Equatable, Sendable {
  /// Whether the location is from a simulation or a replay.
  public let isSimulatedBySoftware: Bool
  /// Whether the location is from a receiver on USB or Bluetooth.
  public let isProducedByAccessory: Bool
}

extension Fix {
  /// Source of the location (LOC-8).
  public var sourceInformation: SourceInformation {
    SourceInformation(isSimulatedBySoftware: isSimulated, isProducedByAccessory: isFromAccessory)
  }
  /// Floor of a building: always nil, because no board has an indoor source (LOC-9).
  public var floor: Int? { nil }
}

/// Authorization and accuracy of a program.
public struct LocationAuthorization: Equatable, Sendable {
  /// `authorizationStatus`.
  public var status: Authorization
  /// `accuracyAuthorization`: whether locations have reduced accuracy.
  public var isReduced: Bool
}
