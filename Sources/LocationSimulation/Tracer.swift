import LocationTypes
import SimulatedHAL

/// Collects what happens in a run and hands it on in the order of time.
///
/// A fix out of the receiver's buffer is told when it is drained, but was true long before: records
/// wait until nothing earlier can come, at most ``capacity`` of them.
final class Tracer {
  /// Between a fix and its way into the ring pass at most so many seconds, batching aside.
  private static let window = Interval.seconds(5)

  /// A day of fixes and what goes with them.
  private static let capacity = 500_000

  private var pending: [TraceRecord] = []
  /// Up to when records were handed on; nothing is told as earlier than that.
  private var handed = Instant.boot
  private var newestFix = Instant.boot
  private var tally = TraceTally()
  private let sink: (TraceRecord) -> Void
  /// Time of the last record that was added.
  private(set) var last = Instant.boot

  /// Creates a collector that gives each record to `sink`.
  init(sink: @escaping (TraceRecord) -> Void) { self.sink = sink }

  func add(_ record: TraceRecord) {
    pending.append(TraceRecord(at: max(record.at, handed), record.kind))
    last = max(last, record.at)
    if case .fix = record.kind { newestFix = max(newestFix, record.at) }
  }

  /// Takes over what happened on the board.
  func add(_ events: [TimedBoardEvent]) {
    for event in events { add(TraceRecord(event)) }
  }

  /// Hands on what nothing earlier can follow.
  ///
  /// - Parameter isBuffering: The receiver holds fixes that are newer than the newest seen.
  func release(at now: Instant, isBuffering: Bool) {
    guard !pending.isEmpty else { return }
    let isFull = pending.count >= Tracer.capacity
    let horizon =
      isBuffering && !isFull ? min(newestFix, now - Tracer.window) : now - Tracer.window
    guard pending.count > 64 || pending[0].at <= horizon else { return }
    hand(upTo: horizon)
  }

  /// Hands on the rest and adds all up.
  func finish(at end: Instant, tracking_mW: Double?, awake_mW: Double?) -> TraceSummary {
    hand(upTo: .distantFuture)
    return tally.finish(at: end, tracking_mw: tracking_mW, awake_mw: awake_mW)
  }

  private func hand(upTo horizon: Instant) {
    Tracer.hand(&pending, upTo: horizon, &tally, &handed, sink)
  }

  private static func hand(
    _ pending: inout [TraceRecord], upTo horizon: Instant, _ tally: inout TraceTally,
    _ handed: inout Instant, _ sink: (TraceRecord) -> Void
  ) {
    // Swift's sort is stable: what happened at one time stays in its order.
    pending.sort { $0.at < $1.at }
    let count = pending.firstIndex { $0.at > horizon } ?? pending.count
    for record in pending[..<count] {
      tally.add(record)
      sink(record)
    }
    if count > 0 { handed = pending[count - 1].at }
    pending.removeFirst(count)
  }
}

extension TraceRecord {
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
    }
  }
}
