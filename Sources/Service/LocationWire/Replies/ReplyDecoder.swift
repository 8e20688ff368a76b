import LocationPolicy
import LocationTypes
import TextFormats

/// Why a frame is not a valid reply to a call.
public enum ReplyRejection: Error, Equatable, Sendable {
  /// The frame is not a Varlink reply.
  case malformed
  /// A parameter is missing or has an unknown value.
  case unexpected(parameter: String)
}

/// Decodes the replies of the service.
public enum ReplyDecoder {
  /// Decodes one frame, without its NUL, as a reply to `call`. Unknown parameters are ignored.
  public static func decode(
    _ frame: [UInt8], to call: WireCall
  ) throws(ReplyRejection) -> IncomingReply {
    guard frame.count <= WireLimits.replyFrame,
      let document = try? JSONDocument(frame, limits: .reply),
      var fields = try? JSONFields(document.root),
      let continues = try? fields.flag("continues")
    else { throw .malformed }
    do {
      let error = try fields.optional("error") { $0.string }
      var parameters =
        try fields.value("parameters").map { value throws(WireError) in
          try JSONFields(value)
        } ?? JSONFields()
      if let error { return IncomingReply(.error(WireError(name: error, &parameters))) }
      return IncomingReply(try reply(to: call, &parameters), continues: continues)
    } catch {
      guard case .invalidParameter(let name) = error else { throw .malformed }
      throw .unexpected(parameter: name)
    }
  }

  private static func reply(
    to call: WireCall, _ fields: inout JSONFields
  ) throws(WireError) -> WireReply {
    switch call {
    case .getInfo: .info(try info(&fields))
    case .getInterfaceDescription: .interfaceDescription(try fields.string("description"))
    case .connect: .connected(try session(&fields))
    case .watch:
      .notice(try fields.requiredObject("notice") { f throws(WireError) in try f.notice() })
    case .openLive, .openServiceSession: .opened(try fields.number("number"))
    case .openBackgroundSession: .active(try fields.bool("active"))
    case .getLocation:
      .location(try fields.object("fix") { f throws(WireError) in try f.storedFix() })
    case .getStatus: .status(try fields.requiredObject("status", status))
    case .getPowerPlan: .plan(try fields.requiredObject("plan", plan))
    case .getEnergy: .energy(try fields.requiredObject("energy", energy))
    case .drain, .readBacklog:
      .drain(
        count: try fields.number("count"),
        try fields.object("gap") { f throws(WireError) in try f.gap() })
    case .listRegions: .regions(try fields.objects("regions", monitored) ?? [])
    case .listClients: .clients(try fields.objects("clients", client) ?? [])
    case .startUpdating, .stopUpdating, .configure, .allowDeferred, .disallowDeferred,
      .setExecution, .acknowledge, .acknowledgeEvents, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .closeLive, .allowClient, .denyClient, .reduceClient, .forgetClient,
      .requestAuthorization, .closeServiceSession, .closeBackgroundSession, .flush:
      .done
    }
  }

  private static func info(_ fields: inout JSONFields) throws(WireError) -> WireServiceInfo {
    var info = WireServiceInfo(version: try fields.string("version"))
    info.vendor = try fields.string("vendor")
    info.product = try fields.string("product")
    info.url = try fields.string("url")
    let names = try fields.required("interfaces") { $0.elements }
    info.interfaces = names.compactMap(\.string)
    return info
  }

  private static func session(_ fields: inout JSONFields) throws(WireError) -> WireSession {
    var session = WireSession(
      session: try fields.integer("session"), authorization: try fields.word("authorization"),
      isReduced: try fields.bool("reduced_accuracy"),
      isDeferralAvailable: try fields.bool("deferral_available"))
    session.launchReason = try fields.optional("launch_reason") {
      $0.string.flatMap(LaunchReason.init(rawValue:))
    }
    return session
  }

  private static func monitored(
    _ fields: inout JSONFields
  ) throws(WireError) -> WireMonitoredRegion {
    WireMonitoredRegion(
      try fields.region(), state: try fields.word("state"),
      lastEvent: try fields.object("last_event") { f throws(WireError) in try f.regionEvent() })
  }

  private static func client(_ fields: inout JSONFields) throws(WireError) -> WireClient {
    var client = WireClient(
      WireClientName(user: try fields.number("user"), name: try fields.string("name")),
      authorization: try fields.word("authorization"),
      isReduced: try fields.bool("reduced_accuracy"),
      execution: try fields.optionalWord("execution"))
    client.hasBackgroundSession = try fields.flag("background_session")
    client.requestedAuthorization = try fields.optionalWord("asks")
    return client
  }
}

extension JSONFields {
  /// Decodes a required object member with `body`.
  mutating func requiredObject<T>(
    _ name: StaticString, _ body: (inout JSONFields) throws(WireError) -> T
  ) throws(WireError) -> T {
    guard let result = try object(name, body) else { throw invalid(name) }
    return result
  }

  mutating func requiredTime(_ name: StaticString) throws(WireError) -> FixTime {
    guard let time = try time(name) else { throw invalid(name) }
    return time
  }
}
