import LocationTypes

/// One point of a track.
public struct TrackPoint: Equatable, Sendable {
  /// Time since the track's start.
  public var offset: Interval
  /// Position.
  public var coordinate: Coordinate
  /// Altitude above mean sea level, millimetres; nil if it was not recorded.
  public var altitude_mm: Int32?
  /// Speed over ground, mm/s; nil to compute it from the points.
  public var speed_mmps: Int32?

  /// Creates a point.
  public init(
    offset: Interval, coordinate: Coordinate, altitude_mm: Int32? = nil, speed_mmps: Int32? = nil
  ) {
    self.offset = offset
    self.coordinate = coordinate
    self.altitude_mm = altitude_mm
    self.speed_mmps = speed_mmps
  }
}

/// True positions of a device over time: points in ascending order of time, connected by straight lines.
///
/// The simulated receiver derives its solutions from a track, and evaluations compare reports with it.
public struct Track: Equatable, Sendable {
  /// UTC at offset zero.
  public let start: UTCTime
  /// The points; at least one, with strictly increasing offsets.
  public let points: [TrackPoint]
  /// Longest time between two points that does not count as a gap.
  public var gapLimit: Interval = .seconds(60)

  /// Creates a track.
  ///
  /// - Precondition: There is at least one point, offsets strictly increase, coordinates are valid.
  public init(start: UTCTime, points: [TrackPoint], gapLimit: Interval = .seconds(60)) {
    precondition(!points.isEmpty, "a track has at least one point")
    for i in points.indices {
      precondition(points[i].coordinate.isValid, "coordinates are valid")
      precondition(
        i == 0 || points[i - 1].offset < points[i].offset, "offsets strictly increase")
    }
    self.start = start
    self.points = points
    self.gapLimit = gapLimit
  }

  /// UTC at the first point.
  public var firstTime: UTCTime { start + points[0].offset }
  /// UTC at the last point.
  public var lastTime: UTCTime { start + points[points.count - 1].offset }
  /// Time from the first point to the last.
  public var duration: Interval { lastTime - firstTime }

  /// Length over ground in metres, including gaps. O(points).
  public var length_m: Double {
    zip(points, points.dropFirst()).reduce(0) {
      $0 + $1.0.coordinate.localDistance(to: $1.1.coordinate)
    }
  }
}

/// True state of motion at one time.
public struct TrackState: Equatable, Sendable {
  /// Position.
  public var coordinate: Coordinate
  /// Altitude above mean sea level, millimetres; nil if the track has none.
  public var altitude_mm: Int32?
  /// Speed over ground, m/s.
  public var speed: Double
  /// Sine of the course over ground (its east component). At standstill the last course applies.
  public var east: Double
  /// Cosine of the course over ground (its north component).
  public var north: Double
  /// Climb rate, m/s.
  public var climb: Double
  /// Whether the time is inside a gap of the track or outside the track, so that the position is interpolated or
  /// extrapolated.
  public var isGap: Bool
}
