import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// This program, as a client of the location service.
///
/// It connects when something is asked for first, and stays connected: the end of the connection is the end of
/// the program for the service (BKG-1). All of one center share a connection and a thread; while nothing
/// happens that thread sleeps. A connection that is lost ends what was running on it with an error; what is
/// asked for after that connects anew, unless another process has become this client.
public final class LocationCenter: Sendable {
  /// The one that is used if no other is named: the client is called as the program's file is.
  public static let shared = LocationCenter()

  /// The client's name (AUT-2).
  public let name: String
  private let path: String
  private let needsExplicitSessions: Bool
  private let link = Mutex<ServiceLink?>(nil)

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - name: Its name, 1 to 64 bytes without control characters, one of its own for each program of a
  ///     user: who connects under a name takes it over. The program's file's if none is given; where the
  ///     service has started the program, what it is known by (BKG-19).
  ///   - socket: Where the service listens; if none is given, what `TORPOR_SOCKET` says, or the usual place.
  ///   - needsExplicitSessions: Nothing implies a ``ServiceSession`` (BKG-15).
  public init(
    name: String? = nil, socket: String? = nil, needsExplicitSessions: Bool = false
  ) {
    self.name = name ?? Program.variable("TORPOR_CLIENT") ?? Program.name
    path = socket ?? LocationConnection.defaultPath
    self.needsExplicitSessions = needsExplicitSessions
  }

  deinit { link.withLock { $0?.leave() } }

  /// What the program may now; asks nobody.
  public var authorization: LocationAuthorization {
    get async throws(ClientError) {
      try await ask { state throws(ClientError) in state.authorization }
    }
  }

  /// Asks for permission (AUT-4): an administrator decides. What came of it is in ``authorization``.
  public func requestAuthorization(_ permission: WirePermission) async throws(ClientError) {
    try await done(.requestAuthorization(permission))
  }

  /// Says what the program is now (BKG-1); it begins in the foreground.
  public func setExecution(_ execution: ExecutionState) async throws(ClientError) {
    try await done(.setExecution(execution))
  }

  // MARK: For the rest of the module

  /// Asks for what is answered with nothing.
  func done(_ call: WireCall) async throws(ClientError) {
    _ = try await ask { state throws(ClientError) in try state.call(call) }
  }

  /// Does something on the connection's thread; see ``ServiceLink/ask(_:)``.
  func ask<Answer: Sendable>(
    _ body: @escaping @Sendable (inout LinkState) throws(ClientError) -> Answer
  ) async throws(ClientError) -> Answer {
    try await connection.ask(body)
  }

  /// The connection that there is, or a new one. What is opened on it is closed on it: another one has
  /// numbers of its own.
  var connection: ServiceLink {
    link.withLock { link in
      if let link, !link.isReplaceable { return link }
      let new = ServiceLink(
        name: name, path: path, needsExplicitSessions: needsExplicitSessions)
      link = new
      return new
    }
  }
}

/// What this process is.
enum Program {
  /// The name of its file, as long as a client's may be.
  static var name: String {
    var bytes = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    let path = String(
      decoding: bytes.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var name = path.split(separator: "/").last.map(String.init) ?? "program"
    while name.utf8.count > WireLimits.clientName { name.removeLast() }
    return WireName.isValidClient(name) ? name : "program"
  }

  static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
