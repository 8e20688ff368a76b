import LocationTypes
import LocationWire

// Holds of clients: they keep the board from sleeping (PWR-13).

extension LocationServer {
  mutating func beginHold(_ client: Int, seconds: Interval, reason: String) -> WireReply {
    guard clients[client].isPermitted else { return .error(.notAuthorized) }
    guard !power.hasShedLevels else {
      return .error(.notAvailable(what: "a hold: the battery is low"))
    }
    guard clients[client].holds.all.count < ClientHolds.capacity else {
      return .error(.limitExceeded(what: "active holds", limit: Int64(ClientHolds.capacity)))
    }
    guard let id = clients[client].holds.begin(seconds, reason, at: now) else {
      return .error(
        .limitExceeded(what: "seconds of holds", limit: ClientHolds.budget.microseconds / 1_000_000)
      )
    }
    return .holding(id)
  }

  mutating func endHold(_ client: Int, _ id: Int64) -> WireReply {
    clients[client].holds.end(id, at: now)
    return .done
  }

  /// Whether a hold keeps the board from sleeping.
  public var keepsBoardAwake: Bool { clients.slots.contains { !$0.holds.all.isEmpty } }

  /// Ends the holds whose time is over, those of clients that may not use location any more, and all holds if the
  /// battery became low.
  mutating func expireHolds() {
    for i in clients.indices where !clients.slots[i].holds.all.isEmpty {
      if power.hasShedLevels || !clients[i].isPermitted {
        clients[i].holds.endAll(at: now)
      } else if clients[i].holds.deadline <= now {
        clients[i].holds.expire(at: now)
      }
    }
  }
}
