import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Allocation and release of client slots (RES-1, RES-2), as decided by ``ClientRegistry``.

extension LocationServer {
  /// Maximum number of stored decisions about clients without a slot.
  static let decisionsLimit = 512

  /// The slot of a client: the existing one, or a new one within its user's quota. May displace another client.
  mutating func slot(of name: WireClientName) -> Result<Int, WireError> {
    if let existing = clients.index(of: name) { return .success(existing) }
    let access = permissions.access(of: name, decision: persistence.decision(about: name))
    let isPermitted = access.authorization.isGranted
    switch clients.allocation(
      for: name.user, isPermitted: isPermitted, permissions, persistence)
    {
    case .granted: break
    case .displacing(let index): displace(index)
    case .refused(let error): return .failure(error)
    }
    boundDecisions(except: name)
    guard
      let row = persistence.store.addClient(uid: name.user, name: name.name, isDurable: isPermitted)
    else { return .failure(.limitExceeded(what: "clients", limit: Int64(environment.clients))) }
    // An earlier row of the client, with its position in the ring, may have been lost with a damaged file.
    let index = clients.add(
      ServedClient(
        name, of: permissions.account(of: name.user), number: row.id, access,
        mayHaveLostFixes: persistence.mayHaveLostClients,
        notices: NoticeQueue(last: UInt32(clamping: persistence.store.counter(.eventFloor)))))
    saveAccess(index)
    updateStandings()
    return .success(index)
  }

  /// Removes decisions about clients without a slot above ``decisionsLimit``, so that the table always has a free row
  /// for a client with a slot. Among unpermitted ones, the user with the most loses the oldest; permitted ones are
  /// removed last.
  ///
  /// - Parameter name: A client that is about to get a slot, whose decision is kept.
  private mutating func boundDecisions(except name: WireClientName) {
    let slotCount = clients.slots.count { !$0.isVacant }
    var excess = persistence.store.rows.clients.count - slotCount - LocationServer.decisionsLimit
    guard excess > 0 else { return }
    defer { connections.discardHeldCharges() }
    let served = Set(clients.slots.map(\.number))
    var permitted: [ClientRecord] = []
    var others: [ClientRecord] = []
    for row in persistence.store.rows.clients.all
    where !served.contains(row.id) && row.wireName != name {
      let access = permissions.access(of: row.wireName, decision: row.accessDecision)
      if access.authorization.isGranted { permitted.append(row) } else { others.append(row) }
    }
    for rows in [others, permitted] {
      // Oldest last, where popLast() removes it.
      var users = Dictionary(grouping: rows) { permissions.account(of: $0.uid) }
        .mapValues { $0.sorted { $0.id > $1.id } }
      while excess > 0,
        let heaviest = users.max(by: { ($0.value.count, $1.key) < ($1.value.count, $0.key) })?.key,
        let row = users[heaviest]?.popLast()
      {
        excess -= 1
        persistence.store.removeClient(row.id)
        logLine(
          of: row.uid, .notice,
          "the decision about '\(row.name)' of user \(row.uid) is dropped, because there are too many "
            + "decisions")
      }
    }
  }

  /// Drops unpermitted clients above the quotas: after a denial, or when a user turns out to be a subordinate of
  /// another one.
  mutating func dropUnpermitted() {
    while let index = clients.excess(permissions, persistence) { displace(index) }
  }

  /// Removes a client with its decision, by an administrator's call.
  mutating func forgetClient(_ name: WireClientName) -> WireReply {
    guard let row = persistence.store.client(uid: name.user, name: name.name) else {
      return .error(.unknownClient(name))
    }
    if let index = clients.index(of: name) { drop(index) }
    persistence.store.removeClient(row.id)
    connections.discardHeldCharges()
    return .done
  }

  /// Frees a slot that another client needs, or that exceeds a quota.
  private mutating func displace(_ index: Int) {
    let (name, number) = (clients[index].name, clients[index].number)
    // Nothing is lost by a client that never had permission.
    if persistence.store.isDurable(number), persistence.store.hasRegistrations(number) {
      logLine(
        of: name.user, .warning,
        "the requests of '\(name.name)' of user \(name.user) are dropped: it no longer has permission, and "
          + "another client needs its slot")
    }
    drop(index)
  }

  /// Frees a slot: closes its connections and removes its rows, except the decision of a command.
  private mutating func drop(_ index: Int) {
    if clients[index].usesGPSD { endGPSDClient(index) }
    if let control = clients[index].control {
      if let watch = clients[index].watch { close(watch) }
      close(control)
    }
    endDrains(of: index, includingReads: true)
    persistence.store.removeUndecided(clients[index].number)
    submit(.forget, index)
    clients.vacate(index, permissions.vacantAccess)
    updateStandings()
  }
}
