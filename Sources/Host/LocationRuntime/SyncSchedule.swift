import LocationEngine
import LocationHAL
import LocationTypes

/// When what is only in memory is written to the disk (RNG-4): within an interval, and before a rest of the board that
/// would have to end for it: a suspend, or a wait while the receiver sleeps or keeps its fixes.
///
/// A wake costs a resume. Early writes are a quarter of the interval apart at least, so that a client
/// that calls without end cannot cause a write for each call.
public struct SyncSchedule: Sendable {
  /// What was made within so long may be lost by a power cut.
  public let interval: Interval
  /// When it was last written.
  private var last: Instant
  /// When it was last written before it was due.
  private var lastEarly: Instant?

  /// Begins with nothing to write.
  public init(every interval: Interval, at now: Instant) {
    self.interval = interval
    last = now
  }

  /// When something unwritten must be written at the latest.
  public var due: Instant { last + interval }

  /// Whether to write before the board waits by `plan`: it would rest when the write is due.
  ///
  /// Says so only as often as early writes may be.
  ///
  /// - Parameter isReceiverQuiet: No fix is about to come: the receiver sleeps, or keeps its fixes for a batch.
  public mutating func writesEarly(
    before plan: Effects?, isReceiverQuiet: Bool, at now: Instant
  ) -> Bool {
    guard let plan, plan.board >= .suspended || isReceiverQuiet, due < plan.wake else {
      return false
    }
    if let lastEarly, now - lastEarly < Interval(microseconds: interval.microseconds / 4) {
      return false
    }
    lastEarly = now
    return true
  }

  /// All was written, or there was nothing to write.
  public mutating func wrote(at now: Instant) { last = now }
}
