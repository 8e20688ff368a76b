import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Processes of clients: a process connects, opens its notice connection, is frozen, is taken over, and ends (AUT-2,
// BKG-1, DEF-11).

extension LocationServer {
  /// Makes the connection the control connection of a client; the previous one is taken over (AUT-2).
  mutating func connect(
    _ index: Int, name: String, needsExplicitSessions: Bool
  ) -> PendingAnswer.Answer? {
    guard let connection = connections[index], connection.isOpen else {
      return .ready(.error(.alreadyConnected))
    }
    let client: Int
    switch slot(of: WireClientName(user: connection.peer.user, name: name)) {
    case .success(let index): client = index
    case .failure(let refusal): return .ready(.error(refusal))
    }
    if clients[client].process != nil {
      // A program that has hung up must not take over from a running one.
      guard connection.lingersUntil == nil else {
        dropHeldCalls(index)
        return .ready(.error(.notConnected))
      }
      takeOver(client)
    }
    let session = clients.newSession()
    clients[client].connect(control: index, session: session, at: now)
    connections.setPurpose(.control(client: client, monitor: nil), of: index, permissions)
    markLaunched(index, client)
    setAuthorization(clients[client].access.reported, client)
    submit(.connect, client)
    clients[client].launchSessions(needsExplicit: needsExplicitSessions, at: now)
    updateUse(client)
    if connection.lingersUntil == nil { monitorProgram(index) }
    // No delivery until the notice connection is open.
    submit(.setExecution(.suspended), client)
    return queryClient(from: index) { $0.session(of: $1, $2) }
  }

  /// The answer to `Connect`.
  private func session(of client: Int, _ engine: borrowing Engine) -> WireReply {
    guard let process = clients[client].process else { return .error(.notConnected) }
    var session = WireSession(
      session: process.session, authorization: clients[client].access.authorization,
      isReduced: clients[client].access.isReduced,
      isDeferralAvailable: engine.isDeferralAvailable)
    session.launchReason = clients[client].launch.runningReason
    if clients[client].access.authorization.isGranted {
      session.ringID = RingIdentifier(engine.ringID)
    }
    return .connected(session)
  }

  mutating func takeOver(_ client: Int) {
    if clients[client].usesGPSD { return endGPSDClient(client) }
    if let watch = clients[client].watch {
      reply(.notice(.takenOver), to: watch)
      connections.end(watch)
      clients[client].setWatch(nil)
    }
    if let control = clients[client].control {
      connections.endMonitoring(control)
      connections.setPurpose(.open, of: control, permissions)
      connections.end(control)
    }
    processEnded(client)
  }

  /// Updates a client whose process has ended or disconnected.
  mutating func processEnded(_ client: Int) {
    let watch = clients[client].watch
    clients[client].disconnect()
    if let watch { connections.end(watch) }
    endDrains(of: client, includingReads: false)
    submit(.disconnect, client)
    clients[client].sessions.end()
    clients[client].holds.endAll(at: now)
    clients[client].launch.recordEnd(at: now)
    updateUse(client)
    if clients[client].sessions.hasBackground { requestLaunch(.backgroundSession, client) }
  }

  /// Makes the connection the notice connection of a session; answers only with an error.
  mutating func watch(_ index: Int, session: Int64) -> PendingAnswer.Answer? {
    guard let connection = connections[index], connection.isOpen else {
      return .ready(.error(.alreadyConnected))
    }
    guard let client = clients.index(of: session, user: connection.peer.user) else {
      return .ready(.error(.unknownSession(session)))
    }
    if let previous = clients[client].watch { connections.end(previous) }
    clients[client].setWatch(index)
    if clients[client].withdrawLoss() { enqueueLoss(client) }
    connections.setPurpose(.watch(client: client), of: index, permissions)
    markLaunched(index, client)
    return nil
  }

  /// Records on a connection of a session whether the service has started its program.
  mutating func markLaunched(_ index: Int, _ client: Int) {
    if clients[client].launch.isLaunched { connections[index]?.markLaunched() }
  }

  // MARK: Frozen processes

  /// Starts to monitor the process of a control connection.
  private mutating func monitorProgram(_ index: Int) {
    guard let peer = connections[index]?.peer else { return }
    do {
      try connections.beginMonitoring(index)
      updateFrozen(index)
    } catch {
      logLine(
        of: peer.user, .warning,
        "cannot detect whether process \(peer.process) is frozen: \(error)")
    }
  }

  /// Updates whether the process is frozen: at the start, and when the kernel signals a change.
  mutating func updateFrozen(_ index: Int) {
    guard let connection = connections[index], let monitor = connection.monitor,
      let client = connection.controlledClient
    else { return }
    let reading = monitor.isFrozen()
    // The process has left its control group, which was removed; its new group is not monitored.
    if reading == nil { connections.endMonitoring(index) }
    let isFrozen = reading ?? false
    if clients[client].setFrozen(isFrozen) { updateUse(client) }
  }
}
