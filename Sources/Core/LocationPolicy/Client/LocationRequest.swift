import DeferralCache
import LocationTypes

/// One call of `requestLocation()`: exactly one fix or one error (STD-11).
///
/// It owns nothing but the best fix so far; its owner does what the outcome says. Cancelled by
/// start, stop and `allowDeferred…` (DEF-44), and then nothing is told.
public struct LocationRequest: Equatable, Sendable {
  /// Whether a call is outstanding.
  public enum State: UInt8, Equatable, Sendable {
    /// None is.
    case idle = 0
    /// One is.
    case pending = 1
  }

  /// What happens.
  public enum Event: Sendable {
    /// The call. `recent` is the newest valid fix if it is ≤ 10 s old; `until` the end of its time.
    case request(LocationRequestTerms, recent: StoredFix?)
    /// A valid fix was made.
    case fix(StoredFix)
    /// Time passed.
    case time(Instant)
    /// Updates were started or stopped, or a deferral was called.
    case cancel
    /// There will be no fix: `denied`, or `locationUnknown` when the receiver is lost.
    case fail(LocationErrorCode)
  }

  /// What the owner has to do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// `didUpdateLocations` with this one.
    case deliver(StoredFix)
    /// `didFailWithError`.
    case fail(LocationErrorCode)
  }

  /// How long a request lasts unless its owner says otherwise: a cold start fits in [ours].
  public static let patience = Interval.seconds(30)

  /// Whether a call is outstanding.
  public private(set) var state = State.idle
  /// What the outstanding call wants; nil when idle.
  public private(set) var terms: LocationRequestTerms?
  private var best: StoredFix?

  /// No call is outstanding.
  public init() {}

  /// When ``Event/time(_:)`` is due; `.distantFuture` when idle. Fixes are wanted until then.
  public var check: Instant { terms?.until ?? .distantFuture }

  /// Takes an event; the one place that writes the state. O(1).
  public mutating func handle(_ event: Event) -> Outcome {
    #if REACHED
      LocationRequest.machine.reach(Int(state.rawValue), event.column)
    #endif
    switch (state, event) {
    case (.idle, .request(let called, let recent)):
      terms = called
      best = recent
    case (.pending, .fix(let stored)):
      if isCurrent(stored) { best = LocationRequest.better(of: best, stored) }
    case (.idle, .fix), (.idle, .time), (.idle, .cancel), (.idle, .fail), (.pending, .request),
      (.pending, .time), (.pending, .cancel), (.pending, .fail):
      break
    }
    let (next, outcome) = step(event)
    state = next
    if next == .idle {
      terms = nil
      best = nil
    }
    return outcome
  }

  private func step(_ event: Event) -> (State, Outcome) {
    switch (state, event) {
    case (.idle, .request(let called, _)):
      // While updates run they bring the fixes: the call does nothing.
      called.isUpdating ? (.idle, .nothing) : settle(at: called.made)
    case (.idle, .fix), (.idle, .time), (.idle, .cancel), (.idle, .fail): (.idle, .nothing)
    case (.pending, .request): (.pending, .nothing)
    case (.pending, .fix(let stored)): settle(at: stored.fix.acquired)
    case (.pending, .time(let now)): settle(at: now)
    case (.pending, .cancel): (.idle, .nothing)
    case (.pending, .fail(let code)): (.idle, .fail(code))
    }
  }

  /// What comes late out of a receiver's buffer does not tell where one is.
  private func isCurrent(_ stored: StoredFix) -> Bool {
    terms.map { stored.fix.acquired >= $0.made } ?? false
  }

  /// The best so far if it is good enough or time is over; 0 if there is none by then.
  private func settle(at now: Instant) -> (State, Outcome) {
    guard let terms else { return (.idle, .nothing) }
    if let best, let accuracy = best.fix.horizontalAccuracy, accuracy <= terms.accuracy {
      return (.idle, .deliver(best))
    }
    guard now >= terms.until else { return (.pending, .nothing) }
    guard let best else { return (.idle, .fail(.locationUnknown)) }
    return (.idle, .deliver(best))
  }

  /// The more accurate one; the newer of equals. One that tells its accuracy beats one that does
  /// not.
  private static func better(of old: StoredFix?, _ new: StoredFix) -> StoredFix {
    guard let old, let before_mm = old.fix.horizontalAccuracy_mm else { return new }
    guard let now_mm = new.fix.horizontalAccuracy_mm else { return old }
    return now_mm <= before_mm ? new : old
  }
}

/// What one call of `requestLocation()` wants.
public struct LocationRequestTerms: Equatable, Sendable {
  /// The accuracy that is good enough when the best is asked for, metres: about where a receiver of
  /// one frequency settles under open sky [ours].
  public static let best = 5.0

  /// When the call was made.
  public let made: Instant
  /// The end of its time.
  public let until: Instant
  /// A fix of this accuracy is delivered at once, metres.
  public let accuracy: Double
  /// Updates run: the call does nothing.
  public let isUpdating: Bool

  /// Reads what the client asked.
  ///
  /// - Parameters:
  ///   - desiredAccuracy: Metres, or a constant of ``LocationAccuracy``; anything below
  ///     ``best``, or not a number, is ``best``.
  ///   - isUpdating: Whether updates run.
  ///   - patience: How long a fix is waited for.
  public init(
    desiredAccuracy: Double, isUpdating: Bool, at now: Instant,
    patience: Interval = LocationRequest.patience
  ) {
    made = now
    until = now + patience
    let best = LocationRequestTerms.best
    accuracy = desiredAccuracy > best ? desiredAccuracy : best
    self.isUpdating = isUpdating
  }
}

#if REACHED
  extension LocationRequest {
    static let machine = Machine(
      "LocationRequest", states: "idle pending", events: "request fix time cancel fail",
      excluded: [("idle", "time", "time is looked at while a call is outstanding")])
  }

  extension LocationRequest.Event {
    var column: Int {
      switch self {
      case .request: 0
      case .fix: 1
      case .time: 2
      case .cancel: 3
      case .fail: 4
      }
    }
  }
#endif
