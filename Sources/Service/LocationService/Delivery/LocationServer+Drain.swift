import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Bulk transfer of a client's backlog: binary records on a connection that was upgraded from Varlink.

extension LocationServer {
  /// How often a connection is filled in one turn, 64 KiB each time, before other connections get their turn.
  private static let fillsPerTurn = 16

  mutating func drain(
    _ index: Int, _ engine: borrowing Engine, _: Effects, session: Int64
  ) -> WireReply? {
    guard let connection = connections[index], connection.isOpen else {
      return .error(.alreadyConnected)
    }
    guard let client = clients.index(of: session, user: connection.peer.user) else {
      return .error(.unknownSession(session))
    }
    return transfer(client, to: index, engine, countsAsDelivered: true)
  }

  mutating func readBacklog(
    _ index: Int, _ engine: borrowing Engine, _: Effects, name: String
  ) -> WireReply? {
    guard let connection = connections[index], connection.isOpen else {
      return .error(.alreadyConnected)
    }
    let name = WireClientName(user: connection.peer.user, name: name)
    guard let client = clients.index(of: name) else { return .error(.unknownClient(name)) }
    return transfer(client, to: index, engine, countsAsDelivered: false)
  }

  /// Answers with the number of records, and starts the transfer; returns only an error.
  private mutating func transfer(
    _ client: Int, to index: Int, _ engine: borrowing Engine, countsAsDelivered: Bool
  ) -> WireReply? {
    guard clients[client].access.authorization.isGranted else { return .error(.notAuthorized) }
    let backlog = engine.backlog(of: ClientID(client))
    let count = engine.count(of: backlog)
    // More fixes may have been lost before this run (RNG-4).
    let loss = delivery.unreportedLoss(of: clients[client])
    if countsAsDelivered, backlog.gap == nil, loss != nil {
      clients[client].markLossRead(before: backlog.range.lowerBound)
    }
    let gap = backlog.gap ?? loss
    if countsAsDelivered, let gap { countGap(gap) }
    reply(.drain(count: count, gap), to: index)
    let drain = Drain(
      of: client, backlog, countsAsDelivered: countsAsDelivered, count: count)
    connections.setPurpose(.drain(drain), of: index, permissions)
    if countsAsDelivered { markLaunched(index, client) }
    connections[index]?.append(FixRecordHeader(count: count))
    if countsAsDelivered { submit(.readBacklog, client) }
    return nil
  }

  /// Sends what the socket accepts, and closes the connection after the last record.
  mutating func sendRecords(_ index: Int, _ engine: borrowing Engine) {
    for _ in 0..<LocationServer.fillsPerTurn {
      fill(index, engine)
      send(index)
      guard let connection = connections[index], let drain = connection.drain else { return }
      if !connection.output.text.isEmpty { return }
      if drain.remaining == 0 { return close(index) }
    }
    // The socket is still writable: epoll reports it, and the transfer continues in the next turn.
    fill(index, engine)
    if !connections.updateInterest(index) { close(index) }
  }

  /// Appends records up to the high-water mark. If fixes were overwritten in between, the transfer ends early; the
  /// remaining fixes stay undelivered.
  private mutating func fill(_ index: Int, _ engine: borrowing Engine) {
    guard let connection = connections[index], let drain = connection.drain else { return }
    while connection.hasOutputCapacity, drain.remaining > 0 {
      for fix in drain.nextFixes(engine) { connection.append(fix) }
    }
  }

  /// Ends the transfers of a client's fixes: those to its process, and with `includingReads` also those of
  /// `ReadBacklog`.
  mutating func endDrains(of client: Int, includingReads: Bool) {
    for i in connections.indices {
      guard let drain = connections[i]?.drain, drain.client == client else { continue }
      if includingReads || drain.countsAsDelivered { close(i) }
    }
  }
}
