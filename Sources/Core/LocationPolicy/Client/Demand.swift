import LocationTypes

/// What one client needs of the hardware, independent of any particular hardware.
///
/// The planner turns the sum of all demands into a ``Plan``. A new service adds cases here.
public enum Demand: Equatable, Sendable {
  /// Nothing.
  case none
  /// Every fix, as soon as it is acquired. `isWatched`: the client is in the foreground.
  case live(isWatched: Bool)
  /// Every fix, but delivery may wait: the fixes must be checked at `check` at the latest.
  case deferred(check: Instant)
  /// As few fixes as keep the last reported position within `metres` of the true one.
  case within(metres: Double)
}

/// Sum of all clients' demands. Computed by `Engine`, used by ``Planner``.
public struct DemandSummary: Equatable, Sendable {
  /// Number of clients that need each fix now.
  public private(set) var live = 0
  /// Number of those clients that are in the foreground.
  public private(set) var watched = 0
  /// Number of clients whose fixes may be delivered later.
  public private(set) var deferred = 0
  /// Earliest time at which a client's criteria must be checked.
  public private(set) var check = Instant.distantFuture

  /// Smallest accuracy bound, metres, for the last reported position; infinite if no client has one.
  public private(set) var bound = Double.infinity
  /// Single fixes that services need.
  public var need = FixNeed()

  /// Creates an empty demand.
  public init() {}

  /// Whether the receiver must be on for clients that need every fix.
  public var needsEveryFix: Bool { live > 0 || deferred > 0 }

  /// Adds a check at `time`, in the future, independent of the clients' demands: a deadline that must be met.
  public mutating func addCheck(at time: Instant) { check = min(check, time) }

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
