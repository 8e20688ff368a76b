import LocationEngine
import LocationHAL
import LocationTypes

/// Decides when `LocationService` writes unwritten state to storage (RNG-4): at a fixed interval, and before a sleep of
/// the board that the write would otherwise interrupt (a suspend, or a wait while the receiver sleeps or batches).
///
/// A wake only for a write would cost a resume. Early writes are at least a quarter of the interval apart, so that
/// frequent calls of a client do not cause a write for each call.
public struct SyncSchedule: Sendable {
  /// Longest time between two writes: a power failure loses at most the changes of this time.
  public let interval: Interval
  /// Time of the last write.
  private var lastWrite: Instant
  /// Time of the last write that was earlier than due.
  private var lastEarlyWrite: Instant?

  /// Creates a schedule with nothing to write.
  public init(every interval: Interval, at now: Instant) {
    self.interval = interval
    lastWrite = now
  }

  /// Time at which unwritten changes must be written.
  public var due: Instant { lastWrite + interval }

  /// Whether to write before the board waits as planned, because the write would become due during its sleep. Records
  /// the early write and returns true only as often as early writes are allowed.
  ///
  /// - Parameter isReceiverQuiet: Whether no fix is expected: the receiver sleeps or batches.
  public mutating func shouldWriteEarly(
    before plan: Effects?, isReceiverQuiet: Bool, at now: Instant
  ) -> Bool {
    guard let plan, plan.board >= .suspended || isReceiverQuiet, due < plan.wake else {
      return false
    }
    if let lastEarlyWrite, now - lastEarlyWrite < Interval(microseconds: interval.microseconds / 4)
    {
      return false
    }
    lastEarlyWrite = now
    return true
  }

  /// Records that all changes are written, or that there were none.
  public mutating func didWrite(at now: Instant) { lastWrite = now }
}
