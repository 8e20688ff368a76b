import LocationPolicy
import LocationTypes

/// What the service says to a client: one case for each kind of answer.
public enum WireReply: Equatable, Sendable {
  /// Done; there is nothing to tell.
  case done
  /// To ``WireCall/getInfo``.
  case info(WireServiceInfo)
  /// To ``WireCall/getInterfaceDescription(_:)``.
  case interfaceDescription(String)
  /// To ``WireCall/connect(name:)``.
  case connected(WireSession)
  /// To ``WireCall/watch(session:)``, again and again.
  case notice(WireNotice)
  /// To ``WireCall/openLive(_:)``: the iterator's number.
  case opened(Int)
  /// To ``WireCall/openBackgroundSession``: whether it is active.
  case active(Bool)
  /// To ``WireCall/getLocation``.
  case location(StoredFix?)
  /// To ``WireCall/getStatus``.
  case status(WireStatus)
  /// To ``WireCall/getPowerPlan``.
  case plan(WirePlan)
  /// To ``WireCall/getEnergy``.
  case energy(WireEnergy)
  /// To ``WireCall/drain(session:)``: how many records follow the header, and what was lost before
  /// the first (RNG-4).
  case drain(count: UInt64, Gap?)
  /// To ``WireCall/listRegions``.
  case regions([WireMonitoredRegion])
  /// To ``WireCall/listClients``.
  case clients([WireClient])
  /// To any call: it is refused.
  case error(WireError)
}

/// A reply with what its frame says about more of them.
public struct IncomingReply: Equatable, Sendable {
  /// What is said.
  public var reply: WireReply
  /// Another reply to the same call follows.
  public var continues: Bool

  /// Creates a reply.
  public init(_ reply: WireReply, continues: Bool = false) {
    self.reply = reply
    self.continues = continues
  }
}

/// Which service this is, as Varlink wants to know.
public struct WireServiceInfo: Equatable, Sendable {
  /// Who makes it.
  public var vendor: String
  /// What it is called.
  public var product: String
  /// Which version.
  public var version: String
  /// Where to read about it; empty, for there is no such place on the web. Varlink demands the member.
  public var url: String
  /// The interfaces it has.
  public var interfaces: [String]

  /// The service of that version.
  public init(version: String) {
    vendor = "Torpor"
    product = "torpord"
    self.version = version
    url = ""
    interfaces = [CallDecoder.service, CallDecoder.interface]
  }
}

/// What a client is to the service once it has connected.
public struct WireSession: Equatable, Sendable {
  /// Names the session to the client's other connections.
  public var session: Int64
  /// What the client may.
  public var authorization: Authorization
  /// It is to know no more than about where it is.
  public var isReduced: Bool
  /// `deferredLocationUpdatesAvailable()` (DEF-7).
  public var isDeferralAvailable: Bool
  /// What the service has started the program for (BKG-19); nil where it has not.
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

/// What a program is started again for (BKG-19); the words are those of its environment.
public enum LaunchReason: String, CaseIterable, Sendable {
  /// A background session was active when its process died.
  case backgroundSession = "background_session"
  /// A region or condition.
  case region = "region"
  /// A significant change.
  case significantChange = "significant_change"
  /// A visit.
  case visit = "visit"
}

/// A client that the service knows, as an administrator sees it.
public struct WireClient: Equatable, Sendable {
  /// Who.
  public var name: WireClientName
  /// What it may.
  public var authorization: Authorization
  /// It is to know no more than about where it is.
  public var isReduced: Bool
  /// What state its process is in; nil if none is connected.
  public var execution: ExecutionState?
  /// A background session is active, or waits for the next process (BKG-9, BKG-11).
  public var hasBackgroundSession = false
  /// What it has asked for, and nobody has decided (AUT-4).
  public var asks: Authorization?

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
