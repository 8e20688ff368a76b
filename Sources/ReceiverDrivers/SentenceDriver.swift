import GNSSProtocols
import LocationTypes

/// Drives a receiver that is commanded by sentences: MediaTek, Airoha, CASIC. Pure.
///
/// As with `UBloxDriver` it keeps what is known of the receiver and the latest goal, and whenever
/// nothing is in flight `nextState` picks the one next thing to do. It neither batches nor has a duty
/// cycle: both are refused, and it tracks. Sequences: Docs/Reference/receivers.md.
public struct SentenceDriver: Sendable {
  let setup: ReceiverSetup
  let dialect: SentenceDialect
  /// What the driver is doing; written by `enter` alone.
  public private(set) var state = State.idle
  /// What has happened so far.
  public internal(set) var counters = DriverCounters()

  var goal: ReceiverGoal?
  var facts: Facts
  var pending = Pending()
  var effects = DriverEffects()
  var command = SentenceCommand.none
  var due: Instant?
  var now = Instant.boot
  var sends: UInt8 = 0
  /// How often any of its messages was sent.
  var spent: UInt8 = 0
  /// Which of its parts is under way.
  var part: UInt8 = 0
  var sentAt = Instant.boot
  var lastSent = SentenceCommand.none
  /// Speed of the host's side of the line; nil when not known.
  var hostSpeed: UInt32?
  var isAnnounced = false
  var isRecovering = false
  /// Since when the receiver has had to obey the configuration; what came before does not count.
  var configuredAt = Instant.boot
  var staleAnswers = StaleAnswers()
  var attempts = Attempts()
  var restUntil = Instant.boot
  /// The supply was cut already when it was cut last.
  var wasCut = false
  /// When standby, which it refused, is asked for again.
  var standbyAgainAt: Instant?
  /// How often it refused standby since it slept last; stops at 6.
  var standbyRefusals: Int64 = 0

  /// Creates a driver that knows nothing of the receiver and does nothing before the first goal.
  ///
  /// With a supply switch the receiver counts as switched off, else as in an unknown state.
  public init(_ setup: ReceiverSetup) {
    self.setup = setup
    dialect = SentenceDialect(setup.family)
    facts = Facts(power: setup.hasSupplySwitch ? .cut : .unknown)
  }

  /// What its owner must know of it now; O(1).
  public var status: DriverStatus {
    DriverStatus(
      deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled, buffersFixes: false,
      isDraining: isDraining, hasHeld: false, entriesBehind: 0)
  }

  /// When it must be stepped with `.deadline`; nil when only events move it.
  public var deadline: Instant? { pending.isEmpty ? due : now }

  /// Bytes to write now; the next `handle` clears them.
  public var outgoing: FrameBuffer { command.frame(part: part, for: setup) }

  /// Whether there is anything in `outgoing`; cheaper than making it.
  public var hasOutgoing: Bool { command != .none }

  /// Whether a drain that was asked for is still to be answered: there is never anything to drain.
  public var isDraining: Bool { pending.drained }

  /// Whether nothing is in flight, so that the board may sleep until `deadline`.
  public var isSettled: Bool {
    guard pending.isEmpty else { return false }
    switch state {
    case .idle, .tracking, .standby, .lost: return true
    case .unpowered: return due == nil
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .restarting,
      .configuring, .fallingAsleep:
      return false
    }
  }

  /// What the receiver does, as far as is known.
  public var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .standby, .fallingAsleep: .standby
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .restarting, .configuring:
      .starting
    case .tracking: .running
    case .lost: .lost
    }
  }

  /// Takes an event in and gives what is to be done; O(1).
  ///
  /// Order of the effects: pin, line speed, then the bytes of ``outgoing``.
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    #if REACHED
      SentenceDriver.machine.reach(Int(state.rawValue), event.column)
    #endif
    self.now = now
    effects = DriverEffects()
    command = .none
    switch event {
    case .goal(let goal): take(goal)
    case .drain: pending.drained = true
    case .message(let message): hear(message)
    case .deadline: if let due, now >= due { expire() }
    case .batchPin: break  // It has no such pin.
    case .lineFault: takeLineFault()
    case .pinFault(.receiverWake): takeLineFault()
    case .pinFault(.receiverSupply): takeSupplyFault()
    }
    tellNext()
    return effects
  }

  /// Puts what is to be told first into the effects.
  private mutating func tellNext() {
    if pending.lost {
      pending.lost = false
      effects.observation = .lost
    } else if pending.recovered {
      pending.recovered = false
      effects.observation = .recovered
    } else if pending.drained {
      pending.drained = false
      effects.observation = .drained
    } else if pending.settled, let goal {
      pending.settled = false
      effects.observation = isCompromise(goal) ? .refused(goal) : .settled(goal)
    }
  }

  /// Whether the receiver, where it has settled, does less than the goal asks.
  private func isCompromise(_ goal: ReceiverGoal) -> Bool {
    switch goal {
    case .batching, .powersave, .off, .standby: wanted == .tracking
    case .tracking: false
    }
  }

  /// The only place that writes the state: enters it and does what is done on entering.
  mutating func enter(_ new: State) {
    let old = state
    state = new
    sends = 0
    spent = 0
    part = 0
    due = nil
    // A pulse always ends, whatever cut it short.
    if old == .pulsing { effects.pin = PinCommand(.receiverWake, .inactive) }
    begin(new)
  }

  /// What to do with an epoch that the decoder produced; comes after `handle` of its message.
  ///
  /// None counts that was begun before the configuration was acknowledged (PWR-6).
  public mutating func admit(_ epoch: Epoch, at now: Instant) -> Admission {
    self.now = now
    let isEarly = epoch.fix.map { $0.acquired < configuredAt } ?? false
    switch state {
    case .tracking, .fallingAsleep: if facts.isConfigured && !isEarly { return .accept }
    case .idle, .unpowered, .powering, .pulsing, .waking, .probing, .probingDefault,
      .changingSpeed, .restarting, .configuring, .standby, .lost:
      break
    }
    counters.unconfigured.count()
    return .drop
  }
}
