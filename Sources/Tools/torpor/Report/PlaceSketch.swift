import LocationTypes

/// A place on a plane, metres.
struct PlanePoint: Equatable {
  var east: Double
  var north: Double
}

/// Places in the order in which they came, in bounded memory: of neighbours that share a bucket, the
/// first, the last and those farthest out to each side are kept, so that no outlier is lost.
///
/// When there are more than ``capacity`` buckets, each two become one. O(1) amortised.
struct PlaceSketch {
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

  /// How many buckets there are at most; each gives up to six places.
  let capacity: Int
  /// How many places came.
  private(set) var count = 0
  private var each = 1
  private var buckets: [Bucket] = []
  private var inLast = 0

  /// Begins without a place; `capacity` is even.
  init(capacity: Int = 800) {
    precondition(capacity >= 2 && capacity % 2 == 0)
    self.capacity = capacity
  }

  /// Adds a place.
  mutating func add(_ point: PlanePoint) {
    count += 1
    if inLast == each || buckets.isEmpty {
      if buckets.count == capacity { fold() }
      buckets.append(Bucket(point))
      inLast = 1
    } else {
      buckets[buckets.count - 1].add(Bucket(point))
      inLast += 1
    }
  }

  private mutating func fold() {
    buckets = stride(from: 0, to: buckets.count, by: 2).map { index in
      var bucket = buckets[index]
      bucket.add(buckets[index + 1])
      return bucket
    }
    each *= 2
  }

  /// What is kept, at most six places a bucket. Within a bucket the sides come west, south, north,
  /// east or the other way round, whichever is the way it went.
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
