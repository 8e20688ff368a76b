import LocationTypes
import SimulatedHAL

/// Collects what happens in a run and hands it on in the order of time.
///
/// A fix out of the receiver's buffer is told when it is drained, but was true long before: records
/// wait until nothing earlier can come, at most ``capacity`` of them.
struct Tracer {
  /// Between a fix and its way into the ring pass at most so many seconds, batching aside.
  private static let window = Interval.seconds(5)

  /// A day of fixes and what goes with them.
  private static let capacity = 500_000

  private var pending: [TraceRecord] = []
  /// Records before this place were handed on.
  private var first = 0
  /// What waits is in the order of time.
  private var isSorted = true
  /// Up to when records were handed on; nothing is told as earlier than that.
  private var handed = Instant.boot
  private var newestFix = Instant.boot
  private var tally = TraceTally()
  /// When the run ends: what receiver and board do later is not told, and what a client is still given
  /// is told as given then.
  var end = Instant.distantFuture

  /// Begins with nothing.
  init() {}

  mutating func add(_ record: TraceRecord) {
    if record.at > end && record.isOfHardware { return }
    let at = min(max(record.at, handed), end)
    if first < pending.count, at < pending[pending.count - 1].at { isSorted = false }
    pending.append(TraceRecord(at: at, record.kind))
    if case .fix = record.kind { newestFix = max(newestFix, record.at) }
  }

  /// Hands on what nothing earlier can follow.
  ///
  /// - Parameters:
  ///   - isBuffering: The receiver holds fixes that are newer than the newest seen.
  ///   - sink: Gets each record.
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

  /// Hands on the rest and adds all up.
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
      // Swift's sort is stable: what happened at one time stays in its order.
      pending.sort { $0.at < $1.at }
      isSorted = true
    }
    while first < pending.count, pending[first].at <= horizon {
      handed = pending[first].at
      tally.add(pending[first])
      sink(pending[first])
      first += 1
    }
    // What is kept is moved once for as many that are gone.
    if first > 0, first * 2 >= pending.count { forgetHanded() }
  }

  private mutating func forgetHanded() {
    pending.removeFirst(first)
    first = 0
  }
}

extension TraceRecord {
  /// Whether it tells of receiver, board or battery.
  fileprivate var isOfHardware: Bool {
    switch kind {
    case .receiver, .board, .wake, .battery, .batteryEmpty: true
    case .fix, .batch, .ack, .finish, .gap, .told: false
    }
  }

  /// A board's event in the words of the trace.
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
