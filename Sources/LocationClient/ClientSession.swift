import LocationTypes
import LocationWire

/// A program as the service's client: it speaks on one connection and hears on another.
///
/// Its end is the end of the program for the service (DEF-11).
public struct ClientSession: ~Copyable {
  private var control: LocationConnection
  private var watch: LocationConnection?
  private let path: String
  /// What the service said of it.
  public let session: WireSession

  /// Connects as the client of that name, of the user who runs this.
  public init(
    name: String, path: String = LocationConnection.standardPath
  ) throws(ClientError) {
    var control = try LocationConnection(path: path)
    guard case .connected(let session) = try control.call(.connect(name: name)) else {
      throw .malformed("another answer than a session")
    }
    self.control = control
    self.session = session
    self.path = path
  }

  /// Asks, and waits for the answer.
  public mutating func call(_ call: WireCall) throws(ClientError) -> WireReply {
    try control.call(call)
  }

  /// All fixes that the client is owed, in bulk.
  public func drain() throws(ClientError) -> FixDrain {
    try FixDrain(.drain(session: session.session), path: path)
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

  /// The next notice.
  ///
  /// - Parameter patience: How long to wait for it; nil for as long as it takes.
  /// - Returns: nil when none came in that time.
  public mutating func notice(within patience: Interval?) throws(ClientError) -> WireNotice? {
    let call = WireCall.watch(session: session.session)
    guard let reply = try watch?.next(to: call, within: patience)?.reply else { return nil }
    guard case .notice(let notice) = reply else { throw .malformed("another answer than a notice") }
    return notice
  }
}
