import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Allocation and release of client slots (RES-1, RES-2).

extension LocationServer {
  /// Quotas of client slots.
  var clientQuota: ResourceQuota {
    ResourceQuota(
      total: environment.clients, reserved: environment.clients / 32,
      unpermitted: LocationServer.unpermittedClients, perUser: LocationServer.clientsPerUser,
      perUnpermittedUser: LocationServer.unpermittedClientsPerUser)
  }

  /// Allocates a slot for a new client of a user. May displace another client.
  ///
  /// A permitted client is never displaced by an unpermitted one. Of the unpermitted clients, the user with the most
  /// loses one: preferably one without a process, else the one that connected least recently. Clients that lost
  /// permission by a new policy, and whose requests are kept (RES-2), do not count against the quota of unpermitted
  /// clients. But once all clients of a user reach the limit of permitted ones, no unpermitted client is added:
  /// otherwise each cycle of removing and restoring such a policy would add some, up to the table's capacity.
  mutating func allocateSlot(for user: UInt32, isPermitted: Bool) -> Result<Int, WireError> {
    let quota = clientQuota
    let account = permissions.account(of: user)
    let standing: Standing =
      permissions.isAdministrator(user) ? .administrator : isPermitted ? .permitted : .unpermitted
    let usage = clientUsage(of: account, isPermitted: isPermitted)
    var refusal = quota.refusal(standing, usage)
    // Administrators are exempt from the quota of unpermitted users, but their undecided programs must not fill the
    // table.
    let isOverShare = !isPermitted && usage.own >= quota.perUnpermittedUser
    let isFull =
      standing == .unpermitted
      && clients.count { !$0.isVacant && $0.account == account } >= quota.perUser
    if isOverShare || isFull { refusal = .user }
    switch refusal {
    case nil: break
    case .user:
      guard let index = slotToFree(of: account, isPermitted: isPermitted) else {
        let limit = isOverShare ? quota.perUnpermittedUser : quota.perUser
        return .failure(.limitExceeded(what: "clients of a user", limit: Int64(limit)))
      }
      displace(index)
    case .unpermitted:
      let all = unpermittedClients.filter { !$0.hadPermission }
      guard
        let index = DisplacementCandidate.selectDisplaced(
          for: account, among: all, includesIdle: true)
      else {
        return .failure(
          .limitExceeded(what: "clients without permission", limit: Int64(quota.unpermitted)))
      }
      displace(index)
    case .total:
      let index =
        standing == .unpermitted
        ? DisplacementCandidate.selectDisplaced(
          for: account, among: unpermittedClients, includesIdle: true)
        : DisplacementCandidate.leastUseful(unpermittedClients)
          ?? clients.indices.first { canBeDropped($0) }
      guard let index else {
        return .failure(.limitExceeded(what: "clients", limit: Int64(environment.clients)))
      }
      displace(index)
    }
    return .success(clients.firstIndex { $0.isVacant } ?? clients.count)
  }

  /// Removes decisions about clients without a slot above ``decisionsLimit``, so that the table always has a free row
  /// for a client with a slot. Among unpermitted ones, the user with the most loses the oldest; permitted ones are
  /// removed last.
  ///
  /// - Parameter name: A client that is about to get a slot, whose decision is kept.
  mutating func boundDecisions(except name: WireClientName) {
    let slotCount = clients.count { !$0.isVacant }
    var excess = persistence.store.rows.clients.count - slotCount - LocationServer.decisionsLimit
    guard excess > 0 else { return }
    defer { connections.discardHeldCharges() }
    let served = Set(clients.map(\.number))
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

  private func clientUsage(of account: UInt32, isPermitted: Bool) -> ResourceQuota.Usage {
    var usage = ResourceQuota.Usage()
    for client in clients where !client.isVacant {
      usage.all += 1
      let isGranted = client.access.authorization.isGranted
      // A client that lost permission and whose requests are kept does not count (RES-2).
      guard isGranted || !persistence.store.isDurable(client.number) else { continue }
      if !isGranted, !permissions.isAdministrator(client.name.user) { usage.unpermitted += 1 }
      if isGranted == isPermitted, client.account == account { usage.own += 1 }
    }
    return usage
  }

  /// A slot to free for a client with or without permission: that of a client of the same user and kind without a
  /// process, if permitted also without undelivered data; nil if there is none.
  private func slotToFree(of account: UInt32, isPermitted: Bool) -> Int? {
    if !isPermitted {
      let own = clientsWithoutPermission { _ in true }.filter { $0.user == account && $0.isIdle }
      return DisplacementCandidate.leastUseful(own.filter { !$0.hadPermission })
    }
    return clients.indices.first {
      clients[$0].access.authorization.isGranted
        && clients[$0].account == account && canBeDropped($0)
    }
  }

  /// The unpermitted clients, except those of administrators.
  private var unpermittedClients: [DisplacementCandidate] {
    clientsWithoutPermission { !permissions.isAdministrator($0.name.user) }
  }

  /// The unpermitted clients that match a condition.
  private func clientsWithoutPermission(
    where includes: (ServedClient) -> Bool
  ) -> [DisplacementCandidate] {
    clients.indices.compactMap { index in
      let client = clients[index]
      guard !client.isVacant, !client.access.authorization.isGranted, includes(client)
      else { return nil }
      return DisplacementCandidate(
        index: index, user: client.account,
        hadPermission: persistence.store.isDurable(client.number),
        isIdle: client.control == nil, lastUse: client.lastConnected)
    }
  }

  /// Drops unpermitted clients above the quotas: after a denial, or when a user turns out to be a subordinate of
  /// another one. Clients that lost permission by a new policy are kept (RES-2).
  mutating func dropUnpermitted() {
    while true {
      let all = unpermittedClients.filter { !$0.hadPermission }
      let users = Dictionary(
        grouping: clientsWithoutPermission { _ in true }.filter { !$0.hadPermission }, by: \.user)
      let quota = clientQuota
      if let excess = users.values.first(where: { $0.count > quota.perUnpermittedUser }),
        let index = DisplacementCandidate.leastUseful(excess)
      {
        displace(index)
      } else if all.count > quota.unpermitted,
        let index = DisplacementCandidate.selectDisplaced(for: nil, among: all, includesIdle: true)
          ?? DisplacementCandidate.leastUseful(all)
      {
        displace(index)
      } else {
        return
      }
    }
  }

  /// Removes a client with its decision, by an administrator's call.
  mutating func forget(_ name: WireClientName) -> WireReply {
    guard let row = persistence.store.client(uid: name.user, name: name.name) else {
      return .error(.unknownClient(name))
    }
    if let index = clients.firstIndex(where: { $0.name == name }) { drop(index) }
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
    if let control = clients[index].control {
      if let watch = clients[index].watch { close(watch) }
      close(control)
    }
    endDrains(of: index, includingReads: true)
    persistence.store.removeUndecided(clients[index].number)
    submit(.forget, index)
    clients[index] = .vacant(permissions.vacantAccess)
    updateStandings()
  }

  private func canBeDropped(_ client: Int) -> Bool {
    let number = clients[client].number
    guard !clients[client].isVacant, clients[client].control == nil,
      clients[client].notices.eventCount == 0,
      !clients[client].regionNames.hasRegions, !clients[client].isDirty,
      !clients[client].awaitsReceiverDrain
    else { return false }
    return persistence.isDisposable(number)
  }
}
