/// Whether a client may use location; raw values are Core Location's (AUT-1).
@frozen public enum Authorization: UInt8, Equatable, Sendable {
  /// Nobody has decided.
  case notDetermined = 0
  /// It may not, and cannot be asked.
  case restricted = 1
  /// It may not.
  case denied = 2
  /// It may at any time.
  case always = 3
  /// It may while it is in use.
  case whenInUse = 4

  /// Whether it may use location at all.
  @inlinable public var isGranted: Bool {
    switch self {
    case .always, .whenInUse: true
    case .notDetermined, .restricted, .denied: false
    }
  }

  /// Whether it was decided that the client may not use location. Undecided is not refused (AUT-11).
  @inlinable public var isRefused: Bool {
    switch self {
    case .restricted, .denied: true
    case .notDetermined, .always, .whenInUse: false
    }
  }
}
