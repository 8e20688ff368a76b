import LocationTypes
import SimulatedHAL

/// Collects the records of a run and releases them in ascending order of time.
///
/// A fix from the receiver's batch buffer is recorded when it is drained, long after its fix time. Therefore records
/// are held until no earlier one can follow, at most ``capacity`` of them.
struct Tracer {
  /// Longest time from a fix to its storage in the ring, without batching.
  private static let window = Interval.seconds(5)

  /// A day of fixes with their related records.
  private static let capacity = 500_000

  private var pending: [TraceRecord] = []
  /// Index of the first record that has not been released.
  private var first = 0
  /// Whether the pending records are in ascending order of time.
  private var isSorted = true
  /// Time of the last released record; later records with an earlier time get this time.
  private var handed = Instant.boot
  private var newestFix = Instant.boot
  private var tally = TraceTally()
  /// End of the run. Later hardware records are discarded, and later deliveries to a client are recorded with this
  /// time.
  var end = Instant.distantFuture

  /// Creates an empty sorter.
  init() {}

  mutating func add(_ record: TraceRecord) {
    if record.at > end && record.isOfHardware { return }
    let at = min(max(record.at, handed), end)
    if first < pending.count, at < pending[pending.count - 1].at { isSorted = false }
    pending.append(TraceRecord(at: at, record.kind))
    if case .fix = record.kind { newestFix = max(newestFix, record.at) }
  }

  /// Releases the records that no earlier record can precede.
  ///
  /// - Parameters:
  ///   - isBuffering: Whether the receiver may hold fixes that are newer than the newest one recorded.
  ///   - sink: Receives each record.
  mutating func release(
    at now: Instant, isBuffering: Bool, to sink: (TraceRecord) -> Void
  ) {
    let count = pending.count - first
    guard count > 0 else { return }
    let isFull = count >= Tracer.capacity
    let horizon =
      isBuffering && !isFull ? min(newestFix, now - Tracer.window) : now - Tracer.window
    guard count > 64 || pending[first].at <= horizon else { return }
    hand(upTo: horizon, to: sink)
  }

  /// Releases the remaining records and returns the totals.
  mutating func finish(
    at end: Instant, processorPerWake: Interval, bill: BillFigures?,
    to sink: (TraceRecord) -> Void
  ) -> TraceSummary {
    hand(upTo: .distantFuture, to: sink)
    return tally.finish(at: end, processorPerWake: processorPerWake, bill: bill)
  }

  private mutating func hand(upTo horizon: Instant, to sink: (TraceRecord) -> Void) {
    if !isSorted {
      forgetHanded()
      // Swift's sort is stable: records with the same time keep their order.
      pending.sort { $0.at < $1.at }
      isSorted = true
    }
    while first < pending.count, pending[first].at <= horizon {
      handed = pending[first].at
      tally.add(pending[first])
      sink(pending[first])
      first += 1
    }
    // Remaining records are moved only when at least as many have been released, which amortises the cost.
    if first > 0, first * 2 >= pending.count { forgetHanded() }
  }

  private mutating func forgetHanded() {
    pending.removeFirst(first)
    first = 0
  }
}

extension TraceRecord {
  /// Whether the record is about receiver, board or battery.
  fileprivate var isOfHardware: Bool {
    switch kind {
    case .receiver, .board, .wake, .battery, .batteryEmpty: true
    case .fix, .batch, .ack, .finish, .gap, .told: false
    }
  }

  /// Converts a board event to a record.
  init(_ event: TimedBoardEvent) {
    switch event.event {
    case .receiver(let state, let mW):
      self.init(at: event.time, .receiver(state: state, power_mw: mW))
    case .board(let state, let mW):
      self.init(at: event.time, .board(state: state, power_mw: mW))
    case .wake(let reason):
      self.init(at: event.time, .wake(reason))
    case .battery(let charge):
      self.init(at: event.time, .battery(charge))
    case .batteryEmpty:
      self.init(at: event.time, .batteryEmpty)
    }
  }
}
