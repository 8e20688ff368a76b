import LocationTypes

/// A position on a ``TangentPlane``, metres; the element of ``PositionSamples``.
struct PlanePoint: Equatable {
  var east: Double
  var north: Double
}

/// Positions in chronological order, downsampled into bounded memory.
///
/// Consecutive positions share a bucket, which keeps the first, the last and the westernmost, easternmost, southernmost
/// and northernmost one, so that no outlier is lost. When all ``capacity`` buckets are full, pairs of buckets are
/// merged. O(1) amortised for each position.
struct PositionSamples {
  private struct Bucket {
    var first: PlanePoint
    var last: PlanePoint
    var west: PlanePoint
    var east: PlanePoint
    var south: PlanePoint
    var north: PlanePoint

    init(_ point: PlanePoint) {
      (first, last, west, east, south, north) = (point, point, point, point, point, point)
    }

    mutating func add(_ other: Bucket) {
      last = other.last
      if other.west.east < west.east { west = other.west }
      if other.east.east > east.east { east = other.east }
      if other.south.north < south.north { south = other.south }
      if other.north.north > north.north { north = other.north }
    }
  }

  /// Largest number of buckets; each has up to six positions.
  let capacity: Int
  /// Number of positions added.
  private(set) var count = 0
  private var pointsPerBucket = 1
  private var buckets: [Bucket] = []
  private var lastBucketCount = 0

  /// Creates an empty collection; `capacity` must be even.
  init(capacity: Int = 800) {
    precondition(capacity >= 2 && capacity % 2 == 0)
    self.capacity = capacity
  }

  /// Adds a position.
  mutating func add(_ point: PlanePoint) {
    count += 1
    if lastBucketCount == pointsPerBucket || buckets.isEmpty {
      if buckets.count == capacity { mergePairs() }
      buckets.append(Bucket(point))
      lastBucketCount = 1
    } else {
      buckets[buckets.count - 1].add(Bucket(point))
      lastBucketCount += 1
    }
  }

  private mutating func mergePairs() {
    buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
      var bucket = buckets[index]
      bucket.add(buckets[index + 1])
      return bucket
    }
    pointsPerBucket *= 2
  }

  /// The positions kept, at most six for each bucket. Within a bucket, the extremes have the order west, south, north,
  /// east if the movement is eastward, else the reverse.
  var points: [PlanePoint] {
    var result: [PlanePoint] = []
    for bucket in buckets {
      let isEastward = bucket.first.east <= bucket.last.east
      let sides = [bucket.west, bucket.south, bucket.north, bucket.east]
      for point in [bucket.first] + (isEastward ? sides : sides.reversed()) + [bucket.last]
      where result.last != point {
        result.append(point)
      }
    }
    return result
  }
}
