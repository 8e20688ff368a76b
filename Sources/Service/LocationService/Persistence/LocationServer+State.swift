import CLinux
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// What of the clients outlives the service (BKG-20): from disk at the start, to disk before a promise
// is answered.

extension LocationServer {
  /// Takes back the clients of earlier runs, before the engine's first step.
  ///
  /// - Parameters:
  ///   - loss: What a power cut may have taken from those who were owed all; nil if there was
  ///     none since the last run.
  ///   - now: The board's clock.
  public mutating func restore(into engine: inout Engine, after loss: Gap?, at now: Instant) {
    self.loss = loss
    self.now = now
    warnOfEmptyPolicy()
    warnOfUnresolvedLines()
    noteLostClients(head: engine.head)
    var dropped: [WireClientName] = []
    for row in state.rows.clients.all.sorted(by: { $0.id < $1.id }) {
      let access = policy.access(uid: row.uid, client: row.name, decision: row.accessDecision)
      guard access.authorization.isGranted else {
        // Nothing of it survives but what a command has decided (RES-2).
        if state.hasRegistrations(row.id) {
          dropped.append(WireClientName(user: row.uid, name: row.name))
        }
        state.removeUndecided(row.id)
        continue
      }
      guard clients.count < facts.clients else {
        log.write(.warning, "there is no room for client '\(row.name)' of user \(row.uid)")
        continue
      }
      restore(row, into: &engine)
    }
    updateStandings()
    warn("what they had asked for is dropped, because they may not use location any more", dropped)
  }

  /// How many fixes are stored after a loss of clients until a client that is not known counts as new: a day
  /// at one each second.
  private static let lostClientFixes: UInt64 = 86_400

  /// Finds out whether clients were lost that were owed fixes, in this run or shortly before it (RNG-4).
  private mutating func noteLostClients(head: UInt64) {
    var until = state.counter(.clientsLostUntil)
    if until == .max || (state.repairs.isNew && head > 0) {
      until = Int64(head + LocationServer.lostClientFixes)
    }
    mayHaveForgotten = head < UInt64(until)
    if !mayHaveForgotten { until = 0 }
    if until != state.counter(.clientsLostUntil) { state.setCounter(.clientsLostUntil, until) }
  }

  private mutating func restore(_ row: ClientRecord, into engine: inout Engine) {
    let place = clients.count
    let access = policy.access(uid: row.uid, client: row.name, decision: row.accessDecision)
    var client = ServedClient(
      WireClientName(user: row.uid, name: row.name), of: account(of: row.uid), number: row.id,
      access)
    if var cursor = state.rows.cursors[row.id] {
      engine.restore(ClientID(place), from: cursor.bookmark, startingAt: now)
      // On the disk together with the boot: a second start does not know of the power cut any more.
      cursor.mayHaveLost = cursor.mayHaveLost || (loss != nil && cursor.bookmark.owesAll)
      put(cursor, in: \.cursors)
      client.mayHaveLost = cursor.mayHaveLost
    }
    let services = state.rows.services[row.id] ?? ServicesRecord(client: row.id)
    client.notices = unacknowledgedEvents(of: row.id, last: services.lastEvent)
    client.isTouched = true
    client.sessions = ClientSessions(hasBackground: services.backgroundSession)
    clients.append(client)
    // As it was told last, and then as it is now: what it lost meanwhile is lost for good (RNG-6).
    permit(row.told, place)
    permit(access.told, place)
    if access.told.takes(from: row.told) { forgetEvents(place) }
    resume(services, place)
    // Its process may live, and come back by itself.
    if let reason = clients[place].waitingReason {
      wish(reason, place, after: ClientSessions.standardGrace)
    }
  }

  /// Asks for all that outlives a process, as the process would, and leaves.
  private mutating func resume(_ services: ServicesRecord, _ place: Int) {
    let regions = state.rows.regions.all.filter { $0.client == services.client }
    guard services.significantChange || services.visits || !regions.isEmpty else { return }
    ask(.connect, place)
    start(services, place)
    for region in regions.sorted(by: { $0.region.identifier.number < $1.region.identifier.number })
    {
      clients[place].restore(region.region.identifier, named: region.name)
      ask(.addRegion(region.region, assuming: region.state), place)
    }
    ask(.disconnect, place)
  }

  private mutating func start(_ services: ServicesRecord, _ place: Int) {
    if services.significantChange { ask(.startSignificantChange, place) }
    if services.visits { ask(.startVisits, place) }
  }

  /// Begins again what a refusal has ended that is over, and what the client had not taken back meanwhile.
  mutating func resumeRefused(_ place: Int) {
    guard let services = state.rows.services[clients[place].number],
      services.significantChange || services.visits
    else { return }
    let isThere = clients[place].control != nil
    if !isThere { ask(.connect, place) }
    start(services, place)
    if !isThere { return ask(.disconnect, place) }
    // It has asked nothing: who is suspended stays so.
    if clients[place].isHeld || clients[place].execution == .suspended {
      ask(.setExecution(.suspended), place)
    }
  }

  /// What waits for a client; a notice that this version cannot read is passed over.
  private func unacknowledgedEvents(of client: ClientNumber, last: UInt32) -> NoticeQueue {
    let rows = state.rows.events.all.filter { $0.key.client == client }
    let events = rows.sorted { $0.key.number < $1.key.number }.compactMap { row in
      NoticeQueue.Event(row)
    }
    return NoticeQueue(events, last: last)
  }

  mutating func permit(_ access: AccessDecision, _ client: Int) {
    ask(.setAuthorization(access.authorization), client)
    ask(.setReducedAccuracy(access.isReduced), client)
    clients[client].sessions.permit(access.authorization, isReduced: access.isReduced)
    updateUse(client)
  }

  // MARK: To disk

  /// Notes what is durable of the clients of whom something was asked, and has it on the disk where an
  /// answer waits for that.
  mutating func keep(_ engine: borrowing Engine, at now: Instant) {
    let mustFlush = isPromised || isEventNew || isOwingNew
    for i in clients.indices
    where clients[i].isTouched || clients[i].isClosing || (mustFlush && clients[i].isBehind) {
      if clients[i].isVacant { clients[i].isTouched = false } else { keep(i, engine) }
    }
    if mustFlush { flush() }
  }

  /// Notes all that is durable and has it on the disk: once in a while, and at the end.
  public mutating func keepAll(_ engine: borrowing Engine) {
    for i in clients.indices where !clients[i].isVacant { keep(i, engine) }
    hasBehind = false
    flush()
  }

  /// Whether something that is to be durable is not on the disk.
  public var hasUnkept: Bool { state.hasChanges || hasBehind }

  private mutating func keep(_ client: Int, _ engine: borrowing Engine) {
    clients[client].isTouched = false
    clients[client].isBehind = false
    let number = clients[client].number
    let bookmark = engine.bookmark(of: ClientID(client))
    clients[client].isClosing = bookmark.owesAll && !clients[client].begun.updates
    // What it is told that it may goes with its place: who has lost a right is owed nothing of before.
    keepAccess(client)
    put(
      CursorRecord(
        client: number, bookmark: bookmark, mayHaveLost: clients[client].mayHaveLost),
      in: \.cursors)
    keepRegions(client, engine)
  }

  /// Changes what outlives the client's process.
  mutating func change(_ client: Int, _ change: (inout ServicesRecord) -> Void) {
    let number = clients[client].number
    var row = state.rows.services[number] ?? ServicesRecord(client: number)
    change(&row)
    put(row, in: \.services)
  }

  /// Notes what a client is told that it may, and what was decided.
  mutating func keepAccess(_ client: Int, decision: AccessDecision? = nil) {
    guard var row = state.rows.clients[clients[client].number] else { return }
    row.authorization = clients[client].access.authorization
    row.isReduced = clients[client].access.isReduced
    if let decision { row.decide(decision) }
    put(row, in: \.clients)
  }

  mutating func put<Row>(_ row: Row, in table: WritableKeyPath<StateRows, StateTable<Row>>) {
    if !state.rows[keyPath: table].put(row) {
      logLine(of: nil, .error, "the durable state is full, and forgets at a restart: \(Row.self)")
    }
  }

  /// Writes what has changed; what fails is told once, and tried again with the next change.
  mutating func flush() {
    isEventNew = false
    isOwingNew = false
    let isWriting = state.hasChanges
    // SQLite's code is for this alone, and what brings it back next time costs less than the disk. Where
    // no answer waits, which a client may want with each fix, what else was used goes too.
    defer { if isWriting { unsafe clinux_forget_code(isPromised ? "libsqlite3" : nil) } }
    do {
      try state.flush(at: SystemClock().wall)
      if isTroubled { log.write(.notice, "the durable state is on the disk again") }
      isTroubled = false
    } catch {
      if !isTroubled {
        log.write(.error, "the durable state cannot be written, and a restart forgets it: \(error)")
      }
      isTroubled = true
    }
  }

  // MARK: Events

  /// An event for a client, which stays until it is acknowledged (VIS-8, REG-13).
  mutating func queue(_ client: Int, _ make: (UInt32) -> WireNotice) {
    let number = clients[client].number
    let (event, lost) = clients[client].notices.appendEvent(make)
    if let lost { state.rows.events.remove(.init(client: number, number: lost)) }
    if let row = EventRecord(event, of: number) { put(row, in: \.events) }
    change(client) { $0.lastEvent = event.number }
    // While a process is there it hears it now; without one the disk is all that knows.
    if clients[client].control == nil { isEventNew = true }
    clients[client].isTouched = true
  }

  mutating func acknowledgeEvents(through number: UInt32, _ client: Int) {
    let numbers = clients[client].notices.acknowledge(through: number)
    noteHandled(numbers, client)
    remove(numbers, of: client)
  }

  /// Nothing that tells where the board was is told any more (RNG-6).
  mutating func forgetEvents(_ client: Int) {
    forgetEvents(client) { _ in true }
    clients[client].report = nil
  }

  /// Events that are not told any more.
  mutating func forgetEvents(_ client: Int, where isGone: (WireNotice) -> Bool) {
    remove(clients[client].notices.removeEvents { isGone($0.notice) }, of: client)
  }

  private func remove(_ numbers: [UInt32], of client: Int) {
    let owner = clients[client].number
    for number in numbers { state.rows.events.remove(.init(client: owner, number: number)) }
  }
}

extension ClientRecord {
  /// What a command has decided about it.
  var accessDecision: AccessDecision? {
    decision.map { AccessDecision($0, isReduced: isDecidedReduced) }
  }

  /// Notes what a command decides.
  mutating func decide(_ decision: AccessDecision) {
    self.decision = decision.authorization
    isDecidedReduced = decision.isReduced
  }

  /// What the client was told last that it may.
  var told: AccessDecision { AccessDecision(authorization, isReduced: isReduced) }
}

extension ServedClient {
  /// What waits for its process, or keeps it going; nil where nothing does.
  fileprivate var waitingReason: LaunchReason? {
    if sessions.hasBackground { return .backgroundSession }
    guard let first = notices.firstEvent else { return nil }
    if case .visit = first.notice { return .visit }
    return .region
  }
}

extension AccessDecision {
  /// Whether it is less than before: location is taken away, or full accuracy.
  func takes(from before: AccessDecision) -> Bool {
    (before.authorization.isGranted && !authorization.isGranted)
      || (!before.isReduced && isReduced)
  }
}

extension ClientAccess {
  /// What a client is told that it may.
  var told: AccessDecision { AccessDecision(authorization, isReduced: isReduced) }
}

extension NoticeQueue.Event {
  /// An event that came back from disk; nil if it cannot be read.
  init?(_ row: EventRecord) {
    guard let notice = WireNotice(kept: row.notice) else { return nil }
    self.init(number: row.key.number, notice: notice)
  }
}

extension WireNotice {
  /// A notice as it was kept; nil if this version cannot read it.
  init?(kept text: String) {
    guard let reply = try? ReplyDecoder.decode(Array(text.utf8), to: .watch(session: 0)),
      case .notice(let notice) = reply.reply
    else { return nil }
    self = notice
  }
}

extension EventRecord {
  /// An event as it is kept; nil if it is too long for that, which no event is.
  init?(_ event: NoticeQueue.Event, of client: ClientNumber) {
    var json = JSONOutput()
    ReplyEncoder.encode(.notice(event.notice), continues: true, to: &json)
    let text = String(decoding: json.bytes.dropLast(), as: UTF8.self)
    guard text.utf8.count <= EventRecord.longestNotice else { return nil }
    self.init(.init(client: client, number: event.number), notice: text)
  }
}
