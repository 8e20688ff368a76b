import LocationPolicy
import LocationTypes
import LocationWire

// Administrators' calls: decisions about clients, which take effect immediately (AUT-7, RNG-6).

extension LocationServer {
  mutating func allowClient(_ name: WireClientName, _ permission: WirePermission) -> WireReply {
    decide(name) { $0.authorization = permission.authorization }
  }

  mutating func denyClient(_ name: WireClientName) -> WireReply {
    decide(name) { $0.authorization = .denied }
  }

  mutating func reduceClient(_ name: WireClientName, isReduced: Bool) -> WireReply {
    decide(name) { $0.isReduced = isReduced }
  }

  mutating func flush() -> WireReply {
    requestFlush()
    return .done
  }

  func listClients() -> WireReply { .clients(knownClients) }

  /// All known clients, and clients without a slot about which a command has decided.
  private var knownClients: [WireClient] {
    var known: [WireClient] = []
    for served in clients.slots where !served.isVacant {
      var client = WireClient(
        served.name, authorization: served.access.authorization, isReduced: served.access.isReduced,
        execution: served.process?.execution)
      client.hasBackgroundSession = served.sessions.hasBackground
      client.requestedAuthorization = served.requestedPermission?.authorization
      known.append(client)
    }
    let served = Set(clients.slots.map(\.number))
    for row in persistence.store.rows.clients.all.sorted(by: { $0.id < $1.id })
    where !served.contains(row.id) {
      let access = permissions.access(of: row.wireName, decision: row.accessDecision)
      known.append(
        WireClient(
          row.wireName, authorization: access.authorization,
          isReduced: access.isReduced, execution: nil))
    }
    return known
  }

  /// Stores the decision of a command, unless a rule of the policy file decides about the client.
  private mutating func decide(
    _ name: WireClientName, _ change: (inout AccessDecision) -> Void
  ) -> WireReply {
    let index = clients.index(of: name)
    guard var row = persistence.store.client(uid: name.user, name: name.name) else {
      return .error(.unknownClient(name))
    }
    var decision = index.map { clients[$0].access.reported } ?? row.reported
    change(&decision)
    let access = permissions.access(of: name, decision: decision)
    guard access.source == .decision else {
      return .error(.decidedByFile(line: access.source.line))
    }
    guard let client = index else {
      // The decision is applied when the client connects.
      row.decide(decision)
      persistence.put(row, in: \.clients, at: now)
      connections.discardHeldCharges()
      return .done
    }
    clients[client].setRequestedPermission(nil)
    saveAccess(client, decision: decision)
    apply(access, client)
    dropUnpermitted()
    return .done
  }

  /// Applies new rights. Unsent locations are discarded only if the client loses a right (RNG-6).
  mutating func apply(_ access: ClientAccess, _ client: Int) {
    let before = clients[client].access.reported
    clients[client].setAccess(access)
    // Services started with permission are kept until a rule or a command denies the client (RES-2).
    let isGranted = access.authorization.isGranted
    if isGranted || access.isExplicitDenial {
      persistence.store.setDurable(clients[client].number, isGranted)
    }
    clients[client].rows.markDirty()
    updateStandings()
    if access.reported.isNarrower(than: before) { discardUnsent(client) }
    if !access.mayUseBackground { _ = allowBackground(false, client) }
    if access.authorization != .notDetermined && access.authorization != .whenInUse {
      clients[client].setRequestedPermission(nil)
    }
    setAuthorization(access.reported, client)
    if before.authorization.isRefused, isGranted { restartServices(client) }
  }
}

extension ClientAccess.Source {
  /// The line of the rule in the policy file; nil without a file (see `AccessPolicy.builtIn(owner:)`).
  fileprivate var line: Int? {
    switch self {
    case .rule(line: 0), .decision, .policyDefault: nil
    case .rule(let line): line
    }
  }
}

extension AccessDecision {
  /// Whether it lacks location or full accuracy that `before` permits.
  func isNarrower(than before: AccessDecision) -> Bool {
    (before.authorization.isGranted && !authorization.isGranted)
      || (!before.isReduced && isReduced)
  }
}

extension ClientAccess {
  /// Permission as reported to the client.
  var reported: AccessDecision { AccessDecision(authorization, isReduced: isReduced) }
}
