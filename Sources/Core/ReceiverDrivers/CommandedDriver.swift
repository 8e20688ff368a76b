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
    static var machine: Machine { get }
  #endif

  /// Current state; only `enter` writes it.
  var state: State { get }
  var link: ReceiverLink<Command> { get set }
  /// The goal, reduced to what this receiver and its wiring support; nil before the first goal.
  var wanted: ReceiverGoal? { get }

  /// Next state of a receiver that is awake and answers: a step towards the effective goal, or the goal's own state.
  func nextStateOfHeard(_ wanted: ReceiverGoal) -> State
  /// Enters a state and executes its entry actions. The only writer of `state`.
  mutating func enter(_ new: State)

  /// Handles a drain request of the engine.
  mutating func takeDrain()
  /// Handles the assertion of the batch pin.
  mutating func takeBatchPin()
  /// Handles a message from the receiver.
  mutating func hear(_ message: GNSSMessage)
  /// Handles the deadline of the state.
  mutating func expire()

  /// Handles the acknowledgement of a command, after its last part.
  mutating func completed()
  /// Handles a receiver that stays awake after the maximum number of standby commands.
  mutating func giveUpSleep()
  /// Clears recorded rejections that concern this goal, because the engine has set it again.
  mutating func tryAnew(_ goal: ReceiverGoal)
  /// Invalidates all known state that the receiver kept in RAM.
  mutating func forget(power: KnownPower)
  /// Invalidates all known state that depends on our configuration, which the receiver may have lost.
  mutating func loseSettings()
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
  case aside
  /// The goal of this state is reached.
  case settled
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
  var outgoing: FrameBuffer { link.command.frame(part: link.part, for: link.setup) }

  /// Whether `outgoing` is not empty; cheaper than encoding it.
  var hasOutgoing: Bool { link.command != .none }

  /// Whether no command is in flight, so that the board may sleep until `deadline`.
  var isSettled: Bool {
    guard link.pending.isEmpty else { return false }
    switch state.stage {
    case .idle, .settled, .lost: return true
    case .unpowered: return link.due == nil
    case .powering, .busy, .aside, .fallingAsleep: return false
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
      Self.machine.reach(Int(state.rawValue), event.column)
    #endif
    link.begin(at: now)
    switch event {
    case .goal(let goal): take(goal)
    case .drain: takeDrain()
    case .message(let message): hear(message)
    case .deadline: if let due = link.due, now >= due { expire() }
    case .batchPin: takeBatchPin()
    case .lineFault, .pinFault(.receiverWake): takeLineFault()
    case .pinFault(.receiverSupply): takeSupplyFault()
    }
    tellNext()
    return link.effects
  }

  /// Moves the first pending observation to the effects.
  private mutating func tellNext() {
    if link.pending.lost {
      link.pending.lost = false
      link.effects.observation = .lost
    } else if link.pending.recovered {
      link.pending.recovered = false
      link.effects.observation = .recovered
    } else if link.pending.drained {
      link.pending.drained = false
      link.effects.observation = .drained
    } else if link.pending.settled, let goal = link.goal {
      link.pending.settled = false
      // Tracking replaces every goal that the receiver does not support.
      let isCompromise = goal != .tracking && wanted == .tracking
      link.effects.observation = isCompromise ? .refused(goal) : .settled(goal)
    }
  }

  /// Sets a new goal, or the same goal again to have it reported.
  private mutating func take(_ new: ReceiverGoal) {
    link.take(new)
    tryAnew(new)
    switch state.stage {
    case .idle, .unpowered, .settled: proceed()
    case .lost:
      // A lost receiver can still be powered off; every other goal waits for the next attempt.
      if link.isOffWanted { proceed() }
    case .fallingAsleep: hurryAwake()
    case .aside:
      guard nextState() != state else { return }
      link.abandonAnswers()
      proceed()
    case .powering, .busy: break  // The goal takes effect when the command in flight is done.
    }
  }

  /// Shortens the wait for silence if the goal needs the receiver awake again.
  ///
  /// Waking a receiver that is still awake is harmless, so only the time for falling asleep must pass.
  private mutating func hurryAwake() {
    switch wanted {
    case .none: break
    case .off, .standby:
      if !link.isSentToSleep { link.due = link.sentAt + link.answerTime + setup.silenceOfSleep }
    case .tracking, .powersave, .batching:
      let asleep = max(now, link.sentAt + Patience.sleepEntry)
      link.due = link.due.map { min($0, asleep) }
    }
  }

  /// Handles a disconnected serial line or a fault of the wake pin.
  private mutating func takeLineFault() {
    link.hostSpeed = nil
    switch state.stage {
    case .idle, .unpowered, .lost: break
    case .powering, .busy, .aside, .settled, .fallingAsleep: lose()
    }
  }

  /// Handles a fault of the supply switch: the supply is unchanged; the driver retries (PWR-4).
  private mutating func takeSupplyFault() {
    switch state.stage {
    case .idle, .lost: break
    case .powering:
      lose()
      // Pins of a receiver without supply must not be driven (PWR-5).
      link.power = .cut
    case .unpowered:
      lose()
      if link.wasCut { link.power = .cut }
    case .busy, .aside, .settled, .fallingAsleep: lose()
    }
  }
}

// MARK: Next state

extension CommandedDriver {
  /// Enters the next state. Called when no command is in flight.
  mutating func proceed() {
    let next = nextState()
    if next == .unpowered && state == .unpowered { return link.rest() }
    enter(next)
  }

  /// Next state towards the effective goal, or the goal's own state.
  ///
  /// Inlined, because a call would copy the whole driver.
  @inline(__always) private func nextState() -> State {
    guard let wanted else { return .idle }
    switch link.power {
    case .cut: return wanted == .off || now < link.restUntil ? .unpowered : .powering
    case .unknown: return link.isToBeCut ? .fallingAsleep : wakingState
    case .asleep:
      switch wanted {
      case .off: return .unpowered
      case .standby: return .standby
      case .tracking, .powersave, .batching: return wakingState
      }
    case .awake:
      if link.isHeard { return nextStateOfHeard(wanted) }
      return wanted == .off ? .fallingAsleep : .probing
    }
  }

  private var wakingState: State { setup.hasWakePin ? .pulsing : .waking }

  mutating func beginUnpowered() {
    link.cutSupply()
    forget(power: .cut)
  }
}

// MARK: Commands

extension CommandedDriver {
  /// Handles the answer to a probe.
  mutating func foundReceiver() {
    link.settleAnswers()
    if state == .probingDefault { return enter(.changingSpeed) }
    link.found()
    proceed()
  }

  mutating func repeatProbe() {
    if link.isOffWanted { return proceed() }
    guard link.sends >= Patience.tries else { return link.repeatCommand() }
    let canTryDefaultSpeed =
      state == .probing && setup.defaultLineSpeed != setup.lineSpeed
      && link.attempts.speedChanges < Patience.wakes
    if canTryDefaultSpeed {
      enter(.probingDefault)
    } else if link.attempts.wakes < Patience.wakes {
      link.power = .unknown
      proceed()
    } else {
      lose()
    }
  }

  /// Handles the acknowledgement of the part in flight: sends the next part, or completes the command.
  mutating func completedPart() {
    link.settleAnswers()
    if !link.sendNextPart() { completed() }
  }

  /// Sends the part in flight again, or declares the receiver lost.
  mutating func repeatOrLose() {
    if link.mayRepeat { link.repeatCommand() } else { lose() }
  }
}

// MARK: Losses

extension CommandedDriver {
  /// Declares the receiver lost. The driver retries with back-off and without limit (DEF-43).
  mutating func lose() {
    link.lose()
    loseSettings()
    enter(.lost)
  }

  /// Starts the next attempt to reach a lost receiver. Every fourth attempt is a power cycle, unless the receiver is
  /// streaming.
  mutating func tryAgain() {
    link.attempts.cyclesPower =
      setup.hasSupplySwitch && link.power != .cut && !link.isStreaming
      && link.attempts.losses.isMultiple(of: Patience.lossesBeforePowerCycle)
    proceed()
  }

  /// Handles a receiver that runs without our configuration, after a reset or a loss of supply.
  ///
  /// Returns false, and does nothing, after three reconfigurations within a minute.
  @discardableResult
  mutating func loseConfiguration() -> Bool {
    guard link.attempts.mayReconfigure(at: now) else { return false }
    link.counters.configurationsLost.count()
    link.loseConfiguration()
    loseSettings()
    proceed()
    return true
  }
}

// MARK: Sleep

extension CommandedDriver {
  /// Handles that the receiver is asleep: silence has shown it, or the receiver has acknowledged standby.
  mutating func fellAsleep() {
    if link.isToBeCut { return cutSupply() }
    forget(power: .asleep)
    proceed()
  }

  /// Powers the receiver off, after standby was requested and waited for (PWR-5).
  private mutating func cutSupply() {
    // The receiver counts as off only when the time for a fault of the switch is over.
    link.power = .asleep
    enter(.unpowered)
  }

  /// Handles a receiver that rejected standby, or that sent data after it should have fallen asleep.
  mutating func failToSleep() {
    link.counters.failedStandbys.count()
    let mayRepeat = link.sends < Patience.tries
    if link.isToBeCut { return mayRepeat ? link.repeatCommand() : cutSupply() }
    switch wanted {
    case .off, .standby: if mayRepeat { link.repeatCommand() } else { giveUpSleep() }
    case .tracking, .powersave, .batching, .none:
      // The goal has changed, and the receiver is still awake.
      link.staysAwake()
      proceed()
    }
  }

  /// Handles data from a receiver in standby: it woke unexpectedly.
  mutating func hearWhileAsleep() {
    link.counters.failedStandbys.count()
    if link.attempts.wakesTooOften(at: now) { return lose() }
    wokeUp()
  }

  /// Records that the receiver is awake and uses the line's baud rate, then continues.
  mutating func wokeUp() {
    link.power = .awake
    link.isHeard = true
    proceed()
  }
}
