import CLinux
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Durable state of clients (BKG-20): restored at the start, and written before a durable call is answered.

extension LocationServer {
  /// Restores the clients of earlier runs, before the engine's first step.
  ///
  /// - Parameters:
  ///   - loss: Fixes that clients with running updates may have lost since the last run; nil if none.
  ///   - now: Current time.
  public mutating func restore(into engine: inout Engine, after loss: Gap?, at now: Instant) {
    self.possibleLoss = loss
    self.now = now
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
      restore(row, into: &engine)
    }
    updateStandings()
    warn("their requests are dropped, because they may no longer use location", dropped)
  }

  private mutating func restore(_ row: ClientRecord, into engine: inout Engine) {
    let index = clients.count
    let access = permissions.access(of: row.wireName, decision: row.accessDecision)
    var client = ServedClient(
      row.wireName, of: permissions.account(of: row.uid), number: row.id, access)
    if var cursor = persistence.store.rows.cursors[row.id] {
      engine.restore(ClientID(index), from: cursor.bookmark, startingAt: now)
      // Saved together with the boot number, because the next start does not detect the power cut again.
      cursor.mayHaveLostFixes =
        cursor.mayHaveLostFixes || (possibleLoss != nil && cursor.bookmark.isOpenEnded)
      persistence.put(cursor, in: \.cursors, at: now)
      client.mayHaveLostFixes = cursor.mayHaveLostFixes
    }
    let services = persistence.store.rows.services[row.id] ?? ServicesRecord(client: row.id)
    client.notices = persistence.unacknowledgedEvents(of: row.id, last: services.lastEvent)
    client.isDirty = true
    client.sessions = ClientSessions(hasBackground: services.backgroundSession)
    clients.append(client)
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

  /// Requests all services that outlive a process, as the process would, and disconnects.
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
    let isConnected = clients[index].control != nil
    if !isConnected { submit(.connect, index) }
    start(services, index)
    if !isConnected { return submit(.disconnect, index) }
    // The client has made no call, so a suspended client stays suspended.
    if clients[index].isDeliveryPaused || clients[index].execution == .suspended {
      submit(.setExecution(.suspended), index)
    }
  }

  mutating func setAuthorization(_ access: AccessDecision, _ client: Int) {
    submit(.setAuthorization(access.authorization), client)
    submit(.setReducedAccuracy(access.isReduced), client)
    clients[client].sessions.setAuthorization(access.authorization, isReduced: access.isReduced)
    updateUse(client)
  }

  // MARK: Saving

  /// Updates the rows of dirty clients, and flushes if a pending answer requires it.
  mutating func saveDirtyClients(_ engine: borrowing Engine, at now: Instant) {
    let mustFlush = answers.hasDurable || persistence.requiresFlush
    for i in clients.indices
    where clients[i].isDirty || clients[i].awaitsReceiverDrain
      || (mustFlush && clients[i].hasUnsavedAcknowledgement)
    {
      if clients[i].isVacant { clients[i].isDirty = false } else { save(i, engine) }
    }
    if mustFlush { flush() }
  }

  /// Updates the rows of all clients and flushes: with each sync of the ring, and at the end.
  public mutating func saveAll(_ engine: borrowing Engine) {
    for i in clients.indices where !clients[i].isVacant { save(i, engine) }
    persistence.didUpdateAllRows()
    flush()
  }

  /// Whether any change is not on the disk.
  public var hasUnsavedChanges: Bool { persistence.hasChanges }

  private mutating func save(_ client: Int, _ engine: borrowing Engine) {
    clients[client].isDirty = false
    clients[client].hasUnsavedAcknowledgement = false
    let number = clients[client].number
    let bookmark = engine.bookmark(of: ClientID(client))
    clients[client].awaitsReceiverDrain =
      bookmark.isOpenEnded && !clients[client].startedServices.updates
    // In the same transaction as the ring position: a client that lost a right must not receive older fixes.
    saveAccess(client)
    persistence.put(
      CursorRecord(
        client: number, bookmark: bookmark, mayHaveLostFixes: clients[client].mayHaveLostFixes),
      in: \.cursors, at: now)
    saveRegions(client, engine)
  }

  /// Changes the services of a client that outlive its process.
  mutating func updateServices(_ client: Int, _ change: (inout ServicesRecord) -> Void) {
    persistence.updateServices(of: clients[client].number, at: now, change)
  }

  /// Saves the reported permission of a client, and a decision.
  mutating func saveAccess(_ client: Int, decision: AccessDecision? = nil) {
    persistence.saveAccess(
      of: clients[client].number, clients[client].access, decision: decision, at: now)
  }

  /// Writes all changes of the durable state.
  mutating func flush() { persistence.flush(forAnswer: answers.hasDurable) }

  // MARK: Events

  /// Queues an event, which stays until it is acknowledged (VIS-8, REG-13).
  mutating func queueEvent(_ client: Int, _ make: (UInt32) -> WireNotice) {
    let number = clients[client].number
    let (event, lost) = clients[client].notices.appendEvent(make)
    if let lost { persistence.removeEvents([lost], of: number) }
    persistence.addEvent(event, of: number, at: now)
    // Without a process, the event must be on the disk before the program is started.
    if clients[client].control == nil { persistence.note(.event) }
    clients[client].isDirty = true
  }

  mutating func acknowledgeEvents(through number: UInt32, _ client: Int) {
    let numbers = clients[client].notices.acknowledge(through: number)
    let owner = clients[client].number
    persistence.recordHandled(numbers, of: owner, named: clients[client].regionNames, at: now)
    persistence.removeEvents(numbers, of: owner)
  }

  /// Discards all pending events and reports, which reveal where the board was (RNG-6).
  mutating func discardEvents(_ client: Int) {
    discardEvents(client) { _ in true }
    clients[client].pendingReport = nil
  }

  /// Discards pending events.
  mutating func discardEvents(_ client: Int, where shouldDiscard: (WireNotice) -> Bool) {
    persistence.removeEvents(
      clients[client].notices.removeEvents { shouldDiscard($0.notice) }, of: clients[client].number)
  }
}

extension ServedClient {
  /// Reason to start the process: a pending event or background session; nil without one.
  fileprivate var waitingReason: LaunchReason? {
    if sessions.hasBackground { return .backgroundSession }
    guard let first = notices.firstEvent else { return nil }
    if case .visit = first.notice { return .visit }
    return .region
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
