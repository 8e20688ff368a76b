import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Handling of calls: each becomes an answer, requests to the engine, or both.

extension LocationServer {
  /// Handles a call, and adds its answer to the pending ones.
  mutating func handle(_ incoming: IncomingCall, from index: Int) {
    let connection = connections[index]
    // A call may close its own connection, and a new connection may reuse its index.
    guard let reply = reply(to: incoming, from: index), incoming.mode != .oneway,
      connections[index] === connection
    else { return }
    // Whether the acknowledged fix existed is checked with the engine. Clients without permission receive no such
    // answer, because it reveals the number of fixes (AUT-9).
    if case .acknowledge(let name) = incoming.call, reply == .done, mayReadLocation(index) {
      return addAnswer(.acknowledged(name), to: index)
    }
    addAnswer(incoming.call.isDurable ? .durable(reply) : .ready(reply), to: index)
  }

  /// The answer, if it does not depend on the engine; nil if it does, or if the call has no answer.
  private mutating func reply(to incoming: IncomingCall, from index: Int) -> WireReply? {
    guard let connection = connections[index] else { return nil }
    switch incoming.call {
    case .getInfo: return .info(WireServiceInfo(version: environment.version))
    case .getInterfaceDescription(let name):
      guard let text = LocationInterface.text(of: name) else {
        return .error(.interfaceNotFound(name))
      }
      return .interfaceDescription(text)
    case .connect(let name, let needsExplicit):
      if let refusal = connect(name, needsExplicit, from: index) { return refusal }
      if incoming.mode != .oneway { addAnswer(.fromEngine(incoming), to: index) }
      return nil
    case .watch(let session): return watch(session, from: index)
    case .getLocation, .getStatus, .getPowerPlan, .getEnergy, .drain, .readBacklog, .listRegions:
      if incoming.mode != .oneway { addAnswer(.fromEngine(incoming), to: index) }
      return nil
    case .listClients, .allowClient, .denyClient, .reduceClient, .forgetClient, .flush:
      guard permissions.isAdministrator(connection.peer.user) else {
        return .error(.permissionDenied)
      }
      return administer(incoming.call)
    case .startUpdating, .stopUpdating, .configure, .allowDeferred, .disallowDeferred,
      .setExecution, .acknowledge, .acknowledgeEvents, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive, .requestAuthorization, .openServiceSession,
      .closeServiceSession, .openBackgroundSession, .closeBackgroundSession:
      guard let client = connection.controlledClient else { return .error(.notConnected) }
      return perform(incoming.call, of: client)
    }
  }

  // MARK: Requests

  /// Submits a request of the client's process. A client with paused delivery stays suspended, although a request
  /// resumes a suspended client in the engine (BKG-2).
  private mutating func submitFromProcess(_ request: Request, _ client: Int) {
    submit(request, client)
    if clients[client].isDeliveryPaused { submit(.setExecution(.suspended), client) }
  }

  /// Performs a call of a client's process.
  private mutating func perform(_ call: WireCall, of client: Int) -> WireReply? {
    // Any call of a suspended client shows that its process runs, except acknowledgements and the execution state.
    if clients[client].process?.execution == .suspended, call.impliesRunning {
      setExecution(.background, client)
    }
    switch call {
    case .configure(let settings):
      if let allows = settings.allowsBackground {
        guard allowBackground(allows, client) else { return .error(.notAuthorized) }
      }
      for request in settings.requests { submitFromProcess(request, client) }
    case .setExecution(let state): setExecution(state, client)
    case .addRegion(let region, let assumed):
      guard let identifier = clients[client].regionNames.identifier(region.kind, named: region.name)
      else {
        return .error(.limitExceeded(what: "regions", limit: Int64(RegionNames.capacity)))
      }
      beginHistory(of: identifier, region, client)
      submitFromProcess(
        .addRegion(region.region(numbered: identifier.number), assuming: assumed), client)
      updateUse(client)
    case .removeRegion(let kind, let name):
      guard let identifier = clients[client].regionNames.remove(kind, named: name) else { break }
      discardSilencedCrossings(of: identifier, client)
      submitFromProcess(.removeRegion(identifier), client)
      updateUse(client)
    case .acknowledgeEvents(let number): acknowledgeEvents(through: number, client)
    case .startUpdating, .stopUpdating, .startSignificantChange, .stopSignificantChange,
      .startVisits, .stopVisits:
      startOrStop(call, client)
    case .requestRegionState(let kind, let name):
      guard let identifier = clients[client].regionNames.identifier(ofKnown: kind, named: name)
      else {
        return .error(.invalidParameter("name"))
      }
      submitFromProcess(.requestRegionState(identifier), client)
    case .openLive(let configuration): return openLive(configuration, client)
    case .closeLive(let number):
      clients[client].closeLive(number)
      submitFromProcess(.closeLive(number), client)
      updateUse(client)
    case .requestAuthorization, .openServiceSession, .closeServiceSession, .openBackgroundSession,
      .closeBackgroundSession:
      return useSession(call, client)
    default:
      guard let request = call.request else { preconditionFailure("a call without a request") }
      submitFromProcess(request, client)
    }
    return .done
  }

  /// Sets the execution state, as reported by the process or inferred from a call.
  private mutating func setExecution(_ state: ExecutionState, _ client: Int) {
    clients[client].setExecution(state)
    updateUse(client)
    if !clients[client].isDeliveryPaused { submit(.setExecution(state), client) }
  }

  /// Starts or stops a service. Stores services that outlive the process, and makes pending events available (BKG-6).
  private mutating func startOrStop(_ call: WireCall, _ client: Int) {
    // A refused service is not stored (AUT-10).
    let isRefused = clients[client].access.authorization.isRefused
    switch call {
    case .startUpdating:
      clients[client].updateStartedServices { $0.updates = true }
      persistence.note(.updatesChange)
      enqueueLoss(client)
    case .stopUpdating:
      clients[client].updateStartedServices { $0.updates = false }
      persistence.note(.updatesChange)
    case .startSignificantChange:
      clients[client].updateStartedServices { $0.significantChange = true }
      if !isRefused { updateServices(client) { $0.significantChange = true } }
    case .stopSignificantChange: updateServices(client) { $0.significantChange = false }
    case .startVisits:
      clients[client].updateStartedServices { $0.visits = true }
      if !isRefused { updateServices(client) { $0.visits = true } }
    case .stopVisits: updateServices(client) { $0.visits = false }
    default: preconditionFailure("a call that starts or stops no service")
    }
    if let request = call.request { submitFromProcess(request, client) }
    if call == .startSignificantChange,
      let report = clients[client].consumePendingReport()
    {
      enqueue(.report(report), client)
    }
  }

  /// Opens a live iterator (LIV-9).
  private mutating func openLive(_ configuration: LiveConfiguration, _ client: Int) -> WireReply {
    guard let number = clients[client].openLive() else {
      return .error(.limitExceeded(what: "live", limit: Int64(LiveUpdates.capacity)))
    }
    submitFromProcess(.openLive(configuration), client)
    updateUse(client)
    return .opened(number)
  }
}

extension WireCall {
  /// Whether the call implies that the calling program is running.
  fileprivate var impliesRunning: Bool {
    switch self {
    case .setExecution, .acknowledge, .acknowledgeEvents: false
    default: true
    }
  }
}
