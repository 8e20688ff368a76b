import GNSSProtocols
import LocationTypes

// What happens, state by state.

extension UBloxDriver {
  mutating func takeDrain() {
    switch state {
    case .idle, .unpowered, .standby, .lost, .tracking: link.pending.drained = true
    case .batching:
      isDrainWanted = true
      proceed()
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling, .fallingAsleep, .saving, .restoring:
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
      .lost, .saving, .restoring:
      break  // Either the buffer is being emptied, or the pin floats.
    }
  }

  mutating func expire() {
    switch state {
    case .idle, .batching, .standby: link.due = nil
    case .unpowered, .powering, .waking: proceed()
    case .pulsing: enter(.waking)
    case .probing, .probingDefault: repeatProbe()
    case .changingSpeed: enter(.probing)  // Its answer may have come at either speed.
    case .configuring, .changingPower, .enabling, .muting, .changingWatermark, .unmuting,
      .disabling:
      repeatOrLose()
    case .tracking:
      link.isHeard = false
      link.isConfigured = false
      proceed()
    case .draining, .leaving: repeatRetrieval()
    case .saving: expireSaving()
    case .restoring: expireRestoring()
    case .fallingAsleep: fellAsleep()
    case .lost: tryAgain()
    }
  }

  /// A drain that nothing can come of any more, or that has nothing to do, is answered.
  mutating func answerDrainIfMoot() {
    guard isDrainWanted else { return }
    let isAsleep = link.power == .asleep || link.power == .cut
    guard facts.batch == .off || isAsleep else { return }
    isDrainWanted = false
    link.pending.drained = true
  }
}

// MARK: No answer

extension UBloxDriver {
  mutating func tryAnew(_ goal: ReceiverGoal) {
    facts.refusesBatching = false
    if goal == .powersave { facts.refusesPowerSave = false }
  }

  mutating func giveUpSleep() { lose() }

  mutating func beginLost() {
    facts.refusesBatching = false
    facts.refusesPowerSave = false
    if isDrainWanted { link.pending.lost = true }
    isDrainWanted = false
    // What comes back may be another receiver, which cannot make anything of it.
    aiding.held = 0
    link.backOff()
  }

  mutating func loseSettings() {
    facts.isMuted = false
    facts.isDrained = false
    // What was to switch it on may have been obeyed, though no answer came.
    if facts.batch == .on || state == .enabling { facts.batch = .unknown }
  }

  /// Its backup memory may switch batching on again by itself, and its duty cycle.
  mutating func forget(power: KnownPower) {
    link.forget(power: power)
    let before = facts
    facts = Facts(batch: before.batch == .off ? .off : .unknown)
    facts.powerMode = before.powerMode
    // What it said of its keys was no matter of its memory.
    facts.refusesPowerSave = before.refusesPowerSave
  }
}
