import GNSSProtocols
import LocationTypes

/// Drives a u-blox M8 or M10 (MAX-M8Q, MAX-M10S and kin): configuration, standby, wake-up, batching.
///
/// Pure. The two differ in how they are told, not in what is done: `UBloxCommand` has the words of both.
/// It keeps what is known of the receiver and the latest goal; whenever nothing is in flight,
/// `nextState` picks the one next thing to do. So goals may change at any moment and nothing that
/// the receiver has buffered is lost on the way. Sequences: Docs/Reference/receivers.md.
public struct UBloxDriver: Sendable {
  let setup: ReceiverSetup
  /// What the driver is doing; written by `enter` alone.
  public private(set) var state = State.idle
  /// What has happened so far.
  public internal(set) var counters = DriverCounters()

  var goal: ReceiverGoal?
  var facts: Facts
  var pending = Pending()
  var effects = DriverEffects()
  var command = UBloxCommand.none
  var due: Instant?
  var now = Instant.boot
  var sends: UInt8 = 0
  /// How often any of its messages was sent.
  var spent: UInt8 = 0
  /// Which of its messages is under way; an M10 is told everything by one.
  var part: UInt8 = 0
  var sentAt = Instant.boot
  var lastSent = UBloxCommand.none
  /// Speed of the host's side of the line; nil when not known.
  var hostSpeed: UInt32?
  var isAnnounced = false
  var isRecovering = false
  var isDrainWanted = false
  var drain = Drain()
  var held = HeldEpochs()
  /// When epochs were held for the last time.
  var heldUntil = Instant.boot
  /// UTC of the fix that was handed on last; written by `give` alone.
  var given_utc: UTCTime?
  /// Since when the receiver has had to obey the configuration that it has now.
  var obeysSince = Instant.boot
  /// When the configuration was acknowledged; what came before does not count.
  var configuredAt = Instant.boot
  var staleAnswers = StaleAnswers()
  var attempts = Attempts()
  var restUntil = Instant.boot
  /// The supply was cut already when it was cut last.
  var wasCut = false

  /// Creates a driver that knows nothing of the receiver and does nothing before the first goal.
  ///
  /// With a supply switch the receiver counts as switched off, else as in an unknown state.
  public init(_ setup: ReceiverSetup) {
    self.setup = setup
    facts = Facts(
      power: setup.hasSupplySwitch ? .cut : .unknown, batch: setup.batch == nil ? .off : .unknown)
  }

  /// What its owner must know of it now; O(1).
  public var status: DriverStatus {
    DriverStatus(
      deadline: deadline, hasOutgoing: hasOutgoing, isSettled: isSettled,
      buffersFixes: buffersFixes, isDraining: isDraining, hasHeld: held.released > 0,
      entriesBehind: entriesBehind)
  }

  /// When it must be stepped with `.deadline`; nil when only events move it.
  public var deadline: Instant? { pending.isEmpty ? due : now }

  /// Bytes to write now; the next `handle` clears them.
  public var outgoing: FrameBuffer { command.frame(part: part, for: setup) }

  /// Whether there is anything in `outgoing`; cheaper than making it.
  public var hasOutgoing: Bool { command != .none }

  /// Whether nothing is in flight, so that the board may sleep until `deadline`.
  public var isSettled: Bool {
    guard pending.isEmpty else { return false }
    switch state {
    case .idle, .tracking, .batching, .standby, .lost: return true
    case .unpowered: return due == nil
    case .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed, .configuring,
      .changingPower, .enabling, .muting, .changingWatermark, .draining, .unmuting, .leaving,
      .disabling, .fallingAsleep:
      return false
    }
  }

  /// Whether the receiver may hold fixes that have not been drained.
  public var buffersFixes: Bool { facts.mayHold }

  /// Whether the receiver's buffer is being emptied, or is going to be because that was asked for.
  public var isDraining: Bool {
    isDrainWanted || pending.drained || state == .draining || state == .leaving
  }

  /// What the receiver does, as far as is known.
  public var activity: ReceiverActivity {
    switch state {
    case .unpowered: .off
    case .standby, .fallingAsleep: .standby
    case .idle, .powering, .pulsing, .waking, .probing, .probingDefault, .changingSpeed,
      .configuring:
      .starting
    case .tracking, .changingPower, .enabling, .muting, .unmuting, .disabling:
      facts.powerMode == .cyclic ? .saving : .running
    case .batching, .changingWatermark, .draining, .leaving: .batching
    case .lost: .lost
    }
  }

  /// Takes an event in and gives what is to be done; O(1).
  ///
  /// Order of the effects: pin, line speed, then the bytes of ``outgoing``.
  public mutating func handle(_ event: DriverEvent, at now: Instant) -> DriverEffects {
    #if REACHED
      UBloxDriver.machine.reach(Int(state.rawValue), event.column)
    #endif
    self.now = now
    effects = DriverEffects()
    command = .none
    switch event {
    case .goal(let goal): take(goal)
    case .drain: takeDrain()
    case .message(let message): hear(message)
    case .deadline: if let due, now >= due { expire() }
    case .batchPin: takeBatchPin()
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
    case .batching, .powersave: wanted == .tracking
    case .off, .standby, .tracking: false
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
    if old.holdsLive { heldUntil = now }
    // A pulse always ends, whatever cut it short.
    if old == .pulsing { effects.pin = PinCommand(.receiverWake, .inactive) }
    begin(new)
  }
}
