import LocationPolicy
import LocationTypes
import LocationWire

// Handling of calls: each becomes an answer, requests to the engine, or both. `dispatch(_:from:)` calls the handlers.

extension LocationServer {
  /// Handles a call, and adds its answer to the pending ones.
  mutating func handle(_ incoming: IncomingCall, from index: Int) {
    guard let connection = connections[index] else { return }
    // A call may close its own connection, and a new connection may reuse its index.
    guard let answer = dispatch(incoming.call, from: index), incoming.mode != .oneway,
      connections[index] === connection
    else { return }
    // Whether the acknowledged fix existed is checked with the engine. Clients without permission receive no such
    // answer, because it reveals the number of fixes (AUT-9).
    if case .acknowledge(let name) = incoming.call, case .durable(.done) = answer,
      mayReadLocation(index)
    {
      return addAnswer(.acknowledged(name), to: index)
    }
    addAnswer(answer, to: index)
  }

  // MARK: Callers

  /// Calls the handler of a method of a client's process.
  mutating func perform(
    _ call: WireCall, from index: Int, _ handler: (inout LocationServer, Int) -> WireReply
  ) -> PendingAnswer.Answer {
    guard let client = connections[index]?.controlledClient else {
      return answer(.error(.notConnected), to: call)
    }
    // Any call of a suspended client shows that its process runs, except silent ones.
    if clients[client].process?.execution == .suspended, !call.method.traits.contains(.silent) {
      applyExecution(.background, client)
    }
    return answer(handler(&self, client), to: call)
  }

  /// Calls the handler of a method of an administrator.
  mutating func administer(
    _ call: WireCall, from index: Int, _ handler: (inout LocationServer) -> WireReply
  ) -> PendingAnswer.Answer? {
    guard let connection = connections[index] else { return nil }
    let isPermitted = permissions.isAdministrator(connection.peer.user)
    return answer(isPermitted ? handler(&self) : .error(.permissionDenied), to: call)
  }

  private func answer(_ reply: WireReply, to call: WireCall) -> PendingAnswer.Answer {
    call.method.traits.contains(.durable) ? .durable(reply) : .ready(reply)
  }

  /// Submits a request of the client's process. A client with paused delivery stays suspended, although a request
  /// resumes a suspended client in the engine (BKG-2).
  @discardableResult
  private mutating func pass(_ request: Request, _ client: Int) -> WireReply {
    submit(request, client)
    if clients[client].isDeliveryPaused { submit(.setExecution(.suspended), client) }
    return .done
  }

  /// Sets the execution state, as reported by the process or inferred from a call.
  private mutating func applyExecution(_ state: ExecutionState, _ client: Int) {
    clients[client].setExecution(state)
    updateUse(client)
    if !clients[client].isDeliveryPaused { submit(.setExecution(state), client) }
  }

  // MARK: Handlers for any connection

  func getInfo(_ index: Int) -> PendingAnswer.Answer? {
    .ready(.info(WireServiceInfo(version: environment.version)))
  }

  func getInterfaceDescription(_ index: Int, _ name: String) -> PendingAnswer.Answer? {
    .ready(
      LocationInterface.text(of: name).map { .interfaceDescription($0) }
        ?? .error(.interfaceNotFound(name)))
  }

  // MARK: Updates

  mutating func startUpdating(_ client: Int) -> WireReply {
    clients[client].updateStartedServices { $0.updates = true }
    persistence.note(.updatesChange)
    enqueueLoss(client)
    return pass(.startUpdating, client)
  }

  mutating func stopUpdating(_ client: Int) -> WireReply {
    clients[client].updateStartedServices { $0.updates = false }
    persistence.note(.updatesChange)
    return pass(.stopUpdating, client)
  }

  mutating func configure(_ client: Int, _ settings: WireSettings) -> WireReply {
    if let allows = settings.allowsBackground {
      guard allowBackground(allows, client) else { return .error(.notAuthorized) }
    }
    for request in settings.requests { pass(request, client) }
    return .done
  }

  mutating func allowDeferred(
    _ client: Int, distance: Double, timeout: Double, slack: Double
  ) -> WireReply {
    pass(.allowDeferred(distance: distance, timeout: timeout, slack: slack), client)
  }

  mutating func disallowDeferred(_ client: Int) -> WireReply { pass(.disallowDeferred, client) }

  mutating func requestLocation(_ client: Int) -> WireReply { pass(.requestLocation, client) }

  mutating func acknowledge(_ client: Int, _ name: FixName) -> WireReply {
    clients[client].acknowledgeLoss(through: name)
    return pass(.acknowledge(name), client)
  }

  mutating func acknowledgeEvents(_ client: Int, _ number: UInt32) -> WireReply {
    acknowledgeEvents(through: number, client)
    return .done
  }

  mutating func setExecution(_ client: Int, _ state: ExecutionState) -> WireReply {
    applyExecution(state, client)
    return .done
  }

  // MARK: Services that outlive the process

  // They are stored, unless they are refused (AUT-10), and pending events become available (BKG-6).

  mutating func startSignificantChange(_ client: Int) -> WireReply {
    if !clients[client].access.authorization.isRefused {
      updateServices(client) { $0.significantChange = true }
    }
    pass(.startSignificantChange, client)
    if let report = clients[client].consumePendingReport() { enqueue(.report(report), client) }
    return .done
  }

  mutating func stopSignificantChange(_ client: Int) -> WireReply {
    updateServices(client) { $0.significantChange = false }
    return pass(.stopSignificantChange, client)
  }

  mutating func startVisits(_ client: Int) -> WireReply {
    clients[client].updateStartedServices { $0.visits = true }
    if !clients[client].access.authorization.isRefused {
      updateServices(client) { $0.visits = true }
    }
    return pass(.startVisits, client)
  }

  mutating func stopVisits(_ client: Int) -> WireReply {
    updateServices(client) { $0.visits = false }
    return pass(.stopVisits, client)
  }

  mutating func addRegion(
    _ client: Int, _ region: WireRegion, assuming state: MonitorState
  ) -> WireReply {
    guard let identifier = clients[client].regionNames.identifier(region.kind, named: region.name)
    else { return .error(.limitExceeded(what: "regions", limit: Int64(RegionNames.capacity))) }
    beginHistory(of: identifier, region, client)
    pass(.addRegion(region.region(numbered: identifier.number), assuming: state), client)
    updateUse(client)
    return .done
  }

  mutating func removeRegion(_ client: Int, _ kind: RegionKind, name: String) -> WireReply {
    guard let identifier = clients[client].regionNames.remove(kind, named: name) else {
      return .done
    }
    discardSilencedCrossings(of: identifier, client)
    pass(.removeRegion(identifier), client)
    updateUse(client)
    return .done
  }

  mutating func requestRegionState(_ client: Int, _ kind: RegionKind, name: String) -> WireReply {
    guard let identifier = clients[client].regionNames.identifier(ofKnown: kind, named: name)
    else { return .error(.invalidParameter("name")) }
    return pass(.requestRegionState(identifier), client)
  }

  // MARK: Live updates

  /// Opens a live iterator (LIV-9).
  mutating func openLive(_ client: Int, _ configuration: LiveConfiguration) -> WireReply {
    guard let number = clients[client].openLive() else {
      return .error(.limitExceeded(what: "live", limit: Int64(LiveUpdates.capacity)))
    }
    pass(.openLive(configuration), client)
    updateUse(client)
    return .opened(number)
  }

  mutating func closeLive(_ client: Int, _ number: Int) -> WireReply {
    clients[client].closeLive(number)
    pass(.closeLive(number), client)
    updateUse(client)
    return .done
  }
}
