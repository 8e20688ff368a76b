import LocationTypes
import SimulatedHAL

/// The positions of a track, sampled at each whole second from its first point on.
public struct SampledTrack: Sendable {
  /// Default for the longest time between two points that does not count as a gap.
  public static let gapLimit = Interval.seconds(30)

  /// Position at each whole second.
  public let coordinates: [Coordinate]
  /// Whether each second is inside a gap of the recording, so that its position is only interpolated.
  public let isGap: [Bool]
}

extension SampledTrack {
  /// Samples `track`. O(points + seconds).
  ///
  /// - Parameter gapLimit: Longest time between two points that does not count as a gap.
  public init(_ track: Track, gapLimit: Interval = SampledTrack.gapLimit) {
    var measured = track
    measured.gapLimit = gapLimit
    var reader = TrackReader(measured)
    let count = Int(track.duration.microseconds / 1_000_000) + 1
    var coordinates: [Coordinate] = []
    var isGap: [Bool] = []
    coordinates.reserveCapacity(count)
    isGap.reserveCapacity(count)
    for second in 0..<count {
      let state = reader.state(at: track.firstTime + .seconds(Int64(second)))
      coordinates.append(state.coordinate)
      isGap.append(state.isGap)
    }
    self.coordinates = coordinates
    self.isGap = isGap
  }

  /// Last whole second, counted from the track's first point.
  var lastSecond: Int64 { Int64(coordinates.count) - 1 }

  /// Returns the given seconds, none of which is after ``lastSecond``. Seconds after `known` count as a gap.
  func part(_ seconds: ClosedRange<Int>, evaluatedUpTo known: Int) -> SampledTrack {
    SampledTrack(
      coordinates: Array(coordinates[seconds]), isGap: seconds.map { isGap[$0] || $0 > known })
  }

  /// Returns for each second the first later second outside gaps whose position is more than `distance_m` away; the
  /// number of seconds if none exists.
  ///
  /// Distances are those of ``Coordinate/localDistance(to:)``. O(log n) for each second if the following stretches
  /// are well inside the circle; stretches within a thousandth of its edge are checked second by second.
  ///
  /// - Parameter distance_m: Metres, up to 100,000.
  public func departures(beyond distance_m: Double) -> [Int] {
    let boxes = BoundingBoxTree(self)
    return coordinates.indices.map { boxes.departure(from: $0, beyond: distance_m) }
  }
}

/// Bounding boxes of the stretches of a track in a binary tree, so that stretches inside a circle are skipped as a
/// whole.
private struct BoundingBoxTree {
  /// A box in Earth-centred, Earth-fixed coordinates (ECEF), metres; an empty one has `low` above `high`.
  struct Box {
    var low = SIMD3(repeating: Double.infinity)
    var high = SIMD3(repeating: -Double.infinity)

    var isEmpty: Bool { low.x > high.x }

    mutating func add(_ other: Box) {
      low = pointwiseMin(low, other.low)
      high = pointwiseMax(high, other.high)
    }

    /// Returns the square of the largest distance from `point` to any point of the box.
    func farthestSquared(from point: SIMD3<Double>) -> Double {
      let far = pointwiseMax(point - low, high - point)
      return (far * far).sum()
    }
  }

  /// Number of seconds per leaf.
  private static let leafSize = 16
  private let track: SampledTrack
  /// Position at each second, ECEF, metres.
  private let points: [SIMD3<Double>]
  /// Number of leaves, a power of two. The box of node k contains those of nodes 2k and 2k + 1.
  private let leafCount: Int
  private var boxes: [Box]

  init(_ track: SampledTrack) {
    self.track = track
    points = track.coordinates.map(BoundingBoxTree.vector)
    let count = track.coordinates.count
    var leaves = 1
    while leaves * BoundingBoxTree.leafSize < count { leaves *= 2 }
    self.leafCount = leaves
    boxes = Array(repeating: Box(), count: 2 * leaves)
    for second in 0..<count where !track.isGap[second] {
      let point = points[second]
      boxes[leaves + second / BoundingBoxTree.leafSize].add(Box(low: point, high: point))
    }
    for node in (1..<leaves).reversed() {
      boxes[node] = boxes[2 * node]
      boxes[node].add(boxes[2 * node + 1])
    }
  }

  private static func vector(_ coordinate: Coordinate) -> SIMD3<Double> {
    let point = ECEF(coordinate, height: 0)
    return SIMD3(point.x, point.y, point.z)
  }

  func departure(from second: Int, beyond distance: Double) -> Int {
    let count = track.coordinates.count
    let origin = track.coordinates[second]
    let centre = points[second]
    // A chord is shorter than the distance over ground, by less than this margin up to 100 km.
    let limitSquared = distance * 0.999 * distance * 0.999
    var next = second + 1
    while next < count {
      var node = leafCount + next / BoundingBoxTree.leafSize
      guard next % BoundingBoxTree.leafSize == 0, isInside(node, centre, limitSquared) else {
        let end = min((next / BoundingBoxTree.leafSize + 1) * BoundingBoxTree.leafSize, count)
        if let found = (next..<end).first(where: {
          let offset = points[$0] - centre
          return (offset * offset).sum() > limitSquared && !track.isGap[$0]
            && origin.localDistance(to: track.coordinates[$0]) > distance
        }) {
          return found
        }
        next = end
        continue
      }
      // Find the largest stretch that starts at this node and is completely inside.
      var width = BoundingBoxTree.leafSize
      while node > 1, node % 2 == 0, isInside(node / 2, centre, limitSquared) {
        node /= 2
        width *= 2
      }
      next += width
    }
    return count
  }

  private func isInside(_ node: Int, _ centre: SIMD3<Double>, _ limitSquared: Double) -> Bool {
    boxes[node].isEmpty || boxes[node].farthestSquared(from: centre) <= limitSquared
  }
}
