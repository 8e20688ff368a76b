import LocationTypes

/// What the wearer is about (`CLActivityType`). It tunes timers and filters no fix (PAU-6).
@frozen public enum ActivityType: UInt8, Equatable, Sendable {
  /// Nothing that is known.
  case other = 1
  /// A car, by road.
  case automotiveNavigation = 2
  /// On foot or by bicycle, for sport.
  case fitness = 3
  /// Another vehicle: a boat, a train.
  case otherNavigation = 4
  /// In the air.
  case airborne = 5

  /// When standing still is a pause (PAU-7).
  public var pause: PauseThresholds {
    switch self {
    case .other: PauseThresholds(dwell: .seconds(600), radius: 50)
    case .automotiveNavigation, .otherNavigation: PauseThresholds(dwell: .seconds(900), radius: 75)
    case .fitness: PauseThresholds(dwell: .seconds(600), radius: 30)
    case .airborne: PauseThresholds(dwell: .seconds(1_800), radius: 75)
    }
  }
}

/// How long within which radius is standing still.
public struct PauseThresholds: Equatable, Sendable {
  /// How long.
  public let dwell: Interval
  /// Metres around the middle of the fixes.
  public let radius: Double

  /// Creates thresholds.
  ///
  /// - Precondition: `dwell` is not negative, `radius` is more than 0 m.
  public init(dwell: Interval, radius: Double) {
    precondition(dwell >= .zero && radius > 0, "standing still takes a time and a radius")
    self.dwell = dwell
    self.radius = radius
  }
}
