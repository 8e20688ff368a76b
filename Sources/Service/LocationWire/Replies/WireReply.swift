import LocationPolicy
import LocationTypes

// The replies as values, without I/O. ``ReplyEncoder`` (in the service) and ``ReplyDecoder`` (in clients) convert them
// to and from the JSON of Varlink.

/// A reply of the service to a call of a client.
public enum WireReply: Equatable, Sendable {
  /// Success without parameters.
  case done
  /// To ``WireCall/getInfo``.
  case info(WireServiceInfo)
  /// To ``WireCall/getInterfaceDescription(_:)``.
  case interfaceDescription(String)
  /// To ``WireCall/connect(name:needsExplicitSessions:)``.
  case connected(WireSession)
  /// To ``WireCall/watch(session:)``, repeatedly.
  case notice(WireNotice)
  /// To ``WireCall/openLive(_:)``: the iterator's number.
  case opened(Int)
  /// To ``WireCall/openBackgroundSession``: whether the session is active.
  case active(Bool)
  /// To ``WireCall/getLocation``.
  case location(StoredFix?)
  /// To ``WireCall/getStatus``.
  case status(WireStatus)
  /// To ``WireCall/getPowerPlan``.
  case plan(WirePlan)
  /// To ``WireCall/getEnergy``.
  case energy(WireEnergy)
  /// To ``WireCall/drain(session:)`` and ``WireCall/readBacklog(name:)``: number of records that follow this reply
  /// after a header of 32 bytes, and the gap before the first record (RNG-4).
  case drain(count: UInt64, Gap?)
  /// To ``WireCall/listRegions``.
  case regions([WireMonitoredRegion])
  /// To ``WireCall/listClients``.
  case clients([WireClient])
  /// To any call that is refused.
  case error(WireError)
}

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
public struct WireServiceInfo: Equatable, Sendable {
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
}

/// The session of a connected client.
public struct WireSession: Equatable, Sendable {
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

  /// Creates a session's description.
  public init(
    session: Int64, authorization: Authorization, isReduced: Bool, isDeferralAvailable: Bool
  ) {
    self.session = session
    self.authorization = authorization
    self.isReduced = isReduced
    self.isDeferralAvailable = isDeferralAvailable
  }
}

/// Reason for which the service starts a program (BKG-19). The program receives the raw value in the environment
/// variable `TORPOR_LAUNCH_REASON`.
public enum LaunchReason: String, CaseIterable, Sendable {
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
public struct WireClient: Equatable, Sendable {
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
}
