import LocationTypes

/// What the board stays awake for after a delivery: the acknowledgement of the last batch and of the last report
/// (RNG-8). A part of ``Client``.
///
/// # Problem
///
/// A client that was woken for a fix needs a short time to store it; if the board were suspended before that, the fix
/// would be delivered again. Batches are acknowledged by position, because each includes all earlier ones; reports need
/// not be in the client's range of the ring and are acknowledged by name.
///
/// # States
///
/// Of batch and report independently:
///
///              expect                    acknowledge, removeAll
///     nothing ────────→ awaited ─────────────────────────────────→ nothing
///                        │  ↑
///                        └──┘ expect: the newer delivery replaces the older one
///
/// Time changes no state: after ``deadline`` the board no longer waits, and a late acknowledgement is still valid.
///
/// Only the functions of this file write the properties; ``Client`` calls them. All are O(1).
struct AcknowledgementHold: Sendable {
  /// Sequence number of the last fix of the unacknowledged batch, and until when the board stays awake for it.
  private var batch: (last: UInt64, until: Instant)?
  /// Name of the unacknowledged report, and until when the board stays awake for it.
  private var report: (name: FixName, until: Instant)?

  /// Time until which the board stays awake; nil if no acknowledgement is expected.
  var deadline: Instant? {
    guard let report else { return batch?.until }
    return max(batch?.until ?? report.until, report.until)
  }

  /// A batch up to this sequence number was delivered.
  mutating func expect(batchUpTo last: UInt64, until: Instant) { batch = (last, until) }

  /// A report was delivered.
  mutating func expect(report name: FixName, until: Instant) { report = (name, until) }

  /// The client acknowledged a fix by name.
  mutating func acknowledge(_ name: FixName) {
    guard let sent = report?.name else { return }
    if sent.generation == name.generation, sent.sequence <= name.sequence { report = nil }
  }

  /// All fixes below `end` are acknowledged.
  mutating func acknowledge(below end: UInt64) {
    if let last = batch?.last, end > last { batch = nil }
  }

  /// The process detaches.
  mutating func removeAll() {
    batch = nil
    report = nil
  }
}
