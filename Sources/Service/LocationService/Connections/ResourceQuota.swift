import LocationTypes

// Limits of the service's shared resources per user (RES-1 to RES-8): client slots, connections, unsent output,
// state changes and log lines. The numbers are in Docs/Reference/resources.md.

/// The class of a user for limits.
enum Standing: Equatable {
  /// None of the user's clients may use location.
  case unpermitted
  /// At least one of the user's clients may use location.
  case permitted
  /// The user may decide about other clients.
  case administrator
}

/// The capacity of a shared resource, and the share of each user.
///
/// Users are counted by login user: all subordinate user IDs of one count as one user.
struct ResourceQuota {
  /// The limit that refuses a further unit.
  enum Refusal: Equatable {
    /// The limit of one user.
    case user
    /// The limit of all users without permission together.
    case unpermitted
    /// The total, except what is reserved for administrators.
    case total
  }

  /// Amounts in use.
  struct Usage {
    /// By all users.
    var all = 0
    /// By all users without permission.
    var unpermitted = 0
    /// By the requesting user.
    var own = 0
  }

  /// Total capacity.
  let total: Int
  /// Part of it reserved for administrators.
  let reserved: Int
  /// Limit of all users without permission together.
  let unpermitted: Int
  /// Limit of one user.
  let perUser: Int
  /// Limit of one user without permission.
  let perUnpermittedUser: Int

  /// The limit that refuses one more unit; nil if it is granted.
  func refusal(_ standing: Standing, _ usage: Usage) -> Refusal? {
    switch standing {
    case .administrator: return usage.all >= total ? .total : nil
    case .permitted:
      if usage.own >= perUser { return .user }
    case .unpermitted:
      if usage.own >= perUnpermittedUser { return .user }
      if usage.unpermitted >= unpermitted { return .unpermitted }
    }
    return usage.all >= total - reserved ? .total : nil
  }
}

/// A client or connection of a user without permission, which may be displaced for another user.
struct DisplacementCandidate {
  /// Index of the client slot or connection.
  var index: Int
  /// Login user.
  var user: UInt32
  /// Amount of the resource that it uses.
  var amount = 1
  /// Whether it belongs to a client that had permission and may have started services then.
  var hadPermission = false
  /// Whether it is unused now.
  var isIdle: Bool
  /// Time of its last use.
  var lastUse: Instant

  /// The entry to displace for a new one of `user`; nil if none is displaced. It belongs to the user with the largest
  /// amount, if that is more than `user` would have with one unit more. Otherwise, with `includesIdle`, it is the least
  /// useful idle entry of any user. Entries of clients that had permission are displaced only if no other can be.
  static func selectDisplaced(
    for user: UInt32?, among all: [DisplacementCandidate], includesIdle: Bool
  ) -> Int? {
    let others = all.filter { !$0.hadPermission }
    if others.count < all.count,
      let index = selectDisplaced(for: user, among: others, includesIdle: includesIdle)
    {
      return index
    }
    var amounts: [UInt32: Int] = [:]
    for entry in all { amounts[entry.user, default: 0] += entry.amount }
    let own = user.flatMap { amounts[$0] } ?? 0
    let heaviest = amounts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    if let heaviest, heaviest.key != user, heaviest.value > own + 1 {
      return leastUseful(all.filter { $0.user == heaviest.key })
    }
    return includesIdle ? leastUseful(all.filter(\.isIdle)) : nil
  }

  /// The least useful entry: first those that never had permission, then idle ones, then by larger amount, then by
  /// least recent use.
  static func leastUseful(_ all: [DisplacementCandidate]) -> Int? {
    all.min { $0.order < $1.order }?.index
  }

  private var order: (Int, Int, Int, Instant) {
    (hadPermission ? 1 : 0, isIdle ? 0 : 1, -amount, lastUse)
  }
}

/// A rate limit: `burst` units without delay, and `perSecond` units on average.
struct RateLimit: Equatable {
  let burst: Double
  let perSecond: Double
}

/// The state of a rate limit, a token bucket.
struct TokenBucket {
  private var level: Double
  private var levelTime: Instant
  let limit: RateLimit

  /// Creates a full bucket.
  init(_ limit: RateLimit, at now: Instant) {
    self.limit = limit
    level = limit.burst
    levelTime = now
  }

  /// Number of available tokens; negative after an overdraft.
  func level(at now: Instant) -> Double {
    let seconds = Double(max(0, (now - levelTime).microseconds)) / 1_000_000
    return min(limit.burst, level + seconds * limit.perSecond)
  }

  /// Consumes tokens. May overdraw the bucket.
  mutating func consume(_ cost: Double, at now: Instant) {
    level = self.level(at: now) - cost
    levelTime = now
  }

  /// Earliest time at which the bucket is full.
  func fullTime(at now: Instant) -> Instant { time(reaching: limit.burst, at: now) }

  /// Earliest time at which at least `amount` tokens are available.
  func time(reaching amount: Double, at now: Instant) -> Instant {
    let missing = amount - level(at: now)
    guard missing > 0 else { return now }
    return now + Interval(microseconds: Int64((missing / limit.perSecond * 1_000_000).rounded(.up)))
  }
}

/// Buckets by user or another key, of a bounded number.
struct TokenBucketTable<Key: Hashable> {
  /// Largest number of buckets. A further one replaces the one that is full first, whose key is then not limited by its
  /// earlier consumption.
  let capacity: Int
  private(set) var buckets: [Key: TokenBucket] = [:]

  init(capacity: Int) { self.capacity = capacity }

  /// Earliest time at which a key has a token; `now` if there is no delay.
  func nextTime(of key: Key, at now: Instant) -> Instant {
    buckets[key]?.time(reaching: 1, at: now) ?? now
  }

  /// Consumes tokens of a key. May overdraw its bucket; a bucket with another limit is replaced by a full one. O(1), or
  /// O(``capacity``) for a new key if all are in use.
  mutating func consume(_ cost: Double, of key: Key, _ limit: RateLimit, at now: Instant) {
    var bucket = buckets[key] ?? TokenBucket(limit, at: now)
    if bucket.limit != limit { bucket = TokenBucket(limit, at: now) }
    bucket.consume(cost, at: now)
    if buckets.count >= capacity, buckets[key] == nil {
      let fullest = buckets.min { $0.value.fullTime(at: now) < $1.value.fullTime(at: now) }
      if let fullest { buckets[fullest.key] = nil }
    }
    buckets[key] = bucket
  }
}
