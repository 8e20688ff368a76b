import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// What clients ask.

extension LocationServer {
  mutating func handle(_ incoming: IncomingCall, from index: Int) {
    let connection = connections[index]
    // A call may close its own connection: its answer does not go to the next one in its place.
    guard let reply = reply(to: incoming, from: index), incoming.mode != .oneway,
      connections[index] === connection
    else { return }
    // What never was cannot be acknowledged, and only the ring knows what was. Who may not use location is not told
    // how many fixes there are (AUT-9).
    if case .acknowledge(let name) = incoming.call, reply == .done, mayKnow(index) {
      return answer(.acknowledged(name), to: index)
    }
    answer(incoming.call.isDurable ? .durable(reply) : .ready(reply), to: index)
  }

  mutating func answer(_ answer: PendingAnswer.Answer, to index: Int) {
    answers.append(PendingAnswer(connection: index, answer: answer))
  }

  /// What is answered without a look at the engine; nil where that is needed, or nothing is answered.
  private mutating func reply(to incoming: IncomingCall, from index: Int) -> WireReply? {
    guard let connection = connections[index] else { return nil }
    switch incoming.call {
    case .getInfo: return .info(WireServiceInfo(version: facts.version))
    case .getInterfaceDescription(let name):
      guard let text = LocationInterface.text(of: name) else {
        return .error(.interfaceNotFound(name))
      }
      return .interfaceDescription(text)
    case .connect(let name, let needsExplicit):
      if let refusal = connect(name, needsExplicit, from: index) { return refusal }
      if incoming.mode != .oneway { answer(.fromEngine(incoming), to: index) }
      return nil
    case .watch(let session): return watch(session, from: index)
    case .getLocation, .getStatus, .getPowerPlan, .getEnergy, .drain, .readBacklog, .listRegions:
      if incoming.mode != .oneway { answer(.fromEngine(incoming), to: index) }
      return nil
    case .listClients, .allowClient, .denyClient, .reduceClient, .forgetClient, .flush:
      guard policy.isAdministrator(connection.peer.user) else { return .error(.permissionDenied) }
      return administer(incoming.call)
    case .startUpdating, .stopUpdating, .configure, .allowDeferred, .disallowDeferred,
      .setExecution, .acknowledge, .acknowledgeEvents, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive, .requestAuthorization, .openServiceSession,
      .closeServiceSession, .openBackgroundSession, .closeBackgroundSession:
      guard case .control(let client) = connection.purpose else { return .error(.notConnected) }
      return ask(incoming.call, of: client)
    }
  }

  // MARK: Sessions

  /// The connection speaks for the client of that name from now on; who did before is told (AUT-2).
  ///
  /// - Returns: Why not; nil if it does.
  private mutating func connect(
    _ name: String, _ needsExplicit: Bool, from index: Int
  ) -> WireReply? {
    guard let peer = connections[index]?.peer, connections[index]?.purpose == .open else {
      return .error(.alreadyConnected)
    }
    let client: Int
    switch record(of: WireClientName(user: peer.user, name: name)) {
    case .success(let place): client = place
    case .failure(let refusal): return .error(refusal)
    }
    if clients[client].control != nil {
      // A program that has hung up does not end one that runs.
      guard connections[index]?.lingersUntil == nil else {
        abandon(index)
        return .error(.notConnected)
      }
      takeOver(client)
    }
    lastSession += 1
    clients[client].session = lastSession
    clients[client].lastConnected = now
    clients[client].control = index
    let isLaunched = clients[client].launch.finish(at: now)
    clients[client].execution = isLaunched ? .background : .foreground
    clients[client].isHeld = true
    connections[index]?.purpose = .control(client: client)
    clients[client].begun = BegunServices()
    permit(clients[client].access.told, client)
    ask(.connect, client)
    clients[client].sessions.launch(
      clients[client].execution, needsExplicit: needsExplicit, at: now)
    updateUse(client)
    if connections[index]?.lingersUntil == nil { watchProgram(index) }
    // Until somebody listens.
    ask(.setExecution(.suspended), client)
    return nil
  }

  /// The place of a client that is known, or a new one as long as there is one for its user.
  private mutating func record(of name: WireClientName) -> Result<Int, WireError> {
    if let known = clients.firstIndex(where: { $0.name == name }) { return .success(known) }
    let decision = state.client(uid: name.user, name: name.name)?.accessDecision
    let access = policy.access(uid: name.user, client: name.name, decision: decision)
    let isPermitted = access.authorization.isGranted
    let place: Int
    switch room(for: name.user, isPermitted: isPermitted) {
    case .success(let found): place = found
    case .failure(let refusal): return .failure(refusal)
    }
    boundDecisions(sparing: name)
    guard
      let row = state.addClient(uid: name.user, name: name.name, isDurable: isPermitted)
    else { return .failure(.limitExceeded(what: "clients", limit: Int64(facts.clients))) }
    var client = ServedClient(name, of: account(of: name.user), number: row.id, access)
    // Its row may have been lost with a damaged file, and what it was owed with it.
    client.mayHaveLost = mayHaveForgotten
    if place < clients.count { clients[place] = client } else { clients.append(client) }
    keepAccess(place)
    updateStandings()
    return .success(place)
  }

  private mutating func takeOver(_ client: Int) {
    if let watch = clients[client].watch {
      reply(.notice(.takenOver), to: watch)
      end(watch)
      clients[client].watch = nil
    }
    if let control = clients[client].control {
      unwatchProgram(control)
      connections[control]?.purpose = .open
      end(control)
    }
    leave(client)
  }

  /// The process is gone (BKG-1, DEF-11).
  mutating func leave(_ client: Int) {
    clients[client].control = nil
    clients[client].session = 0
    clients[client].notices.removeNotices()
    if let watch = clients[client].watch { end(watch) }
    clients[client].watch = nil
    clients[client].live = 0
    clients[client].isFrozen = false
    clients[client].begun = BegunServices()
    endDrains(of: client, looksToo: false)
    ask(.disconnect, client)
    clients[client].sessions.end()
    clients[client].launch.end(at: now)
    updateUse(client)
    if clients[client].sessions.hasBackground { wish(.backgroundSession, client) }
  }

  private mutating func watch(_ session: Int64, from index: Int) -> WireReply? {
    guard connections[index]?.purpose == .open else { return .error(.alreadyConnected) }
    guard let owner = owner(of: session, on: index) else { return .error(.unknownSession(session)) }
    if let before = clients[owner].watch { end(before) }
    clients[owner].watch = index
    clients[owner].notices.rewind()
    connections[index]?.purpose = .watch(client: owner)
    if let connection = connections[index] { connection.keepCapacity(for: standing(of: index)) }
    return nil
  }

  /// The client whose session that is, if it is of the same user.
  func owner(of session: Int64, on index: Int) -> Int? {
    clients.firstIndex {
      $0.session == session && session != 0 && $0.name.user == connections[index]?.peer.user
    }
  }

  /// What was decided holds at once: nothing of before is told that tells where the board was (RNG-6).
  private mutating func forgetUntold(_ client: Int) {
    clients[client].notices.removeNotices(where: LocationServer.tellsPlace)
    forgetEvents(client)
    endDrains(of: client, looksToo: true)
    guard let watch = clients[client].watch, connections[watch]?.output.isEmpty == false
    else { return }
    // Some of it may be in the middle of a frame.
    close(watch)
  }

  private static func tellsPlace(_ notice: Notice) -> Bool {
    switch notice {
    case .batch, .report, .coarse, .visit, .region, .live: true
    case .gap, .finish, .failure, .authorization, .degraded, .paused, .resumed, .liveRefused: false
    }
  }

  /// Whoever is frozen, hears nothing, or takes too little, is held: suspended for the engine (BKG-2).
  mutating func hold(_ client: Int) {
    guard clients[client].control != nil else { return }
    let hasRoom = clients[client].watch.flatMap { connections[$0]?.hasRoom } ?? false
    let isHeld = clients[client].isFrozen || !hasRoom || clients[client].notices.noticeCount > 0
    guard isHeld != clients[client].isHeld else { return }
    clients[client].isHeld = isHeld
    if clients[client].execution != .suspended {
      ask(.setExecution(isHeld ? .suspended : clients[client].execution), client)
    }
  }

  // MARK: Requests

  mutating func ask(_ request: Request, _ client: Int) {
    if case .acknowledge = request {
      clients[client].isBehind = true
      hasBehind = true
    } else {
      clients[client].isTouched = true
    }
    requests.append((ClientID(client), request))
  }

  /// What its process asks: who is held stays so, though a request wakes a suspended client (BKG-2).
  private mutating func forward(_ request: Request, _ client: Int) {
    ask(request, client)
    if clients[client].isHeld { ask(.setExecution(.suspended), client) }
  }

  private mutating func ask(_ call: WireCall, of client: Int) -> WireReply? {
    // Whatever a suspended client asks shows that it runs, but what it has handled is no question.
    if clients[client].execution == .suspended, call.showsThatItRuns {
      setExecution(.background, client)
    }
    switch call {
    case .configure(let settings):
      if let allows = settings.allowsBackground {
        guard allowBackground(allows, client) else { return .error(.notAuthorized) }
      }
      for request in settings.requests { forward(request, client) }
    case .setExecution(let state): setExecution(state, client)
    case .addRegion(let region, let assumed):
      guard let identifier = clients[client].identifier(region.kind, named: region.name) else {
        return .error(.limitExceeded(what: "regions", limit: Int64(ServedClient.namesLimit)))
      }
      beginHistory(of: identifier, region, client)
      forward(.addRegion(region.region(numbered: identifier.number), assuming: assumed), client)
      updateUse(client)
    case .removeRegion(let kind, let name):
      guard let identifier = clients[client].remove(kind, named: name) else { break }
      forgetSilencedCrossings(of: identifier, client)
      forward(.removeRegion(identifier), client)
      updateUse(client)
    case .acknowledgeEvents(let number): acknowledgeEvents(through: number, client)
    case .startUpdating, .stopUpdating, .startSignificantChange, .stopSignificantChange,
      .startVisits, .stopVisits:
      begin(call, client)
    case .requestRegionState(let kind, let name):
      guard let identifier = clients[client].known(kind, named: name) else {
        return .error(.invalidParameter("name"))
      }
      forward(.requestRegionState(identifier), client)
    case .openLive(let configuration): return openLive(configuration, client)
    case .closeLive(let number):
      clients[client].live &= ~(1 << UInt8(number))
      forward(.closeLive(number), client)
      updateUse(client)
    case .requestAuthorization, .openServiceSession, .closeServiceSession, .openBackgroundSession,
      .closeBackgroundSession:
      return useSession(call, client)
    default:
      guard let request = call.request else { preconditionFailure("a call that is no request") }
      forward(request, client)
    }
    return .done
  }

  /// Its process said in which state it is, or showed it.
  private mutating func setExecution(_ state: ExecutionState, _ client: Int) {
    clients[client].execution = state
    clients[client].sessions.move(to: state)
    updateUse(client)
    if !clients[client].isHeld { ask(.setExecution(state), client) }
  }

  /// Services that outlive the process are noted; what waited for one is told now (BKG-6).
  private mutating func begin(_ call: WireCall, _ client: Int) {
    // What fails is not asked for (AUT-10).
    let isRefused = clients[client].access.authorization.isRefused
    switch call {
    case .startUpdating:
      clients[client].begun.updates = true
      isOwingNew = true
      tellLoss(client)
    case .stopUpdating:
      clients[client].begun.updates = false
      isOwingNew = true
    case .startSignificantChange:
      clients[client].begun.significantChange = true
      if !isRefused { change(client) { $0.significantChange = true } }
    case .stopSignificantChange: change(client) { $0.significantChange = false }
    case .startVisits:
      clients[client].begun.visits = true
      if !isRefused { change(client) { $0.visits = true } }
    case .stopVisits: change(client) { $0.visits = false }
    default: preconditionFailure("a call that begins or ends nothing")
    }
    if let request = call.request { forward(request, client) }
    if call == .startSignificantChange, let report = clients[client].report {
      clients[client].report = nil
      enqueue(.report(report), client)
    }
  }

  /// A power cut took what was not synced: told before anything newer (RNG-4).
  private mutating func tellLoss(_ client: Int) {
    guard clients[client].mayHaveLost, !clients[client].begun.hearsOfLoss else { return }
    // It counts as told when it is written.
    clients[client].begun.hearsOfLoss = true
    enqueue(.gap(lossGap), client)
  }

  private var lossGap: Gap { loss ?? Gap(unsyncedBefore: 0, after: nil) }

  /// What a power cut may have taken from a client, if it was not told.
  func loss(of client: Int) -> Gap? { clients[client].mayHaveLost ? lossGap : nil }

  /// The same; it is told now.
  mutating func takeLoss(_ client: Int) -> Gap? {
    guard let loss = loss(of: client) else { return nil }
    clients[client].mayHaveLost = false
    clients[client].isTouched = true
    return loss
  }

  /// The engine gives an iterator the lowest free number (LIV-9), and so the same one.
  private mutating func openLive(_ configuration: LiveConfiguration, _ client: Int) -> WireReply {
    let number = (~clients[client].live).trailingZeroBitCount
    guard number < LiveUpdates.capacity else {
      return .error(.limitExceeded(what: "live", limit: Int64(LiveUpdates.capacity)))
    }
    clients[client].live |= 1 << UInt8(number)
    forward(.openLive(configuration), client)
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
      mustFlush = true
      return .done
    default:
      return .clients(knownClients)
    }
  }

  /// All clients that are there, and those that are not, but about which a command has decided.
  private var knownClients: [WireClient] {
    var known: [WireClient] = []
    for served in clients where !served.isVacant {
      var client = WireClient(
        served.name, authorization: served.access.authorization, isReduced: served.access.isReduced,
        execution: served.control == nil ? nil : served.execution)
      client.hasBackgroundSession = served.sessions.hasBackground
      client.asks = served.asks?.authorization
      known.append(client)
    }
    let served = Set(clients.map(\.number))
    for row in state.rows.clients.all.sorted(by: { $0.id < $1.id }) where !served.contains(row.id) {
      let access = policy.access(uid: row.uid, client: row.name, decision: row.accessDecision)
      known.append(
        WireClient(
          WireClientName(user: row.uid, name: row.name), authorization: access.authorization,
          isReduced: access.isReduced, execution: nil))
    }
    return known
  }

  /// A decision counts where the administrator's file leaves it open.
  private mutating func decide(
    _ name: WireClientName, _ change: (inout AccessDecision) -> Void
  ) -> WireReply {
    let place = clients.firstIndex { $0.name == name }
    guard var row = state.client(uid: name.user, name: name.name) else {
      return .error(.unknownClient(name))
    }
    var decision = place.map { clients[$0].access.told } ?? row.told
    change(&decision)
    let access = policy.access(uid: name.user, client: name.name, decision: decision)
    guard access.source == .decision else {
      return .error(.decidedByFile(line: access.source.line))
    }
    guard let client = place else {
      // It gets what was decided when it connects.
      row.decide(decision)
      put(row, in: \.clients)
      forgetHeldTerms()
      return .done
    }
    clients[client].asks = nil
    keepAccess(client, decision: decision)
    apply(access, client)
    dropUnpermitted()
    return .done
  }

  /// What a client may is another thing now; who loses nothing by it notices nothing (RNG-6).
  mutating func apply(_ access: ClientAccess, _ client: Int) {
    let before = clients[client].access.told
    clients[client].access = access
    // What it had asked for with permission stays until it is refused by name (RES-2).
    let isGranted = access.authorization.isGranted
    if isGranted || access.isDenial { state.setDurable(clients[client].number, isGranted) }
    clients[client].isTouched = true
    updateStandings()
    if access.told.takes(from: before) { forgetUntold(client) }
    if !access.mayUseBackground { _ = allowBackground(false, client) }
    if access.authorization != .notDetermined && access.authorization != .whenInUse {
      clients[client].asks = nil
    }
    permit(access.told, client)
    if before.authorization.isRefused, isGranted { resumeRefused(client) }
  }
}

extension WireCall {
  /// Whether only a program that runs makes the call.
  fileprivate var showsThatItRuns: Bool {
    switch self {
    case .setExecution, .acknowledge, .acknowledgeEvents: false
    default: true
    }
  }
}

extension ClientAccess.Source {
  /// The line of the file that says what a client may; nil where there is no file (see
  /// `AccessPolicy.owned(by:)`).
  fileprivate var line: Int? {
    switch self {
    case .rule(line: 0), .decision, .standard: nil
    case .rule(let line): line
    }
  }
}
