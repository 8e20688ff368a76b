import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Durable regions, and the last handled event of each (REG-11, REG-13).

extension LocationServer {
  /// Saves the monitored regions of a client with their states.
  mutating func saveRegions(_ client: Int, _ engine: borrowing Engine) {
    guard clients[client].hasRegions else { return }
    let number = clients[client].number
    var identifiers: Set<RegionIdentifier> = []
    for index in 0..<RegionMonitor.capacity {
      guard let record = engine.regionRecord(of: ClientID(client), at: index) else { continue }
      let identifier = record.region.identifier
      identifiers.insert(identifier)
      let name = clients[client].name(of: identifier)
      guard StateStore.isValidName(name) else { continue }
      let previous = state.rows.regions[.init(client: number, identifier: identifier)]
      put(
        RegionRecord(
          client: number, name: name, region: record.region, state: record.assuming,
          handled: previous?.handled),
        in: \.regions)
    }
    for row in state.rows.regions.all where row.client == number {
      if !identifiers.contains(row.region.identifier) { state.rows.regions.remove(row.key) }
    }
    clients[client].setMonitored(identifiers)
    updateUse(client)
  }

  /// Records handled events: the last one of each region is stored.
  mutating func recordHandled(_ numbers: [UInt32], _ client: Int) {
    for number in numbers {
      let key = EventRecord.Key(client: clients[client].number, number: number)
      guard let row = state.rows.events[key], let event = WireRegionEvent(stored: row.notice),
        let identifier = clients[client].knownIdentifier(event.kind, named: event.name)
      else { continue }
      setHandled(row.notice, identifier, client)
    }
  }

  /// Resets the history of an added region. Pending events of an earlier region with that name are discarded, so that
  /// they cannot become the last event of the new one (REG-13).
  mutating func beginHistory(
    of identifier: RegionIdentifier, _ region: WireRegion, _ client: Int
  ) {
    setHandled(nil, identifier, client)
    let key = RegionRecord.Key(client: clients[client].number, identifier: identifier)
    guard let previous = state.rows.regions[key]?.region,
      previous.center != region.center || previous.radius != region.radius
    else { return }
    discardEvents(client) { notice in
      guard case .region(let event, _) = notice else { return false }
      return event.kind == region.kind && event.name == region.name
    }
    discardSilencedCrossings(of: identifier, client)
  }

  /// Discards unsent states of silenced crossings of a region that was removed or replaced.
  mutating func discardSilencedCrossings(of identifier: RegionIdentifier, _ client: Int) {
    clients[client].notices.removeNotices { notice in
      if case .region(.crossedSilently(identifier, _)) = notice { true } else { false }
    }
  }

  /// Stores the last handled event of a region; nil for none. Does nothing if the region is not monitored.
  mutating func setHandled(_ notice: String?, _ identifier: RegionIdentifier, _ client: Int) {
    let key = RegionRecord.Key(client: clients[client].number, identifier: identifier)
    guard var row = state.rows.regions[key], row.handled != notice else { return }
    row.handled = notice
    put(row, in: \.regions)
  }

  /// A client's monitored regions, in the order in which their names were added.
  ///
  /// - Parameter includesState: Whether to include states and events, which reveal whether the board is inside.
  func monitoredRegions(of client: Int, includesState: Bool) -> [WireMonitoredRegion] {
    let rows = state.rows.regions.all.filter { $0.client == clients[client].number }
    return rows.sorted { $0.region.identifier.number < $1.region.identifier.number }.map { row in
      var region = WireRegion(
        row.region.identifier.kind, name: row.name, center: row.region.center,
        radius: row.region.radius)
      region.notifyOnEntry = row.region.notifyOnEntry
      region.notifyOnExit = row.region.notifyOnExit
      guard includesState else {
        return WireMonitoredRegion(region, state: .unknown, lastEvent: nil)
      }
      return WireMonitoredRegion(
        region, state: row.state, lastEvent: row.handled.flatMap(WireRegionEvent.init(stored:)))
    }
  }
}

extension WireRegionEvent {
  /// Parses a stored region event; nil if this version cannot.
  fileprivate init?(stored notice: String) {
    guard case .region(let event, _)? = WireNotice(stored: notice) else { return nil }
    self = event
  }
}
