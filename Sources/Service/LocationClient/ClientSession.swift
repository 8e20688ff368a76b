import LocationTypes
import LocationWire

/// A program as the service's client: it speaks on one connection and hears on another.
///
/// Its end is the end of the program for the service (DEF-11).
public struct ClientSession: ~Copyable {
  private var control: LocationConnection
  private var watch: LocationConnection?
  private let path: String
  private let name: String
  private var handled = HandledFixes()
  /// How soon what is handled is acknowledged.
  public var pace = AcknowledgementPace.atOnce
  /// What the service said of it.
  public let session: WireSession

  /// Connects as the client of that name, of the user who runs this. With explicit sessions nothing
  /// implies one (BKG-15).
  public init(
    name: String, path: String = LocationConnection.defaultPath,
    needsExplicitSessions: Bool = false
  ) throws(ClientError) {
    var control = try LocationConnection(path: path)
    let call = WireCall.connect(name: name, needsExplicitSessions: needsExplicitSessions)
    guard case .connected(let session) = try control.call(call) else {
      throw .malformed("another answer than a session")
    }
    self.control = control
    self.session = session
    self.path = path
    self.name = name
  }

  /// Asks, and waits for the answer.
  public mutating func call(_ call: WireCall) throws(ClientError) -> WireReply {
    do { return try control.call(call) } catch { throw error.naming(client: name, in: call) }
  }

  /// Says that this fix and all before it are handled, as soon as ``pace`` has it; waits for no answer.
  public mutating func acknowledge(_ name: FixName) throws(ClientError) {
    handled.add(name, at: LocationConnection.now)
    try acknowledgeDue()
  }

  /// Says now what is handled, and waits until it is durable: it never comes again (RNG-3). A program
  /// calls it before it ends.
  public mutating func finishAcknowledging() throws(ClientError) {
    guard let name = handled.takeAll() else { return }
    _ = try control.call(.acknowledge(name))
  }

  private mutating func acknowledgeDue() throws(ClientError) {
    guard let name = handled.take(pace, at: LocationConnection.now) else { return }
    try control.send(.acknowledge(name), oneway: true)
  }

  /// All fixes that the client is owed, in bulk.
  public func drain() throws(ClientError) -> FixDrain {
    let call = WireCall.drain(session: session.session)
    do {
      return try FixDrain(call, path: path)
    } catch {
      throw error.naming(client: name, in: call)
    }
  }

  /// Begins to hear notices; before that none is told, and none is lost.
  public mutating func listen() throws(ClientError) {
    guard descriptor < 0 else { return }
    let connection = try LocationConnection(path: path)
    try connection.send(.watch(session: session.session))
    descriptor = connection.descriptor
    watch = consume connection
  }

  /// Readable when a notice has come; -1 before ``listen()``.
  public private(set) var descriptor: Int32 = -1

  /// The next notice. An acknowledgement that ``pace`` holds back is said meanwhile, when it is due.
  ///
  /// - Parameter patience: How long to wait for it; nil for as long as it takes.
  /// - Returns: nil when none came in that time.
  public mutating func notice(within patience: Interval?) throws(ClientError) -> WireNotice? {
    let call = WireCall.watch(session: session.session)
    let end = patience.map { LocationConnection.now + $0 } ?? .distantFuture
    while true {
      let due = handled.deadline(pace)
      let limit = min(end, due)
      let rest = limit == .distantFuture ? nil : max(limit - LocationConnection.now, .zero)
      if let reply = try watch?.next(to: call, within: rest)?.reply {
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
