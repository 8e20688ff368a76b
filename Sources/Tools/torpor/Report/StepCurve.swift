import LocationTypes

/// A step function of time, downsampled into at most ``capacity`` buckets of equal width.
///
/// Each bucket keeps minimum, maximum and mean, so that no spike is lost. When the time exceeds the buckets, pairs of
/// buckets are merged. O(1) amortised for each change and bucket.
struct StepCurve {
  /// Values of one interval.
  struct Bucket: Equatable {
    /// Minimum; greater than ``high`` if the bucket is empty.
    var low = Double.infinity
    /// Maximum.
    var high = -Double.infinity
    /// Time with a known value, microseconds.
    var time: Int64 = 0
    /// Integral of the value over time: the value times microseconds.
    var area = 0.0

    /// Whether no value is known in this interval.
    var isEmpty: Bool { time == 0 }
    /// Mean over the time with a known value; 0 if empty.
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

  /// Largest number of buckets.
  let capacity: Int
  /// Width of a bucket, microseconds.
  private(set) var width: Int64
  /// The buckets, from the start of the run.
  private(set) var buckets: [Bucket] = []
  private var value: Double?
  private var since: Int64 = 0

  /// Creates a curve without a value.
  ///
  /// - Parameters:
  ///   - length: Expected duration; the actual one can be longer.
  ///   - capacity: Largest number of buckets; must be even.
  init(_ length: Interval, capacity: Int = 1_000) {
    precondition(capacity >= 2 && capacity % 2 == 0, "capacity is even, because pairs are merged")
    self.capacity = capacity
    // 3 s more, because a run continues for a moment after its planned end.
    width = max(1, (length.microseconds + 3_000_000) / Int64(capacity) + 1)
  }

  /// Creates a curve with buckets of `width`.
  init(buckets width: Interval, capacity: Int) {
    precondition(capacity >= 2 && capacity % 2 == 0 && width > .zero)
    self.capacity = capacity
    self.width = width.microseconds
  }

  /// Sets the value from `moment` on; nil if unknown.
  mutating func set(_ value: Double?, at moment: Instant) {
    close(at: moment)
    self.value = value
  }

  /// Counts the current value up to `moment`; no effect if `moment` is not later than the last one.
  mutating func close(at moment: Instant) {
    let end = moment.microseconds
    guard end > since else { return }
    if let value { fill(since, end, value) }
    since = end
  }

  /// The curve with the last bucket replaced by the one before if less than 5 % of it is covered, because its mean is
  /// not representative.
  var withoutPartialLast: StepCurve {
    var curve = self
    if let last = buckets.last, last.time * 20 < width, buckets.count > 1 {
      curve.buckets[buckets.count - 1] = buckets[buckets.count - 2]
    }
    return curve
  }

  private mutating func fill(_ begin: Int64, _ end: Int64, _ value: Double) {
    while (end - 1) / width >= Int64(capacity) { mergePairs() }
    var from = begin
    while from < end {
      let index = Int(from / width)
      let to = min(end, Int64(index + 1) * width)
      while buckets.count <= index { buckets.append(Bucket()) }
      buckets[index].add(value, for: to - from)
      from = to
    }
  }

  private mutating func mergePairs() {
    var merged: [Bucket] = []
    for index in stride(from: 0, to: buckets.count, by: 2) {
      var bucket = buckets[index]
      if index + 1 < buckets.count { bucket.add(buckets[index + 1]) }
      merged.append(bucket)
    }
    buckets = merged
    width *= 2
  }
}

/// Number of events in each interval of time, in at most ``capacity`` buckets. Pairs of buckets are merged when the
/// time exceeds them.
struct CountCurve {
  /// Largest number of buckets.
  let capacity: Int
  /// Width of a bucket, microseconds.
  private(set) var width: Int64
  /// Count of each bucket, from the start of the run.
  private(set) var counts: [Int] = []

  /// Creates a curve with buckets of `width`; `capacity` must be even.
  init(buckets width: Interval, capacity: Int) {
    precondition(capacity >= 2 && capacity % 2 == 0 && width > .zero)
    self.capacity = capacity
    self.width = width.microseconds
  }

  /// Adds `more` events at `moment`, which must not be before the start.
  mutating func add(_ more: Int, at moment: Instant) {
    while moment.microseconds / width >= Int64(capacity) { mergePairs() }
    let index = Int(max(moment.microseconds, 0) / width)
    while counts.count <= index { counts.append(0) }
    counts[index] += more
  }

  private mutating func mergePairs() {
    counts = stride(from: 0, to: counts.count, by: 2).map {
      counts[$0] + ($0 + 1 < counts.count ? counts[$0 + 1] : 0)
    }
    width *= 2
  }
}
