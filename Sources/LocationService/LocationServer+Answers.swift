import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// What clients are told, out of the engine.

extension LocationServer {
  mutating func answerQuestions(
    _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) {
    guard !questions.isEmpty else { return }
    let asked = questions
    questions.removeAll(keepingCapacity: true)
    for (index, incoming) in asked {
      reply(answer(to: incoming.call, from: index, engine, effects, at: now), to: index)
    }
  }

  private func answer(
    to call: WireCall, from index: Int, _ engine: borrowing Engine, _ effects: Effects,
    at now: Instant
  ) -> WireReply {
    switch call {
    case .connect:
      guard case .control(let client)? = connections[index]?.purpose else {
        return .error(.notConnected)
      }
      return .connected(
        WireSession(
          session: clients[client].session, authorization: clients[client].access.authorization,
          isReduced: clients[client].access.isReduced,
          isDeferralAvailable: engine.isDeferralAvailable))
    case .getLocation:
      guard case .control(let client)? = connections[index]?.purpose else {
        return .error(.notConnected)
      }
      guard clients[client].access.authorization.isGranted else { return .error(.notAuthorized) }
      return .location(engine.location(of: ClientID(client)))
    case .getStatus: return .status(status(engine, effects, for: index, at: now))
    case .getPowerPlan:
      return mayKnow(index) ? .plan(plan(engine, effects)) : .error(.notAuthorized)
    case .getEnergy:
      guard let energy = energy(at: now) else { return .error(.notAvailable(what: "energy")) }
      return .energy(energy)
    default: return .error(.notAvailable(what: "drain"))
    }
  }

  func utc(_ time: Instant) -> UTCTime? {
    utcOffset.map { UTCTime(microseconds: time.microseconds + $0) }
  }

  /// Writes a client's notices, as long as it takes them.
  mutating func tell(_ client: Int, _ engine: borrowing Engine) {
    while let index = clients[client].watch, let connection = connections[index],
      !connection.isEnding, let notice = clients[client].notices.first
    {
      if !connection.hasRoom {
        send(index)
        guard connections[index]?.hasRoom == true else { return }
      }
      clients[client].notices.removeFirst()
      if case .batch(let first, let last) = notice {
        let next = writeBatch(first, last, to: index, engine)
        if next <= last { clients[client].notices.insert(.batch(first: next, last: last), at: 0) }
      } else if let wire = wire(notice, client) {
        reply(.notice(wire), continues: true, to: index)
      }
    }
  }

  /// Writes a reply of fixes, and what was overwritten while it waited as a gap before them (RNG-4);
  /// gives the sequence number behind the last.
  private mutating func writeBatch(
    _ first: UInt64, _ last: UInt64, to index: Int, _ engine: borrowing Engine
  ) -> UInt64 {
    var next = first
    while next <= last, engine.stored(at: next) == nil { next += 1 }
    if next > first {
      let later = engine.stored(at: next).map {
        FixTime(acquired: $0.fix.acquired, utc: $0.fix.utc)
      }
      reply(.notice(.gap(Gap(first..<next, from: nil, to: later))), continues: true, to: index)
    }
    // Read before they are written: a closure cannot borrow the engine.
    var fixes: [StoredFix] = []
    while next <= last, fixes.count < WireLimits.fixesPerReply, let fix = engine.stored(at: next) {
      fixes.append(fix)
      next += 1
    }
    if !fixes.isEmpty { reply(.notice(.fixes(fixes)), continues: true, to: index) }
    return next
  }

  private func wire(_ notice: Notice, _ client: Int) -> WireNotice? {
    let offset = utcOffset
    return switch notice {
    case .gap(let gap): .gap(gap)
    case .finish(let code): .finished(code)
    case .batch: nil
    case .failure(let code): .failure(code)
    case .authorization(let authorization, let isReduced):
      .authorization(authorization, isReduced: isReduced)
    case .degraded(let promises): .degraded(promises)
    case .paused: .paused
    case .resumed: .resumed
    case .report(let fix): .report(fix)
    case .visit(let visit): .visit(visit)
    case .region(let event):
      .region(
        WireRegionEvent(event, name: clients[client].name(of: event.identifier)) { time in
          offset.map { UTCTime(microseconds: time.microseconds + $0) }
        })
    case .live(let element): .live(element)
    // The server counts iterators itself, and refuses that one when it is asked for.
    case .liveRefused: nil
    }
  }
}
