import Glibc
import LocationWire

/// Why the service could not be called, or refused the call. The description states how to fix it.
public enum ClientError: Error, Equatable, Sendable {
  /// The socket exists, but no process accepts connections.
  case noService(path: String)
  /// The socket does not exist.
  case noSocket(path: String)
  /// This user may not connect to the socket.
  case connectionNotPermitted(path: String)
  /// The path is not a socket.
  case notASocket(path: String)
  /// The service refused the call.
  case refused(WireError)
  /// The service refused because this user's client of that name may not use location.
  case locationNotPermitted(client: String)
  /// The service refused because this client may use location, but not in the background (BKG-18).
  case backgroundNotPermitted(client: String)
  /// The service sent data that this version cannot parse; the reason in a few words.
  case malformed(String)
  /// Another process has connected as this client (AUT-2).
  case takenOver
  /// The service closed the connection: it stopped, or rejected a message.
  case disconnected
  /// The transfer ended before all fixes were received; those received are valid.
  case truncated(received: UInt64, of: UInt64)
  /// No reply within the timeout.
  case timedOut
  /// A system call failed: which, and its error number.
  case system(String, code: Int32)
}

extension ClientError: CustomStringConvertible {
  /// What is wrong and how to fix it, in one line.
  public var description: String {
    switch self {
    case .noService(let path):
      "nothing answers at '\(path)': the service ended without removing its socket; start torpord"
    case .noSocket(let path):
      "no service at '\(path)': check that torpord runs; if it listens at another path, "
        + "set TORPOR_SOCKET to its path"
    case .connectionNotPermitted(let path):
      "this user may not connect to '\(path)': check the permissions of the socket and of its folder"
    case .notASocket(let path):
      "'\(path)' is not a socket: set TORPOR_SOCKET to the path at which torpord listens"
    case .refused(let error): ClientError.message(for: error)
    case .locationNotPermitted(let name):
      "'\(name)' of this user may not use location; an administrator can allow it with "
        + "`sudo \(ClientError.allowCommand(for: name))`, or, if a rule in clients.toml decides "
        + "about it, by changing that rule"
    case .backgroundNotPermitted(let name):
      "'\(name)' of this user may not use location in the background; an administrator can allow it with "
        + "`access = \"always\"` or `background = true` in its rule in clients.toml, or, if no rule "
        + "decides about it, with `sudo \(ClientError.allowCommand(for: name))`"
    case .malformed(let reason):
      "the service sent an invalid reply (\(reason)): check that the socket belongs to torpord, "
        + "and that both have the same version"
    case .takenOver:
      "another program has connected as this client: give each program of a user its own name"
    case .disconnected:
      "the service closed the connection: check whether it still runs, and see its log"
    case .truncated(let count, let total):
      "the service closed the connection after \(count) of \(total) fixes; request the others again"
    case .timedOut: "the service did not answer in time"
    case .system(let action, let code): "\(action): \(ClientError.reason(code))"
    }
  }

  /// Text for an error reply.
  static func message(for error: WireError) -> String {
    switch error {
    case .permissionDenied:
      "only an administrator may do this: root, or a user of `administrators` in the service's clients.toml"
    case .notAuthorized:
      "no program of this user may use location; an administrator can allow one with "
        + "`sudo \(ClientError.allowCommand(for: "NAME"))` (`torpor clients list` shows the names), or, if a "
        + "rule in clients.toml decides about it, by changing that rule"
    case .notAvailable(let what): "not available in this service: \(what)"
    case .unknownClient(let client):
      "no client '\(client.name)' of user \(client.user) is known: a client is known once its program has connected;"
        + " `torpor clients list` shows all clients"
    case .unknownFix(let generation, let first, let next):
      first == next
        ? "there is no fix since the service started, so there is none to acknowledge"
        : "this fix does not exist: the fixes since the start are \(first) to \(next - 1) of generation \(generation)"
    case .decidedByFile(let line?):
      "line \(line) of the service's clients.toml decides about this client: change it there, and reload the service"
    case .decidedByFile(nil):
      "root, and the user that torpord runs as, may always use location without a clients.toml:"
        + " write /etc/torpor/clients.toml to restrict them (the installed example shows all keys)"
    case .limitExceeded(let what, let limit):
      "the limit of \(limit) \(what) is reached"
    case .methodNotFound(let name), .methodNotImplemented(let name):
      "the service has no method \(name): it has another version"
    case .invalidParameter(let name): "the service rejects the value of '\(name)'"
    case .unknownSession: "the session has ended: another program with the same name has connected"
    case .interfaceNotFound, .expectedMore, .expectedUpgrade, .notConnected, .alreadyConnected,
      .other:
      "the service refuses the call: \(error.name)"
    }
  }

  /// Command with which an administrator allows a client of the current user to use location. It names the user, with
  /// the number if there is no name, and the socket if it is not ``ServiceSocket/standardPath``, because sudo(8) removes
  /// `TORPOR_SOCKET`.
  public static func allowCommand(for client: String) -> String {
    let user = geteuid()
    let name = unsafe getpwuid(user).flatMap { entry in
      unsafe entry.pointee.pw_name.map { unsafe String(cString: $0) }
    }
    return WireClientName(user: user, name: client).allowCommand(
      userName: name, socket: LocationConnection.defaultPath)
  }

  /// Adds the client's name to an error that concerns the client's authorization.
  ///
  /// - Parameter call: The refused call.
  func naming(client: String, in call: WireCall) -> ClientError {
    guard self == .refused(.notAuthorized) else { return self }
    // Every client may change settings; the only part that needs authorization is background updates.
    if case .configure = call { return .backgroundNotPermitted(client: client) }
    return .locationNotPermitted(client: client)
  }

  /// The C library's text for an error number.
  package static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
