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
    /// The receiver told a fix of that accuracy, metres.
    case fix(accuracy: Double, FixNeed)
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
  /// Fixes come each interval; what lies nearer than that is due now.
  static let grain = Interval.milliseconds(500)

  /// What it is on or off for; written by `enter` alone.
  public private(set) var state = State.idle
  /// When it must be stepped again; `.distantFuture` when only an event moves it.
  public private(set) var wake = Instant.distantFuture
  /// How the receiver rests while it is off.
  public private(set) var rest = ReceiverRest.none
  /// What the time to fix is thought to be.
  public private(set) var predictor = TimeToFixPredictor()

  private var since = Instant.boot
  /// When the receiver went to rest; nil when nothing of what it knew is left, or ever was.
  private var offSince: Instant?
  /// How long it was off when this search began.
  private var offBefore: Interval?
  private var firstFix = Instant.boot
  private var lastFix = Instant.boot
  private var bestAccuracy = Double.infinity
  private var failures: Int64 = 0
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
      if isOnAnyway { stayOn(figures, at: now) } else { plan(need, figures, at: now) }
      return .use
    case .fix(let accuracy, let need): return take(accuracy, need, figures, at: now)
    }
  }

  /// Somebody else keeps the receiver on: there is nothing to decide.
  private mutating func stayOn(_ figures: PlannerFigures, at now: Instant) {
    if !isOn { beginSearch(figures, at: now) }
    wake = .distantFuture
  }

  private mutating func plan(_ need: FixNeed, _ figures: PlannerFigures, at now: Instant) {
    guard need.isAny else {
      if state != .idle { goIdle(at: now) }
      return
    }
    switch state {
    case .idle, .resting: aim(need, figures, at: now)
    case .backedOff: if now >= wake { beginSearch(figures, at: now) }
    case .searching:
      wake = limit(figures)
      if now >= wake { giveUp(at: now) }
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
    let off = isOn ? left : offSince.map { need.due - $0 }
    var warm = search(before: need.due, off: off, figures.receiver)
    if isEphemerisOld(figures.receiver, at: need.due) {
      warm = max(warm, figures.receiver.timeToFix.cold)
    }
    let choice = figures.receiver.rest(
      for: left, warm: warm, canStandby: figures.canStandby, canCut: figures.canSwitchOff)
    let isCold = choice == .cut && !figures.receiver.keepsDataWhenCut
    let search = isCold ? figures.receiver.timeToFix.cold : warm
    let start = need.due - search - figures.receiver.startUp
    if choice == .none || start <= now { return goOn(figures, at: now) }
    if isOn || state == .idle {
      if isOn { offSince = now }
      rest = choice
      enter(.resting, at: now)
    }
    wake = start
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
    let off = isOn ? start - lastFix : offSince.map { start - $0 }
    return start + receiver.startUp + predictor.expected(after: off, receiver)
  }

  /// It is on, or is switched on: a fix is due.
  private mutating func goOn(_ figures: PlannerFigures, at now: Instant) {
    switch state {
    case .idle, .resting, .backedOff: beginSearch(figures, at: now)
    case .searching, .settling, .tracking: break
    }
  }

  private mutating func take(
    _ accuracy: Double, _ need: FixNeed, _ figures: PlannerFigures, at now: Instant
  ) -> Verdict {
    lastFix = now
    switch state {
    case .idle, .resting, .backedOff, .tracking: return .use
    case .searching:
      let hasRead = offBefore == nil || isEphemerisOld(figures.receiver, at: since)
      predictor.learn(
        off: hasRead ? nil : offBefore, search: now - since - figures.receiver.startUp,
        figures.receiver)
      if hasRead { ephemeris = now }  // a cold search is what reads it
      failures = 0
      firstFix = now
      bestAccuracy = .infinity
      enter(.settling, at: now)
      return settle(accuracy, need, at: now)
    case .settling: return settle(accuracy, need, at: now)
    }
  }

  /// A fix is good enough for its purpose, or gets better no more, or has had its time (PWR-7).
  private mutating func settle(_ accuracy: Double, _ need: FixNeed, at now: Instant) -> Verdict {
    let isGood = accuracy <= max(need.accuracy, 5)
    let isSteady = accuracy > bestAccuracy * 0.9
    bestAccuracy = min(bestAccuracy, accuracy)
    guard isGood || isSteady || now - firstFix >= FixSchedule.longestSettling else { return .hold }
    enter(.tracking, at: now)
    return .use
  }

  private mutating func beginSearch(_ figures: PlannerFigures, at now: Instant) {
    // A cut supply without backup takes all that the receiver knew.
    let knowsNothing = rest == .cut && !figures.receiver.keepsDataWhenCut
    offBefore = knowsNothing ? nil : offSince.map { now - $0 }
    offSince = nil
    rest = .none
    enter(.searching, at: now)
    wake = limit(figures)
  }

  private mutating func giveUp(at now: Instant) {
    // When it had its last fix, and not when it was put to rest, tells what it still knows.
    offSince = offBefore.map { since - $0 }
    let pause = min(FixSchedule.shortestBackOff * (1 << failures), FixSchedule.longestBackOff)
    failures = min(failures + 1, 6)
    rest = .standby
    enter(.backedOff, at: now)
    wake = now + pause
  }

  private mutating func goIdle(at now: Instant) {
    if isOn { offSince = now }
    enter(.idle, at: now)
  }

  /// When the search that goes on is given up.
  private func limit(_ figures: PlannerFigures) -> Instant {
    var expected = predictor.expected(after: offBefore, figures.receiver)
    if isEphemerisOld(figures.receiver, at: since) {
      expected = max(expected, figures.receiver.timeToFix.cold)
    }
    let patience = Interval(seconds: expected.seconds * figures.receiver.spread * 2 + 10)
    return since + figures.receiver.startUp + min(patience, figures.receiver.searchLimit)
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
    let margin = Interval(microseconds: receiver.ephemerisLifetime.microseconds / 8)
    guard let ephemeris else { return true }
    return now - ephemeris > receiver.ephemerisLifetime - margin
  }

  /// The only place that writes the state.
  private mutating func enter(_ new: State, at now: Instant) {
    state = new
    since = now
    wake = .distantFuture
  }
}
