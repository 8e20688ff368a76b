import LocationPolicy
import LocationWire

// What an administrator's file decides, while clients are there.

extension LocationServer {
  /// How many clients have a process now.
  var connectedCount: Int { clients.count { $0.control != nil } }

  /// How many are there: whoever has asked something on a connection that is open, a client or not.
  var presentCount: Int { connections.count { $0?.hasAsked == true } }

  /// Takes a new policy for the one so far, at once, for those too who are connected (AUT-7).
  ///
  /// What a command has decided goes on to count where the file leaves it open. Who may less than before is
  /// told nothing any more that was kept for it (RNG-6); who may the same notices nothing. Who is not named any more
  /// keeps what it has asked for (RES-2), and the log names it.
  mutating func adopt(_ policy: AccessPolicy) {
    self.policy = policy
    warnOfEmptyPolicy()
    _ = facts.subordinates.refresh()
    warnOfUnresolvedLines()
    updateAccounts()
    var lapsed: [WireClientName] = []
    for client in clients.indices where !clients[client].isVacant {
      let before = clients[client].access
      let name = clients[client].name
      let decision = state.rows.clients[clients[client].number]?.accessDecision
      let access = policy.access(uid: name.user, client: name.name, decision: decision)
      guard access != before else { continue }
      apply(access, client)
      if before.authorization.isGranted, !access.authorization.isGranted, !access.isDenial {
        lapsed.append(name)
      }
    }
    dropUnpermitted()
    warn(
      "the policy does not permit them any more; their fixes are erased, and their requests are kept "
        + "until a restart",
      lapsed.filter { name in clients.contains { $0.name == name } }, showsCommand: true)
  }

  /// Logs that a policy has no rules: an empty file is no error, and may be a mistake.
  func warnOfEmptyPolicy() {
    guard policy.rules.isEmpty else { return }
    // A stored decision counts wherever no rule applies.
    let undecided = "clients without a decision by `torpor clients`"
    let effect =
      switch policy.standard.authorization {
      case .notDetermined:
        "\"ask\", so no client may use location before `torpor clients allow USER/NAME`"
      case .denied, .restricted: "\"deny\", so \(undecided) may not use location"
      case .always: "\"always\", so \(undecided) may use location"
      case .whenInUse: "\"when-in-use\", so \(undecided) may use location when in use"
      }
    log.write(
      .warning, "the policy has no rules; its default applies to every user and client: \(effect)")
  }

  /// Says in one line what has become of how many clients, and names the first eight; nothing where there are none.
  ///
  /// - Parameter showsCommand: Add the command that lets the first of them use location again.
  func warn(_ text: String, _ clients: [WireClientName], showsCommand: Bool = false) {
    guard !clients.isEmpty else { return }
    let named = clients.prefix(8).map { "'\($0.name)' of user \($0.user)" }
    let more = clients.count - named.count
    log.write(
      .warning,
      "\(clients.count) \(clients.count == 1 ? "client" : "clients"), "
        + "\(named.joined(separator: ", "))\(more > 0 ? " and \(more) more" : ""): \(text)"
        + (showsCommand ? "; a rule allows them again, or `\(clients[0].allowCommand())`" : ""))
  }
}

extension ClientAccess {
  /// Whether an administrator has refused this client, by a rule or a command: more than that nothing names it.
  var isDenial: Bool { authorization.isRefused && source != .standard }
}
