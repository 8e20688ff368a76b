import LocationTypes
import SimulatedHAL

/// Statistics of the distance between the last reported position and the true position.
public struct BoundSummary: Equatable, Sendable {
  /// Number of evaluated seconds: from the first report on, without gaps of the recording.
  public var seconds = 0
  /// Number of those seconds in which the error exceeded the accuracy bound.
  public var exceededSeconds = 0
  /// 95th percentile of the error (nearest rank), metres.
  public var p95_m = 0.0
  /// Largest error, metres.
  public var maximum_m = 0.0

  /// Fraction of the seconds in which the bound was exceeded, 0 to 1; 0 without any seconds.
  public var exceededShare: Double { seconds > 0 ? Double(exceededSeconds) / Double(seconds) : 0 }

  /// Creates the summary of zero seconds.
  public init() {}
}

/// Compares reports with the true positions at every whole second of a track.
///
/// A receiver's fix applies to a whole second and is reported shortly after it. A report that arrives less than
/// `grace` after a second counts for that second, as in ``Optimum``, where a fix is reported at its own second.
/// Evaluation starts with the first report. A report applies until the next one. O(1) per second; memory grows by 8
/// bytes per second.
public struct BoundTally: Sendable {
  private let bound_m: Double
  /// Time before which a report counts for second 0.
  private let firstReportDeadline: Instant
  private let seconds: Int64
  private var reader: TrackReader
  private var lastReport: (coordinate: Coordinate, at: Instant)?
  /// Next second to evaluate.
  private var nextSecond: Int64 = 0
  /// First evaluated second, counted from the track's first point; nil before the first report.
  public private(set) var firstSecond: Int64?
  /// Last evaluated second; nil before the first report.
  var lastSecond: Int64? { firstSecond.map { $0 + Int64(errors.count) - 1 } }
  /// Errors at ``firstSecond`` and each second after it, metres; NaN in a gap of the recording. Complete after
  /// ``finish(at:)``.
  public private(set) var errors: [Double] = []
  private var exceededSeconds = 0

  /// Creates an empty tally.
  ///
  /// - Parameters:
  ///   - track: The true positions.
  ///   - bound_m: Accuracy bound, metres; up to 100,000.
  ///   - start: Time of the track's first point on the clock of the reports.
  ///   - gapLimit: Longest time between two points that does not count as a gap. Gaps are not evaluated.
  ///   - grace: Time after a second in which a report counts for it, 0 to below 1 s.
  public init(
    _ track: Track, within bound_m: Double, start: Instant = .boot,
    gapLimit: Interval = SampledTrack.gapLimit, grace: Interval = .milliseconds(500)
  ) {
    var measured = track
    measured.gapLimit = gapLimit
    reader = TrackReader(measured)
    seconds = track.duration.microseconds / 1_000_000
    firstReportDeadline = start + grace
    self.bound_m = bound_m
  }

  /// Adds a report of `coordinate` that was delivered at `moment`. The time of delivery counts, not the fix time. Of
  /// two reports at the same time, the later call applies.
  ///
  /// - Precondition: `moment` is not before that of the previous report.
  public mutating func add(_ coordinate: Coordinate, at moment: Instant) {
    if let lastReport {
      precondition(moment >= lastReport.at, "reports come in order of time")
      evaluate(before: moment)
    } else {
      let ahead = (moment - firstReportDeadline).microseconds
      nextSecond = max(0, ahead / 1_000_000 + (ahead > 0 && ahead % 1_000_000 > 0 ? 1 : 0))
    }
    lastReport = (coordinate, moment)
  }

  /// Returns the statistics for a run that ends at `end`, without further reports. Seconds whose grace time has
  /// passed by then are included; seconds beyond the track are not. O(n log n).
  public mutating func finish(at end: Instant = .distantFuture) -> BoundSummary {
    evaluate(before: end + Interval(microseconds: 1))
    var summary = BoundSummary()
    let sorted = errors.filter { !$0.isNaN }.sorted()
    summary.seconds = sorted.count
    summary.exceededSeconds = exceededSeconds
    guard !sorted.isEmpty else { return summary }
    summary.p95_m = sorted[(95 * sorted.count + 99) / 100 - 1]
    summary.maximum_m = sorted[sorted.count - 1]
    return summary
  }

  /// Evaluates the seconds before `moment`.
  private mutating func evaluate(before moment: Instant) {
    guard let lastReport else { return }
    while nextSecond <= seconds, firstReportDeadline + .seconds(nextSecond) < moment {
      let truth = reader.state(at: reader.track.firstTime + .seconds(nextSecond))
      if firstSecond == nil { firstSecond = nextSecond }
      nextSecond += 1
      if truth.isGap {
        errors.append(.nan)
        continue
      }
      let error = truth.coordinate.localDistance(to: lastReport.coordinate)
      errors.append(error)
      if error > bound_m { exceededSeconds += 1 }
    }
  }
}
