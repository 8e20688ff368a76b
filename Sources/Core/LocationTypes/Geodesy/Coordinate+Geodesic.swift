/// The shortest line between two places on the WGS 84 ellipsoid.
///
/// Never NaN, for any pair (LOC-7). Where several lines are equally short, as between opposite
/// poles, it is one of them. O(1): no more than 80 trials of an azimuth, and 2 to 4 usually.
public struct Geodesic: Equatable, Sendable {
  /// Metres, to 20 nm.
  public let length: Double
  /// Degrees clockwise from true north at the start, 0 ≤ bearing < 360; 0 if the length is 0.
  public let initialBearing: Double
  /// Degrees clockwise from true north at the end, of the line carried on; 0 if the length is 0.
  public let finalBearing: Double

  /// The line from `start` to `end`.
  public init(from start: Coordinate, to end: Coordinate) {
    let solution = GeodesicSolution(from: start, to: end)
    length = solution.length
    initialBearing = length == 0 ? 0 : solution.initial.bearing
    finalBearing = length == 0 ? 0 : solution.final.bearing
  }
}

extension GeodesicSolution {
  /// A latitude beyond a pole counts as the pole, a longitude beyond ±180° is wrapped: any two
  /// coordinates have an answer.
  init(from start: Coordinate, to end: Coordinate) {
    let turn: Int64 = 360_000_000_000
    var longitude = (end.longitude_e9 % turn - start.longitude_e9 % turn) % turn
    if longitude > turn / 2 { longitude -= turn }
    if longitude <= -turn / 2 { longitude += turn }
    self.init(
      latitude1: start.latitudeOnEarth, latitude2: end.latitudeOnEarth,
      longitude: Double(longitude) / 1e9)
  }
}

extension Coordinate {
  fileprivate var latitudeOnEarth: Double { max(-90, min(90, latitude)) }

  /// The length of the geodesic to `other` in metres: exact to 20 nm, for any two places (LOC-6).
  ///
  /// Symmetric to the bit, 0 for equal places, never NaN (LOC-7). Costs 10 to 20 times what
  /// ``localDistance(to:)`` does. C. F. F. Karney, Algorithms for geodesics (2013).
  public func distance(to other: Coordinate) -> Double {
    GeodesicSolution(from: self, to: other).length
  }

  /// The bearing in which the geodesic to `other` leaves, degrees from true north.
  ///
  /// 0 ≤ bearing < 360; 0 for equal places. Between exact antipodes any may be right: one is given.
  public func bearing(to other: Coordinate) -> Double {
    Geodesic(from: self, to: other).initialBearing
  }

  /// The place `distance` metres from here along the geodesic that leaves at `bearing` degrees.
  ///
  /// Exact to the rounding of coordinates, 0.1 mm. At a pole the bearing is counted from this
  /// coordinate's meridian. A negative distance goes backwards. The coordinate must be valid, the
  /// bearing within ±360°, the distance within ±40,000 km. O(1).
  public func destination(bearing: Double, distance: Double) -> Coordinate {
    precondition(isValid, "a destination needs a start on the globe")
    precondition(abs(bearing) <= 360, "a bearing is within ±360°")
    precondition(abs(distance) <= 40_000_000, "once around the globe is enough")
    let end = GeodesicEnd(
      latitude: latitude, azimuth: Angle(degrees: bearing), distance: distance)
    let turn: Int64 = 360_000_000_000
    var longitude = (longitude_e9 + Int64((end.longitude * 1e9).rounded())) % turn
    if longitude > turn / 2 { longitude -= turn }
    if longitude < -turn / 2 { longitude += turn }
    return Coordinate(
      latitude_e9: Int64((end.latitude * 1e9).rounded()), longitude_e9: longitude)
  }
}
