import BoardProfiles
import LocationTypes
import SimulatedHAL

/// How well a run kept a distance, and what that cost beside the least it could have cost.
public struct PromiseSummary: Equatable, Sendable {
  /// The distance promised, metres.
  public var bound_m = 0.0
  /// How far the last reported position was off.
  public var error = BoundSummary()
  /// What the receiver took from the first report on, millijoules.
  public var receiver_mJ = 0.0
  /// The least with which the same could have been had from the first report on, millijoules; 0 where
  /// nothing was reported.
  public var optimum_mJ = 0.0

  /// Receiver energy as a multiple of the optimum; nil where there is none to compare with.
  public var ratio: Double? { optimum_mJ > 0 ? receiver_mJ / optimum_mJ : nil }

  /// Creates the summary of a run in which nothing was reported.
  public init() {}
}

/// Makes out from a run's records how well a distance was kept.
///
/// The first report begins the count of energy and error: how a receiver came by it, from the cold,
/// is no planner's doing. Where a low battery takes the promise back, the count ends (PWR-10).
public struct PromiseTally: Sendable {
  private let track: Track
  private let costs: ReceiverCosts
  private let bound_m: Double
  /// A way that was made up has no gaps: where it has no points, nobody moved.
  private let gapLimit: Interval
  /// How far reports were off; complete after ``finish(at:)``.
  public private(set) var errors: BoundTally
  private var places: [UInt64: Coordinate] = [:]
  private var firstReport: Instant?
  private var energy = 0.0
  private var receiver: (power_mW: Double, since: Instant)?
  /// When the promise was taken back.
  private var over: Instant?

  /// Begins; nil on a board without a receiver.
  public init?(_ track: Track, within bound_m: Double, _ profile: BoardProfile) {
    guard let costs = ReceiverCosts(profile) else { return nil }
    self.track = track
    self.costs = costs
    self.bound_m = bound_m
    gapLimit = track.gapLimit == .unlimited ? .unlimited : TrackSeconds.gapLimit
    errors = BoundTally(track, within: bound_m, gapLimit: gapLimit)
  }

  /// Takes the next record of the run; they come in order of time.
  public mutating func add(_ record: TraceRecord) {
    guard over == nil else { return }
    switch record.kind {
    case .fix(let fix): places[fix.name.sequence] = fix.coordinate
    case .batch(_, let first, let last, _):
      guard let place = places[last] else { return }
      if firstReport == nil {
        firstReport = record.at
        if let receiver { self.receiver = (receiver.power_mW, record.at) }
      }
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

  private mutating func close(at now: Instant) {
    guard firstReport != nil, let receiver else { return }
    energy += receiver.power_mW * (now - receiver.since).seconds
  }

  /// What it adds up to when the run ends at `end`. O(n log n) for the optimum.
  public mutating func finish(at end: Instant) -> PromiseSummary {
    let end = min(end, over ?? end)
    close(at: end)
    var summary = PromiseSummary()
    summary.bound_m = bound_m
    summary.error = errors.finish(at: end)
    summary.receiver_mJ = energy
    if let firstReport, end > firstReport {
      let part = track.part(from: firstReport - .boot, to: end - .boot)
      let way = TrackSeconds(part, gapLimit: gapLimit)
      summary.optimum_mJ = Optimum(way, within: bound_m, costs).energy_mJ
    }
    return summary
  }
}

extension Track {
  /// The way from `begin` to `end`, both counted from the first point.
  func part(from begin: Interval, to end: Interval) -> Track {
    var reader = TrackReader(self)
    func point(_ offset: Interval) -> TrackPoint {
      let state = reader.state(at: firstTime + offset)
      return TrackPoint(offset: offset, coordinate: state.coordinate)
    }
    let last = min(end, duration)
    var inside = [point(begin)]
    for known in points where known.offset - points[0].offset > begin {
      let offset = known.offset - points[0].offset
      if offset >= last { break }
      inside.append(TrackPoint(offset: offset, coordinate: known.coordinate))
    }
    if last > inside[inside.count - 1].offset { inside.append(point(last)) }
    return Track(start: firstTime, points: inside, gapLimit: gapLimit)
  }
}
