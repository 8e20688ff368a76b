import LocationTypes

/// One point of a track.
public struct TrackPoint: Equatable, Sendable {
  /// Time since the track's start.
  public var offset: Interval
  /// Where.
  public var coordinate: Coordinate
  /// Altitude above mean sea level, millimetres; nil where nobody recorded one.
  public var altitude_mm: Int32?
  /// Speed over ground, mm/s; nil to have it follow from the points.
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

/// Where something really was: points in order of time, and straight lines between them.
public struct Track: Equatable, Sendable {
  /// UTC of offset zero.
  public let start: UTCTime
  /// The points; at least one, offsets strictly increasing.
  public let points: [TrackPoint]
  /// Two points further apart in time than this have a gap between them.
  public var gapLimit: Interval = .seconds(60)

  /// Creates a track.
  ///
  /// - Precondition: there is a point, offsets increase strictly, coordinates are valid.
  public init(start: UTCTime, points: [TrackPoint], gapLimit: Interval = .seconds(60)) {
    precondition(!points.isEmpty, "a track needs a point")
    for i in points.indices {
      precondition(points[i].coordinate.isValid, "a track lies on the globe")
      precondition(
        i == 0 || points[i - 1].offset < points[i].offset, "a track's time goes forward")
    }
    self.start = start
    self.points = points
    self.gapLimit = gapLimit
  }

  /// UTC of the first point.
  public var firstTime: UTCTime { start + points[0].offset }
  /// UTC of the last point.
  public var lastTime: UTCTime { start + points[points.count - 1].offset }
  /// Time from the first point to the last.
  public var duration: Interval { lastTime - firstTime }

  /// Length over ground in metres, gaps included. O(points).
  public var length_m: Double {
    var sum = 0.0
    for i in points.indices.dropFirst() {
      sum += points[i - 1].coordinate.localDistance(to: points[i].coordinate)
    }
    return sum
  }
}

/// What a perfect receiver would know at one moment.
public struct TrackState: Equatable, Sendable {
  /// Where.
  public var coordinate: Coordinate
  /// Altitude above mean sea level, millimetres, where the track has one.
  public var altitude_mm: Int32?
  /// Speed over ground, m/s.
  public var speed: Double
  /// Sine of the course over ground (its east component); the course last known when standing.
  public var east: Double
  /// Cosine of the course over ground (its north component).
  public var north: Double
  /// Climb, m/s.
  public var climb: Double
  /// The moment lies in a gap of the recording or outside it: the place is a guess.
  public var isGap: Bool
}
