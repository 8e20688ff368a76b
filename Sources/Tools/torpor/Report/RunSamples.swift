import LocationSimulation
import LocationTypes
import SimulatedHAL

/// Data for the map and the charts of a report, collected from the records of a run in bounded memory.
struct RunSamples {
  /// Time and energy of a power state.
  struct StateUse: Equatable {
    /// Total time in the state.
    var time = Interval.zero
    /// Total energy in the state, millijoules.
    var energy_mJ = 0.0
  }

  /// Power over time, in narrow buckets for the chart and in round intervals for the table.
  struct Power {
    /// Power for the chart, mW.
    var curve: StepCurve
    /// Power for the table, mW.
    var rows: StepCurve

    fileprivate mutating func set(_ power_mW: Double, at moment: Instant) {
      curve.set(power_mW, at: moment)
      rows.set(power_mW, at: moment)
    }

    fileprivate mutating func close(at end: Instant) {
      curve.close(at: end)
      rows.close(at: end)
    }
  }

  /// Interval of a row of the table.
  let rowInterval: Interval
  /// Power of the receiver.
  private(set) var receiver: Power
  /// Power of the board without the receiver.
  private(set) var board: Power
  /// Number of undelivered fixes.
  private(set) var undelivered: StepCurve
  /// Number of fixes in each row of the table.
  private(set) var fixes: CountCurve
  /// Number of fixes delivered in each row of the table.
  private(set) var delivered: CountCurve
  /// Number of deliveries in each short interval of the chart.
  private(set) var deliveries: CountCurve
  /// Positions of the fixes.
  private(set) var positions = PositionSamples()
  /// Time and energy of the receiver's states, by raw value.
  private(set) var receiverUse = Array(
    repeating: StateUse(), count: TraceReceiverState.allCases.count)
  /// Time and energy of the board's states, by raw value.
  private(set) var boardUse = Array(repeating: StateUse(), count: 4)
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
  private var receiverState: (index: Int, power_mW: Double, since: Instant)?
  private var boardState: (index: Int, power_mW: Double, since: Instant)?

  /// Creates empty data for a run of about `length`.
  init(_ length: Interval, _ plane: TangentPlane) {
    self.plane = plane
    let row = Interval.seconds(TimeAxis.step(for: length, atMost: 48))
    self.rowInterval = row
    // More buckets than needed, because a run can continue for minutes after its planned end.
    let power = Power(curve: StepCurve(length), rows: StepCurve(buckets: row, capacity: 64))
    (receiver, board) = (power, power)
    undelivered = StepCurve(length)
    fixes = CountCurve(buckets: row, capacity: 64)
    delivered = fixes
    deliveries = CountCurve(
      buckets: Interval(microseconds: max(1, length.microseconds / 480)), capacity: 500)
  }

  /// Adds the next record of the run. Records must be in chronological order.
  mutating func add(_ record: TraceRecord) {
    switch record.kind {
    case .receiver(let state, let power_mW):
      RunSamples.close(receiverState, at: record.at, &receiverUse)
      receiverState = (state.rawValue, power_mW, record.at)
      receiver.set(power_mW, at: record.at)
    case .board(let state, let power_mW):
      RunSamples.close(boardState, at: record.at, &boardUse)
      boardState = (Int(state.rawValue), power_mW, record.at)
      board.set(power_mW, at: record.at)
    case .fix(let fix):
      positions.add(plane.point(fix.coordinate))
      fixes.add(1, at: record.at)
      newestSequence = max(newestSequence ?? 0, fix.name.sequence)
      if firstUndelivered == nil { firstUndelivered = fix.name.sequence }
      updateUndelivered(at: record.at)
    case .batch(_, _, let last, let count):
      isDeferred = isDeferred || count > 1
      delivered.add(count, at: record.at)
      deliveries.add(1, at: record.at)
      firstUndelivered = max(firstUndelivered ?? 0, last + 1)
      updateUndelivered(at: record.at)
    case .notice(_, .report):
      delivered.add(1, at: record.at)
      deliveries.add(1, at: record.at)
    case .notice(_, let notice):
      noticeCount += 1
      if notices.count < RunSamples.maximumNotices { notices.append((record.at, notice)) }
    case .battery, .batteryEmpty, .wake, .ack, .finish, .gap: break
    }
  }

  private mutating func updateUndelivered(at moment: Instant) {
    guard let newestSequence, let firstUndelivered else { return }
    undelivered.set(
      newestSequence >= firstUndelivered ? Double(newestSequence - firstUndelivered + 1) : 0,
      at: moment)
  }

  /// Counts the open states up to the end of the run.
  mutating func finish(at end: Instant) {
    RunSamples.close(receiverState, at: end, &receiverUse)
    RunSamples.close(boardState, at: end, &boardUse)
    receiver.close(at: end)
    board.close(at: end)
    undelivered.close(at: end)
  }

  private static func close(
    _ period: (index: Int, power_mW: Double, since: Instant)?, at now: Instant,
    _ uses: inout [StateUse]
  ) {
    guard let period else { return }
    let time = now - period.since
    uses[period.index].time = uses[period.index].time + time
    uses[period.index].energy_mJ += period.power_mW * time.seconds
  }
}

/// A plane tangent to the ellipsoid at the centre of a track, linear in latitude and longitude
/// (equirectangular projection). Accurate enough for a map of a day's movement.
struct TangentPlane {
  private let centre: Coordinate
  private let eastPerUnit: Double
  private let northPerUnit: Double

  /// The plane for `track`.
  init(_ track: Track) {
    let first = track.points[0].coordinate
    // Longitudes are relative to the first point, so that a track can cross the antimeridian.
    let east = track.points.map {
      TangentPlane.normalizedLongitude($0.coordinate.longitude_e9 - first.longitude_e9)
    }
    let north = track.points.map(\.coordinate.latitude_e9)
    func middle(_ values: [Int64]) -> Int64 { ((values.min() ?? 0) + (values.max() ?? 0)) / 2 }
    centre = Coordinate(
      latitude_e9: middle(north),
      longitude_e9: TangentPlane.normalizedLongitude(first.longitude_e9 + middle(east)))
    let parallelPoint = Coordinate(
      latitude_e9: centre.latitude_e9,
      longitude_e9: TangentPlane.normalizedLongitude(centre.longitude_e9 + 1_000_000))
    let meridianPoint = Coordinate(
      latitude_e9: centre.latitude_e9 + (centre.latitude_e9 > 0 ? -1_000_000 : 1_000_000),
      longitude_e9: centre.longitude_e9)
    eastPerUnit = max(abs(centre.localOffset(to: parallelPoint).east) / 1e6, 1e-9)
    northPerUnit = abs(centre.localOffset(to: meridianPoint).north) / 1e6
  }

  /// Position of a coordinate on the plane.
  func point(_ coordinate: Coordinate) -> PlanePoint {
    PlanePoint(
      east: Double(TangentPlane.normalizedLongitude(coordinate.longitude_e9 - centre.longitude_e9))
        * eastPerUnit,
      north: Double(coordinate.latitude_e9 - centre.latitude_e9) * northPerUnit)
  }

  /// A difference of longitudes, 10⁻⁹ degrees, normalised to ±180°.
  private static func normalizedLongitude(_ units: Int64) -> Int64 {
    if units > 180_000_000_000 { return units - 360_000_000_000 }
    if units < -180_000_000_000 { return units + 360_000_000_000 }
    return units
  }
}
