import GPSDProtocol
import LinuxHAL
import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Input of gpsd's protocol: accepts programs, reads, and answers requests at the end of the turn, in their order and
// within their user's rate.

extension LocationServer {
  /// Handles a ready descriptor.
  mutating func handleGPSD(_ event: GPSDConnections.Event) {
    switch event {
    case .programs: greetGPSD(gpsd.connections.acceptPrograms(at: now))
    case .helpers:
      for user in gpsd.connections.acceptHelpers(at: now) {
        logLine(
          of: user, .warning,
          "a process of user \(user) is refused as the helper of gpsd's protocol: it must run as root or as the user "
            + "of this service, and only \(GPSDConnections.helperCapacity) may run")
      }
    case .helper(let index): greetGPSD(gpsd.connections.receive(fromHelper: index))
    case .connection(let index, let conditions): readGPSD(index, conditions)
    }
  }

  /// Admits programs and greets them.
  private mutating func greetGPSD(_ programs: [(descriptor: Int32, user: UInt32)]) {
    permissions.checkSubordinates(at: now)
    for (descriptor, user) in programs {
      guard let index = gpsd.connections.admit(descriptor, of: user, permissions) else { continue }
      gpsd.connections[index]?.write { $0.gpsdVersion(gpsd.service) }
    }
  }

  private mutating func readGPSD(_ index: Int, _ conditions: EventWait.Conditions) {
    guard let connection = gpsd.connections[index] else { return }
    guard conditions.contains(.readable), connection.isReading else {
      if conditions.contains(.gone) { closeGPSD(index) }
      return
    }
    gpsd.connections.charge(
      1, to: permissions.account(of: connection.user), permissions.standing(of: connection.user),
      at: now)
    gpsd.connections.read(index)
  }

  // MARK: Requests

  /// Answers the requests of a connection, as far as its output and its user's rate permit.
  mutating func handleGPSDRequests(_ index: Int, _ engine: borrowing Engine) {
    guard let connection = gpsd.connections[index], !connection.pending.isEmpty else { return }
    let account = permissions.account(of: connection.user)
    // A full output may have been read meanwhile.
    if !connection.hasOutputCapacity, !connection.send() { return connection.end() }
    while connection.hasOutputCapacity, !connection.pending.isEmpty,
      gpsd.connections.nextRequest(of: account, at: now) <= now,
      let request = connection.nextRequest()
    {
      // A WATCH may add a client, and fixes of the past are many.
      let cost: Double
      switch request {
      case .watch, .history: cost = 2
      case .version, .devices, .device, .poll, .unknown, .invalid: cost = 1
      }
      gpsd.connections.charge(cost, to: account, permissions.standing(of: connection.user), at: now)
      handleGPSD(request, connection, engine)
    }
  }

  private mutating func handleGPSD(
    _ request: GPSDRequest, _ connection: GPSDConnection, _ engine: borrowing Engine
  ) {
    let device = gpsd.device
    switch request {
    case .version: connection.write { $0.gpsdVersion(gpsd.service) }
    case .devices:
      let activated = gpsd.activation(at: wallTime(now))
      connection.write { $0.gpsdDevices(device, activated: activated) }
    case .device(let path):
      if let path, path != device.path {
        connection.write { $0.gpsdError("Can't open \(GPSDRequest.printable(path)).") }
      } else {
        let activated = gpsd.activation(at: wallTime(now))
        connection.write { $0.gpsdDevice(device, activated: activated) }
      }
    case .watch(let watch): watchGPSD(watch, connection, engine)
    case .poll: pollGPSD(connection, engine)
    case .history(let since): sendGPSDHistory(since: since, connection, engine)
    case .unknown(let text):
      connection.write { $0.gpsdError("Unrecognized request '\(text)'") }
    case .invalid(let message): connection.write { $0.gpsdError(message) }
    }
  }

  /// Applies `?WATCH`, and answers with the devices and the policy in force.
  private mutating func watchGPSD(
    _ watch: GPSDWatch?, _ connection: GPSDConnection, _ engine: borrowing Engine
  ) {
    if let path = watch?.device, !path.isEmpty, path != gpsd.device.path {
      return connection.write { $0.gpsdError("No such device as \(GPSDRequest.printable(path))") }
    }
    let (wasStreaming, previous) = (connection.policy.isStreaming, connection.client)
    if let watch {
      connection.apply(watch)
      attachGPSD(connection, engine)
    }
    let activated = gpsd.activation(at: wallTime(now))
    connection.write { json in
      json.gpsdDevices(gpsd.device, activated: activated)
      json.gpsdWatch(connection.policy)
    }
    // The user has too many clients already.
    if connection.policy.enable, connection.client == nil {
      GPSDTexts.append(.none, gpsd.device, to: connection)
    }
    if connection.policy.isStreaming, !wasStreaming || connection.client != previous {
      sendFirstGPSDReport(connection, engine)
    }
  }

  /// Answers `?POLL` at once with the last fix; it keeps the receiver running for a while.
  private mutating func pollGPSD(_ connection: GPSDConnection, _ engine: borrowing Engine) {
    guard connection.policy.enable else {
      return connection.write {
        $0.gpsdPoll(nil, nil, hasSky: false, gpsd.device, at: wallTime(now))
      }
    }
    connection.notePoll(at: now)
    var report = GPSDReport.none
    if let client = connection.client, clients[client].isPermitted {
      report = latestGPSDReport(client, engine)
      requestForPoll(connection, client)
    }
    let view = connection.client.flatMap { satellites(for: $0, engine) }
    let isReduced = connection.client.map { clients[$0].access.isReduced } ?? false
    connection.write {
      $0.gpsdPoll(report, view, hasSky: !isReduced, gpsd.device, at: wallTime(now))
    }
  }

  /// Requests a single fix for a poll of a client that saves fixes, if its last one and its last request are older than
  /// its interval. Running updates report fixes anyway.
  private mutating func requestForPoll(_ connection: GPSDConnection, _ client: Int) {
    guard let position = gpsd.position(of: client),
      case .every(let interval, var accuracy) = GPSDDemand(savingOfGPSD(connection)),
      gpsd.clients[position].newest.map({ now - $0.acquired >= interval }) ?? true,
      clients[client].gpsdRequest.map({ $0.next(after: interval) <= now }) ?? true
    else { return }
    switch gpsd.clients[position].demand {
    case .live, .deferred, .within: return
    case .every(_, let finer): accuracy = min(accuracy, finer)
    case .none: break
    }
    submit(.setDesiredAccuracy(accuracy), client)
    requestGPSDFix(client)
  }

  /// The time of the system's clock at an instant.
  func wallTime(_ time: Instant) -> UTCTime {
    UTCTime(microseconds: environment.wallTimeAtBoot_ns() / 1_000) + (time - .boot)
  }
}
