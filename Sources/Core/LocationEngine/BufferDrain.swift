import LocationTypes

/// When the fixes in the receiver's own buffer are read: the drain that is requested, and how long the next one waits.
///
/// ```
/// none -- request() ------------> requested
/// requested -- finish(head:at:) --> none     drained, refused, or nothing buffered
/// requested -- cancel() ----------> none     the receiver is lost
/// ```
///
/// Without sky view a drain brings no fix. The time between two drains then doubles, at most 12 times (PWR-7).
struct BufferDrain: Sendable {
  /// Largest number of doublings.
  static let maximumDoublings: Int64 = 12

  /// Whether a drain is requested from the driver.
  private(set) var isRequested = false
  /// Time of the last drain, or of the start of batching.
  private(set) var lastTime = Instant.boot
  /// The ring's head after the last drain.
  private var lastHead: UInt64 = 0
  /// Number of drains in a row, up to ``maximumDoublings``, that brought no fix.
  private var emptyCount: Int64 = 0

  /// The driver is commanded to drain.
  mutating func request() { isRequested = true }

  /// The receiver is lost: the drain ends without a result.
  mutating func cancel() { isRequested = false }

  /// Batching is commanded, or its watermark changes: the wait restarts.
  mutating func beginBatching(at now: Instant) { lastTime = now }

  /// The drain has ended, or the buffer is known to be empty. `head`: the ring's head.
  mutating func finish(head: UInt64, at now: Instant) {
    isRequested = false
    lastTime = now
    emptyCount = head == lastHead ? min(emptyCount + 1, BufferDrain.maximumDoublings) : 0
    lastHead = head
  }

  /// Earliest time of the next drain for a client that needs a fix.
  func nextTime(_ fixInterval: Interval) -> Instant {
    lastTime
      + RetryBackoff.delay(
        after: emptyCount + 1, initial: fixInterval,
        longest: fixInterval * (1 << BufferDrain.maximumDoublings))
  }
}
