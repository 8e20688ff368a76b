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
  /// Where to read about it.
  public var url: String
  /// The interfaces it has.
  public var interfaces: [String]

  /// The service of that version.
  public init(version: String) {
    vendor = "Torpor"
    product = "torpord"
    self.version = version
    url = "https://torpor.org"
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

/// How the service is.
public struct WireStatus: Equatable, Sendable {
  /// The service's version.
  public var version: String
  /// The board's name, of its profile.
  public var board: String
  /// Now, on both clocks.
  public var now: FixTime
  /// The ring's generation since the service started.
  public var generation: UInt32
  /// The sequence number that the next fix gets.
  public var nextSequence: UInt64
  /// Fixes that the ring holds at most.
  public var ringCapacity: Int
  /// When the newest fix was true.
  public var newest: FixTime?
  /// Clients that are connected.
  public var clients: Int
  /// The battery's charge, where there is a gauge.
  public var batteryPercent: UInt8?
  /// What the battery's charge makes the service give up (PWR-10).
  public var givenUp = PromiseSet.none
  /// Something keeps the board from sleeping (DEF-28).
  public var isSleepInhibited = false

  /// Creates a status of which the optional parts are not known.
  public init(
    version: String, board: String, now: FixTime, generation: UInt32, nextSequence: UInt64,
    ringCapacity: Int, clients: Int
  ) {
    self.version = version
    self.board = board
    self.now = now
    self.generation = generation
    self.nextSequence = nextSequence
    self.ringCapacity = ringCapacity
    self.clients = clients
  }
}

/// What the hardware is to do until something happens.
public struct WirePlan: Equatable, Sendable {
  /// The planner's plan.
  public var plan: Plan
  /// The wake time in UTC, where that is known.
  public var wakeUTC: UTCTime?

  /// Creates a plan.
  public init(_ plan: Plan, wakeUTC: UTCTime? = nil) {
    self.plan = plan
    self.wakeUTC = wakeUTC
  }
}

/// What the receiver can draw power for, in the words of the trace.
public enum WireReceiverState: UInt8, CaseIterable, Sendable {
  case off = 0
  case backup = 1
  case standby = 2
  case acquiring = 3
  case tracking = 4
  case powersave = 5
  case batching = 6
}

/// Where time and energy went since the service started: times by state, and the sums of time and
/// the power that the board's profile gives for each state.
public struct WireEnergy: Equatable, Sendable {
  /// When the ledger was opened.
  public var since: FixTime
  /// Up to when it goes.
  public var until: FixTime
  /// Millijoules that the receiver took.
  public var receiver_mJ = 0.0
  /// Millijoules that the board took, the receiver apart.
  public var board_mJ = 0.0
  /// How often the board was woken.
  public var hostWakes: UInt64 = 0
  /// By ``WireReceiverState``, as many as there are.
  public private(set) var receiverTime = [Interval](
    repeating: .zero, count: WireReceiverState.allCases.count)
  /// By ``BoardState``, as many as there are.
  public private(set) var boardTime = [Interval](repeating: .zero, count: 4)

  /// Creates an empty ledger.
  public init(since: FixTime, until: FixTime) {
    self.since = since
    self.until = until
  }

  /// The time that the receiver was in `state`.
  public subscript(state: WireReceiverState) -> Interval {
    get { receiverTime[Int(state.rawValue)] }
    set { receiverTime[Int(state.rawValue)] = newValue }
  }

  /// The time that the board was in `state`.
  public subscript(state: BoardState) -> Interval {
    get { boardTime[Int(state.rawValue)] }
    set { boardTime[Int(state.rawValue)] = newValue }
  }
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

extension WireReceiverState: WireWord {
  static let wireWords: [(WireReceiverState, StaticString)] = [
    (.off, "off"), (.backup, "backup"), (.standby, "standby"), (.acquiring, "acquiring"),
    (.tracking, "tracking"), (.powersave, "powersave"), (.batching, "batching"),
  ]
}
