import LocationTypes

// What users may have of the service's shared resources (RES-1 to RES-8): client rows, connections, waiting output,
// state changes and log lines. The figures are in Docs/Reference/resources.md.

/// What a user counts as where something is limited.
enum Standing: Equatable {
  /// None of the user's programs may use location.
  case unpermitted
  /// At least one may.
  case permitted
  /// The user decides about others.
  case administrator
}

/// How much of one shared resource there is, and how much of it a user may have.
///
/// Users are counted by their login user: all subordinate ids of one count as one user.
struct ResourceQuota {
  /// Why a user gets no more.
  enum Refusal: Equatable {
    /// The user has as much as one user may have.
    case user
    /// The users without permission together have as much as they may have.
    case unpermitted
    /// What is left is for administrators, or nothing is left.
    case total
  }

  /// What is in use.
  struct Usage {
    /// By all users.
    var all = 0
    /// By all users without permission.
    var unpermitted = 0
    /// By the user that asks.
    var own = 0
  }

  /// How much there is.
  var total: Int
  /// Left for administrators.
  var reserved: Int
  /// The share of all users without permission together.
  var unpermitted: Int
  /// For one user.
  var perUser: Int
  /// For one user without permission.
  var perUnpermittedUser: Int

  /// Why a user who has `usage.own` may not have one more; nil if the user may.
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

/// Something that a user without permission has, and that may be taken for another user.
struct Holding {
  /// Where it is.
  var place: Int
  /// Whose, by the login user.
  var user: UInt32
  /// How much it takes of the resource.
  var amount = 1
  /// It is a client's that had permission, and may have asked for something then.
  var hadPermission = false
  /// Nobody uses it now.
  var isIdle: Bool
  /// When it was used last.
  var since: Instant

  /// What goes for something new of `user`: of the user who has the most, if that is more than `user` would have
  /// then; else, where `takesIdle` is set, the idle one of anybody that was used least recently. nil where all
  /// stays. What belongs to clients that had permission goes only where nothing else can.
  static func displaced(for user: UInt32?, among all: [Holding], takesIdle: Bool) -> Int? {
    let others = all.filter { !$0.hadPermission }
    if others.count < all.count,
      let place = displaced(for: user, among: others, takesIdle: takesIdle)
    {
      return place
    }
    var amounts: [UInt32: Int] = [:]
    for one in all { amounts[one.user, default: 0] += one.amount }
    let own = user.flatMap { amounts[$0] } ?? 0
    let heaviest = amounts.max { ($0.value, $1.key) < ($1.value, $0.key) }
    if let heaviest, heaviest.key != user, heaviest.value > own + 1 {
      return least(all.filter { $0.user == heaviest.key })
    }
    return takesIdle ? least(all.filter(\.isIdle)) : nil
  }

  /// The one that is missed least: what never had permission first, then idle ones, then what takes more, then what
  /// was used least recently.
  static func least(_ all: [Holding]) -> Int? { all.min { $0.order < $1.order }?.place }

  private var order: (Int, Int, Int, Instant) {
    (hadPermission ? 1 : 0, isIdle ? 0 : 1, -amount, since)
  }
}

/// A bound on how often something may happen: `burst` times at once, and `perSecond` times for long.
struct RateLimit: Equatable {
  var burst: Double
  var perSecond: Double
}

/// What is left of a rate limit (a token bucket).
struct TokenBucket {
  private var level: Double
  private var at: Instant
  let limit: RateLimit

  /// A full one.
  init(_ limit: RateLimit, at now: Instant) {
    self.limit = limit
    level = limit.burst
    at = now
  }

  /// How many are there; negative where more were taken.
  func level(at now: Instant) -> Double {
    let seconds = Double(max(0, (now - at).microseconds)) / 1_000_000
    return min(limit.burst, level + seconds * limit.perSecond)
  }

  /// Takes some; more than there are make a debt.
  mutating func take(_ cost: Double, at now: Instant) {
    level = self.level(at: now) - cost
    at = now
  }

  /// Whether nothing is missing.
  func isFull(at now: Instant) -> Bool { level(at: now) >= limit.burst }

  /// When there are at least `wanted`.
  func time(of wanted: Double, at now: Instant) -> Instant {
    let missing = wanted - level(at: now)
    guard missing > 0 else { return now }
    return now + Interval(microseconds: Int64((missing / limit.perSecond * 1_000_000).rounded(.up)))
  }
}
