import LocationTypes

/// What one client needs of the hardware, in words that no hardware knows.
///
/// Later services add cases; the planner turns the sum of demands into a ``Plan``.
public enum Demand: Equatable, Sendable {
  /// Nothing.
  case none
  /// Every fix, as soon as it is made. `isWatched`: somebody in the foreground waits for it.
  case live(isWatched: Bool)
  /// Every fix, but later: the host must look at the fixes at `check` at the latest.
  case deferred(check: Instant)
  /// As few fixes as keep the last reported position within so many metres of the true one.
  case within(metres: Double)
}

/// The sum of all clients' demands.
public struct DemandSummary: Equatable, Sendable {
  /// Clients that need each fix now.
  public private(set) var live = 0
  /// Of those, clients in the foreground.
  public private(set) var watched = 0
  /// Clients whose fixes may wait.
  public private(set) var deferred = 0
  /// The earliest moment at which a client's criteria must be looked at.
  public private(set) var check = Instant.distantFuture

  /// The least distance, metres, that the last reported position may be off; infinite when nobody
  /// was promised one.
  public private(set) var bound = Double.infinity
  /// Single fixes that services need.
  public var need = FixNeed()

  /// No demand at all.
  public init() {}

  /// Whether the receiver is on for those who want every fix.
  public var wantsEveryFix: Bool { live > 0 || deferred > 0 }

  /// Asks for a look at `time`, which lies ahead, whatever the clients' demands are: a promise is
  /// due then.
  public mutating func look(at time: Instant) { check = min(check, time) }

  /// Adds one client's demand.
  public mutating func add(_ demand: Demand) {
    switch demand {
    case .none: break
    case .live(let isWatched):
      live += 1
      if isWatched { watched += 1 }
    case .deferred(let check):
      deferred += 1
      self.check = min(self.check, check)
    case .within(let metres): bound = min(bound, metres)
    }
  }
}
