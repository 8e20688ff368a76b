import GNSSProtocols
import LocationTypes

// What happens, state by state.

extension SentenceDriver {
  /// The engine wants something else, or wants the same and to be told.
  mutating func take(_ new: ReceiverGoal) {
    goal = new
    isAnnounced = false
    // Asked for anew, standby is tried anew.
    facts.refusesStandby = false
    standbyAgainAt = nil
    pending.settled = false
    attempts.sleepFailures = 0
    switch state {
    case .idle, .unpowered, .tracking, .standby: proceed()
    case .lost:
      // A lost receiver can still be switched off; anything else waits for the next try.
      if wanted == .off { proceed() }
    case .fallingAsleep: hurryAwake()
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .restarting,
      .configuring:
      break  // One thing at a time; the goal is looked at when it is done.
    }
  }

  /// A receiver that is wanted again is not left asleep until silence has proved that it sleeps:
  /// waking one that is awake does no harm. Only its falling asleep is waited for.
  private mutating func hurryAwake() {
    switch wanted {
    case .none: break
    case .off, .standby:
      due = facts.isSentToSleep ? due : sentAt + answerTime + setup.silenceOfSleep
    case .tracking, .powersave, .batching:
      let asleep = max(now, sentAt + Patience.sleepEntry)
      due = due.map { min($0, asleep) }
    }
  }

  /// The line went away.
  mutating func takeLineFault() {
    hostSpeed = nil
    switch state {
    case .idle, .unpowered, .lost: break
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .restarting,
      .configuring, .tracking, .fallingAsleep, .standby:
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
    case .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .restarting, .configuring,
      .tracking, .fallingAsleep, .standby:
      lose()
    }
  }

  /// The deadline has come.
  mutating func expire() {
    switch state {
    case .idle: due = nil
    case .standby: sleepAgain()
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: toldSpeed()  // Its answer may have come at either speed.
    case .restarting: enter(.probing)
    case .configuring: repeatOrLose()
    case .tracking: lookAfter()
    case .fallingAsleep: fellAsleep()
    case .lost:
      attempts.cyclesPower =
        setup.hasSupplySwitch && facts.power != .cut
        && attempts.losses.isMultiple(of: Patience.lossesBeforePowerCycle)
      proceed()
    }
  }

  /// An Airoha takes a new speed with its next start, the others at once.
  mutating func toldSpeed() { enter(dialect == .pair ? .restarting : .probing) }

  /// A receiver that sleeps no longer than so long has woken, and is told to again.
  private mutating func sleepAgain() {
    facts.power = .awake
    facts.isHeard = true
    proceed()
  }

  /// A tracking receiver was silent, or is to be asked again to sleep.
  private mutating func lookAfter() {
    if let again = standbyAgainAt, again <= now {
      standbyAgainAt = nil
      facts.refusesStandby = false
      isAnnounced = false
    } else {
      facts.isHeard = false
      facts.isConfigured = false
    }
    proceed()
  }
}

// MARK: No answer

extension SentenceDriver {
  /// Sends the message again, or gives the receiver up: each of a command's messages has three tries,
  /// and those that earlier ones left.
  mutating func repeatOrLose() {
    guard spent < Patience.tries * lastSent.parts(dialect) else { return lose() }
    repeatCommand()
  }

  private mutating func repeatCommand() {
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
    loseSettings()
    facts.isHeard = false
    facts.power = .unknown
    facts.refusesStandby = false
    standbyAgainAt = nil
    pending.settled = false
    if !attempts.isTold { pending.lost = true }
    attempts.isTold = true
    enter(.lost)
  }

  /// The receiver was found to work without our configuration: a reset, or a loss of supply.
  ///
  /// Does nothing when that was found again and again: then it cannot be helped.
  mutating func loseConfiguration() {
    guard attempts.mayReconfigure(at: now) else { return }
    counters.configurationsLost.count()
    loseSettings()
    proceed()
  }

  private mutating func loseSettings() {
    facts.isConfigured = false
    isRecovering = true
    isAnnounced = false
  }
}

// MARK: Sleep

extension SentenceDriver {
  /// Silence has proved that the receiver sleeps, or it said so and has had time for it.
  private mutating func fellAsleep() {
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
    enter(.unpowered)
  }

  /// It said that it goes to sleep: only what is on its way is waited for.
  mutating func saysItSleeps() {
    facts.isSentToSleep = true
    due = min(due ?? .distantFuture, now + Patience.sleepEntry)
  }

  /// It did not follow: it said no, or was heard when it ought to be asleep.
  mutating func failsToSleep() {
    counters.failedStandbys.count()
    if isToBeCut {
      return sends < Patience.tries ? repeatCommand() : cutSupply()
    }
    switch wanted {
    case .off, .standby: if sends < Patience.tries { repeatCommand() } else { refuseStandby() }
    case .tracking, .powersave, .batching, .none:
      // Not wanted asleep any more, and not asleep either.
      facts.power = .awake
      facts.isHeard = hostSpeed == setup.lineSpeed
      facts.isConfigured = false
      proceed()
    }
  }

  /// It stays awake and is asked again after 1, 2, 4 … 60 minutes (PWR-4).
  private mutating func refuseStandby() {
    facts.refusesStandby = true
    standbyAgainAt = now + min(.seconds(60 << standbyRefusals), .seconds(3_600))
    standbyRefusals = min(standbyRefusals + 1, 6)
    facts.power = .awake
    facts.isHeard = hostSpeed == setup.lineSpeed
    facts.isConfigured = false
    proceed()
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
