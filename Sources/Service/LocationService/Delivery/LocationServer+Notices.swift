import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Delivery of notices and events to a client's notice connection (RNG-5, REG-8, BKG-2).

extension LocationServer {
  /// Queues a notice for the client's process, if one is running. A process that reads too slowly is disconnected when
  /// the queue is full.
  mutating func enqueue(_ notice: Notice, _ client: Int) {
    guard let control = clients[client].control else { return }
    if !clients[client].notices.append(notice) { connections.end(control) }
  }

  /// Sends queued notices and events in the order of occurrence (REG-8), as far as the connection accepts them, then
  /// the diagnostics of sessions.
  mutating func sendNotices(_ client: Int, _ engine: borrowing Engine) {
    let isPermitted = clients.slots[client].access.authorization.isGranted
    let started = clients.slots[client].process?.startedServices ?? StartedServices()
    let use = clients.slots[client].use
    while let entry = clients.slots[client].notices.nextIndex(where: {
      isPermitted && started.includes($0, use)
    }), let index = noticeConnection(of: client) {
      switch clients.slots[client].notices.entries[entry] {
      case .event(let event):
        clients[client].notices.markSent(at: entry)
        reply(.notice(event.notice), continues: true, to: index)
        if let state = event.notice.stateAfterCrossing {
          reply(.notice(state), continues: true, to: index)
        }
      case .notice(.batch(let first, let last)):
        let (gap, fixes, next) = delivery.part(ofBatchFrom: first, through: last, engine)
        if let gap {
          countGap(gap)
          reply(.notice(.gap(gap)), continues: true, to: index)
        }
        if let start = fixes.first?.name.sequence {
          reply(.notice(.fixes(fixes)), continues: true, to: index)
          clients[client].markFixesSent(from: start)
        }
        if next <= last {
          clients[client].notices.replaceNotice(
            at: entry, with: .batch(first: next, last: last))
        } else {
          clients[client].notices.markSent(at: entry)
        }
      case .notice(let notice):
        clients[client].notices.markSent(at: entry)
        if let wire = delivery.wire(notice, named: clients.slots[client].regionNames) {
          reply(.notice(wire), continues: true, to: index)
        }
        markSent(notice, client)
      }
    }
    sendDiagnostics(client)
  }

  /// Counts a gap, and records what the report of a possible loss depends on.
  private mutating func markSent(_ notice: Notice, _ client: Int) {
    switch notice {
    case .gap(let gap):
      countGap(gap)
      if gap == delivery.unreportedLoss(of: clients[client]) { clients[client].markLossSent() }
    case .coarse(let fix): clients[client].markFixesSent(from: fix.name.sequence)
    case .finish, .batch, .failure, .authorization, .degraded, .paused, .resumed, .report, .visit,
      .region, .live, .liveRefused:
      break
    }
  }

  /// The client's notice connection, if the client is running (BKG-2) and the connection has output capacity.
  mutating func noticeConnection(of client: Int) -> Int? {
    guard let index = clients.slots[client].process?.deliveryConnection else { return nil }
    if connections.acceptsOutput(index) { return index }
    send(index)
    return connections.acceptsOutput(index) ? index : nil
  }

  /// Logs the clients to which a requested flush delivers nothing, because they receive no notices now, each with the
  /// number of its fixes.
  mutating func reportFlush(_ engine: borrowing Engine) {
    var entries: [String] = []
    for i in clients.indices
    where !clients[i].isVacant && clients[i].process?.deliveryConnection == nil {
      let count = engine.count(of: engine.backlog(of: ClientID(i)))
      let name = clients[i].name
      let fixes = count == 1 ? "1 fix" : "\(count) fixes"
      if count > 0 { entries.append("'\(name.name)' of user \(name.user) (\(fixes))") }
    }
    guard !entries.isEmpty else { return }
    let more = entries.count > 8 ? " and \(entries.count - 8) more" : ""
    logLine(
      of: nil, .notice,
      "a flush delivers nothing to clients that are suspended, not connected or not listening; their fixes stay "
        + "stored: \(entries.prefix(8).joined(separator: ", "))\(more)")
  }

  /// Sends changed diagnostics of sessions, as far as the connection accepts them (BKG-17).
  mutating func sendDiagnostics(_ client: Int) {
    while clients.slots[client].sessions.hasSessions, let index = noticeConnection(of: client),
      let (number, diagnostics) = clients[client].sessions.nextDiagnostics()
    {
      reply(.notice(.session(number, diagnostics)), continues: true, to: index)
    }
  }

  /// Pauses or resumes delivery: a client that is frozen, has no notice connection or does not read fast enough is
  /// suspended for the engine (BKG-2).
  mutating func updateDeliveryPause(_ client: Int) {
    guard let process = clients.slots[client].process, !process.usesGPSD else { return }
    let hasCapacity = process.watch.flatMap { connections[$0]?.hasOutputCapacity } ?? false
    let mustPause = process.mustPauseDelivery(
      hasCapacity: hasCapacity, isQueueEmpty: clients.slots[client].notices.noticeCount == 0)
    guard mustPause != process.isDeliveryPaused else { return }
    if let state = clients[client].setDeliveryPaused(mustPause) {
      submit(.setExecution(state), client)
    }
  }

  /// Discards unsent data that reveals where the board was, after a loss of rights (RNG-6).
  mutating func discardUnsent(_ client: Int) {
    clients[client].notices.removeNotices(where: \.revealsLocation)
    discardEvents(client)
    endDrains(of: client, includingReads: true)
    if clients[client].usesGPSD { discardUnsentGPSD(client) }
    guard let watch = clients[client].watch, connections[watch]?.output.text.isEmpty == false
    else { return }
    // The output may end in the middle of a frame.
    close(watch)
  }

  // MARK: Possible loss

  /// Queues the gap of a possible loss of fixes before any newer fix (RNG-4). It counts as reported when the client has
  /// acknowledged a fix after it.
  mutating func enqueueLoss(_ client: Int) {
    guard let loss = delivery.unreportedLoss(of: clients[client]), clients[client].queueLoss()
    else { return }
    enqueue(.gap(loss), client)
  }
}

extension WireNotice {
  /// `didDetermineState` after the enter or exit of a region (REG-8); nil for any other notice.
  fileprivate var stateAfterCrossing: WireNotice? {
    guard case .region(let event, _) = self else { return nil }
    switch event.change {
    case .entered:
      return .region(WireRegionEvent(event.kind, name: event.name, .determined(.inside)))
    case .exited:
      return .region(WireRegionEvent(event.kind, name: event.name, .determined(.outside)))
    case .determined, .monitor, .failed: return nil
    }
  }
}
