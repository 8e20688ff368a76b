import LocationTypes

// The content of a GPX file, as `GPXReader` returns it: points, their positions in the file, and the file as a whole.

/// A track point (`trkpt`) of a GPX file, with the values that a simulated or recorded track uses.
public struct GPXPoint: Equatable, Sendable {
  /// Latitude and longitude.
  public var coordinate: Coordinate
  /// Time of the point; nil if the file has none.
  public var utc: UTCTime?
  /// Altitude above mean sea level (`ele`), millimetres.
  public var altitude_mm: Int32?
  /// Speed over ground, mm/s.
  public var speed_mmps: Int32?

  /// Creates a point.
  public init(
    coordinate: Coordinate, utc: UTCTime? = nil, altitude_mm: Int32? = nil,
    speed_mmps: Int32? = nil
  ) {
    self.coordinate = coordinate
    self.utc = utc
    self.altitude_mm = altitude_mm
    self.speed_mmps = speed_mmps
  }
}

/// A position in a file: line and column, both from 1.
public struct GPXTextPosition: Equatable, Sendable {
  /// Line number, from 1.
  public var line: Int
  /// Column number, from 1.
  public var column: Int
}

/// Content of a GPX file that is relevant to a track.
public struct GPXFile: Equatable, Sendable {
  /// The points of all segments of all tracks, in the order of the file.
  public var points: [GPXPoint] = []
  /// Position of each point in the file; as many as ``points``.
  public var positions: [GPXTextPosition] = []
  /// Number of tracks (`trk`), also of those without points.
  public var tracks = 0
  /// Number of routes (`rte`). Their points are ignored, because a route is planned, not recorded.
  public var routes = 0
  /// Number of waypoints (`wpt`), which are ignored.
  public var waypoints = 0

  init() {}
}
