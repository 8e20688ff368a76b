import LocationSimulation
import LocationTypes

/// Data for the map and the charts of a report, collected from the records of a run in bounded memory.
struct RunSamples {
  /// Number of buckets of the curves in a row of the table.
  static let bucketsPerRow = 20

  let rowInterval: Interval
  /// Power of the receiver, and of the board without it, mW.
  private(set) var receiver: StepCurve
  private(set) var board: StepCurve
  private(set) var undelivered: StepCurve
  var bucket_s: Double { Double(undelivered.width) / 1e6 }
  /// Number of fixes, and of fixes delivered, by the index of a bucket.
  private(set) var fixes: [Int: Int] = [:]
  private(set) var delivered: [Int: Int] = [:]
  /// Positions of the fixes on ``plane``.
  private(set) var positions: PositionSamples
  let plane: TangentPlane
  /// The first 100 notices of services to the client, without reports.
  private(set) var notices: [(at: Instant, notice: TraceNotice)] = []
  private var newestSequence: UInt64 = 0
  private var firstUndelivered: UInt64?

  /// Creates empty data for a run of about `length`.
  init(_ length: Interval, _ plane: TangentPlane) {
    self.plane = plane
    rowInterval = .seconds(Axis.timeStep(for: length, atMost: 48))
    let width = rowInterval.microseconds / Int64(RunSamples.bucketsPerRow)
    undelivered = StepCurve(width: Interval(microseconds: width))
    (receiver, board) = (undelivered, undelivered)
    positions = PositionSamples(cell_m: max(plane.extent_m, 20) / 1_000)
  }

  /// Adds the next record of the run. Records must be in chronological order.
  mutating func add(_ record: TraceRecord) {
    let bucket = Int(max(record.at.microseconds, 0) / undelivered.width)
    switch record.kind {
    case .receiver(_, let power_mW): receiver.set(power_mW, at: record.at)
    case .board(_, let power_mW): board.set(power_mW, at: record.at)
    case .fix(let fix):
      positions.add(plane.point(fix.coordinate))
      fixes[bucket, default: 0] += 1
      newestSequence = max(newestSequence, fix.name.sequence)
      updateUndelivered(from: firstUndelivered ?? fix.name.sequence, at: record.at)
    case .batch(_, _, let last, let count):
      delivered[bucket, default: 0] += count
      updateUndelivered(from: max(firstUndelivered ?? 0, last + 1), at: record.at)
    case .notice(_, .report): delivered[bucket, default: 0] += 1
    case .notice(_, let notice):
      if notices.count < 100 { notices.append((record.at, notice)) }
    case .battery, .batteryEmpty, .wake, .ack, .finish, .gap: break
    }
  }

  private mutating func updateUndelivered(from first: UInt64, at moment: Instant) {
    firstUndelivered = first
    undelivered.set(newestSequence >= first ? Double(newestSequence - first + 1) : 0, at: moment)
  }

  /// Extends the curves to the end of the run.
  mutating func finish(at end: Instant) {
    receiver.close(at: end)
    board.close(at: end)
    undelivered.close(at: end)
  }
}
