import GPSDProtocol
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Clients of gpsd's protocol: a connection that requests data is attached to the client of its user and name, with the
// consent of any client, and the needs of its connections become the client's requests.

extension LocationServer {
  /// Attaches a connection to the client of its name, or detaches it if it requests no data.
  mutating func attachGPSD(_ connection: GPSDConnection, _ engine: borrowing Engine) {
    guard connection.policy.enable else { return detachGPSD(connection) }
    let name = WireClientName(user: connection.user, name: connection.policy.name)
    if let client = connection.client {
      if clients[client].name == name { return }
      detachGPSD(connection)
    }
    guard case .success(let client) = slot(of: name) else { return }
    if !clients[client].usesGPSD {
      startGPSDClient(client, GPSDStart(sequence: engine.head, time: now))
    }
    connection.attach(to: client)
  }

  /// Detaches a connection from its client, which ends with its last connection.
  mutating func detachedClient(_ connection: GPSDConnection) -> Int? {
    guard let client = connection.client else { return nil }
    recordGPSDDisconnect()
    connection.attach(to: nil)
    return gpsd.connections.slots.contains { $0?.client == client } ? nil : client
  }

  private mutating func detachGPSD(_ connection: GPSDConnection) {
    if let client = detachedClient(connection) { endGPSDClient(client) }
  }

  /// Closes a connection.
  mutating func closeGPSD(_ index: Int) {
    guard let connection = gpsd.connections.remove(index) else { return }
    detachGPSD(connection)
  }

  /// Connects the programs of gpsd's protocol as a client's process; another process of the client is taken over.
  private mutating func startGPSDClient(_ client: Int, _ start: GPSDStart) {
    if clients[client].process != nil { takeOver(client) }
    clients[client].connectGPSD(session: clients.newSession(), since: start)
    setAuthorization(clients[client].access.reported, client)
    submit(.connect, client)
    // Programs expect reports of a device that stands still, too.
    submit(.setPausesAutomatically(false), client)
    clients[client].launchSessions(needsExplicit: false, at: now)
    updateUse(client)
    submit(.setExecution(.foreground), client)
    gpsd.add(GPSDClient(client, since: start))
    _ = requestAuthorization(client, .whenInUse)
  }

  /// Ends a client: it was taken over, its slot is freed, or its last connection was closed. Its connections end.
  mutating func endGPSDClient(_ client: Int) {
    guard let position = gpsd.position(of: client) else { return }
    let demand = gpsd.clients[position].demand
    gpsd.remove(client)
    for connection in gpsd.connections.slots {
      guard let connection, connection.client == client else { continue }
      connection.attach(to: nil)
      connection.end()
    }
    if demand != .none { submit(.stopUpdating, client) }
    processEnded(client)
  }

  /// Discards unsent fixes of a client, after a loss of rights (RNG-6). A connection with unsent output ends, because
  /// the output may begin in the middle of a line.
  mutating func discardUnsentGPSD(_ client: Int) {
    if let position = gpsd.position(of: client) { gpsd.update(position) { $0.forget() } }
    for connection in gpsd.connections.slots {
      guard let connection, connection.client == client, !connection.output.text.isEmpty
      else { continue }
      connection.discardOutput()
    }
  }

  // MARK: Demands

  /// The savings of a connection: the greater of those that the policy names and those that it requests.
  func savingOfGPSD(_ connection: GPSDConnection) -> GPSDSaving {
    guard let client = connection.client else { return connection.policy.saving }
    return clients.slots[client].access.gpsd.saving.combined(with: connection.policy.saving)
  }

  /// The demand of a connection now. None if it does not read, because it receives nothing then.
  private func demand(of connection: GPSDConnection) -> GPSDDemand {
    guard connection.hasOutputCapacity else { return .none }
    let demand = GPSDDemand(savingOfGPSD(connection))
    if connection.policy.isStreaming { return demand }
    // Single reports: the receiver runs for a while after each request.
    guard let poll = connection.lastPoll, now < poll + GPSDPart.pollTime else { return .none }
    switch demand {
    case .none, .every: return .none
    case .live, .deferred: return .live
    case .within: return demand
    }
  }

  /// Computes the demand of a client, and submits its changes to the engine.
  mutating func updateGPSDDemand(_ position: Int) {
    let client = gpsd.clients[position].client
    let access = clients.slots[client].access.reported
    var new = GPSDDemand.none
    if access.authorization.isGranted {
      for connection in gpsd.connections.slots {
        guard let connection, connection.client == client else { continue }
        new = new.combined(with: demand(of: connection))
      }
    }
    if new != gpsd.clients[position].demand {
      let last = clients[client].gpsdRequest
      let old = gpsd.update(position) { [now] in $0.setDemand(new, after: last, at: now) }
      submitGPSDDemand(new, after: old, client)
    }
    if gpsd.clients[position].nextRequest <= now {
      gpsd.update(position) { [now] in $0.noteRequest(at: now) }
      requestGPSDFix(client)
    }
  }

  /// Requests a single fix.
  mutating func requestGPSDFix(_ client: Int) {
    clients[client].setGPSDRequest(GPSDFixRequest(time: now, isAnswered: false))
    submit(.requestLocation, client)
  }

  private mutating func submitGPSDDemand(
    _ new: GPSDDemand, after old: GPSDDemand, _ client: Int
  ) {
    if case .deferred = old { submit(.disallowDeferred, client) }
    if old != .none, !new.isUpdating {
      // Also ends an outstanding request for a single fix.
      submit(.stopUpdating, client)
      clients[client].updateStartedServices { $0.updates = false }
    }
    switch new {
    case .none: return
    case .live: prepareGPSD(.foreground, LocationAccuracy.best, client)
    // Only a client in the background can be deferred.
    case .deferred: prepareGPSD(.background, LocationAccuracy.best, client)
    case .within(let accuracy): prepareGPSD(.foreground, accuracy, client)
    case .every(_, let accuracy): prepareGPSD(.foreground, accuracy, client)
    }
    if new.isUpdating, !old.isUpdating {
      submit(.startUpdating, client)
      clients[client].updateStartedServices { $0.updates = true }
    }
  }

  private mutating func prepareGPSD(_ execution: ExecutionState, _ accuracy: Double, _ client: Int)
  {
    submit(.setExecution(execution), client)
    submit(.setDesiredAccuracy(accuracy), client)
  }
}
