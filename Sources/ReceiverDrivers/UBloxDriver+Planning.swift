import LocationTypes

// What comes next, from what is known and what is wanted.

extension UBloxDriver {
  /// The goal as far as this receiver and its wiring can follow it.
  var wanted: ReceiverGoal? {
    switch goal {
    case .none: return nil
    case .off: return setup.hasSupplySwitch ? .off : .standby
    case .standby: return .standby
    case .tracking: return .tracking
    case .powersave: return mayAskForPower && setup.canSavePower ? .powersave : .tracking
    case .batching(let watermark):
      guard let batch = setup.batch, !facts.refusesBatching else { return .tracking }
      return .batching(watermark: min(max(watermark, 1), batch.capacity))
    }
  }

  /// Whether anything is said of its power: it has not refused the keys.
  private var mayAskForPower: Bool { !facts.refusesPowerSave }

  /// How it is to spend its power; nil where nothing can be said of that.
  ///
  /// Full power is said as well where the duty cycle is not used: the backup memory may hold one of an
  /// earlier run.
  private var wantedPower: UBloxPower? {
    guard mayAskForPower else { return nil }
    return wanted == .powersave ? .cyclic : .full
  }

  /// Whether it must be told to spend its power otherwise.
  private var changesPower: Bool { wantedPower.map { $0 != facts.powerMode } ?? false }

  /// Goes on to whatever is next; called when nothing is in flight.
  mutating func proceed() {
    answerDrainIfMoot()
    let next = nextState()
    if next == .unpowered && state == .unpowered {
      // Rests before the supply may come again, or is where it should be.
      due = wanted == .off ? nil : restUntil
      if due == nil {
        attempts.settle(at: now)
        announce()
      }
      return
    }
    enter(next)
  }

  /// The state that brings the receiver nearer to the goal, or the goal's own.
  func nextState() -> State {
    guard let wanted else { return .idle }
    switch facts.power {
    case .cut: return wanted == .off || now < restUntil ? .unpowered : .powering
    case .unknown: return wanted == .off || attempts.cyclesPower ? .fallingAsleep : wakingState
    case .asleep:
      switch wanted {
      case .off: return .unpowered
      case .standby: return .standby
      case .tracking, .powersave, .batching: return wakingState
      }
    case .awake:
      guard facts.isHeard else { return wanted == .off ? .fallingAsleep : .probing }
      switch wanted {
      case .off, .standby: return facts.batch == .off ? .fallingAsleep : stateToLeave
      case .tracking, .powersave:
        guard facts.isConfigured else { return .configuring }
        guard facts.batch == .off else { return stateToLeave }
        if facts.isMuted { return .unmuting }
        return changesPower ? .changingPower : .tracking
      case .batching(let watermark): return stateToBatch(watermark)
      }
    }
  }

  private var wakingState: State { setup.hasWakePin ? .pulsing : .waking }

  /// The next step out of batching: live output first, then the buffer, then off.
  private var stateToLeave: State {
    if !facts.isConfigured { return .configuring }
    if facts.isMuted { return .unmuting }
    return facts.isDrained ? .disabling : .leaving
  }

  /// The next step into batching, or within it.
  private func stateToBatch(_ watermark: UInt16) -> State {
    if !facts.isConfigured { return .configuring }
    // Live epochs count while its power changes: only once the buffer has none that are older.
    if changesPower { return facts.batch == .off ? .changingPower : stateToLeave }
    switch facts.batch {
    case .unknown:
      // What an earlier run, or the time before a loss, left in the buffer comes first.
      if !facts.isDrained { return .leaving }
      return .enabling
    case .off: return .enabling
    case .on:
      // An M8 is told all of batching in one message, which may begin with an empty buffer.
      if facts.watermark != watermark && setup.family == .ubloxM8 { return stateToLeave }
      if !facts.isMuted { return .muting }
      if facts.watermark != watermark { return .changingWatermark }
      return isDrainWanted ? .draining : .batching
    }
  }

  /// Sends what the state sends, and sets its deadline.
  mutating func begin(_ new: State) {
    switch new {
    case .idle: break
    case .unpowered: beginUnpowered()
    case .powering:
      facts.power = .awake
      effects.pin = PinCommand(.receiverSupply, .active)
      due = now + setup.powerSettle
    case .pulsing:
      effects.pin = PinCommand(.receiverWake, .active)
      due = now + setup.wakePulse
    case .waking:
      attempts.wakes += 1
      facts.power = .awake
      if !setup.hasWakePin {
        use(setup.lineSpeed)
        command = .wakeBytes
      }
      due = now + setup.wakeSettle
    case .probing:
      use(setup.lineSpeed)
      send(.probe)
    case .probingDefault:
      use(setup.defaultLineSpeed)
      send(.probe)
    case .changingSpeed:
      attempts.speedChanges += 1
      send(.lineSpeed(setup.lineSpeed))
    case .configuring: send(.configuration(wantedPower))
    case .changingPower: send(.power(facts.powerMode == .full ? .cyclic : .full))
    case .enabling:
      facts.mayHold = true
      send(.enableBatching(watermark: wantedWatermark))
    case .muting: send(.liveOutput(false))
    case .changingWatermark: send(.watermark(wantedWatermark))
    case .draining, .leaving: beginDrain()
    case .unmuting: send(.liveOutput(true))
    case .disabling: send(.disableBatching)
    case .fallingAsleep:
      if hostSpeed == nil { use(setup.lineSpeed) }
      send(.standby)
    case .tracking, .batching, .standby: beginSettled(new)
    case .lost: beginLost()
    }
    if new.releasesHeld { releaseHeld() }
  }

  private mutating func beginUnpowered() {
    effects.pin = PinCommand(.receiverSupply, .inactive)
    restUntil = now + Patience.supplyRest
    wasCut = facts.power == .cut
    forget(power: .cut)
    attempts.cyclesPower = false
    due = wanted == .off ? now + Patience.switchTime : restUntil
  }

  private mutating func beginSettled(_ new: State) {
    attempts.settle(at: now)
    if new == .tracking { due = now + setup.silenceOfLoss }
    announce()
  }

  /// The goal is reached: tells so, once for each `.goal` and after each recovery.
  private mutating func announce() {
    // Without supply nothing has been recovered.
    if isRecovering && facts.power != .cut {
      isRecovering = false
      pending.recovered = true
    }
    guard !isAnnounced else { return }
    isAnnounced = true
    pending.settled = true
  }

  private var wantedWatermark: UInt16 {
    switch wanted {
    case .batching(let watermark): watermark
    case .none, .off, .standby, .tracking, .powersave: facts.watermark
    }
  }

  /// Sends a command, for the first time or again, and sets the time by which it must be answered.
  mutating func send(_ new: UBloxCommand) {
    command = new
    sends += 1
    spent += 1
    counters.commands.count()
    due = now + answerTime + (state == .fallingAsleep ? setup.silenceOfSleep : .zero)
    sentAt = now
    lastSent = new
  }

  /// The receiver lost its RAM: configuration, buffer and all.
  mutating func forget(power: Power) {
    let before = facts
    // Its backup memory may switch batching on again by itself, and its duty cycle.
    facts = Facts(power: power, batch: before.batch == .off ? .off : .unknown)
    facts.powerMode = before.powerMode
    // What it said of its keys was no matter of its memory.
    facts.refusesPowerSave = before.refusesPowerSave
  }

  /// Puts the host's side of the line to a speed.
  mutating func use(_ speed: UInt32) {
    guard hostSpeed != speed else { return }
    hostSpeed = speed
    effects.lineSpeed = speed
  }
}

extension UBloxDriver.State {
  /// Whether live epochs that were held are given back on entering: batching has been left, or goes
  /// on with an empty buffer, or ends here.
  var releasesHeld: Bool {
    switch self {
    case .tracking, .changingPower, .enabling, .muting, .batching, .fallingAsleep, .standby,
      .unpowered:
      true
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring, .changingWatermark, .draining, .unmuting, .leaving, .disabling, .lost:
      false
    }
  }
}
