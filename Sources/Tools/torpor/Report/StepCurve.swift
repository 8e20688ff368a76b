import LocationTypes

/// A value that holds until the next one, in at most ``capacity`` buckets of time, however long it
/// goes on: each keeps the least and the greatest value, so that no spike is lost, and their mean.
///
/// When time outgrows the buckets, each two become one. O(1) amortised for each change and bucket.
struct StepCurve {
  /// What was in one stretch of time.
  struct Bucket: Equatable {
    /// The least value; above ``high`` where there was none.
    var low = Double.infinity
    /// The greatest value.
    var high = -Double.infinity
    /// How long there was a value, microseconds.
    var time: Int64 = 0
    /// Value times microseconds.
    var area = 0.0

    /// Whether nothing is known of this stretch.
    var isEmpty: Bool { time == 0 }
    /// The mean over the time in which there was a value.
    var mean: Double { time > 0 ? area / Double(time) : 0 }

    mutating func add(_ value: Double, for time: Int64) {
      low = min(low, value)
      high = max(high, value)
      self.time += time
      area += value * Double(time)
    }

    mutating func add(_ other: Bucket) {
      low = min(low, other.low)
      high = max(high, other.high)
      time += other.time
      area += other.area
    }
  }

  /// How many buckets there are at most.
  let capacity: Int
  /// How long a bucket is, microseconds.
  private(set) var width: Int64
  /// The buckets from the start on.
  private(set) var buckets: [Bucket] = []
  private var value: Double?
  private var since: Int64 = 0

  /// Begins without a value.
  ///
  /// - Parameters:
  ///   - length: How long it is thought to be; it may be longer.
  ///   - capacity: How many buckets at most; even.
  init(_ length: Interval, capacity: Int = 1_000) {
    precondition(capacity >= 2 && capacity % 2 == 0, "two buckets become one")
    self.capacity = capacity
    // A run goes on for a moment after its end.
    width = max(1, (length.microseconds + 3_000_000) / Int64(capacity) + 1)
  }

  /// Begins with buckets of this length.
  init(buckets width: Interval, capacity: Int) {
    precondition(capacity >= 2 && capacity % 2 == 0 && width > .zero)
    self.capacity = capacity
    self.width = width.microseconds
  }

  /// From `moment` on it is `value`; nil where it is not known.
  mutating func set(_ value: Double?, at moment: Instant) {
    close(at: moment)
    self.value = value
  }

  /// Counts what holds up to `moment`; earlier than the last one it changes nothing.
  mutating func close(at moment: Instant) {
    let end = moment.microseconds
    guard end > since else { return }
    if let value { fill(since, end, value) }
    since = end
  }

  /// Without the last bucket where that is but begun: the mean of a moment says little.
  var withoutScrap: StepCurve {
    var curve = self
    if let last = buckets.last, last.time * 20 < width, buckets.count > 1 {
      curve.buckets[buckets.count - 1] = buckets[buckets.count - 2]
    }
    return curve
  }

  private mutating func fill(_ begin: Int64, _ end: Int64, _ value: Double) {
    while (end - 1) / width >= Int64(capacity) { fold() }
    var from = begin
    while from < end {
      let index = Int(from / width)
      let to = min(end, Int64(index + 1) * width)
      while buckets.count <= index { buckets.append(Bucket()) }
      buckets[index].add(value, for: to - from)
      from = to
    }
  }

  private mutating func fold() {
    var folded: [Bucket] = []
    for index in stride(from: 0, to: buckets.count, by: 2) {
      var bucket = buckets[index]
      if index + 1 < buckets.count { bucket.add(buckets[index + 1]) }
      folded.append(bucket)
    }
    buckets = folded
    width *= 2
  }
}

/// How much of something came in each stretch of time, in at most ``capacity`` buckets.
struct CountCurve {
  /// How many buckets there are at most.
  let capacity: Int
  /// How long a bucket is, microseconds.
  private(set) var width: Int64
  /// The buckets from the start on.
  private(set) var counts: [Int] = []

  /// Begins with buckets of this length; `capacity` is even.
  init(buckets width: Interval, capacity: Int) {
    precondition(capacity >= 2 && capacity % 2 == 0 && width > .zero)
    self.capacity = capacity
    self.width = width.microseconds
  }

  /// Counts `more` at `moment`, which is not before the start.
  mutating func add(_ more: Int, at moment: Instant) {
    while moment.microseconds / width >= Int64(capacity) { fold() }
    let index = Int(max(moment.microseconds, 0) / width)
    while counts.count <= index { counts.append(0) }
    counts[index] += more
  }

  private mutating func fold() {
    counts = stride(from: 0, to: counts.count, by: 2).map {
      counts[$0] + ($0 + 1 < counts.count ? counts[$0 + 1] : 0)
    }
    width *= 2
  }
}
