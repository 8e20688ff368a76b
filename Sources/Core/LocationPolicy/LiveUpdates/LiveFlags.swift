/// Why live updates bring no location, or a coarse one (LIV-6).
///
/// The bits are this project's own; Core Location has a property for each. No `OptionSet`, whose
/// array literals need a heap: join with ``union(_:)``.
public struct LiveFlags: Equatable, Sendable {
  /// The flags as bits.
  public let rawValue: UInt8

  /// Creates flags from bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// No flag holds.
  public static let empty = LiveFlags(rawValue: 0)
  /// This client may not use location.
  public static let authorizationDenied = LiveFlags(rawValue: 1 << 0)
  /// Nobody may.
  public static let authorizationDeniedGlobally = LiveFlags(rawValue: 1 << 1)
  /// Not for the client to ask for.
  public static let authorizationRestricted = LiveFlags(rawValue: 1 << 2)
  /// The client is not in use as its authorization demands.
  public static let insufficientlyInUse = LiveFlags(rawValue: 1 << 3)
  /// There is no location now.
  public static let locationUnavailable = LiveFlags(rawValue: 1 << 4)
  /// Locations are coarse (AUT-5).
  public static let accuracyLimited = LiveFlags(rawValue: 1 << 5)
  /// The client must hold a service session (BKG-15).
  public static let serviceSessionRequired = LiveFlags(rawValue: 1 << 6)
  /// Somebody is being asked (AUT-7).
  public static let authorizationRequestInProgress = LiveFlags(rawValue: 1 << 7)

  /// Those with which no location is given at all.
  public static let withholding =
    authorizationDenied.union(authorizationDeniedGlobally).union(authorizationRestricted)
    .union(insufficientlyInUse).union(serviceSessionRequired).union(authorizationRequestInProgress)

  /// The flags of both.
  public func union(_ other: LiveFlags) -> LiveFlags {
    LiveFlags(rawValue: rawValue | other.rawValue)
  }

  /// Whether any flag of `other` holds.
  public func holdsAny(of other: LiveFlags) -> Bool { rawValue & other.rawValue != 0 }
}

/// What live updates are for (`CLLocationUpdate.LiveConfiguration`, LIV-8).
///
/// The numbers are Core Location's and not those of ``ActivityType``.
@frozen public enum LiveConfiguration: UInt8, Equatable, Sendable {
  /// Nothing that is known.
  case `default` = 0
  /// A car, by road.
  case automotiveNavigation = 1
  /// Another vehicle.
  case otherNavigation = 2
  /// On foot or by bicycle, for sport.
  case fitness = 3
  /// In the air.
  case airborne = 4

  /// The activity that has its timers (PAU-7).
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
