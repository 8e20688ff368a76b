// Operations on all rows of a client, and on counters.

extension StateStore {
  /// Whether a name of a client or region is valid: 1 to 255 bytes, no control characters.
  public static func isValidName(_ name: String) -> Bool { StoredColumns.isValidText(name) }

  /// The client with that user and name (AUT-2). O(clients).
  public func client(uid: UInt32, name: String) -> ClientRecord? {
    rows.clients.all.first { $0.uid == uid && $0.name == name }
  }

  /// The client with that user and name, created if missing; nil if the table is full.
  ///
  /// - Parameter isDurable: See ``setDurable(_:_:)``. Adding a client that is not durable writes nothing to the disk.
  /// - Precondition: ``isValidName(_:)``.
  public func addClient(uid: UInt32, name: String, isDurable: Bool = true) -> ClientRecord? {
    if let existing = client(uid: uid, name: name) {
      setDurable(existing.id, isDurable)
      return existing
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

  /// Sets whether the rows of a client are written to the disk. For a client that is not durable, only the decision of
  /// a command is written; its other rows are removed from the disk with the next flush (RES-2).
  public func setDurable(_ client: ClientNumber, _ isDurable: Bool) {
    rows.setVolatile(client, !isDurable)
    // A number that was written to the disk is never used again.
    if isDurable { setCounter(.nextClient, max(counter(.nextClient), Int64(client) + 1)) }
  }

  /// Whether the rows of a client are written to the disk.
  public func isDurable(_ client: ClientNumber) -> Bool { !rows.clients.isVolatile(client) }

  /// Whether a client has started a service that outlives its process and has not stopped it.
  public func hasRegistrations(_ client: ClientNumber) -> Bool {
    rows.services[client]?.outlivesProcess == true
      || rows.regions.all.contains { $0.client == client }
  }

  /// Removes a client with all its rows.
  public func removeClient(_ client: ClientNumber) {
    if let last = rows.services[client]?.lastEvent, Int64(last) > counter(.eventFloor) {
      setCounter(.eventFloor, Int64(last))
    }
    rows.clients.remove(client)
    rows.cursors.remove(of: client)
    rows.services.remove(of: client)
    rows.regions.remove(of: client)
    rows.events.remove(of: client)
    // The number may be reused if it was never written to the disk.
    rows.setVolatile(client, false)
  }

  /// Removes a client with all its rows, except the decision of a command about it.
  public func removeUndecided(_ client: ClientNumber) {
    guard let row = rows.clients[client], row.decision != nil else { return removeClient(client) }
    removeClient(client)
    let isPut = rows.clients.put(row)
    precondition(isPut, "the row existed before")
  }

  /// A counter's value; 0 if it was never set.
  public func counter(_ counter: StateCounter) -> Int64 {
    rows.counters[counter.rawValue]?.value ?? 0
  }

  /// The random number of the ring, in two counters because these are not negative; 0 if it was never recorded.
  public var ringID: UInt64 {
    let (high, low) = (counter(.ringIDHigh), counter(.ringIDLow))
    guard high <= Int64(UInt32.max), low <= Int64(UInt32.max) else { return 0 }
    return UInt64(high) << 32 | UInt64(low)
  }

  /// Records the random number of the ring.
  public func setRingID(_ id: UInt64) {
    setCounter(.ringIDHigh, Int64(id >> 32))
    setCounter(.ringIDLow, Int64(id & 0xFFFF_FFFF))
  }

  /// Sets a counter.
  ///
  /// - Precondition: `value` is not negative.
  public func setCounter(_ counter: StateCounter, _ value: Int64) {
    precondition(value >= 0, "a counter is not negative")
    let record = CounterRecord(name: counter.rawValue, value: value)
    if rows.counters.put(record) { return }
    // The table is full of names that this version does not use, from other versions or damage.
    for other in rows.counters.all where StateCounter(rawValue: other.name) == nil {
      rows.counters.remove(other.key)
    }
    let isPut = rows.counters.put(record)
    precondition(isPut, "the capacity exceeds the number of counters")
  }
}
