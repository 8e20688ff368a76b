import GNSSProtocols

/// The receiver's batch buffer: a ring of epochs that overwrites the oldest one.
struct ReceiverBatch: Sendable {
  private var entries: [UBXSolution] = []
  private var firstIndex = 0
  private(set) var count = 0
  private(set) var capacity = 0
  private(set) var hasExtraPVT = false
  private var dropsAll = 0
  private var dropsSinceLast = 0
  private var nextMessageCount: UInt16 = 0
  /// Number of entries that the present retrieval still has to send.
  private(set) var entriesToSend = 0

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
      entriesToSend = min(entriesToSend, count)
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

  /// Starts the retrieval of the present contents.
  mutating func beginRetrieval() { entriesToSend = count }

  /// Removes and returns the oldest entry of the present retrieval; nil at its end.
  mutating func removeNext() -> UBXBatchEntry? {
    guard entriesToSend > 0, count > 0 else { return nil }
    let entry = UBXBatchEntry(
      messageCount: nextMessageCount, hasExtraPVT: hasExtraPVT, solution: entries[firstIndex])
    nextMessageCount &+= 1
    firstIndex = (firstIndex + 1) % capacity
    count -= 1
    entriesToSend -= 1
    return entry
  }
}
