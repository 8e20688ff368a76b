import LocationEngine
import LocationPolicy
import LocationTypes
import LocationWire

// Bulk transfer of a client's backlog: binary records on a connection that was upgraded from Varlink.

extension LocationServer {
  /// How often a connection is filled in one turn, 64 KiB each time, before other connections get their turn.
  private static let fillsPerTurn = 16

  /// Answers `Drain` and `ReadBacklog` with the number of records, and starts the transfer.
  mutating func beginDrain(_ call: WireCall, _ index: Int, _ engine: borrowing Engine) {
    guard let connection = connections[index], connection.isOpen else {
      return reply(.error(.alreadyConnected), to: index)
    }
    let client: Int
    let countsAsDelivered: Bool
    switch call {
    case .drain(let session):
      guard let match = clients.index(of: session, user: connection.peer.user) else {
        return reply(.error(.unknownSession(session)), to: index)
      }
      (client, countsAsDelivered) = (match, true)
    case .readBacklog(let name):
      let name = WireClientName(user: connection.peer.user, name: name)
      guard let match = clients.index(of: name) else {
        return reply(.error(.unknownClient(name)), to: index)
      }
      (client, countsAsDelivered) = (match, false)
    default: preconditionFailure("a call that is answered without records")
    }
    guard clients[client].access.authorization.isGranted else {
      return reply(.error(.notAuthorized), to: index)
    }
    let backlog = engine.backlog(of: ClientID(client))
    let count = engine.count(of: backlog)
    // More fixes may have been lost before this run (RNG-4).
    let gap =
      backlog.gap
      ?? (countsAsDelivered ? consumeLoss(client) : delivery.unreportedLoss(of: clients[client]))
    reply(.drain(count: count, gap), to: index)
    let drain = Drain(
      of: client, backlog, countsAsDelivered: countsAsDelivered, count: count)
    connections.setPurpose(.drain(drain), of: index, permissions)
    connection.append(FixRecordHeader(count: count))
    if countsAsDelivered { submit(.readBacklog, client) }
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
