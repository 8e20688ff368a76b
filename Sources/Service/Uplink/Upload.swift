import LocationTypes
import UplinkPayload

/// One upload: sends pending fixes and gaps message by message, and removes those that are confirmed.
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

  /// Sends the oldest entries of `pending` as one message, and removes them when they are confirmed. On an error they
  /// remain.
  ///
  /// - Returns: false if there is nothing to send.
  func sendNext<Connection: BrokerConnection & ~Copyable>(
    _ pending: inout PendingFixes, over broker: inout Connection, log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    guard let part = pending.next() else { return false }
    let message = UplinkMessage(
      device: device, ring: ring, preceding: pending.preceding, content: part.content)
    let bytes: [UInt8]
    do throws(UplinkEncodingError) {
      bytes = try message.encoded()
    } catch {
      throw BrokerError(description: "\(error)")
    }
    try broker.publish(bytes, to: "torpor/\(device)/\(part.topic)")
    if confirmation == .store { try awaitReceipt(of: part, over: &broker, log: log) }
    pending.confirm(part)
    return true
  }

  private func awaitReceipt<Connection: BrokerConnection & ~Copyable>(
    of part: PendingFixes.Part, over broker: inout Connection, log: (String) -> Void
  ) throws(BrokerError) {
    let end = UplinkClock.now + Upload.receiptTimeout
    var hasLogged = false
    while true {
      let left = end - UplinkClock.now
      guard left > .zero, let bytes = try broker.nextReceipt(within: left) else {
        throw BrokerError(
          description: "no receipt of the store within \(Int(Upload.receiptTimeout.seconds)) s: "
            + "check that it runs, and that it may read and write the topics of this board")
      }
      guard let receipt = Receipt(bytes), receipt.ring == ring else { continue }
      if receipt.isAhead(of: newest) {
        if !hasLogged { log("a receipt names a fix that does not exist, and is ignored") }
        hasLogged = true
      } else if receipt.confirms(part, ring: ring) {
        return
      }
    }
  }
}

extension PendingFixes.Part {
  /// Last level of the topic.
  var topic: String {
    switch content {
    case .fixes: "fixes"
    case .gap: "gap"
    case .event: "event"
    }
  }
}
