import LocationPolicy
import TOMLFiles

/// Who may use location, as an administrator's file says it (AUT-7): `Docs/Reference/clients-toml.md`.
///
/// A client is a user and a name (AUT-2). The rule that says most about it holds: one for user and
/// name, else one for the user, else one for the name, else the default. Pure: it reads no clock and
/// asks nobody, and who is not allowed is not allowed by any order of calls.
public struct AccessPolicy: Equatable, Sendable {
  /// What a client for whom there is no rule may.
  public var standard: AccessTerms
  /// Rules, in the order of the file; no two for the same user and name.
  public let rules: [AccessRule]
  /// Users who may decide for others, beside root.
  public let administrators: Set<UInt32>

  /// Creates a policy.
  ///
  /// - Precondition: no two rules are for the same user and name; each is for one of them at least.
  public init(
    standard: AccessTerms = AccessTerms(authorization: .notDetermined), rules: [AccessRule] = [],
    administrators: Set<UInt32> = []
  ) {
    precondition(rules.allSatisfy { $0.subject.specificity > 0 }, "a rule is for somebody")
    precondition(Set(rules.map(\.subject)).count == rules.count, "one rule for a client")
    self.standard = standard
    self.rules = rules
    self.administrators = administrators
  }

  /// Whether the user may allow and deny others, and see who they are.
  public func isAdministrator(_ uid: UInt32) -> Bool { uid == 0 || administrators.contains(uid) }

  /// What a client may.
  ///
  /// A decision made by a command counts where the file leaves it open: no rule, or one that asks. It
  /// cannot give full accuracy back that a rule, or the default, reduces.
  ///
  /// - Parameters:
  ///   - uid: The user of the socket's peer: the identity that is trusted.
  ///   - client: The name that it gives itself.
  ///   - decision: What `torpor clients` has stored for it, nil if nothing.
  /// - Complexity: O(rules).
  public func access(
    uid: UInt32, client: String, decision: AccessDecision? = nil
  ) -> ClientAccess {
    let rule = rule(uid: uid, client: client)
    let terms = rule?.terms ?? standard
    let isOpen = rule == nil || terms.authorization == .notDetermined
    guard isOpen, let decision else {
      return ClientAccess(terms: terms, source: rule.map { .rule(line: $0.line) } ?? .standard)
    }
    var decided = terms
    decided.authorization = decision.authorization
    decided.isReduced = terms.isReduced || decision.isReduced
    decided.mayUseBackground = terms.mayUseBackground ?? (decision.authorization == .always)
    return ClientAccess(terms: decided, source: .decision)
  }

  /// The rule that holds for a client.
  public func rule(uid: UInt32, client: String) -> AccessRule? {
    var best: AccessRule?
    for rule in rules where rule.subject.covers(uid: uid, client: client) {
      if rule.subject.specificity > best?.subject.specificity ?? 0 { best = rule }
    }
    return best
  }
}

/// Whom a rule is for.
public struct AccessSubject: Hashable, Sendable {
  /// Bytes of a client's name at the most: as many as the socket takes.
  public static let longestClient = 64

  /// The user; nil for any.
  public var uid: UInt32?
  /// The client's name; nil for any.
  public var client: String?

  /// Creates a subject.
  public init(uid: UInt32? = nil, client: String? = nil) {
    self.uid = uid
    self.client = client
  }

  /// User and name 3, user 2, name 1, neither 0.
  var specificity: Int { (uid == nil ? 0 : 2) + (client == nil ? 0 : 1) }

  func covers(uid: UInt32, client: String) -> Bool {
    (self.uid == nil || self.uid == uid) && (self.client == nil || self.client == client)
  }
}

/// What a client may.
public struct AccessTerms: Equatable, Sendable {
  /// `always`, `whenInUse`, `denied`, or `notDetermined` for one that is to be asked about.
  public var authorization: Authorization
  /// It is to know no more than about where it is (AUT-5).
  public var isReduced: Bool
  /// `allowsBackgroundLocationUpdates` is open to it (BKG-18); nil: to who is allowed always.
  public var mayUseBackground: Bool?
  /// What starts it again (BKG-19).
  public var relaunch: Relaunch?

  /// Creates terms.
  public init(
    authorization: Authorization, isReduced: Bool = false, mayUseBackground: Bool? = nil,
    relaunch: Relaunch? = nil
  ) {
    self.authorization = authorization
    self.isReduced = isReduced
    self.mayUseBackground = mayUseBackground
    self.relaunch = relaunch
  }
}

/// What starts a client again.
public enum Relaunch: Equatable, Sendable {
  /// A unit of systemd.
  case unit(String)
  /// A program with its arguments; the path is absolute, no shell reads it.
  case command([String])
}

/// One rule of the file.
public struct AccessRule: Equatable, Sendable {
  /// Whom it is for.
  public var subject: AccessSubject
  /// What they may.
  public var terms: AccessTerms
  /// Where it stands in the file, from 1.
  public var line: Int

  /// Creates a rule.
  public init(_ subject: AccessSubject, _ terms: AccessTerms, line: Int) {
    self.subject = subject
    self.terms = terms
    self.line = line
  }
}

/// What is decided of one client: by a command (`torpor clients allow`, `deny`, `reduce`), or in the end.
public struct AccessDecision: Equatable, Sendable {
  /// What it may.
  public var authorization: Authorization
  /// Whether its accuracy is reduced.
  public var isReduced: Bool

  /// Creates a decision.
  public init(_ authorization: Authorization, isReduced: Bool = false) {
    self.authorization = authorization
    self.isReduced = isReduced
  }
}

/// What a client may, and who says so.
public struct ClientAccess: Equatable, Sendable {
  /// Who says so.
  public enum Source: Equatable, Sendable {
    /// A rule of the file, at this line; no command can change it.
    case rule(line: Int)
    /// A command.
    case decision
    /// The file's default.
    case standard
  }

  /// What it may.
  public let authorization: Authorization
  /// Whether its accuracy is reduced.
  public let isReduced: Bool
  /// Whether `allowsBackgroundLocationUpdates` is open to it.
  public let mayUseBackground: Bool
  /// What starts it again.
  public let relaunch: Relaunch?
  /// Who says so.
  public let source: Source

  init(terms: AccessTerms, source: Source) {
    authorization = terms.authorization
    isReduced = terms.isReduced
    mayUseBackground = terms.mayUseBackground ?? (terms.authorization == .always)
    relaunch = terms.relaunch
    self.source = source
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// One thing wrong with a policy file.
public typealias PolicyError = FileProblem
/// All that is wrong with a policy file, from top to bottom.
public typealias PolicyErrors = FileProblems

extension AccessPolicy {
  /// Reads the policy in the file `path`, which nobody but its owner may be able to write.
  ///
  /// - Throws: ``PolicyErrors`` with everything that is wrong, in the file or on the way to it.
  public static func load(path: String) throws(PolicyErrors) -> AccessPolicy {
    let bytes = try readFile(path, inFolder: "name the clients.toml in it")
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      let name = printable(path, longest: 300)
      if status.st_mode & 0o022 != 0 {
        throw PolicyErrors([
          PolicyError(
            file: name, "can be written by others than its owner",
            suggestion: "run chmod go-w on it")
        ])
      }
      if status.st_uid != 0, status.st_uid != geteuid() {
        throw PolicyErrors([
          PolicyError(
            file: name, "belongs to user \(status.st_uid), who is neither root nor this service's",
            suggestion: "run chown root on it")
        ])
      }
    }
    return try parse(bytes: bytes, file: path, users: systemUser)
  }

  /// Reads a policy from bytes, whatever they are.
  ///
  /// - Parameters:
  ///   - file: What messages call it.
  ///   - users: The number of a user of that name, nil if there is none.
  /// - Throws: ``PolicyErrors`` with everything that is wrong.
  public static func parse(
    bytes: [UInt8], file: String, users: (String) -> UInt32?
  ) throws(PolicyErrors) -> AccessPolicy {
    let text = try TOMLText(bytes, file: file)
    return try withoutActuallyEscaping(users) { users throws(PolicyErrors) in
      var reader = PolicyReader(text: text, file: file, users: users)
      return try reader.read()
    }
  }

  /// The system's number of a user.
  static func systemUser(_ name: String) -> UInt32? {
    guard !name.utf8.contains(0) else { return nil }
    return unsafe getpwnam(name).map { unsafe $0.pointee.pw_uid }
  }
}

extension AccessPolicy {
  /// The policy of a service without an administrator's file: root and the service's own user may
  /// all, and decide about others, who get nothing until then (AUT-7).
  public static func owned(by owner: UInt32) -> AccessPolicy {
    let users: Set<UInt32> = [0, owner]
    return AccessPolicy(
      rules: users.sorted().map {
        AccessRule(AccessSubject(uid: $0), AccessTerms(authorization: .always), line: 0)
      }, administrators: users)
  }
}
