import Glibc
import LocationClient
import LocationPolicy
import LocationTypes
import LocationWire
import Synchronization

/// This program as a client of the location service.
///
/// It connects on first use and stays connected: for the service, the program ends with the connection (BKG-1). All
/// objects of one center share a connection and a thread, which sleeps while nothing happens. If the connection is
/// lost, running `for await` loops end with an error. The next use connects again, unless another process has become
/// this client.
public final class LocationCenter: Sendable {
  /// The default center, whose client has the name of the program's file.
  public static let shared = LocationCenter()

  /// The client's name (AUT-2).
  public let name: String
  private let path: String
  private let needsExplicitSessions: Bool
  private let link = Mutex<ServiceLink?>(nil)

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - name: The client's name, 1 to 64 bytes without control characters, unique for each program of a user: a
  ///     second process with the same name replaces the first. The default is the name given by the service that
  ///     started the program (BKG-19), else the name of the program's file.
  ///   - socket: Path of the service's socket. The default is `TORPOR_SOCKET`, else the standard path.
  ///   - needsExplicitSessions: Nothing implies a ``ServiceSession`` (BKG-15).
  public init(
    name: String? = nil, socket: String? = nil, needsExplicitSessions: Bool = false
  ) {
    self.name = name ?? Program.variable("TORPOR_CLIENT") ?? Program.name
    path = socket ?? LocationConnection.defaultPath
    self.needsExplicitSessions = needsExplicitSessions
  }

  deinit { link.withLock { $0?.disconnect() } }

  /// The program's current authorization; does not request any.
  public var authorization: LocationAuthorization {
    get async throws(ClientError) {
      try await perform { state throws(ClientError) in state.authorization }
    }
  }

  /// Requests permission (AUT-4); an administrator decides. The result is in ``authorization``.
  public func requestAuthorization(_ permission: WirePermission) async throws(ClientError) {
    try await send(.requestAuthorization(permission))
  }

  /// Reports the program's execution state (BKG-1), which is foreground at first.
  public func setExecution(_ execution: ExecutionState) async throws(ClientError) {
    try await send(.setExecution(execution))
  }

  // MARK: Internal

  /// Makes a call whose reply has no content.
  func send(_ call: WireCall) async throws(ClientError) {
    _ = try await perform { state throws(ClientError) in try state.call(call) }
  }

  /// Runs `body` on the connection's thread.
  func perform<Answer: Sendable>(
    _ body: @escaping @Sendable (inout LinkState) throws(ClientError) -> Answer
  ) async throws(ClientError) -> Answer {
    try await connection.perform(body)
  }

  /// The current connection, or a new one. Numbers that the service assigns are valid on one connection only, so close
  /// each object on the connection that opened it.
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

/// Information about this process.
enum Program {
  /// Name of the program's file, shortened to a client name's maximum length.
  static var name: String {
    var bytes = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &bytes, bytes.count)
    let path = String(
      decoding: bytes.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var name = path.split(separator: "/").last.map(String.init) ?? "program"
    while name.utf8.count > WireLimits.clientName { name.removeLast() }
    return NameValidation.isValidClient(name) ? name : "program"
  }

  static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
