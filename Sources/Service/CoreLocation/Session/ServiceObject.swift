import LocationClient
import LocationPolicy
import LocationWire

/// An object that the service opens for the process and numbers: an iterator of live updates or a session.
///
/// ``LocationSession`` opens it on each connection, and routes the notices with its number.
protocol ServiceObject: AnyObject, Sendable {
  /// The call that opens it.
  var openingCall: WireCall { get }
  /// The call that closes it; nil if the service has nothing to close.
  func closingCall(_ number: Int) -> WireCall?
  /// Takes the reply to the opening call; returns its number, or nil if the reply does not match.
  func opened(_ reply: WireReply) -> Int?
  /// A notice with its number; returns what is to be done without the session's lock.
  func receive(_ notice: WireNotice) -> (@Sendable () -> Void)?
  /// The client's authorization has changed. Called with the session's lock.
  func authorizationChanged(_ authorization: Authorization)
  /// There is no connection; it is opened on the next one.
  func connectionLost()
  /// It was refused, or no connection can be opened any more.
  func fail(_ error: ClientError)
}

// For objects without state that depends on the authorization or the connection.
extension ServiceObject {
  func authorizationChanged(_ authorization: Authorization) {}
  func connectionLost() {}
}

/// The objects of a process, and their numbers on the present connection.
struct ServiceObjects: Sendable {
  private struct Entry: Sendable {
    let object: any ServiceObject
    var number: Int?
  }

  private var entries: [ObjectIdentifier: Entry] = [:]

  /// All objects.
  var all: [any ServiceObject] { entries.values.map(\.object) }

  /// Whether there are loops over live updates.
  var hasLoops: Bool {
    entries.values.contains { if case .openLive = $0.object.openingCall { true } else { false } }
  }

  /// Whether there are service sessions that require an authorization.
  var hasServiceSessions: Bool {
    entries.values.contains {
      if case .openServiceSession(let requirement, _) = $0.object.openingCall {
        requirement != .none
      } else {
        false
      }
    }
  }

  /// Adds an object.
  mutating func add(_ object: any ServiceObject) {
    entries[ObjectIdentifier(object)] = Entry(object: object)
  }

  /// Sets the number of an object; false if it was removed meanwhile.
  mutating func setNumber(_ number: Int, of object: any ServiceObject) -> Bool {
    guard entries[ObjectIdentifier(object)] != nil else { return false }
    entries[ObjectIdentifier(object)]?.number = number
    return true
  }

  /// Removes an object; returns the call that closes it, if it is open.
  mutating func remove(_ object: any ServiceObject) -> WireCall? {
    let entry = entries.removeValue(forKey: ObjectIdentifier(object))
    return entry?.number.flatMap { object.closingCall($0) }
  }

  /// Forgets all numbers, because the connection has ended.
  mutating func clearNumbers() { for key in entries.keys { entries[key]?.number = nil } }

  /// The object to which a notice belongs.
  func receiver(of notice: WireNotice) -> (any ServiceObject)? {
    let number: Int
    switch notice {
    case .live(let element): number = element.iterator
    case .session(let session, _): number = session
    default: return nil
    }
    return entries.values.first { entry in
      guard entry.number == number else { return false }
      switch (notice, entry.object.openingCall) {
      case (.live, .openLive), (.session, .openServiceSession): return true
      default: return false
      }
    }?.object
  }
}
