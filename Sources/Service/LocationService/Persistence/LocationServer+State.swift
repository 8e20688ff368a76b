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
    noteLostClients(head: engine.head)
    var dropped: [WireClientName] = []
    for row in state.rows.clients.all.sorted(by: { $0.id < $1.id }) {
      let access = policy.access(uid: row.uid, client: row.name, decision: row.accessDecision)
      guard access.authorization.isGranted else {
        // Only the decision of a command survives (RES-2).
        if state.hasRegistrations(row.id) {
          dropped.append(WireClientName(user: row.uid, name: row.name))
        }
        state.removeUndecided(row.id)
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

  /// After a loss of rows, an unknown client may be a lost one until that many fixes were stored: one day at 1 Hz.
  private static let lostClientFixes: UInt64 = 86_400

  /// Determines whether clients with undelivered fixes may have been lost, in this run or shortly before it (RNG-4).
  private mutating func noteLostClients(head: UInt64) {
    var until = state.counter(.clientsLostUntil)
    if until == .max || (state.repairs.isNew && head > 0) {
      until = Int64(head + LocationServer.lostClientFixes)
    }
    mayHaveLostClients = head < UInt64(until)
    if !mayHaveLostClients { until = 0 }
    if until != state.counter(.clientsLostUntil) { state.setCounter(.clientsLostUntil, until) }
  }

  private mutating func restore(_ row: ClientRecord, into engine: inout Engine) {
    let index = clients.count
    let access = policy.access(uid: row.uid, client: row.name, decision: row.accessDecision)
    var client = ServedClient(
      WireClientName(user: row.uid, name: row.name), of: account(of: row.uid), number: row.id,
      access)
    if var cursor = state.rows.cursors[row.id] {
      engine.restore(ClientID(index), from: cursor.bookmark, startingAt: now)
      // Saved together with the boot number, because the next start does not detect the power cut again.
      cursor.mayHaveLostFixes =
        cursor.mayHaveLostFixes || (possibleLoss != nil && cursor.bookmark.isOpenEnded)
      put(cursor, in: \.cursors)
      client.mayHaveLostFixes = cursor.mayHaveLostFixes
    }
    let services = state.rows.services[row.id] ?? ServicesRecord(client: row.id)
    client.notices = unacknowledgedEvents(of: row.id, last: services.lastEvent)
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
    let regions = state.rows.regions.all.filter { $0.client == services.client }
    guard services.significantChange || services.visits || !regions.isEmpty else { return }
    submit(.connect, index)
    start(services, index)
    for region in regions.sorted(by: { $0.region.identifier.number < $1.region.identifier.number })
    {
      clients[index].restore(region.region.identifier, named: region.name)
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
    guard let services = state.rows.services[clients[index].number],
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

  /// The pending events of a client. Events that this version cannot parse are skipped.
  private func unacknowledgedEvents(of client: ClientNumber, last: UInt32) -> NoticeQueue {
    let rows = state.rows.events.all.filter { $0.key.client == client }
    let events = rows.sorted { $0.key.number < $1.key.number }.compactMap { row in
      NoticeQueue.Event(row)
    }
    return NoticeQueue(events, last: last)
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
    let mustFlush = hasDurableAnswer || hasUnsavedEvent || hasUnsavedUpdatesChange
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
    hasUnsavedAcknowledgement = false
    flush()
  }

  /// Whether any change is not on the disk.
  public var hasUnsavedChanges: Bool { state.hasChanges || hasUnsavedAcknowledgement }

  private mutating func save(_ client: Int, _ engine: borrowing Engine) {
    clients[client].isDirty = false
    clients[client].hasUnsavedAcknowledgement = false
    let number = clients[client].number
    let bookmark = engine.bookmark(of: ClientID(client))
    clients[client].awaitsReceiverDrain =
      bookmark.isOpenEnded && !clients[client].startedServices.updates
    // In the same transaction as the ring position: a client that lost a right must not receive older fixes.
    saveAccess(client)
    put(
      CursorRecord(
        client: number, bookmark: bookmark, mayHaveLostFixes: clients[client].mayHaveLostFixes),
      in: \.cursors)
    saveRegions(client, engine)
  }

  /// Changes the services of a client that outlive its process.
  mutating func updateServices(_ client: Int, _ change: (inout ServicesRecord) -> Void) {
    let number = clients[client].number
    var row = state.rows.services[number] ?? ServicesRecord(client: number)
    change(&row)
    put(row, in: \.services)
  }

  /// Saves the reported permission of a client, and a decision.
  mutating func saveAccess(_ client: Int, decision: AccessDecision? = nil) {
    guard var row = state.rows.clients[clients[client].number] else { return }
    row.authorization = clients[client].access.authorization
    row.isReduced = clients[client].access.isReduced
    if let decision { row.decide(decision) }
    put(row, in: \.clients)
  }

  mutating func put<Row>(_ row: Row, in table: WritableKeyPath<StateRows, StateTable<Row>>) {
    if !state.rows[keyPath: table].put(row) {
      logLine(
        of: nil, .error,
        "a table of the durable state is full, and a change is lost at a restart: \(Row.self)")
    }
  }

  /// Writes all changes. A failure is logged once; the next flush retries.
  mutating func flush() {
    hasUnsavedEvent = false
    hasUnsavedUpdatesChange = false
    let isWriting = state.hasChanges
    // Release SQLite's code, which is not needed until the next flush; reading it again costs less than the disk
    // access. A flush for a waiting answer may follow each fix, so only the other flushes release all code.
    defer { if isWriting { unsafe clinux_release_code(hasDurableAnswer ? "libsqlite3" : nil) } }
    do {
      try state.flush(at: SystemClock().wallTime)
      if hasStateFailure { log.write(.notice, "the durable state is saved again") }
      hasStateFailure = false
    } catch {
      if !hasStateFailure {
        log.write(
          .error,
          "the durable state cannot be saved, and changes would be lost at a restart: \(error)")
      }
      hasStateFailure = true
    }
  }

  // MARK: Events

  /// Queues an event, which stays until it is acknowledged (VIS-8, REG-13).
  mutating func queueEvent(_ client: Int, _ make: (UInt32) -> WireNotice) {
    let number = clients[client].number
    let (event, lost) = clients[client].notices.appendEvent(make)
    if let lost { state.rows.events.remove(.init(client: number, number: lost)) }
    if let row = EventRecord(event, of: number) { put(row, in: \.events) }
    updateServices(client) { $0.lastEvent = event.number }
    // Without a process, the event must be on the disk before the program is started.
    if clients[client].control == nil { hasUnsavedEvent = true }
    clients[client].isDirty = true
  }

  mutating func acknowledgeEvents(through number: UInt32, _ client: Int) {
    let numbers = clients[client].notices.acknowledge(through: number)
    recordHandled(numbers, client)
    remove(numbers, of: client)
  }

  /// Discards all pending events and reports, which reveal where the board was (RNG-6).
  mutating func discardEvents(_ client: Int) {
    discardEvents(client) { _ in true }
    clients[client].pendingReport = nil
  }

  /// Discards pending events.
  mutating func discardEvents(_ client: Int, where shouldDiscard: (WireNotice) -> Bool) {
    remove(clients[client].notices.removeEvents { shouldDiscard($0.notice) }, of: client)
  }

  private func remove(_ numbers: [UInt32], of client: Int) {
    let owner = clients[client].number
    for number in numbers { state.rows.events.remove(.init(client: owner, number: number)) }
  }
}

extension ClientRecord {
  /// Decision of a command; nil without one.
  var accessDecision: AccessDecision? {
    decision.map { AccessDecision($0, isReduced: isReducedByDecision) }
  }

  /// Stores the decision of a command.
  mutating func decide(_ decision: AccessDecision) {
    self.decision = decision.authorization
    isReducedByDecision = decision.isReduced
  }

  /// Permission that was last reported to the client.
  var reported: AccessDecision { AccessDecision(authorization, isReduced: isReduced) }
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

extension NoticeQueue.Event {
  /// Restores an event from disk; nil if it cannot be parsed.
  init?(_ row: EventRecord) {
    guard let notice = WireNotice(stored: row.notice) else { return nil }
    self.init(number: row.key.number, notice: notice)
  }
}

extension WireNotice {
  /// Parses a stored notice; nil if this version cannot.
  init?(stored text: String) {
    guard let reply = try? ReplyDecoder.decode(Array(text.utf8), to: .watch(session: 0)),
      case .notice(let notice) = reply.reply
    else { return nil }
    self = notice
  }
}

extension EventRecord {
  /// Converts an event for storage; nil if it exceeds ``longestNotice``, which no event does.
  init?(_ event: NoticeQueue.Event, of client: ClientNumber) {
    var json = JSONOutput()
    ReplyEncoder.encode(.notice(event.notice), continues: true, to: &json)
    let text = String(decoding: json.bytes.dropLast(), as: UTF8.self)
    guard text.utf8.count <= EventRecord.longestNotice else { return nil }
    self.init(.init(client: client, number: event.number), notice: text)
  }
}
