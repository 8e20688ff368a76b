import LocationTypes

/// When the receiver is on where single fixes are wanted, and not every one.
///
/// It wakes the receiver early enough for the fix that is due, holds a fresh fix back until its
/// quality settles, lets the receiver rest in the cheapest way until the next one, gives up a search
/// that finds nothing and tries again ever more seldom (PWR-7), and keeps the ephemeris from growing
/// too old where that saves energy (PWR-8). It owns no fixes.
public struct FixSchedule: Equatable, Sendable {
  /// What the receiver is on or off for.
  public enum State: UInt8, Sendable {
    /// Nobody needs a fix.
    case idle = 0
    /// It rests until the next fix is due.
    case resting = 1
    /// It searches for the fix that is due.
    case searching = 2
    /// It has a fix that still gets better.
    case settling = 3
    /// It has told a good fix, and stays on because a new start would cost more.
    case tracking = 4
    /// A search found nothing; it rests before the next try.
    case backedOff = 5
  }

  /// What happens to it.
  public enum Event: Sendable {
    /// A step's end: what is needed now, and whether somebody keeps the receiver on anyway.
    case plan(FixNeed, isOnAnyway: Bool)
    /// The receiver told a fix of that accuracy, metres, which it made at that time.
    case fix(accuracy: Double, made: Instant, FixNeed)
    /// A fix came out of the receiver's buffer: it works, and when it found is not known.
    case drained
    /// There is new reason to search: somebody asks who did not, or who rested moves.
    case urged
  }

  /// What becomes of a fix.
  public enum Verdict: Equatable, Sendable {
    /// It is good, or as good as it gets: use it.
    case use
    /// A better one is about to come.
    case hold
  }

  /// How long after its first fix a receiver is waited for to become better.
  static let longestSettling = Interval.seconds(5)
  /// How long a receiver that has found its fix may be silent.
  static let longestSilence = Interval.seconds(10)
  /// The first pause after a search that found nothing, and the longest.
  static let shortestBackOff = Interval.seconds(60)
  static let longestBackOff = Interval.seconds(1_800)
  /// A new reason to search cuts that pause to a part of this many.
  static let urgency: Int64 = 8
  /// A receiver's own duty cycle acquires no new signals: it is used where a fix may be off by so many
  /// metres, and so for promises of 50 m and more.
  static let leastAccuracyOfSaving = 10.0
  /// Fixes come each interval; what lies nearer than that is due now.
  static let grain = Interval.milliseconds(500)

  /// What it is on or off for; written by `enter` alone.
  public private(set) var state = State.idle
  /// When it must be stepped again; `.distantFuture` when only an event moves it.
  public private(set) var wake = Instant.distantFuture
  /// How the receiver rests while it is off.
  public private(set) var rest = ReceiverRest.none
  /// Whether the receiver, while it is on, uses its own duty cycle.
  public private(set) var savesPower = false
  /// What the time to fix is thought to be.
  public private(set) var predictor = TimeToFixPredictor()

  private var since = Instant.boot
  /// Since when a search goes on for single fixes; before, somebody else kept the receiver on.
  private var patientSince = Instant.boot
  /// When the receiver went to rest; nil when nothing of what it knew is left, or ever was.
  private var offSince: Instant?
  /// How long it was off when this search began.
  private var offBefore: Interval?
  /// How long in this search it did not have what it knew.
  private var restoring = Interval.zero
  private var firstFix = Instant.boot
  private var lastFix = Instant.boot
  private var bestAccuracy = Double.infinity
  /// Searches in vain since the last fix, up to 6.
  private var failures: Int64 = 0
  /// When the next search may begin, after one in vain.
  private var retry = Instant.boot
  /// When somebody needed a fix last.
  private var lastNeeded = Instant.boot
  /// When its ephemeris was new.
  private var ephemeris: Instant?

  /// Nobody needs anything.
  public init() {}

  /// Whether the receiver shall be on.
  public var isOn: Bool {
    switch state {
    case .searching, .settling, .tracking: true
    case .idle, .resting, .backedOff: false
    }
  }
}

// MARK: - Events

extension FixSchedule {
  /// Takes an event in. O(1).
  ///
  /// - Returns: What becomes of the fix, of a `.fix`; else `.use`.
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
      // A start brings its own configuration; later it is worth a command only where it stays on.
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

  /// The event `.plan(_, isOnAnyway: true)` for a receiver that is already on: it needs no figures, and a call with
  /// them copies 408 bytes.
  ///
  /// - Returns: false if the receiver is not on yet; then handle the event.
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
      // A receiver that has fallen silent searches again.
      wake = lastFix + FixSchedule.longestSilence
      if now >= wake { return beginSearch(figures, at: now) }
      if state == .tracking, !isKept(figures, at: now) { aim(need, figures, at: now) }
    }
  }

  /// Rests until the receiver must start for the fix that is due, or starts it now.
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

  /// How it rests for `left`: as it does already, if it does; who is cut off does not stand by.
  private func choice(
    for left: Interval, warm: Interval, maySave: Bool, _ figures: PlannerFigures
  ) -> ReceiverRest {
    if state == .resting { return rest }
    // Of one that sleeps nothing can be read out to be kept.
    let mayCut = isOn || rest == .cut || figures.receiver.saving == .zero
    return figures.receiver.saving(maySave).rest(
      for: left, warm: warm, canStandby: figures.canStandby && rest != .cut,
      canCut: figures.canSwitchOff && mayCut)
  }

  /// When it had its last fix, and not when it was put to rest, tells what it still knows.
  private func lastTracked(at now: Instant) -> Instant? {
    switch state {
    case .idle, .resting, .backedOff: offSince
    case .searching: offBefore.map { since - $0 }
    case .settling, .tracking: now
    }
  }

  /// How long it will have been off at `time`; nil when nothing of what it knew is left.
  private func timeOff(at time: Instant, _ receiver: ReceiverFigures) -> Interval? {
    if rest == .cut && !receiver.keepsDataWhenCut { return nil }
    return offSince.map { time - $0 }
  }

  /// How long the search takes that must end at `due`, `off` after the receiver went off.
  private func search(
    before due: Instant, off: Interval?, _ receiver: ReceiverFigures
  ) -> Interval {
    guard let off else { return predictor.expected(after: nil, receiver) }
    // It begins earlier than it ends, after less time off, and may be shorter for it.
    let long = predictor.expected(after: off, receiver)
    let short = predictor.expected(after: max(off - long - receiver.startUp, .zero), receiver)
    let offThen = max(off - short - receiver.startUp, .zero)
    return predictor.expected(after: offThen, receiver) <= short ? short : long
  }

  /// When the fix comes of a receiver that is started at `start`.
  public func fixTime(ofStart start: Instant, _ receiver: ReceiverFigures) -> Instant {
    let off = isOn ? start - lastFix : timeOff(at: start, receiver)
    let warm = predictor.expected(after: off, receiver)
    let search = !isOn && rest == .cut ? receiver.searchAfterCut(warm) : warm
    return start + receiver.startUp + search
  }

  /// It is on, or is switched on: a fix is due.
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
      // One that nothing can put to rest has not been off.
      if rest == .none { offSince = now }
      return .use
    case .tracking: return .use
    case .searching:
      let hasRead = offBefore == nil || isEphemerisOld(figures.receiver, at: since)
      let search = max(made - since - figures.receiver.startUp - restoring, .zero)
      predictor.learn(off: hasRead ? nil : offBefore, search: search, figures.receiver)
      if hasRead { ephemeris = now }  // a cold search is what reads it
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

  /// A fix is good enough for its purpose, or gets better no more, or has had its time, or the next
  /// one would come too late (PWR-7).
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

  /// The pause after so many searches in vain, one after the other.
  private var backOff: Interval {
    min(FixSchedule.shortestBackOff * (1 << (failures - 1)), FixSchedule.longestBackOff)
  }

  /// Nobody needs a fix any more. Whoever asks again at once does not make a search in vain endless:
  /// the pause after it is kept.
  private mutating func relax(_ figures: PlannerFigures, at now: Instant) {
    wake = .distantFuture
    switch state {
    case .idle, .resting: goIdle(figures, at: now)
    case .settling, .tracking:
      // What makes the next start short is completed, if that is soon (PWR-8).
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

  /// When the search that goes on is given up.
  private func limit(_ figures: PlannerFigures) -> Instant {
    var expected = predictor.expected(after: offBefore, figures.receiver)
    if isEphemerisOld(figures.receiver, at: since) {
      expected = max(expected, figures.receiver.timeToFix.cold)
    }
    let patience = Interval(seconds: expected.seconds * figures.receiver.spread * 2 + 10)
    return patientSince + figures.receiver.startUp + restoring
      + min(patience, figures.receiver.searchLimit)
  }

  /// Whether the ephemeris is of no more use at `time`: a search then must read it again, however
  /// short the receiver was off.
  private func isEphemerisOld(_ receiver: ReceiverFigures, at time: Instant) -> Bool {
    ephemeris.map { time - $0 > receiver.ephemerisLifetime } ?? false
  }

  /// Whether the receiver is kept on to read a new ephemeris: it would be too old soon, and starts
  /// without it cost more than reading it does now (PWR-8).
  private mutating func isKept(_ figures: PlannerFigures, at now: Instant) -> Bool {
    let receiver = figures.receiver
    if now - firstFix >= receiver.ephemerisDownload { ephemeris = now }
    return isEphemerisDue(receiver, at: now)
  }

  /// Whether there is no ephemeris, or it would be too old soon.
  private func isEphemerisDue(_ receiver: ReceiverFigures, at now: Instant) -> Bool {
    let margin = receiver.ephemerisLifetime / 8
    guard let ephemeris else { return true }
    return now - ephemeris > receiver.ephemerisLifetime - margin
  }

  /// Whether the receiver's own duty cycle serves while it is on; a new ephemeris is read without it.
  private func maySave(_ need: FixNeed, _ receiver: ReceiverFigures, at now: Instant) -> Bool {
    receiver.on_mW < receiver.track_mW && need.accuracy >= FixSchedule.leastAccuracyOfSaving
      && !isEphemerisDue(receiver, at: now)
  }

  /// The only place that writes the state.
  private mutating func enter(_ new: State, at now: Instant) {
    state = new
    since = now
    wake = .distantFuture
  }
}

#if REACHED
  extension FixSchedule {
    static let machine = Machine(
      "FixSchedule", states: "idle resting searching settling tracking backedOff",
      events: "isOnAnyway noNeed need fix drained urged")
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
