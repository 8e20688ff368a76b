import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Sends the pending answers at the end of a turn, and the handlers of methods that need the engine (RNG-3).

extension LocationServer {
  /// Sends answers in the order of the calls.
  mutating func send(
    _ answers: [PendingAnswer], _ engine: borrowing Engine, _ effects: Effects
  ) {
    for pending in answers {
      switch pending.answer {
      case .ready(let answer): reply(answer, to: pending.connection)
      case .durable(let answer): replyDurably(answer, to: pending.connection)
      case .acknowledged(let name):
        replyDurably(
          engine.mayHaveNamed(name)
            ? .done
            : .error(
              .unknownFix(
                generation: engine.generation, first: engine.generationStart, next: engine.head)),
          to: pending.connection)
      case .fromEngine(let query):
        if let answer = query(&self, engine, effects) { reply(answer, to: pending.connection) }
      }
    }
  }

  /// Answers after a flush; with an error if it has failed.
  private mutating func replyDurably(_ answer: WireReply, to index: Int) {
    reply(persistence.hasFailed ? answer.notDurable : answer, to: index)
  }

  /// An answer that needs the engine, for any caller.
  func query(_ body: @escaping PendingAnswer.Query) -> PendingAnswer.Answer { .fromEngine(body) }

  /// An answer that needs the engine, for the client of a connection.
  func queryClient(
    from index: Int,
    _ body: @escaping (inout LocationServer, Int, borrowing Engine) -> WireReply
  ) -> PendingAnswer.Answer {
    .fromEngine { server, engine, _ in
      guard let client = server.connections[index]?.controlledClient else {
        return .error(.notConnected)
      }
      return body(&server, client, engine)
    }
  }

  // MARK: Handlers

  func getLocation(_ client: Int, _ engine: borrowing Engine) -> WireReply {
    guard clients[client].access.authorization.isGranted else { return .error(.notAuthorized) }
    return .location(engine.location(of: ClientID(client)))
  }

  func listRegions(_ client: Int, _: borrowing Engine) -> WireReply {
    .regions(
      persistence.monitoredRegions(
        of: clients[client].number, includesState: clients[client].isPermitted))
  }

  func getStatus(_ index: Int, _ engine: borrowing Engine, _ effects: Effects) -> WireReply {
    .status(status(engine, effects, for: index, at: now))
  }

  func getPowerPlan(_ index: Int, _ engine: borrowing Engine, _ effects: Effects) -> WireReply {
    mayReadLocation(index) ? .plan(plan(engine, effects)) : .error(.notAuthorized)
  }

  func getEnergy(_ index: Int, _: borrowing Engine, _: Effects) -> WireReply {
    guard mayReadLocation(index) else { return .error(.notAuthorized) }
    guard let energy = energy(at: now) else { return .error(.notAvailable(what: "energy")) }
    return .energy(energy)
  }

  func getMetrics(_ index: Int, _ engine: borrowing Engine, _: Effects) -> WireReply {
    mayReadLocation(index) ? .metrics(metrics(engine, at: now).text) : .error(.notAuthorized)
  }
}
