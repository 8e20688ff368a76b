import LocationPolicy
import LocationTypes
import LocationWire

/// Rate limits of calls per login user (RES-5).
///
/// A call over its user's rate is not refused. The connection is not read until the rate permits it, so that the
/// kernel blocks that user's programs and no others.
struct CallRateLimits {
  /// Rate of calls of users without permission; see ``WireCall/cost(_:)``.
  static let unpermittedCalls = RateLimit(burst: 32, perSecond: 1)
  /// Rate of calls of permitted clients that change durable state. The burst permits all programs of a user to
  /// reconnect at the same time, each with all its regions.
  static let permittedCalls = RateLimit(burst: 256, perSecond: 2)
  /// Largest number of buckets.
  static let capacity = 64

  /// Key of a bucket: each user has one per standing, so that its permitted and unpermitted clients do not affect each
  /// other.
  struct BucketKey: Hashable {
    let user: UInt32
    let standing: Standing
  }

  private(set) var buckets = TokenBucketTable<BucketKey>(capacity: capacity)

  private static func limit(_ standing: Standing) -> RateLimit? {
    switch standing {
    case .unpermitted: unpermittedCalls
    case .permitted: permittedCalls
    case .administrator: nil
    }
  }

  /// Earliest time at which the next call of a user may be handled; `now` if there is no delay.
  func nextCall(of user: UInt32, _ standing: Standing, at now: Instant) -> Instant {
    // An administrator has no bucket.
    buckets.nextTime(of: BucketKey(user: user, standing: standing), at: now)
  }

  /// Charges a call to a user. O(1), except for the first call of a user with all buckets in use: O(``capacity``).
  mutating func charge(_ cost: Double, to user: UInt32, _ standing: Standing, at now: Instant) {
    guard cost > 0, let limit = CallRateLimits.limit(standing) else { return }
    buckets.consume(cost, of: BucketKey(user: user, standing: standing), limit, at: now)
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
  /// Tokens that a call consumes of its user's rate (``CallRateLimits``): 1 if it may change durable state or a
  /// client's row, 1/32 for any other call of a user without permission, else 0.
  func cost(_ standing: Standing) -> Double {
    if standing == .administrator { return 0 }
    return method.traits.contains(.charged) ? 1 : standing == .unpermitted ? WireCall.plainCost : 0
  }

  /// Cost of a call of a user without permission that changes nothing or is refused.
  static let plainCost = 1.0 / 32

  /// Approximate maximum size of most answers in bytes.
  static let plainAnswerSize = 512

  /// Approximate maximum size of the answer in bytes.
  func answerSize(_ standing: Standing) -> Int {
    switch self {
    case .getInterfaceDescription: 32_768
    // Short for users without permission, who see only their own entries.
    case .getStatus, .listClients: standing == .unpermitted ? 4_096 : Connection.highWater
    case .listRegions: 8_192
    case .getMetrics: standing == .unpermitted ? WireCall.plainAnswerSize : 4_096
    default: WireCall.plainAnswerSize
    }
  }
}
