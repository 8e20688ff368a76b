import LocationPolicy
import LocationTypes
import TextFormats

/// The state of the service.
public struct WireStatus: WireRecord, Equatable, Sendable {
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
  /// Feed of the system clock; nil if it is not fed, and for a caller without permission.
  public var clock: WireClock?

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

  init() {
    self.init(
      version: "", board: "", now: .unset, generation: 0, nextSequence: nil, ringCapacity: 0,
      clients: 0)
  }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("version", &version)
    try coder.code("board", &board)
    try coder.code("now", &now)
    try coder.code("generation", &generation)
    try coder.code("next_sequence", &nextSequence)
    try coder.code("ring_capacity", &ringCapacity)
    try coder.code("ring_fixes", &ringFixes)
    try coder.code("newest", &newest)
    try coder.code("clients", &clients)
    try coder.code("battery_percent", &batteryPercent)
    try coder.code("given_up", &shed)
    try coder.code("sleep_inhibited", &isSleepInhibited)
    try coder.code("holds", &holds)
    try coder.code("receiver", &receiver)
    try coder.code("plan", &plan)
    try coder.code("demanding", &demandingClients)
    try coder.code("uses", &uses)
    try coder.code("clock", &clock)
  }
}

/// The current plan for the hardware, until the next event.
public struct WirePlan: WireObject, Equatable, Sendable {
  /// Plan of the planner.
  public var plan: Plan
  /// Wake time in UTC; nil if UTC is unknown.
  public var wakeUTC: UTCTime?

  /// Creates a plan.
  public init(_ plan: Plan, wakeUTC: UTCTime? = nil) {
    self.plan = plan
    self.wakeUTC = wakeUTC
  }

  init(_ fields: inout JSONFields) throws(WireError) {
    let receiver: ReceiverMode
    switch try fields.read("receiver") as String {
    case "off": receiver = .off
    case "standby": receiver = .standby
    case "tracking": receiver = .tracking
    case "powersave": receiver = .powersave
    case "batching": receiver = .batching(watermark: try fields.read("watermark"))
    default: throw fields.invalid("receiver")
    }
    let wake: FixTime? = try fields.read("wake")
    self.init(
      Plan(
        receiver: receiver, board: try fields.read("board"), wake: wake?.acquired ?? .distantFuture,
        wakesOnInput: try fields.read("listens")), wakeUTC: wake?.utc)
  }

  func write(to json: inout JSONOutput) {
    switch plan.receiver {
    case .off: json.member("receiver", word: "off")
    case .standby: json.member("receiver", word: "standby")
    case .tracking: json.member("receiver", word: "tracking")
    case .powersave: json.member("receiver", word: "powersave")
    case .batching(let watermark):
      json.member("receiver", word: "batching")
      json.write("watermark", watermark)
    }
    json.write("board", plan.board)
    if plan.wake < .distantFuture {
      json.write("wake", FixTime(acquired: plan.wake, utc: wakeUTC))
    }
    json.write("listens", plan.wakesOnInput)
  }
}

/// State of the receiver, as reported to clients.
public enum WireReceiverState: String, WireWord, CaseIterable, Sendable {
  /// The supply is off.
  case off
  /// The supply is off; a backup supply keeps clock and ephemeris.
  case backup
  /// Asleep by command.
  case standby
  /// Waking up or being configured.
  case starting
  /// Running without a fix.
  case acquiring
  /// Running with a fix.
  case tracking
  /// Running with a fix in power save mode.
  case powersave
  /// Running and storing fixes in its own buffer.
  case batching
  /// Running; a caller without permission for location receives no more detail.
  case on
  /// The receiver does not respond.
  case lost
  /// The receiver sends fixes but responds to no command, so it cannot be put to sleep or batch.
  case streaming
}

/// The receiver, as reported to clients.
public struct WireReceiver: WireRecord, Equatable, Sendable {
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

  init() { self.init(.off, isAnswering: false, since: .unset) }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("state", &state)
    try coder.code("answers", &isAnswering)
    try coder.code("since", &since)
    try coder.code("heard", &lastByte)
    try coder.code("fixed", &lastFix)
    try coder.code("remedy", &suggestion)
  }
}

/// A service that a client has started.
public enum WireService: String, WireWord, CaseIterable, Sendable {
  /// Standard updates.
  case updates
  /// Standard updates with a deferral that has not ended.
  case deferredUpdates = "deferred_updates"
  /// Significant change.
  case significantChange = "significant_change"
  /// Visits.
  case visits
  /// At least one region or condition.
  case regions
  /// At least one iterator of live updates.
  case liveUpdates = "live_updates"
  /// A request for one fix.
  case request
  /// A background session, which is indicated to the user (BKG-11).
  case backgroundSession = "background_session"
}

/// What a client needs from board and receiver.
public enum WireNeed: String, WireWord, CaseIterable, Sendable {
  /// Nothing.
  case nothing
  /// A single fix at a certain time.
  case singleFixes = "single_fixes"
  /// As few fixes as keep its last position within an accuracy bound.
  case position
  /// Every fix, with deferred delivery.
  case everyFixLater = "every_fix_later"
  /// Every fix immediately.
  case everyFix = "every_fix"
}

/// A client that keeps the board or the receiver on, now or later.
public struct WireUse: WireRecord, Equatable, Sendable {
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

  init() { self.init(WireClientName(user: 0, name: ""), execution: nil) }

  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code(membersOf: &name)
    try coder.code("execution", &execution)
    try coder.code("services", &services)
    try coder.code("needs", &need)
    try coder.code("keeps_receiver", &keepsReceiverOn)
    try coder.code("keeps_board", &keepsBoardAwake)
    try coder.code("next", &next)
  }
}
