import LocationTypes
import SimulatedHAL

/// How far the last reported position was from the truth.
public struct BoundSummary: Equatable, Sendable {
  /// Seconds that were looked at: from the first report on, outside the recording's gaps.
  public var seconds = 0
  /// Those of them at which the report was farther away than the bound.
  public var broken = 0
  /// The error that 95 % of these seconds do not exceed (nearest rank), metres.
  public var p95_m = 0.0
  /// The greatest error, metres.
  public var greatest_m = 0.0

  /// Part of the time in which the bound was broken, 0 to 1; 0 where there was no time.
  public var share: Double { seconds > 0 ? Double(broken) / Double(seconds) : 0 }

  /// Creates the summary of no time at all.
  public init() {}
}

/// Compares what was reported with the truth, at every whole second of a track.
///
/// A receiver's fix is of a whole second, and is told a moment later. A report that comes less than
/// `grace` after a second counts for that second, as in the optimum, which tells a fix at its own
/// second. The first report starts the count. A report holds until the next one comes. O(1) a second;
/// memory grows by 8 bytes a second.
public struct BoundTally: Sendable {
  private let bound_m: Double
  /// Up to when reports count for second 0.
  private let first: Instant
  private let seconds: Int64
  private var reader: TrackReader
  private var report: (place: Coordinate, at: Instant)?
  /// The next second to be looked at.
  private var next: Int64 = 0
  /// The second that was looked at first, from the track's first point on; nil before the first report.
  public private(set) var firstSecond: Int64?
  /// The second that was looked at last; nil before the first report.
  var lastSecond: Int64? { firstSecond.map { $0 + Int64(errors.count) - 1 } }
  /// How far the last report was off at ``firstSecond`` and each second after it, metres; not a number
  /// in a gap of the recording. Complete after ``finish(at:)``.
  public private(set) var errors: [Double] = []
  private var broken = 0

  /// Begins.
  ///
  /// - Parameters:
  ///   - track: The truth.
  ///   - bound_m: How far from it the last report may be, metres; up to 100,000.
  ///   - start: When the track's first point was, on the clock of the reports.
  ///   - gapLimit: Seconds between two points further apart in time than this are left out.
  ///   - grace: How long after a second its report may come, 0 to below 1 s.
  public init(
    _ track: Track, within bound_m: Double, start: Instant = .boot,
    gapLimit: Interval = TrackSeconds.gapLimit, grace: Interval = .milliseconds(500)
  ) {
    var measured = track
    measured.gapLimit = gapLimit
    reader = TrackReader(measured)
    seconds = track.duration.microseconds / 1_000_000
    first = start + grace
    self.bound_m = bound_m
  }

  /// `place` becomes the last reported position at `moment`, which is when it was told, not when it
  /// was true; of two at one moment the later one counts.
  ///
  /// - Precondition: `moment` is not before that of the report before.
  public mutating func add(_ place: Coordinate, at moment: Instant) {
    if let report {
      precondition(moment >= report.at, "reports come in order of time")
      count(before: moment)
    } else {
      let ahead = (moment - first).microseconds
      next = max(0, ahead / 1_000_000 + (ahead > 0 && ahead % 1_000_000 > 0 ? 1 : 0))
    }
    report = (place, moment)
  }

  /// What it adds up to when nothing more is reported and the run ends at `end`: seconds whose grace
  /// is over by then count, what is beyond the track does not. O(n log n).
  public mutating func finish(at end: Instant = .distantFuture) -> BoundSummary {
    count(before: end + Interval(microseconds: 1))
    var summary = BoundSummary()
    let sorted = errors.filter { !$0.isNaN }.sorted()
    summary.seconds = sorted.count
    summary.broken = broken
    guard !sorted.isEmpty else { return summary }
    summary.p95_m = sorted[(95 * sorted.count + 99) / 100 - 1]
    summary.greatest_m = sorted[sorted.count - 1]
    return summary
  }

  /// Looks at the seconds before `moment`.
  private mutating func count(before moment: Instant) {
    guard let report else { return }
    while next <= seconds, first + .seconds(next) < moment {
      let truth = reader.state(at: reader.track.firstTime + .seconds(next))
      if firstSecond == nil { firstSecond = next }
      next += 1
      if truth.isGap {
        errors.append(.nan)
        continue
      }
      let error = truth.coordinate.localDistance(to: report.place)
      errors.append(error)
      if error > bound_m { broken += 1 }
    }
  }
}
