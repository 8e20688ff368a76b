import LocationPolicy
import LocationTypes

/// Writes what the service sends.
public enum ReplyEncoder {
  /// Adds the frame of a reply, with its NUL.
  public static func encode(
    _ reply: WireReply, continues: Bool = false, to json: inout JSONOutput
  ) {
    json.frame { json in
      if case .error(let error) = reply { json.member("error", error.name) }
      if continues { json.member("continues", true) }
      json.object("parameters") { parameters(of: reply, &$0) }
    }
  }

  /// Adds one frame of a batch: up to ``WireLimits/fixesPerReply`` fixes, as `next` hands them out;
  /// nil is the end. Gives their number; 0 wrote nothing.
  ///
  /// Nothing is allocated once the output has its room.
  public static func encodeFixes(
    to json: inout JSONOutput, next: () -> StoredFix?
  ) -> Int {
    var count = 0
    let before = json.bytes.count
    json.frame { json in
      json.member("continues", true)
      json.object("parameters") { json in
        json.object("notice") { json in
          json.list("fixes") { json in
            while count < WireLimits.fixesPerReply, let fix = next() {
              json.element { $0.members(of: fix) }
              count += 1
            }
          }
        }
      }
    }
    if count == 0 { json.truncate(to: before) }
    return count
  }

  private static func parameters(of reply: WireReply, _ json: inout JSONOutput) {
    switch reply {
    case .done: break
    case .info(let info): write(info, &json)
    case .interfaceDescription(let text): json.member("description", text)
    case .connected(let session): write(session, &json)
    case .notice(let notice): json.object("notice") { $0.member(of: notice) }
    case .opened(let number): json.member("number", Int64(number))
    case .active(let isActive): json.member("active", isActive)
    case .location(let fix): if let fix { json.object("fix") { $0.members(of: fix) } }
    case .status(let status): json.object("status") { write(status, &$0) }
    case .plan(let plan): json.object("plan") { write(plan, &$0) }
    case .energy(let energy): json.object("energy") { write(energy, &$0) }
    case .drain(let count, let gap):
      json.member("count", Int64(clamping: count))
      if let gap { json.object("gap") { $0.members(of: gap) } }
    case .clients(let clients):
      json.list("clients") { json in
        for client in clients { json.element { write(client, &$0) } }
      }
    case .error(let error): error.write(to: &json)
    }
  }

  private static func write(_ info: WireServiceInfo, _ json: inout JSONOutput) {
    json.member("vendor", info.vendor)
    json.member("product", info.product)
    json.member("version", info.version)
    json.member("url", info.url)
    json.list("interfaces") { json in
      for interface in info.interfaces { json.element(text: interface) }
    }
  }

  private static func write(_ session: WireSession, _ json: inout JSONOutput) {
    json.member("session", session.session)
    json.member("authorization", word: session.authorization.wireWord)
    json.member("reduced_accuracy", session.isReduced)
    json.member("deferral_available", session.isDeferralAvailable)
    if let reason = session.launchReason { json.member("launch_reason", reason.rawValue) }
  }

  private static func write(_ status: WireStatus, _ json: inout JSONOutput) {
    json.member("version", status.version)
    json.member("board", status.board)
    json.object("now", status.now)
    json.member("generation", Int64(status.generation))
    json.member("next_sequence", Int64(clamping: status.nextSequence))
    json.member("ring_capacity", Int64(status.ringCapacity))
    json.object("newest", status.newest)
    json.member("clients", Int64(status.clients))
    if let percent = status.batteryPercent { json.member("battery_percent", Int64(percent)) }
    json.list("given_up", status.givenUp)
    json.member("sleep_inhibited", status.isSleepInhibited)
  }

  private static func write(_ plan: WirePlan, _ json: inout JSONOutput) {
    switch plan.plan.receiver {
    case .off: json.member("receiver", word: "off")
    case .standby: json.member("receiver", word: "standby")
    case .tracking: json.member("receiver", word: "tracking")
    case .powersave: json.member("receiver", word: "powersave")
    case .batching(let watermark):
      json.member("receiver", word: "batching")
      json.member("watermark", Int64(watermark))
    }
    json.member("board", word: plan.plan.board.wireWord)
    if plan.plan.wake < .distantFuture {
      json.object("wake", FixTime(acquired: plan.plan.wake, utc: plan.wakeUTC))
    }
    json.member("listens", plan.plan.listens)
  }

  private static func write(_ energy: WireEnergy, _ json: inout JSONOutput) {
    json.object("since", energy.since)
    json.object("until", energy.until)
    json.member("receiver_mj", energy.receiver_mJ)
    json.member("board_mj", energy.board_mJ)
    json.member("host_wakes", Int64(clamping: energy.hostWakes))
    json.object("receiver_s") { json in
      for (state, word) in WireReceiverState.wireWords {
        json.member(word, energy[state].microseconds, scale: 6)
      }
    }
    json.object("board_s") { json in
      for (state, word) in BoardState.wireWords {
        json.member(word, energy[state].microseconds, scale: 6)
      }
    }
  }

  private static func write(_ client: WireClient, _ json: inout JSONOutput) {
    json.member("user", Int64(client.name.user))
    json.member("name", client.name.name)
    json.member("authorization", word: client.authorization.wireWord)
    json.member("reduced_accuracy", client.isReduced)
    if let execution = client.execution { json.member("execution", word: execution.wireWord) }
    if client.hasBackgroundSession { json.member("background_session", true) }
    if let asks = client.asks { json.member("asks", word: asks.wireWord) }
  }
}
