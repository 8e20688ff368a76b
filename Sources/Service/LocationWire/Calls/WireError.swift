import TextFormats

/// Error reply of the service to a call; the connection stays open.
public enum WireError: Error, Equatable, Sendable {
  /// `org.varlink.service`: the interface does not exist.
  case interfaceNotFound(String)
  /// `org.varlink.service`: the interface has no such method.
  case methodNotFound(String)
  /// `org.varlink.service`: the interface has the method, but this service does not implement it.
  case methodNotImplemented(String)
  /// `org.varlink.service`: the parameter is missing, unknown, of a wrong type or out of range.
  case invalidParameter(String)
  /// `org.varlink.service`: only an administrator may call the method.
  case permissionDenied
  /// `org.varlink.service`: the call requires `more`.
  case expectedMore
  /// The call requires `upgrade`.
  case expectedUpgrade
  /// The connection has no session yet: `Connect` comes first.
  case notConnected
  /// The connection has a session already.
  case alreadyConnected
  /// The session does not exist or belongs to another user.
  case unknownSession(Int64)
  /// The client may not use location.
  case notAuthorized
  /// A limit is reached: the name of the limited resource, and the limit.
  case limitExceeded(what: String, limit: Int64)
  /// The service has no such client.
  case unknownClient(WireClientName)
  /// A call names a fix that never existed: generation of this run, sequence number of its first fix, and sequence
  /// number of its next fix.
  case unknownFix(generation: UInt32, first: UInt64, next: UInt64)
  /// A command cannot decide about a client, because the rule in this line of the administrator's file does. Nil if the
  /// file does not exist: root and the service's own user are then always authorized.
  case decidedByFile(line: Int?)
  /// The board has no source for the requested data, or the disk cannot be written.
  case notAvailable(what: String)
  /// An unknown error, by its name; decoded but never sent.
  case other(String)

  /// Full name of the error.
  public var name: String {
    switch self {
    case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
    case .methodNotFound: "org.varlink.service.MethodNotFound"
    case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
    case .invalidParameter: "org.varlink.service.InvalidParameter"
    case .permissionDenied: "org.varlink.service.PermissionDenied"
    case .expectedMore: "org.varlink.service.ExpectedMore"
    case .expectedUpgrade: "org.torpor.Location.ExpectedUpgrade"
    case .notConnected: "org.torpor.Location.NotConnected"
    case .alreadyConnected: "org.torpor.Location.AlreadyConnected"
    case .unknownSession: "org.torpor.Location.UnknownSession"
    case .notAuthorized: "org.torpor.Location.NotAuthorized"
    case .limitExceeded: "org.torpor.Location.LimitExceeded"
    case .unknownClient: "org.torpor.Location.UnknownClient"
    case .unknownFix: "org.torpor.Location.UnknownFix"
    case .decidedByFile: "org.torpor.Location.DecidedByFile"
    case .notAvailable: "org.torpor.Location.NotAvailable"
    case .other(let name): name
    }
  }
}

extension WireError {
  /// Appends the parameters of the error.
  func write(to json: inout JSONOutput) {
    switch self {
    case .interfaceNotFound(let name): json.member("interface", name)
    case .methodNotFound(let name), .methodNotImplemented(let name): json.member("method", name)
    case .invalidParameter(let name): json.member("parameter", name)
    case .permissionDenied, .expectedMore, .expectedUpgrade, .notConnected, .alreadyConnected,
      .notAuthorized, .other:
      break
    case .unknownSession(let session): json.member("session", session)
    case .limitExceeded(let what, let limit):
      json.member("what", what)
      json.member("limit", limit)
    case .unknownClient(let client):
      json.member("user", Int64(client.user))
      json.member("name", client.name)
    case .unknownFix(let generation, let first, let next):
      json.member("generation", Int64(generation))
      json.member("first_sequence", Int64(clamping: first))
      json.member("next_sequence", Int64(clamping: next))
    case .decidedByFile(let line): if let line { json.member("line", Int64(line)) }
    case .notAvailable(let what): json.member("what", what)
    }
  }

  /// Decodes an error from its name and parameters; ``other(_:)`` if name or parameters are unknown.
  init(name: String, _ fields: inout JSONFields) {
    do {
      self = try WireError.read(name, &fields)
    } catch {
      self = .other(name)
    }
  }

  private static func read(
    _ name: String, _ fields: inout JSONFields
  ) throws(WireError) -> WireError {
    switch name {
    case "org.varlink.service.InterfaceNotFound": .interfaceNotFound(try fields.string("interface"))
    case "org.varlink.service.MethodNotFound": .methodNotFound(try fields.string("method"))
    case "org.varlink.service.MethodNotImplemented":
      .methodNotImplemented(try fields.string("method"))
    case "org.varlink.service.InvalidParameter": .invalidParameter(try fields.string("parameter"))
    case "org.varlink.service.PermissionDenied": .permissionDenied
    case "org.varlink.service.ExpectedMore": .expectedMore
    case "org.torpor.Location.ExpectedUpgrade": .expectedUpgrade
    case "org.torpor.Location.NotConnected": .notConnected
    case "org.torpor.Location.AlreadyConnected": .alreadyConnected
    case "org.torpor.Location.UnknownSession": .unknownSession(try fields.integer("session"))
    case "org.torpor.Location.NotAuthorized": .notAuthorized
    case "org.torpor.Location.LimitExceeded":
      .limitExceeded(what: try fields.string("what"), limit: try fields.integer("limit"))
    case "org.torpor.Location.UnknownClient":
      .unknownClient(
        WireClientName(user: try fields.number("user"), name: try fields.string("name")))
    case "org.torpor.Location.UnknownFix":
      .unknownFix(
        generation: try fields.number("generation"), first: try fields.number("first_sequence"),
        next: try fields.number("next_sequence"))
    case "org.torpor.Location.DecidedByFile":
      .decidedByFile(line: fields.has("line") ? try fields.number("line") : nil)
    case "org.torpor.Location.NotAvailable": .notAvailable(what: try fields.string("what"))
    default: .other(name)
    }
  }
}
