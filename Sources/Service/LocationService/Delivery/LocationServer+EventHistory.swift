import LocationPolicy
import LocationTypes
import LocationWire

// Events of clients: visits and events of regions, which stay until they are acknowledged (VIS-8, REG-13, BKG-4), and
// their order with regions that are removed or replaced.

extension LocationServer {
  /// Stores a notice that outlives the client's process. Returns false for any other notice, which must be queued.
  mutating func storeDurable(_ notice: Notice, _ client: Int) -> Bool {
    let crossed = clients[client].notices.consumeCrossing()
    switch notice {
    case .visit(let visit):
      queueEvent(client) { .visit(visit, number: $0) }
      requestLaunch(.visit, client)
    case .region(let event):
      let wireEvent = delivery.wire(event, named: clients[client].regionNames)
      // The state after a crossing is sent together with the crossing (REG-8).
      if case .determined(let identifier, _) = event, identifier == crossed { return true }
      guard wireEvent.outlivesProcess else { return false }
      clients[client].notices.noteCrossing(of: event.identifier)
      queueEvent(client) { .region(wireEvent, number: $0) }
      requestLaunch(.region, client)
    case .report(let fix):
      guard clients[client].process == nil else { return false }
      clients[client].setPendingReport(fix)
      requestLaunch(.significantChange, client)
    case .gap, .finish, .batch, .coarse, .failure, .authorization, .degraded, .paused, .resumed,
      .live, .liveRefused:
      return false
    }
    return true
  }

  /// Queues an event, which stays until it is acknowledged (VIS-8, REG-13).
  private mutating func queueEvent(_ client: Int, _ make: (UInt32) -> WireNotice) {
    let number = clients[client].number
    let (event, lost) = clients[client].notices.appendEvent(make)
    if let lost { persistence.removeEvents([lost], of: number) }
    persistence.addEvent(event, of: number, at: now)
    // On the disk before it is sent or its program is started: its number is never used for another event.
    persistence.note(.event)
    clients[client].rows.markDirty()
  }

  /// Removes acknowledged events, and stores the last one of each region.
  mutating func acknowledgeEvents(through number: UInt32, _ client: Int) {
    let numbers = clients[client].notices.acknowledge(through: number)
    let owner = clients[client].number
    persistence.recordHandled(numbers, of: owner, named: clients[client].regionNames, at: now)
    persistence.removeEvents(numbers, of: owner)
  }

  /// Discards all pending events and reports, which reveal where the board was (RNG-6).
  mutating func discardEvents(_ client: Int) {
    discardEvents(client) { _ in true }
    _ = clients[client].consumePendingReport()
  }

  /// Discards pending events.
  mutating func discardEvents(_ client: Int, where shouldDiscard: (WireNotice) -> Bool) {
    persistence.removeEvents(
      clients[client].notices.removeEvents { shouldDiscard($0.notice) }, of: clients[client].number)
  }

  // MARK: Regions

  /// Resets the history of an added region. Pending events of an earlier region with that name are discarded, so that
  /// they cannot become the last event of the new one (REG-13).
  mutating func beginHistory(
    of identifier: RegionIdentifier, _ region: WireRegion, _ client: Int
  ) {
    let number = clients[client].number
    persistence.setHandled(nil, identifier, of: number, at: now)
    guard let previous = persistence.region(identifier, of: number),
      previous.shape != .circle(Circle(center: region.center, radius: region.radius))
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

extension WireRegionEvent {
  /// Whether it is an event, and not the answer to a request of a process.
  fileprivate var outlivesProcess: Bool {
    switch change {
    case .entered, .exited, .monitor: true
    case .determined, .failed: false
    }
  }
}
