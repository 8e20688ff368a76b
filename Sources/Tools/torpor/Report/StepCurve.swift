import LocationTypes

/// A step function of time in buckets of equal width. Each bucket keeps minimum, maximum and mean, so that no spike is
/// lost.
struct StepCurve {
  /// Values of one interval.
  struct Bucket {
    /// Minimum and maximum; infinite if the bucket is empty.
    var low = Double.infinity
    var high = -Double.infinity
    /// Time with a known value, microseconds, and the integral of the value over it.
    var time: Int64 = 0
    var area = 0.0

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

  init(width: Interval) { self.width = max(1, width.microseconds) }

  /// Sets the value from `moment` on; nil if unknown.
  mutating func set(_ value: Double?, at moment: Instant) {
    close(at: moment)
    self.value = value
  }

  /// Counts the current value up to `moment`; no effect if `moment` is not later than the last one.
  mutating func close(at moment: Instant) {
    while since < moment.microseconds {
      let index = Int(since / width)
      let time = min(moment.microseconds, Int64(index + 1) * width) - since
      if index == buckets.count { buckets.append(Bucket()) }
      if let value {
        buckets[index].add(
          Bucket(low: value, high: value, time: time, area: value * Double(time)))
      }
      since += time
    }
  }

  /// `value` of the bucket at `index`; nil if none is known.
  func value(_ index: Int, _ value: (Bucket) -> Double) -> Double? {
    buckets.indices.contains(index) && !buckets[index].isEmpty ? value(buckets[index]) : nil
  }

  /// The curve with `count` buckets merged into one.
  func merged(by count: Int) -> StepCurve {
    var curve = StepCurve(width: Interval(microseconds: width * Int64(count)))
    curve.buckets = stride(from: 0, to: buckets.count, by: count).map { first in
      buckets[first...].prefix(count).reduce(into: Bucket()) { $0.add($1) }
    }
    return curve
  }

  /// Lines of a chart over seconds along the value `high` of the buckets, without buckets of which less than 5 % is
  /// known, because their mean is not representative; with `low`, outlines of the areas between both values, of all
  /// buckets with a known value, or of the unknown ones.
  func lines(
    _ high: (Bucket) -> Double, from low: ((Bucket) -> Double)? = nil, areUnknown: Bool = false
  ) -> [[Chart.Point]] {
    func edge(_ run: Range<Int>, _ value: (Bucket) -> Double) -> [Chart.Point] {
      run.flatMap { index in
        [index, index + 1].map {
          Chart.Point(Double($0) * Double(width) / 1e6, value(buckets[index]))
        }
      }
    }
    let runs = buckets.indices.split { index in
      let bucket = buckets[index]
      guard let low else { return bucket.time * 20 < width }
      return bucket.isEmpty != areUnknown || low(bucket) >= high(bucket)
    }
    return runs.map { run in edge(run, high) + (low.map { edge(run, $0).reversed() } ?? []) }
  }
}
