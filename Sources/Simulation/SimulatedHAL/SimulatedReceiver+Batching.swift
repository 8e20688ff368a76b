import GNSSProtocols
import LocationTypes

extension SimulatedReceiver {
  /// Why the receiver would not batch with these items; nil if it would, or is not asked to.
  func refusedBatching(_ items: UBXConfiguration) -> String? {
    guard let limit = figures.batch else { return nil }
    func value(_ key: UInt32) -> UInt64 { items.value(of: key) ?? configuration.value(key) }
    guard value(ConfigurationKey.batchEnable) != 0 else { return nil }
    let entries = value(ConfigurationKey.batchEntries)
    let most = capacity(
      limit, value(ConfigurationKey.batchExtraPVT), value(ConfigurationKey.batchExtraOdometer))
    guard entries >= 1, entries <= UInt64(most) else {
      return "a batch buffer of \(entries) epochs, where 1 to \(most) can be"
    }
    let watermark = value(ConfigurationKey.batchWatermark)
    guard watermark <= entries else {
      return "a watermark of \(watermark) in a batch buffer of \(entries) epochs"
    }
    return nil
  }

  private func capacity(_ limit: BatchCapacity, _ extraPVT: UInt64, _ odometer: UInt64) -> Int {
    switch (extraPVT != 0, odometer != 0) {
    case (false, false): limit.basic
    case (false, true): limit.odometer
    case (true, false): limit.extraPVT
    case (true, true): limit.both
    }
  }

  /// Brings the buffer to what the configuration says; one that changes is lost.
  mutating func applyBatching() {
    guard configuration.isOn(ConfigurationKey.batchEnable) else {
      batch.disable()
      sendDue = .distantFuture
      return
    }
    let entries = Int(configuration.value(ConfigurationKey.batchEntries))
    let extra = configuration.isOn(ConfigurationKey.batchExtraPVT)
    // Whether an M8 keeps its buffer when it is told the same again is not known: this one does not.
    if batch.capacity != entries || batch.hasExtraPVT != extra || figures.family == .ubloxM8 {
      batch.enable(capacity: entries, hasExtraPVT: extra)
      sendDue = .distantFuture
    }
  }

  mutating func retrieve(_ sendsStatusFirst: Bool, at now: Instant) {
    guard figures.batch != nil else { return }
    if figures.acknowledgesRetrieval { acknowledge(.logRETRIEVEBATCH, at: now) }
    if sendsStatusFirst { sendBatchStatus(at: now) }
    batch.beginRetrieval()
    sendDue = batch.toSend > 0 ? max(now, line.freeAt) : .distantFuture
  }

  mutating func sendBatchStatus(at now: Instant) {
    frame.removeAll()
    frame.appendBatchStatus(batch.status())
    transmit(at: now)
  }

  /// Sends entries while the line has nothing else to do, a few at a time so that what is live comes
  /// between them.
  mutating func sendBatch(at now: Instant) {
    for _ in 0..<4 {
      guard let entry = batch.next() else { break }
      frame.removeAll()
      frame.appendBatchEntry(entry)
      transmit(at: now)
    }
    sendDue = batch.toSend > 0 ? line.freeAt : .distantFuture
  }
}
