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

  /// No demand at all.
  public init() {}

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
    }
  }
}
