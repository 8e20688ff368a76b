import BoardProfiles
import LocationTypes
import SimulatedHAL

/// Result of a run compared with the optimum: how well it kept the accuracy bound, and how much energy it used.
public struct OptimumComparison: Equatable, Sendable {
  /// Accuracy bound, metres.
  public var bound_m = 0.0
  /// Errors of the last reported position.
  public var error = BoundSummary()
  /// Receiver energy from the first whole second with a report on, millijoules.
  public var receiver_mJ = 0.0
  /// Lowest receiver energy for the same period and bound, millijoules; 0 if no comparison is possible.
  public var optimum_mJ = 0.0
  /// Energy of receiver and board from the first whole second with a report on, millijoules.
  public var total_mJ = 0.0
  /// Lowest energy of receiver and board for the same period and bound, millijoules; 0 if no comparison is possible.
  public var totalOptimum_mJ = 0.0
  /// Whether the run sampled its times to first fix. The optimum uses their medians and is then not a lower bound.
  public var hasSampledTimesToFix = false

  /// Receiver energy as a multiple of the optimum; nil if no comparison is possible.
  ///
  /// At least 1 if the bound was never exceeded, except for the cases in Docs/Explanation/optimum.md.
  public var ratio: Double? {
    optimum_mJ > 0 && !hasSampledTimesToFix ? receiver_mJ / optimum_mJ : nil
  }

  /// Energy of receiver and board as a multiple of their optimum; nil if no comparison is possible.
  public var totalRatio: Double? {
    totalOptimum_mJ > 0 && !hasSampledTimesToFix ? total_mJ / totalOptimum_mJ : nil
  }

  /// Creates the summary of a run without reports.
  public init() {}
}

/// Computes from the trace records of a run how well it kept an accuracy bound, and the optimum for the same period.
///
/// The energies of run and optimum cover the same period: from the first whole second at which the client has a
/// report to the end of the run or of the track. The bound applies at the same seconds. The first acquisition (cold
/// start) is excluded, because no planner can influence it. The evaluation ends if a low battery sheds the client's
/// service level (PWR-10).
public struct OptimumComparisonTally: Sendable {
  /// Energy of a device since the comparison began.
  private struct Consumption {
    var energy_mJ = 0.0
    /// Power of the present state, and the time at which it began.
    private var state: (power_mW: Double, since: Instant)?

    init() {}

    mutating func change(to power_mW: Double, at now: Instant) { state = (power_mW, now) }

    /// Adds the energy of the present state between `begin` and the earlier of `now` and `end`.
    mutating func add(until now: Instant, from begin: Instant, to end: Instant) {
      guard let state else { return }
      precondition(now >= state.since, "records come in order of time")
      let from = max(state.since, begin)
      let to = min(now, end)
      if to > from { energy_mJ += state.power_mW * (to - from).seconds }
    }
  }

  private let costs: ScheduleCosts
  /// Costs of the total optimum.
  var totalCosts: ScheduleCosts
  private let bound_m: Double
  private let sampledTrack: SampledTrack
  /// Errors of the reports; complete after ``finish(at:)``.
  public private(set) var errors: BoundTally
  private var coordinates: [UInt64: Coordinate] = [:]
  /// First whole second at which the client has a report.
  private var firstSecond: Int64?
  private var receiver = Consumption()
  private var board = Consumption()
  /// Time at which the service level was shed.
  private var shedAt: Instant?
  private let hasSampledTimesToFix: Bool

  /// Creates an empty tally; nil for a board without a receiver.
  ///
  /// - Parameter hasSampledTimesToFix: Whether the run samples its times to first fix instead of using their medians.
  public init?(
    _ track: Track, within bound_m: Double, _ profile: BoardProfile,
    hasSampledTimesToFix: Bool = false
  ) {
    guard let costs = ScheduleCosts(profile, .receiver),
      let totalCosts = ScheduleCosts(profile, .total)
    else { return nil }
    self.costs = costs
    self.totalCosts = totalCosts
    self.bound_m = bound_m
    self.hasSampledTimesToFix = hasSampledTimesToFix
    sampledTrack = SampledTrack(track, gapLimit: track.effectiveGapLimit)
    errors = BoundTally(track, within: bound_m, gapLimit: track.effectiveGapLimit)
  }

  /// Adds the next record of the run, in ascending order of time.
  public mutating func add(_ record: TraceRecord) {
    guard shedAt == nil else { return }
    switch record.kind {
    case .fix(let fix): coordinates[fix.name.sequence] = fix.coordinate
    case .batch(_, let first, let last, _):
      guard let coordinate = coordinates[last] else { return }
      if firstSecond == nil { firstSecond = (record.at.microseconds + 999_999) / 1_000_000 }
      errors.add(coordinate, at: record.at)
      for sequence in first...last { coordinates[sequence] = nil }
      coordinates[last] = coordinate
    case .receiver(_, let power_mW):
      add(to: &receiver, until: record.at)
      receiver.change(to: power_mW, at: record.at)
    case .board(_, let power_mW):
      add(to: &board, until: record.at)
      board.change(to: power_mW, at: record.at)
    case .notice(_, .degraded(let shed, _)): if !shed.isEmpty { shedAt = record.at }
    case .battery, .batteryEmpty, .wake, .ack, .finish, .gap, .notice: break
    }
  }

  /// Adds the energy of a device up to `now`, limited to the end of the track.
  private func add(to consumption: inout Consumption, until now: Instant) {
    guard let firstSecond else { return }
    consumption.add(
      until: now, from: .boot + .seconds(firstSecond), to: .boot + .seconds(sampledTrack.lastSecond)
    )
  }

  /// Returns the result for a run that ends at `end`, which is not before the last record. O(n log n) for the
  /// optimum.
  public mutating func finish(at end: Instant) -> OptimumComparison {
    let end = min(end, shedAt ?? end)
    add(to: &receiver, until: end)
    add(to: &board, until: end)
    var summary = OptimumComparison()
    summary.bound_m = bound_m
    summary.hasSampledTimesToFix = hasSampledTimesToFix
    summary.error = errors.finish(at: end)
    summary.receiver_mJ = receiver.energy_mJ
    summary.total_mJ = receiver.energy_mJ + board.energy_mJ
    let last = min((end - .boot).microseconds / 1_000_000, sampledTrack.lastSecond)
    if let firstSecond, let compared = errors.lastSecond, last > firstSecond {
      let part = sampledTrack.part(Int(firstSecond)...Int(last), evaluatedUpTo: Int(compared))
      let departures = part.departures(beyond: bound_m)
      summary.optimum_mJ = Optimum(departures: departures, costs).energy_mJ
      summary.totalOptimum_mJ = Optimum(departures: departures, totalCosts).energy_mJ
    }
    return summary
  }
}

extension Track {
  /// Longest time between two points that does not count as a gap. A generated track has no gaps: it has no points
  /// where the device stands still.
  public var effectiveGapLimit: Interval {
    gapLimit == .unlimited ? .unlimited : SampledTrack.gapLimit
  }
}
