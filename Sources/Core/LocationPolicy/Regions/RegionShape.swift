import LocationTypes

/// The geometry of a region: ``RegionMonitor`` has three queries about a shape and uses nothing else of it, except two
/// constants. A new shape is one file with a type that conforms, and one case of ``Region/Shape``
/// (Docs/Reference/regions.md).
protocol RegionShape {
  /// Classifies a fix of this horizontal accuracy, metres.
  func classify(_ position: Coordinate, accuracy: Double) -> RegionPlacement
  /// Distance, metres, that a device at a position can travel before a fix can change the region: the movement of the
  /// device changes it by no more than its length, exact to 2 cm.
  func distanceToChange(of crossing: RegionCrossing, at position: Coordinate) -> Double
  /// Latitudes and longitudes that contain the shape: every position outside of them is outside of the shape.
  var boundingBox: BoundingBox { get }

  /// How far past the boundary a fix of the best accuracy must be, metres: above 0, at most
  /// ``RegionPlacement/minimumDistance``.
  var leastMargin: Double { get }
  /// Whether the shape can be monitored (REG-3).
  func isValid(_ limits: RegionLimits) -> Bool
}

extension Region {
  /// The shape of a region.
  public enum Shape: Equatable, Sendable {
    /// A circle on the ellipsoid.
    case circle(Circle)
  }
}

extension Region.Shape: RegionShape {
  func classify(_ position: Coordinate, accuracy: Double) -> RegionPlacement {
    switch self {
    case .circle(let circle): circle.classify(position, accuracy: accuracy)
    }
  }

  func distanceToChange(of crossing: RegionCrossing, at position: Coordinate) -> Double {
    switch self {
    case .circle(let circle): circle.distanceToChange(of: crossing, at: position)
    }
  }

  var boundingBox: BoundingBox {
    switch self {
    case .circle(let circle): circle.boundingBox
    }
  }

  var leastMargin: Double {
    switch self {
    case .circle(let circle): circle.leastMargin
    }
  }

  func isValid(_ limits: RegionLimits) -> Bool {
    switch self {
    case .circle(let circle): circle.isValid(limits)
    }
  }
}
