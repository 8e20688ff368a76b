/// The stay points of Li et al. (2008), as trackintel 1.4 finds them with
/// `generate_staypoints(method="sliding")`: the reference for visits. Written from its description;
/// compared with the package itself on recorded tracks and generated weeks.
enum SlidingStayPoints {
  struct Sample {
    var time: Double
    var latitude: Double
    var longitude: Double
  }

  struct Stay: Equatable {
    var start: Double
    var end: Double
  }

  /// A stay begins with a fix and ends with the first one ≥ `distance` metres from it; it counts
  /// when that is ≥ `time` seconds later. A gap of more than `gap` seconds restarts the search and
  /// drops the stay before it; the last stay is dropped too unless `includesLast`.
  static func find(
    _ samples: [Sample], distance: Double = 200, time: Double = 1200, gap: Double = 900,
    includesLast: Bool = false, haversine: (Sample, Sample) -> Double
  ) -> [Stay] {
    var stays: [Stay] = []
    guard var start = samples.first, var previous = samples.first else { return [] }
    for sample in samples.dropFirst() {
      defer { previous = sample }
      if sample.time - previous.time > gap {
        start = sample
        continue
      }
      guard haversine(start, sample) >= distance else { continue }
      if sample.time - start.time >= time {
        stays.append(Stay(start: start.time, end: sample.time))
      }
      start = sample
    }
    if includesLast, previous.time - start.time >= time {
      stays.append(Stay(start: start.time, end: previous.time))
    }
    return stays
  }

  /// Number of pairs of `found` and `expected` with an intersection over union ≥ `least`.
  static func matches(_ found: [Stay], _ expected: [Stay], least: Double = 0.5) -> Int {
    var used = Set<Int>()
    var count = 0
    for stay in found {
      for (i, other) in expected.enumerated() where !used.contains(i) {
        let both = min(stay.end, other.end) - max(stay.start, other.start)
        let all = max(stay.end, other.end) - min(stay.start, other.start)
        guard both > 0, both >= least * all else { continue }
        used.insert(i)
        count += 1
        break
      }
    }
    return count
  }
}
