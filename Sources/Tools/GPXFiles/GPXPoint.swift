import LocationTypes

/// A point of a track, as far as a receiver's way is concerned.
public struct GPXPoint: Equatable, Sendable {
  /// Where.
  public var coordinate: Coordinate
  /// When; nil where nobody recorded it.
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

/// A place in a text: line and column, from 1.
public struct GPXPlace: Equatable, Sendable {
  /// The line.
  public var line: Int
  /// The character of the line.
  public var column: Int

  /// Creates a place.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// What is in a GPX file, as far as a track is concerned.
public struct GPXFile: Equatable, Sendable {
  /// The points of all segments of all tracks, in the order of the file.
  public var points: [GPXPoint] = []
  /// Where each point begins in the file.
  public var places: [GPXPlace] = []
  /// Routes (`rte`), which are planned and not travelled, and are passed over.
  public var routes = 0
  /// Waypoints (`wpt`), which are passed over.
  public var waypoints = 0

  init() {}
}
