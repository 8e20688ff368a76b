import GNSSProtocols

/// The receiver's own buffer of epochs: a ring that drops the oldest.
struct ReceiverBatch: Sendable {
  private var entries: [UBXSolution] = []
  private var first = 0
  private(set) var count = 0
  private(set) var capacity = 0
  private(set) var hasExtraPVT = false
  private var dropsAll = 0
  private var dropsSinceLast = 0
  private var nextMessageCount: UInt16 = 0
  /// Entries that the retrieval under way has still to send.
  private(set) var toSend = 0

  /// Whether batching is enabled.
  var isEnabled: Bool { capacity > 0 }

  /// Begins with an empty buffer; whatever was in it is lost.
  mutating func enable(capacity: Int, hasExtraPVT: Bool) {
    self = ReceiverBatch()
    self.capacity = capacity
    self.hasExtraPVT = hasExtraPVT
    entries.reserveCapacity(capacity)
  }

  /// Ends batching; the buffer is lost.
  mutating func disable() { self = ReceiverBatch() }

  /// Stores an epoch.
  mutating func append(_ solution: UBXSolution) {
    if count == capacity {
      first = (first + 1) % capacity
      count -= 1
      dropsAll += 1
      dropsSinceLast += 1
      toSend = min(toSend, count)
    }
    let place = (first + count) % capacity
    if place < entries.count { entries[place] = solution } else { entries.append(solution) }
    count += 1
  }

  /// What MON-BATCH tells; asking resets the count of recent drops.
  mutating func status() -> UBXBatchStatus {
    defer { dropsSinceLast = 0 }
    return UBXBatchStatus(
      fillLevel: UInt16(count), dropsAll: UInt16(truncatingIfNeeded: dropsAll),
      dropsSinceLast: UInt16(truncatingIfNeeded: dropsSinceLast),
      nextMessageCount: nextMessageCount)
  }

  /// Begins to send what is in the buffer now.
  mutating func beginRetrieval() { toSend = count }

  /// The oldest entry of the retrieval under way, which leaves the buffer; nil at its end.
  mutating func next() -> UBXBatchEntry? {
    guard toSend > 0, count > 0 else { return nil }
    let entry = UBXBatchEntry(
      messageCount: nextMessageCount, hasExtraPVT: hasExtraPVT, solution: entries[first])
    nextMessageCount &+= 1
    first = (first + 1) % capacity
    count -= 1
    toSend -= 1
    return entry
  }
}
