import LocationTypes

// Accounts: login users, with the subordinate user IDs of each counted as one user (RES-3).

extension LocationServer {
  /// The login user that a user is counted as. Cached in connections and clients.
  func account(of user: UInt32) -> UInt32 { environment.subordinates.users.login(of: user) }

  /// Recomputes the login users of connections and clients after `/etc/subuid` has changed.
  mutating func updateAccounts() {
    for connection in connections {
      if let connection { connection.account = account(of: connection.peer.user) }
    }
    for i in clients.indices { clients[i].account = account(of: clients[i].name.user) }
    updateStandings()
  }

  /// Checks whether the file of subordinate users has changed (RES-3): when a client connects, at most once per
  /// ``subordinatesInterval``. The file is read at the end of the turn, so that accepting does not wait for it.
  mutating func checkSubordinates() {
    guard now - subordinatesChecked >= LocationServer.subordinatesInterval else { return }
    subordinatesChecked = now
    mustReadSubordinates = environment.subordinates.isChanged
  }

  /// Reads the file of subordinate users again, if it has changed.
  mutating func readSubordinates() {
    mustReadSubordinates = false
    guard environment.subordinates.refresh() else { return }
    warnOfUnresolvedLines()
    updateAccounts()
    dropUnpermitted()
  }

  /// Logs lines that are ignored because their user names exceed the look-up limit. Logged once for each count.
  mutating func warnOfUnresolvedLines() {
    guard let count = environment.subordinates.consumeUnresolvedLines() else { return }
    log.write(
      .warning,
      "\(SubordinateUsers.standardPath): \(count) \(count == 1 ? "line is" : "lines are") ignored, and their user IDs "
        + "count as separate users: at most \(UserNames.lookUpsLimit) names that are not in "
        + "\(UserNames.standardPath) are looked up; use numbers in \(SubordinateUsers.standardPath)"
    )
  }
}
