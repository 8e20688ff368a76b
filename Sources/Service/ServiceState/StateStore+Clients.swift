// What is asked oftener than row by row.

extension StateStore {
  /// Whether a name of a client or region may be kept: 1 to 255 bytes, no control characters.
  public static func isName(_ name: String) -> Bool { StoredColumns.isText(name) }

  /// The client of that user and name (AUT-2). O(clients).
  public func client(uid: UInt32, name: String) -> ClientRecord? {
    rows.clients.all.first { $0.uid == uid && $0.name == name }
  }

  /// The client of that user and name, which is made if there is none; nil where there are too many.
  ///
  /// - Parameter isDurable: See ``setDurable(_:_:)``. A new client that is not durable changes nothing on the disk.
  /// - Precondition: ``isName(_:)``.
  public func addClient(uid: UInt32, name: String, isDurable: Bool = true) -> ClientRecord? {
    if let known = client(uid: uid, name: name) {
      setDurable(known.id, isDurable)
      return known
    }
    let highest = rows.clients.all.map(\.id).max() ?? 0
    guard highest < .max - 1 else { return nil }
    let id = max(ClientNumber(clamping: counter(.nextClient)), highest + 1)
    let record = ClientRecord(id: id, uid: uid, name: name)
    setDurable(id, isDurable)
    guard rows.clients.put(record) else {
      rows.setVolatile(id, false)
      return nil
    }
    return record
  }

  /// Whether the rows of a client go to the disk. Of one that is not durable the disk knows what a command has
  /// decided about it and nothing else; what it had of others is removed with the next flush (RES-2).
  public func setDurable(_ client: ClientNumber, _ isDurable: Bool) {
    rows.setVolatile(client, !isDurable)
    // A number that is on the disk is never used again.
    if isDurable { setCounter(.nextClient, max(counter(.nextClient), Int64(client) + 1)) }
  }

  /// Whether the rows of a client go to the disk.
  public func isDurable(_ client: ClientNumber) -> Bool { !rows.clients.isVolatile(client) }

  /// Whether a client has asked for something that outlives its process, and has not taken it back.
  public func hasRegistrations(_ client: ClientNumber) -> Bool {
    rows.services[client]?.outlivesProcess == true
      || rows.regions.all.contains { $0.client == client }
  }

  /// Removes a client and all that is its.
  public func removeClient(_ client: ClientNumber) {
    rows.clients.remove(client)
    rows.cursors.remove(of: client)
    rows.services.remove(of: client)
    rows.regions.remove(of: client)
    rows.events.remove(of: client)
    // Its number may be used again if it was never on the disk.
    rows.setVolatile(client, false)
  }

  /// Removes a client and all that is its, but for what a command has decided about it.
  public func removeUndecided(_ client: ClientNumber) {
    guard let row = rows.clients[client], row.decision != nil else { return removeClient(client) }
    removeClient(client)
    let isPut = rows.clients.put(row)
    precondition(isPut, "it was there")
  }

  /// A counter's value; 0 where it was never set.
  public func counter(_ counter: StateCounter) -> Int64 {
    rows.counters[counter.rawValue]?.value ?? 0
  }

  /// Sets a counter.
  ///
  /// - Precondition: `value` is not negative.
  public func setCounter(_ counter: StateCounter, _ value: Int64) {
    precondition(value >= 0, "a counter is not negative")
    let record = CounterRecord(name: counter.rawValue, value: value)
    if rows.counters.put(record) { return }
    // All room is taken by names of other versions, or by damage.
    for other in rows.counters.all where StateCounter(rawValue: other.name) == nil {
      rows.counters.remove(other.key)
    }
    let isPut = rows.counters.put(record)
    precondition(isPut, "our counters have room")
  }
}
