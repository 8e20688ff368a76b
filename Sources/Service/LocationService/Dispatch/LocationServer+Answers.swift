import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Answers and notices that require data of the engine.

extension LocationServer {
  mutating func sendAnswers(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) {
    guard !answers.isEmpty else { return }
    for pending in answers.removeAll() {
      switch pending.answer {
      case .ready(let answer): reply(answer, to: pending.connection)
      case .durable(let answer):
        reply(persistence.hasFailed ? answer.notDurable : answer, to: pending.connection)
      case .acknowledged(let name):
        let answer: WireReply =
          engine.mayHaveNamed(name)
          ? .done
          : .error(
            .unknownFix(
              generation: engine.generation, first: engine.generationStart, next: engine.head))
        reply(persistence.hasFailed ? answer.notDurable : answer, to: pending.connection)
      case .fromEngine(let incoming):
        let index = pending.connection
        if incoming.call.isUpgrade {
          beginDrain(incoming.call, index, engine)
          continue
        }
        reply(answer(to: incoming.call, from: index, engine, effects, at: now), to: index)
      }
    }
  }

  private func answer(
    to call: WireCall, from index: Int, _ engine: borrowing Engine, _ effects: Effects,
    at now: Instant
  ) -> WireReply {
    switch call {
    case .connect:
      guard let client = connections[index]?.controlledClient else {
        return .error(.notConnected)
      }
      var session = WireSession(
        session: clients[client].session, authorization: clients[client].access.authorization,
        isReduced: clients[client].access.isReduced,
        isDeferralAvailable: engine.isDeferralAvailable)
      session.launchReason = clients[client].launch.runningReason
      return .connected(session)
    case .getLocation:
      guard let client = connections[index]?.controlledClient else {
        return .error(.notConnected)
      }
      guard clients[client].access.authorization.isGranted else { return .error(.notAuthorized) }
      return .location(engine.location(of: ClientID(client)))
    case .listRegions:
      guard let client = connections[index]?.controlledClient else {
        return .error(.notConnected)
      }
      return .regions(monitoredRegions(of: client))
    case .getStatus: return .status(status(engine, effects, for: index, at: now))
    case .getPowerPlan:
      return mayReadLocation(index) ? .plan(plan(engine, effects)) : .error(.notAuthorized)
    case .getEnergy:
      guard mayReadLocation(index) else { return .error(.notAuthorized) }
      guard let energy = energy(at: now) else { return .error(.notAvailable(what: "energy")) }
      return .energy(energy)
    default: preconditionFailure("a call that is answered without the engine")
    }
  }

  func utc(_ time: Instant) -> UTCTime? { utcOffset.utc(time) }

  /// Stores a notice that outlives the client's process. Returns false for any other notice, which must be queued.
  mutating func storeDurable(_ notice: Notice, _ client: Int) -> Bool {
    let crossed = clients[client].crossedRegion
    clients[client].crossedRegion = nil
    switch notice {
    case .visit(let visit):
      queueEvent(client) { .visit(visit, number: $0) }
      requestLaunch(.visit, client)
    case .region(let event):
      let wireEvent = wire(event, client)
      // The state after a crossing is sent together with the crossing (REG-8).
      if case .determined(let identifier, _) = event, identifier == crossed { return true }
      guard wireEvent.outlivesProcess else { return false }
      clients[client].crossedRegion = event.identifier
      queueEvent(client) { .region(wireEvent, number: $0) }
      requestLaunch(.region, client)
    case .report(let fix):
      guard clients[client].control == nil else { return false }
      clients[client].pendingReport = fix
      requestLaunch(.significantChange, client)
    case .gap, .finish, .batch, .coarse, .failure, .authorization, .degraded, .paused, .resumed,
      .live, .liveRefused:
      return false
    }
    return true
  }

  /// Queues a notice for the client's process, if one is running. A process that reads too slowly is disconnected when
  /// the queue is full.
  mutating func enqueue(_ notice: Notice, _ client: Int) {
    guard let control = clients[client].control else { return }
    if !clients[client].notices.append(notice) { connections.end(control) }
  }

  /// Sends queued notices and events in the order of occurrence (REG-8), as far as the connection accepts them, then
  /// the diagnostics of sessions.
  mutating func sendNotices(_ client: Int, _ engine: borrowing Engine) {
    let mayKnow = clients[client].access.authorization.isGranted
    let started = clients[client].startedServices
    let use = clients[client].use
    while let entry = clients[client].notices.nextIndex(where: {
      mayKnow && started.includes($0, use)
    }), let index = noticeConnection(of: client) {
      switch clients[client].notices.entries[entry] {
      case .event(let event):
        clients[client].notices.markSent(at: entry)
        reply(.notice(event.notice), continues: true, to: index)
        if let state = event.notice.stateAfterCrossing {
          reply(.notice(state), continues: true, to: index)
        }
      case .notice(.batch(let first, let last)):
        let next = writeBatch(first, last, to: index, engine)
        if next <= last {
          clients[client].notices.replaceNotice(at: entry, with: .batch(first: next, last: last))
        } else {
          clients[client].notices.markSent(at: entry)
        }
      case .notice(let notice):
        clients[client].notices.markSent(at: entry)
        if case .gap(let gap) = notice, gap.mayBeMore {
          _ = consumeLoss(client)
          clients[client].isDirty = true  // the durable row still contains the loss
        }
        if let wire = wire(notice, client) { reply(.notice(wire), continues: true, to: index) }
      }
    }
    sendDiagnostics(client)
  }

  /// The client's notice connection, if the client is running (BKG-2) and the connection has output capacity.
  mutating func noticeConnection(of client: Int) -> Int? {
    guard !clients[client].isFrozen, clients[client].execution != .suspended,
      let index = clients[client].watch, connections[index]?.isEnding == false
    else { return nil }
    if connections[index]?.hasOutputCapacity == true { return index }
    send(index)
    return connections[index]?.hasOutputCapacity == true ? index : nil
  }

  /// Logs the clients to which a requested flush delivers nothing, because they receive no notices now, each with the
  /// number of its fixes.
  mutating func reportFlush(_ engine: borrowing Engine) {
    var entries: [String] = []
    for i in clients.indices where !clients[i].isVacant && !clients[i].receivesNotices {
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

  /// Writes one reply with fixes of a batch. Fixes overwritten in between are reported as a gap before them (RNG-4).
  /// Returns the sequence number after the last fix.
  private mutating func writeBatch(
    _ first: UInt64, _ last: UInt64, to index: Int, _ engine: borrowing Engine
  ) -> UInt64 {
    var next = first
    var stored = engine.stored(at: next)
    while next <= last, stored == nil {
      next += 1
      stored = engine.stored(at: next)
    }
    if next > first {
      let later = stored.map { FixTime(acquired: $0.fix.acquired, utc: $0.fix.utc) }
      reply(.notice(.gap(Gap(first..<next, from: nil, to: later))), continues: true, to: index)
    }
    // Collected before encoding, because a closure cannot borrow the engine.
    var fixes: [StoredFix] = []
    while next <= last, fixes.count < WireLimits.fixesPerReply, let fix = stored {
      fixes.append(fix)
      next += 1
      if next <= last { stored = engine.stored(at: next) }
    }
    if !fixes.isEmpty { reply(.notice(.fixes(fixes)), continues: true, to: index) }
    return next
  }

  private func wire(_ notice: Notice, _ client: Int) -> WireNotice? {
    switch notice {
    case .gap(let gap): .gap(gap)
    case .finish(let code): .finished(code)
    case .batch: nil
    case .failure(let code): .failure(code)
    case .authorization(let authorization, let isReduced):
      .authorization(authorization, isReduced: isReduced)
    case .degraded(let levels): .degraded(levels)
    case .paused: .paused
    case .resumed: .resumed
    case .report(let fix): .report(fix)
    case .coarse(let fix): .fixes([fix])
    case .visit(let visit): .visit(visit)
    case .region(let event): .region(wire(event, client))
    case .live(let element): .live(element)
    // The server counts iterators itself and refuses an excess one in its call.
    case .liveRefused: nil
    }
  }

  private func wire(_ event: RegionEvent, _ client: Int) -> WireRegionEvent {
    let offset = utcOffset
    return WireRegionEvent(
      event, name: clients[client].regionNames.name(of: event.identifier), utc: offset.utc)
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

extension WireRegionEvent {
  /// Whether it is an event, and not the answer to a request of a process.
  fileprivate var outlivesProcess: Bool {
    switch change {
    case .entered, .exited, .monitor: true
    case .determined, .failed: false
    }
  }
}
