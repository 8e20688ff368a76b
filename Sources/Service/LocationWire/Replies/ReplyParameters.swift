import LocationPolicy
import LocationTypes
import TextFormats

// The types of the values of ``WireReply``, and their members.

/// A reply with the `continues` flag of its frame, which Varlink defines.
public struct IncomingReply: Equatable, Sendable {
  /// The decoded reply.
  public var reply: WireReply
  /// Whether another reply to the same call follows.
  public var continues: Bool

  /// Creates a reply.
  public init(_ reply: WireReply, continues: Bool = false) {
    self.reply = reply
    self.continues = continues
  }
}

/// Identification of the service, as required by Varlink.
public struct WireServiceInfo: WireRecord, Equatable, Sendable {
  /// Name of the vendor.
  public var vendor: String
  /// Name of the product.
  public var product: String
  /// Version of the product.
  public var version: String
  /// URL of the product; empty because it has no web page. Varlink requires the member.
  public var url: String
  /// Names of the implemented interfaces.
  public var interfaces: [String]

  /// Creates the identification of this service.
  public init(version: String) {
    vendor = "Torpor"
    product = "torpord"
    self.version = version
    url = ""
    interfaces = [CallDecoder.service, CallDecoder.interface]
  }

  init() { self.init(version: "") }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("vendor", &vendor)
    try coder.code("product", &product)
    try coder.code("version", &version)
    try coder.code("url", &url)
    try coder.code("interfaces", &interfaces)
  }
}

/// The session of a connected client.
public struct WireSession: WireRecord, Equatable, Sendable {
  /// Number of the session, for the client's other connections.
  public var session: Int64
  /// Authorization of the client.
  public var authorization: Authorization
  /// Whether the client receives reduced accuracy.
  public var isReduced: Bool
  /// `deferredLocationUpdatesAvailable()` (DEF-7).
  public var isDeferralAvailable: Bool
  /// Reason for which the service started the program (BKG-19); nil if it did not.
  public var launchReason: LaunchReason?
  /// Random number of the ring of fixes (RNG-2); nil if the client may not use location, or for a service of an
  /// earlier version.
  public var ringID: RingIdentifier?

  /// Creates a session's description.
  public init(
    session: Int64, authorization: Authorization, isReduced: Bool, isDeferralAvailable: Bool
  ) {
    self.session = session
    self.authorization = authorization
    self.isReduced = isReduced
    self.isDeferralAvailable = isDeferralAvailable
  }

  init() {
    self.init(
      session: 0, authorization: .notDetermined, isReduced: false, isDeferralAvailable: false)
  }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("session", &session)
    try coder.code("authorization", &authorization)
    try coder.code("reduced_accuracy", &isReduced)
    try coder.code("deferral_available", &isDeferralAvailable)
    try coder.code("launch_reason", &launchReason)
    try coder.code("ring_id", &ringID)
  }
}

/// Random number of a ring, transmitted as 16 hexadecimal digits, because it may exceed the integers of JSON.
public struct RingIdentifier: WireScalar, Hashable, Sendable, CustomStringConvertible {
  /// The number; never 0.
  public let number: UInt64

  /// Creates an identifier; nil for 0, the number of a ring without one.
  public init?(_ number: UInt64) {
    guard number != 0 else { return nil }
    self.number = number
  }

  init?(json: JSONValue) {
    guard let number = json.string.flatMap(UInt64.init(hexadecimalDigits:)) else { return nil }
    self.init(number)
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, description) }

  /// The 16 digits.
  public var description: String { number.hexadecimalDigits }
}

/// Reason for which the service starts a program (BKG-19). The program receives the raw value in the environment
/// variable `TORPOR_LAUNCH_REASON`.
public enum LaunchReason: String, WireWord, CaseIterable, Sendable {
  /// A background session was active when its process ended.
  case backgroundSession = "background_session"
  /// An event of a region or condition.
  case region = "region"
  /// A significant change.
  case significantChange = "significant_change"
  /// A visit.
  case visit = "visit"
}

/// A registered client, in the list for administrators.
public struct WireClient: WireRecord, Equatable, Sendable {
  /// User and name of the client.
  public var name: WireClientName
  /// Authorization of the client.
  public var authorization: Authorization
  /// Whether the client receives reduced accuracy.
  public var isReduced: Bool
  /// Execution state of its process; nil if none is connected.
  public var execution: ExecutionState?
  /// Whether a background session is active, or waits for the next process (BKG-9, BKG-11).
  public var hasBackgroundSession = false
  /// Authorization that the client requested and that is undecided (AUT-4).
  public var requestedAuthorization: Authorization?

  /// Creates a client's description.
  public init(
    _ name: WireClientName, authorization: Authorization, isReduced: Bool,
    execution: ExecutionState?
  ) {
    self.name = name
    self.authorization = authorization
    self.isReduced = isReduced
    self.execution = execution
  }

  init() {
    self.init(
      WireClientName(user: 0, name: ""), authorization: .notDetermined, isReduced: false,
      execution: nil)
  }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(membersOf: &name)
    try coder.code("authorization", &authorization)
    try coder.code("reduced_accuracy", &isReduced)
    try coder.code("execution", &execution)
    var hasSession: Bool? = hasBackgroundSession ? true : nil
    try coder.code("background_session", &hasSession)
    hasBackgroundSession = hasSession ?? false
    try coder.code("asks", &requestedAuthorization)
  }
}
