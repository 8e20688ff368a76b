import AccessPolicy
import LocationPolicy

// What an administrator's file decides, while clients are there.

extension LocationServer {
  /// How many clients have a process now.
  var connectedCount: Int { clients.count { $0.control != nil } }

  /// How many are there: whoever has asked something on a connection that is open, a client or not.
  var presentCount: Int { connections.count { $0?.hasAsked == true } }

  /// Takes a new policy for the one so far, at once, for those too who are connected (AUT-7).
  ///
  /// What a command has decided goes on to count where the file leaves it open. Who may less than before is
  /// told nothing any more that was kept for it (RNG-6); who may the same notices nothing.
  ///
  /// - Parameter subordinates: Who answers for whose user ids from now on; nil to leave it.
  mutating func adopt(_ policy: AccessPolicy, subordinates: SubordinateUsers? = nil) {
    self.policy = policy
    if let subordinates { facts.subordinates = subordinates }
    forgetStandings()
    for client in clients.indices where !clients[client].isVacant {
      let before = clients[client].access
      let name = clients[client].name
      let decision = state.rows.clients[clients[client].number]?.accessDecision
      let access = policy.access(uid: name.user, client: name.name, decision: decision)
      if access != before { apply(access, client) }
    }
    dropUnpermitted()
  }
}
