import LocationPolicy
import LocationTypes
import TextFormats

/// Why a frame is not a valid call.
public enum CallRejection: Error, Equatable, Sendable {
  /// The frame is not a Varlink call; the connection must be closed.
  case malformed
  /// The call is refused; with `isOneway`, no error reply is sent. The connection stays open.
  case refused(WireError, isOneway: Bool)
}

/// Decodes the calls of clients.
public enum CallDecoder {
  /// Interface name of this service, the prefix of its methods.
  static let interface = "org.torpor.Location"
  /// Interface name of Varlink's own methods.
  static let service = "org.varlink.service"

  /// Decodes one frame, without its NUL.
  public static func decode(_ frame: [UInt8]) throws(CallRejection) -> IncomingCall {
    if let name = AcknowledgementReader.read(frame) {
      return IncomingCall(.acknowledge(name), .oneway)
    }
    return try decodeAny(frame)
  }

  /// Decodes any frame by parsing it into a document, without the fast path for acknowledgements.
  static func decodeAny(_ frame: [UInt8]) throws(CallRejection) -> IncomingCall {
    guard frame.count <= WireLimits.callFrame,
      let document = try? JSONDocument(frame, limits: .call),
      var fields = try? JSONFields(document.root),
      let name = try? fields.string("method"),
      let mode = try? mode(&fields)
    else { throw .malformed }
    do {
      var parameters = try parameters(&fields)
      let call = try call(name, &parameters)
      try parameters.rejectUnread()
      try check(mode, for: call)
      return IncomingCall(call, mode)
    } catch {
      throw .refused(error, isOneway: mode == .oneway)
    }
  }

  /// The reply mode; at most one of the three flags may be set. Other members of the frame are ignored, because Varlink
  /// permits extensions by vendors.
  private static func mode(_ fields: inout JSONFields) throws(WireError) -> WireReplyMode {
    let isOneway = try fields.flag("oneway")
    let isMore = try fields.flag("more")
    let isUpgrade = try fields.flag("upgrade")
    switch (isOneway, isMore, isUpgrade) {
    case (false, false, false): return .once
    case (true, false, false): return .oneway
    case (false, true, false): return .more
    case (false, false, true): return .upgrade
    case (true, true, _), (true, _, true), (_, true, true): throw .invalidParameter("more")
    }
  }

  private static func parameters(_ fields: inout JSONFields) throws(WireError) -> JSONFields {
    guard let value = fields.value("parameters") else { return JSONFields() }
    guard value.isObject else { throw .invalidParameter("parameters") }
    return try JSONFields(value)
  }

  /// Checks that a method that needs `more` or `upgrade` is called with it. Varlink permits a service to reply once to
  /// any other method that is called with a flag.
  private static func check(_ mode: WireReplyMode, for call: WireCall) throws(WireError) {
    if call.method == .watch, mode != .more { throw .expectedMore }
    if call.isUpgrade, mode != .upgrade { throw .expectedUpgrade }
  }

  private static func call(
    _ name: String, _ fields: inout JSONFields
  ) throws(WireError) -> WireCall {
    guard let dot = name.lastIndex(of: ".") else { throw .invalidParameter("method") }
    let method = String(name[name.index(after: dot)...])
    switch String(name[..<dot]) {
    case service:
      switch method {
      case "GetInfo": return .getInfo
      case "GetInterfaceDescription":
        return .getInterfaceDescription(try fields.string("interface"))
      default: throw .methodNotFound(name)
      }
    case interface:
      guard let method = WireMethod(rawValue: method) else { throw .methodNotFound(name) }
      return try call(method, &fields)
    case let other: throw .interfaceNotFound(other)
    }
  }

  private static func call(
    _ method: WireMethod, _ fields: inout JSONFields
  ) throws(WireError) -> WireCall {
    switch method {
    case .connect:
      .connect(
        name: try clientName(&fields),
        needsExplicitSessions: try fields.flag("explicit_sessions"))
    case .watch: .watch(session: try fields.integer("session"))
    case .startUpdating: .startUpdating
    case .stopUpdating: .stopUpdating
    case .configure: .configure(try settings(&fields))
    case .allowDeferred:
      .allowDeferred(
        distance: try fields.optional("distance_m") { $0.double } ?? LocationLimits.distanceMax,
        timeout: try fields.optional("timeout_s") { $0.double } ?? LocationLimits.timeIntervalMax)
    case .disallowDeferred: .disallowDeferred
    case .setExecution: .setExecution(try fields.word("state"))
    case .acknowledge: .acknowledge(try fields.fixName())
    case .acknowledgeEvents: .acknowledgeEvents(try fields.number("number"))
    case .requestLocation: .requestLocation
    case .startSignificantChange: .startSignificantChange
    case .stopSignificantChange: .stopSignificantChange
    case .startVisits: .startVisits
    case .stopVisits: .stopVisits
    case .addRegion: try addRegion(&fields)
    case .removeRegion:
      .removeRegion(try fields.word("kind"), name: try regionName(&fields))
    case .requestRegionState:
      .requestRegionState(try fields.word("kind"), name: try regionName(&fields))
    case .listRegions: .listRegions
    case .openLive: .openLive(try fields.optionalWord("configuration") ?? .default)
    case .closeLive: .closeLive(try iterator(&fields))
    case .getLocation: .getLocation
    case .getStatus: .getStatus
    case .getPowerPlan: .getPowerPlan
    case .getEnergy: .getEnergy
    case .drain: .drain(session: try fields.integer("session"))
    case .readBacklog: .readBacklog(name: try clientName(&fields))
    case .listClients: .listClients
    case .allowClient: .allowClient(try client(&fields), try fields.word("authorization"))
    case .denyClient: .denyClient(try client(&fields))
    case .reduceClient:
      .reduceClient(try client(&fields), isReduced: try fields.bool("reduced_accuracy"))
    case .forgetClient: .forgetClient(try client(&fields))
    case .flush: .flush
    case .requestAuthorization: .requestAuthorization(try fields.word("authorization"))
    case .openServiceSession:
      .openServiceSession(
        try fields.word("authorization"), requiresFullAccuracy: try fields.flag("full_accuracy"))
    case .closeServiceSession: .closeServiceSession(try session(&fields))
    case .openBackgroundSession: .openBackgroundSession
    case .closeBackgroundSession: .closeBackgroundSession
    }
  }
}

// MARK: - Parameters

extension CallDecoder {
  private static func clientName(_ fields: inout JSONFields) throws(WireError) -> String {
    let name = try fields.string("name")
    guard NameValidation.isValidClient(name) else { throw .invalidParameter("name") }
    return name
  }

  private static func regionName(_ fields: inout JSONFields) throws(WireError) -> String {
    let name = try fields.string("name")
    guard NameValidation.isValidRegion(name) else { throw .invalidParameter("name") }
    return name
  }

  private static func client(_ fields: inout JSONFields) throws(WireError) -> WireClientName {
    WireClientName(user: try fields.number("user"), name: try clientName(&fields))
  }

  private static func iterator(_ fields: inout JSONFields) throws(WireError) -> Int {
    let number = try fields.number("number", Int.self)
    guard (0..<LiveUpdates.capacity).contains(number) else { throw .invalidParameter("number") }
    return number
  }

  private static func session(_ fields: inout JSONFields) throws(WireError) -> Int {
    let number = try fields.number("number", Int.self)
    guard (0..<ClientSessions.capacity).contains(number) else { throw .invalidParameter("number") }
    return number
  }

  private static func settings(_ fields: inout JSONFields) throws(WireError) -> WireSettings {
    var settings = WireSettings()
    settings.desiredAccuracy = try fields.optional("desired_accuracy_m") { $0.double }
    settings.distanceFilter = try fields.optional("distance_filter_m") { $0.double }
    settings.pausesAutomatically = try fields.optional("pauses_automatically") { $0.bool }
    settings.activity = try fields.optionalWord("activity")
    settings.allowsBackground = try fields.optional("background_updates") { $0.bool }
    return settings
  }

  private static func addRegion(_ fields: inout JSONFields) throws(WireError) -> WireCall {
    let region = try fields.region()
    guard NameValidation.isValidRegion(region.name) else { throw .invalidParameter("name") }
    return .addRegion(region, assuming: try fields.optionalWord("assuming") ?? .unknown)
  }
}

extension JSONFields {
  /// Decodes a circular region with its client's name.
  mutating func region() throws(WireError) -> WireRegion {
    var region = WireRegion(
      try word("kind"), name: try string("name"), center: try coordinate(),
      radius: try double("radius_m"))
    region.notifyOnEntry = try optional("notify_on_entry") { $0.bool } ?? true
    region.notifyOnExit = try optional("notify_on_exit") { $0.bool } ?? true
    return region
  }

  /// Decodes the name of a fix and checks the range of the sequence number.
  mutating func fixName() throws(WireError) -> FixName {
    let generation = try number("generation", UInt32.self)
    let sequence = try number("sequence", UInt64.self)
    guard sequence < FixName.sequenceLimit else { throw invalid("sequence") }
    return FixName(generation: generation, sequence: sequence)
  }
}
