import LocationTypes

/// What the planner must know of board and receiver; all of it from the profile.
public struct PlannerFigures: Sendable {
  /// Time between two fixes.
  public var fixInterval: Interval
  /// The receiver can be put to sleep by command.
  public var canStandby: Bool
  /// The receiver's supply can be cut.
  public var canSwitchOff: Bool
  /// A motion sensor tells by a line whether the wearer moves.
  public var hasMotionLine = false
  /// How the receiver batches; nil when it does not.
  public var batch: BatchFigures?
  /// The lightest sleep, in which bytes are heard; nil when the board never sleeps.
  public var idle: SleepFigures?
  /// A deeper sleep; nil when there is none.
  public var deep: SleepFigures?
  /// What the receiver takes, and what a start of it costs.
  public var receiver: ReceiverFigures
  /// N: how many fixes a deferral caches before it is flushed (RNG-1).
  public var deferralLimit: Int
  /// The fastest this board is ever carried, m/s.
  public var plausibleSpeed: Double
  /// The hardest it is ever accelerated, m/s².
  public var plausibleAcceleration: Double
  /// The least time between two looks at a distance criterion.
  public var shortestPoll: Interval
  /// How long the receiver may send before the line's buffer is full; zero to hear each message.
  public var longestGather: Interval

  /// Creates figures of a receiver that tracks on a board that never sleeps; set the rest.
  public init(fixInterval: Interval, deferralLimit: Int, timeToFix: TimeToFixTable) {
    self.fixInterval = fixInterval
    self.deferralLimit = deferralLimit
    receiver = ReceiverFigures(timeToFix: timeToFix)
    canStandby = false
    canSwitchOff = false
    batch = nil
    idle = nil
    deep = nil
    plausibleSpeed = 70
    plausibleAcceleration = 3
    shortestPoll = .seconds(5)
    longestGather = .zero
  }

  /// Time to first fix.
  public var timeToFix: TimeToFixTable {
    get { receiver.timeToFix }
    set { receiver.timeToFix = newValue }
  }

  /// How the receiver rests while nobody needs it, and after a search in vain.
  public var restWhenIdle: ReceiverRest {
    if canStandby { return .standby }
    return canSwitchOff ? .cut : .none
  }

  /// Whether what the motion line says is made use of. A board that does not hear it in its deepest
  /// sleep does better without: staying out of that sleep costs more than the looks it would spare.
  public var usesMotionLine: Bool { hasMotionLine && deep?.wakesOnMotion ?? true }

  /// Whether there is a state in which fixes gather while the board sleeps (DEF-7).
  public var hasCachingState: Bool { batch != nil || idle != nil }

  /// min(N, W): how many fixes may gather in the receiver.
  public var watermark: UInt16? {
    batch.map { UInt16(clamping: min(Int($0.watermark), deferralLimit)) }
  }
}

/// What the planner is told of the present.
public struct Situation: Sendable {
  /// What the clients want.
  public var demand: DemandSummary
  /// Something is in flight: a command, a drain, an epoch. The board idles and is not suspended.
  public var isBusy: Bool
  /// A delivered batch waits for its acknowledgement until then (RNG-8).
  public var holdUntil: Instant?
  /// When the receiver began to search; nil while it does not or has found.
  public var searchingSince: Instant?
  /// How long it had been off then; nil when unknown or its supply was cut.
  public var offBefore: Interval?
  /// What single fixes ask of the receiver; nil while somebody asks for all.
  public var schedule: FixSchedule?
  /// When its last message was complete: the next ones come whole intervals later.
  public var lastMessage: Instant
  /// When the receiver's buffer must be drained at the latest; `.distantFuture` if it is not used.
  public var drainDue: Instant

  /// Nothing wanted, nothing in flight.
  public init() {
    demand = DemandSummary()
    isBusy = false
    holdUntil = nil
    searchingSince = nil
    offBefore = nil
    schedule = nil
    lastMessage = .boot
    drainDue = .distantFuture
  }
}

/// Turns demands into a plan: the least receiver state that serves them all, the longest sleep.
public struct Planner: Sendable {
  /// Board and receiver.
  public var figures: PlannerFigures

  /// Creates the planner of a board.
  public init(_ figures: PlannerFigures) { self.figures = figures }

  /// Whether deferred clients' fixes may stay behind: the board could sleep over them (DEF-28) and
  /// nobody needs fixes now (DEF-29).
  public func mayDefer(_ demand: DemandSummary, isInhibited: Bool) -> Bool {
    figures.hasCachingState && !isInhibited && demand.live == 0
  }

  /// The plan for `situation`. Pure, O(1).
  public func plan(_ situation: Situation, isInhibited: Bool, at now: Instant) -> Plan {
    let receiver = receiver(
      for: situation.demand, situation.schedule, isInhibited: isInhibited)
    // A look that is due now is on its way already: the drain.
    let demanded = situation.demand.check > now ? situation.demand.check : .distantFuture
    let check = min(demanded, situation.schedule?.wake ?? .distantFuture)
    if situation.isBusy || isInhibited {
      return Plan(receiver: receiver, board: .idle, wake: check, listens: true)
    }
    if let hold = situation.holdUntil, hold > now {
      return Plan(receiver: receiver, board: .idle, wake: min(hold, check), listens: true)
    }
    switch receiver {
    case .off, .standby:
      return sleep(receiver, until: check, at: now)
    case .tracking, .powersave:
      return streaming(receiver, situation, at: now)
    case .batching:
      // No client waits for a drain: the alarm need not lie before its moment.
      let drainDue = situation.drainDue + longestLead
      return sleep(receiver, until: min(situation.demand.check, drainDue), at: now)
    }
  }

  /// The least state that serves the demand (PWR-1).
  func receiver(
    for demand: DemandSummary, _ schedule: FixSchedule? = nil, isInhibited: Bool
  ) -> PlannedReceiver {
    if demand.live > 0 { return .tracking }
    if demand.deferred > 0 {
      guard !isInhibited, let watermark = figures.watermark else { return .tracking }
      return .batching(watermark: watermark)
    }
    if let schedule, schedule.isOn { return schedule.savesPower ? .powersave : .tracking }
    switch schedule?.rest ?? figures.restWhenIdle {
    case .none: return .tracking
    case .standby: return .standby
    case .cut: return .off
    }
  }

  /// A receiver that tells each fix wakes the board for each, except that nobody wakes for the
  /// empty messages of a search before it can have succeeded, unless somebody watches.
  private func streaming(
    _ receiver: PlannedReceiver, _ situation: Situation, at now: Instant
  ) -> Plan {
    let check = min(situation.demand.check, situation.schedule?.wake ?? .distantFuture)
    guard let idle = figures.idle, idle.wakesOnBytes, check - now > idle.lead else {
      return Plan(receiver: receiver, board: .idle, wake: check, listens: true)
    }
    var plan = Plan(receiver: receiver, board: .idle, wake: alarm(check, idle), listens: true)
    // Where the next fix was reckoned to the second, it is not left to gather.
    let isReckoned = situation.schedule?.isOn ?? false
    let isPatient = situation.demand.watched == 0 && !isReckoned
    if isPatient, let look = nextLook(situation, at: now) {
      if isOutOfStep(situation, at: now) {
        plan.wake = min(plan.wake, now + figures.fixInterval)
        return plan
      }
      plan.listens = false
      plan.wake = min(plan.wake, look)
    }
    return plan
  }

  /// Whether it is worth hearing one message before the others gather unheard: only then is it known
  /// when each of them came. A receiver that says nothing is not waited for.
  private func isOutOfStep(_ situation: Situation, at now: Instant) -> Bool {
    guard let since = situation.searchingSince else { return false }
    return now - since <= Planner.longestTuning && now - situation.lastMessage > figures.fixInterval
  }

  /// How long after its start a receiver is listened to for its first message.
  static let longestTuning = Interval.seconds(10)

  /// When a search is looked at next: when it should have succeeded, then ever more seldom, but
  /// before more has gathered than the line's buffer holds. Nil while there is a fix.
  private func nextLook(_ situation: Situation, at now: Instant) -> Instant? {
    guard let since = situation.searchingSince, figures.longestGather > figures.fixInterval else {
      return nil
    }
    // The fix is told with the first epoch after it was found.
    let expected =
      since + figures.timeToFix.expected(after: situation.offBefore) + figures.fixInterval
    let overdue = (now - since) / 4
    let wanted = min(expected > now ? expected : now + overdue, now + figures.longestGather)
    return nextMessage(after: wanted, situation.lastMessage)
  }

  /// When the first message after `time` should be there, so that it is not read late.
  private func nextMessage(after time: Instant, _ last: Instant) -> Instant {
    let interval = figures.fixInterval.microseconds
    let count = max((time - last).microseconds, 0) / interval + 1
    return last + figures.fixInterval * count + Planner.messageSlack
  }

  /// Messages come so much later than the last one led to expect.
  static let messageSlack = Interval.milliseconds(100)

  /// How long the receiver is left to itself: to the watermark where no pin tells it, and a little
  /// beyond it where one does, for a pin may fail and its buffer must not overflow.
  public var drainPatience: Interval {
    guard let batch = figures.batch, let watermark = figures.watermark else { return .zero }
    if !batch.hasPin { return figures.fixInterval * Int64(watermark) }
    let slack = (Int64(batch.capacity) - Int64(watermark) + 1) / 2
    return figures.fixInterval * (Int64(watermark) + slack)
  }

  /// The deepest sleep that is left in time and that what must wake the board can wake.
  private func sleep(_ receiver: PlannedReceiver, until due: Instant, at now: Instant) -> Plan {
    guard due > now else {
      return Plan(receiver: receiver, board: .idle, wake: due, listens: true)
    }
    let needsPin = receiver != .off && receiver != .standby && figures.batch?.hasPin == true
    if let deep = figures.deep, due - now >= deep.minimum + deep.lead,
      deep.wakesOnPin || !needsPin
    {
      // What batches or rests says nothing: whatever it says, it has forgotten what it was told.
      return Plan(
        receiver: receiver, board: deep.state, wake: alarm(due, deep), listens: deep.wakesOnBytes)
    }
    // Woken early for a promised moment, the board waits for the moment itself.
    guard let idle = figures.idle, due - now > longestLead else {
      return Plan(receiver: receiver, board: .idle, wake: due, listens: true)
    }
    return Plan(receiver: receiver, board: .idle, wake: alarm(due, idle), listens: true)
  }

  /// The longest time before a promised moment at which an alarm is set: whoever wakes for
  /// something that need not be exact may do it then.
  public var longestLead: Interval {
    max(figures.deep?.lead ?? .zero, figures.idle?.lead ?? .zero)
  }

  /// When the alarm must go off for the board to run at `due` (DEF-18).
  private func alarm(_ due: Instant, _ sleep: SleepFigures) -> Instant {
    due == .distantFuture ? due : due - sleep.lead
  }

  /// When a distance criterion must be looked at: no earlier can `metresLeft` have been travelled
  /// from `speed`, accelerating as hard as this board ever is to the fastest it ever goes (DEF-21).
  ///
  /// - Parameters:
  ///   - metresLeft: Above 0; infinite gives `.distantFuture`.
  ///   - speed: m/s at the last fix; taken as the fastest when unknown.
  public func distanceCheck(metresLeft: Double, speed: Double?, at now: Instant) -> Instant {
    guard metresLeft < .infinity else { return .distantFuture }
    let fastest = figures.plausibleSpeed
    let start = min(max(speed ?? fastest, 0), fastest)
    let a = figures.plausibleAcceleration
    let rise = (fastest - start) / a
    let risen = (start + fastest) / 2 * rise
    let seconds: Double
    if metresLeft >= risen {
      seconds = rise + (metresLeft - risen) / fastest
    } else {
      seconds = ((start * start + 2 * a * metresLeft).squareRoot() - start) / a
    }
    return now + max(Interval(seconds: seconds), figures.shortestPoll)
  }
}
