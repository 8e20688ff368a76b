/// What a `CLServiceSession` asks for; raw values are Core Location's (BKG-12).
@frozen public enum SessionRequirement: UInt8, Equatable, Sendable, Comparable {
  /// No authorization.
  case none = 0
  /// While in use.
  case whenInUse = 1
  /// At any time.
  case always = 2

  /// Whether `a` asks for less.
  public static func < (a: SessionRequirement, b: SessionRequirement) -> Bool {
    a.rawValue < b.rawValue
  }
}

/// Why a service session does not give what it asks for (`CLServiceSession.Diagnostic`, BKG-17).
///
/// The bits are this project's own, as those of ``LiveFlags``, whose flags it holds.
public struct SessionDiagnostics: Equatable, Sendable {
  /// What live updates would say.
  public var flags: LiveFlags
  /// Full accuracy was asked for, and accuracy is reduced.
  public var fullAccuracyDenied: Bool
  /// `always` was asked for, and is not granted.
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
  /// What it asks for.
  public var requirement: SessionRequirement
  /// Whether it asks for full accuracy.
  public var wantsFullAccuracy: Bool
  /// It was made in use or promptly at launch, or its client was in use since: it counts (BKG-13).
  public internal(set) var isValid: Bool
  /// What its process was told last; nil if nothing was.
  var told: SessionDiagnostics?
}

/// A client's use of location as its sessions and its process make it: for ``Request/setUse(_:)``.
public struct ClientUse: Equatable, Sendable {
  /// What live updates, and events of a monitor, are withheld for, beside the authorization.
  public var flags: LiveFlags
  /// What it does not get while it is not in use.
  public var withheld: PromiseSet
  /// An active background session keeps its demand up while it is suspended, full queue or not (BKG-5).
  public var keepsRunning: Bool

  /// Creates a use: nothing is withheld.
  public init(
    flags: LiveFlags = .empty, withheld: PromiseSet = .none, keepsRunning: Bool = false
  ) {
    self.flags = flags
    self.withheld = withheld
    self.keepsRunning = keepsRunning
  }
}
