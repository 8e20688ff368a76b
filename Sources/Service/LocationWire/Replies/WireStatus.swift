import LocationPolicy
import LocationTypes

/// The state of the service.
public struct WireStatus: Equatable, Sendable {
  /// Version of the service.
  public var version: String
  /// Name of the board in its profile.
  public var board: String
  /// Current time on both clocks.
  public var now: FixTime
  /// Generation of the ring since the service started.
  public var generation: UInt32
  /// Sequence number of the next fix; nil for a caller without permission.
  public var nextSequence: UInt64?
  /// Capacity of the ring, in fixes.
  public var ringCapacity: Int
  /// Number of slots from the oldest readable fix to the newest; nil for a caller without permission.
  public var ringFixes: Int?
  /// Time of the newest fix.
  public var newest: FixTime?
  /// Number of connected clients; for a caller without permission, only those of its own user.
  public var clients: Int
  /// Charge of the battery, percent; nil without a gauge.
  public var batteryPercent: UInt8?
  /// Services that are shed because of the battery's charge (PWR-10).
  public var shed = ServiceLevelSet.none
  /// Whether sleep is inhibited (DEF-28).
  public var isSleepInhibited = false
  /// Causes that keep the board from sleeping as deeply as it could, as far as the caller may see them.
  public var holds: [WireHold] = []
  /// State of the receiver; nil on a board without one.
  public var receiver: WireReceiver?
  /// Current plan for board and receiver; nil for a caller without permission.
  public var plan: WirePlan?
  /// Number of clients with a demand on board or receiver, connected or not; restricted as ``clients``.
  public var demandingClients = 0
  /// Clients with a demand that the caller may see, and what they need.
  public var uses: [WireUse] = []

  /// Creates a status without the optional parts.
  public init(
    version: String, board: String, now: FixTime, generation: UInt32, nextSequence: UInt64?,
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

/// The current plan for the hardware, until the next event.
public struct WirePlan: Equatable, Sendable {
  /// Plan of the planner.
  public var plan: Plan
  /// Wake time in UTC; nil if UTC is unknown.
  public var wakeUTC: UTCTime?

  /// Creates a plan.
  public init(_ plan: Plan, wakeUTC: UTCTime? = nil) {
    self.plan = plan
    self.wakeUTC = wakeUTC
  }
}

/// State of the receiver, as reported to clients.
public enum WireReceiverState: UInt8, CaseIterable, Sendable {
  /// The supply is off.
  case off = 0
  /// The supply is off; a backup supply keeps clock and ephemeris.
  case backup = 1
  /// Asleep by command.
  case standby = 2
  /// Waking up or being configured.
  case starting = 3
  /// Running without a fix.
  case acquiring = 4
  /// Running with a fix.
  case tracking = 5
  /// Running with a fix in power save mode.
  case powersave = 6
  /// Running and storing fixes in its own buffer.
  case batching = 7
  /// Running; a caller without permission for location receives no more detail.
  case on = 8
  /// The receiver does not respond.
  case lost = 9
  /// The receiver sends fixes but responds to no command, so it cannot be put to sleep or batch.
  case streaming = 10
}

/// The receiver, as reported to clients.
public struct WireReceiver: Equatable, Sendable {
  /// State of the receiver.
  public var state: WireReceiverState
  /// Whether the receiver sends what the driver expects. A receiver that may be silent counts as answering until a
  /// response to a command is missing.
  public var isAnswering: Bool
  /// Time of the last change of ``state`` or ``isAnswering``.
  public var since: FixTime
  /// Time of the last byte that was read; nil if none was, or for a caller without permission.
  public var lastByte: FixTime?
  /// Time of its newest fix, delivered to a client or not; nil if it has none, or for a caller without permission.
  public var lastFix: FixTime?
  /// Why the receiver does not answer, and how to fix it, in one line.
  public var suggestion: String?

  /// Creates a description.
  public init(
    _ state: WireReceiverState, isAnswering: Bool, since: FixTime, lastByte: FixTime? = nil,
    lastFix: FixTime? = nil
  ) {
    self.state = state
    self.isAnswering = isAnswering
    self.since = since
    self.lastByte = lastByte
    self.lastFix = lastFix
  }
}

/// A service that a client has started.
public enum WireService: UInt8, CaseIterable, Sendable {
  /// Standard updates.
  case updates = 0
  /// Standard updates with a deferral that has not ended.
  case deferredUpdates = 1
  /// Significant change.
  case significantChange = 2
  /// Visits.
  case visits = 3
  /// At least one region or condition.
  case regions = 4
  /// At least one iterator of live updates.
  case liveUpdates = 5
  /// A request for one fix.
  case request = 6
  /// A background session, which is indicated to the user (BKG-11).
  case backgroundSession = 7
}

/// What a client needs from board and receiver.
public enum WireNeed: UInt8, CaseIterable, Sendable {
  /// Nothing.
  case nothing = 0
  /// A single fix at a certain time.
  case singleFixes = 1
  /// As few fixes as keep its last position within an accuracy bound.
  case position = 2
  /// Every fix, with deferred delivery.
  case everyFixLater = 3
  /// Every fix immediately.
  case everyFix = 4
}

/// A client that keeps the board or the receiver on, now or later.
public struct WireUse: Equatable, Sendable {
  /// User and name of the client.
  public var name: WireClientName
  /// Execution state of its process; nil if none is connected.
  public var execution: ExecutionState?
  /// Services that the client has started.
  public var services: [WireService] = []
  /// Demand of the client.
  public var need = WireNeed.nothing
  /// Whether the receiver is on continuously for the client.
  public var keepsReceiverOn = false
  /// Whether the board is awake for the client, continuously or for each fix.
  public var keepsBoardAwake = false
  /// Time at which the next single fix is due, or at which deferred fixes are checked.
  public var next: FixTime?

  /// Creates an entry without a demand.
  public init(_ name: WireClientName, execution: ExecutionState?) {
    self.name = name
    self.execution = execution
  }
}

extension WireReceiverState: WireEnum {
  static let wireWords: [(WireReceiverState, StaticString)] = [
    (.off, "off"), (.backup, "backup"), (.standby, "standby"), (.starting, "starting"),
    (.acquiring, "acquiring"), (.tracking, "tracking"), (.powersave, "powersave"),
    (.batching, "batching"), (.on, "on"), (.lost, "lost"),
    (.streaming, "streaming"),
  ]
}

extension WireService: WireEnum {
  static let wireWords: [(WireService, StaticString)] = [
    (.updates, "updates"), (.deferredUpdates, "deferred_updates"),
    (.significantChange, "significant_change"), (.visits, "visits"), (.regions, "regions"),
    (.liveUpdates, "live_updates"), (.request, "request"),
    (.backgroundSession, "background_session"),
  ]
}

extension WireNeed: WireEnum {
  static let wireWords: [(WireNeed, StaticString)] = [
    (.nothing, "nothing"), (.singleFixes, "single_fixes"), (.position, "position"),
    (.everyFixLater, "every_fix_later"), (.everyFix, "every_fix"),
  ]
}
