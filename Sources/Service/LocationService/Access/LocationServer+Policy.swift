import LocationPolicy
import LocationWire

// Applies the administrator's policy to known clients.

extension LocationServer {
  /// Number of clients with a running process.
  var connectedCount: Int { clients.connectedCount }

  /// Replaces the policy. It takes effect immediately, also for connected clients (AUT-7).
  ///
  /// Decisions of commands still apply to clients about which no rule decides. For a client that loses rights, stored
  /// locations are erased (RNG-6); a client with unchanged rights is not affected. A client that is no longer
  /// permitted, but not denied by a rule or a command, keeps its services (RES-2), and is logged.
  mutating func adopt(_ policy: AccessPolicy) {
    permissions.adopt(policy)
    warnOfEmptyPolicy()
    warnOfUnresolvedLines()
    updateAccounts()
    var unpermitted: [WireClientName] = []
    for client in clients.indices where !clients[client].isVacant {
      let before = clients[client].access
      let name = clients[client].name
      let decision = persistence.store.rows.clients[clients[client].number]?.accessDecision
      let access = permissions.access(of: name, decision: decision)
      guard access != before else { continue }
      apply(access, client)
      if before.authorization.isGranted, !access.authorization.isGranted, !access.isExplicitDenial {
        unpermitted.append(name)
      }
    }
    dropUnpermitted()
    warn(
      "the policy no longer permits them; their fixes are erased, and their requests are kept "
        + "until the service restarts",
      unpermitted.filter { clients.index(of: $0) != nil }, showsCommand: true)
  }

  /// Recomputes the login users of connections and clients after `/etc/subuid` has changed.
  mutating func updateAccounts() {
    connections.updateAccounts(permissions)
    clients.updateAccounts(permissions)
    updateStandings()
  }

  /// Recomputes the standing of users after a change of permissions or clients.
  mutating func updateStandings() {
    permissions.setPermitted(clients.permittedAccounts)
    connections.discardStandings()
  }

  /// Reads the file of subordinate users again, if it has changed.
  mutating func readSubordinatesIfChanged() {
    guard permissions.refreshIfChanged() else { return }
    warnOfUnresolvedLines()
    updateAccounts()
    dropUnpermitted()
  }

  /// Warns about a policy without rules.
  func warnOfEmptyPolicy() {
    if let warning = permissions.emptyPolicyWarning(socket: environment.socket) {
      log.write(.warning, warning)
    }
  }

  /// Logs lines of the subordinate users' file that are ignored. Logged once for each count.
  mutating func warnOfUnresolvedLines() {
    if let warning = permissions.consumeUnresolvedWarning() { log.write(.warning, warning) }
  }

  /// Logs one line about several clients, with the names of the first eight. Logs nothing without clients.
  ///
  /// - Parameter showsCommand: Whether to add the command that permits the first of them.
  func warn(_ text: String, _ clients: [WireClientName], showsCommand: Bool = false) {
    guard !clients.isEmpty else { return }
    let named = clients.prefix(8).map { "'\($0.name)' of user \($0.user)" }
    let more = clients.count - named.count
    log.write(
      .warning,
      "\(clients.count) \(clients.count == 1 ? "client" : "clients"), "
        + "\(named.joined(separator: ", "))\(more > 0 ? " and \(more) more" : ""): \(text)"
        + (showsCommand
          ? "; to permit them, add a rule or run `\(clients[0].allowCommand(socket: environment.socket))`"
          : "")
    )
  }
}

extension ClientAccess {
  /// Whether this client is denied explicitly, by a rule or a command, and not only by the default.
  var isExplicitDenial: Bool { authorization.isRefused && source != .policyDefault }
}
