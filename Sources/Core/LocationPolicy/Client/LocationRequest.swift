import DeferralCache
import LocationTypes

/// State machine of one client's `requestLocation()`: each call gets exactly one fix or one error (STD-11).
///
/// It keeps only the best fix so far; the caller carries out the returned outcome. Starting or stopping updates and
/// `allowDeferred…` cancel the call (DEF-44); a cancelled call gets neither fix nor error.
public struct LocationRequest: Equatable, Sendable {
  /// Whether a call is outstanding.
  public enum State: UInt8, Equatable, Sendable {
    /// No call is outstanding.
    case idle = 0
    /// One call is outstanding.
    case pending = 1
  }

  /// Input of the state machine.
  public enum Event: Sendable {
    /// A call. `recent` is the newest valid fix if it is at most 10 s old.
    case request(LocationRequestParameters, recent: StoredFix?)
    /// A valid fix was acquired.
    case fix(StoredFix)
    /// Time passed.
    case time(Instant)
    /// Updates were started or stopped, or a deferral was requested.
    case cancel
    /// No fix will come: `denied`, or `locationUnknown` if the receiver is lost.
    case fail(LocationErrorCode)
  }

  /// What the caller must do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// Report this fix with `didUpdateLocations`.
    case deliver(StoredFix)
    /// Report this error with `didFailWithError`.
    case fail(LocationErrorCode)
  }

  /// Time limit of a call: long enough for a cold start [ours].
  public static let timeout = Interval.seconds(30)

  /// Whether a call is outstanding.
  public private(set) var state = State.idle
  /// Parameters of the outstanding call; nil if none is outstanding.
  public private(set) var parameters: LocationRequestParameters?
  private var best: StoredFix?

  /// When ``Event/time(_:)`` is due; `.distantFuture` without an outstanding call. Fixes are needed until then.
  public var check: Instant { parameters?.deadline ?? .distantFuture }

  /// Handles an event; the only writer of the state. O(1).
  public mutating func handle(_ event: Event) -> Outcome {
    #if REACHED
      LocationRequest.machine.record(Int(state.rawValue), event.column)
    #endif
    switch (state, event) {
    case (.idle, .request(let newParameters, let recent)):
      parameters = newParameters
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
      parameters = nil
      best = nil
    }
    return outcome
  }

  private func step(_ event: Event) -> (State, Outcome) {
    switch (state, event) {
    case (.idle, .request(let newParameters, _)):
      // Running updates deliver fixes already: the call does nothing.
      newParameters.isUpdating ? (.idle, .nothing) : decide(at: newParameters.calledAt)
    case (.idle, .fix), (.idle, .time), (.idle, .cancel), (.idle, .fail): (.idle, .nothing)
    case (.pending, .request): (.pending, .nothing)
    case (.pending, .fix(let stored)): decide(at: stored.fix.acquired)
    case (.pending, .time(let now)): decide(at: now)
    case (.pending, .cancel): (.idle, .nothing)
    case (.pending, .fail(let code)): (.idle, .fail(code))
    }
  }

  /// Whether the fix was not acquired before the call; the receiver's buffer may deliver older ones.
  private func isCurrent(_ stored: StoredFix) -> Bool {
    parameters.map { stored.fix.acquired >= $0.calledAt } ?? false
  }

  /// Delivers the best fix so far if it is accurate enough or the time limit is over; without a fix by then, reports
  /// error 0.
  private func decide(at now: Instant) -> (State, Outcome) {
    guard let parameters else { return (.idle, .nothing) }
    if let best, let accuracy = best.fix.horizontalAccuracy, accuracy <= parameters.accuracy {
      return (.idle, .deliver(best))
    }
    guard now >= parameters.deadline else { return (.pending, .nothing) }
    guard let best else { return (.idle, .fail(.locationUnknown)) }
    return (.idle, .deliver(best))
  }

  /// Returns the more accurate fix, the newer one if both are equal. A fix with a known accuracy is better than one
  /// without.
  private static func better(of old: StoredFix?, _ new: StoredFix) -> StoredFix {
    guard let old, let before_mm = old.fix.horizontalAccuracy_mm else { return new }
    guard let now_mm = new.fix.horizontalAccuracy_mm else { return old }
    return now_mm <= before_mm ? new : old
  }
}

/// Parameters of one call of `requestLocation()`.
public struct LocationRequestParameters: Equatable, Sendable {
  /// Accuracy that is sufficient if the best is requested, metres: about what a single-frequency receiver reaches under
  /// open sky [ours].
  public static let bestAccuracy = 5.0

  /// Time of the call.
  public let calledAt: Instant
  /// Time limit of the call.
  public let deadline: Instant
  /// Accuracy at which a fix is delivered immediately, metres.
  public let accuracy: Double
  /// Whether updates run; the call does nothing then.
  public let isUpdating: Bool

  /// Creates the parameters of a call.
  ///
  /// - Parameters:
  ///   - desiredAccuracy: Metres, or a constant of ``LocationAccuracy``; anything below ``bestAccuracy``, and NaN,
  ///     counts as ``bestAccuracy``.
  ///   - isUpdating: Whether updates run.
  public init(desiredAccuracy: Double, isUpdating: Bool, at now: Instant) {
    calledAt = now
    deadline = now + LocationRequest.timeout
    let best = LocationRequestParameters.bestAccuracy
    accuracy = desiredAccuracy > best ? desiredAccuracy : best
    self.isUpdating = isUpdating
  }
}

#if REACHED
  extension LocationRequest {
    static let machine = TransitionCoverage(
      "LocationRequest", states: "idle pending", events: "request fix time cancel fail",
      excluded: [("idle", "fix time", "fixes and time are passed only while a call is outstanding")]
    )
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
