import LocationTypes
import SimulatedHAL

/// Distinct positions, metres east and north, rounded to the cells of a grid, in bounded memory: when there are more
/// than ``capacity``, the cells grow. No outlier is lost.
struct PositionSamples {
  /// Largest number of positions kept.
  static let capacity = 5_000

  /// Positions kept, each at the centre of its cell.
  private(set) var points: Set<Chart.Point> = []
  private var cell_m: Double

  /// Creates an empty collection with cells of `cell_m` metres.
  init(cell_m: Double) { self.cell_m = cell_m }

  mutating func add(_ point: Chart.Point) {
    points.insert(rounded(point))
    while points.count > PositionSamples.capacity {
      cell_m *= 2
      points = Set(points.map(rounded))
    }
  }

  private func rounded(_ point: Chart.Point) -> Chart.Point {
    ((point / cell_m).rounded(.down) + 0.5) * cell_m
  }
}

/// A plane tangent to the ellipsoid at the centre of a track.
struct TangentPlane {
  /// Extent of the track, metres: the greater of its width and height.
  private(set) var extent_m = 0.0
  private var centre: Coordinate

  init(_ track: Track) {
    centre = track.points[0].coordinate
    let (low, high) = track.points.map { point($0.coordinate) }.bounds
    extent_m = (high - low).max()
    centre = centre.moved(east: (low.x + high.x) / 2, north: (low.y + high.y) / 2)
  }

  /// Position of a coordinate on the plane, metres east and north.
  func point(_ coordinate: Coordinate) -> Chart.Point {
    let (east, north) = centre.localOffset(to: coordinate)
    return [east, north]
  }
}

extension [Chart.Point] {
  /// Least and greatest coordinates of at least one point.
  var bounds: (low: Chart.Point, high: Chart.Point) {
    (reduce(self[0]) { pointwiseMin($0, $1) }, reduce(self[0]) { pointwiseMax($0, $1) })
  }
}
