import LocationPolicy
import LocationTypes
import TextFormats

/// Encodes the replies of the service.
public enum ReplyEncoder {
  /// Appends the frame of a reply, with its NUL.
  public static func encode(
    _ reply: WireReply, continues: Bool = false, to json: inout JSONOutput
  ) {
    json.frame { json in
      if case .error(let error) = reply { json.member("error", error.name) }
      if continues { json.member("continues", true) }
      json.object("parameters") { parameters(of: reply, &$0) }
    }
  }

  /// The parameters of a reply as one JSON object, without frame and NUL, for the output of commands.
  public static func object(of reply: WireReply) -> [UInt8] {
    var json = JSONOutput()
    json.frame { parameters(of: reply, &$0) }
    return json.bytes.dropLast()
  }

  /// A notice as one JSON object, without frame and NUL.
  public static func object(of notice: WireNotice) -> [UInt8] {
    var json = JSONOutput()
    json.frame { $0.member(of: notice) }
    return json.bytes.dropLast()
  }

  /// Appends one frame of a batch, with up to ``WireLimits/fixesPerReply`` fixes from `next`, which returns nil at the
  /// end. Allocates nothing if the output has enough capacity.
  ///
  /// - Returns: Number of fixes written; for 0 the output is unchanged.
  public static func encodeFixes(
    to json: inout JSONOutput, next: () -> StoredFix?
  ) -> Int {
    var count = 0
    let before = json.text.count
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
    if count == 0 { json.text.truncate(to: before) }
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
    case .regions(let regions):
      json.list("regions") { json in
        for region in regions { json.element { write(region, &$0) } }
      }
    case .clients(let clients):
      json.list("clients") { json in
        for client in clients { json.element { write(client, &$0) } }
      }
    case .error(let error): error.write(to: &json)
    }
  }

  private static func write(_ monitored: WireMonitoredRegion, _ json: inout JSONOutput) {
    json.members(of: monitored.region)
    json.member("state", word: monitored.state.wireWord)
    if let event = monitored.lastEvent { json.object("last_event") { $0.members(of: event) } }
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

  private static func write(_ client: WireClient, _ json: inout JSONOutput) {
    json.member("user", Int64(client.name.user))
    json.member("name", client.name.name)
    json.member("authorization", word: client.authorization.wireWord)
    json.member("reduced_accuracy", client.isReduced)
    if let execution = client.execution { json.member("execution", word: execution.wireWord) }
    if client.hasBackgroundSession { json.member("background_session", true) }
    if let requested = client.requestedAuthorization {
      json.member("asks", word: requested.wireWord)
    }
  }
}
