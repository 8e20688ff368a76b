import LocationTypes
import UplinkPayload

/// One upload to an HTTP server: sends pending fixes batch by batch, and removes those that the server has accepted.
struct OverlandUpload {
  /// Name of the board.
  let device: DeviceName
  /// UTC minus boot clock of this boot, for fixes without date; nil while the date of the board is unknown.
  let clockOffset: Int64?
  /// First generation that belongs to this boot. The boot clock of an earlier one may have another offset.
  let bootGeneration: UInt32

  /// Sends the oldest entries of `pending`, and removes them when the server has accepted them. On an error they remain.
  /// Gaps and events have no form in these batches: they are removed. So are the fixes of an earlier boot that cannot get a
  /// date any more.
  ///
  /// - Returns: false if there is nothing to send.
  func sendNext<Connection: HTTPConnection & ~Copyable>(
    _ pending: inout PendingFixes, over server: inout Connection, _ memory: inout BrokerMemory,
    log: (String) -> Void
  ) throws(BrokerError) -> Bool {
    guard let part = pending.next(limit: min(OverlandBatch.limit, memory.size.limit)) else {
      return false
    }
    guard case .fixes(let fixes) = part else {
      pending.confirm(part)
      return true
    }
    guard let offset = try offset(for: fixes, in: pending) else {
      if memory.mustLog("undated") {
        log(
          "fixes of an earlier start of the board have no date, which an HTTP server needs: they are "
            + "not sent")
      }
      pending.confirm(part)
      return true
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

  /// UTC minus boot clock for fixes of one generation; 0 if all have a date, and nil if it will never be known.
  private func offset(
    for fixes: [StoredFix], in pending: PendingFixes
  ) throws(BrokerError) -> Int64? {
    guard let first = fixes.first(where: { $0.fix.utc == nil }) else { return 0 }
    let generation = first.name.generation
    if let offset = pending.clockOffset(of: generation) { return offset }
    if generation >= bootGeneration, let clockOffset { return clockOffset }
    if generation < bootGeneration, pending.isComplete(generation) { return nil }
    throw BrokerError(
      description: "the board has no date, and its fixes neither: an HTTP server needs it")
  }

  /// Why a batch was not accepted.
  static func refusal(_ answer: HTTPAnswer) -> BrokerError {
    let help =
      switch answer.status {
      case _ where answer.isCut:
        "its answer is too long: check that `url` is the one for Overland's batches"
      case 200...299: "check that `url` is the one for Overland's batches"
      case 400, 415: "see the log of the server; with `gzip = true`, check that it can read gzip"
      case 401, 403: "check the key in `url`, or `token_file`"
      case 404: "check the path of `url`"
      case _: "see the log of the server"
      }
    return BrokerError(
      description: "the server answered \(answer.status) without {\"result\":\"ok\"}: \(help)")
  }
}
