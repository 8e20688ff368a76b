import LocationTypes

/// Properties of board and receiver that the planner needs, all from the profile.
public struct PlannerFigures: Sendable {
  /// Time between two fixes.
  public var fixInterval: Interval
  /// Whether the receiver can be put to sleep by command.
  public var canStandby: Bool
  /// Whether the receiver's supply can be switched off.
  public var canSwitchOff: Bool
  /// Whether the line of a motion sensor reports if the device moves.
  public var hasMotionLine = false
  /// The receiver's own fix buffer; nil if it has none.
  public var batch: BatchFigures?
  /// The lightest sleep state, in which bytes wake the board; nil if the board never sleeps.
  public var idle: SleepFigures?
  /// A deeper sleep state; nil if the board has none.
  public var deep: SleepFigures?
  /// Power and start times of the receiver.
  public var receiver: ReceiverFigures
  /// N: number of fixes that a deferral caches before it is flushed (RNG-1).
  public var deferralLimit: Int
  /// The fastest that this board is ever carried, m/s.
  public var plausibleSpeed: Double
  /// The largest acceleration of this board, m/s².
  public var plausibleAcceleration: Double
  /// Shortest time between two checks of a distance criterion.
  public var shortestPoll: Interval
  /// Time in which the receiver fills the input buffer of the line; zero to read each message.
  public var longestGather: Interval

  /// Creates the parameters of a tracking receiver on a board that never sleeps; set the other properties as needed.
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

  /// Sleep mode while no client needs the receiver, and during back-off.
  public var restWhenIdle: ReceiverRest {
    if canStandby { return .standby }
    return canSwitchOff ? .cut : .none
  }

  /// Whether the motion line is used. It is not used if it cannot wake the board from its deepest sleep: staying out
  /// of that sleep costs more energy than the fixes that the line would save.
  public var usesMotionLine: Bool { hasMotionLine && deep?.wakesOnMotion ?? true }

  /// Whether fixes can be collected while the board sleeps (DEF-7).
  public var hasCachingState: Bool { batch != nil || idle != nil }

  /// min(N, W): number of fixes that the receiver may collect.
  public var watermark: UInt16? {
    batch.map { UInt16(clamping: min(Int($0.watermark), deferralLimit)) }
  }
}

/// The present state of clients and receiver, as input of the planner.
public struct Situation: Sendable {
  /// The sum of the clients' demands.
  public var demand: DemandSummary
  /// Whether a command, a drain or an epoch is in progress. The board then idles and is not suspended.
  public var isBusy: Bool
  /// Time until which a delivered batch may be acknowledged (RNG-8); nil if none waits.
  public var holdUntil: Instant?
  /// Start of the current acquisition; nil while the receiver is off or has a fix.
  public var searchingSince: Instant?
  /// Time off before that acquisition; nil if unknown, or after a power-off.
  public var offBefore: Interval?
  /// State of the schedule for single fixes; nil while a client needs every fix.
  public var schedule: FixSchedule?
  /// Time at which the last message was complete: the next ones follow at multiples of the fix interval.
  public var lastMessage: Instant
  /// Latest time to drain the receiver's buffer; `.distantFuture` if it is not used.
  public var drainDue: Instant

  /// No demand, nothing in progress.
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

/// Computes the plan for board and receiver: the lowest-power receiver state that serves all demands, and the longest
/// sleep.
public struct Planner: Sendable {
  /// Parameters of board and receiver.
  public var figures: PlannerFigures

  /// Creates the planner of a board.
  public init(_ figures: PlannerFigures) { self.figures = figures }

  /// Whether the fixes of deferred clients may be delivered later: the board can sleep while they are collected
  /// (DEF-28), and no client needs fixes now (DEF-29).
  public func mayDefer(_ demand: DemandSummary, isInhibited: Bool) -> Bool {
    figures.hasCachingState && !isInhibited && demand.live == 0
  }

  /// The plan for `situation`. Pure, O(1).
  public func plan(_ situation: Situation, isInhibited: Bool, at now: Instant) -> Plan {
    let receiver = receiver(
      for: situation.demand, situation.schedule, isInhibited: isInhibited)
    // For a check that is due now, the drain has already been requested.
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
      // No client waits for a drain, so its alarm may fire late.
      let drainDue = situation.drainDue + longestLead
      return sleep(receiver, until: min(situation.demand.check, drainDue), at: now)
    }
  }

  /// The lowest-power receiver state that serves the demand (PWR-1).
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

  /// The plan while the receiver sends each fix. Each message wakes the board, except during an acquisition without a
  /// client in the foreground: messages without a fix are then buffered until one can contain a fix.
  private func streaming(
    _ receiver: PlannedReceiver, _ situation: Situation, at now: Instant
  ) -> Plan {
    let check = min(situation.demand.check, situation.schedule?.wake ?? .distantFuture)
    guard let idle = figures.idle, idle.wakesOnBytes, check - now > idle.lead else {
      return Plan(receiver: receiver, board: .idle, wake: check, listens: true)
    }
    var plan = Plan(receiver: receiver, board: .idle, wake: alarm(check, idle), listens: true)
    // For a single fix the schedule has computed the time to the second, so its messages are not buffered.
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

  /// Whether one message should be read before the following ones are buffered: the times of buffered messages are
  /// computed from the last one read. The wait for a silent receiver is limited.
  private func isOutOfStep(_ situation: Situation, at now: Instant) -> Bool {
    guard let since = situation.searchingSince else { return false }
    return now - since <= Planner.longestTuning && now - situation.lastMessage > figures.fixInterval
  }

  /// Longest wait for the first message after the start of a receiver.
  static let longestTuning = Interval.seconds(10)

  /// The time of the next check of an acquisition: when it should have succeeded, then at increasing intervals, but
  /// before the input buffer overflows. Nil while the receiver has a fix.
  private func nextLook(_ situation: Situation, at now: Instant) -> Instant? {
    guard let since = situation.searchingSince, figures.longestGather > figures.fixInterval else {
      return nil
    }
    // The fix is in the first epoch after the acquisition.
    let expected =
      since + figures.timeToFix.expected(after: situation.offBefore) + figures.fixInterval
    let overdue = (now - since) / 4
    let wanted = min(expected > now ? expected : now + overdue, now + figures.longestGather)
    return nextMessage(after: wanted, situation.lastMessage)
  }

  /// The expected time of the first message after `time`, including slack.
  private func nextMessage(after time: Instant, _ last: Instant) -> Instant {
    let interval = figures.fixInterval.microseconds
    let count = max((time - last).microseconds, 0) / interval + 1
    return last + figures.fixInterval * count + Planner.messageSlack
  }

  /// Slack for a message that comes later than computed from the previous one.
  static let messageSlack = Interval.milliseconds(100)

  /// Longest time between two drains: up to the watermark without a pin; with a pin up to the middle between watermark
  /// and capacity, so that a failed pin does not cause an overflow.
  public var drainPatience: Interval {
    guard let batch = figures.batch, let watermark = figures.watermark else { return .zero }
    if !batch.hasPin { return figures.fixInterval * Int64(watermark) }
    let slack = (Int64(batch.capacity) - Int64(watermark) + 1) / 2
    return figures.fixInterval * (Int64(watermark) + slack)
  }

  /// The plan with the deepest sleep state for which enough time is left and which all needed wake sources can end.
  private func sleep(_ receiver: PlannedReceiver, until due: Instant, at now: Instant) -> Plan {
    guard due > now else {
      return Plan(receiver: receiver, board: .idle, wake: due, listens: true)
    }
    let needsPin = receiver != .off && receiver != .standby && figures.batch?.hasPin == true
    if let deep = figures.deep, due - now >= deep.minimum + deep.lead,
      deep.wakesOnPin || !needsPin
    {
      // A batching or sleeping receiver sends nothing. If it does send, it has restarted and lost its configuration.
      return Plan(
        receiver: receiver, board: deep.state, wake: alarm(due, deep), listens: deep.wakesOnBytes)
    }
    // The alarm rang early because of its lead; wait for the due time itself.
    guard let idle = figures.idle, due - now > longestLead else {
      return Plan(receiver: receiver, board: .idle, wake: due, listens: true)
    }
    return Plan(receiver: receiver, board: .idle, wake: alarm(due, idle), listens: true)
  }

  /// Longest time by which an alarm is set before a due time. Work that need not be exact may be done that much early.
  public var longestLead: Interval {
    max(figures.deep?.lead ?? .zero, figures.idle?.lead ?? .zero)
  }

  /// Alarm time so that the board runs at `due` (DEF-18).
  private func alarm(_ due: Instant, _ sleep: SleepFigures) -> Instant {
    due == .distantFuture ? due : due - sleep.lead
  }

  /// The time at which a distance criterion must be checked: the earliest at which `metresLeft` can have been
  /// travelled from `speed` with the largest acceleration up to the highest speed (DEF-21).
  ///
  /// - Parameters:
  ///   - metresLeft: Above 0; infinite gives `.distantFuture`.
  ///   - speed: Speed at the last fix, m/s; nil counts as the highest speed.
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
