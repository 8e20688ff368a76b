import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Restores clients from the durable state (BKG-20), and restarts services that were stopped by a loss of permission.

extension LocationServer {
  /// Restores the clients of earlier runs, before the engine's first step.
  ///
  /// - Parameters:
  ///   - loss: Fixes that clients with running updates may have lost since the last run; nil if none.
  ///   - timeOff: The time for which the service had switched the board off; services then continue where they were
  ///     (PWR-14). Nil if it had not.
  ///   - now: Current time.
  public mutating func restore(
    into engine: inout Engine, after loss: Gap?, timeOff: TimeOff? = nil, at now: Instant
  ) {
    setPossibleLoss(loss, before: engine.head)
    if let timeOff { engine.resumeSpeed(after: timeOff) }
    advance(to: now)
    warnOfEmptyPolicy()
    warnOfUnresolvedLines()
    persistence.noteLostClients(head: engine.head)
    var dropped: [WireClientName] = []
    for row in persistence.store.rows.clients.all.sorted(by: { $0.id < $1.id }) {
      let access = permissions.access(of: row.wireName, decision: row.accessDecision)
      guard access.authorization.isGranted else {
        // Only the decision of a command survives (RES-2).
        if persistence.store.hasRegistrations(row.id) {
          dropped.append(row.wireName)
        }
        persistence.store.removeUndecided(row.id)
        continue
      }
      guard clients.count < environment.clients else {
        log.write(
          .warning,
          "client '\(row.name)' of user \(row.uid) is not restored: the client table is full")
        continue
      }
      restore(row, into: &engine, after: timeOff)
    }
    updateStandings()
    warn("their requests are dropped, because they may no longer use location", dropped)
  }

  private mutating func restore(
    _ row: ClientRecord, into engine: inout Engine, after timeOff: TimeOff?
  ) {
    let access = permissions.access(of: row.wireName, decision: row.accessDecision)
    let services = persistence.store.rows.services[row.id] ?? ServicesRecord(client: row.id)
    var mayHaveLostFixes = false
    let index = clients.count
    if var cursor = persistence.store.rows.cursors[row.id] {
      engine.restore(ClientID(index), from: cursor.bookmark, startingAt: now)
      // A client with reduced accuracy has used coarse fixes, which are not in the ring.
      if let timeOff, !row.isReduced, !access.reported.isReduced {
        engine.resume(ClientID(index), from: services.continuing(cursor.bookmark), after: timeOff)
      }
      // Saved together with the boot number, because the next start does not detect the power cut again.
      cursor.mayHaveLostFixes =
        cursor.mayHaveLostFixes || (delivery.possibleLoss != nil && cursor.bookmark.isOpenEnded)
      persistence.put(cursor, in: \.cursors, at: now)
      mayHaveLostFixes = cursor.mayHaveLostFixes
    }
    let added = clients.append(
      ServedClient(
        row.wireName, of: permissions.account(of: row.uid), number: row.id, access,
        mayHaveLostFixes: mayHaveLostFixes,
        notices: persistence.unacknowledgedEvents(
          of: row.id,
          last: max(services.lastEvent, UInt32(clamping: persistence.store.counter(.eventFloor)))),
        hasBackground: services.backgroundSession))
    precondition(added == index, "slots are restored in the order of the engine's clients")
    clients[index].rows.markDirty()
    // Submit the permission last reported before the current one, so that the engine erases the data of a client that
    // has lost it (RNG-6).
    setAuthorization(row.reported, index)
    setAuthorization(access.reported, index)
    if access.reported.isNarrower(than: row.reported) { discardEvents(index) }
    resume(services, index)
    // Delayed, because the process may still run and reconnect by itself.
    if let reason = clients[index].waitingReason {
      requestLaunch(reason, index, after: ClientSessions.standardGrace)
    }
  }

  /// Requests all services that outlive a process, as the process would, and disconnects. After a time off, those that
  /// have continued are running, and the requests change nothing.
  private mutating func resume(_ services: ServicesRecord, _ index: Int) {
    let regions = persistence.store.rows.regions.all.filter { $0.client == services.client }
    guard services.significantChange || services.visits || !regions.isEmpty else { return }
    submit(.connect, index)
    start(services, index)
    for region in regions.sorted(by: { $0.region.identifier.number < $1.region.identifier.number })
    {
      clients[index].regionNames.restore(region.region.identifier, named: region.name)
      submit(.addRegion(region.region, assuming: region.state), index)
    }
    submit(.disconnect, index)
  }

  private mutating func start(_ services: ServicesRecord, _ index: Int) {
    if services.significantChange { submit(.startSignificantChange, index) }
    if services.visits { submit(.startVisits, index) }
  }

  /// Restarts the services that were stopped while permission was denied, unless the client has stopped them since.
  mutating func restartServices(_ index: Int) {
    guard let services = persistence.store.rows.services[clients[index].number],
      services.significantChange || services.visits
    else { return }
    let isConnected = clients[index].process != nil
    if !isConnected { submit(.connect, index) }
    start(services, index)
    if !isConnected { return submit(.disconnect, index) }
    // The client has made no call, so a suspended client stays suspended.
    if clients[index].process?.isDeliveryPaused == true
      || clients[index].process?.execution == .suspended
    {
      submit(.setExecution(.suspended), index)
    }
  }

  /// Passes the reported rights of a client to the engine and to its sessions.
  mutating func setAuthorization(_ access: AccessDecision, _ client: Int) {
    submit(.setAuthorization(access.authorization), client)
    submit(.setReducedAccuracy(access.isReduced), client)
    clients[client].sessions.setAuthorization(access.authorization, isReduced: access.isReduced)
    updateUse(client)
  }
}

extension ServicesRecord {
  /// A bookmark from which only the services of this row continue.
  fileprivate func continuing(_ bookmark: ClientBookmark) -> ClientBookmark {
    var bookmark = bookmark
    if !significantChange { bookmark.significantFrom = nil }
    if !visits { bookmark.visitsFrom = nil }
    return bookmark
  }
}
