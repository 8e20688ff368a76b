/// Shortest path (geodesic) between two coordinates on the WGS 84 ellipsoid.
///
/// Never NaN, for any pair (LOC-7). If several paths are equally short, as between opposite poles, this is one of
/// them. O(1): at most 80 iterations of the solver, usually 2 to 4.
public struct Geodesic: Equatable, Sendable {
  /// Length in metres, accurate to 20 nm.
  public let length: Double
  /// Bearing at the start, degrees clockwise from true north, 0 ≤ bearing < 360; 0 if the length is 0.
  public let initialBearing: Double
  /// Forward bearing at the end, degrees clockwise from true north, 0 ≤ bearing < 360; 0 if the length is 0.
  public let finalBearing: Double

  /// Computes the geodesic from `start` to `end`.
  public init(from start: Coordinate, to end: Coordinate) {
    let solution = GeodesicSolution(from: start, to: end)
    length = solution.length
    initialBearing = length == 0 ? 0 : solution.initial.bearing
    finalBearing = length == 0 ? 0 : solution.final.bearing
  }
}

extension GeodesicSolution {
  /// Solves the inverse problem for any two coordinates: clamps latitudes to ±90° and wraps longitudes.
  init(from start: Coordinate, to end: Coordinate) {
    let turn: Int64 = 360_000_000_000
    var longitude = (end.longitude_e9 % turn - start.longitude_e9 % turn) % turn
    if longitude > turn / 2 { longitude -= turn }
    if longitude <= -turn / 2 { longitude += turn }
    self.init(
      latitude1: start.clampedLatitude, latitude2: end.clampedLatitude,
      longitude: Double(longitude) / 1e9)
  }
}

extension Coordinate {
  fileprivate var clampedLatitude: Double { max(-90, min(90, latitude)) }

  /// Length of the geodesic to `other` in metres, accurate to 20 nm for any two coordinates (LOC-6).
  ///
  /// Bit-exactly symmetric, 0 for equal coordinates, never NaN (LOC-7). Costs 10 to 20 times as much as
  /// ``localDistance(to:)``. Source: C. F. F. Karney, Algorithms for geodesics (2013).
  public func distance(to other: Coordinate) -> Double {
    GeodesicSolution(from: self, to: other).length
  }

  /// Initial bearing of the geodesic to `other`, degrees clockwise from true north.
  ///
  /// 0 ≤ bearing < 360; 0 for equal coordinates. For exact antipodes, one of the possible bearings.
  public func bearing(to other: Coordinate) -> Double {
    Geodesic(from: self, to: other).initialBearing
  }

  /// The coordinate at `distance` metres along the geodesic with the initial `bearing` in degrees. O(1).
  ///
  /// Accurate to the resolution of coordinates, 0.1 mm. At a pole, the bearing is relative to this coordinate's
  /// meridian. A negative distance runs backwards.
  ///
  /// - Precondition: The coordinate is valid, the bearing within ±360°, the distance within ±40,000 km.
  public func destination(bearing: Double, distance: Double) -> Coordinate {
    precondition(isValid, "a destination needs a valid start")
    precondition(abs(bearing) <= 360, "a bearing must be within ±360°")
    precondition(abs(distance) <= 40_000_000, "a distance must be within ±40,000 km")
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
