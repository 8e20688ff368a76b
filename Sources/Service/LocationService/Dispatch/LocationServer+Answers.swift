import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Sends the pending answers at the end of a turn, with data of the engine (RNG-3).

extension LocationServer {
  /// Sends answers in the order of the calls.
  mutating func send(
    _ answers: [PendingAnswer], _ engine: borrowing Engine, _ effects: Effects, at now: Instant
  ) {
    for pending in answers {
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
      guard let client = connections[index]?.controlledClient,
        let process = clients[client].process
      else { return .error(.notConnected) }
      var session = WireSession(
        session: process.session, authorization: clients[client].access.authorization,
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
      return .regions(
        persistence.monitoredRegions(
          of: clients[client].number, includesState: clients[client].isPermitted))
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
}
