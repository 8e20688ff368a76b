import LocationTypes

/// A stay at one location, as it is reported to a client (VIS-3).
public struct Visit: Equatable, Sendable {
  /// Centre of the stay; the same in the arrival and the departure event (VIS-6).
  public var coordinate: Coordinate
  /// Horizontal accuracy of ``coordinate``, metres: the mean accuracy of the fixes of the stay.
  public var horizontalAccuracy: Double
  /// When the device entered the circle around the stay, with the UTC of the nearest fix plus the time between; the
  /// service computes a missing UTC (STD-13). Nil if monitoring started inside it, which clients receive as
  /// `.distantPast` (VIS-4).
  public var arrival: FixTime?
  /// When the device left the circle; nil while the visit lasts, which clients receive as `.distantFuture`.
  public var departure: FixTime?

  /// Creates a visit.
  public init(
    coordinate: Coordinate, horizontalAccuracy: Double, arrival: FixTime?,
    departure: FixTime? = nil
  ) {
    self.coordinate = coordinate
    self.horizontalAccuracy = horizontalAccuracy
    self.arrival = arrival
    self.departure = departure
  }
}

/// Parameters of visit detection and of its check intervals; the defaults are those of VIS-9 and VIS-10.
public struct VisitParameters: Equatable, Sendable {
  /// Smallest radius of a stay, metres.
  public var minimumRadius = 70.0
  /// Smallest radius of a stay as a multiple of the fix's horizontal accuracy.
  public var accuracyFactor = 2.0
  /// Distance from the centre, in radii, beyond which the device has left.
  public var departureFactor = 1.5
  /// Time after which a stay becomes a visit.
  public var dwell = Interval.seconds(300)
  /// Shortest time between the first and a later fix inside the stay before it becomes a visit (VIS-10).
  public var minimumSpan = Interval.seconds(180)
  /// Shortest time between two fixes outside that confirm a departure, so that one bad fix does not end a visit.
  public var confirmation = Interval.seconds(20)
  /// Horizontal accuracy above which a fix is not used, metres.
  public var worstAccuracy = 150.0
  /// Time between two checks between visits.
  public var travelCheckInterval = Interval.seconds(240)
  /// Time between two checks during a visit, without a motion line.
  public var visitCheckInterval = Interval.seconds(480)
  /// Time between two checks during a visit while the motion line reports no motion.
  public var stillCheckInterval = Interval.seconds(3600)
  /// Time to the next check after a change was detected.
  public var promptCheckDelay = Interval.seconds(60)
  /// Reported motion since the last check that triggers a check during a visit: the time to walk out of the circle plus
  /// the motion sensor's own time-out.
  public var motionBeforeCheck = Interval.seconds(100)

  /// Radius of a stay for a fix of that accuracy, metres.
  func radius(accuracy: Double) -> Double { max(minimumRadius, accuracyFactor * accuracy) }
}
