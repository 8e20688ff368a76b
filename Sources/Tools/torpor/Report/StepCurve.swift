import LocationTypes

/// A step function of time in buckets of equal width.
///
/// Each bucket keeps minimum, maximum and mean, so that no spike is lost.
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

    mutating func add(_ other: Bucket) {
      low = min(low, other.low)
      high = max(high, other.high)
      time += other.time
      area += other.area
    }
  }

  /// Width of a bucket, microseconds.
  let width: Int64
  /// The buckets, from the start of the run.
  private(set) var buckets: [Bucket] = []
  private var value: Double?
  private var since: Int64 = 0

  /// Creates a curve without a value.
  init(width: Interval) { self.width = max(1, width.microseconds) }

  /// Sets the value from `moment` on; nil if unknown.
  mutating func set(_ value: Double?, at moment: Instant) {
    close(at: moment)
    self.value = value
  }

  /// Counts the current value up to `moment`; no effect if `moment` is not later than the last one.
  mutating func close(at moment: Instant) {
    let end = moment.microseconds
    guard end > since else { return }
    if let value {
      var from = since
      while from < end {
        let index = Int(from / width)
        let time = min(end, Int64(index + 1) * width) - from
        while buckets.count <= index { buckets.append(Bucket()) }
        buckets[index].add(
          Bucket(low: value, high: value, time: time, area: value * Double(time)))
        from += time
      }
    }
    since = end
  }

  /// The curve with `count` buckets merged into one.
  func merged(by count: Int) -> StepCurve {
    var curve = StepCurve(width: Interval(microseconds: width * Int64(count)))
    for (index, bucket) in buckets.enumerated() {
      if index % count == 0 { curve.buckets.append(Bucket()) }
      curve.buckets[index / count].add(bucket)
    }
    return curve
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
}
