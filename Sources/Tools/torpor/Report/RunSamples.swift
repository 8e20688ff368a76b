import LocationSimulation
import LocationTypes
import SimulatedHAL

/// Data for the map and the charts of a report, collected from the records of a run in bounded memory.
struct RunSamples {
  /// Power of the receiver or of the board.
  struct Power {
    /// Power over time, mW.
    fileprivate(set) var curve: StepCurve
    /// Time and energy, millijoules, of each state, by raw value.
    fileprivate(set) var uses: [(time: Interval, energy_mJ: Double)]
    private var state: (index: Int, power_mW: Double, since: Instant)?

    fileprivate init(_ curve: StepCurve, states: Int) {
      self.curve = curve
      uses = Array(repeating: (.zero, 0), count: states)
    }

    fileprivate mutating func set(_ index: Int, _ power_mW: Double, at moment: Instant) {
      close(at: moment)
      state = (index, power_mW, moment)
      curve.set(power_mW, at: moment)
    }

    fileprivate mutating func close(at end: Instant) {
      curve.close(at: end)
      guard let (index, power_mW, since) = state else { return }
      uses[index].time = uses[index].time + (end - since)
      uses[index].energy_mJ += power_mW * (end - since).seconds
    }
  }

  /// Number of intervals of the charts in a row of the table.
  static let intervalsPerRow = 20

  /// Interval of a row of the table.
  let rowInterval: Interval
  /// Power of the receiver.
  private(set) var receiver: Power
  /// Power of the board without the receiver.
  private(set) var board: Power
  /// Number of undelivered fixes.
  private(set) var undelivered: StepCurve
  /// Number of fixes, fixes delivered and deliveries in each interval of the charts.
  private(set) var fixes: [Int] = []
  private(set) var delivered: [Int] = []
  private(set) var deliveries: [Int] = []
  /// Positions of the fixes.
  private(set) var positions: PositionSamples
  /// The plane of ``positions``.
  let plane: TangentPlane
  /// Whether at least one batch had several fixes.
  private(set) var isDeferred = false
  /// The first notices of services to the client.
  private(set) var notices: [(at: Instant, notice: TraceNotice)] = []
  /// Number of all notices of services.
  private(set) var noticeCount = 0

  /// Largest number of notices kept.
  static let maximumNotices = 100

  private var newestSequence: UInt64?
  private var firstUndelivered: UInt64?

  /// Creates empty data for a run of about `length`.
  init(_ length: Interval, _ plane: TangentPlane) {
    self.plane = plane
    rowInterval = .seconds(Axis.timeStep(for: length, atMost: 48))
    let width = rowInterval.microseconds / Int64(RunSamples.intervalsPerRow)
    undelivered = StepCurve(width: Interval(microseconds: width))
    receiver = Power(undelivered, states: TraceReceiverState.allCases.count)
    board = Power(undelivered, states: 4)
    positions = PositionSamples(cell_m: max(plane.extent_m, 20) / 1_000)
  }

  /// Adds the next record of the run. Records must be in chronological order.
  mutating func add(_ record: TraceRecord) {
    switch record.kind {
    case .receiver(let state, let power_mW): receiver.set(state.rawValue, power_mW, at: record.at)
    case .board(let state, let power_mW): board.set(Int(state.rawValue), power_mW, at: record.at)
    case .fix(let fix):
      positions.add(plane.point(fix.coordinate))
      count(1, at: record.at, &fixes)
      newestSequence = max(newestSequence ?? 0, fix.name.sequence)
      if firstUndelivered == nil { firstUndelivered = fix.name.sequence }
      updateUndelivered(at: record.at)
    case .batch(_, _, let last, let count):
      isDeferred = isDeferred || count > 1
      self.count(count, at: record.at, &delivered)
      self.count(1, at: record.at, &deliveries)
      firstUndelivered = max(firstUndelivered ?? 0, last + 1)
      updateUndelivered(at: record.at)
    case .notice(_, .report):
      count(1, at: record.at, &delivered)
      count(1, at: record.at, &deliveries)
    case .notice(_, let notice):
      noticeCount += 1
      if notices.count < RunSamples.maximumNotices { notices.append((record.at, notice)) }
    case .battery, .batteryEmpty, .wake, .ack, .finish, .gap: break
    }
  }

  /// Adds `more` events at `moment` to the counts of the intervals.
  private func count(_ more: Int, at moment: Instant, _ counts: inout [Int]) {
    let index = Int(max(moment.microseconds, 0) / undelivered.width)
    while counts.count <= index { counts.append(0) }
    counts[index] += more
  }

  private mutating func updateUndelivered(at moment: Instant) {
    guard let newestSequence, let firstUndelivered else { return }
    undelivered.set(
      newestSequence >= firstUndelivered ? Double(newestSequence - firstUndelivered + 1) : 0,
      at: moment)
  }

  /// Counts the open states up to the end of the run.
  mutating func finish(at end: Instant) {
    receiver.close(at: end)
    board.close(at: end)
    undelivered.close(at: end)
  }
}
