/// Whether a client may use location; raw values are those of `CLAuthorizationStatus` (AUT-1).
@frozen public enum Authorization: UInt8, Equatable, Sendable {
  /// Not decided yet.
  case notDetermined = 0
  /// Not allowed, and the user cannot be prompted.
  case restricted = 1
  /// Not allowed.
  case denied = 2
  /// Allowed at any time.
  case always = 3
  /// Allowed while the client is in use.
  case whenInUse = 4

  /// Whether the client may use location at least while it is in use.
  @inlinable public var isGranted: Bool {
    switch self {
    case .always, .whenInUse: true
    case .notDetermined, .restricted, .denied: false
    }
  }

  /// Whether use of location was refused. An undecided client is not refused (AUT-11).
  @inlinable public var isRefused: Bool {
    switch self {
    case .restricted, .denied: true
    case .notDetermined, .always, .whenInUse: false
    }
  }
}
