import LocationEngine
import LocationPolicy
import LocationTypes
import ServiceState

// Saves the durable rows of clients (BKG-20), at the end of a turn and with each sync of the ring.

extension LocationServer {
  /// Updates the rows of dirty clients and the receiver's, and flushes if a pending answer requires it.
  mutating func saveDirtyClients(_ engine: borrowing Engine, at now: Instant) {
    saveFlashRecord(engine)
    let mustFlush = answers.hasDurable || persistence.requiresFlush
    for i in clients.indices where clients.slots[i].rows.needsUpdate(isFlushing: mustFlush) {
      if clients[i].isVacant { clients[i].rows.discard() } else { save(i, engine) }
    }
    if mustFlush { flushState() }
  }

  /// Updates the rows of all clients and flushes: with each sync of the ring, and at the end.
  public mutating func saveAll(_ engine: borrowing Engine) {
    for i in clients.indices where !clients[i].isVacant { save(i, engine) }
    saveFlashRecord(engine)
    persistence.didUpdateAllRows()
    flushState()
  }

  /// Whether any change is not on the disk.
  public var hasUnsavedChanges: Bool { persistence.hasChanges }

  private mutating func save(_ client: Int, _ engine: borrowing Engine) {
    let number = clients[client].number
    if let name = clients[client].lossAcknowledgement {
      // The ring gave a name of its generation in this run, also if it has overwritten the fix since.
      let isCurrent = name.generation == engine.generation && name.sequence < engine.head
      let isStored = isCurrent || engine.stored(at: name.sequence)?.name == name
      clients[client].finishLoss(isStored: isStored)
    }
    var bookmark = engine.bookmark(of: ClientID(client))
    // A report that no program has received is in memory only: the initial event of a restart replaces it (PWR-14).
    if clients[client].pendingReport != nil { bookmark.significantFrom = nil }
    clients[client].rows.didUpdate(
      awaitsReceiverDrain: bookmark.isOpenEnded
        && clients[client].process?.startedServices.updates != true)
    // In the same transaction as the ring position: a client that lost a right must not receive older fixes.
    saveAccess(client)
    persistence.put(
      CursorRecord(
        client: number, bookmark: bookmark, mayHaveLostFixes: clients[client].mayHaveLostFixes),
      in: \.cursors, at: now)
    saveRegions(client, engine)
  }

  /// Changes the services of a client that outlive its process.
  mutating func updateServices(_ client: Int, _ change: (inout ServicesRecord) -> Void) {
    persistence.updateServices(of: clients[client].number, at: now, change)
  }

  /// Saves the reported permission of a client, and a decision.
  mutating func saveAccess(_ client: Int, decision: AccessDecision? = nil) {
    persistence.saveAccess(
      of: clients[client].number, clients[client].access, decision: decision, at: now)
  }

  /// Writes all changes of the durable state.
  mutating func flushState() { persistence.flush(forAnswer: answers.hasDurable) }

  /// Saves the monitored regions of a client with their states.
  private mutating func saveRegions(_ client: Int, _ engine: borrowing Engine) {
    guard clients[client].regionNames.hasRegions else { return }
    let identifiers = persistence.saveRegions(
      of: clients[client].number, ClientID(client), named: clients[client].regionNames, engine,
      at: now)
    clients[client].regionNames.setMonitored(identifiers)
    updateUse(client)
  }
}
