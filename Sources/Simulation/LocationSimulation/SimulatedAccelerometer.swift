import LocationTypes
import SimulatedHAL

/// Simulates the output line of a motion sensor from a track.
///
/// The motion in a recorded track is blurred by the errors of its receiver. A second counts as motion if the track,
/// smoothed by a 9 s median, moves more than 12 m within 30 s, or more than 5 m within 8 s. The start and end of each
/// period of motion are trimmed to where the speed exceeds 0.35 m/s. The line becomes active up to 2 s late, becomes
/// inactive `stillAfter` after the last motion, and gives one false alarm per hour on average.
public struct SimulatedAccelerometer: Sendable {
  /// Longest delay from the start of motion to the edge, seconds.
  static let maximumLatency_s = 2.0
  /// Mean time between two false alarms, seconds.
  static let falseAlarmInterval_s = 3_600.0

  /// Periods in which the line is active; times are relative to the track's first point.
  public let activePeriods: [Range<Instant>]

  /// Computes the periods for `track`. O(seconds).
  ///
  /// - Parameters:
  ///   - stillAfter: Time from the last motion until the line becomes inactive.
  ///   - seed: Seed of delays and false alarms.
  public init(_ track: Track, stillAfter: Interval = .seconds(10), seed: UInt64) {
    let isMoving = SimulatedAccelerometer.motion(SampledTrack(track, gapLimit: .unlimited))
    var random = SimulationRandom(seed: seed, stream: 9)
    var raw: [(begin: Double, end: Double)] = []
    for motion in isMoving.indices(where: { $0 }).ranges {
      let latency = random.uniform(
        0, min(SimulatedAccelerometer.maximumLatency_s, Double(motion.count)))
      raw.append(
        (Double(motion.lowerBound) + latency, Double(motion.upperBound) + stillAfter.seconds))
    }
    for second in isMoving.indices
    where random.uniform() < 1 / SimulatedAccelerometer.falseAlarmInterval_s {
      raw.append((Double(second), Double(second) + stillAfter.seconds))
    }
    activePeriods = SimulatedAccelerometer.merged(raw)
  }

  private static func merged(_ raw: [(begin: Double, end: Double)]) -> [Range<Instant>] {
    var periods: [Range<Instant>] = []
    for period in raw.sorted(by: { $0.begin < $1.begin }) {
      let begin = Instant(seconds: period.begin)
      let end = Instant(seconds: period.end)
      if let last = periods.last, begin <= last.upperBound {
        periods[periods.count - 1] = last.lowerBound..<max(last.upperBound, end)
      } else {
        periods.append(begin..<end)
      }
    }
    return periods
  }
}

// MARK: Motion from positions

extension SimulatedAccelerometer {
  /// Returns for each second whether the device moves.
  static func motion(_ track: SampledTrack) -> [Bool] {
    let count = track.coordinates.count
    let offsets = track.coordinates.map { track.coordinates[0].localOffset(to: $0) }
    let east = medians(offsets.map(\.east))
    let north = medians(offsets.map(\.north))
    func moved(_ second: Int, within window: Int) -> Double {
      let before = max(second - window / 2, 0)
      let after = min(second + window / 2, count - 1)
      let (x, y) = (east[after] - east[before], north[after] - north[before])
      return (x * x + y * y).squareRoot()
    }
    var isMoving = (0..<count).map { moved($0, within: 30) > 12 || moved($0, within: 8) > 5 }
    let isSlow = { (second: Int) in moved(second, within: 6) / 6 < 0.35 }
    for motion in isMoving.indices(where: { $0 }).ranges {
      for second in motion.prefix(while: isSlow) { isMoving[second] = false }
      for second in motion.reversed().prefix(while: isSlow) { isMoving[second] = false }
    }
    return isMoving
  }

  /// Returns for each value the median of the nine values around it.
  private static func medians(_ values: [Double]) -> [Double] {
    values.indices.map { middle in
      let window = values[max(middle - 4, 0)...min(middle + 4, values.count - 1)].sorted()
      return window[window.count / 2]
    }
  }
}
