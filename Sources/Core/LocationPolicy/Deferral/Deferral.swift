import LocationTypes

/// How a deferral ended: without error when a criterion was met (DEF-9), else with a code.
public enum DeferralEnd: Equatable, Sendable {
  /// Distance or timeout was met.
  case met
  /// It ended early, or never began.
  case failed(LocationErrorCode)

  /// Core Location's code, nil when there is no error.
  public var code: LocationErrorCode? {
    switch self {
    case .met: nil
    case .failed(let code): code
    }
  }
}

/// The state machine of one client's deferral: `idle → armed ⇄ engaged → idle`.
///
/// Armed: criteria are monitored, delivery is normal. Engaged: fixes stay in the ring and the board
/// may sleep. It owns no fixes and tells nobody; its owner does what the outcome says.
public struct Deferral: Equatable, Sendable {
  /// Where the deferral stands.
  public enum State: UInt8, Sendable {
    /// No call is outstanding.
    case idle = 0
    /// Criteria are monitored, fixes are delivered as they come (DEF-25).
    case armed = 1
    /// Fixes are cached (DEF-28).
    case engaged = 2
  }

  /// What happens to a deferral.
  public enum Event: Sendable {
    /// A new call that passed the preconditions; `start` is the last valid fix if ≤ 10 s old.
    case call(DeferralTerms, start: Fix?)
    /// A valid fix went into the ring.
    case fix(Fix)
    /// Time passed.
    case time(Instant)
    /// The board may sleep and the client is in the background (DEF-28).
    case mayEngage
    /// One of that is no longer so.
    case mayNotEngage
    /// Something else ends it: cancelled, incompatible, denied, no receiver.
    case end(LocationErrorCode)
  }

  /// What the owner has to do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// Deliver what was cached; the deferral goes on armed (DEF-27).
    case flush
    /// Tell the end, then deliver what was cached (X1).
    case finish(DeferralEnd)
  }

  /// Where it stands.
  public private(set) var state: State
  /// The criteria of the outstanding call; nil when idle.
  public private(set) var terms: DeferralTerms?
  /// The path travelled since the outstanding call.
  public private(set) var meter: PathMeter

  /// No call is outstanding.
  public init() {
    state = .idle
    terms = nil
    meter = PathMeter(from: nil)
  }

  /// Takes an event; the one place that writes the state. O(1).
  public mutating func handle(_ event: Event) -> Outcome {
    #if REACHED
      Deferral.machine.reach(Int(state.rawValue), event.column)
    #endif
    switch event {
    case .call(let called, let start):
      terms = called
      meter = PathMeter(from: start)
    case .fix(let fix):
      if let terms, terms.hasDistance, fix.acquired > terms.called { meter.add(fix) }
    case .time, .mayEngage, .mayNotEngage, .end: break
    }
    let (next, outcome) = step(event)
    state = next
    if next == .idle { terms = nil }
    return outcome
  }

  private func step(_ event: Event) -> (State, Outcome) {
    switch (state, event) {
    case (.idle, .call): (.armed, .nothing)
    case (.idle, .fix), (.idle, .time), (.idle, .mayEngage), (.idle, .mayNotEngage), (.idle, .end):
      (.idle, .nothing)
    case (.armed, .call): (.armed, .finish(.failed(.deferredCanceled)))
    case (.armed, .fix(let fix)): distanceMet(by: fix) ? (.idle, .finish(.met)) : (.armed, .nothing)
    case (.armed, .time(let now)): timeoutMet(at: now) ? (.idle, .finish(.met)) : (.armed, .nothing)
    case (.armed, .mayEngage): (.engaged, .nothing)
    case (.armed, .mayNotEngage): (.armed, .nothing)
    case (.armed, .end(let code)): (.idle, .finish(.failed(code)))
    case (.engaged, .call): (.armed, .finish(.failed(.deferredCanceled)))
    case (.engaged, .fix(let fix)):
      distanceMet(by: fix) ? (.idle, .finish(.met)) : (.engaged, .nothing)
    case (.engaged, .time(let now)):
      timeoutMet(at: now) ? (.idle, .finish(.met)) : (.engaged, .nothing)
    case (.engaged, .mayEngage): (.engaged, .nothing)
    case (.engaged, .mayNotEngage): (.armed, .flush)
    case (.engaged, .end(let code)): (.idle, .finish(.failed(code)))
    }
  }

  /// A distance of 0 is met by the first valid fix after the call (DEF-23).
  private func distanceMet(by fix: Fix) -> Bool {
    guard let terms, terms.hasDistance, fix.acquired > terms.called else { return false }
    return meter.length >= terms.distance
  }

  private func timeoutMet(at now: Instant) -> Bool {
    guard let terms else { return false }
    return terms.hasTimeout && now >= terms.deadline
  }
}

/// What a call of `allowDeferredLocationUpdates` needs, and which failure is told (X6, DEF-6).
public enum DeferralPreconditions {
  /// The first precondition that fails, in the order denied, 11, 12, 13, 14; nil if none does.
  ///
  /// - Parameters:
  ///   - isRefused: The client may not use location (DEF-5); undecided, its call waits (AUT-11).
  ///   - isAvailable: There is a receiver and a low-power caching state, and it works (DEF-1, DEF-7).
  ///   - isUpdating: Updates were started and are not paused (DEF-4).
  public static func failure(
    isRefused: Bool, isAvailable: Bool, isUpdating: Bool, settings: ClientSettings
  ) -> LocationErrorCode? {
    if isRefused { return .denied }
    if !isAvailable { return .deferredFailed }
    if !isUpdating { return .deferredNotUpdatingLocation }
    return incompatibility(of: settings)
  }

  /// What makes settings unfit for deferral: accuracy first (DEF-2), then filter (DEF-3).
  public static func incompatibility(of settings: ClientSettings) -> LocationErrorCode? {
    if !LocationAccuracy.isBest(settings.desiredAccuracy) { return .deferredAccuracyTooLow }
    if settings.hasDistanceFilter { return .deferredDistanceFiltered }
    return nil
  }
}

#if REACHED
  extension Deferral {
    static let machine = Machine(
      "Deferral", states: "idle armed engaged", events: "call fix time mayEngage mayNotEngage end",
      excluded: [
        ("idle", "mayEngage mayNotEngage", "only an outstanding call is engaged")
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
