import LocationTypes
import LocationWire

/// A program's session with the service: one connection for calls, another one for notices.
///
/// For the service, the program ends when the session does (DEF-11).
public struct ClientSession: LocationCaller, ~Copyable {
  private var control: LocationConnection
  private var watch: LocationConnection?
  private let path: String
  private let name: String
  private var handled = HandledFixes()
  /// When handled fixes are acknowledged.
  public var acknowledgementPolicy = AcknowledgementPolicy.immediate
  /// The service's description of the session.
  public let session: WireSession

  /// Connects as the current user's client with that name. With `needsExplicitSessions`, nothing implies a service
  /// session (BKG-15).
  public init(
    name: String, path: String = LocationConnection.defaultPath,
    needsExplicitSessions: Bool = false
  ) throws(ClientError) {
    var control = try LocationConnection(path: path)
    session = try control.connect(name: name, needsExplicitSessions: needsExplicitSessions)
    self.control = control
    self.path = path
    self.name = name
  }

  /// Sends a call and waits for the reply.
  @discardableResult
  public mutating func call(_ call: WireCall) throws(ClientError) -> WireReply {
    do { return try control.call(call) } catch { throw error.naming(client: name, in: call) }
  }

  /// Marks this fix and all earlier ones as handled, and acknowledges them as ``acknowledgementPolicy`` specifies. Does
  /// not wait for a reply.
  public mutating func acknowledge(_ name: FixName) throws(ClientError) {
    handled.add(name, at: LocationConnection.now)
    try acknowledgeDue()
  }

  /// Acknowledges all handled fixes, and waits until the acknowledgement is durable: they are never delivered again
  /// (RNG-3). Call it before the program ends.
  public mutating func finishAcknowledging() throws(ClientError) {
    guard let name = handled.consumeAll() else { return }
    try control.call(.acknowledge(name))
  }

  private mutating func acknowledgeDue() throws(ClientError) {
    guard let name = handled.consumeDue(acknowledgementPolicy, at: LocationConnection.now) else {
      return
    }
    try control.send(.acknowledge(name), oneway: true)
  }

  /// Reads all undelivered fixes of the client in bulk.
  public func drain() throws(ClientError) -> FixDrain {
    let call = WireCall.drain(session: session.session)
    do {
      return try FixDrain(call, path: path)
    } catch {
      throw error.naming(client: name, in: call)
    }
  }

  /// Subscribes to notices. The service queues earlier notices until then.
  public mutating func subscribe() throws(ClientError) {
    guard descriptor < 0 else { return }
    let connection = try LocationConnection(path: path)
    try connection.send(.watch(session: session.session))
    descriptor = connection.descriptor
    watch = consume connection
  }

  /// Readable when a notice has arrived; -1 before `subscribe()`.
  public private(set) var descriptor: Int32 = -1

  /// The next notice. Sends an acknowledgement that becomes due during the wait.
  ///
  /// - Parameter timeout: Maximum time to wait; nil for no limit.
  /// - Returns: nil if no notice arrived in time.
  public mutating func nextNotice(within timeout: Interval?) throws(ClientError) -> WireNotice? {
    let call = WireCall.watch(session: session.session)
    let end = timeout.map { LocationConnection.now + $0 } ?? .distantFuture
    while true {
      let due = handled.deadline(acknowledgementPolicy)
      let limit = min(end, due)
      let remaining = limit == .distantFuture ? nil : max(limit - LocationConnection.now, .zero)
      if let reply = try watch?.next(to: call, within: remaining)?.reply {
        guard case .notice(let notice) = reply else {
          throw .malformed("another answer than a notice")
        }
        return notice
      }
      guard watch != nil, due < end else { return nil }
      try acknowledgeDue()
    }
  }
}
