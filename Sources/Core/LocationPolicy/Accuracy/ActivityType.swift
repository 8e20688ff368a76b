import LocationTypes

/// Activity of the user (`CLActivityType`). It sets the thresholds of automatic pauses and filters no fix (PAU-6).
@frozen public enum ActivityType: UInt8, Equatable, Sendable {
  /// Unknown.
  case other = 1
  /// Driving by car on roads.
  case automotiveNavigation = 2
  /// Walking, running or cycling.
  case fitness = 3
  /// Another vehicle, such as a boat or a train.
  case otherNavigation = 4
  /// Flying.
  case airborne = 5

  /// Thresholds for an automatic pause (PAU-7).
  public var pause: PauseThresholds {
    switch self {
    case .other: PauseThresholds(dwell: .seconds(600), radius: 50)
    case .automotiveNavigation, .otherNavigation: PauseThresholds(dwell: .seconds(900), radius: 75)
    case .fitness: PauseThresholds(dwell: .seconds(600), radius: 30)
    case .airborne: PauseThresholds(dwell: .seconds(1_800), radius: 75)
    }
  }
}

/// Time and radius that define standing still.
public struct PauseThresholds: Equatable, Sendable {
  /// Time that the device must stay within ``radius``.
  public let dwell: Interval
  /// Radius around the mean position of the fixes, metres.
  public let radius: Double
}
