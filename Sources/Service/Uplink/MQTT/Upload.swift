import LocationTypes
import UplinkPayload

/// One upload: sends pending fixes, gaps and events message by message, and removes those that are confirmed.
struct Upload {
  /// Longest wait for a receipt.
  static let receiptTimeout = Interval.seconds(20)

  /// Name of the board.
  let device: DeviceName
  /// Random number of the ring.
  let ring: UInt64
  /// When a message counts as delivered.
  let confirmation: UplinkSettings.Confirmation
  /// The newest fix of the ring, or one after it: a receipt cannot name a later one.
  let newest: FixName
  /// When the upload ends, complete or not.
  let end: Instant

  /// Sends the oldest entries of `pending` as one message, and removes them when they are confirmed, or when the store
  /// has refused the message and keeps it. On an error they remain. If the broker refuses the message because of its size,
  /// nothing is removed, and the next one is smaller.
  ///
  /// - Returns: false if there is nothing to send.
  func sendNext<Connection: BrokerConnection & ~Copyable>(
    _ pending: inout PendingFixes, over broker: inout Connection, _ memory: inout BrokerMemory,
    log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    guard let part = pending.next(limit: memory.size.limit) else { return false }
    let message = UplinkMessage(
      device: device, ring: ring, preceding: pending.preceding, content: part)
    let bytes: [UInt8]
    do throws(UplinkEncodingError) {
      bytes = try message.encoded()
    } catch {
      throw BrokerError(description: "\(error)")
    }
    do throws(BrokerError) {
      let topic = "torpor/\(device)/\(part.topic)"
      let hasSubscriber = try broker.publish(bytes, to: topic, isRetained: false)
      switch confirmation {
      case .store:
        let reason = try awaitReceipt(
          of: part, UplinkMessage.checksum(atEndOf: bytes), over: &broker, pending.newestEvent,
          hasSubscriber, log: log)
        if let reason, memory.mustLog("refused: " + reason) {
          log(
            "the store refuses a message of the topic \(part.topic), and has set it aside: "
              + "\(reason): see its table of such messages")
        }
      case .broker:
        guard hasSubscriber else { throw Upload.noSubscriber(of: topic) }
      }
    } catch {
      if try mustShrink(part, bytes.count, error, &memory, log: log) { return true }
      throw error
    }
    memory.size.confirm(part.count)
    pending.confirm(part)
    return true
  }

  /// Reduces the size of messages after a failure. Returns whether a smaller one can be sent over this connection.
  private func mustShrink(
    _ part: UplinkContent, _ bytes: Int, _ error: BrokerError, _ memory: inout BrokerMemory,
    log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    switch error.cause {
    case .tooLarge(let isConnected):
      guard memory.size.refuse(part.count) else { return false }
      if memory.mustLogSize() {
        log(
          "the broker refuses a message of \(bytes) bytes: messages have at most "
            + "\(memory.size.largest) fixes from now on")
      }
      guard isConnected else { throw BrokerError(description: error.description, cause: .lost) }
      return true
    case .lost:
      // With one fix, the size is not the reason.
      guard memory.size.lose(part.count) else { throw BrokerError(description: error.description) }
      return false
    case .unconfirmed:
      memory.size.miss(part.count)
      return false
    case .other: return false
    }
  }

  private static func noSubscriber(of topic: String) -> BrokerError {
    BrokerError(
      description:
        "no program subscribes to the topic \(topic), so the broker keeps nothing: start the "
        + "program that stores fixes, with a durable session")
  }

  /// Waits until a receipt confirms a message. Returns nil then, or the reason if the store has refused the message.
  private func awaitReceipt<Connection: BrokerConnection & ~Copyable>(
    of part: UplinkContent, _ checksum: UInt32, over broker: inout Connection,
    _ newestEvent: UInt32?, _ hasSubscriber: Bool, log: (String) -> Void
  ) throws(BrokerError) -> String? {
    let start = UplinkClock.now
    let limit = min(start + Upload.receiptTimeout, end)
    var hasLogged = false
    while true {
      let left = limit - UplinkClock.now
      guard left > .zero, let bytes = try broker.nextReceipt(within: left) else {
        let seconds = Int((limit - start).seconds.rounded(.up))
        let help =
          hasSubscriber
          ? "check that it runs, and that it may read and write the topics of this board"
          : "the broker reports that no program subscribes to the topics of this board"
        throw BrokerError(
          description: "no receipt of the store within \(seconds) s: \(help)", cause: .unconfirmed)
      }
      if let refusal = Refusal(bytes), refusal.checksum == checksum { return refusal.reason }
      // A refusal of another message contains a receipt.
      guard let receipt = Receipt(bytes), receipt.ring == ring else { continue }
      if receipt.isAhead(of: newest, newestEvent) {
        if !hasLogged {
          log("a receipt names a fix or an event that does not exist, and is ignored")
        }
        hasLogged = true
      } else if receipt.confirms(part, checksum, ring: ring) {
        return nil
      }
    }
  }
}
