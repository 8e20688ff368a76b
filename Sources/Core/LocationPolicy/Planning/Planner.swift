import LocationTypes

/// Properties of board and receiver, made by `BoardProfiles`. `Engine` removes the fix buffer or the duty cycle while
/// the receiver cannot use them.
public struct PlannerParameters: Sendable {
  /// Time between two fixes.
  public var fixInterval: Interval
  /// Whether the receiver can be put to sleep by command.
  public var canStandby = false
  /// Whether the receiver's supply can be switched off.
  public var canSwitchOff = false
  /// Whether the line of a motion sensor reports if the device moves.
  public var hasMotionLine = false
  /// The receiver's own fix buffer; nil if it has none.
  public var batch: BatchParameters?
  /// The lightest sleep state, in which bytes may wake the board; nil if the profile has none.
  public var idle: SleepParameters?
  /// A deeper sleep state; nil if the board has none.
  public var deep: SleepParameters?
  /// Power and start times of the receiver, and what the board pays while it may not be switched off.
  public var receiver: ReceiverParameters
  /// What the board pays while the service may switch it off; nil if no alarm can switch it on again.
  public var unattendedBoard: BoardParameters?
  /// N: number of fixes that a deferral caches before it is flushed (RNG-1).
  public var deferralLimit: Int
  /// The fastest that this board is ever carried, m/s.
  public var plausibleSpeed = 70.0
  /// The largest acceleration of this board, m/s².
  public var plausibleAcceleration = 3.0
  /// Shortest time between two checks of a distance criterion.
  public var minimumCheckInterval = Interval.seconds(5)
  /// Time in which the receiver fills the input buffer of the line; zero to read each message.
  public var inputBufferTime = Interval.zero

  /// Creates the parameters of a tracking receiver on a board that never sleeps; set the other properties as needed.
  public init(fixInterval: Interval, deferralLimit: Int, timeToFix: TimeToFixTable) {
    self.fixInterval = fixInterval
    self.deferralLimit = deferralLimit
    receiver = ReceiverParameters(timeToFix: timeToFix)
  }

  /// Sleep mode while no client needs the receiver, and during back-off.
  public var idleSleepMode: ReceiverSleepMode {
    if canStandby { return .standby }
    return canSwitchOff ? .off : .none
  }

  /// Whether the motion line is used. It is not used if it cannot wake the board from its deepest sleep: staying out
  /// of that sleep costs more energy than the fixes that the line would save.
  public var usesMotionLine: Bool { hasMotionLine && deep?.wakesOnMotion ?? true }

  /// Whether fixes can be collected while the board sleeps (DEF-7).
  public var hasCachingState: Bool { batch != nil || idle != nil }

  /// Longest time by which an alarm is set before a due time. Work that need not be exact may be done that much early.
  public var maximumAlarmLead: Interval {
    max(deep?.alarmLead ?? .zero, idle?.alarmLead ?? .zero)
  }

  /// min(N, W): number of fixes that the receiver may collect.
  public var watermark: UInt16? {
    batch.map { UInt16(clamping: min(Int($0.watermark), deferralLimit)) }
  }
}

/// The present state of clients and receiver: made by `Engine` for each plan, used by ``Planner``.
public struct PlannerInput: Sendable {
  /// The sum of the clients' demands.
  public var demand = DemandSummary()
  /// Whether a command, a drain or an epoch is in progress. The board then idles and is not suspended.
  public var isBusy = false
  /// Time until which a delivered batch may be acknowledged (RNG-8); nil if none waits.
  public var acknowledgementDeadline: Instant?
  /// Start of the current acquisition; nil while the receiver is off or has a fix.
  public var acquiringSince: Instant?
  /// Time off before that acquisition; nil if unknown, or after a power-off.
  public var previousOffTime: Interval?
  /// State of the schedule for single fixes; nil while a client needs every fix.
  public var schedule: FixSchedule?
  /// Time at which the last message was complete: the next ones follow at multiples of the fix interval.
  public var lastMessageTime = Instant.boot
  /// Latest time to drain the receiver's buffer; `.distantFuture` if it is not used.
  public var drainDue = Instant.distantFuture

  /// Creates an input without demand and without work in progress.
  public init() {}
}

/// Computes the plan for board and receiver: the lowest-power receiver state that serves all demands, and the longest
/// sleep.
public struct Planner: Sendable {
  /// Parameters of board and receiver.
  public var parameters: PlannerParameters

  /// Creates the planner of a board.
  public init(_ parameters: PlannerParameters) { self.parameters = parameters }

  /// Whether the fixes of deferred clients may be delivered later: the board can sleep while they are collected
  /// (DEF-28), and no client needs fixes now (DEF-29).
  public func mayDefer(_ demand: DemandSummary, isInhibited: Bool) -> Bool {
    parameters.hasCachingState && !isInhibited && demand.live == 0
  }

  /// The plan for `input`. Pure, O(1).
  public func plan(_ input: PlannerInput, isInhibited: Bool, at now: Instant) -> Plan {
    let receiver = receiver(
      for: input.demand, input.schedule, isInhibited: isInhibited)
    // For a check that is due now, the drain has already been requested.
    let demanded = input.demand.check > now ? input.demand.check : .distantFuture
    let check = min(demanded, input.schedule?.wake ?? .distantFuture)
    if input.isBusy || isInhibited {
      return Plan(receiver: receiver, board: .idle, wake: check, wakesOnInput: true)
    }
    if let hold = input.acknowledgementDeadline, hold > now {
      return Plan(receiver: receiver, board: .idle, wake: min(hold, check), wakesOnInput: true)
    }
    switch receiver {
    case .off, .standby:
      return sleepPlan(receiver, until: check, at: now)
    case .tracking, .powersave:
      return streamingPlan(receiver, input, at: now)
    case .batching:
      // No client waits for a drain, so its alarm may fire late.
      let drainDue = input.drainDue + parameters.maximumAlarmLead
      return sleepPlan(receiver, until: min(input.demand.check, drainDue), at: now)
    }
  }

  /// The lowest-power receiver state that serves the demand (PWR-1).
  func receiver(
    for demand: DemandSummary, _ schedule: FixSchedule? = nil, isInhibited: Bool
  ) -> ReceiverMode {
    if demand.live > 0 { return .tracking }
    if demand.deferred > 0 {
      guard !isInhibited, let watermark = parameters.watermark else { return .tracking }
      return .batching(watermark: watermark)
    }
    if let schedule, schedule.isOn { return schedule.usesDutyCycle ? .powersave : .tracking }
    switch schedule?.sleepMode ?? parameters.idleSleepMode {
    case .none: return .tracking
    case .standby: return .standby
    case .off: return .off
    }
  }

  /// The plan for the search of a single fix, if suspending the board until the fix is expected saves more energy than
  /// resuming costs; nil if the board must read the receiver's output. Messages without a fix are lost meanwhile.
  private func searchPlan(
    _ receiver: ReceiverMode, _ input: PlannerInput, until check: Instant, at now: Instant
  ) -> Plan? {
    guard let deep = parameters.deep, input.demand.watched == 0,
      let expected = input.schedule?.expectedFixTime(parameters.receiver)
    else { return nil }
    let end = min(expected, check)
    guard parameters.receiver.board.sleepsThroughSearch(of: end - now) else { return nil }
    return Plan(
      receiver: receiver, board: deep.state, wake: end - deep.alarmLead, wakesOnInput: false)
  }

  /// The plan while the receiver sends each fix. Each message wakes the board, except during an acquisition without a
  /// client in the foreground: messages without a fix are then buffered until one can contain a fix.
  private func streamingPlan(
    _ receiver: ReceiverMode, _ input: PlannerInput, at now: Instant
  ) -> Plan {
    let check = min(input.demand.check, input.schedule?.wake ?? .distantFuture)
    if let plan = searchPlan(receiver, input, until: check, at: now) { return plan }
    guard let idle = parameters.idle, idle.wakesOnBytes, check - now > idle.alarmLead else {
      return Plan(receiver: receiver, board: .idle, wake: check, wakesOnInput: true)
    }
    var plan = Plan(
      receiver: receiver, board: .idle, wake: alarmTime(check, idle), wakesOnInput: true)
    // A receiver that sleeps after a single fix must not stay on for longer, so its messages are not buffered.
    let sleepsAfterFix = (input.schedule?.isOn ?? false) && parameters.idleSleepMode != .none
    let mayBuffer = input.demand.watched == 0 && !sleepsAfterFix
    if mayBuffer, let checkTime = nextCheck(input, at: now) {
      if isOutOfSync(input, at: now) {
        plan.wake = min(plan.wake, now + parameters.fixInterval)
        return plan
      }
      plan.wakesOnInput = false
      plan.wake = min(plan.wake, checkTime)
    }
    return plan
  }

  /// Whether one message should be read before the following ones are buffered: the times of buffered messages are
  /// computed from the last one read. The wait for a silent receiver is limited.
  private func isOutOfSync(_ input: PlannerInput, at now: Instant) -> Bool {
    guard let since = input.acquiringSince else { return false }
    return now - since <= Planner.firstMessageTimeout
      && now - input.lastMessageTime > parameters.fixInterval
  }

  /// Longest wait for the first message after the start of a receiver.
  static let firstMessageTimeout = Interval.seconds(10)

  /// The time of the next check of an acquisition: when it should have succeeded, then at increasing intervals, but
  /// before the input buffer overflows. Nil while the receiver has a fix.
  private func nextCheck(_ input: PlannerInput, at now: Instant) -> Instant? {
    guard let since = input.acquiringSince, parameters.inputBufferTime > parameters.fixInterval
    else {
      return nil
    }
    // The fix is in the first epoch after the acquisition.
    let expected =
      since + parameters.receiver.timeToFix.expected(after: input.previousOffTime)
      + parameters.fixInterval
    let overdue = (now - since) / 4
    let checkTime = min(expected > now ? expected : now + overdue, now + parameters.inputBufferTime)
    return nextMessageTime(after: checkTime, input.lastMessageTime)
  }

  /// The expected time of the first message after `time`, including slack.
  private func nextMessageTime(after time: Instant, _ last: Instant) -> Instant {
    let interval = parameters.fixInterval.microseconds
    let count = max((time - last).microseconds, 0) / interval + 1
    return last + parameters.fixInterval * count + Planner.messageSlack
  }

  /// Slack for a message that comes later than computed from the previous one.
  static let messageSlack = Interval.milliseconds(100)

  /// Longest time between two drains: up to the watermark without a pin; with a pin up to the middle between watermark
  /// and capacity, so that a failed pin does not cause an overflow.
  public var maximumDrainInterval: Interval {
    guard let batch = parameters.batch, let watermark = parameters.watermark else { return .zero }
    if !batch.hasPin { return parameters.fixInterval * Int64(watermark) }
    let slack = (Int64(batch.capacity) - Int64(watermark) + 1) / 2
    return parameters.fixInterval * (Int64(watermark) + slack)
  }

  /// The plan with the deepest sleep state for which enough time is left and which all needed wake sources can end.
  private func sleepPlan(_ receiver: ReceiverMode, until due: Instant, at now: Instant) -> Plan {
    guard due > now else {
      return Plan(receiver: receiver, board: .idle, wake: due, wakesOnInput: true)
    }
    let needsPin = receiver != .off && receiver != .standby && parameters.batch?.hasPin == true
    if let deep = parameters.deep, due - now >= deep.minimumDuration + deep.alarmLead,
      deep.wakesOnPin || !needsPin
    {
      // A batching or sleeping receiver sends nothing. If it does send, it did not fall asleep (PWR-4), or it has
      // restarted and lost its configuration.
      return Plan(
        receiver: receiver, board: deep.state, wake: alarmTime(due, deep),
        wakesOnInput: deep.wakesOnBytes && receiver != .off)
    }
    // Less time is left than the alarm's lead: wait for the due time itself.
    guard let idle = parameters.idle, due - now > parameters.maximumAlarmLead else {
      return Plan(receiver: receiver, board: .idle, wake: due, wakesOnInput: true)
    }
    return Plan(receiver: receiver, board: .idle, wake: alarmTime(due, idle), wakesOnInput: true)
  }

  /// Alarm time so that the board runs at `due` (DEF-18).
  private func alarmTime(_ due: Instant, _ sleep: SleepParameters) -> Instant {
    due == .distantFuture ? due : due - sleep.alarmLead
  }

  /// The time at which a distance criterion must be checked: the earliest at which `metresLeft` can have been
  /// travelled from `speed` with the largest acceleration up to the highest speed (DEF-21).
  ///
  /// - Parameters:
  ///   - metresLeft: Above 0; infinite gives `.distantFuture`.
  ///   - speed: Speed at the last fix, m/s; nil counts as the highest speed.
  public func distanceCheck(metresLeft: Double, speed: Double?, at now: Instant) -> Instant {
    guard metresLeft < .infinity else { return .distantFuture }
    let fastest = parameters.plausibleSpeed
    let start = min(max(speed ?? fastest, 0), fastest)
    let acceleration = parameters.plausibleAcceleration
    let accelerationTime = (fastest - start) / acceleration
    let accelerationDistance = (start + fastest) / 2 * accelerationTime
    let seconds: Double
    if metresLeft >= accelerationDistance {
      seconds = accelerationTime + (metresLeft - accelerationDistance) / fastest
    } else {
      seconds =
        ((start * start + 2 * acceleration * metresLeft).squareRoot() - start) / acceleration
    }
    return now + max(Interval(seconds: seconds), parameters.minimumCheckInterval)
  }
}
