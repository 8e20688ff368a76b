import LocationTypes

/// State machine of one client's deferral: `idle → armed ⇄ engaged → idle`.
///
/// Armed: criteria are monitored, delivery is normal. Engaged: fixes stay in the ring and the board may be suspended.
/// It owns no fixes and notifies no client: the caller carries out the returned outcome. Depends on `LocationTypes`
/// only.
public struct Deferral: Equatable, Sendable {
  /// State of the deferral.
  public enum State: UInt8, Sendable {
    /// No call is outstanding.
    case idle = 0
    /// Criteria are monitored, fixes are delivered as they are acquired (DEF-25).
    case armed = 1
    /// Fixes are cached (DEF-28).
    case engaged = 2
  }

  /// Input of the state machine.
  public enum Event: Sendable {
    /// A new call that passed the preconditions; `start` is the last valid fix if it is at most 10 s old.
    case call(DeferralCriteria, start: Fix?)
    /// A valid fix was appended to the ring.
    case fix(Fix)
    /// Time passed.
    case time(Instant)
    /// The board may be suspended and the client is in the background (DEF-28).
    case mayEngage
    /// One of the conditions of ``mayEngage`` no longer holds.
    case mayNotEngage
    /// Another cause ends the deferral: cancelled, incompatible, denied, no receiver.
    case end(LocationErrorCode)
  }

  /// What the caller must do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// Deliver the cached fixes; the deferral continues armed (DEF-27).
    case flush
    /// Report the end, then deliver the cached fixes (X1): with the error, or without one if a criterion was met (DEF-9).
    case finish(LocationErrorCode?)
  }

  /// Current state.
  public private(set) var state = State.idle
  /// Criteria of the outstanding call; nil if idle.
  public private(set) var criteria: DeferralCriteria?
  /// Path travelled since the outstanding call.
  public private(set) var meter = PathMeter(from: nil)

  /// Handles an event; the only writer of the state. O(1).
  public mutating func handle(_ event: Event) -> Outcome {
    #if REACHED
      Deferral.machine.record(Int(state.rawValue), event.column)
    #endif
    switch event {
    case .call(let newCriteria, let start):
      criteria = newCriteria
      meter = PathMeter(from: start)
    case .fix(let fix):
      if let criteria, criteria.hasDistance, fix.acquired > criteria.calledAt { meter.add(fix) }
    case .time, .mayEngage, .mayNotEngage, .end: break
    }
    let (next, outcome) = step(event)
    state = next
    if next == .idle { criteria = nil }
    return outcome
  }

  private func step(_ event: Event) -> (State, Outcome) {
    switch (state, event) {
    case (.idle, .call): (.armed, .nothing)
    case (.idle, .fix), (.idle, .time), (.idle, .mayEngage), (.idle, .mayNotEngage), (.idle, .end):
      (.idle, .nothing)
    case (.armed, .call): (.armed, .finish(.deferredCanceled))
    case (.armed, .fix(let fix)): isMet(by: fix) ? (.idle, .finish(nil)) : (.armed, .nothing)
    case (.armed, .time(let now)): timeoutMet(at: now) ? (.idle, .finish(nil)) : (.armed, .nothing)
    case (.armed, .mayEngage): (.engaged, .nothing)
    case (.armed, .mayNotEngage): (.armed, .nothing)
    case (.armed, .end(let code)): (.idle, .finish(code))
    case (.engaged, .call): (.armed, .finish(.deferredCanceled))
    case (.engaged, .fix(let fix)):
      isMet(by: fix) ? (.idle, .finish(nil)) : (.engaged, .nothing)
    case (.engaged, .time(let now)):
      timeoutMet(at: now) ? (.idle, .finish(nil)) : (.engaged, .nothing)
    case (.engaged, .mayEngage): (.engaged, .nothing)
    case (.engaged, .mayNotEngage): (.armed, .flush)
    case (.engaged, .end(let code)): (.idle, .finish(code))
    }
  }

  /// Whether a fix ends the deferral: it reaches the distance, or is one after the timeout but within the slack (DEF-45).
  private func isMet(by fix: Fix) -> Bool {
    distanceMet(by: fix) || criteria.map { $0.hasSlack && fix.acquired >= $0.timeoutEnd } ?? false
  }

  /// Whether the distance is reached. A distance of 0 is met by the first valid fix after the call (DEF-23).
  private func distanceMet(by fix: Fix) -> Bool {
    guard let criteria, criteria.hasDistance, fix.acquired > criteria.calledAt else { return false }
    return meter.length >= criteria.distance
  }

  private func timeoutMet(at now: Instant) -> Bool {
    guard let criteria else { return false }
    return criteria.hasTimeout && now >= criteria.deadline
  }
}

/// Preconditions of a call of `allowDeferredLocationUpdates`, and the order in which failures are reported (X6, DEF-6).
public enum DeferralPreconditions {
  /// Returns the first precondition that fails, in the order denied, 11, 12, 13, 14; nil if none fails.
  ///
  /// - Parameters:
  ///   - isRefused: Whether use of location was refused (DEF-5); a call of an undecided client stays pending (AUT-11).
  ///   - isAvailable: Whether a working receiver and a low-power state in which fixes are cached exist (DEF-1, DEF-7).
  ///   - isUpdating: Whether updates were started and are not paused (DEF-4).
  public static func failure(
    isRefused: Bool, isAvailable: Bool, isUpdating: Bool, settings: ClientSettings
  ) -> LocationErrorCode? {
    if isRefused { return .denied }
    if !isAvailable { return .deferredFailed }
    if !isUpdating { return .deferredNotUpdatingLocation }
    return incompatibility(of: settings)
  }

  /// Returns the error for a setting that is incompatible with deferral: accuracy first (DEF-2), then filter (DEF-3);
  /// nil if both are compatible.
  public static func incompatibility(of settings: ClientSettings) -> LocationErrorCode? {
    if !LocationAccuracy.isBest(settings.desiredAccuracy) { return .deferredAccuracyTooLow }
    if settings.hasDistanceFilter { return .deferredDistanceFiltered }
    return nil
  }
}

#if REACHED
  extension Deferral {
    static let machine = TransitionCoverage(
      "Deferral", states: "idle armed engaged", events: "call fix time mayEngage mayNotEngage end",
      excluded: [
        ("idle", "mayEngage mayNotEngage", "only an outstanding call can engage"),
        ("idle", "time", "only an outstanding call has a timeout"),
      ])
  }

  extension Deferral.Event {
    var column: Int {
      switch self {
      case .call: 0
      case .fix: 1
      case .time: 2
      case .mayEngage: 3
      case .mayNotEngage: 4
      case .end: 5
      }
    }
  }
#endif
