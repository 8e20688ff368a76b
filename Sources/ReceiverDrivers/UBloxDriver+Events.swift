import GNSSProtocols
import LocationTypes

// What happens, state by state.

extension UBloxDriver {
  /// The engine wants something else, or wants the same and to be told.
  mutating func take(_ new: ReceiverGoal) {
    goal = new
    isAnnounced = false
    // Asked for anew, batching is tried anew.
    facts.refusesBatching = false
    if new == .powersave { facts.refusesPowerSave = false }
    pending.settled = false
    attempts.sleepFailures = 0
    switch state {
    case .idle, .unpowered, .tracking, .batching, .standby: proceed()
    case .lost:
      // A lost receiver can still be switched off; anything else waits for the next try.
      if wanted == .off { proceed() }
    case .fallingAsleep: hurryAwake()
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling:
      break  // One thing at a time; the goal is looked at when it is done.
    }
  }

  /// A receiver that is wanted again is not left asleep until silence has proved that it sleeps:
  /// waking one that is awake does no harm. Only its falling asleep is waited for.
  private mutating func hurryAwake() {
    switch wanted {
    case .none: break
    case .off, .standby: due = sentAt + answerTime + setup.silenceOfSleep
    case .tracking, .powersave, .batching:
      let asleep = max(now, sentAt + Patience.sleepEntry)
      due = due.map { min($0, asleep) }
    }
  }

  /// The engine wants what is buffered.
  mutating func takeDrain() {
    switch state {
    case .idle, .unpowered, .standby, .lost, .tracking: pending.drained = true
    case .batching:
      isDrainWanted = true
      proceed()
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling, .fallingAsleep:
      isDrainWanted = true
      answerDrainIfMoot()
    }
  }

  /// The watermark is reached: as if a drain were asked for.
  mutating func takeBatchPin() {
    switch state {
    case .batching:
      isDrainWanted = true
      proceed()
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .configuring, .changingPower, .tracking, .enabling, .muting,
      .changingWatermark, .draining, .unmuting, .leaving, .disabling, .fallingAsleep, .standby,
      .lost:
      break  // Either the buffer is being emptied, or the pin floats.
    }
  }

  /// The line went away.
  mutating func takeLineFault() {
    hostSpeed = nil
    switch state {
    case .idle, .unpowered, .lost: break
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .tracking, .enabling, .muting, .batching, .changingWatermark, .draining,
      .unmuting,
      .leaving, .disabling, .fallingAsleep, .standby:
      lose()
    }
  }

  /// The supply could not be switched: it is as it was before, and tried again (PWR-4).
  mutating func takeSupplyFault() {
    switch state {
    case .idle, .lost: break
    case .powering:
      lose()
      // Into a receiver without supply nothing is driven (PWR-5).
      facts.power = .cut
    case .unpowered:
      lose()
      if wasCut { facts.power = .cut }
    case .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring, .changingPower,
      .tracking,
      .enabling, .muting, .batching, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling, .fallingAsleep, .standby:
      lose()
    }
  }

  /// The deadline has come.
  mutating func expire() {
    switch state {
    case .idle, .batching, .standby: due = nil
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: enter(.probing)  // Its answer may have come at either speed.
    case .configuring, .changingPower, .enabling, .muting, .changingWatermark, .unmuting,
      .disabling:
      repeatOrLose()
    case .tracking:
      facts.isHeard = false
      facts.isConfigured = false
      proceed()
    case .draining, .leaving: repeatRetrieval()
    case .fallingAsleep: fellAsleep()
    case .lost:
      attempts.cyclesPower =
        setup.hasSupplySwitch && facts.power != .cut
        && attempts.losses.isMultiple(of: Patience.lossesBeforePowerCycle)
      proceed()
    }
  }

  /// A drain that nothing can come of any more, or that has nothing to do, is answered.
  mutating func answerDrainIfMoot() {
    guard isDrainWanted else { return }
    let isAsleep = facts.power == .asleep || facts.power == .cut
    guard facts.batch == .off || isAsleep else { return }
    isDrainWanted = false
    pending.drained = true
  }
}

// MARK: No answer

extension UBloxDriver {
  /// Sends the message again, or gives the receiver up: each of a command's messages has three tries,
  /// and those that earlier ones left.
  mutating func repeatOrLose() {
    guard spent < Patience.tries * lastSent.parts(for: setup) else { return lose() }
    repeatCommand()
  }

  mutating func repeatCommand() {
    counters.repeats.count()
    send(lastSent)
  }

  private mutating func repeatProbe() {
    if wanted == .off { return proceed() }
    guard sends >= Patience.tries else { return repeatCommand() }
    let mayTalkSlowly =
      state == .probing && setup.defaultLineSpeed != setup.lineSpeed
      && attempts.speedChanges < Patience.wakes
    if mayTalkSlowly {
      enter(.probingDefault)
    } else if attempts.wakes < Patience.wakes {
      facts.power = .unknown
      proceed()
    } else {
      lose()
    }
  }

  /// Gives the receiver up for now; it is tried again after a while, for ever (DEF-43).
  mutating func lose() {
    counters.losses.count()
    attempts.lose()
    facts.isHeard = false
    loseSettings()
    facts.power = .unknown
    facts.refusesBatching = false
    facts.refusesPowerSave = false
    pending.settled = false
    if !attempts.isTold || isDrainWanted { pending.lost = true }
    attempts.isTold = true
    isDrainWanted = false
    enter(.lost)
  }

  mutating func beginLost() {
    due = now + Patience.backOff(after: attempts.losses)
  }

  /// The receiver was found to work without our configuration: a reset, or a loss of supply.
  ///
  /// Gives false, and does nothing, when that was found again and again: then it cannot be helped.
  mutating func loseConfiguration() -> Bool {
    guard attempts.mayReconfigure(at: now) else { return false }
    counters.configurationsLost.count()
    loseSettings()
    proceed()
    return true
  }

  private mutating func loseSettings() {
    facts.isConfigured = false
    facts.isMuted = false
    facts.isDrained = false
    // What was to switch it on may have been obeyed, though no answer came.
    if facts.batch == .on || state == .enabling { facts.batch = .unknown }
    isRecovering = true
    isAnnounced = false
  }
}

// MARK: Sleep

extension UBloxDriver {
  /// Silence has proved that the receiver sleeps, or no answer was to be had of it.
  mutating func fellAsleep() {
    guard isToBeCut else {
      forget(power: .asleep)
      return proceed()
    }
    cutSupply()
  }

  /// Whether standby is only the way to cut the supply, or to start the receiver anew.
  private var isToBeCut: Bool { wanted == .off || attempts.cyclesPower }

  /// Standby was asked for and waited for; the supply may go (PWR-5).
  private mutating func cutSupply() {
    // It is cut only when the switch has obeyed.
    facts.power = .asleep
    answerDrainIfMoot()
    enter(.unpowered)
  }

  /// Something was heard while the receiver ought to fall asleep.
  mutating func hearWhileFallingAsleep(_ meaning: Meaning) {
    // What was on its way is no proof; a refusal is.
    guard now - sentAt > answerTime || meaning == .refusal(.rxmPMREQ) else { return }
    counters.failedStandbys.count()
    if isToBeCut {
      return sends < Patience.tries ? repeatCommand() : cutSupply()
    }
    switch wanted {
    case .off, .standby: repeatOrLose()
    case .tracking, .powersave, .batching, .none:
      // Not wanted asleep any more, and not asleep either.
      facts.power = .awake
      facts.isHeard = hostSpeed == setup.lineSpeed
      facts.isConfigured = false
      proceed()
    }
  }

  /// Something was heard of a receiver that sleeps: it woke by itself.
  mutating func hearWhileAsleep() {
    counters.failedStandbys.count()
    if attempts.wakesTooOften(at: now) { return lose() }
    facts.power = .awake
    facts.isHeard = true
    proceed()
  }
}
