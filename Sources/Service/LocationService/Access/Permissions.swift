import LocationPolicy
import LocationTypes
import LocationWire

/// Who may use location, and which users count as one: the policy in force, the login users of subordinate user IDs,
/// and the users with a permitted client.
///
/// # Problem
///
/// Each connection and each call is judged by its user's standing (RES-1 to RES-6), which depends on three changing
/// inputs: the policy file (`SIGHUP`), `/etc/subuid`, and the rights of the known clients. They are combined here, so
/// that the rules exist once. Connections and clients cache the results; after a change, ``LocationServer`` discards
/// these caches.
///
/// # States of the check of the subordinate users' file
///
///     CURRENT ──a program connects, at least 1 s after the last check, and the file has changed──▶ CHANGED
///        ▲                                                                                           │
///        └──────────────────────────── end of the turn: the file is read ────────────────────────────┘
///
/// The file is read at the end of the turn, so that accepting does not wait for it.
///
/// # Invariants
///
/// - Owner: ``LocationServer``. Only the functions here change policy, table and permitted users.
/// - The permitted users are those of the last call of ``setPermitted(_:)``.
///
/// Bounded: the policy by its file, the subordinate users as ``SubordinateUsers``, the permitted users by the number of
/// client slots.
struct Permissions {
  /// Minimum time between two checks whether the file of subordinate users has changed.
  static let subordinatesInterval = Interval.seconds(1)

  /// The policy in force.
  private(set) var policy: AccessPolicy
  private var subordinates: SubordinateFile
  /// Time of the last check of the subordinate users' file, and whether it found a change that was not read yet.
  private var fileCheck = (time: Instant.boot, isChanged: false)
  /// Login users with at least one permitted client.
  private var permittedAccounts: Set<UInt32> = []

  /// Creates permissions without clients.
  init(_ policy: AccessPolicy, _ subordinates: SubordinateFile) {
    self.policy = policy
    self.subordinates = subordinates
  }

  // MARK: Questions

  /// Whether the user may decide about other clients.
  func isAdministrator(_ user: UInt32) -> Bool { policy.isAdministrator(user) }

  /// The rights of a client.
  ///
  /// - Parameter decision: Decision of a command; nil without one.
  func access(of name: WireClientName, decision: AccessDecision? = nil) -> ClientAccess {
    policy.access(uid: name.user, client: name.name, decision: decision)
  }

  /// Whether any name of the user is permitted.
  func permitsAnyName(of user: UInt32) -> Bool {
    policy.access(uid: user, client: "").authorization.isGranted
  }

  /// The rights of a vacant slot.
  var vacantAccess: ClientAccess { policy.access(uid: .max, client: "") }

  /// The login user that a user is counted as (RES-3).
  func account(of user: UInt32) -> UInt32 { subordinates.users.login(of: user) }

  /// The standing of a user.
  func standing(of user: UInt32) -> Standing {
    if isAdministrator(user) { return .administrator }
    // One of the user's clients is permitted, or any name is.
    let isPermitted = permittedAccounts.contains(account(of: user)) || permitsAnyName(of: user)
    return isPermitted ? .permitted : .unpermitted
  }

  // MARK: Changes

  /// Replaces the policy, and reads the file of subordinate users again if it has changed.
  mutating func adopt(_ policy: AccessPolicy) {
    self.policy = policy
    _ = subordinates.refresh()
  }

  /// Sets the login users with at least one permitted client.
  mutating func setPermitted(_ accounts: some Sequence<UInt32>) {
    permittedAccounts.removeAll(keepingCapacity: true)
    permittedAccounts.formUnion(accounts)
  }

  /// Checks whether the file of subordinate users has changed (RES-3), at most once per ``subordinatesInterval``.
  mutating func checkSubordinates(at now: Instant) {
    guard now - fileCheck.time >= Permissions.subordinatesInterval else { return }
    fileCheck = (now, subordinates.isChanged)
  }

  /// Reads the file of subordinate users again, if the last check found a change.
  ///
  /// - Returns: Whether login users have changed.
  mutating func refreshIfChanged() -> Bool {
    guard fileCheck.isChanged else { return false }
    fileCheck.isChanged = false
    return subordinates.refresh()
  }

  // MARK: Warnings

  /// A warning about lines of the subordinate users' file that are ignored, because their user names exceed the look-up
  /// limit; nil if there are none, or the same number was already returned.
  mutating func consumeUnresolvedWarning() -> String? {
    guard let count = subordinates.consumeUnresolvedLines() else { return nil }
    return
      "\(SubordinateUsers.standardPath): \(count) \(count == 1 ? "line is" : "lines are") ignored, and their user IDs "
      + "count as separate users: at most \(UserNames.lookUpsLimit) names that are not in "
      + "\(UserNames.standardPath) are looked up; use numbers in \(SubordinateUsers.standardPath)"
  }

  /// A warning about a policy without rules: an empty file is valid, but may be a mistake. Nil if it has rules.
  ///
  /// - Parameter socket: Path of the service's socket.
  func emptyPolicyWarning(socket: String) -> String? {
    guard policy.rules.isEmpty else { return nil }
    // A stored decision applies if no rule does.
    let undecided = "clients without a decision by `torpor clients`"
    let effect =
      switch policy.defaultRights.authorization {
      case .notDetermined:
        "\"ask\", so clients without a decision may not use location before "
          + "`\(WireClientName.allowCommand(for: "USER/NAME", socket: socket))`"
      case .denied, .restricted: "\"deny\", so \(undecided) may not use location"
      case .always: "\"always\", so \(undecided) may use location"
      case .whenInUse: "\"when-in-use\", so \(undecided) may use location when in use"
      }
    return "the policy has no rules; its default applies to every user and client: \(effect)"
  }
}
