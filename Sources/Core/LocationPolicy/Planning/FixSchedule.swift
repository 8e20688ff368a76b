import LocationTypes

/// A state machine that decides when the receiver is on for single fixes.
///
/// **Problem.** Some clients need every fix; for them the receiver is simply on. Others need one fix at a time: a
/// request for one location, a region check, an accuracy bound whose next start ``MovementPlanner`` computed. Their
/// needs are summed up in a `FixNeed`: time at which the next fix is due, its accuracy, and the time at which the
/// first client stops waiting. The schedule turns this into "on" or "off" so that the fix is there on time and the
/// energy is minimal. It
///
/// - starts the receiver early by its start-up and expected acquisition time (``TimeToFixPredictor``),
/// - holds the first fix back for a few seconds while its accuracy improves (PWR-7),
/// - chooses the cheapest mode for the time until the next fix: stay on, standby, or power off,
/// - ends an acquisition without result and retries with exponential back-off (PWR-7),
/// - keeps the receiver on for a new ephemeris where that saves energy later (PWR-8).
///
/// It stores no fixes: the engine keeps the fix that is held back.
///
/// ```
///             fix due now                 first fix               accurate, or time over
///   +--------+ ---------> +-------------+ ---------> +------------+ ---------> +------------+
///   |  idle  |            |  acquiring  |            |  refining  |            |  tracking  |
///   +--------+      +---> +-------------+ <--------- +------------+            +------------+
///       |           |       ^    |    ^   no fix, 10 s                           |       |
///       | fix due   |       |    |    +---------------------- no fix, 10 s ------+       |
///       | later     | start |    | timeout                                              |
///       |           | time  |    v                                                      | sleeping
///       |           |       |  +-----------+                                            | is cheaper
///       |           |       +- | backedOff |                                            |
///       |           |   retry  +-----------+                                            |
///       v           |   time         | retry time, fix due later                        |
///   +----------+ ---+                |                                                  |
///   |  asleep  | <------------------+--------------------------------------------------+
///   +----------+
///
///   Not drawn: the transitions to idle when no client needs a fix, and those for fixes from
///   the receiver's buffer and for clients that need every fix. The table has all of them.
/// ```
///
/// ```
/// State      event                                                   next state
/// ---------  ------------------------------------------------------  ----------
/// idle       need, fix due now or sleeping does not pay              acquiring
///            need, fix due later                                     asleep
/// asleep     need, start time reached                                acquiring
///            no need                                                 idle
/// acquiring  fix                                                     refining; tracking if used immediately
///            drained (fixes from the receiver's buffer)              tracking
///            need, timeout reached                                   backedOff
///            no need, expected acquisition time has passed           backedOff
///            no need, earlier                                        idle
/// refining   fix: accurate, not improving, 5 s old, or last chance   tracking
///            any other fix                                           refining (the fix is held)
///            need, no fix for 10 s                                   acquiring
///            no need, no ephemeris to complete                       idle
/// tracking   need, no fix for 10 s                                   acquiring
///            need, sleeping is cheaper than staying on               asleep
///            no need, no ephemeris to complete                       idle
/// backedOff  need, retry time reached, fix due now                   acquiring
///            need, retry time reached, fix due later                 asleep
///            no need, retry time reached                             idle
///            searchRequested: retry earlier                          backedOff
/// any off    on for every fix                                        acquiring
/// any on     on for every fix                                        unchanged, timeouts restart
/// ```
///
/// Every other pair of state and event leaves the state unchanged.
///
/// **Invariants.**
///
/// - `isOn` is true in acquiring, refining and tracking only. `sleepMode` is `.none` while the receiver is on; it is
///   `.standby` or `.off` in asleep.
/// - For single fixes a back-off lasts until its retry time, even if the need disappears and returns: a client that
///   requests a fix again and again cannot cause an endless search. Only `searchRequested` shortens it, to 1/8.
/// - An acquisition is measured for ``TimeToFixPredictor`` only when it succeeds with a live fix.
/// - The receiver's own duty cycle is never used while fixes are needed continuously or an ephemeris is to be read.
///
/// **Who changes what.** `enter` alone writes the state. The engine sends one `plan` event per plan, one `fix` or
/// `drained` event per valid fix, and `searchRequested` for a client's request and for new motion. It reads
/// `isOn`, `sleepMode`, `usesDutyCycle` and `wake`.
///
/// **Bounds.** Refining lasts 5 s at most; back-off 60 s, doubled up to 1,800 s; an acquisition ends after
/// `ReceiverParameters.acquisitionTimeout` plus start-up and restore time at the latest. Fixed size, O(1) for each
/// event. Time is an argument.
public struct FixSchedule: Equatable, Sendable {
  /// What the receiver is on or off for.
  public enum State: UInt8, Sendable {
    /// Off: no client needs a fix.
    case idle = 0
    /// Off until the start for the next fix that is due.
    case resting = 1
    /// On: searching for satellites, for the fix that is due.
    case searching = 2
    /// On: the first fix is there and its accuracy still improves.
    case settling = 3
    /// On: a good fix was delivered, and a new start would cost more than staying on.
    case tracking = 4
    /// Off: an acquisition ended without a fix; waits for the retry time.
    case backedOff = 5
  }

  /// Input of the state machine.
  public enum Event: Sendable {
    /// The end of an engine step: the current need, and whether the receiver must be on for clients that need every
    /// fix.
    case plan(FixNeed, isOnAnyway: Bool)
    /// A live fix with its accuracy in metres and the time at which it was measured.
    case fix(accuracy: Double, made: Instant, FixNeed)
    /// A fix from the receiver's buffer. The receiver works, but its acquisition time is unknown.
    case drained
    /// A new reason to search: another client requests a fix, or a stationary device moves.
    case urged
  }

  /// What the engine does with a fix.
  public enum Verdict: Equatable, Sendable {
    /// Deliver it: it is accurate enough, or no better one is expected.
    case use
    /// Hold it back: a better one is expected soon.
    case hold
  }

  /// Longest wait for a better fix after the first one.
  static let longestSettling = Interval.seconds(5)
  /// Time without a fix after which a tracking receiver counts as acquiring again.
  static let longestSilence = Interval.seconds(10)
  /// Back-off after the first acquisition without a fix, and its upper limit.
  static let shortestBackOff = Interval.seconds(60)
  static let longestBackOff = Interval.seconds(1_800)
  /// Divisor of the back-off when a new reason to search arises.
  static let urgency: Int64 = 8
  /// Smallest needed accuracy, metres, for which the receiver's own duty cycle is used: a receiver in its duty cycle
  /// acquires no new signals. 10 m corresponds to accuracy bounds of 50 m and more.
  static let leastAccuracyOfSaving = 10.0
  /// Fixes come once per interval, so one that is due within this time is due now.
  static let grain = Interval.milliseconds(500)

  /// Current state; written only by `enter`.
  public private(set) var state = State.idle
  /// Time of the next `plan` event at the latest; `.distantFuture` if only another event can change the state.
  public private(set) var wake = Instant.distantFuture
  /// How the receiver spends the time while it is off.
  public private(set) var rest = ReceiverRest.none
  /// Whether the receiver uses its own duty cycle while it is on.
  public private(set) var savesPower = false
  /// Estimate of the time to fix.
  public private(set) var predictor = TimeToFixPredictor()

  /// Time of the last state change.
  private var since = Instant.boot
  /// Start of the acquisition timeout: later than the start of the acquisition if the receiver was on for every fix
  /// until then.
  private var patientSince = Instant.boot
  /// Time of the last fix before the receiver went off; nil if its navigation data is lost or never existed.
  private var offSince: Instant?
  /// Time off before the current acquisition; nil for a cold start.
  private var offBefore: Interval?
  /// Time that the current acquisition needed to restore the navigation database.
  private var restoring = Interval.zero
  private var firstFix = Instant.boot
  private var lastFix = Instant.boot
  private var bestAccuracy = Double.infinity
  /// Number of acquisitions without a fix since the last fix, up to 6.
  private var failures: Int64 = 0
  /// End of the back-off.
  private var retry = Instant.boot
  /// Last time at which a client needed a fix.
  private var lastNeeded = Instant.boot
  /// Time at which the receiver read its ephemeris; nil if it has none.
  private var ephemeris: Instant?

  /// Creates a schedule in state idle.
  public init() {}

  /// Whether the receiver must be on.
  public var isOn: Bool {
    switch state {
    case .searching, .settling, .tracking: true
    case .idle, .resting, .backedOff: false
    }
  }
}

// MARK: - Events

extension FixSchedule {
  /// Processes an event. O(1).
  ///
  /// - Returns: What to do with the fix, for a `.fix` event; otherwise `.use`.
  @discardableResult
  public mutating func handle(
    _ event: Event, _ figures: PlannerFigures, at now: Instant
  ) -> Verdict {
    #if REACHED
      FixSchedule.machine.reach(Int(state.rawValue), event.column)
    #endif
    switch event {
    case .plan(let need, let isOnAnyway):
      let wasOn = isOn
      guard !isOnAnyway else {
        if !wasOn { beginSearch(figures, at: now) }
        stayOn(at: now)
        return .use
      }
      plan(need, figures, at: now)
      // A start writes the configuration anyway. Changing the mode later costs a command, which pays only if the
      // receiver stays on.
      let isTime = savesPower || !wasOn || state == .tracking
      savesPower = isTime && maySave(need, figures.receiver, at: now)
      return .use
    case .fix(let accuracy, let made, let need):
      return take(accuracy, made: made, need, figures, at: now)
    case .drained:
      takeDrained(at: now)
      return .use
    case .urged:
      if state == .backedOff { retry = min(retry, since + backOff / FixSchedule.urgency) }
      return .use
    }
  }

  /// The event `.plan(_, isKeptOn: true)` for a receiver that is already on. It needs no parameters; passing them
  /// would copy 408 bytes.
  ///
  /// - Returns: false if the receiver is off; send the event then.
  public mutating func keepOn(at now: Instant) -> Bool {
    guard isOn else { return false }
    #if REACHED
      FixSchedule.machine.reach(
        Int(state.rawValue), Event.plan(FixNeed(), isOnAnyway: true).column)
    #endif
    stayOn(at: now)
    return true
  }

  private mutating func stayOn(at now: Instant) {
    patientSince = now
    lastNeeded = now
    wake = .distantFuture
    savesPower = false
  }

  private mutating func plan(_ need: FixNeed, _ figures: PlannerFigures, at now: Instant) {
    guard need.isAny else { return relax(figures, at: now) }
    lastNeeded = now
    switch state {
    case .idle, .resting: aim(need, figures, at: now)
    case .backedOff:
      wake = retry
      if now >= wake { aim(need, figures, at: now) }
    case .searching:
      wake = limit(figures)
      guard now >= wake else { return }
      giveUp(figures, at: now)
      wake = retry
    case .settling, .tracking:
      // No fix for too long: the receiver has lost the signals.
      wake = lastFix + FixSchedule.longestSilence
      if now >= wake { return beginSearch(figures, at: now) }
      if state == .tracking, !isKept(figures, at: now) { aim(need, figures, at: now) }
    }
  }

  /// Sleeps until the start for the fix that is due, or starts the receiver now.
  private mutating func aim(_ need: FixNeed, _ figures: PlannerFigures, at now: Instant) {
    let left = need.due - now
    guard left > FixSchedule.grain else { return goOn(figures, at: now) }
    let off = isOn ? left : timeOff(at: need.due, figures.receiver)
    var warm = search(before: need.due, off: off, figures.receiver)
    if isEphemerisOld(figures.receiver, at: need.due) {
      warm = max(warm, figures.receiver.timeToFix.cold)
    }
    let choice = choice(
      for: left, warm: warm, maySave: maySave(need, figures.receiver, at: now), figures)
    let search = choice == .cut ? figures.receiver.searchAfterCut(warm) : warm
    let start = need.due - search - figures.receiver.startUp
    if choice == .none || start <= now { return goOn(figures, at: now) }
    if state != .resting {
      offSince = lastTracked(at: now)
      rest = choice
      enter(.resting, at: now)
    }
    wake = start
  }

  /// The sleep mode for `left`. A receiver that is asleep keeps its mode; one that is powered off does not change to
  /// standby.
  private func choice(
    for left: Interval, warm: Interval, maySave: Bool, _ figures: PlannerFigures
  ) -> ReceiverRest {
    if state == .resting { return rest }
    // The navigation database of a sleeping receiver cannot be read out, so it would be lost by a power-off.
    let mayCut = isOn || rest == .cut || figures.receiver.saving == .zero
    return figures.receiver.saving(maySave).rest(
      for: left, warm: warm, canStandby: figures.canStandby && rest != .cut,
      canCut: figures.canSwitchOff && mayCut)
  }

  /// Time of the last tracking, not of the sleep command: it determines which navigation data is still valid.
  private func lastTracked(at now: Instant) -> Instant? {
    switch state {
    case .idle, .resting, .backedOff: offSince
    case .searching: offBefore.map { since - $0 }
    case .settling, .tracking: now
    }
  }

  /// The time off until `time`; nil if the navigation data is lost.
  private func timeOff(at time: Instant, _ receiver: ReceiverFigures) -> Interval? {
    if rest == .cut && !receiver.keepsDataWhenCut { return nil }
    return offSince.map { time - $0 }
  }

  /// The expected acquisition time for a fix at `due` if the receiver is off for `off` until then.
  private func search(
    before due: Instant, off: Interval?, _ receiver: ReceiverFigures
  ) -> Interval {
    guard let off else { return predictor.expected(after: nil, receiver) }
    // The acquisition begins before `due`, after less time off, and may be shorter because of that.
    let long = predictor.expected(after: off, receiver)
    let short = predictor.expected(after: max(off - long - receiver.startUp, .zero), receiver)
    let offThen = max(off - short - receiver.startUp, .zero)
    return predictor.expected(after: offThen, receiver) <= short ? short : long
  }

  /// The expected time of the first fix if the receiver starts at `start`.
  public func fixTime(ofStart start: Instant, _ receiver: ReceiverFigures) -> Instant {
    let off = isOn ? start - lastFix : timeOff(at: start, receiver)
    let warm = predictor.expected(after: off, receiver)
    let search = !isOn && rest == .cut ? receiver.searchAfterCut(warm) : warm
    return start + receiver.startUp + search
  }

  /// Starts the receiver if it is off; a fix is due.
  private mutating func goOn(_ figures: PlannerFigures, at now: Instant) {
    switch state {
    case .idle, .resting, .backedOff: beginSearch(figures, at: now)
    case .searching, .settling, .tracking: break
    }
  }

  private mutating func take(
    _ accuracy: Double, made: Instant, _ need: FixNeed, _ figures: PlannerFigures,
    at now: Instant
  ) -> Verdict {
    lastFix = now
    switch state {
    case .idle, .resting, .backedOff:
      // A receiver that cannot sleep was not off.
      if rest == .none { offSince = now }
      return .use
    case .tracking: return .use
    case .searching:
      let hasRead = offBefore == nil || isEphemerisOld(figures.receiver, at: since)
      let search = max(made - since - figures.receiver.startUp - restoring, .zero)
      predictor.learn(off: hasRead ? nil : offBefore, search: search, figures.receiver)
      if hasRead { ephemeris = now }  // a cold start reads the ephemeris
      failures = 0
      firstFix = now
      bestAccuracy = .infinity
      enter(.settling, at: now)
      return settle(accuracy, need, figures, at: now)
    case .settling: return settle(accuracy, need, figures, at: now)
    }
  }

  private mutating func takeDrained(at now: Instant) {
    lastFix = now
    switch state {
    case .idle, .resting, .backedOff, .settling, .tracking: break
    case .searching:
      if offBefore == nil { ephemeris = now }
      failures = 0
      firstFix = now
      enter(.tracking, at: now)
    }
  }

  /// Delivers a fix that is accurate enough for its purpose, no longer improves, was awaited for the maximum time, or
  /// would otherwise come too late for a client (PWR-7).
  private mutating func settle(
    _ accuracy: Double, _ need: FixNeed, _ figures: PlannerFigures, at now: Instant
  ) -> Verdict {
    let isGood = accuracy <= max(need.accuracy, 5)
    let isSteady = accuracy > bestAccuracy * 0.9
    bestAccuracy = min(bestAccuracy, accuracy)
    let isOver = now - firstFix >= FixSchedule.longestSettling
    let isLast = need.until - now < figures.fixInterval * 2
    guard isGood || isSteady || isOver || isLast else { return .hold }
    enter(.tracking, at: now)
    return .use
  }

  private mutating func beginSearch(_ figures: PlannerFigures, at now: Instant) {
    offBefore = isOn ? now - lastFix : timeOff(at: now, figures.receiver)
    restoring = !isOn && rest == .cut && offBefore != nil ? figures.receiver.restoring : .zero
    offSince = nil
    rest = .none
    patientSince = now
    enter(.searching, at: now)
    wake = limit(figures)
  }

  private mutating func giveUp(_ figures: PlannerFigures, at now: Instant) {
    offSince = lastTracked(at: now)
    failures = min(failures + 1, 6)
    rest = figures.restWhenIdle
    enter(.backedOff, at: now)
    retry = now + backOff
  }

  /// Exponential back-off for the current number of failures.
  private var backOff: Interval {
    min(FixSchedule.shortestBackOff * (1 << (failures - 1)), FixSchedule.longestBackOff)
  }

  /// No client needs a fix. A pending back-off continues, so that a client that repeats its request cannot keep the
  /// receiver searching.
  private mutating func relax(_ figures: PlannerFigures, at now: Instant) {
    wake = .distantFuture
    switch state {
    case .idle, .resting: goIdle(figures, at: now)
    case .settling, .tracking:
      // Complete the ephemeris, which makes the next start short, if that takes little time (PWR-8).
      let end = min(
        lastNeeded + figures.receiver.longestHold, firstFix + figures.receiver.ephemerisDownload)
      if end > now, isKept(figures, at: now) { wake = end } else { goIdle(figures, at: now) }
    case .searching:
      let expected = predictor.expected(after: offBefore, figures.receiver)
      let isInVain = now - patientSince >= figures.receiver.startUp + restoring + expected
      if isInVain { giveUp(figures, at: now) } else { goIdle(figures, at: now) }
    case .backedOff: if now >= retry { goIdle(figures, at: now) }
    }
  }

  private mutating func goIdle(_ figures: PlannerFigures, at now: Instant) {
    offSince = lastTracked(at: now)
    if rest == .none { rest = figures.restWhenIdle }
    if state != .idle { enter(.idle, at: now) }
  }

  /// The time at which the current acquisition ends without result.
  private func limit(_ figures: PlannerFigures) -> Instant {
    var expected = predictor.expected(after: offBefore, figures.receiver)
    if isEphemerisOld(figures.receiver, at: since) {
      expected = max(expected, figures.receiver.timeToFix.cold)
    }
    let patience = Interval(seconds: expected.seconds * figures.receiver.spread * 2 + 10)
    return patientSince + figures.receiver.startUp + restoring
      + min(patience, figures.receiver.searchLimit)
  }

  /// Whether the ephemeris will have expired at `time`: the acquisition must then read it again, however short the
  /// receiver was off.
  private func isEphemerisOld(_ receiver: ReceiverFigures, at time: Instant) -> Bool {
    ephemeris.map { time - $0 > receiver.ephemerisLifetime } ?? false
  }

  /// Whether the receiver stays on to read a new ephemeris: the present one expires soon, and starts without it cost
  /// more energy than reading it now (PWR-8).
  private mutating func isKept(_ figures: PlannerFigures, at now: Instant) -> Bool {
    let receiver = figures.receiver
    if now - firstFix >= receiver.ephemerisDownload { ephemeris = now }
    return isEphemerisDue(receiver, at: now)
  }

  /// Whether the ephemeris is missing or expires within 1/8 of its lifetime.
  private func isEphemerisDue(_ receiver: ReceiverFigures, at now: Instant) -> Bool {
    let margin = receiver.ephemerisLifetime / 8
    guard let ephemeris else { return true }
    return now - ephemeris > receiver.ephemerisLifetime - margin
  }

  /// Whether the receiver may use its own duty cycle while it is on. A new ephemeris is read at full power.
  private func maySave(_ need: FixNeed, _ receiver: ReceiverFigures, at now: Instant) -> Bool {
    receiver.on_mW < receiver.track_mW && need.accuracy >= FixSchedule.leastAccuracyOfSaving
      && !isEphemerisDue(receiver, at: now)
  }

  /// The only function that writes the state.
  private mutating func enter(_ new: State, at now: Instant) {
    state = new
    since = now
    wake = .distantFuture
  }
}

#if REACHED
  extension FixSchedule {
    static let machine = Machine(
      "FixSchedule", states: "idle asleep acquiring refining tracking backedOff",
      events: "isKeptOn noNeed need fix drained searchRequested")
  }

  extension FixSchedule.Event {
    var column: Int {
      switch self {
      case .plan(let need, let isOnAnyway): isOnAnyway ? 0 : need.isAny ? 2 : 1
      case .fix: 3
      case .drained: 4
      case .urged: 5
      }
    }
  }
#endif
