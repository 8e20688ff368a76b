import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState
import TextFormats

// The durable rows of one client (BKG-20): its access, the services that outlive its process, its pending events, and
// its regions with the last handled event of each (REG-11, REG-13).

extension Persistence {
  /// The decision of a command about a client; nil without one.
  func decision(about name: WireClientName) -> AccessDecision? {
    store.client(uid: name.user, name: name.name)?.accessDecision
  }

  /// Saves the reported permission of a client, and a decision.
  func saveAccess(
    of client: ClientNumber, _ access: ClientAccess, decision: AccessDecision? = nil,
    at now: Instant
  ) {
    guard var row = store.rows.clients[client] else { return }
    row.authorization = access.authorization
    row.isReduced = access.isReduced
    if let decision { row.decide(decision) }
    put(row, in: \.clients, at: now)
  }

  /// Changes the services of a client that outlive its process.
  func updateServices(
    of client: ClientNumber, at now: Instant, _ change: (inout ServicesRecord) -> Void
  ) {
    var row = store.rows.services[client] ?? ServicesRecord(client: client)
    change(&row)
    put(row, in: \.services, at: now)
  }

  // MARK: Events

  /// Saves a pending event of a client, and that its number is used.
  func addEvent(_ event: NoticeQueue.Event, of client: ClientNumber, at now: Instant) {
    if let row = EventRecord(event, of: client) { put(row, in: \.events, at: now) }
    updateServices(of: client, at: now) { $0.lastEvent = event.number }
  }

  /// Removes events of a client.
  func removeEvents(_ numbers: [UInt32], of client: ClientNumber) {
    for number in numbers { store.rows.events.remove(.init(client: client, number: number)) }
  }

  /// The pending events of a client. Events that this version cannot parse are skipped.
  ///
  /// - Parameter last: Number of the newest event that was ever queued.
  func unacknowledgedEvents(of client: ClientNumber, last: UInt32) -> NoticeQueue {
    let rows = store.rows.events.all.filter { $0.key.client == client }
    let events = rows.sorted { $0.key.number < $1.key.number }.compactMap { row in
      NoticeQueue.Event(row)
    }
    return NoticeQueue(events, last: last)
  }

  // MARK: Regions

  /// Saves the monitored regions of a client with their states. Returns their identifiers.
  func saveRegions(
    of client: ClientNumber, _ id: ClientID, named names: RegionNames, _ engine: borrowing Engine,
    at now: Instant
  ) -> Set<RegionIdentifier> {
    var identifiers: Set<RegionIdentifier> = []
    for index in 0..<RegionMonitor.capacity {
      guard let record = engine.regionRecord(of: id, at: index) else { continue }
      let identifier = record.region.identifier
      identifiers.insert(identifier)
      let name = names.name(of: identifier)
      guard StateStore.isValidName(name) else { continue }
      let previous = store.rows.regions[.init(client: client, identifier: identifier)]
      put(
        RegionRecord(
          client: client, name: name, region: record.region, state: record.assuming,
          handled: previous?.handled),
        in: \.regions, at: now)
    }
    for row in store.rows.regions.all where row.client == client {
      if !identifiers.contains(row.region.identifier) { store.rows.regions.remove(row.key) }
    }
    return identifiers
  }

  /// Records handled events: the last one of each region is stored.
  func recordHandled(
    _ numbers: [UInt32], of client: ClientNumber, named names: RegionNames, at now: Instant
  ) {
    for number in numbers {
      let key = EventRecord.Key(client: client, number: number)
      guard let row = store.rows.events[key], let event = WireRegionEvent(stored: row.notice),
        let identifier = names.identifier(ofKnown: event.kind, named: event.name)
      else { continue }
      setHandled(row.notice, identifier, of: client, at: now)
    }
  }

  /// Stores the last handled event of a region; nil for none. Does nothing if the region is not monitored.
  func setHandled(
    _ notice: String?, _ identifier: RegionIdentifier, of client: ClientNumber, at now: Instant
  ) {
    let key = RegionRecord.Key(client: client, identifier: identifier)
    guard var row = store.rows.regions[key], row.handled != notice else { return }
    row.handled = notice
    put(row, in: \.regions, at: now)
  }

  /// The stored region with that identifier; nil if it is not monitored.
  func region(_ identifier: RegionIdentifier, of client: ClientNumber) -> Region? {
    store.rows.regions[.init(client: client, identifier: identifier)]?.region
  }

  /// A client's monitored regions, in the order in which their names were added.
  ///
  /// - Parameter includesState: Whether to include states and events, which reveal whether the board is inside.
  func monitoredRegions(of client: ClientNumber, includesState: Bool) -> [WireMonitoredRegion] {
    let rows = store.rows.regions.all.filter { $0.client == client }
    return rows.sorted { $0.region.identifier.number < $1.region.identifier.number }.map { row in
      let circle =
        switch row.region.shape {
        case .circle(let circle): circle
        }
      var region = WireRegion(
        row.region.identifier.kind, name: row.name, center: circle.center, radius: circle.radius)
      region.notifyOnEntry = row.region.notifyOnEntry
      region.notifyOnExit = row.region.notifyOnExit
      guard includesState else {
        return WireMonitoredRegion(region, state: .unknown, lastEvent: nil)
      }
      return WireMonitoredRegion(
        region, state: row.state, lastEvent: row.handled.flatMap(WireRegionEvent.init(stored:)))
    }
  }

  /// Whether nothing of a client is lost if its rows are removed: no service that outlives its process, no decision, and
  /// no undelivered fix.
  func isDisposable(_ client: ClientNumber) -> Bool {
    if let services = store.rows.services[client], services.outlivesProcess { return false }
    if store.rows.clients[client]?.decision != nil { return false }
    guard let bookmark = store.rows.cursors[client]?.bookmark else { return true }
    return !bookmark.isOpenEnded && bookmark.acknowledged == bookmark.undeliveredThrough
      && bookmark.gapAfter == nil
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

  /// Name on the socket.
  var wireName: WireClientName { WireClientName(user: uid, name: name) }
}

extension NoticeQueue.Event {
  /// Restores an event from disk; nil if it cannot be parsed.
  fileprivate init?(_ row: EventRecord) {
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

extension WireRegionEvent {
  /// Parses a stored region event; nil if this version cannot.
  fileprivate init?(stored notice: String) {
    guard case .region(let event, _)? = WireNotice(stored: notice) else { return nil }
    self = event
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
