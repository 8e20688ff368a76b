import GNSSProtocols
import LocationTypes

/// The receiver's batch buffer: a ring of epochs that overwrites the oldest one, and its retrieval by the host.
///
///     IDLE (nil) ──UBX-LOG-RETRIEVEBATCH, not empty──▶ SENDING(entries, due) ──last entry sent──▶ IDLE
///
/// A further retrieval starts again with the present contents; new entries belong to the next retrieval. A standby
/// request ends the retrieval, a change of the configuration also clears the buffer.
///
/// Owner: ``SimulatedReceiver``, which sends the entries. Bounded by ``capacity``.
struct ReceiverBatch: Sendable {
  private var entries: [UBXSolution] = []
  private var firstIndex = 0
  private(set) var count = 0
  private(set) var capacity = 0
  private(set) var hasExtraPVT = false
  private var dropsAll = 0
  private var dropsSinceLast = 0
  private var nextMessageCount: UInt16 = 0
  /// Number of entries that remain to be sent (0 if they were overwritten since), and when; nil without a retrieval.
  private var retrieval: (entries: Int, due: Instant)?

  /// Whether batching is enabled.
  var isEnabled: Bool { capacity > 0 }

  /// Enables batching with an empty buffer; previous contents are lost.
  mutating func enable(capacity: Int, hasExtraPVT: Bool) {
    self = ReceiverBatch()
    self.capacity = capacity
    self.hasExtraPVT = hasExtraPVT
    entries.reserveCapacity(capacity)
  }

  /// Disables batching; the contents are lost.
  mutating func disable() { self = ReceiverBatch() }

  /// Stores an epoch.
  mutating func append(_ solution: UBXSolution) {
    if count == capacity {
      firstIndex = (firstIndex + 1) % capacity
      count -= 1
      dropsAll += 1
      dropsSinceLast += 1
      if let retrieval { self.retrieval?.entries = min(retrieval.entries, count) }
    }
    let index = (firstIndex + count) % capacity
    if index < entries.count { entries[index] = solution } else { entries.append(solution) }
    count += 1
  }

  /// Returns the contents of UBX-MON-BATCH, and resets the count of recent drops.
  mutating func readStatus() -> UBXBatchStatus {
    defer { dropsSinceLast = 0 }
    return UBXBatchStatus(
      fillLevel: UInt16(count), dropsAll: UInt16(truncatingIfNeeded: dropsAll),
      dropsSinceLast: UInt16(truncatingIfNeeded: dropsSinceLast),
      nextMessageCount: nextMessageCount)
  }

  // MARK: Retrieval

  /// Time at which the next entries are sent; `.distantFuture` without a retrieval.
  var sendDue: Instant { retrieval?.due ?? .distantFuture }

  /// Starts the retrieval of the present contents; the first entries are sent at `time`.
  mutating func beginRetrieval(at time: Instant) {
    retrieval = count > 0 ? (count, time) : nil
  }

  /// Removes and returns the oldest entry of the present retrieval; nil at its end.
  mutating func removeNext() -> UBXBatchEntry? {
    guard let retrieval, retrieval.entries > 0, count > 0 else { return nil }
    let entry = UBXBatchEntry(
      messageCount: nextMessageCount, hasExtraPVT: hasExtraPVT, solution: entries[firstIndex])
    nextMessageCount &+= 1
    firstIndex = (firstIndex + 1) % capacity
    count -= 1
    self.retrieval?.entries -= 1
    return entry
  }

  /// Continues the retrieval at `time`, or ends it if no entry remains.
  mutating func continueRetrieval(at time: Instant) {
    guard let retrieval else { return }
    self.retrieval = retrieval.entries > 0 ? (retrieval.entries, time) : nil
  }

  /// Ends the retrieval; the remaining entries stay in the buffer.
  mutating func endRetrieval() { retrieval = nil }
}
