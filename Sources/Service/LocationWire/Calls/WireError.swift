/// What the service refuses a call with; the connection goes on.
public enum WireError: Error, Equatable, Sendable {
  /// `org.varlink.service`: the interface does not exist.
  case interfaceNotFound(String)
  /// `org.varlink.service`: the interface has no such method.
  case methodNotFound(String)
  /// `org.varlink.service`: the interface has it, this service does not.
  case methodNotImplemented(String)
  /// `org.varlink.service`: that parameter is missing, unknown, of a wrong type or out of range.
  case invalidParameter(String)
  /// `org.varlink.service`: only an administrator may.
  case permissionDenied
  /// `org.varlink.service`: the call makes sense with `more` alone.
  case expectedMore
  /// The call makes sense with `upgrade` alone.
  case expectedUpgrade
  /// The connection has no session yet: `Connect` comes first.
  case notConnected
  /// The connection has a session already.
  case alreadyConnected
  /// There is no such session, or it is another user's.
  case unknownSession(Int64)
  /// The client may not use location.
  case notAuthorized
  /// No more of these are to be had; of which, and how many there are.
  case limitExceeded(what: String, limit: Int64)
  /// No such client is known.
  case unknownClient(WireClientName)
  /// A fix is named that never was: this run's generation, and the sequence number that its next fix gets;
  /// `first` is the one that its first fix got, or will.
  case unknownFix(generation: UInt32, first: UInt64, next: UInt64)
  /// A command cannot decide about a client: the rule of that line of the administrator's file does, or,
  /// where there is no file, that root and the service's own user may all.
  case decidedByFile(line: Int?)
  /// The board has nothing to tell it from.
  case notAvailable(what: String)
  /// An error that this version does not know, by its name; only read, never sent.
  case other(String)

  /// Its full name.
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
  /// Writes its parameters.
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

  /// Reads an error by its name and parameters; ``other(_:)`` when it is not as this version knows it.
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
