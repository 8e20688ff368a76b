import LocationTypes
import SimulatedHAL

/// A position on a ``TangentPlane``, metres.
struct PlanePoint: Hashable {
  var east: Double
  var north: Double
}

/// Distinct positions, rounded to the cells of a grid, in bounded memory: when there are more than ``capacity``, the
/// cells grow. No outlier is lost.
struct PositionSamples {
  /// Largest number of positions kept.
  static let capacity = 5_000

  /// Number of positions added.
  private(set) var count = 0
  /// Positions kept, each at the centre of its cell.
  private(set) var points: Set<PlanePoint> = []
  private var cell_m: Double

  /// Creates an empty collection with cells of `cell_m` metres.
  init(cell_m: Double) { self.cell_m = cell_m }

  /// Adds a position.
  mutating func add(_ point: PlanePoint) {
    count += 1
    points.insert(rounded(point))
    while points.count > PositionSamples.capacity {
      cell_m *= 2
      points = Set(points.map(rounded))
    }
  }

  private func rounded(_ point: PlanePoint) -> PlanePoint {
    func centre(_ value: Double) -> Double { ((value / cell_m).rounded(.down) + 0.5) * cell_m }
    return PlanePoint(east: centre(point.east), north: centre(point.north))
  }
}

/// A plane tangent to the ellipsoid at the centre of a track, linear in latitude and longitude
/// (equirectangular projection). Accurate enough for a map of a day's movement.
struct TangentPlane {
  /// Extent of the track, metres: the greater of its width and height.
  let extent_m: Double
  private let centre: Coordinate
  private let eastPerUnit: Double
  private let northPerUnit: Double

  /// The plane for `track`.
  init(_ track: Track) {
    let first = track.points[0].coordinate
    // Longitudes are relative to the first point, so that a track can cross the antimeridian.
    let east = TangentPlane.range(
      track.points.map {
        TangentPlane.normalizedLongitude($0.coordinate.longitude_e9 - first.longitude_e9)
      })
    let north = TangentPlane.range(track.points.map(\.coordinate.latitude_e9))
    centre = Coordinate(
      latitude_e9: (north.low + north.high) / 2,
      longitude_e9: TangentPlane.normalizedLongitude(
        first.longitude_e9 + (east.low + east.high) / 2))
    let parallelPoint = Coordinate(
      latitude_e9: centre.latitude_e9,
      longitude_e9: TangentPlane.normalizedLongitude(centre.longitude_e9 + 1_000_000))
    let meridianPoint = Coordinate(
      latitude_e9: centre.latitude_e9 + (centre.latitude_e9 > 0 ? -1_000_000 : 1_000_000),
      longitude_e9: centre.longitude_e9)
    eastPerUnit = max(abs(centre.localOffset(to: parallelPoint).east) / 1e6, 1e-9)
    northPerUnit = abs(centre.localOffset(to: meridianPoint).north) / 1e6
    extent_m = max(
      Double(east.high - east.low) * eastPerUnit, Double(north.high - north.low) * northPerUnit)
  }

  private static func range(_ values: [Int64]) -> (low: Int64, high: Int64) {
    (values.min() ?? 0, values.max() ?? 0)
  }

  /// Position of a coordinate on the plane.
  func point(_ coordinate: Coordinate) -> PlanePoint {
    PlanePoint(
      east: Double(TangentPlane.normalizedLongitude(coordinate.longitude_e9 - centre.longitude_e9))
        * eastPerUnit,
      north: Double(coordinate.latitude_e9 - centre.latitude_e9) * northPerUnit)
  }

  /// A difference of longitudes, 10⁻⁹ degrees, normalised to ±180°.
  private static func normalizedLongitude(_ units: Int64) -> Int64 {
    if units > 180_000_000_000 { return units - 360_000_000_000 }
    if units < -180_000_000_000 { return units + 360_000_000_000 }
    return units
  }
}
