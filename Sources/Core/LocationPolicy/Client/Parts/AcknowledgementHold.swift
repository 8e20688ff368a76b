import LocationTypes

/// What the board stays awake for after a delivery: the acknowledgement of the last batch and of the last report
/// (RNG-8). A part of ``Client``; only its functions write the properties.
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

  /// Whether no acknowledgement of a batch is expected.
  var isBatchAcknowledged: Bool { batch == nil }

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
