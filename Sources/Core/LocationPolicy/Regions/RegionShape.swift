import LocationTypes

/// The geometry of a region; ``RegionMonitor`` uses nothing else of a shape. A new shape is one file with a type that
/// implements these requirements (Docs/Reference/regions.md).
protocol RegionShape {
  /// Distance from a position to the boundary, metres: positive outside, negative inside. Exact to 1 cm, or at most
  /// 0.01 % too short more than 1 km outside.
  func distanceBeyondBoundary(_ position: Coordinate) -> Double
  /// How far past the boundary a fix of the best accuracy must be, metres: above 0, at most
  /// ``RegionPlacement/minimumDistance``.
  var leastMargin: Double { get }
  /// Whether the shape can be monitored (REG-3).
  func isValid(_ limits: RegionLimits) -> Bool
}

extension RegionShape {
  /// Classifies a fix that is `beyondBoundary` metres outside.
  func placement(_ beyondBoundary: Double, accuracy: Double) -> RegionPlacement {
    RegionPlacement(
      beyondBoundary: beyondBoundary, accuracy: accuracy, leastMargin: leastMargin)
  }

  /// Distance that a device `beyondBoundary` metres outside can travel before a fix can change the region, metres.
  ///
  /// Only a fix past the boundary by the least margin starts a crossing, whatever its accuracy; and only a fix that is
  /// not past it by that much can end a started crossing before its 20 s are over.
  func distanceToChange(of crossing: RegionCrossing, _ beyondBoundary: Double) -> Double {
    let past: Double
    switch crossing.state {
    case .unknown: return 0
    case .inside: past = beyondBoundary - leastMargin
    case .outside: past = -beyondBoundary - leastMargin
    }
    return crossing.pendingSince == nil ? -past : past
  }
}
