import LocationTypes

/// A state machine that decides when the receiver is on for single fixes.
///
/// **Problem.** Some clients need every fix; for them the receiver is simply on. Others need one fix at a time: a
/// request for one location, a region check, an accuracy bound whose next start ``MovementPlanner`` computed. Their
/// needs are summed up in a `FixNeed`: time at which the next fix is due, its accuracy, and the time at which the
/// first client stops waiting. The schedule turns this into "on" or "off" so that the fix arrives on time and the
/// energy is minimal. It
///
/// - starts the receiver early by its start-up and expected acquisition time (``TimeToFixPredictor``),
/// - holds the first fix back for a few seconds while its accuracy improves (PWR-7),
/// - chooses the cheapest mode for the time until the next fix: stay on, standby, or power off,
/// - ends an acquisition without result and retries with exponential back-off (PWR-7),
/// - keeps the receiver on for a new ephemeris where that saves energy later (PWR-8).
///
/// It stores no fixes: `Engine` keeps the fix that is held back.
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
/// asleep     need, start time reached, or earlier by an alarm's lead acquiring
///            no need                                                 idle
/// acquiring  fix                                                     refining; tracking if used immediately
///            drained (fixes from the receiver's buffer)              tracking
///            need, timeout reached                                   backedOff
///            no need, expected acquisition time or 30 s have passed  backedOff
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
/// **Who changes what.** `enter` alone writes the state. `ReceiverControl` of `Engine` owns the schedule and sends one
/// `plan` event per step, one `fix` or `drained` event per valid fix, and `searchRequested` for a client's request and
/// for new motion. It and `Engine` read `isOn`, `state`, `sleepMode`, `usesDutyCycle`, `wake`, `lastFixTime`, the
/// `predictor` and ``fixTime(startingAt:_:)``.
///
/// **Bounds.** Refining lasts 5 s at most; back-off 60 s, doubled up to 1,800 s; an acquisition ends after
/// `ReceiverParameters.acquisitionTimeout` plus start-up and restore time at the latest. Fixed size, O(1) for each
/// event. Time is an argument.
public struct FixSchedule: Equatable, Sendable {
  /// Why the receiver is on or off.
  public enum State: UInt8, Sendable {
    /// Off: no client needs a fix.
    case idle = 0
    /// Off until the start for the next fix that is due.
    case asleep = 1
    /// On: searching for satellites, for the fix that is due.
    case acquiring = 2
    /// On: the first fix has arrived and its accuracy still improves.
    case refining = 3
    /// On: a good fix was delivered, and a new start would cost more than staying on.
    case tracking = 4
    /// Off: an acquisition ended without a fix; waits for the retry time.
    case backedOff = 5
  }

  /// Input of the state machine.
  public enum Event: Sendable {
    /// The end of a step of `Engine`: the current need, and whether the receiver must be on for clients that need every
    /// fix.
    case plan(FixNeed, isKeptOn: Bool)
    /// A live fix with its accuracy in metres and the time at which it was measured.
    case fix(accuracy: Double, measured: Instant, FixNeed)
    /// A fix from the receiver's buffer. The receiver works, but its acquisition time is unknown.
    case drained
    /// A new reason to search: another client requests a fix, or a stationary device moves.
    case searchRequested
  }

  /// What `Engine` must do with a fix.
  public enum Decision: Equatable, Sendable {
    /// Deliver it: it is accurate enough, or no better one is expected.
    case use
    /// Hold it back: a better one is expected soon.
    case hold
  }

  /// Longest wait for a better fix after the first one.
  static let maximumRefinement = Interval.seconds(5)
  /// Time without a fix after which a tracking receiver counts as acquiring again.
  static let silenceTimeout = Interval.seconds(10)
  /// Divisor of the back-off when a new reason to search arises.
  static let requestedBackOffDivisor: Int64 = 8
  /// Smallest needed accuracy, metres, for which the receiver's own duty cycle is used: a receiver in its duty cycle
  /// acquires no new signals. 10 m corresponds to accuracy bounds of 50 m and more.
  static let minimumDutyCycleAccuracy = 10.0
  /// Longest time by which a start is earlier than planned because the board is awake already.
  static let maximumEarlyStart = Interval.seconds(2)
  /// Fixes come once per interval, so one that is due within this time is due now.
  static let dueTolerance = Interval.milliseconds(500)

  /// Current state; written only by `enter`.
  public private(set) var state = State.idle
  /// Time of the next `plan` event at the latest; `.distantFuture` if only another event can change the state.
  public private(set) var wake = Instant.distantFuture
  /// How the receiver spends the time while it is off.
  public private(set) var sleepMode = ReceiverSleepMode.none
  /// Whether the receiver uses its own duty cycle while it is on.
  public private(set) var usesDutyCycle = false
  /// Estimate of the time to fix.
  public private(set) var predictor = TimeToFixPredictor()

  /// Time of the last state change.
  private var stateStart = Instant.boot
  /// Start of the acquisition timeout: later than the start of the acquisition if the receiver was on for every fix
  /// until then.
  private var timeoutStart = Instant.boot
  /// Time at which the receiver last tracked before it went off; nil if its navigation data is lost or never existed.
  private var offSince: Instant?
  /// Time off before the current acquisition; nil for a cold start.
  private var previousOffTime: Interval?
  /// Time that the current acquisition needed to restore the navigation database.
  private var restoreTime = Interval.zero
  private var firstFixTime = Instant.boot
  /// Time of the last live or drained fix, which every `fix` and `drained` event sets in every state.
  public private(set) var lastFixTime = Instant.boot
  private var bestAccuracy = Double.infinity
  /// Back-off after acquisitions without a fix.
  private var retry = RetryBackoff(initial: .seconds(60), longest: .seconds(1_800))
  /// Last time at which a client needed a fix.
  private var lastNeedTime = Instant.boot
  /// Time until which the receiver's output was lost: a fix right after it may be older.
  private var lostInputUntil = Instant.boot
  /// Time at which the receiver read its ephemeris; nil if it has none.
  private var ephemerisTime: Instant?

  /// Creates a schedule in state idle.
  public init() {}

  /// Whether the receiver must be on.
  public var isOn: Bool {
    switch state {
    case .acquiring, .refining, .tracking: true
    case .idle, .asleep, .backedOff: false
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
    _ event: Event, _ figures: PlannerParameters, at now: Instant
  ) -> Decision {
    #if REACHED
      FixSchedule.machine.record(Int(state.rawValue), event.column)
    #endif
    switch event {
    case .plan(let need, let isKeptOn):
      let wasOn = isOn
      guard !isKeptOn else {
        if !wasOn { beginAcquisition(figures, at: now) }
        stayOn(at: now)
        return .use
      }
      plan(need, figures, at: now)
      // A start writes the configuration in any case. A later change of the mode costs a command, which pays only if
      // the receiver stays on.
      let mayChangeMode = usesDutyCycle || !wasOn || state == .tracking
      usesDutyCycle = mayChangeMode && mayUseDutyCycle(need, figures.receiver, at: now)
      return .use
    case .fix(let accuracy, let measured, let need):
      return acceptFix(accuracy, measured: measured, need, figures, at: now)
    case .drained:
      acceptDrained(at: now)
      return .use
    case .searchRequested:
      if state == .backedOff {
        retry.nextTime = min(
          retry.nextTime, stateStart + retry.delay / FixSchedule.requestedBackOffDivisor)
      }
      return .use
    }
  }

  /// Handles the event `.plan(_, isKeptOn: true)` if the receiver is on already, which is most of the time and depends
  /// on no parameters.
  ///
  /// - Returns: false if the receiver is off; send the event then.
  public mutating func keepOn(at now: Instant) -> Bool {
    guard isOn else { return false }
    #if REACHED
      FixSchedule.machine.record(
        Int(state.rawValue), Event.plan(FixNeed(), isKeptOn: true).column)
    #endif
    stayOn(at: now)
    return true
  }

  private mutating func stayOn(at now: Instant) {
    timeoutStart = now
    lastNeedTime = now
    wake = .distantFuture
    usesDutyCycle = false
  }

  private mutating func plan(_ need: FixNeed, _ figures: PlannerParameters, at now: Instant) {
    guard need.isRequired else { return planWithoutNeed(figures, at: now) }
    lastNeedTime = now
    switch state {
    case .idle, .asleep: planStart(need, figures, at: now)
    case .backedOff:
      wake = retry.nextTime
      if now >= wake { planStart(need, figures, at: now) }
    case .acquiring:
      wake = acquisitionDeadline(figures)
      guard now >= wake else { return }
      endFailedAcquisition(figures, at: now)
      wake = retry.nextTime
    case .refining, .tracking:
      // No fix for too long: the receiver has lost the signals.
      wake = lastFixTime + FixSchedule.silenceTimeout
      if now >= wake { return beginAcquisition(figures, at: now) }
      if state == .tracking, !staysOnForEphemeris(figures, at: now) {
        planStart(need, figures, at: now)
      }
    }
  }

  /// Sleeps until the start for the fix that is due, or starts the receiver now.
  private mutating func planStart(_ need: FixNeed, _ figures: PlannerParameters, at now: Instant) {
    let remaining = need.due - now
    guard remaining > FixSchedule.dueTolerance else { return startIfOff(figures, at: now) }
    let off = isOn ? remaining : offTime(at: need.due, figures.receiver)
    var warm = acquisitionTime(before: need.due, off: off, figures.receiver)
    if isEphemerisExpired(figures.receiver, at: need.due) {
      warm = max(warm, figures.receiver.timeToFix.cold)
    }
    let choice = chooseSleepMode(
      for: remaining, warm: warm, mayUseDutyCycle: mayUseDutyCycle(need, figures.receiver, at: now),
      figures)
    let search = choice == .off ? figures.receiver.acquisitionAfterPowerOff(warm) : warm
    let start = need.due - search - figures.receiver.startUp
    // An alarm is early by its lead. The board would idle until the start, which costs more than the receiver.
    let lead =
      state == .asleep ? min(figures.maximumAlarmLead, FixSchedule.maximumEarlyStart) : .zero
    if choice == .none || start - lead <= now { return startIfOff(figures, at: now) }
    if state != .asleep {
      offSince = lastTrackingTime(at: now)
      sleepMode = choice
      enter(.asleep, at: now)
    }
    wake = start
  }

  /// The sleep mode for the time `remaining`. A receiver that is asleep keeps its mode; one that is powered off does
  /// not change to standby.
  private func chooseSleepMode(
    for remaining: Interval, warm: Interval, mayUseDutyCycle: Bool, _ figures: PlannerParameters
  ) -> ReceiverSleepMode {
    if state == .asleep { return sleepMode }
    // The navigation database of a sleeping receiver cannot be read out, so it would be lost by a power-off.
    let mayPowerOff = isOn || sleepMode == .off || figures.receiver.saveTime == .zero
    return figures.receiver.withDutyCycle(mayUseDutyCycle).sleepMode(
      for: remaining, warm: warm, canStandby: figures.canStandby && sleepMode != .off,
      canSwitchOff: figures.canSwitchOff && mayPowerOff)
  }

  /// Time of the last tracking, not of the sleep command: it determines which navigation data is still valid.
  private func lastTrackingTime(at now: Instant) -> Instant? {
    switch state {
    case .idle, .asleep, .backedOff: offSince
    case .acquiring: previousOffTime.map { stateStart - $0 }
    case .refining, .tracking: now
    }
  }

  /// The time off until `time`; nil if the navigation data is lost.
  private func offTime(at time: Instant, _ receiver: ReceiverParameters) -> Interval? {
    if sleepMode == .off && !receiver.keepsDataWhenOff { return nil }
    return offSince.map { time - $0 }
  }

  /// The expected acquisition time for a fix at `due` if the receiver is off for `off` until then.
  private func acquisitionTime(
    before due: Instant, off: Interval?, _ receiver: ReceiverParameters
  ) -> Interval {
    guard let off else { return predictor.expected(after: nil, receiver) }
    // The acquisition begins before `due`, after less time off, and may be shorter because of that.
    let long = predictor.expected(after: off, receiver)
    let short = predictor.expected(after: max(off - long - receiver.startUp, .zero), receiver)
    let offThen = max(off - short - receiver.startUp, .zero)
    return predictor.expected(after: offThen, receiver) <= short ? short : long
  }

  /// The expected time of the first fix if the receiver starts at `start`.
  public func fixTime(startingAt start: Instant, _ receiver: ReceiverParameters) -> Instant {
    let off = isOn ? start - lastFixTime : offTime(at: start, receiver)
    let warm = searchTime(after: off, startingAt: start, receiver)
    let search = !isOn && sleepMode == .off ? receiver.acquisitionAfterPowerOff(warm) : warm
    return start + receiver.startUp + search
  }

  /// Starts the receiver if it is off; a fix is due.
  private mutating func startIfOff(_ figures: PlannerParameters, at now: Instant) {
    if !isOn { beginAcquisition(figures, at: now) }
  }

  private mutating func acceptFix(
    _ accuracy: Double, measured: Instant, _ need: FixNeed, _ figures: PlannerParameters,
    at now: Instant
  ) -> Decision {
    lastFixTime = now
    switch state {
    case .idle, .asleep, .backedOff:
      // A receiver that cannot sleep was not off.
      if sleepMode == .none { offSince = now }
      return .use
    case .tracking: return .use
    case .acquiring:
      let hasRead = previousOffTime == nil || isEphemerisExpired(figures.receiver, at: stateStart)
      var search = max(measured - stateStart - figures.receiver.startUp - restoreTime, .zero)
      if lostInputUntil > stateStart, measured - lostInputUntil < figures.fixInterval * 2 {
        // The receiver may have had the fix while its output was lost: it took no longer than the table says.
        let off = previousOffTime.map { $0 + figures.receiver.startUp }
        search = min(search, figures.receiver.timeToFix.expected(after: off))
      }
      predictor.update(off: hasRead ? nil : previousOffTime, acquisition: search, figures.receiver)
      if hasRead { ephemerisTime = now }  // a cold start reads the ephemeris
      retry.reset()
      firstFixTime = now
      bestAccuracy = .infinity
      enter(.refining, at: now)
      return refine(accuracy, need, figures, at: now)
    case .refining: return refine(accuracy, need, figures, at: now)
    }
  }

  private mutating func acceptDrained(at now: Instant) {
    lastFixTime = now
    switch state {
    case .idle, .asleep, .backedOff, .refining, .tracking: break
    case .acquiring:
      if previousOffTime == nil { ephemerisTime = now }
      retry.reset()
      firstFixTime = now
      enter(.tracking, at: now)
    }
  }

  /// Delivers a fix that is accurate enough for its purpose, no longer improves, was awaited for the maximum time, or
  /// would otherwise come too late for a client (PWR-7).
  private mutating func refine(
    _ accuracy: Double, _ need: FixNeed, _ figures: PlannerParameters, at now: Instant
  ) -> Decision {
    let isGood = accuracy <= max(need.accuracy, 5)
    let isSteady = accuracy > bestAccuracy * 0.9
    bestAccuracy = min(bestAccuracy, accuracy)
    let isOver = now - firstFixTime >= FixSchedule.maximumRefinement
    let isLast = need.until - now < figures.fixInterval * 2
    guard isGood || isSteady || isOver || isLast else { return .hold }
    enter(.tracking, at: now)
    return .use
  }

  private mutating func beginAcquisition(_ figures: PlannerParameters, at now: Instant) {
    previousOffTime = isOn ? now - lastFixTime : offTime(at: now, figures.receiver)
    restoreTime =
      !isOn && sleepMode == .off && previousOffTime != nil ? figures.receiver.restoreTime : .zero
    offSince = nil
    sleepMode = .none
    timeoutStart = now
    enter(.acquiring, at: now)
    wake = acquisitionDeadline(figures)
  }

  private mutating func endFailedAcquisition(_ figures: PlannerParameters, at now: Instant) {
    offSince = lastTrackingTime(at: now)
    sleepMode = figures.idleSleepMode
    enter(.backedOff, at: now)
    retry.recordFailure(at: now)
  }

  /// No client needs a fix. A pending back-off continues, so that a client that repeats its request cannot keep the
  /// receiver searching.
  private mutating func planWithoutNeed(_ figures: PlannerParameters, at now: Instant) {
    wake = .distantFuture
    switch state {
    case .idle, .asleep: goIdle(figures, at: now)
    case .refining, .tracking:
      // Complete the ephemeris, which makes the next start short, if that takes little time (PWR-8).
      let end = min(
        lastNeedTime + figures.receiver.ephemerisHoldLimit,
        firstFixTime + figures.receiver.ephemerisDownload)
      if end > now, staysOnForEphemeris(figures, at: now) {
        wake = end
      } else {
        goIdle(figures, at: now)
      }
    case .acquiring:
      let search =
        figures.receiver.startUp + restoreTime + currentSearchTime(figures.receiver)
      // A request that ends before a search can succeed has failed as well: repeated, it would search for ever.
      let hasFailed = now - timeoutStart >= min(search, LocationRequest.timeout)
      if hasFailed { endFailedAcquisition(figures, at: now) } else { goIdle(figures, at: now) }
    case .backedOff: if now >= retry.nextTime { goIdle(figures, at: now) }
    }
  }

  private mutating func goIdle(_ figures: PlannerParameters, at now: Instant) {
    offSince = lastTrackingTime(at: now)
    if sleepMode == .none { sleepMode = figures.idleSleepMode }
    if state != .idle { enter(.idle, at: now) }
  }

  /// Records that the receiver's output up to `now` was lost.
  public mutating func noteLostInput(at now: Instant) { lostInputUntil = now }

  /// The expected time of the fix of the current acquisition; nil in the other states.
  func expectedFixTime(_ receiver: ReceiverParameters) -> Instant? {
    switch state {
    case .acquiring:
      return stateStart + receiver.startUp + restoreTime + currentSearchTime(receiver)
    case .idle, .asleep, .refining, .tracking, .backedOff: return nil
    }
  }

  /// The time at which the current acquisition ends without result.
  private func acquisitionDeadline(_ figures: PlannerParameters) -> Instant {
    let expected = currentSearchTime(figures.receiver)
    let timeout = Interval(seconds: expected.seconds * figures.receiver.spread * 2 + 10)
    return timeoutStart + figures.receiver.startUp + restoreTime
      + min(timeout, figures.receiver.acquisitionTimeout)
  }

  /// The expected search of the current acquisition, from the end of the start-up.
  private func currentSearchTime(_ receiver: ReceiverParameters) -> Interval {
    searchTime(after: previousOffTime, startingAt: stateStart, receiver)
  }

  /// The expected search, from the end of the start-up, of an acquisition that starts at `start`.
  ///
  /// - Parameter off: Time since the last tracking; nil if the navigation data is lost.
  private func searchTime(
    after off: Interval?, startingAt start: Instant, _ receiver: ReceiverParameters
  ) -> Interval {
    let warm = predictor.expected(after: off, receiver)
    return isEphemerisExpired(receiver, at: start) ? max(warm, receiver.timeToFix.cold) : warm
  }

  /// Whether the ephemeris will have expired at `time`: the acquisition must then read it again, however short the
  /// receiver was off.
  private func isEphemerisExpired(_ receiver: ReceiverParameters, at time: Instant) -> Bool {
    ephemerisTime.map { time - $0 > receiver.ephemerisLifetime } ?? false
  }

  /// Records a new ephemeris if the receiver has tracked for long enough. Returns whether the receiver stays on to read
  /// one: the present one is missing or expires soon, and starts without it cost more energy than reading it now
  /// (PWR-8).
  private mutating func staysOnForEphemeris(_ figures: PlannerParameters, at now: Instant) -> Bool {
    let receiver = figures.receiver
    if now - firstFixTime >= receiver.ephemerisDownload { ephemerisTime = now }
    return isEphemerisDue(receiver, at: now)
  }

  /// Whether the ephemeris is missing or expires within 1/8 of its lifetime.
  private func isEphemerisDue(_ receiver: ReceiverParameters, at now: Instant) -> Bool {
    let margin = receiver.ephemerisLifetime / 8
    guard let ephemerisTime else { return true }
    return now - ephemerisTime > receiver.ephemerisLifetime - margin
  }

  /// Whether the receiver may use its own duty cycle while it is on. A new ephemeris is read at full power.
  private func mayUseDutyCycle(_ need: FixNeed, _ receiver: ReceiverParameters, at now: Instant)
    -> Bool
  {
    receiver.on_mW < receiver.track_mW && need.accuracy >= FixSchedule.minimumDutyCycleAccuracy
      && !isEphemerisDue(receiver, at: now)
  }

  /// The only function that writes the state.
  private mutating func enter(_ new: State, at now: Instant) {
    state = new
    stateStart = now
    wake = .distantFuture
  }
}

#if REACHED
  extension FixSchedule {
    static let machine = TransitionCoverage(
      "FixSchedule", states: "idle asleep acquiring refining tracking backedOff",
      events: "isKeptOn noNeed need fix drained searchRequested")
  }

  extension FixSchedule.Event {
    var column: Int {
      switch self {
      case .plan(let need, let isKeptOn): isKeptOn ? 0 : need.isRequired ? 2 : 1
      case .fix: 3
      case .drained: 4
      case .searchRequested: 5
      }
    }
  }
#endif
