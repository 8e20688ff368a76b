import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire
import ServiceState

// Circles that outlive the process that asked for them, and what of each was handled (REG-11, REG-13).

extension LocationServer {
  /// Circles as they are monitored now, with the states that they are in.
  mutating func keepRegions(_ client: Int, _ engine: borrowing Engine) {
    guard clients[client].hasRegions else { return }
    let number = clients[client].number
    var seen: Set<RegionIdentifier> = []
    for place in 0..<RegionMonitor.capacity {
      guard let held = engine.regionRecord(of: ClientID(client), at: place) else { continue }
      let identifier = held.region.identifier
      seen.insert(identifier)
      let name = clients[client].name(of: identifier)
      guard StateStore.isName(name) else { continue }
      let before = state.rows.regions[.init(client: number, identifier: identifier)]
      put(
        RegionRecord(
          client: number, name: name, region: held.region, state: held.assuming,
          handled: before?.handled),
        in: \.regions)
    }
    for row in state.rows.regions.all where row.client == number {
      if !seen.contains(row.region.identifier) { state.rows.regions.remove(row.key) }
    }
    clients[client].keep(seen)
    updateUse(client)
  }

  /// The events of those numbers are handled: of each circle the last is kept.
  mutating func noteHandled(_ numbers: [UInt32], _ client: Int) {
    for number in numbers {
      let key = EventRecord.Key(client: clients[client].number, number: number)
      guard let row = state.rows.events[key], let event = WireRegionEvent(kept: row.notice),
        let identifier = clients[client].known(event.kind, named: event.name)
      else { continue }
      setHandled(row.notice, identifier, client)
    }
  }

  /// A circle is added and has no history: what waits of another one of its name is not told any more, and
  /// cannot become the last event of the new one (REG-13).
  mutating func beginHistory(
    of identifier: RegionIdentifier, _ region: WireRegion, _ client: Int
  ) {
    setHandled(nil, identifier, client)
    let key = RegionRecord.Key(client: clients[client].number, identifier: identifier)
    guard let before = state.rows.regions[key]?.region,
      before.center != region.center || before.radius != region.radius
    else { return }
    forgetEvents(client) { notice in
      guard case .region(let event, _) = notice else { return false }
      return event.kind == region.kind && event.name == region.name
    }
    forgetSilencedCrossings(of: identifier, client)
  }

  /// States of silenced crossings of a circle that is gone, or that another one has replaced, are not sent.
  mutating func forgetSilencedCrossings(of identifier: RegionIdentifier, _ client: Int) {
    clients[client].notices.removeNotices { notice in
      if case .region(.crossedSilently(identifier, _)) = notice { true } else { false }
    }
  }

  /// The last event of a circle that was handled; nil for none. One that is not monitored has none.
  mutating func setHandled(_ notice: String?, _ identifier: RegionIdentifier, _ client: Int) {
    let key = RegionRecord.Key(client: clients[client].number, identifier: identifier)
    guard var row = state.rows.regions[key], row.handled != notice else { return }
    row.handled = notice
    put(row, in: \.regions)
  }

  /// A client's circles, in the order in which their names came.
  ///
  /// - Parameter knowsState: The client may know whether the board is inside.
  func monitoredRegions(of client: Int, knowsState: Bool) -> [WireMonitoredRegion] {
    let rows = state.rows.regions.all.filter { $0.client == clients[client].number }
    return rows.sorted { $0.region.identifier.number < $1.region.identifier.number }.map { row in
      var region = WireRegion(
        row.region.identifier.kind, name: row.name, center: row.region.center,
        radius: row.region.radius)
      region.notifyOnEntry = row.region.notifyOnEntry
      region.notifyOnExit = row.region.notifyOnExit
      guard knowsState else {
        return WireMonitoredRegion(region, state: .unknown, lastEvent: nil)
      }
      return WireMonitoredRegion(
        region, state: row.state, lastEvent: row.handled.flatMap(WireRegionEvent.init(kept:)))
    }
  }
}

extension WireRegionEvent {
  /// An event of a circle as it was kept; nil if this version cannot read it.
  fileprivate init?(kept notice: String) {
    guard case .region(let event, _)? = WireNotice(kept: notice) else { return nil }
    self = event
  }
}
