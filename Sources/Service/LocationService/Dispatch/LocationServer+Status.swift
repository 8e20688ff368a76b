import BoardHardware
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Status of the service and its clients, limited to what the caller may see.

extension LocationServer {
  private func utc(_ time: Instant) -> UTCTime? { delivery.utcOffset.utc(time) }

  /// Time and energy per state; nil before the first turn.
  func energy(at now: Instant) -> WireEnergy? {
    guard let ledger = power.ledger(at: now) else { return nil }
    return WireEnergy(ledger, since: utc(ledger.begin), until: utc(ledger.end))
  }

  /// The metrics of the service.
  func metrics(_ engine: borrowing Engine, at now: Instant) -> ServiceMetrics {
    var metrics = ServiceMetrics(version: environment.version, board: environment.board)
    metrics.clients = clients.slots.count { $0.process != nil }
    metrics.fixes = engine.head
    metrics.ringFixes = engine.fixesInRing
    metrics.ringCapacity = engine.capacity
    if engine.fixesInRing > 0 {
      let oldest = engine.head - UInt64(engine.fixesInRing)
      metrics.oldestAge = age(ofFixAt: oldest, engine, at: now)
      metrics.newestAge = age(ofFixAt: engine.head - 1, engine, at: now)
      metrics.newestTime = engine.stored(at: engine.head - 1)?.fix.utc
    }
    metrics.gaps = delivery.gaps
    metrics.charge = engine.batteryCharge
    metrics.energy = energy(at: now)
    return metrics
  }

  /// Age of a fix in the ring; nil if it is unknown. The boot clock of a fix from an earlier run may be that of another
  /// boot, so then only UTC counts.
  private func age(
    ofFixAt sequence: UInt64, _ engine: borrowing Engine, at now: Instant
  ) -> Interval? {
    guard let fix = engine.stored(at: sequence)?.fix else { return nil }
    if sequence >= engine.generationStart { return max(now - fix.acquired, .zero) }
    guard let then = fix.utc, let utc = utc(now) else { return nil }
    return max(Interval(microseconds: utc.microseconds - then.microseconds), .zero)
  }

  /// Whether the caller may know where the board is, and what it is doing: an administrator, or a user with a permitted
  /// client.
  func mayReadLocation(_ index: Int) -> Bool {
    guard let connection = connections[index] else { return false }
    let user = connection.peer.user
    if permissions.isAdministrator(user) { return true }
    if let client = connection.controlledClient {
      return clients[client].access.authorization.isGranted
    }
    return clients.hasPermitted(ofUser: user)
      // Or any name of the user is permitted.
      || permissions.permitsAnyName(of: user)
  }

  /// The status for a caller.
  func status(
    _ engine: borrowing Engine, _ effects: Effects, for index: Int, at now: Instant
  ) -> WireStatus {
    let isPermitted = mayReadLocation(index)
    let user = connections[index]?.peer.user
    var status = WireStatus(
      version: environment.version, board: environment.board,
      now: FixTime(acquired: now, utc: isPermitted ? utc(now) : nil), generation: engine.generation,
      nextSequence: isPermitted ? engine.head : nil, ringCapacity: engine.capacity,
      clients: clients.slots.count { $0.process != nil && (isPermitted || $0.name.user == user) })
    if isPermitted, engine.head > 0 { status.newest = engine.stored(at: engine.head - 1)?.time }
    if isPermitted { status.ringFixes = engine.fixesInRing }
    status.batteryPercent = engine.batteryCharge
    status.shed = engine.shed
    status.isSleepInhibited = engine.isSleepInhibited
    if isPermitted { status.plan = plan(engine, effects) }
    status.receiver = engine.receiverReport(at: now).map {
      power.wireReceiver($0, isPermitted: isPermitted, at: now, delivery.utcOffset)
    }
    if isPermitted { status.clock = clock?.description(at: now, delivery.utcOffset) }
    let seesAll = user.map(permissions.isAdministrator) ?? false
    let clientHolds =
      isPermitted
      ? clientHolds(engine, at: now) { i in
        seesAll || clients[i].name.user == user ? clients[i].name : nil
      } : nil
    status.holds = power.holds(clientHolds, engine, effects)
    for i in clients.indices {
      guard let use = use(of: i, engine, at: now) else { continue }
      if isPermitted || use.name.user == user { status.demandingClients += 1 }
      if seesAll || use.name.user == user { status.uses.append(use) }
    }
    return status
  }

  /// The plan of the last step.
  func plan(_ engine: borrowing Engine, _ effects: Effects) -> WirePlan {
    let plan = Plan(
      receiver: engine.receiverMode ?? .off, board: effects.board, wake: effects.wake,
      wakesOnInput: effects.wakesOnInput)
    return WirePlan(plan, wakeUTC: effects.wake < .distantFuture ? utc(effects.wake) : nil)
  }

  /// Clients with an unacknowledged batch, clients that require every fix immediately, and holds of clients.
  private func clientHolds(
    _ engine: borrowing Engine, at now: Instant, names: (Int) -> WireClientName?
  ) -> [WireHold] {
    var holds: [WireHold] = []
    for i in clients.indices {
      let needs = engine.usage(of: ClientID(i), at: now)
      if let until = needs.acknowledgementDeadline, until > now {
        holds.append(WireHold(.acknowledgement, client: names(i)))
      }
      for hold in clients[i].holds.all {
        let name = names(i)
        holds.append(WireHold(.client, client: name, detail: name.map { _ in hold.reason }))
      }
      if case .live = needs.demand { holds.append(WireHold(.everyFix, client: names(i))) }
    }
    return holds
  }

  /// The demand of a client; nil if it has none and has started nothing.
  private func use(
    of index: Int, _ engine: borrowing Engine, at now: Instant
  ) -> WireUse? {
    let client = ClientID(index)
    let needs = engine.usage(of: client, at: now)
    var use = WireUse(
      clients[index].name,
      execution: clients[index].process == nil ? nil : engine.withClient(client) { $0.execution })
    use.services = engine.withClient(client) { LocationServer.services(of: $0) }
    if clients[index].sessions.hasBackground { use.services.append(.backgroundSession) }
    var next = needs.due
    switch needs.demand {
    case .none: use.need = needs.due < .distantFuture ? .singleFixes : .nothing
    case .within: use.need = .position
    case .deferred(let check):
      use.need = .everyFixLater
      next = min(next, check)
    case .live: use.need = .everyFix
    }
    use.keepsReceiverOn = use.need == .everyFix || use.need == .everyFixLater
    use.keepsBoardAwake = use.need == .everyFix
    if let until = needs.acknowledgementDeadline, until > now { use.keepsBoardAwake = true }
    if !clients[index].holds.all.isEmpty { use.keepsBoardAwake = true }
    if next < .distantFuture { use.next = FixTime(acquired: next, utc: utc(next)) }
    return use.services.isEmpty && use.need == .nothing ? nil : use
  }

  private static func services(of client: borrowing Client) -> [WireService] {
    var services: [WireService] = []
    if client.isUpdating { services.append(.updates) }
    if client.deferral.state != .idle { services.append(.deferredUpdates) }
    if client.services.significant.state != .idle { services.append(.significantChange) }
    if client.services.visits.state != .idle { services.append(.visits) }
    if client.services.regions.count > 0 { services.append(.regions) }
    if client.services.live.count > 0 { services.append(.liveUpdates) }
    if client.services.request.state != .idle { services.append(.request) }
    return services
  }
}
