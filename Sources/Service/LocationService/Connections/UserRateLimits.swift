import LocationPolicy
import LocationTypes
import LocationWire

/// Rate limits per login user: calls (RES-5) and log lines (RES-7).
///
/// A call over its user's rate is not refused. The connection is not read until the rate permits it, so that the
/// kernel blocks that user's programs and no others.
struct UserRateLimits {
  /// Rate of calls of users without permission; see ``WireCall/cost(_:)``.
  static let unpermittedCalls = RateLimit(burst: 32, perSecond: 1)
  /// Rate of calls of permitted clients that change durable state. The burst permits all programs of a user to
  /// reconnect at the same time, each with all its regions.
  static let permittedCalls = RateLimit(burst: 256, perSecond: 2)
  /// Rate of log lines caused by one user.
  static let linesPerUser = RateLimit(burst: 4, perSecond: 0.1)
  /// Rate of log lines caused by all users together.
  static let lines = RateLimit(burst: 8, perSecond: 0.5)
  /// Number of buckets above which full ones are removed.
  static let capacity = 64

  /// Key of a bucket of calls: each user has one per standing, so that its permitted and unpermitted clients do not
  /// affect each other.
  private struct BucketKey: Hashable {
    var user: UInt32
    var standing: Standing
  }

  private var calls: [BucketKey: TokenBucket] = [:]
  /// Log buckets by user; nil for lines of the service itself.
  private var userLines: [UInt32?: TokenBucket] = [:]
  private var allLines = TokenBucket(UserRateLimits.lines, at: .boot)
  /// Number of lines omitted since the last one that was written.
  private(set) var suppressedLines = 0

  // MARK: Calls

  private static func limit(_ standing: Standing) -> RateLimit? {
    switch standing {
    case .unpermitted: unpermittedCalls
    case .permitted: permittedCalls
    case .administrator: nil
    }
  }

  /// Number of buckets of calls.
  var callBucketCount: Int { calls.count }

  /// Earliest time at which the next call of a user may be handled; `now` if there is no delay.
  func nextCall(of user: UInt32, _ standing: Standing, at now: Instant) -> Instant {
    guard UserRateLimits.limit(standing) != nil,
      let bucket = calls[BucketKey(user: user, standing: standing)]
    else { return now }
    return bucket.time(reaching: 1, at: now)
  }

  /// Charges a call to a user.
  mutating func charge(_ cost: Double, to user: UInt32, _ standing: Standing, at now: Instant) {
    guard cost > 0, let limit = UserRateLimits.limit(standing) else { return }
    let key = BucketKey(user: user, standing: standing)
    var bucket = calls[key] ?? TokenBucket(limit, at: now)
    bucket.consume(cost, at: now)
    calls[key] = bucket
    if calls.count > UserRateLimits.capacity {
      calls = calls.filter { !$0.value.isFull(at: now) }
    }
  }

  // MARK: Log

  /// Consumes one line of a user's rate. Returns the number of lines omitted before; nil if the line must be omitted.
  /// Lines of the service itself (nil) have their own rate and do not count against that of all users.
  mutating func consumeLine(of user: UInt32?, at now: Instant) -> Int? {
    var bucket = userLines[user] ?? TokenBucket(UserRateLimits.linesPerUser, at: now)
    let isCounted = user != nil
    guard bucket.level(at: now) >= 1, !isCounted || allLines.level(at: now) >= 1 else {
      suppressedLines += 1
      return nil
    }
    bucket.consume(1, at: now)
    if isCounted { allLines.consume(1, at: now) }
    userLines[user] = bucket
    if userLines.count > UserRateLimits.capacity {
      userLines = userLines.filter { !$0.value.isFull(at: now) }
    }
    defer { suppressedLines = 0 }
    return suppressedLines
  }

  /// The number of omitted lines, if it may be logged now. Resets the number.
  mutating func consumeSuppressedLines(at now: Instant) -> Int? {
    guard suppressedLines > 0, deadline(at: now) <= now else { return nil }
    allLines.consume(1, at: now)
    defer { suppressedLines = 0 }
    return suppressedLines
  }

  /// Time at which the number of omitted lines is logged unless another line reports it before: when the common bucket
  /// is full again.
  func deadline(at now: Instant) -> Instant {
    suppressedLines > 0
      ? allLines.time(reaching: UserRateLimits.lines.burst, at: now) : .distantFuture
  }
}

/// The cost of a call: tokens of the user's rate limit, and output. ``LocationServer`` computes it before the call.
struct CallCharge {
  /// Standing of the connection's user.
  var standing: Standing
  /// The rate that the call counts against: that of the user's permitted or unpermitted clients.
  var rateStanding: Standing
  /// Tokens of that rate; see ``WireCall/cost(_:)``.
  var cost: Double
  /// Approximate maximum size of the answer in bytes.
  var answerSize: Int
}

extension WireCall {
  /// Tokens that a call consumes of its user's rate (``UserRateLimits``): 1 if it may change durable state or a
  /// client's row, 1/32 for any other call of a user without permission, else 0.
  func cost(_ standing: Standing) -> Double {
    if standing == .administrator { return 0 }
    return changesState ? 1 : standing == .unpermitted ? WireCall.plainCost : 0
  }

  /// Cost of a call of a user without permission that changes nothing or is refused.
  static let plainCost = 1.0 / 32

  /// Whether the call may change durable state, or what administrators are shown. Acknowledgements are excluded,
  /// because they change something only after a new fix or event.
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

  /// Approximate maximum size of most answers in bytes.
  static let plainAnswerSize = 512

  /// Approximate maximum size of the answer in bytes.
  func answerSize(_ standing: Standing) -> Int {
    switch self {
    case .getInterfaceDescription: 32_768
    // Short for users without permission, who see only their own entries.
    case .getStatus, .listClients: standing == .unpermitted ? 4_096 : Connection.highWater
    case .listRegions: 8_192
    default: WireCall.plainAnswerSize
    }
  }
}
