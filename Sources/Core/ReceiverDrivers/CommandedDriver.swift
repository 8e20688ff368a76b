import GNSSProtocols
import LocationTypes

/// A machine that drives a receiver which takes commands; what all such machines do is written here.
///
/// A machine keeps what is known of the receiver and the latest goal; whenever nothing is in flight,
/// `nextState` picks the one next thing to do. Here is the way that all receivers go: supply, waking,
/// line speed, standby, loss. A machine adds its own facts and states, what it does with a receiver that
/// answers (`nextStateOfHeard`), and what each of its states sends and makes of messages and of time.
protocol CommandedDriver: Sendable {
  associatedtype State: CommandedState
  associatedtype Command: ReceiverCommand

  #if REACHED
    static var machine: Machine { get }
  #endif

  /// What the driver is doing; written by `enter` alone.
  var state: State { get }
  var link: ReceiverLink<Command> { get set }
  /// The goal as far as this receiver and its wiring can follow it.
  var wanted: ReceiverGoal? { get }

  /// The state that brings a receiver that is awake and was heard nearer to what is wanted, or the
  /// state of that.
  func nextStateOfHeard(_ wanted: ReceiverGoal) -> State
  /// The only place that writes the state: enters it and does what is done on entering.
  mutating func enter(_ new: State)

  /// The engine wants what is buffered.
  mutating func takeDrain()
  /// The receiver's batch pin rose.
  mutating func takeBatchPin()
  /// The receiver said something.
  mutating func hear(_ message: GNSSMessage)
  /// The state's deadline has come.
  mutating func expire()

  /// A command of several parts, or of one, was carried out.
  mutating func completed()
  /// It was told to sleep as often as may be, and does not.
  mutating func giveUpSleep()
  /// A goal is asked for anew: what of it the receiver refused is tried anew.
  mutating func tryAnew(_ goal: ReceiverGoal)
  /// The receiver may have lost its RAM: what of this machine's facts was in it is not known any more.
  mutating func forget(power: KnownPower)
  /// The receiver works without our configuration, as far as is known: so it is with what depends on it.
  mutating func loseSettings()
}

/// The states that every machine has; each has more.
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

  /// What the state is to goals and faults.
  var stage: DriverStage { get }
}

/// What a state is to goals and faults, which ask no more of it.
enum DriverStage {
  /// No goal yet.
  case idle
  /// Supply cut.
  case unpowered
  /// Supply on, the receiver starts.
  case powering
  /// Something is in flight; a new goal waits for it.
  case busy
  /// Something is in flight that only helps; a new goal does not wait for it.
  case aside
  /// Where the goal is reached, or was.
  case settled
  /// Standby was asked for.
  case fallingAsleep
  /// Does not answer; waits before the next try.
  case lost
}

extension CommandedDriver {
  var setup: ReceiverSetup { link.setup }
  var now: Instant { link.now }
  var counters: DriverCounters { link.counters }

  /// When it must be stepped with `.deadline`; nil when only events move it.
  var deadline: Instant? { link.pending.isEmpty ? link.due : link.now }

  /// Bytes to write now; the next `handle` clears them.
  var outgoing: FrameBuffer { link.command.frame(part: link.part, for: link.setup) }

  /// Whether there is anything in `outgoing`; cheaper than making it.
  var hasOutgoing: Bool { link.command != .none }

  /// Whether nothing is in flight, so that the board may sleep until `deadline`.
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
  /// Takes an event in and gives what is to be done; O(1).
  ///
  /// Order of the effects: pin, line speed, then the bytes of ``outgoing``.
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

  /// Puts what is to be told first into the effects.
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
      // Tracking is the least that a receiver does of what else was asked of it.
      let isCompromise = goal != .tracking && wanted == .tracking
      link.effects.observation = isCompromise ? .refused(goal) : .settled(goal)
    }
  }

  /// The engine wants something else, or wants the same and to be told.
  private mutating func take(_ new: ReceiverGoal) {
    link.take(new)
    tryAnew(new)
    switch state.stage {
    case .idle, .unpowered, .settled: proceed()
    case .lost:
      // A lost receiver can still be switched off; anything else waits for the next try.
      if link.isOffWanted { proceed() }
    case .fallingAsleep: hurryAwake()
    case .aside:
      guard nextState() != state else { return }
      link.abandonAnswers()
      proceed()
    case .powering, .busy: break  // One thing at a time; the goal is looked at when it is done.
    }
  }

  /// A receiver that is wanted again is not left asleep until silence has proved that it sleeps:
  /// waking one that is awake does no harm. Only its falling asleep is waited for.
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

  /// The line went away, or the wake pin with it.
  private mutating func takeLineFault() {
    link.hostSpeed = nil
    switch state.stage {
    case .idle, .unpowered, .lost: break
    case .powering, .busy, .aside, .settled, .fallingAsleep: lose()
    }
  }

  /// The supply could not be switched: it is as it was before, and tried again (PWR-4).
  private mutating func takeSupplyFault() {
    switch state.stage {
    case .idle, .lost: break
    case .powering:
      lose()
      // Into a receiver without supply nothing is driven (PWR-5).
      link.power = .cut
    case .unpowered:
      lose()
      if link.wasCut { link.power = .cut }
    case .busy, .aside, .settled, .fallingAsleep: lose()
    }
  }
}

// MARK: What comes next

extension CommandedDriver {
  /// Goes on to whatever is next; called when nothing is in flight.
  mutating func proceed() {
    let next = nextState()
    if next == .unpowered && state == .unpowered { return link.rest() }
    enter(next)
  }

  /// The state that brings the receiver nearer to the goal, or the goal's own.
  ///
  /// Inline, for the whole machine would be copied for a call.
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
  /// The receiver answered to a probe.
  mutating func foundReceiver() {
    link.settleAnswers()
    if state == .probingDefault { return enter(.changingSpeed) }
    link.found()
    proceed()
  }

  mutating func repeatProbe() {
    if link.isOffWanted { return proceed() }
    guard link.sends >= Patience.tries else { return link.repeatCommand() }
    let mayTalkSlowly =
      state == .probing && setup.defaultLineSpeed != setup.lineSpeed
      && link.attempts.speedChanges < Patience.wakes
    if mayTalkSlowly {
      enter(.probingDefault)
    } else if link.attempts.wakes < Patience.wakes {
      link.power = .unknown
      proceed()
    } else {
      lose()
    }
  }

  /// The part in flight was obeyed: the next one of its command follows, or the command is done.
  mutating func completedPart() {
    link.settleAnswers()
    if !link.sendNextPart() { completed() }
  }

  /// Sends the part in flight again, or gives the receiver up.
  mutating func repeatOrLose() {
    if link.mayRepeat { link.repeatCommand() } else { lose() }
  }
}

// MARK: Losses

extension CommandedDriver {
  /// Gives the receiver up for now; it is tried again after a while, for ever (DEF-43).
  mutating func lose() {
    link.lose()
    loseSettings()
    enter(.lost)
  }

  /// A lost receiver is tried again; every fourth time it is to be cut off and started anew, unless it is used
  /// as it is.
  mutating func tryAgain() {
    link.attempts.cyclesPower =
      setup.hasSupplySwitch && link.power != .cut && !link.isStreaming
      && link.attempts.losses.isMultiple(of: Patience.lossesBeforePowerCycle)
    proceed()
  }

  /// The receiver was found to work without our configuration: a reset, or a loss of supply.
  ///
  /// Gives false, and does nothing, when that was found again and again: then it cannot be helped.
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
  /// Silence has proved that the receiver sleeps, or it said so, or no answer was to be had of it.
  mutating func fellAsleep() {
    if link.isToBeCut { return cutSupply() }
    forget(power: .asleep)
    proceed()
  }

  /// Standby was asked for and waited for; the supply may go (PWR-5).
  private mutating func cutSupply() {
    // It is cut only when the switch has obeyed.
    link.power = .asleep
    enter(.unpowered)
  }

  /// It did not follow: it said no, or was heard when it ought to be asleep.
  mutating func failToSleep() {
    link.counters.failedStandbys.count()
    let mayRepeat = link.sends < Patience.tries
    if link.isToBeCut { return mayRepeat ? link.repeatCommand() : cutSupply() }
    switch wanted {
    case .off, .standby: if mayRepeat { link.repeatCommand() } else { giveUpSleep() }
    case .tracking, .powersave, .batching, .none:
      // Not wanted asleep any more, and not asleep either.
      link.staysAwake()
      proceed()
    }
  }

  /// Something was heard of a receiver that sleeps: it woke by itself.
  mutating func hearWhileAsleep() {
    link.counters.failedStandbys.count()
    if link.attempts.wakesTooOften(at: now) { return lose() }
    wokeUp()
  }

  /// It is awake and talks at the line's speed.
  mutating func wokeUp() {
    link.power = .awake
    link.isHeard = true
    proceed()
  }
}
