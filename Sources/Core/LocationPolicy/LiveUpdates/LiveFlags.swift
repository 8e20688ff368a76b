/// Reasons why live updates deliver no location, or a coarse one (LIV-6).
///
/// The bit numbers are Torpor's own; Core Location has a property for each flag. Not an `OptionSet`, because its array
/// literals allocate on the heap: combine flags with ``union(_:)``.
public struct LiveFlags: Equatable, Sendable {
  /// The flags as bits.
  public let rawValue: UInt8

  /// Creates flags from bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No flag.
  public static let empty = LiveFlags(rawValue: 0)
  /// This client may not use location.
  public static let authorizationDenied = LiveFlags(rawValue: 1 << 0)
  /// No client may use location.
  public static let authorizationDeniedGlobally = LiveFlags(rawValue: 1 << 1)
  /// The client cannot request authorization.
  public static let authorizationRestricted = LiveFlags(rawValue: 1 << 2)
  /// The client is not in use as its authorization requires.
  public static let insufficientlyInUse = LiveFlags(rawValue: 1 << 3)
  /// No location is available now.
  public static let locationUnavailable = LiveFlags(rawValue: 1 << 4)
  /// Locations are coarse (AUT-5).
  public static let accuracyLimited = LiveFlags(rawValue: 1 << 5)
  /// The client must hold a service session (BKG-15).
  public static let serviceSessionRequired = LiveFlags(rawValue: 1 << 6)
  /// The authorization is undecided: the administrator can see the request (AUT-7, AUT-8).
  public static let authorizationRequestInProgress = LiveFlags(rawValue: 1 << 7)

  /// Flags with which no location is delivered.
  public static let withholding =
    authorizationDenied.union(authorizationDeniedGlobally).union(authorizationRestricted)
    .union(insufficientlyInUse).union(serviceSessionRequired).union(authorizationRequestInProgress)

  /// Returns the union of both.
  public func union(_ other: LiveFlags) -> LiveFlags {
    LiveFlags(rawValue: rawValue | other.rawValue)
  }

  /// Whether any flag of `other` is set.
  public func containsAny(of other: LiveFlags) -> Bool { rawValue & other.rawValue != 0 }
}

extension Authorization {
  /// Why a client with this authorization gets no location; empty if the authorization is granted.
  public var liveFlags: LiveFlags {
    switch self {
    case .notDetermined: .authorizationRequestInProgress
    case .restricted: .authorizationRestricted
    case .denied: .authorizationDenied
    case .always, .whenInUse: .empty
    }
  }
}

/// Purpose of live updates (`CLLocationUpdate.LiveConfiguration`, LIV-8).
///
/// The numbers are Core Location's; they differ from those of ``ActivityType``.
@frozen public enum LiveConfiguration: UInt8, Equatable, Sendable {
  /// Unknown.
  case `default` = 0
  /// Driving by car on roads.
  case automotiveNavigation = 1
  /// Another vehicle.
  case otherNavigation = 2
  /// Walking, running or cycling.
  case fitness = 3
  /// Flying.
  case airborne = 4

  /// The activity with the same pause thresholds (PAU-7).
  public var activity: ActivityType {
    switch self {
    case .default: .other
    case .automotiveNavigation: .automotiveNavigation
    case .otherNavigation: .otherNavigation
    case .fitness: .fitness
    case .airborne: .airborne
    }
  }
}
