import AccessPolicy
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// What clients ask.

extension LocationServer {
  mutating func handle(_ incoming: IncomingCall, from index: Int) {
    let answer = answer(to: incoming, from: index)
    guard let answer, incoming.mode != .oneway else { return }
    reply(answer, to: index)
  }

  /// What is answered at once; nil where the answer comes later, or never.
  private mutating func answer(to incoming: IncomingCall, from index: Int) -> WireReply? {
    guard let connection = connections[index] else { return nil }
    switch incoming.call {
    case .getInfo: return .info(WireServiceInfo(version: facts.version))
    case .getInterfaceDescription(let name):
      guard let text = LocationInterface.text(of: name) else {
        return .error(.interfaceNotFound(name))
      }
      return .interfaceDescription(text)
    case .connect(let name):
      if let refusal = connect(name, from: index) { return refusal }
      if incoming.mode != .oneway { questions.append((index, incoming)) }
      return nil
    case .watch(let session): return watch(session, from: index)
    case .getLocation, .getStatus, .getPowerPlan, .getEnergy, .drain:
      if incoming.mode != .oneway { questions.append((index, incoming)) }
      return nil
    case .listClients, .allowClient, .denyClient, .reduceClient:
      guard policy.isAdministrator(connection.peer.user) else { return .error(.permissionDenied) }
      return administer(incoming.call)
    case .startUpdating, .stopUpdating, .configure, .allowDeferred, .disallowDeferred,
      .setExecution, .acknowledge, .requestLocation, .startSignificantChange,
      .stopSignificantChange, .startVisits, .stopVisits, .addRegion, .removeRegion,
      .requestRegionState, .openLive, .closeLive:
      guard case .control(let client) = connection.purpose else { return .error(.notConnected) }
      return ask(incoming.call, of: client)
    }
  }

  // MARK: Sessions

  /// The connection speaks for the client of that name from now on; who did before is told (AUT-2).
  ///
  /// - Returns: Why not; nil if it does.
  private mutating func connect(_ name: String, from index: Int) -> WireReply? {
    guard let peer = connections[index]?.peer, connections[index]?.purpose == .open else {
      return .error(.alreadyConnected)
    }
    let client: Int
    switch record(of: WireClientName(user: peer.user, name: name)) {
    case .success(let place): client = place
    case .failure(let refusal): return .error(refusal)
    }
    if clients[client].control != nil { takeOver(client) }
    lastSession += 1
    clients[client].session = lastSession
    clients[client].control = index
    clients[client].execution = .foreground
    clients[client].isHeld = true
    connections[index]?.purpose = .control(client: client)
    ask(.setAuthorization(clients[client].access.authorization), client)
    ask(.setReducedAccuracy(clients[client].access.isReduced), client)
    ask(.connect, client)
    // Until somebody listens.
    ask(.setExecution(.suspended), client)
    return nil
  }

  /// The place of a client that is known, or a new one as long as there is one for its user.
  private mutating func record(of name: WireClientName) -> Result<Int, WireError> {
    if let known = clients.firstIndex(where: { $0.name == name }) { return .success(known) }
    guard clients.count < facts.clients else {
      return .failure(.limitExceeded(what: "clients", limit: Int64(facts.clients)))
    }
    let own = clients.count { $0.name.user == name.user }
    guard own < LocationServer.clientsPerUser || policy.isAdministrator(name.user) else {
      return .failure(
        .limitExceeded(what: "clients of a user", limit: Int64(LocationServer.clientsPerUser)))
    }
    clients.append(ClientRecord(name, policy.access(uid: name.user, client: name.name)))
    return .success(clients.count - 1)
  }

  private mutating func takeOver(_ client: Int) {
    if let watch = clients[client].watch {
      reply(.notice(.takenOver), to: watch)
      end(watch)
      clients[client].watch = nil
    }
    if let control = clients[client].control {
      connections[control]?.purpose = .open
      end(control)
    }
    leave(client)
  }

  /// The process is gone (BKG-1, DEF-11).
  mutating func leave(_ client: Int) {
    clients[client].control = nil
    clients[client].session = 0
    clients[client].notices.removeAll()
    if let watch = clients[client].watch { end(watch) }
    clients[client].watch = nil
    clients[client].live = 0
    ask(.disconnect, client)
  }

  private mutating func watch(_ session: Int64, from index: Int) -> WireReply? {
    guard let connection = connections[index], connection.purpose == .open else {
      return .error(.alreadyConnected)
    }
    let owner = clients.firstIndex {
      $0.session == session && session != 0 && $0.name.user == connection.peer.user
    }
    guard let owner else { return .error(.unknownSession(session)) }
    if let before = clients[owner].watch { end(before) }
    clients[owner].watch = index
    connections[index]?.purpose = .watch(client: owner)
    return nil
  }

  /// What was decided holds at once: nothing of before is told that tells where the board was (RNG-6).
  private mutating func forgetUntold(_ client: Int) {
    clients[client].notices.removeAll(where: LocationServer.tellsPlace)
    guard let watch = clients[client].watch, connections[watch]?.output.bytes.isEmpty == false
    else { return }
    // Some of it may be in the middle of a frame.
    close(watch)
  }

  private static func tellsPlace(_ notice: Notice) -> Bool {
    switch notice {
    case .batch, .report, .visit, .region, .live: true
    case .gap, .finish, .failure, .authorization, .degraded, .paused, .resumed, .liveRefused: false
    }
  }

  /// Whoever hears nothing, or takes too little, is held: suspended for the engine (BKG-2).
  mutating func hold(_ client: Int) {
    guard clients[client].control != nil else { return }
    let hasRoom = clients[client].watch.flatMap { connections[$0]?.hasRoom } ?? false
    let isHeld = !hasRoom || !clients[client].notices.isEmpty
    guard isHeld != clients[client].isHeld else { return }
    clients[client].isHeld = isHeld
    if clients[client].execution != .suspended {
      ask(.setExecution(isHeld ? .suspended : clients[client].execution), client)
    }
  }

  // MARK: Requests

  mutating func ask(_ request: Request, _ client: Int) {
    requests.append((ClientID(client), request))
  }

  /// What its process asks: who is held stays so, though a request wakes a suspended client (BKG-2).
  private mutating func forward(_ request: Request, _ client: Int) {
    ask(request, client)
    if clients[client].isHeld { ask(.setExecution(.suspended), client) }
  }

  private mutating func ask(_ call: WireCall, of client: Int) -> WireReply? {
    switch call {
    case .configure(let settings):
      for request in settings.requests { forward(request, client) }
    case .setExecution(let state):
      clients[client].execution = state
      if !clients[client].isHeld { ask(.setExecution(state), client) }
    case .addRegion(let region, let assumed):
      guard let identifier = clients[client].identifier(region.kind, named: region.name) else {
        return .error(.limitExceeded(what: "regions", limit: Int64(ClientRecord.namesLimit)))
      }
      forward(.addRegion(region.region(numbered: identifier.number), assuming: assumed), client)
    case .removeRegion(let kind, let name):
      guard let identifier = clients[client].remove(kind, named: name) else { break }
      forward(.removeRegion(identifier), client)
    case .requestRegionState(let kind, let name):
      guard let identifier = clients[client].known(kind, named: name) else {
        return .error(.invalidParameter("name"))
      }
      forward(.requestRegionState(identifier), client)
    case .openLive(let configuration): return openLive(configuration, client)
    case .closeLive(let number):
      clients[client].live &= ~(1 << UInt8(number))
      forward(.closeLive(number), client)
    default:
      guard let request = call.request else { preconditionFailure("a call that is no request") }
      forward(request, client)
    }
    return .done
  }

  /// The engine gives an iterator the lowest free number (LIV-9), and so the same one.
  private mutating func openLive(_ configuration: LiveConfiguration, _ client: Int) -> WireReply {
    let number = (~clients[client].live).trailingZeroBitCount
    guard number < LiveUpdates.capacity else {
      return .error(.limitExceeded(what: "live", limit: Int64(LiveUpdates.capacity)))
    }
    clients[client].live |= 1 << UInt8(number)
    forward(.openLive(configuration), client)
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
    default:
      return .clients(
        clients.map {
          WireClient(
            $0.name, authorization: $0.access.authorization, isReduced: $0.access.isReduced,
            execution: $0.control == nil ? nil : $0.execution)
        })
    }
  }

  /// A decision counts where the administrator's file leaves it open.
  private mutating func decide(
    _ name: WireClientName, _ change: (inout AccessDecision) -> Void
  ) -> WireReply {
    guard let client = clients.firstIndex(where: { $0.name == name }) else {
      return .error(.unknownClient(name))
    }
    let now = clients[client].access
    var decision = AccessDecision(now.authorization, isReduced: now.isReduced)
    change(&decision)
    let access = policy.access(uid: name.user, client: name.name, decision: decision)
    guard access.source == .decision else {
      return .error(.notAvailable(what: "a decision: a rule of the policy is about this client"))
    }
    clients[client].access = access
    applyAccess(client)
    return .done
  }

  /// What a client may is another thing now.
  mutating func applyAccess(_ client: Int) {
    forgetUntold(client)
    ask(.setAuthorization(clients[client].access.authorization), client)
    ask(.setReducedAccuracy(clients[client].access.isReduced), client)
  }
}
