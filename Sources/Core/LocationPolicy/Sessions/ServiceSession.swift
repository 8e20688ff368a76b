/// Authorization that a `CLServiceSession` requires; raw values are Core Location's (BKG-12).
@frozen public enum SessionRequirement: UInt8, Equatable, Sendable, Comparable {
  /// No authorization.
  case none = 0
  /// While in use.
  case whenInUse = 1
  /// At any time.
  case always = 2

  /// Whether `a` requires less than `b`.
  public static func < (a: SessionRequirement, b: SessionRequirement) -> Bool {
    a.rawValue < b.rawValue
  }
}

/// Why a service session does not get what it requires (`CLServiceSession.Diagnostic`, BKG-17).
///
/// The bit numbers are Torpor's own, as are those of ``LiveFlags``, which it contains.
public struct SessionDiagnostics: Equatable, Sendable {
  /// Flags that live updates would report.
  public var flags: LiveFlags
  /// Whether full accuracy was required and accuracy is reduced.
  public var fullAccuracyDenied: Bool
  /// Whether `always` was required and is not granted.
  public var alwaysAuthorizationDenied: Bool

  /// Creates diagnostics.
  public init(
    flags: LiveFlags = .empty, fullAccuracyDenied: Bool = false,
    alwaysAuthorizationDenied: Bool = false
  ) {
    self.flags = flags
    self.fullAccuracyDenied = fullAccuracyDenied
    self.alwaysAuthorizationDenied = alwaysAuthorizationDenied
  }
}

/// A service session that a process holds.
public struct ServiceSession: Equatable, Sendable {
  /// Required authorization.
  public var requirement: SessionRequirement
  /// Whether it requires full accuracy.
  public var requiresFullAccuracy: Bool
  /// Whether it is effective: it was created in use or promptly after launch, or its process was in the foreground
  /// since (BKG-13).
  public internal(set) var isValid: Bool
  /// Diagnostics that were last reported to its process; nil if none were.
  var reported: SessionDiagnostics?
}

/// A client's use of location. Made by ``ClientSessions``, passed to ``Client`` with ``Request/setUse(_:)``.
public struct ClientUse: Equatable, Sendable {
  /// Flags for which live updates and events of a monitor are withheld, in addition to those of the authorization.
  public var flags: LiveFlags
  /// Service levels that the client does not get while it is not in use.
  public var withheld: ServiceLevelSet
  /// Whether an active background session keeps its demand up while it is suspended, even with a full queue (BKG-5).
  public var keepsRunning: Bool

  /// Creates a use without restrictions.
  public init(
    flags: LiveFlags = .empty, withheld: ServiceLevelSet = .none, keepsRunning: Bool = false
  ) {
    self.flags = flags
    self.withheld = withheld
    self.keepsRunning = keepsRunning
  }
}
