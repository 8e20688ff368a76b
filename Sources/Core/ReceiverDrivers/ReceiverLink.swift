import GNSSProtocols
import LocationTypes

/// Whether the receiver runs, as far as is known.
enum KnownPower: UInt8, Sendable {
  case cut, unknown, asleep, awake
}

/// What goes to and fro between a machine and a receiver that takes commands, and what is known of it:
/// all that no family does otherwise.
///
/// It knows no states: where to go next is the machine's matter (``CommandedDriver``).
struct ReceiverLink<Command: ReceiverCommand>: Sendable {
  let setup: ReceiverSetup
  /// What has happened so far.
  var counters = DriverCounters()
  var goal: ReceiverGoal?
  /// When the event came that is being handled.
  var now = Instant.boot
  /// When the state is over; nil when only events end it.
  var due: Instant?

  // What is known of the receiver; the larger fields first, so that no room is lost between them.
  /// When the configuration was acknowledged; what came before does not count.
  var configuredAt = Instant.boot
  /// Until when a supply that was cut stays so at least.
  private(set) var restUntil = Instant.boot
  var attempts = Attempts()
  /// Speed of the host's side of the line; nil when not known.
  var hostSpeed: UInt32?
  var power: KnownPower
  /// Answered at the line's speed since it was last woken.
  var isHeard = false
  /// Our configuration was acknowledged since then.
  var isConfigured = false
  /// Standby was acknowledged since it was last asked for; u-blox receivers never do.
  var isSentToSleep = false
  /// The speed at which epochs came since it answered last, or was given up last; nil where none came.
  private var heardSpeed: UInt32?
  /// It answers no command and sends epochs at this speed (PWR-12): set when it is given up, until it answers or
  /// is given up in silence.
  private(set) var streamSpeed: UInt32?
  /// The supply was cut already when it was cut last.
  private(set) var wasCut = false

  // The command in flight.
  private(set) var sentAt = Instant.boot
  private var staleAnswers = StaleAnswers()
  /// What this event has it say; none when it is not to be sent now.
  var command = Command.none
  private(set) var lastSent = Command.none
  /// Which of its parts is under way.
  private(set) var part: UInt8 = 0
  /// How often that part was sent.
  var sends: UInt8 = 0
  /// How often any of its parts was sent.
  private var spent: UInt8 = 0

  // What the owner is told.
  var effects = DriverEffects()
  var pending = Pending()
  /// The goal was told to be reached.
  var isAnnounced = false
  private var isRecovering = false

  /// With a supply switch the receiver counts as switched off, else as in an unknown state.
  init(_ setup: ReceiverSetup) {
    self.setup = setup
    power = setup.hasSupplySwitch ? .cut : .unknown
  }

  /// Whether it sends epochs and answers no command.
  var isStreaming: Bool { streamSpeed != nil }

  /// The supply is to be cut for good.
  var isOffWanted: Bool { goal == .off && setup.hasSupplySwitch }

  /// Standby is only the way to cut the supply, or to start the receiver anew.
  var isToBeCut: Bool { isOffWanted || attempts.cyclesPower }

  /// How long `bytes` take on the line at its speed.
  func transmission(_ bytes: Int64) -> Interval {
    Patience.transmission(bytes, at: hostSpeed ?? setup.lineSpeed)
  }

  /// How long an answer may take to come.
  var answerTime: Interval { setup.ackTimeout + transmission(Patience.queuedBytes) }

  /// An event came.
  mutating func begin(at now: Instant) {
    self.now = now
    effects = DriverEffects()
    command = .none
  }

  /// Another state begins: nothing of the last one is in flight.
  mutating func beginState(endsPulse: Bool) {
    sends = 0
    spent = 0
    part = 0
    due = nil
    // A pulse always ends, whatever cut it short.
    if endsPulse { effects.pin = PinCommand(.receiverWake, .inactive) }
  }
}

// MARK: Commands and answers

extension ReceiverLink {
  /// Sends a part of a command, for the first time or again, and sets the time by which it must be
  /// answered.
  mutating func send(_ new: Command) {
    command = new
    sends += 1
    spent += 1
    counters.commands.count()
    isSentToSleep = false
    due = now + answerTime + (new == .standby ? setup.silenceOfSleep : .zero)
    sentAt = now
    lastSent = new
  }

  mutating func repeatCommand() {
    counters.repeats.count()
    send(lastSent)
  }

  /// Whether it may be sent again: each of a command's parts has three tries, and those that earlier
  /// ones left.
  var mayRepeat: Bool { spent < Patience.tries * lastSent.parts(for: setup) }

  /// Sends the next part of the command; gives false when that was the last.
  mutating func sendNextPart() -> Bool {
    guard part + 1 < lastSent.parts(for: setup) else { return false }
    part += 1
    sends = 0
    send(lastSent)
    return true
  }

  /// Whether an answer is that to the part in flight.
  mutating func answersCommand(_ answer: Command.Answer) -> Bool {
    guard answer == lastSent.answer(part: part, for: setup) else { return false }
    return !staleAnswers.takes(answer.kind, at: now)
  }

  /// What still comes of answers to the part in flight is no answer to a later one.
  mutating func settleAnswers() {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.completed(answer.kind, sends: sends, until: now + answerTime)
  }

  /// The part in flight is not waited for: no answer to it is one to a later part.
  mutating func abandonAnswers() {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.completed(answer.kind, sends: sends + 1, until: now + answerTime)
  }

  /// Puts the host's side of the line to a speed.
  mutating func use(_ speed: UInt32) {
    guard hostSpeed != speed else { return }
    hostSpeed = speed
    effects.lineSpeed = speed
  }
}

// MARK: What is done on entering a state

extension ReceiverLink {
  /// Cuts the supply, which must be off for a while before it may come again.
  mutating func cutSupply() {
    effects.pin = PinCommand(.receiverSupply, .inactive)
    restUntil = now + Patience.supplyRest
    wasCut = power == .cut
    attempts.cyclesPower = false
    due = isOffWanted ? now + Patience.switchTime : restUntil
  }

  /// The supply is cut: rests before it may come again, or is where it should be.
  mutating func rest() {
    guard isOffWanted else { return due = restUntil }
    due = nil
    settle()
  }

  mutating func switchOn() {
    power = .awake
    effects.pin = PinCommand(.receiverSupply, .active)
    due = now + setup.powerSettle
  }

  mutating func pulse() {
    effects.pin = PinCommand(.receiverWake, .active)
    due = now + setup.wakePulse
  }

  /// Gives it time to wake, by what is said here or by the pulse that was.
  mutating func wake(saying words: Command) {
    attempts.wakes += 1
    power = .awake
    if words != .none {
      use(setup.lineSpeed)
      command = words
    }
    due = now + setup.wakeSettle
  }

  mutating func probe(at speed: UInt32) {
    use(speed)
    send(.probe)
  }

  mutating func changeSpeed() {
    attempts.speedChanges += 1
    send(.lineSpeed(setup.lineSpeed))
  }

  mutating func sendToSleep() {
    if hostSpeed == nil { use(setup.lineSpeed) }
    send(.standby)
  }

  /// Leaves a lost receiver alone for a while.
  mutating func backOff() {
    due = now + Patience.backOff(after: attempts.losses, isStreaming: isStreaming)
  }

  /// The goal is reached: tells so, once for each `.goal` and after each recovery.
  mutating func settle() {
    // One that sends and does not answer is known as such when it is switched on again.
    let losses = attempts.losses
    attempts.settle(at: now)
    if power == .cut && isStreaming { attempts.losses = losses }
    // Without supply nothing has been recovered.
    if isRecovering && power != .cut {
      isRecovering = false
      pending.recovered = true
    }
    guard !isAnnounced else { return }
    isAnnounced = true
    pending.settled = true
  }
}

// MARK: What is known

extension ReceiverLink {
  /// The engine wants something else, or wants the same and to be told.
  mutating func take(_ new: ReceiverGoal) {
    goal = new
    isAnnounced = false
    pending.settled = false
    attempts.sleepFailures = 0
  }

  /// An epoch came that was made without our configuration.
  mutating func noteUnconfigured() {
    // One that has answered and takes no configuration is not such a one.
    if !isHeard { heardSpeed = hostSpeed }
    counters.unconfigured.count()
  }

  /// It answered at the line's speed.
  mutating func found() {
    heardSpeed = nil
    streamSpeed = nil
    isHeard = true
    attempts.wakes = 0
    attempts.speedChanges = 0
  }

  /// It may have lost its RAM, our configuration with it.
  mutating func forget(power: KnownPower) {
    self.power = power
    isHeard = false
    isConfigured = false
  }

  /// It does not sleep, though it was to.
  mutating func staysAwake() {
    power = .awake
    isHeard = hostSpeed == setup.lineSpeed
    isConfigured = false
  }

  /// It works without our configuration, as far as is known.
  mutating func loseConfiguration() {
    isConfigured = false
    isRecovering = true
    isAnnounced = false
  }

  /// It is given up for now.
  mutating func lose() {
    counters.losses.count()
    attempts.lose()
    loseConfiguration()
    isHeard = false
    power = .unknown
    pending.settled = false
    // The answers to one attempt may be lost; those to two are not.
    streamSpeed = attempts.losses > 1 ? heardSpeed : nil
    heardSpeed = nil
    // What it sends can be read at that speed alone.
    if let streamSpeed { use(streamSpeed) }
    if !attempts.isTold { pending.lost = true }
    attempts.isTold = true
  }
}
