import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Handling of calls.

extension LocationServer {
  mutating func handle(_ incoming: IncomingCall, from index: Int) {
    let connection = connections[index]
    // A call may close its own connection, and a new connection may reuse its index.
    guard let reply = reply(to: incoming, from: index), incoming.mode != .oneway,
      connections[index] === connection
    else { return }
    // Whether the acknowledged fix existed is checked with the engine. Clients without permission receive no such
    // answer, because it reveals the number of fixes (AUT-9).
    if case .acknowledge(let name) = incoming.call, reply == .done, mayReadLocation(index) {
      return answers.append(.acknowledged(name), to: index)
    }
    answers.append(incoming.call.isDurable ? .durable(reply) : .ready(reply), to: index)
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
      if incoming.mode != .oneway { answers.append(.fromEngine(incoming), to: index) }
      return nil
    case .watch(let session): return watch(session, from: index)
    case .getLocation, .getStatus, .getPowerPlan, .getEnergy, .drain, .readBacklog, .listRegions:
      if incoming.mode != .oneway { answers.append(.fromEngine(incoming), to: index) }
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

  // MARK: Sessions

  /// Makes the connection the control connection of a client; the previous one is taken over (AUT-2).
  ///
  /// - Returns: The error; nil on success.
  private mutating func connect(
    _ name: String, _ needsExplicit: Bool, from index: Int
  ) -> WireReply? {
    guard let connection = connections[index], connection.isOpen else {
      return .error(.alreadyConnected)
    }
    let client: Int
    switch slot(of: WireClientName(user: connection.peer.user, name: name)) {
    case .success(let index): client = index
    case .failure(let refusal): return .error(refusal)
    }
    if clients[client].control != nil {
      // A program that has hung up must not take over from a running one.
      guard connection.lingersUntil == nil else {
        dropHeldCalls(index)
        return .error(.notConnected)
      }
      takeOver(client)
    }
    lastSession += 1
    clients[client].session = lastSession
    clients[client].lastConnected = now
    clients[client].control = index
    let isLaunched = clients[client].launch.recordConnect(at: now)
    clients[client].execution = isLaunched ? .background : .foreground
    clients[client].isDeliveryPaused = true
    connections.setPurpose(.control(client: client, monitor: nil), of: index, permissions)
    clients[client].startedServices = StartedServices()
    setAuthorization(clients[client].access.reported, client)
    submit(.connect, client)
    clients[client].sessions.launch(
      clients[client].execution, needsExplicit: needsExplicit, at: now)
    updateUse(client)
    if connection.lingersUntil == nil { monitorProgram(index) }
    // No delivery until the notice connection is open.
    submit(.setExecution(.suspended), client)
    return nil
  }

  /// The slot of a client: the existing one, or a new one within its user's quota.
  private mutating func slot(of name: WireClientName) -> Result<Int, WireError> {
    if let existing = clients.firstIndex(where: { $0.name == name }) { return .success(existing) }
    let decision = persistence.decision(about: name)
    let access = permissions.access(of: name, decision: decision)
    let isPermitted = access.authorization.isGranted
    let index: Int
    switch allocateSlot(for: name.user, isPermitted: isPermitted) {
    case .success(let allocated): index = allocated
    case .failure(let refusal): return .failure(refusal)
    }
    boundDecisions(except: name)
    guard
      let row = persistence.store.addClient(uid: name.user, name: name.name, isDurable: isPermitted)
    else { return .failure(.limitExceeded(what: "clients", limit: Int64(environment.clients))) }
    var client = ServedClient(name, of: permissions.account(of: name.user), number: row.id, access)
    // An earlier row of the client, with its position in the ring, may have been lost with a damaged file.
    client.mayHaveLostFixes = persistence.mayHaveLostClients
    if index < clients.count { clients[index] = client } else { clients.append(client) }
    saveAccess(index)
    updateStandings()
    return .success(index)
  }

  private mutating func takeOver(_ client: Int) {
    if let watch = clients[client].watch {
      reply(.notice(.takenOver), to: watch)
      connections.end(watch)
      clients[client].watch = nil
    }
    if let control = clients[client].control {
      connections.endMonitoring(control)
      connections.setPurpose(.open, of: control, permissions)
      connections.end(control)
    }
    processEnded(client)
  }

  /// Updates a client whose process has ended or disconnected (BKG-1, DEF-11).
  mutating func processEnded(_ client: Int) {
    clients[client].control = nil
    clients[client].session = 0
    clients[client].notices.removeNotices()
    if let watch = clients[client].watch { connections.end(watch) }
    clients[client].watch = nil
    clients[client].liveIterators = 0
    clients[client].isFrozen = false
    clients[client].startedServices = StartedServices()
    endDrains(of: client, includingReads: false)
    submit(.disconnect, client)
    clients[client].sessions.end()
    clients[client].launch.recordEnd(at: now)
    updateUse(client)
    if clients[client].sessions.hasBackground { requestLaunch(.backgroundSession, client) }
  }

  private mutating func watch(_ session: Int64, from index: Int) -> WireReply? {
    guard connections[index]?.isOpen == true else { return .error(.alreadyConnected) }
    guard let client = clientIndex(of: session, on: index) else {
      return .error(.unknownSession(session))
    }
    if let previous = clients[client].watch { connections.end(previous) }
    clients[client].watch = index
    clients[client].notices.markAllUnsent()
    connections.setPurpose(.watch(client: client), of: index, permissions)
    return nil
  }

  /// The client with that session, if it belongs to the same user.
  func clientIndex(of session: Int64, on index: Int) -> Int? {
    clients.firstIndex {
      $0.session == session && session != 0 && $0.name.user == connections[index]?.peer.user
    }
  }

  /// Discards unsent data that reveals where the board was, after a loss of rights (RNG-6).
  private mutating func discardUnsent(_ client: Int) {
    clients[client].notices.removeNotices(where: LocationServer.revealsLocation)
    discardEvents(client)
    endDrains(of: client, includingReads: true)
    guard let watch = clients[client].watch, connections[watch]?.output.isEmpty == false
    else { return }
    // The output may end in the middle of a frame.
    close(watch)
  }

  private static func revealsLocation(_ notice: Notice) -> Bool {
    switch notice {
    case .batch, .report, .coarse, .visit, .region, .live: true
    case .gap, .finish, .failure, .authorization, .degraded, .paused, .resumed, .liveRefused: false
    }
  }

  /// Pauses or resumes delivery: a client that is frozen, has no notice connection or does not read fast enough is
  /// suspended for the engine (BKG-2).
  mutating func updateDeliveryPause(_ client: Int) {
    guard clients[client].control != nil else { return }
    let hasCapacity = clients[client].watch.flatMap { connections[$0]?.hasOutputCapacity } ?? false
    let isHeld = clients[client].isFrozen || !hasCapacity || clients[client].notices.noticeCount > 0
    guard isHeld != clients[client].isDeliveryPaused else { return }
    clients[client].isDeliveryPaused = isHeld
    if clients[client].execution != .suspended {
      submit(.setExecution(isHeld ? .suspended : clients[client].execution), client)
    }
  }

  // MARK: Requests

  mutating func submit(_ request: Request, _ client: Int) {
    if case .acknowledge = request {
      clients[client].hasUnsavedAcknowledgement = true
      persistence.note(.acknowledgement)
    } else {
      clients[client].isDirty = true
    }
    requests.append((ClientID(client), request))
  }

  /// Submits a request of the client's process. A client with paused delivery stays suspended, although a request
  /// resumes a suspended client in the engine (BKG-2).
  private mutating func submitFromProcess(_ request: Request, _ client: Int) {
    submit(request, client)
    if clients[client].isDeliveryPaused { submit(.setExecution(.suspended), client) }
  }

  private mutating func perform(_ call: WireCall, of client: Int) -> WireReply? {
    // Any call of a suspended client shows that its process runs, except acknowledgements and the execution state.
    if clients[client].execution == .suspended, call.impliesRunning {
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
      clients[client].liveIterators &= ~(1 << UInt8(number))
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
    clients[client].execution = state
    clients[client].sessions.setExecution(state)
    updateUse(client)
    if !clients[client].isDeliveryPaused { submit(.setExecution(state), client) }
  }

  /// Starts or stops a service. Stores services that outlive the process, and makes pending events available (BKG-6).
  private mutating func startOrStop(_ call: WireCall, _ client: Int) {
    // A refused service is not stored (AUT-10).
    let isRefused = clients[client].access.authorization.isRefused
    switch call {
    case .startUpdating:
      clients[client].startedServices.updates = true
      persistence.note(.updatesChange)
      enqueueLoss(client)
    case .stopUpdating:
      clients[client].startedServices.updates = false
      persistence.note(.updatesChange)
    case .startSignificantChange:
      clients[client].startedServices.significantChange = true
      if !isRefused { updateServices(client) { $0.significantChange = true } }
    case .stopSignificantChange: updateServices(client) { $0.significantChange = false }
    case .startVisits:
      clients[client].startedServices.visits = true
      if !isRefused { updateServices(client) { $0.visits = true } }
    case .stopVisits: updateServices(client) { $0.visits = false }
    default: preconditionFailure("a call that starts or stops no service")
    }
    if let request = call.request { submitFromProcess(request, client) }
    if call == .startSignificantChange, let report = clients[client].pendingReport {
      clients[client].pendingReport = nil
      enqueue(.report(report), client)
    }
  }

  /// Queues the gap of a possible loss of fixes before any newer fix (RNG-4).
  private mutating func enqueueLoss(_ client: Int) {
    guard clients[client].mayHaveLostFixes, !clients[client].startedServices.isLossQueued else {
      return
    }
    // The loss counts as reported when the notice is written.
    clients[client].startedServices.isLossQueued = true
    enqueue(.gap(lossGap), client)
  }

  private var lossGap: Gap { possibleLoss ?? Gap(unsyncedBefore: 0, after: nil) }

  /// The gap of a possible loss that was not reported to a client yet; nil if there is none.
  func unreportedLoss(of client: Int) -> Gap? { clients[client].mayHaveLostFixes ? lossGap : nil }

  /// Same, and marks it as reported.
  mutating func consumeLoss(_ client: Int) -> Gap? {
    guard let loss = unreportedLoss(of: client) else { return nil }
    clients[client].mayHaveLostFixes = false
    clients[client].isDirty = true
    return loss
  }

  /// Opens a live iterator with the lowest free number (LIV-9), the same that the engine assigns.
  private mutating func openLive(_ configuration: LiveConfiguration, _ client: Int) -> WireReply {
    let number = (~clients[client].liveIterators).trailingZeroBitCount
    guard number < LiveUpdates.capacity else {
      return .error(.limitExceeded(what: "live", limit: Int64(LiveUpdates.capacity)))
    }
    clients[client].liveIterators |= 1 << UInt8(number)
    submitFromProcess(.openLive(configuration), client)
    updateUse(client)
    return .opened(number)
  }

  // MARK: Administrators

  private mutating func administer(_ call: WireCall) -> WireReply {
    switch call {
    case .allowClient(let name, let permission):
      return decide(name) { $0.authorization = permission.authorization }
    case .denyClient(let name): return decide(name) { $0.authorization = .denied }
    case .reduceClient(let name, let isReduced):
      return decide(name) { $0.isReduced = isReduced }
    case .forgetClient(let name): return forget(name)
    case .flush:
      power.requestFlush()
      return .done
    default:
      return .clients(knownClients)
    }
  }

  /// All known clients, and clients without a slot about which a command has decided.
  private var knownClients: [WireClient] {
    var known: [WireClient] = []
    for served in clients where !served.isVacant {
      var client = WireClient(
        served.name, authorization: served.access.authorization, isReduced: served.access.isReduced,
        execution: served.control == nil ? nil : served.execution)
      client.hasBackgroundSession = served.sessions.hasBackground
      client.requestedAuthorization = served.requestedPermission?.authorization
      known.append(client)
    }
    let served = Set(clients.map(\.number))
    for row in persistence.store.rows.clients.all.sorted(by: { $0.id < $1.id })
    where !served.contains(row.id) {
      let access = permissions.access(of: row.wireName, decision: row.accessDecision)
      known.append(
        WireClient(
          row.wireName, authorization: access.authorization,
          isReduced: access.isReduced, execution: nil))
    }
    return known
  }

  /// Stores the decision of a command, unless a rule of the policy file decides about the client.
  private mutating func decide(
    _ name: WireClientName, _ change: (inout AccessDecision) -> Void
  ) -> WireReply {
    let index = clients.firstIndex { $0.name == name }
    guard var row = persistence.store.client(uid: name.user, name: name.name) else {
      return .error(.unknownClient(name))
    }
    var decision = index.map { clients[$0].access.reported } ?? row.reported
    change(&decision)
    let access = permissions.access(of: name, decision: decision)
    guard access.source == .decision else {
      return .error(.decidedByFile(line: access.source.line))
    }
    guard let client = index else {
      // The decision is applied when the client connects.
      row.decide(decision)
      persistence.put(row, in: \.clients, at: now)
      connections.discardHeldCharges()
      return .done
    }
    clients[client].requestedPermission = nil
    saveAccess(client, decision: decision)
    apply(access, client)
    dropUnpermitted()
    return .done
  }

  /// Applies new rights. Unsent locations are discarded only if the client loses a right (RNG-6).
  mutating func apply(_ access: ClientAccess, _ client: Int) {
    let before = clients[client].access.reported
    clients[client].access = access
    // Services started with permission are kept until a rule or a command denies the client (RES-2).
    let isGranted = access.authorization.isGranted
    if isGranted || access.isExplicitDenial {
      persistence.store.setDurable(clients[client].number, isGranted)
    }
    clients[client].isDirty = true
    updateStandings()
    if access.reported.isNarrower(than: before) { discardUnsent(client) }
    if !access.mayUseBackground { _ = allowBackground(false, client) }
    if access.authorization != .notDetermined && access.authorization != .whenInUse {
      clients[client].requestedPermission = nil
    }
    setAuthorization(access.reported, client)
    if before.authorization.isRefused, isGranted { restartServices(client) }
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

extension ClientAccess.Source {
  /// The line of the rule in the policy file; nil without a file (see `AccessPolicy.builtIn(owner:)`).
  fileprivate var line: Int? {
    switch self {
    case .rule(line: 0), .decision, .policyDefault: nil
    case .rule(let line): line
    }
  }
}
