import AccessPolicy
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Places for clients, and how they are given back (RES-1, RES-2).

extension LocationServer {
  /// How many clients there may be, and how many of one user.
  var clientQuota: ResourceQuota {
    ResourceQuota(
      total: facts.clients, reserved: facts.clients / 32,
      unpermitted: LocationServer.unpermittedClients, perUser: LocationServer.clientsPerUser,
      perUnpermittedUser: LocationServer.unpermittedClientsPerUser)
  }

  /// A place for one more client of a user, for which another one may have to go.
  ///
  /// A client with permission is never displaced by one without. Of those without, the user who has the most loses
  /// the one that has no process and connected least recently.
  mutating func room(for user: UInt32, isPermitted: Bool) -> Result<Int, WireError> {
    let quota = clientQuota
    let account = account(of: user)
    let standing: Standing =
      policy.isAdministrator(user) ? .administrator : isPermitted ? .permitted : .unpermitted
    switch quota.refusal(standing, clientUsage(of: account, isPermitted: isPermitted)) {
    case nil: break
    case .user:
      guard let place = place(toFreeOf: account, isPermitted: isPermitted) else {
        let limit = isPermitted ? quota.perUser : quota.perUnpermittedUser
        return .failure(.limitExceeded(what: "clients of a user", limit: Int64(limit)))
      }
      drop(place)
    case .unpermitted:
      guard
        let place = Holding.displaced(for: account, among: unpermittedClients, takesIdle: true)
      else {
        return .failure(
          .limitExceeded(what: "clients without permission", limit: Int64(quota.unpermitted)))
      }
      drop(place)
    case .total:
      let place =
        standing == .unpermitted
        ? Holding.displaced(for: account, among: unpermittedClients, takesIdle: true)
        : Holding.least(unpermittedClients) ?? clients.indices.first { isForgettable($0) }
      guard let place else {
        return .failure(.limitExceeded(what: "clients", limit: Int64(facts.clients)))
      }
      drop(place)
    }
    return .success(clients.firstIndex { $0.isVacant } ?? clients.count)
  }

  private func clientUsage(of account: UInt32, isPermitted: Bool) -> ResourceQuota.Usage {
    var usage = ResourceQuota.Usage()
    for client in clients where !client.isVacant {
      usage.all += 1
      let isGranted = client.access.authorization.isGranted
      if !isGranted { usage.unpermitted += 1 }
      if isGranted == isPermitted, client.account == account { usage.own += 1 }
    }
    return usage
  }

  /// A client of that user that has no process and that nothing is owed.
  private func place(toFreeOf account: UInt32, isPermitted: Bool) -> Int? {
    if !isPermitted {
      return Holding.least(unpermittedClients.filter { $0.user == account && $0.isIdle })
    }
    return clients.indices.first {
      clients[$0].access.authorization.isGranted
        && clients[$0].account == account && isForgettable($0)
    }
  }

  /// The clients without permission.
  private var unpermittedClients: [Holding] {
    clients.indices.compactMap { place in
      let client = clients[place]
      guard !client.isVacant, !client.access.authorization.isGranted,
        !policy.isAdministrator(client.name.user)
      else { return nil }
      return Holding(
        place: place, user: account(of: client.name.user), isIdle: client.control == nil,
        since: client.lastConnected)
    }
  }

  /// Drops clients that have lost permission, where more are without it than may be.
  mutating func dropUnpermitted() {
    while true {
      let all = unpermittedClients
      let users = Dictionary(grouping: all, by: \.user)
      let quota = clientQuota
      let excess =
        users.values.first { $0.count > quota.perUnpermittedUser }
        ?? (all.count > quota.unpermitted ? users.values.max { $0.count < $1.count } : nil)
      guard let excess, let place = Holding.least(excess) else { return }
      drop(place)
    }
  }

  /// Forgets a client for an administrator, and what was decided about it.
  mutating func forget(_ name: WireClientName) -> WireReply {
    guard let row = state.client(uid: name.user, name: name.name) else {
      return .error(.unknownClient(name))
    }
    if let place = clients.firstIndex(where: { $0.name == name }) { drop(place) }
    state.removeClient(row.id)
    return .done
  }

  /// Frees a place: its connections are closed, and of its rows stays what a command has decided.
  private mutating func drop(_ place: Int) {
    if let control = clients[place].control {
      if let watch = clients[place].watch { close(watch) }
      close(control)
    }
    endDrains(of: place, looksToo: true)
    state.removeUndecided(clients[place].number)
    ask(.forget, place)
    clients[place] = .vacant(policy.access(uid: .max, client: ""))
    updateStandings()
  }

  private func isForgettable(_ client: Int) -> Bool {
    let number = clients[client].number
    guard !clients[client].isVacant, clients[client].control == nil,
      clients[client].events.events.isEmpty,
      !clients[client].hasRegions, !clients[client].isTouched, !clients[client].isClosing
    else { return false }
    if let services = state.rows.services[number], services.outlivesProcess { return false }
    if state.rows.clients[number]?.decision != nil { return false }
    guard let bookmark = state.rows.cursors[number]?.bookmark else { return true }
    return !bookmark.owesAll && bookmark.acknowledged == bookmark.owedThrough
  }
}
