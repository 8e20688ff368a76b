import LocationTypes

// Which login user answers for whose user ids, and when that is read anew (RES-3).

extension LocationServer {
  /// The login user who answers for a user. Connections and clients keep theirs.
  func account(of user: UInt32) -> UInt32 { facts.subordinates.users.login(of: user) }

  /// Derives the login users of connections and clients anew after `/etc/subuid` has changed.
  mutating func updateAccounts() {
    for connection in connections {
      if let connection { connection.account = account(of: connection.peer.user) }
    }
    for i in clients.indices { clients[i].account = account(of: clients[i].name.user) }
    updateStandings()
  }

  /// Notes whether the file of subordinate users has changed (RES-3); checked when somebody connects, and no more often
  /// than ``subordinatesInterval``. It is read at the end of the turn: accepting waits for no file.
  mutating func checkSubordinates() {
    guard now - subordinatesChecked >= LocationServer.subordinatesInterval else { return }
    subordinatesChecked = now
    mustReadSubordinates = facts.subordinates.isChanged
  }

  /// Reads who answers for whose user ids, if the file has changed.
  mutating func readSubordinates() {
    mustReadSubordinates = false
    guard facts.subordinates.refresh() else { return }
    warnOfUnresolvedLines()
    updateAccounts()
    dropUnpermitted()
  }

  /// Logs, once for each number of them, that lines of the file name more users than are looked up.
  mutating func warnOfUnresolvedLines() {
    guard let count = facts.subordinates.takeUnresolvedLines() else { return }
    log.write(
      .warning,
      "\(SubordinateUsers.standardPath): \(count) \(count == 1 ? "line is" : "lines are") ignored, and the ids there "
        + "do not count as their users': of names that are not in \(UserNames.standardPath) only "
        + "\(UserNames.lookUpsLimit) are looked up; use numbers in \(SubordinateUsers.standardPath)"
    )
  }
}
