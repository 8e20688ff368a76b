import GPSDProtocol
import Glibc
import LocationPolicy
import TOMLFiles

/// Who may use location, as configured by an administrator (AUT-7): `Docs/Reference/clients-toml.md`.
///
/// A client is a user and a name (AUT-2). The most specific rule applies: a rule for user and name, else one for the
/// user, else one for the name, else the default. Pure: it reads no clock and no system state, so the result does not
/// depend on the order of calls.
public struct AccessPolicy: Equatable, Sendable {
  /// Rights of a client without a rule.
  public var defaultRights: AccessRights
  /// Rules in the order of the file. No two have the same user and name.
  public let rules: [AccessRule]
  /// Users who may decide about other clients, in addition to root.
  public let administrators: Set<UInt32>

  /// Creates a policy.
  ///
  /// - Precondition: Each rule names a user, a client or both, and no two rules name the same.
  init(
    defaultRights: AccessRights = AccessRights(authorization: .notDetermined),
    rules: [AccessRule] = [],
    administrators: Set<UInt32> = []
  ) {
    precondition(rules.allSatisfy { $0.subject.specificity > 0 }, "a rule names a user or a client")
    precondition(
      Set(rules.map(\.subject)).count == rules.count,
      "at most one rule for each subject")
    self.defaultRights = defaultRights
    self.rules = rules
    self.administrators = administrators
  }

  /// Whether the user may list, allow and deny clients of all users.
  public func isAdministrator(_ uid: UInt32) -> Bool { uid == 0 || administrators.contains(uid) }

  /// The rights of a client, and where they come from.
  ///
  /// A decision made by a command applies if no rule applies to the client, or a rule with `ask`. The decision cannot
  /// restore full accuracy that a rule or the default reduces.
  ///
  /// - Parameters:
  ///   - uid: User of the socket's peer, the trusted identity.
  ///   - client: Name that the client gives itself.
  ///   - decision: Decision stored by `torpor clients`; nil without one.
  /// - Complexity: O(rules).
  public func access(
    uid: UInt32, client: String, decision: AccessDecision? = nil
  ) -> ClientAccess {
    let rule = rule(uid: uid, client: client)
    let rights = rule?.rights ?? defaultRights
    let isOpen = rule == nil || rights.authorization == .notDetermined
    guard isOpen, let decision else {
      return ClientAccess(
        rights: rights, source: rule.map { .rule(line: $0.line) } ?? .policyDefault)
    }
    var decided = rights
    decided.authorization = decision.authorization
    decided.isReduced = rights.isReduced || decision.isReduced
    return ClientAccess(rights: decided, source: .decision)
  }

  /// The rule that applies to a client; nil without one.
  public func rule(uid: UInt32, client: String) -> AccessRule? {
    var best: AccessRule?
    for rule in rules where rule.subject.covers(uid: uid, client: client) {
      if rule.subject.specificity > best?.subject.specificity ?? 0 { best = rule }
    }
    return best
  }
}

/// The user and client that a rule applies to.
public struct AccessSubject: Hashable, Sendable {
  /// User; nil for any.
  public var uid: UInt32?
  /// Name of the client; nil for any.
  public var client: String?

  /// 3 with user and name, 2 with a user, 1 with a name, 0 with neither.
  var specificity: Int { (uid == nil ? 0 : 2) + (client == nil ? 0 : 1) }

  func covers(uid: UInt32, client: String) -> Bool {
    (self.uid == nil || self.uid == uid) && (self.client == nil || self.client == client)
  }
}

/// Rights granted by a rule or the default.
public struct AccessRights: Equatable, Sendable {
  /// `always`, `whenInUse`, `denied`, or `notDetermined` if an administrator decides on request.
  public var authorization: Authorization
  /// Whether the client gets reduced accuracy (AUT-5).
  public var isReduced = false
  /// Whether `allowsBackgroundLocationUpdates` is permitted (BKG-18); nil: only with `always`.
  public var mayUseBackground: Bool?
  /// How the client's program is started again (BKG-19); nil if it is not.
  public var relaunch: Relaunch?
  /// Settings of a client of gpsd's protocol.
  public var gpsd = GPSDSettings()
}

/// Settings of a client of gpsd's protocol.
public struct GPSDSettings: Equatable, Sendable {
  /// Its savings.
  public var saving = GPSDSaving()
  /// Age from which its last fix is not reported any more, seconds; nil for the default.
  public var staleAfter_s: Double?
}

/// How a client's program is started again.
public enum Relaunch: Equatable, Sendable {
  /// A systemd unit.
  case unit(String)
  /// A program with arguments. Its path is absolute, and no shell is involved.
  case command([String])
}

/// One rule of the policy file.
public struct AccessRule: Equatable, Sendable {
  /// User and client that the rule applies to.
  public var subject: AccessSubject
  /// Their rights.
  public var rights: AccessRights
  /// Line in the file, counted from 1; 0 for a built-in rule.
  public var line: Int

  /// Creates a rule.
  public init(_ subject: AccessSubject, _ rights: AccessRights, line: Int) {
    self.subject = subject
    self.rights = rights
    self.line = line
  }
}

/// Authorization and accuracy of one client: decided by a command (`torpor clients allow`, `deny`, `reduce`), or in
/// effect.
public struct AccessDecision: Equatable, Sendable {
  /// Authorization.
  public var authorization: Authorization
  /// Whether its accuracy is reduced.
  public var isReduced: Bool

  /// Creates a decision.
  public init(_ authorization: Authorization, isReduced: Bool = false) {
    self.authorization = authorization
    self.isReduced = isReduced
  }
}

/// The effective rights of a client, and their source.
public struct ClientAccess: Equatable, Sendable {
  /// Source of the rights.
  public enum Source: Equatable, Sendable {
    /// A rule at this line of the file. No command can override it.
    case rule(line: Int)
    /// A command.
    case decision
    /// The default of the file.
    case policyDefault
  }

  /// Authorization.
  public let authorization: Authorization
  /// Whether its accuracy is reduced.
  public let isReduced: Bool
  /// Whether `allowsBackgroundLocationUpdates` is permitted.
  public let mayUseBackground: Bool
  /// How the client's program is started again; nil if it is not.
  public let relaunch: Relaunch?
  /// Settings of a client of gpsd's protocol.
  public let gpsd: GPSDSettings
  /// Source of the rights.
  public let source: Source

  init(rights: AccessRights, source: Source) {
    authorization = rights.authorization
    isReduced = rights.isReduced
    mayUseBackground = rights.mayUseBackground ?? (rights.authorization == .always)
    relaunch = rights.relaunch
    gpsd = rights.gpsd
    self.source = source
  }
}

extension AccessPolicy {
  /// Loads the policy file at `path`. Its owner must be root or the service's user, and no other user may write it.
  ///
  /// - Throws: ``FileProblems`` with all errors in the file or in accessing it.
  public static func load(path: String) throws(FileProblems) -> AccessPolicy {
    let bytes = try readFile(path, folderHint: "name the clients.toml in it")
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      let name = printable(path, maxLength: 300)
      if status.st_mode & 0o022 != 0 {
        throw FileProblems([
          FileProblem(
            file: name, "can be written by other users than its owner",
            suggestion: "run `chmod go-w` on it")
        ])
      }
      if status.st_uid != 0, status.st_uid != geteuid() {
        throw FileProblems([
          FileProblem(
            file: name,
            "belongs to user \(status.st_uid), who is neither root nor the user of this service",
            suggestion: "run `chown root` on it")
        ])
      }
    }
    return try parse(bytes: bytes, file: path, users: systemUser)
  }

  /// Parses a policy from arbitrary bytes.
  ///
  /// - Parameters:
  ///   - file: Name of the file in messages.
  ///   - users: Looks up the ID of a user by name; nil if none exists.
  /// - Throws: ``FileProblems`` with all errors.
  public static func parse(
    bytes: [UInt8], file: String, users: (String) -> UInt32?
  ) throws(FileProblems) -> AccessPolicy {
    let text = try TOMLText(bytes, file: file)
    return try withoutActuallyEscaping(users) { users throws(FileProblems) in
      var reader = PolicyReader(text: text, file: file, users: users)
      return try reader.read()
    }
  }

  /// Looks up a user ID in the system's user database.
  static func systemUser(_ name: String) -> UInt32? {
    guard !name.utf8.contains(0) else { return nil }
    return unsafe getpwnam(name).map { unsafe $0.pointee.pw_uid }
  }
}

extension AccessPolicy {
  /// The policy without a policy file: root and the service's own user are administrators and may use location always.
  /// All other clients need a decision by one of them (AUT-7).
  public static func builtIn(owner: UInt32) -> AccessPolicy {
    let users: Set<UInt32> = [0, owner]
    return AccessPolicy(
      rules: users.sorted().map {
        AccessRule(AccessSubject(uid: $0), AccessRights(authorization: .always), line: 0)
      }, administrators: users)
  }
}
