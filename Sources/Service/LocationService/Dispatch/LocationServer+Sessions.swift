import LocationPolicy
import LocationTypes
import LocationWire

// Sessions of clients and their effects (BKG-8 to BKG-18, AUT-4).

extension LocationServer {
  mutating func openServiceSession(
    _ client: Int, _ requirement: SessionRequirement, requiresFullAccuracy: Bool
  ) -> WireReply {
    let number = clients[client].sessions.open(
      requirement, requiresFullAccuracy: requiresFullAccuracy, at: now)
    updateUse(client)
    guard let number else {
      return .error(.limitExceeded(what: "service sessions", limit: Int64(ClientSessions.capacity)))
    }
    return .opened(number)
  }

  mutating func closeServiceSession(_ client: Int, _ number: Int) -> WireReply {
    clients[client].sessions.close(number)
    updateUse(client)
    return .done
  }

  mutating func openBackgroundSession(_ client: Int) -> WireReply {
    let isActive = clients[client].sessions.openBackground(at: now)
    updateUse(client)
    return .active(isActive)
  }

  mutating func closeBackgroundSession(_ client: Int) -> WireReply {
    clients[client].sessions.closeBackground()
    updateUse(client)
    return .done
  }

  /// Sets `allowsBackgroundLocationUpdates`; false if the policy does not permit it (BKG-18).
  mutating func allowBackground(_ isAllowed: Bool, _ client: Int) -> Bool {
    guard clients[client].access.mayUseBackground || !isAllowed else { return false }
    clients[client].sessions.allowBackground(isAllowed)
    updateUse(client)
    return true
  }

  /// Submits a permission request to the administrator: if the client is undecided and in use, or once if it has
  /// when-in-use and requests always (AUT-4).
  mutating func requestAuthorization(_ client: Int, _ permission: WirePermission) -> WireReply {
    guard clients[client].sessions.isInUse else { return .done }
    switch clients[client].access.authorization {
    case .notDetermined: break
    case .whenInUse:
      guard permission == .always, var row = persistence.store.rows.clients[clients[client].number],
        !row.hasRequestedAlways
      else { return .done }
      row.hasRequestedAlways = true
      persistence.put(row, in: \.clients, at: now)
    case .restricted, .denied, .always: return .done
    }
    guard clients[client].requestedPermission != permission else { return .done }
    recordPermissionRequest(permission, client)
    return .done
  }

  /// Records and logs the permission that a client needs, until it is decided (AUT-8).
  private mutating func recordPermissionRequest(_ permission: WirePermission, _ client: Int) {
    clients[client].setRequestedPermission(permission)
    let name = clients[client].name
    logLine(
      of: name.user, .notice,
      "'\(name.name)' of user \(name.user) requests to use location; an administrator can allow it with "
        + "`\(name.allowCommand(socket: environment.socket))`")
  }

  /// Requests permission for an undecided client in use that has live updates, conditions or sessions (AUT-8).
  private mutating func recordImplicitRequest(_ client: Int) {
    let sessions = clients[client].sessions
    guard clients[client].access.authorization == .notDetermined, sessions.isInUse,
      let requested = WirePermission(sessions.requested),
      clients[client].requestedPermission != .always,
      clients[client].requestedPermission != requested
    else { return }
    recordPermissionRequest(requested, client)
  }

  /// Passes changes of a client's use of location to the engine and the durable state, and logs the start and end of
  /// its background session (BKG-11).
  mutating func updateUse(_ client: Int) {
    clients[client].updateImpliedSessions()
    let services = persistence.store.rows.services[clients[client].number]
    let hasBackground = clients[client].sessions.hasBackground
    if hasBackground != services?.backgroundSession ?? false {
      updateServices(client) { $0.backgroundSession = hasBackground }
      let name = clients[client].name
      let change = hasBackground ? "started a background session" : "ended its background session"
      logLine(of: name.user, .notice, "'\(name.name)' of user \(name.user) \(change)")
    }
    recordImplicitRequest(client)
    if let use = clients[client].updateUse() { submit(.setUse(use), client) }
  }

  /// Whether any client has a background session.
  var hasBackgroundSession: Bool { clients.hasBackgroundSession }

  /// Expires sessions.
  mutating func expireSessions() {
    for i in clients.indices where clients.slots[i].sessions.deadline <= now {
      clients[i].sessions.elapse(at: now)
      updateUse(i)
    }
  }

  /// Earliest time at which the server must run, even if the board would be suspended.
  var deadline: Instant {
    min(min(connections.deadlines.urgent, clients.deadline), gpsd.deadline)
  }
}

extension WirePermission {
  /// The permission that a session requires; nil if it requires none.
  fileprivate init?(_ requirement: SessionRequirement) {
    switch requirement {
    case .none: return nil
    case .whenInUse: self = .whenInUse
    case .always: self = .always
    }
  }
}
