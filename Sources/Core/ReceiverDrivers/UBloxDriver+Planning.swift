import LocationTypes

// What comes next, from what is known and what is wanted.

extension UBloxDriver {
  // Inline, for the whole machine would be copied for a call.
  @inline(__always) var wanted: ReceiverGoal? {
    switch link.goal {
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

  func nextStateOfHeard(_ wanted: ReceiverGoal) -> State {
    switch wanted {
    case .off, .standby:
      guard facts.batch == .off else { return stateToLeave }
      return wanted == .off && isWorthSaving ? .saving : .fallingAsleep
    case .tracking, .powersave:
      guard link.isConfigured else { return .configuring }
      guard facts.batch == .off else { return stateToLeave }
      if facts.isMuted { return .unmuting }
      if isRestoringDue { return .restoring }
      return changesPower ? .changingPower : .tracking
    case .batching(let watermark): return stateToBatch(watermark)
    }
  }

  /// The next step out of batching: live output first, then the buffer, then off.
  private var stateToLeave: State {
    if !link.isConfigured { return .configuring }
    if facts.isMuted { return .unmuting }
    return facts.isDrained ? .disabling : .leaving
  }

  /// The next step into batching, or within it.
  private func stateToBatch(_ watermark: UInt16) -> State {
    if !link.isConfigured { return .configuring }
    // Live epochs count while its power changes: only once the buffer has none that are older.
    if changesPower { return facts.batch == .off ? .changingPower : stateToLeave }
    switch facts.batch {
    case .unknown:
      // What an earlier run, or the time before a loss, left in the buffer comes first.
      if !facts.isDrained { return .leaving }
      return .enabling
    case .off: return isRestoringDue ? .restoring : .enabling
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
      noteSupply()
      link.switchOn()
    case .pulsing: link.pulse()
    case .waking: link.wake(saying: setup.hasWakePin ? .none : .wakeBytes)
    case .probing: link.probe(at: setup.lineSpeed)
    case .probingDefault: link.probe(at: setup.defaultLineSpeed)
    case .changingSpeed: link.changeSpeed()
    case .configuring: link.send(.configuration(wantedPower))
    case .changingPower: link.send(.power(facts.powerMode == .full ? .cyclic : .full))
    case .enabling:
      facts.mayHold = true
      link.send(.enableBatching(watermark: wantedWatermark))
    case .muting: link.send(.liveOutput(false))
    case .changingWatermark: link.send(.watermark(wantedWatermark))
    case .draining, .leaving: beginDrain()
    case .unmuting: link.send(.liveOutput(true))
    case .disabling: link.send(.disableBatching)
    case .saving: beginSaving()
    case .restoring: beginRestoring()
    case .fallingAsleep: link.sendToSleep()
    case .tracking:
      link.due = now + setup.silenceOfLoss
      link.settle()
    case .batching, .standby: link.settle()
    case .lost: beginLost()
    }
    if new.releasesHeld { releaseHeld() }
  }

  private var wantedWatermark: UInt16 {
    switch wanted {
    case .batching(let watermark): watermark
    case .none, .off, .standby, .tracking, .powersave: facts.watermark
    }
  }
}

extension UBloxDriver.State {
  /// Whether live epochs that were held are given back on entering: batching has been left, or goes
  /// on with an empty buffer, or ends here.
  var releasesHeld: Bool {
    switch self {
    case .tracking, .changingPower, .enabling, .muting, .batching, .fallingAsleep, .standby,
      .unpowered, .saving, .restoring:
      true
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring, .changingWatermark, .draining, .unmuting, .leaving, .disabling, .lost:
      false
    }
  }
}
