import GNSSProtocols
import LocationTypes

// What happens, state by state.

extension SentenceDriver {
  /// There is never anything to drain.
  mutating func takeDrain() { link.pending.drained = true }

  /// It has no such pin.
  mutating func takeBatchPin() {}

  mutating func expire() {
    switch state {
    case .idle: link.due = nil
    case .standby: wokeUp()  // One that sleeps no longer than so long is told to again.
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: toldSpeed()  // Its answer may have come at either speed.
    case .restarting: enter(.probing)
    case .configuring: repeatOrLose()
    case .tracking: lookAfter()
    case .fallingAsleep: fellAsleep()
    case .lost: tryAgain()
    }
  }

  /// An Airoha takes a new speed with its next start, the others at once.
  mutating func toldSpeed() { enter(dialect == .pair ? .restarting : .probing) }

  /// A tracking receiver was silent, or is to be asked again to sleep.
  private mutating func lookAfter() {
    if let again = standbyAgainAt, again <= now {
      forgiveRefusal()
      link.isAnnounced = false
    } else {
      link.isHeard = false
      link.isConfigured = false
    }
    proceed()
  }

  /// All that it has to lose is in the link.
  mutating func loseSettings() {}

  mutating func forget(power: KnownPower) { link.forget(power: power) }
}

// MARK: Sleep

extension SentenceDriver {
  /// It said that it goes to sleep: only what is on its way is waited for.
  mutating func saysItSleeps() {
    link.isSentToSleep = true
    link.due = min(link.due ?? .distantFuture, now + Patience.sleepEntry)
  }

  /// It stays awake and is asked again after 1, 2, 4 … 60 minutes (PWR-4).
  mutating func giveUpSleep() {
    refusesStandby = true
    standbyAgainAt = now + min(.seconds(60 << standbyRefusals), .seconds(3_600))
    standbyRefusals = min(standbyRefusals + 1, 6)
    link.staysAwake()
    proceed()
  }

  mutating func tryAnew(_ goal: ReceiverGoal) { forgiveRefusal() }

  /// Standby, which it may have refused, counts as possible again.
  mutating func forgiveRefusal() {
    refusesStandby = false
    standbyAgainAt = nil
  }
}
