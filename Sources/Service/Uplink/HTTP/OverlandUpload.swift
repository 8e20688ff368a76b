import LocationTypes
import UplinkPayload

/// One upload to an HTTP server: sends pending fixes batch by batch, and removes those that the server has accepted.
struct OverlandUpload {
  /// Name of the board.
  let device: DeviceName
  /// UTC minus boot clock, for fixes without date; nil while the date of the board is unknown.
  let clockOffset: Int64?

  /// Sends the oldest entries of `pending`, and removes them when the server has accepted them. On an error they remain.
  /// Gaps and events have no form in these batches: they are removed.
  ///
  /// - Returns: false if there is nothing to send.
  func sendNext<Connection: HTTPConnection>(
    _ pending: inout PendingFixes, over server: inout Connection, _ memory: inout BrokerMemory,
    log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    guard let part = pending.next(limit: min(OverlandBatch.limit, memory.size.limit)) else {
      return false
    }
    guard case .fixes(let fixes) = part.content else {
      pending.confirm(part)
      return true
    }
    guard let offset = OverlandBatch.offset(in: fixes) ?? clockOffset else {
      throw BrokerError(
        description: "the board has no date, and its fixes neither: an HTTP server needs it")
    }
    let json = OverlandBatch.json(fixes, device: device, offset: offset)
    let answer = try server.post(json)
    if answer.status == 413, memory.size.refuse(part.count) {
      if memory.mustLogSize() {
        log(
          "the server refuses a batch of \(json.count) bytes: batches have at most "
            + "\(memory.size.largest) fixes from now on")
      }
      return true
    }
    guard answer.isAccepted else { throw OverlandUpload.refusal(answer) }
    memory.size.confirm(part.count)
    pending.confirm(part)
    return true
  }

  /// Why a batch was not accepted.
  static func refusal(_ answer: HTTPAnswer) -> BrokerError {
    let help =
      switch answer.status {
      case 200...299: "check that `url` is the one for Overland's batches"
      case 401, 403: "check the key in `url`, or `token_file`"
      case 404: "check the path of `url`"
      case _: "see the log of the server"
      }
    return BrokerError(
      description: "the server answered \(answer.status) without {\"result\":\"ok\"}: \(help)")
  }
}
