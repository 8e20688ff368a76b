import LocationSimulation
import LocationTypes
import SimulatedHAL

/// What a run looks like, from its records as they come, in bounded memory.
struct RunSketch {
  /// What a state took.
  struct Use: Equatable {
    /// How long it lasted in all.
    var time = Interval.zero
    /// What it took, millijoules.
    var energy_mJ = 0.0
  }

  /// One power over time, finely for a curve and in round stretches for numbers.
  struct Power {
    /// For the curve.
    var curve: StepCurve
    /// For the numbers.
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

  /// How long a stretch of the numbers is.
  let row: Interval
  /// What the receiver takes, mW.
  private(set) var receiver: Power
  /// What the board takes, mW.
  private(set) var board: Power
  /// How many fixes wait to be delivered.
  private(set) var waiting: StepCurve
  /// Fixes in each stretch of the numbers.
  private(set) var fixes: CountCurve
  /// Fixes delivered in each stretch of the numbers.
  private(set) var delivered: CountCurve
  /// Deliveries in each of many short stretches.
  private(set) var deliveries: CountCurve
  /// Where the fixes were.
  private(set) var places = PlaceSketch()
  /// What each of the receiver's states took, by raw value.
  private(set) var receiverUse = Array(repeating: Use(), count: TraceReceiverState.allCases.count)
  /// What each of the board's states took, by raw value.
  private(set) var boardUse = Array(repeating: Use(), count: 4)
  /// The plane of ``places``.
  let plane: Plane

  /// Whether fixes were kept and delivered together.
  private(set) var isDeferred = false
  /// What services told the client, the first of it.
  private(set) var told: [(at: Instant, notice: TraceNotice)] = []
  /// How much they told.
  private(set) var toldCount = 0

  /// How much of what services told is kept.
  static let mostTold = 100

  private var newest: UInt64?
  private var owed: UInt64?
  private var receiverState: (index: Int, power_mW: Double, since: Instant)?
  private var boardState: (index: Int, power_mW: Double, since: Instant)?

  /// Begins a run of `length` on a plane.
  init(_ length: Interval, _ plane: Plane) {
    self.plane = plane
    let row = Interval.seconds(TimeAxis.step(for: length, atMost: 48))
    self.row = row
    // Some more than needed: a run may go on for minutes after its end.
    let power = Power(curve: StepCurve(length), rows: StepCurve(buckets: row, capacity: 64))
    (receiver, board) = (power, power)
    waiting = StepCurve(length)
    fixes = CountCurve(buckets: row, capacity: 64)
    delivered = fixes
    deliveries = CountCurve(
      buckets: Interval(microseconds: max(1, length.microseconds / 480)), capacity: 500)
  }

  /// Takes the next record of the run; they come in order of time.
  mutating func add(_ record: TraceRecord) {
    switch record.kind {
    case .receiver(let state, let power_mW):
      RunSketch.close(receiverState, at: record.at, &receiverUse)
      receiverState = (state.rawValue, power_mW, record.at)
      receiver.set(power_mW, at: record.at)
    case .board(let state, let power_mW):
      RunSketch.close(boardState, at: record.at, &boardUse)
      boardState = (Int(state.rawValue), power_mW, record.at)
      board.set(power_mW, at: record.at)
    case .fix(let fix):
      places.add(plane.point(fix.coordinate))
      fixes.add(1, at: record.at)
      newest = max(newest ?? 0, fix.name.sequence)
      if owed == nil { owed = fix.name.sequence }
      noteWaiting(at: record.at)
    case .batch(_, _, let last, let count):
      isDeferred = isDeferred || count > 1
      delivered.add(count, at: record.at)
      deliveries.add(1, at: record.at)
      owed = max(owed ?? 0, last + 1)
      noteWaiting(at: record.at)
    case .told(_, .report):
      delivered.add(1, at: record.at)
      deliveries.add(1, at: record.at)
    case .told(_, let notice):
      toldCount += 1
      if told.count < RunSketch.mostTold { told.append((record.at, notice)) }
    case .battery, .batteryEmpty, .wake, .ack, .finish, .gap: break
    }
  }

  private mutating func noteWaiting(at moment: Instant) {
    guard let newest, let owed else { return }
    waiting.set(newest >= owed ? Double(newest - owed + 1) : 0, at: moment)
  }

  /// Counts what lasts to the end.
  mutating func finish(at end: Instant) {
    RunSketch.close(receiverState, at: end, &receiverUse)
    RunSketch.close(boardState, at: end, &boardUse)
    receiver.close(at: end)
    board.close(at: end)
    waiting.close(at: end)
  }

  private static func close(
    _ open: (index: Int, power_mW: Double, since: Instant)?, at now: Instant, _ uses: inout [Use]
  ) {
    guard let open else { return }
    let time = now - open.since
    uses[open.index].time = uses[open.index].time + time
    uses[open.index].energy_mJ += open.power_mW * time.seconds
  }
}

/// A plane that touches the globe at the middle of a track: straight in latitude and longitude, north
/// up. Good for a picture of what a day's way spans.
struct Plane {
  private let centre: Coordinate
  private let eastPerUnit: Double
  private let northPerUnit: Double

  /// The plane for `track`.
  init(_ track: Track) {
    let first = track.points[0].coordinate
    // Longitudes are counted from the first point, so that the antimeridian is no border.
    let east = track.points.map { Plane.turn($0.coordinate.longitude_e9 - first.longitude_e9) }
    let north = track.points.map(\.coordinate.latitude_e9)
    func middle(_ values: [Int64]) -> Int64 { ((values.min() ?? 0) + (values.max() ?? 0)) / 2 }
    centre = Coordinate(
      latitude_e9: middle(north),
      longitude_e9: Plane.turn(first.longitude_e9 + middle(east)))
    let beside = Coordinate(
      latitude_e9: centre.latitude_e9,
      longitude_e9: Plane.turn(centre.longitude_e9 + 1_000_000))
    let above = Coordinate(
      latitude_e9: centre.latitude_e9 + (centre.latitude_e9 > 0 ? -1_000_000 : 1_000_000),
      longitude_e9: centre.longitude_e9)
    eastPerUnit = max(abs(centre.localOffset(to: beside).east) / 1e6, 1e-9)
    northPerUnit = abs(centre.localOffset(to: above).north) / 1e6
  }

  /// Where a place is on it.
  func point(_ place: Coordinate) -> PlanePoint {
    PlanePoint(
      east: Double(Plane.turn(place.longitude_e9 - centre.longitude_e9)) * eastPerUnit,
      north: Double(place.latitude_e9 - centre.latitude_e9) * northPerUnit)
  }

  /// A difference of longitudes the short way round.
  private static func turn(_ units: Int64) -> Int64 {
    if units > 180_000_000_000 { return units - 360_000_000_000 }
    if units < -180_000_000_000 { return units + 360_000_000_000 }
    return units
  }
}
