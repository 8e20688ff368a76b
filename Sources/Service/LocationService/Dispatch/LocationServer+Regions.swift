import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// History of regions: saved states, and pending events of regions that were removed or replaced (REG-13).

extension LocationServer {
  /// Saves the monitored regions of a client with their states.
  mutating func saveRegions(_ client: Int, _ engine: borrowing Engine) {
    guard clients[client].regionNames.hasRegions else { return }
    let identifiers = persistence.saveRegions(
      of: clients[client].number, ClientID(client), named: clients[client].regionNames, engine,
      at: now)
    clients[client].regionNames.setMonitored(identifiers)
    updateUse(client)
  }

  /// A client's monitored regions, with states and events if it may know where the board is.
  func monitoredRegions(of client: Int) -> [WireMonitoredRegion] {
    persistence.monitoredRegions(
      of: clients[client].number,
      includesState: clients[client].access.authorization.isGranted)
  }

  /// Resets the history of an added region. Pending events of an earlier region with that name are discarded, so that
  /// they cannot become the last event of the new one (REG-13).
  mutating func beginHistory(
    of identifier: RegionIdentifier, _ region: WireRegion, _ client: Int
  ) {
    let number = clients[client].number
    persistence.setHandled(nil, identifier, of: number, at: now)
    guard let previous = persistence.region(identifier, of: number),
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
}
