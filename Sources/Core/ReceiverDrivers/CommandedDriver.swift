import GNSSProtocols
import LocationTypes

/// State machine for a receiver that accepts commands; the extensions implement what all such drivers share.
///
/// A driver stores the latest goal and the known state of the receiver. Whenever no command is in flight, `nextState`
/// computes the next state from both; no state stores a target. The shared part covers supply, wake-up, baud rate,
/// standby and loss. A conforming driver adds its own states and known facts, the next state for a receiver that
/// answers (`nextStateWhenResponsive(_:)`), and what each of its states sends and does with messages and deadlines.
protocol CommandedDriver: Sendable {
  associatedtype State: CommandedState
  associatedtype Command: ReceiverCommand

  #if REACHED
    static var machine: TransitionCoverage { get }
  #endif

  /// Current state; only `enter` writes it.
  var state: State { get }
  var link: ReceiverLink<Command> { get set }
  /// The goal, reduced to what this receiver and its wiring support; nil before the first goal.
  var effectiveGoal: ReceiverMode? { get }

  /// Next state of a receiver that is awake and answers: a step towards the effective goal, or the goal's own state.
  func nextStateWhenResponsive(_ goal: ReceiverMode) -> State
  /// Enters a state and executes its entry actions. The only writer of `state`.
  mutating func enter(_ new: State)

  /// Handles a drain request of the engine.
  mutating func handleDrainRequest()
  /// Handles the assertion of the batch pin.
  mutating func handleBatchPin()
  /// Handles a message from the receiver.
  mutating func receive(_ message: GNSSMessage)
  /// Handles the deadline of the state.
  mutating func handleDeadline()

  /// Handles the acknowledgement of a command, after its last part.
  mutating func finishCommand()
  /// Handles a receiver that stays awake after the maximum number of standby commands.
  mutating func abandonSleep()
  /// Clears recorded rejections that concern this goal, because the engine has set it again.
  mutating func clearRejections(for goal: ReceiverMode)
  /// Invalidates all known state that the receiver kept in RAM.
  mutating func invalidateVolatileState(power: KnownPower)
  /// Invalidates all known state that depends on our configuration, which the receiver may have lost.
  mutating func invalidateSettings()
}

/// States that every driver has; each driver has more.
protocol CommandedState: RawRepresentable, Equatable, Sendable where RawValue == UInt8 {
  static var idle: Self { get }
  static var unpowered: Self { get }
  static var powering: Self { get }
  static var pulsing: Self { get }
  static var waking: Self { get }
  static var probing: Self { get }
  static var probingDefault: Self { get }
  static var changingSpeed: Self { get }
  static var tracking: Self { get }
  static var switchingSatellites: Self { get }
  static var fallingAsleep: Self { get }
  static var standby: Self { get }
  static var lost: Self { get }

  /// Class of the state, which determines the reaction to goals and faults.
  var stage: DriverStage { get }
}

/// Class of a state. Goals and faults are handled by class, not by individual state.
enum DriverStage {
  /// No goal yet.
  case idle
  /// Powered off.
  case unpowered
  /// Powered on, starting.
  case powering
  /// A command is in flight; a new goal waits for it.
  case busy
  /// An optional exchange is in flight; a new goal aborts it.
  case preemptible
  /// The goal of this state is reached.
  case steady
  /// Waiting for the receiver to fall asleep.
  case fallingAsleep
  /// Not answering; waiting for the next attempt.
  case lost
}

extension CommandedDriver {
  var setup: ReceiverSetup { link.setup }
  var now: Instant { link.now }
  var counters: DriverCounters { link.counters }

  /// Time at which the driver must be stepped with `.deadline`; nil if it waits for other events only.
  var deadline: Instant? { link.pending.isEmpty ? link.due : link.now }

  /// Bytes to write now; the next `handle` clears them.
  var outgoing: FrameBuffer {
    link.exchange.command.frame(part: link.exchange.part, for: link.setup)
  }

  /// Whether `outgoing` is not empty; cheaper than encoding it.
  var hasOutgoing: Bool { link.exchange.command != .none }

  /// Whether no command is in flight, so that the board may sleep until `deadline`.
  var isQuiescent: Bool {
    guard link.pending.isEmpty else { return false }
    switch state.stage {
    case .idle, .steady, .lost: return true
    case .unpowered: return link.due == nil
    case .fallingAsleep: return link.isSleepTrusted
    case .powering, .busy, .preemptible: return false
    }
  }
}

// MARK: Events

extension CommandedDriver {
  /// Handles an event and returns the effects to execute. O(1).
  ///
  /// Order of the effects: pin, line speed, the bytes of ``outgoing``, aiding.
  mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    #if REACHED
      Self.machine.record(Int(state.rawValue), event.column)
    #endif
    link.beginEvent(at: now)
    switch event {
    case .goal(let goal): setGoal(goal)
    case .drain: handleDrainRequest()
    case .satellites(let isWatched): setSatellites(isWatched)
    case .message(let message): receive(message)
    case .deadline: if let due = link.due, now >= due { handleDeadline() }
    case .batchPin: handleBatchPin()
    case .lineFault, .pinFault(.receiverWake): handleLineFault()
    case .pinFault(.receiverSupply): handleSupplyFault()
    }
    if !link.pending.isEmpty {
      link.effects.observation = link.pending.removeFirst(link.goal, effective: effectiveGoal)
    }
    return link.effects
  }

  /// Sets a new goal, or the same goal again to have it reported.
  private mutating func setGoal(_ new: ReceiverMode) {
    link.setGoal(new)
    clearRejections(for: new)
    switch state.stage {
    case .idle, .unpowered: proceed()
    case .steady: if link.mustAwaitSleep { enter(.fallingAsleep) } else { proceed() }
    case .lost:
      // A lost receiver can still be powered off; every other goal waits for the next attempt.
      if link.isPowerOffRequested { proceed() }
    case .fallingAsleep: shortenSleepEntry()
    case .preemptible:
      guard nextState() != state else { return }
      link.abandonExchange()
      proceed()
    case .powering, .busy: break  // The goal takes effect when the command in flight is done.
    }
  }

  /// Sets whether satellites in view are watched. A command in flight is completed first.
  private mutating func setSatellites(_ isWatched: Bool) {
    link.satellites.setWatched(
      isWatched, isRequested: setup.satelliteOutput == .requested, at: now)
    guard state.stage == .steady, nextState() != state else { return }
    proceed()
  }

  /// Shortens the wait for silence if the goal needs the receiver awake again.
  ///
  /// Waking a receiver that is still awake is harmless, so only the time for falling asleep must pass.
  private mutating func shortenSleepEntry() {
    switch effectiveGoal {
    case .none: break
    case .off, .standby:
      if !link.exchange.isStandbyAcknowledged {
        link.due = link.sleepEntryEnd
      }
    case .tracking, .powersave, .batching:
      // Before a power cycle the whole wait must pass: the command may wait behind the receiver's output (PWR-5).
      guard !link.isPowerOffPending else { return }
      let asleep = max(now, link.exchange.sentAt + DriverTimeouts.sleepEntryTime)
      link.due = link.due.map { min($0, asleep) }
    }
  }

  /// Handles a disconnected serial line or a fault of the wake pin.
  private mutating func handleLineFault() {
    link.invalidateHostSpeed()
    switch state.stage {
    case .idle, .unpowered, .lost: break
    case .powering, .busy, .preemptible, .steady, .fallingAsleep: declareLost()
    }
  }

  /// Handles a fault of the supply switch: the supply is unchanged; the driver retries (PWR-4).
  private mutating func handleSupplyFault() {
    switch state.stage {
    case .idle, .lost: break
    case .powering:
      declareLost()
      // Pins of a receiver without supply must not be driven (PWR-5).
      link.receiver.assumePower(.off)
    case .unpowered:
      declareLost()
      if link.wasAlreadyOff { link.receiver.assumePower(.off) }
    case .busy, .preemptible, .steady, .fallingAsleep: declareLost()
    }
  }
}

extension CommandedDriver {
  /// Restarts the wait for output of a tracking receiver: its output up to `now` was lost.
  mutating func restartSilenceTimeout(at now: Instant) {
    if state == .tracking, link.due != nil { link.due = now + setup.lossSilence }
  }
}

// MARK: Next state

extension CommandedDriver {
  /// Enters the next state. Called when no command is in flight.
  mutating func proceed() {
    let next = nextState()
    if next == .unpowered && state == .unpowered { return link.remainOff() }
    enter(next)
  }

  /// Next state towards the effective goal, or the goal's own state.
  private func nextState() -> State {
    guard let effectiveGoal else { return .idle }
    switch link.receiver.power {
    case .off: return effectiveGoal == .off || now < link.offUntil ? .unpowered : .powering
    case .unknown: return link.isPowerOffPending ? .fallingAsleep : wakingState
    case .asleep:
      switch effectiveGoal {
      case .off: return .unpowered
      case .standby: return .standby
      case .tracking, .powersave, .batching: return wakingState
      }
    case .awake:
      if link.receiver.isResponsive { return nextStateWhenResponsive(effectiveGoal) }
      return effectiveGoal == .off ? .fallingAsleep : .probing
    }
  }

  private var wakingState: State { setup.hasWakePin ? .pulsing : .waking }

  mutating func beginUnpowered() {
    link.powerOff()
    invalidateVolatileState(power: .off)
  }
}

// MARK: Commands

extension CommandedDriver {
  /// Handles the answer to a probe.
  mutating func handleProbeAnswer() {
    link.closeExchange()
    if state == .probingDefault { return enter(.changingSpeed) }
    link.markResponsive()
    proceed()
  }

  mutating func repeatProbe() {
    if link.isPowerOffRequested { return proceed() }
    guard link.exchange.sends >= DriverTimeouts.maximumSends else { return link.repeatCommand() }
    let canTryDefaultSpeed =
      state == .probing && setup.defaultLineSpeed != setup.lineSpeed
      && link.retryCounters.speedChanges < DriverTimeouts.maximumWakeUps
    if canTryDefaultSpeed {
      enter(.probingDefault)
    } else if link.retryCounters.wakeUps < DriverTimeouts.maximumWakeUps {
      link.receiver.assumePower(.unknown)
      proceed()
    } else {
      declareLost()
    }
  }

  /// Handles the acknowledgement of the part in flight: sends the next part, or completes the command.
  mutating func finishPart() {
    link.closeExchange()
    if !link.sendNextPart() { finishCommand() }
  }

  /// Switches the output of satellites in view on or off, as requested.
  mutating func beginSatelliteSwitch(_ command: Command) {
    link.satellites.beginSwitch()
    link.send(command)
  }

  /// Sends the switch in flight again, or continues without it: it is optional.
  mutating func repeatSatelliteSwitch() {
    if link.exchange.sends < SatelliteWatch.maximumSends { return link.repeatCommand() }
    link.abandonExchange()
    link.satellites.fail()
    proceed()
  }

  /// Continues without satellites in view after a rejection of the switch in flight.
  mutating func handleSatelliteRejection() {
    link.counters.refusals.incrementSaturating()
    link.closeExchange()
    link.satellites.reject()
    proceed()
  }

  /// Whether the output of satellites in view must be switched before the receiver tracks, or leaves tracking.
  func needsSatelliteSwitch(isTracking: Bool) -> Bool {
    link.satellites.needsSwitch(isTracking: isTracking) && setup.switchesSatellites
  }

  /// Sends the part in flight again, or declares the receiver lost.
  mutating func repeatOrDeclareLost() {
    if link.canRepeat { link.repeatCommand() } else { declareLost() }
  }
}

// MARK: Losses

extension CommandedDriver {
  /// Declares the receiver lost. The driver retries with back-off and without limit (DEF-43).
  mutating func declareLost() {
    link.declareLost()
    invalidateSettings()
    enter(.lost)
  }

  /// Starts the next attempt to reach a lost receiver. Every fourth attempt is a power cycle, if the receiver has a
  /// supply switch and is not streaming.
  mutating func retryLost() {
    link.retryCounters.needsPowerCycle =
      setup.hasSupplySwitch && link.receiver.power != .off && !link.isStreaming
      && link.retryCounters.losses.isMultiple(of: DriverTimeouts.lossesBeforePowerCycle)
    proceed()
  }

  /// Handles a receiver that runs without our configuration, after a reset or a loss of supply.
  ///
  /// Returns false, and does nothing, after three reconfigurations within a minute.
  @discardableResult
  mutating func handleLostConfiguration() -> Bool {
    guard link.retryCounters.countReconfiguration(at: now) else { return false }
    link.counters.configurationsLost.incrementSaturating()
    link.markUnconfigured()
    invalidateSettings()
    proceed()
    return true
  }
}

// MARK: Sleep

extension CommandedDriver {
  /// Handles that the receiver is asleep: silence has shown it, or the receiver has acknowledged standby.
  mutating func confirmSleep() {
    link.recordSleep()
    if link.isPowerOffPending { return powerOff() }
    invalidateVolatileState(power: .asleep)
    proceed()
  }

  /// Powers the receiver off, after standby was requested and waited for (PWR-5).
  private mutating func powerOff() {
    // Standby was requested, so the receiver counts as asleep until `beginUnpowered` sets the power to off.
    link.receiver.assumePower(.asleep)
    enter(.unpowered)
  }

  /// Handles a receiver that rejected standby, or that sent data after it should have fallen asleep.
  mutating func handleFailedSleep() {
    link.recordFailedSleep()
    let mayRepeat = link.exchange.sends < DriverTimeouts.maximumSends
    if link.isPowerOffPending { return mayRepeat ? link.repeatCommand() : powerOff() }
    switch effectiveGoal {
    case .off, .standby: if mayRepeat { link.repeatCommand() } else { abandonSleep() }
    case .tracking, .powersave, .batching, .none:
      // The goal has changed, and the receiver is still awake.
      link.markStillAwake()
      proceed()
    }
  }

  /// Handles data from a receiver in standby: it woke unexpectedly.
  mutating func handleUnexpectedWake() {
    link.recordFailedSleep()
    if link.retryCounters.countUnexpectedWake(at: now) { return declareLost() }
    markAwake()
  }

  /// Starts to observe a receiver that was trusted to sleep, without a command, which would wake it (PWR-4).
  mutating func checkSleep() {
    link.checkSleep()
    enter(.fallingAsleep)
  }

  /// Records that the receiver is awake and uses the line's baud rate, then continues.
  mutating func markAwake() {
    link.receiver.markAwake(isResponsive: true)
    proceed()
  }
}
