import Glibc
import LocationWire

/// Why the service could not be asked, or said no; its description says what helps.
public enum ClientError: Error, Equatable, Sendable {
  /// Nobody listens there.
  case noService(path: String)
  /// There is no such socket.
  case noSocket(path: String)
  /// This user may not connect there.
  case mayNotConnect(path: String)
  /// What is there is no socket of a service.
  case notASocket(path: String)
  /// The service took the call and refuses it.
  case refused(WireError)
  /// The service refuses because the client of that name, of the user who runs this, may not use location.
  case mayNotUse(client: String)
  /// The service refuses because background updates are not open to that client (BKG-18), which may use location
  /// otherwise.
  case mayNotUseBackground(client: String)
  /// What came is nothing that this version understands; why, in a few words.
  case malformed(String)
  /// Another process is this client now (AUT-2).
  case takenOver
  /// The service ended the connection: it stopped, or found fault with what was said.
  case ended
  /// A bulk of fixes ended before all had come; what came is right.
  case cutShort(got: UInt64, of: UInt64)
  /// No answer within the time that was given.
  case noAnswer
  /// The system refused a call: which, with its error number.
  case system(String, code: Int32)
}

extension ClientError: CustomStringConvertible {
  /// What is wrong and what helps, in one line.
  public var description: String {
    switch self {
    case .noService(let path):
      "nobody answers at '\(path)': the service has ended without taking its socket away; start torpord"
    case .noSocket(let path):
      "no service at '\(path)': is torpord running, and does it listen there? --socket, or TORPOR_SOCKET, names another place"
    case .mayNotConnect(let path):
      "you may not connect to '\(path)': its folder or the socket itself is closed to this user"
    case .notASocket(let path): "'\(path)' is no socket; give the one that torpord was started with"
    case .refused(let error): ClientError.words(error)
    case .mayNotUse(let name):
      "'\(name)' of this user may not use location; an administrator can allow it with "
        + "`sudo \(ClientError.allowCommand(for: name))`, or, where a rule in clients.toml decides "
        + "about it, by changing that rule"
    case .mayNotUseBackground(let name):
      "'\(name)' of this user may not use location in the background; an administrator can allow it with "
        + "`access = \"always\"` or `background = true` in its rule in clients.toml, or, where no rule "
        + "decides about it, with `sudo \(ClientError.allowCommand(for: name))`"
    case .malformed(let what):
      "the service says what is not understood (\(what)): is it another program, or another version?"
    case .takenOver:
      "another program is this client now: each program of a user needs a name of its own"
    case .ended: "the service ended the connection: see its log, and whether it still runs"
    case .cutShort(let got, let all):
      "the service ended the connection after \(got) of \(all) fixes; ask again for the others"
    case .noAnswer: "the service does not answer"
    case .system(let action, let code): "\(action): \(ClientError.reason(code))"
    }
  }

  /// What a refusal means for who asked.
  static func words(_ error: WireError) -> String {
    switch error {
    case .permissionDenied:
      "only an administrator may: root, or a user of `administrators` in the service's clients.toml"
    case .notAuthorized:
      "no program of this user may use location; an administrator can allow one with "
        + "`sudo \(ClientError.allowCommand(for: "NAME"))` (`torpor clients list` has the names), or, where a "
        + "rule in clients.toml decides about it, by changing that rule"
    case .notAvailable(let what): "the service does not have it: \(what)"
    case .unknownClient(let client):
      "no client '\(client.name)' of user \(client.user) is known: it is from when its program first connects;"
        + " `torpor clients list` has who is"
    case .unknownFix(let generation, let first, let next):
      first == next
        ? "no fix has been made since the service started, so there is none to acknowledge"
        : "there is no such fix: those of this run are \(first) to \(next - 1) of generation \(generation)"
    case .decidedByFile(let line?):
      "line \(line) of the service's clients.toml decides about this client: change it there, and reload the service"
    case .decidedByFile(nil):
      "root, and the user that torpord runs as, may always use location where there is no clients.toml:"
        + " write /etc/torpor/clients.toml to decide about them (the example that is installed has all keys)"
    case .limitExceeded(let what, let limit):
      "there are \(limit) \(what) already, and no more are to be had"
    case .methodNotFound(let name), .methodNotImplemented(let name):
      "the service has no \(name): it is of another version"
    case .invalidParameter(let name): "the service does not take '\(name)' as it was given"
    case .unknownSession: "the session has ended: another program of the same name took over"
    case .interfaceNotFound, .expectedMore, .expectedUpgrade, .notConnected, .alreadyConnected,
      .other:
      "the service refuses: \(error.name)"
    }
  }

  /// The command that lets a client of the user who runs this use location.
  static func allowCommand(for client: String) -> String {
    let user = geteuid()
    let name = unsafe getpwuid(user).flatMap { entry in
      unsafe entry.pointee.pw_name.map { unsafe String(cString: $0) }
    }
    return WireClientName(user: user, name: client).allowCommand(userName: name)
  }

  /// The same with the client's name, where the service refuses because of what that client may.
  ///
  /// - Parameter call: What was refused.
  func naming(client: String, in call: WireCall) -> ClientError {
    guard self == .refused(.notAuthorized) else { return self }
    // Settings are taken from any client; only background updates among them can be refused.
    if case .configure = call { return .mayNotUseBackground(client: client) }
    return .mayNotUse(client: client)
  }

  static func reason(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}
