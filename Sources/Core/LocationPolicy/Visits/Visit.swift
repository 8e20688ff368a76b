import LocationTypes

/// A moment of a visit, on the boot clock and in UTC where a fix beside it told UTC.
///
/// The UTC is that of the nearest fix plus the time between them on the boot clock. When it is nil
/// (STD-13), the service takes its own relation of boot clock and UTC, once there is one.
public struct VisitMoment: Equatable, Sendable {
  /// The moment on the boot clock.
  public var instant: Instant
  /// The same moment in UTC, where known.
  public var utc: UTCTime?

  /// Creates a moment.
  public init(instant: Instant, utc: UTCTime?) {
    self.instant = instant
    self.utc = utc
  }
}

/// A stay at one place, as a client is told it (VIS-3).
public struct Visit: Equatable, Sendable {
  /// The place; the same in both events (VIS-6).
  public var coordinate: Coordinate
  /// How far off the place may be, metres: the mean accuracy of the fixes it was made of.
  public var horizontalAccuracy: Double
  /// When the circle around the place was entered; nil when monitoring began inside it, which
  /// clients are told as `.distantPast` (VIS-4).
  public var arrival: VisitMoment?
  /// When it was left; nil while the visit lasts, which clients are told as `.distantFuture`.
  public var departure: VisitMoment?

  /// Creates a visit.
  public init(
    coordinate: Coordinate, horizontalAccuracy: Double, arrival: VisitMoment?,
    departure: VisitMoment? = nil
  ) {
    self.coordinate = coordinate
    self.horizontalAccuracy = horizontalAccuracy
    self.arrival = arrival
    self.departure = departure
  }
}

/// What makes a visit, and how often one looks; the defaults are VIS-9's and VIS-10's.
public struct VisitTerms: Equatable, Sendable {
  /// The radius of a place at the least, metres.
  public var radius = 70.0
  /// The radius of a place in horizontal accuracies at the least.
  public var accuracies = 2.0
  /// How many radii away somebody has left.
  public var departure = 1.5
  /// How long a stay is a visit.
  public var dwell = Interval.seconds(300)
  /// What a fix and a later one at the same place must span at the least (VIS-10).
  public var shortest = Interval.seconds(180)
  /// What two fixes outside must span, so that one bad moment of the receiver moves nobody.
  public var confirmation = Interval.seconds(20)
  /// A fix with a worse accuracy says nothing, metres.
  public var worstAccuracy = 150.0
  /// The time between two looks under way.
  public var underWay = Interval.seconds(240)
  /// The time between two looks during a visit, without a motion line.
  public var resting = Interval.seconds(480)
  /// The time between two looks during a visit while the motion line says that nothing moves.
  public var still = Interval.seconds(3600)
  /// How soon one looks again after something changed.
  public var alert = Interval.seconds(60)
  /// How much motion on the line since the last look calls for a look during a visit: what a walk
  /// out of the circle takes, and the line's own time-out.
  public var motion = Interval.seconds(100)

  /// The contract's figures.
  public init() {}

  /// The radius of a place as a fix of that accuracy sees it, metres.
  func reach(accuracy: Double) -> Double { max(radius, accuracies * accuracy) }
}
