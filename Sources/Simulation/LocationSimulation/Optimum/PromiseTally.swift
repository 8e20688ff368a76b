import BoardProfiles
import LocationTypes
import SimulatedHAL

/// How well a run kept a distance, and what that cost beside the least it could have cost.
public struct PromiseSummary: Equatable, Sendable {
  /// The distance promised, metres.
  public var bound_m = 0.0
  /// How far the last reported position was off.
  public var error = BoundSummary()
  /// What the receiver took from the first whole second with a report on, millijoules.
  public var receiver_mJ = 0.0
  /// The least with which the same could have been had from that second on, millijoules; 0 where there is
  /// nothing to compare.
  public var optimum_mJ = 0.0
  /// Whether times to fix were drawn: the optimum takes the median of each, and is no bound then.
  public var hasDrawnTimesToFix = false

  /// Receiver energy as a multiple of the optimum; nil where there is none to compare with.
  ///
  /// At least 1 where no second broke the bound.
  public var ratio: Double? {
    optimum_mJ > 0 && !hasDrawnTimesToFix ? receiver_mJ / optimum_mJ : nil
  }

  /// Creates the summary of a run in which nothing was reported.
  public init() {}
}

/// Computes from a run's records how well a distance was kept.
///
/// Energy of run and optimum are compared over the same time, from the first whole second at which the client
/// has a report to the end of the run or of the track, and both keep the distance at the same seconds. How
/// the receiver found its first fix, from the cold, is no planner's doing. Where a low battery takes the promise back,
/// the count ends (PWR-10).
public struct PromiseTally: Sendable {
  private let costs: ReceiverCosts
  private let bound_m: Double
  private let way: TrackSeconds
  /// How far reports were off; complete after ``finish(at:)``.
  public private(set) var errors: BoundTally
  private var places: [UInt64: Coordinate] = [:]
  /// The first whole second at which the client has a report.
  private var begin: Int64?
  private var energy = 0.0
  private var receiver: (power_mW: Double, since: Instant)?
  /// When the promise was taken back.
  private var over: Instant?
  private let hasDrawnTimesToFix: Bool

  /// Begins; nil on a board without a receiver.
  ///
  /// - Parameter hasDrawnTimesToFix: Whether the run draws its times to fix, in place of the median.
  public init?(
    _ track: Track, within bound_m: Double, _ profile: BoardProfile,
    hasDrawnTimesToFix: Bool = false
  ) {
    guard let costs = ReceiverCosts(profile) else { return nil }
    self.costs = costs
    self.bound_m = bound_m
    self.hasDrawnTimesToFix = hasDrawnTimesToFix
    way = TrackSeconds(track, gapLimit: track.unknownAfter)
    errors = BoundTally(track, within: bound_m, gapLimit: track.unknownAfter)
  }

  /// Takes the next record of the run; they come in order of time.
  public mutating func add(_ record: TraceRecord) {
    guard over == nil else { return }
    switch record.kind {
    case .fix(let fix): places[fix.name.sequence] = fix.coordinate
    case .batch(_, let first, let last, _):
      guard let place = places[last] else { return }
      if begin == nil { begin = (record.at.microseconds + 999_999) / 1_000_000 }
      errors.add(place, at: record.at)
      for sequence in first...last { places[sequence] = nil }
      places[last] = place
    case .receiver(_, let power_mW):
      close(at: record.at)
      receiver = (power_mW, record.at)
    case .told(_, .degraded(let givenUp, _)): if !givenUp.isEmpty { over = record.at }
    case .board, .battery, .batteryEmpty, .wake, .ack, .finish, .gap, .told: break
    }
  }

  /// Adds what the receiver took up to `now`, as far as the track goes.
  private mutating func close(at now: Instant) {
    guard let begin, let receiver else { return }
    precondition(now >= receiver.since, "records come in order of time")
    let from = max(receiver.since, .boot + .seconds(begin))
    let to = min(now, .boot + .seconds(way.last))
    if to > from { energy += receiver.power_mW * (to - from).seconds }
  }

  /// What it adds up to when the run ends at `end`, which is not before the last record. O(n log n) for
  /// the optimum.
  public mutating func finish(at end: Instant) -> PromiseSummary {
    let end = min(end, over ?? end)
    close(at: end)
    var summary = PromiseSummary()
    summary.bound_m = bound_m
    summary.hasDrawnTimesToFix = hasDrawnTimesToFix
    summary.error = errors.finish(at: end)
    summary.receiver_mJ = energy
    let last = min((end - .boot).microseconds / 1_000_000, way.last)
    if let begin, let compared = errors.lastSecond, last > begin {
      let part = way.part(Int(begin)...Int(last), knownUpTo: Int(compared))
      summary.optimum_mJ = Optimum(part, within: bound_m, costs).energy_mJ
    }
    return summary
  }
}

extension Track {
  /// How far apart in time two points are between which nobody knows the way: a way that was made up has
  /// no such gaps, for where it has no points nobody moved.
  public var unknownAfter: Interval {
    gapLimit == .unlimited ? .unlimited : TrackSeconds.gapLimit
  }
}
