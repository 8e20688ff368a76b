import LocationTypes
import SimulatedHAL

/// Collects the records of a run and releases them in ascending order of time.
///
/// A fix from the receiver's batch buffer is recorded when it is drained, long after its fix time. Therefore records
/// are held until no earlier one can follow, or until there are ``capacity`` of them.
struct TraceSorter {
  /// Longest time from a fix to its storage in the ring, without batching.
  private static let maximumDelay = Interval.seconds(5)

  /// Number of held records from which on they are released without waiting for the batch buffer: a day of fixes with
  /// their related records.
  private static let capacity = 500_000

  private var pending: [TraceRecord] = []
  /// Index of the first record that has not been released.
  private var firstPending = 0
  /// Whether the pending records are in ascending order of time.
  private var isSorted = true
  /// Time of the last released record; later records with an earlier time get this time.
  private var lastReleased = Instant.boot
  private var newestFix = Instant.boot
  private var tally = TraceTally()
  /// End of the run. Later hardware records are discarded, and later deliveries to a client are recorded with this
  /// time.
  var end = Instant.distantFuture

  /// Creates an empty sorter.
  init() {}

  mutating func add(_ record: TraceRecord) {
    if record.at > end && record.isHardwareRecord { return }
    let at = min(max(record.at, lastReleased), end)
    insert(TraceRecord(at: at, record.kind))
    if case .fix = record.kind { newestFix = max(newestFix, record.at) }
  }

  /// Inserts a record in order if it is at most 1,024 places late, as all are without batching; else appends it.
  private mutating func insert(_ record: TraceRecord) {
    var index = pending.count
    let limit = max(firstPending, index - 1_024)
    while isSorted, index > limit, record.at < pending[index - 1].at { index -= 1 }
    if index > firstPending, record.at < pending[index - 1].at { isSorted = false }
    if isSorted && index < pending.count {
      pending.insert(record, at: index)
    } else {
      pending.append(record)
    }
  }

  /// Releases the records that no earlier record can precede.
  ///
  /// - Parameters:
  ///   - isBuffering: Whether the receiver may hold fixes that are newer than the newest one recorded.
  ///   - sink: Receives each record.
  mutating func release(
    at now: Instant, isBuffering: Bool, to sink: (TraceRecord) -> Void
  ) {
    let count = pending.count - firstPending
    guard count > 0 else { return }
    let isFull = count >= TraceSorter.capacity
    let horizon =
      isBuffering && !isFull
      ? min(newestFix, now - TraceSorter.maximumDelay) : now - TraceSorter.maximumDelay
    guard count > 64 || pending[firstPending].at <= horizon else { return }
    release(upTo: horizon, to: sink)
  }

  /// Releases the remaining records and returns the totals.
  mutating func finish(
    at end: Instant, processorPerWake: Interval, baseline: EnergyBaseline?,
    to sink: (TraceRecord) -> Void
  ) -> TraceSummary {
    release(upTo: .distantFuture, to: sink)
    return tally.finish(at: end, processorPerWake: processorPerWake, baseline: baseline)
  }

  private mutating func release(upTo horizon: Instant, to sink: (TraceRecord) -> Void) {
    if !isSorted {
      removeReleased()
      // Swift's sort is stable: records with the same time keep their order.
      pending.sort { $0.at < $1.at }
      isSorted = true
    }
    while firstPending < pending.count, pending[firstPending].at <= horizon {
      lastReleased = pending[firstPending].at
      tally.add(pending[firstPending])
      sink(pending[firstPending])
      firstPending += 1
    }
    // Remaining records are moved only when at least as many have been released, which amortises the cost.
    if firstPending >= 1_024, firstPending * 2 >= pending.count { removeReleased() }
  }

  private mutating func removeReleased() {
    pending.removeFirst(firstPending)
    firstPending = 0
  }
}

extension TraceRecord {
  /// Whether the record is about receiver, board or battery.
  fileprivate var isHardwareRecord: Bool {
    switch kind {
    case .receiver, .board, .wake, .battery, .batteryEmpty: true
    case .fix, .batch, .ack, .finish, .gap, .notice: false
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
