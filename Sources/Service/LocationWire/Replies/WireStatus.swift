import LocationPolicy
import LocationTypes

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
  /// The sequence number that the next fix gets; nil for who may not know how many there are.
  public var nextSequence: UInt64?
  /// Fixes that the ring holds at most.
  public var ringCapacity: Int
  /// Slots of the ring that are in use: from the oldest readable fix to the newest; nil for who may not know.
  public var ringFixes: Int?
  /// When the newest fix was true.
  public var newest: FixTime?
  /// Clients that are connected; of the asker's own user alone where it may not know about others.
  public var clients: Int
  /// The battery's charge, where there is a gauge.
  public var batteryPercent: UInt8?
  /// What the battery's charge makes the service give up (PWR-10).
  public var givenUp = PromiseSet.none
  /// Something keeps the board from sleeping (DEF-28).
  public var isSleepInhibited = false
  /// What keeps the board from sleeping as deeply as it could, as far as whoever asks may know.
  public var holds: [WireHold] = []
  /// How the receiver is; nil on a board without one.
  public var receiver: WireReceiver?
  /// What board and receiver are to do until something happens; nil for who may not know.
  public var plan: WirePlan?
  /// Clients that need something of board or receiver, connected or not; counted as ``clients``.
  public var demanding = 0
  /// Those of them that whoever asks may know, and what they need.
  public var uses: [WireUse] = []

  /// Creates a status of which the optional parts are not known.
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

/// What the receiver does.
public enum WireReceiverState: UInt8, CaseIterable, Sendable {
  /// Its supply is cut.
  case off = 0
  /// Its supply is cut, but what keeps its clock and orbits is not.
  case backup = 1
  /// Asleep on command.
  case standby = 2
  /// It is being woken and configured.
  case starting = 3
  /// Running without a fix.
  case acquiring = 4
  /// Running with a fix.
  case tracking = 5
  /// The same in its own duty cycle.
  case powersave = 6
  /// Running, and keeping its fixes in its own buffer.
  case batching = 7
  /// Running; all that is told to who may not know where the board is.
  case on = 8
  /// It does not answer.
  case lost = 9
  /// It sends fixes, and answers no command: it cannot be put to sleep or batch.
  case streaming = 10
}

/// How the receiver is.
public struct WireReceiver: Equatable, Sendable {
  /// What it does.
  public var state: WireReceiverState
  /// It says what it should. One that may be silent counts as answering until it is asked something.
  public var answers: Bool
  /// Since when it does that, and answers so.
  public var since: FixTime
  /// When it said something the last time, as far as that was read; nil while it never did, and for who may not
  /// know.
  public var heard: FixTime?
  /// When its newest fix was made, told to anybody or not; nil while it has made none, and for who may not
  /// know.
  public var fixed: FixTime?
  /// What is the matter where it does not answer, and what helps, in one line.
  public var remedy: String?

  /// Creates a description.
  public init(
    _ state: WireReceiverState, answers: Bool, since: FixTime, heard: FixTime? = nil,
    fixed: FixTime? = nil
  ) {
    self.state = state
    self.answers = answers
    self.since = since
    self.heard = heard
    self.fixed = fixed
  }
}

/// A service that a client has started.
public enum WireService: UInt8, CaseIterable, Sendable {
  /// Standard updates.
  case updates = 0
  /// A deferral of them that has not ended.
  case deferredUpdates = 1
  /// Significant change.
  case significantChange = 2
  /// Visits.
  case visits = 3
  /// At least one region or condition.
  case regions = 4
  /// At least one iterator of live updates.
  case liveUpdates = 5
  /// One fix.
  case request = 6
  /// A background session, which is seen (BKG-11).
  case backgroundSession = 7
}

/// What a client needs of board and receiver.
public enum WireNeed: UInt8, CaseIterable, Sendable {
  /// Nothing.
  case nothing = 0
  /// Single fixes, the next one at a time.
  case singleFixes = 1
  /// As few fixes as keep its last position good enough.
  case position = 2
  /// Every fix, and they may be told later.
  case everyFixLater = 3
  /// Every fix as it is made.
  case everyFix = 4
}

/// A client that keeps board or receiver from resting, or will.
public struct WireUse: Equatable, Sendable {
  /// Who.
  public var name: WireClientName
  /// What state its process is in; nil if none is connected.
  public var execution: ExecutionState?
  /// What it has started.
  public var services: [WireService] = []
  /// What it needs.
  public var need = WireNeed.nothing
  /// For it the receiver is on all the time.
  public var keepsReceiver = false
  /// For it the board is awake all the time, or for each fix.
  public var keepsBoard = false
  /// When the next of its single fixes must be there; when its deferred ones are looked at.
  public var next: FixTime?

  /// A client that needs nothing.
  public init(_ name: WireClientName, execution: ExecutionState?) {
    self.name = name
    self.execution = execution
  }
}

extension WireReceiverState: WireWord {
  static let wireWords: [(WireReceiverState, StaticString)] = [
    (.off, "off"), (.backup, "backup"), (.standby, "standby"), (.starting, "starting"),
    (.acquiring, "acquiring"), (.tracking, "tracking"), (.powersave, "powersave"),
    (.batching, "batching"), (.on, "on"), (.lost, "lost"),
    (.streaming, "streaming"),
  ]
}

extension WireService: WireWord {
  static let wireWords: [(WireService, StaticString)] = [
    (.updates, "updates"), (.deferredUpdates, "deferred_updates"),
    (.significantChange, "significant_change"), (.visits, "visits"), (.regions, "regions"),
    (.liveUpdates, "live_updates"), (.request, "request"),
    (.backgroundSession, "background_session"),
  ]
}

extension WireNeed: WireWord {
  static let wireWords: [(WireNeed, StaticString)] = [
    (.nothing, "nothing"), (.singleFixes, "single_fixes"), (.position, "position"),
    (.everyFixLater, "every_fix_later"), (.everyFix, "every_fix"),
  ]
}
