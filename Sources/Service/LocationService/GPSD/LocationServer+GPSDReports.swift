import GPSDProtocol
import LocationEngine
import LocationPolicy
import LocationTypes
import TextFormats

// Reports of gpsd's protocol, at the end of the turn: one write for each connection and fix, whose first object is the
// fix (programs that read one object per read keep only the first).

extension LocationServer {
  /// Receives a notice of a client of gpsd's protocol.
  mutating func receiveGPSD(_ notice: Notice, _ client: Int) {
    guard let position = gpsd.position(of: client) else { return }
    switch notice {
    case .batch(let first, let last):
      gpsd.update(position) { $0.receive(first...last) }
    case .report(let stored), .coarse(let stored):
      clients[client].noteGPSDAnswer()
      gpsd.update(position) { $0.holdAnswer(stored.fix) }
      submit(.acknowledge(stored.name), client)
    case .failure:
      clients[client].noteGPSDAnswer()
      gpsd.update(position) { $0.noteFailure() }
    case .finish(let code): gpsd.update(position) { $0.setMayDefer(code == nil) }
    case .gap, .authorization, .degraded, .paused, .resumed, .visit, .region, .live, .liveRefused:
      break
    }
  }

  /// Ends a turn: answers requests, reports fixes, and submits changed demands.
  mutating func finishGPSD(_ engine: borrowing Engine) {
    guard gpsd.connections.isEnabled else { return }
    gpsd.connections.resumeAccepting(at: now)
    for index in gpsd.connections.indices { handleGPSDRequests(index, engine) }
    for position in gpsd.clients.indices { reportGPSD(position, engine) }
    for index in gpsd.connections.indices.reversed() where gpsd.connections.send(index) {
      closeGPSD(index)
    }
    // After sending: a program that reads again needs fixes again.
    for position in gpsd.clients.indices { updateGPSDDemand(position) }
    gpsd.setDeadline(nextGPSDDeadline(engine))
  }

  // MARK: Fixes

  /// Reports the new fixes of a client, or that there is none.
  private mutating func reportGPSD(_ position: Int, _ engine: borrowing Engine) {
    readGPSDBatch(position, engine)
    let client = gpsd.clients[position].client
    guard clients.slots[client].isPermitted else { return refuseGPSD(position) }
    if !gpsd.clients[position].held.isEmpty {
      if isHeldBack(gpsd.clients[position]) { return }
      return sendGPSD(gpsd.update(position) { $0.takeHeld() }, position, engine)
    }
    let state = gpsd.clients[position]
    let isSilent = silenceEnd(of: state) <= now
    guard isSilent || (state.hasFailed && !state.demand.isUpdating) else { return }
    gpsd.update(position) { [now] in $0.noteReportedNone(at: now) }
    let texts = texts(of: .none, client, engine)
    for connection in gpsd.connections.slots {
      guard let connection, isReceiving(connection, client) else { continue }
      texts.append(to: connection)
    }
  }

  /// When a client must receive a report although there is no fix; `.distantFuture` for never. With reduced accuracy,
  /// fixes are rare, and nothing is reported between them.
  private func silenceEnd(of state: GPSDClient) -> Instant {
    state.demand == .live && !clients.slots[state.client].access.isReduced
      ? state.lastReport + GPSDPart.silence : .distantFuture
  }

  /// Reads the fixes of the ring, and acknowledges them: what a program does not read is lost to it.
  private mutating func readGPSDBatch(_ position: Int, _ engine: borrowing Engine) {
    guard let batch = gpsd.update(position, { $0.takeBatch() }) else { return }
    let client = gpsd.clients[position].client
    let first = max(batch.lowerBound, batch.upperBound &- UInt64(GPSDClient.heldCapacity - 1))
    for sequence in min(first, batch.upperBound)...batch.upperBound {
      guard let stored = engine.stored(at: sequence) else { continue }
      if engine.withClient(ClientID(client), { $0.mayReceive(stored.fix) }) {
        gpsd.update(position) { $0.hold(stored.fix) }
      }
      if sequence == batch.upperBound { submit(.acknowledge(stored.name), client) }
    }
    guard gpsd.clients[position].mayDefer, case .deferred(let time) = gpsd.clients[position].demand
    else { return }
    gpsd.update(position) { $0.setMayDefer(false) }
    submit(.allowDeferred(distance: LocationLimits.distanceMax, timeout: time.seconds), client)
  }

  /// Whether single fixes wait for later ones, so that their programs wake less often.
  private func isHeldBack(_ state: GPSDClient) -> Bool {
    guard case .every(let interval, _) = state.demand, let oldest = state.held.first else {
      return false
    }
    guard let time = holdTime(of: state.client) else { return false }
    return now + interval < oldest.acquired + time
  }

  /// The shortest time for which all programs of a client permit to hold fixes back; nil if one permits none.
  private func holdTime(of client: Int) -> Interval? {
    var shortest: Interval?
    for connection in gpsd.connections.slots {
      guard let connection, connection.client == client, connection.policy.isStreaming
      else { continue }
      guard let time = savingOfGPSD(connection).defer_s else { return nil }
      shortest = min(shortest ?? .unlimited, Interval(seconds: time))
    }
    return shortest
  }

  /// Sends fixes to the programs of a client: the newest, or all to programs that have named how long fixes may be held
  /// back.
  private mutating func sendGPSD(
    _ fixes: [Fix], _ position: Int, _ engine: borrowing Engine
  ) {
    let client = gpsd.clients[position].client
    var reports: [GPSDReport] = []
    for fix in fixes {
      reports.append(GPSDReport(fix, utc: utc(of: fix), after: gpsd.clients[position].newest))
      gpsd.update(position) { [now] in $0.noteReported(fix, at: now) }
    }
    guard let newest = reports.popLast() else { return }
    let texts = texts(of: newest, client, engine)
    for connection in gpsd.connections.slots {
      guard let connection, isReceiving(connection, client) else { continue }
      if connection.policy.saving.defer_s != nil {
        for report in reports where isDue(report, connection) { sendAlone(report, to: connection) }
      }
      guard isDue(newest, connection) else { continue }
      texts.append(to: connection)
      if let acquired = newest.fix?.acquired { connection.noteSent(acquired) }
    }
  }

  /// Sends a report without satellites to a program.
  private func sendAlone(_ report: GPSDReport, to connection: GPSDConnection) {
    GPSDTexts.append(report, gpsd.device, to: connection)
    if let acquired = report.fix?.acquired { connection.noteSent(acquired) }
  }

  /// Sends the last fix, or that there is none, to a program that begins to receive reports, if the next one may come
  /// late: because of savings or of reduced accuracy.
  mutating func sendFirstGPSDReport(_ connection: GPSDConnection, _ engine: borrowing Engine) {
    guard let client = connection.client, clients[client].isPermitted else { return }
    let saving = savingOfGPSD(connection)
    guard clients[client].access.isReduced || GPSDDemand(saving) != .live else { return }
    let age = Interval(seconds: saving.interval_s ?? 0)
    sendAlone(latestGPSDReport(client, engine, atLeast: age), to: connection)
  }

  private func texts(
    of report: GPSDReport, _ client: Int, _ engine: borrowing Engine
  ) -> GPSDTexts {
    let hasSentences = gpsd.connections.slots.contains {
      $0?.client == client && $0?.policy.nmea == true
    }
    var times: GPSDTimes?
    if let utc = report.fix?.utc, let epoch = engine.epochTime, epoch.utc == utc {
      times = GPSDTimes(epoch) { wallTime($0) }
    }
    return GPSDTexts(
      report, satellites(for: client, engine), gpsd.device, times, hasSentences: hasSentences)
  }

  /// The satellites in view that a client may receive.
  func satellites(for client: Int, _ engine: borrowing Engine) -> SatelliteView? {
    let access = clients.slots[client].access
    return access.authorization.isGranted && !access.isReduced
      ? engine.satellites(at: now) : nil
  }

  /// Whether a program receives the satellites in view: only then the receiver sends them.
  public var watchesSatellites: Bool {
    gpsd.clients.contains { state in
      state.demand == .live && !clients.slots[state.client].access.isReduced
    }
  }

  /// Whether a program of a client receives reports now.
  private func isReceiving(_ connection: GPSDConnection, _ client: Int) -> Bool {
    connection.client == client && connection.policy.isStreaming && connection.hasOutputCapacity
  }

  /// Whether the interval of a program since its last fix is over.
  private func isDue(_ report: GPSDReport, _ connection: GPSDConnection) -> Bool {
    guard let fix = report.fix, let newest = connection.newestSent,
      let interval = savingOfGPSD(connection).interval_s
    else { return true }
    return fix.acquired - newest >= GPSDClient.dueTime(Interval(seconds: interval))
  }

  /// Reports once to each program of a client without permission that there is no fix.
  private mutating func refuseGPSD(_ position: Int) {
    let client = gpsd.clients[position].client
    if gpsd.clients[position].newest != nil || !gpsd.clients[position].held.isEmpty {
      gpsd.update(position) { $0.forget() }
    }
    for connection in gpsd.connections.slots {
      guard let connection, connection.client == client, connection.policy.isStreaming,
        !connection.isRefusalSent
      else { continue }
      connection.noteRefusalSent()
      GPSDTexts.append(.none, gpsd.device, to: connection)
    }
  }

  // MARK: Answers

  /// The newest fix that a client may receive, unless it is too old.
  ///
  /// - Parameter age: An age at which it is not too old.
  func latestGPSDReport(
    _ client: Int, _ engine: borrowing Engine, atLeast age: Interval = .zero
  ) -> GPSDReport {
    guard let position = gpsd.position(of: client) else { return .none }
    let state = gpsd.clients[position]
    var fix = state.newest
    for stored in [engine.location(of: ClientID(client)), engine.newestStored] {
      guard let other = stored?.fix, other.acquired > fix?.acquired ?? .boot,
        !clients.slots[client].access.isReduced,
        engine.withClient(ClientID(client), { $0.mayReceive(other) })
      else { continue }
      fix = other
    }
    var limit =
      clients.slots[client].access.gpsd.staleAfter_s.map { Interval(seconds: $0) }
      ?? GPSDPart.staleAfter
    if clients.slots[client].access.isReduced {
      limit = max(limit, AccuracyReduction.shortestInterval * 2)
    }
    guard let fix, now - fix.acquired <= max(limit, age) else { return .none }
    return GPSDReport(
      fix, utc: utc(of: fix), after: fix == state.newest ? state.previous : state.newest)
  }

  /// Sends fixes of the past, oldest first, and whether these are all.
  mutating func sendGPSDHistory(
    since start: UTCTime, _ connection: GPSDConnection, _ engine: borrowing Engine
  ) {
    guard let client = connection.client else {
      return connection.write { $0.gpsdError("?TORPOR needs a ?WATCH with enable true before it") }
    }
    let first = firstOfGPSDHistory(since: start, client, engine)
    let end = min(engine.head, first + GPSDPart.historyLength)
    var count = 0
    for sequence in first..<end {
      guard let stored = engine.stored(at: sequence) else { continue }
      count += 1
      let report = GPSDReport(stored.fix, utc: utc(of: stored.fix))
      connection.write { $0.gpsdTPV(report, gpsd.device) }
    }
    connection.write {
      $0.gpsdHistoryEnd(count: count, isComplete: end == engine.head)
    }
  }

  /// Sequence number of the first fix from a time on that a client may receive; the head if there is none.
  ///
  /// No fix from before its first program was attached: it may have had no permission then, or reduced accuracy (RNG-6).
  /// A client that may use location only while it is in use: from before its present programs. Binary search, because
  /// fixes are in the order of their times; a destroyed fix is represented by the next one.
  private func firstOfGPSDHistory(
    since start: UTCTime, _ client: Int, _ engine: borrowing Engine
  ) -> UInt64 {
    guard let position = gpsd.position(of: client), clients.slots[client].isPermitted,
      !clients.slots[client].access.isReduced
    else { return engine.head }
    let own = gpsd.clients[position].start
    let limit =
      clients.slots[client].access.authorization == .always
      ? clients.slots[client].gpsdStart ?? own : own
    var low = max(limit.sequence, engine.head - UInt64(engine.fixesInRing))
    var high = engine.head
    while low < high {
      let middle = low + (high - low) / 2
      guard let stored = engine.nextFix(from: middle, before: high) else {
        high = middle
        continue
      }
      if stored.fix.acquired >= limit.time, utc(of: stored.fix).map({ $0 >= start }) ?? true,
        engine.withClient(ClientID(client), { $0.mayReceive(stored.fix) })
      {
        high = middle
      } else {
        low = stored.name.sequence + 1
      }
    }
    return low
  }

  /// The time of a fix: its own, else of the receiver's clock; nil if unknown. The time of the system's clock is not that
  /// of the receiver.
  private func utc(of fix: Fix) -> UTCTime? {
    fix.utc ?? delivery.utcOffset.utc(fix.acquired)
  }

  // MARK: Deadlines

  /// Earliest time at which the service must run for a program, although no descriptor is ready.
  private func nextGPSDDeadline(_ engine: borrowing Engine) -> Instant {
    var next = gpsd.connections.acceptsAt ?? .distantFuture
    for connection in gpsd.connections.slots {
      guard let connection else { continue }
      let isWaiting = !connection.pending.isEmpty && connection.hasOutputCapacity
      // A user without permission must not wake the board (RES-6).
      guard isWaiting || connection.lastPoll != nil,
        permissions.standing(of: connection.user) != .unpermitted
      else { continue }
      if isWaiting {
        let account = permissions.account(of: connection.user)
        next = min(next, gpsd.connections.nextRequest(of: account, at: now))
      }
      if let poll = connection.lastPoll, !connection.policy.isStreaming,
        poll + GPSDPart.pollTime > now
      {
        next = min(next, poll + GPSDPart.pollTime)
      }
    }
    for client in gpsd.clients {
      next = min(next, client.nextRequest)
      // With a low battery, the board may sleep between fixes: it is not woken to report that there is none.
      if case .live = engine.withClient(ClientID(client.client), { $0.demand(at: now) }) {
        next = min(next, silenceEnd(of: client))
      }
    }
    return next
  }
}
