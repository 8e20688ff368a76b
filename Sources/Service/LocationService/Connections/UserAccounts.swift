import LocationPolicy
import LocationTypes
import LocationWire

/// What users have asked for lately, and what they have caused in the log: rates that are limited per login user
/// (RES-5, RES-7).
///
/// A user whose calls are used up is not refused: its connections are not read until there is room again, so that the
/// kernel holds its programs back and nobody else.
struct UserAccounts {
  /// Calls of users without permission; see ``WireCall/cost(_:)``.
  static let unpermittedCalls = RateLimit(burst: 32, perSecond: 1)
  /// Calls of clients with permission that write durable state: room for all of a user's programs to come back at once,
  /// each with all of its regions.
  static let permittedCalls = RateLimit(burst: 256, perSecond: 2)
  /// Log lines that one user causes.
  static let linesPerUser = RateLimit(burst: 4, perSecond: 0.1)
  /// Log lines that all users cause together.
  static let lines = RateLimit(burst: 8, perSecond: 0.5)
  /// Above this number, users of whom nothing is missing are forgotten.
  static let capacity = 64

  /// What is counted together: a user pays for each standing apart, so that none of its programs gains or loses by
  /// what another one asks.
  private struct Payer: Hashable {
    var user: UInt32
    var standing: Standing
  }

  private var calls: [Payer: TokenBucket] = [:]
  /// By user; of nil are the lines of the service itself.
  private var userLines: [UInt32?: TokenBucket] = [:]
  private var allLines = TokenBucket(UserAccounts.lines, at: .boot)
  /// Lines that were left out since the last one was written.
  private(set) var suppressedLines = 0

  // MARK: Calls

  private static func limit(_ standing: Standing) -> RateLimit? {
    switch standing {
    case .unpermitted: unpermittedCalls
    case .permitted: permittedCalls
    case .administrator: nil
    }
  }

  /// How many users are counted, each of them once for each standing.
  var callAccounts: Int { calls.count }

  /// When the next call of that user may be handled; `now` or before where it may at once.
  func nextCall(of user: UInt32, _ standing: Standing, at now: Instant) -> Instant {
    guard UserAccounts.limit(standing) != nil,
      let bucket = calls[Payer(user: user, standing: standing)]
    else { return now }
    return bucket.time(of: 1, at: now)
  }

  /// A call of that user was handled.
  mutating func charge(_ cost: Double, to user: UInt32, _ standing: Standing, at now: Instant) {
    guard cost > 0, let limit = UserAccounts.limit(standing) else { return }
    let payer = Payer(user: user, standing: standing)
    var bucket = calls[payer] ?? TokenBucket(limit, at: now)
    bucket.take(cost, at: now)
    calls[payer] = bucket
    if calls.count > UserAccounts.capacity {
      calls = calls.filter { !$0.value.isFull(at: now) }
    }
  }

  // MARK: Log

  /// How many lines were left out before one that the user has caused, if that one may be written now; nil where it
  /// is left out, too. A line of the service itself (nil) has a rate of its own, and takes nothing of the others.
  mutating func takeLine(of user: UInt32?, at now: Instant) -> Int? {
    var bucket = userLines[user] ?? TokenBucket(UserAccounts.linesPerUser, at: now)
    let isCounted = user != nil
    guard bucket.level(at: now) >= 1, !isCounted || allLines.level(at: now) >= 1 else {
      suppressedLines += 1
      return nil
    }
    bucket.take(1, at: now)
    if isCounted { allLines.take(1, at: now) }
    userLines[user] = bucket
    if userLines.count > UserAccounts.capacity {
      userLines = userLines.filter { !$0.value.isFull(at: now) }
    }
    defer { suppressedLines = 0 }
    return suppressedLines
  }

  /// How many lines were left out, if that may be said now; they count as said.
  mutating func takeSuppressed(at now: Instant) -> Int? {
    guard suppressedLines > 0, deadline(at: now) <= now else { return nil }
    allLines.take(1, at: now)
    defer { suppressedLines = 0 }
    return suppressedLines
  }

  /// When it is said how many lines were left out, if no other line says it before: as soon as the whole burst is
  /// there again.
  func deadline(at now: Instant) -> Instant {
    suppressedLines > 0 ? allLines.time(of: UserAccounts.lines.burst, at: now) : .distantFuture
  }
}

/// What a call takes of its user's limits.
struct CallTerms {
  /// The standing of the connection's user.
  var standing: Standing
  /// The rate that the call counts against: that of the user's clients with or without permission.
  var payer: Standing
  /// How much of that rate the call takes; see ``WireCall/cost(_:)``.
  var cost: Double
  /// The largest size of the answer in bytes, approximately.
  var answerSize: Int
}

extension WireCall {
  /// What a call takes of its user's rate (``UserAccounts``): 1 where it may change durable state or a client's row,
  /// 1/32 for another one of a user without permission, else nothing.
  func cost(_ standing: Standing) -> Double {
    if standing == .administrator { return 0 }
    return changesState ? 1 : standing == .unpermitted ? WireCall.plainCost : 0
  }

  /// What a call of a user without permission takes that changes nothing, or is refused.
  static let plainCost = 1.0 / 32

  /// Whether it may change what is on the disk, or what the administrator is shown. An acknowledgement changes
  /// something only where there was a new fix or event.
  private var changesState: Bool {
    switch self {
    case .connect, .startUpdating, .stopUpdating, .startSignificantChange, .stopSignificantChange,
      .startVisits, .stopVisits, .addRegion, .removeRegion, .requestAuthorization,
      .openServiceSession, .openBackgroundSession, .closeBackgroundSession, .openLive:
      true
    case .getInfo, .getInterfaceDescription, .watch, .configure, .allowDeferred,
      .disallowDeferred, .setExecution, .acknowledge, .acknowledgeEvents, .requestLocation,
      .requestRegionState, .listRegions, .closeLive, .getLocation, .getStatus, .getPowerPlan,
      .getEnergy, .drain, .readBacklog, .listClients, .allowClient, .denyClient, .reduceClient,
      .forgetClient, .flush, .closeServiceSession:
      false
    }
  }

  /// The largest size of most answers in bytes, approximately.
  static let plainAnswerSize = 512

  /// The most bytes that its answer may have, about.
  func answerSize(_ standing: Standing) -> Int {
    switch self {
    case .getInterfaceDescription: 32_768
    // Others than an administrator, or who may use location, see little of them.
    case .getStatus, .listClients: standing == .unpermitted ? 4_096 : Connection.highWater
    case .listRegions: 8_192
    default: WireCall.plainAnswerSize
    }
  }
}
