import GNSSProtocols
import LocationTypes

/// Power state of the receiver, as far as known.
enum KnownPower: UInt8, Sendable {
  case cut, unknown, asleep, awake
}

/// Connection to a receiver that accepts commands: the command in flight, retries, and the known state of the receiver.
///
/// Everything here is common to all receiver families. The link has no state machine; ``CommandedDriver`` decides
/// which state comes next.
struct ReceiverLink<Command: ReceiverCommand>: Sendable {
  let setup: ReceiverSetup
  /// Event counters since creation.
  var counters = DriverCounters()
  var goal: ReceiverGoal?
  /// Time of the event that is being handled.
  var now = Instant.boot
  /// Deadline of the current state; nil if only events end it.
  var due: Instant?

  // Known state of the receiver, larger fields first to avoid padding.
  /// Time at which the configuration was acknowledged. Epochs from before are not accepted.
  var configuredAt = Instant.boot
  /// Earliest time at which the supply may be switched on again.
  private(set) var restUntil = Instant.boot
  var attempts = Attempts()
  /// Baud rate of the host's serial port; nil if unknown.
  var hostSpeed: UInt32?
  var power: KnownPower
  /// Whether the receiver has answered at the line's baud rate since its last wake-up.
  var isHeard = false
  /// Whether the receiver has acknowledged our configuration since then.
  var isConfigured = false
  /// Whether the receiver has acknowledged the last standby command. u-blox receivers never do.
  var isSentToSleep = false
  /// Baud rate at which epochs arrived since the last answer or loss; nil if none arrived.
  private var heardSpeed: UInt32?
  /// Baud rate of a receiver that sends epochs but answers no command (PWR-12); nil otherwise. Set when the driver
  /// declares the receiver lost, until the receiver answers or is declared lost without having sent epochs.
  private(set) var streamSpeed: UInt32?
  /// Whether the receiver was already off at the last power-off.
  private(set) var wasCut = false

  // The command in flight.
  private(set) var sentAt = Instant.boot
  private var staleAnswers = StaleAnswers()
  /// Command to write in this step; `none` if nothing is to be written.
  var command = Command.none
  private(set) var lastSent = Command.none
  /// Index of the part in flight.
  private(set) var part: UInt8 = 0
  /// Number of transmissions of that part.
  var sends: UInt8 = 0
  /// Number of transmissions of all parts of the command.
  private var spent: UInt8 = 0

  // Output to the owner.
  var effects = DriverEffects()
  var pending = Pending()
  /// Whether the driver has reported that the goal is reached.
  var isAnnounced = false
  private var isRecovering = false

  /// Creates a link. The receiver counts as off if it has a supply switch, else its power state is unknown.
  init(_ setup: ReceiverSetup) {
    self.setup = setup
    power = setup.hasSupplySwitch ? .cut : .unknown
  }

  /// Whether the receiver sends epochs but answers no command.
  var isStreaming: Bool { streamSpeed != nil }

  /// Whether the goal is to power the receiver off.
  var isOffWanted: Bool { goal == .off && setup.hasSupplySwitch }

  /// Whether the receiver is powered off after the next standby, to stay off or for a power cycle.
  var isToBeCut: Bool { isOffWanted || attempts.cyclesPower }

  /// Transmission time of `bytes` bytes at the current baud rate.
  func transmission(_ bytes: Int64) -> Interval {
    Patience.transmission(bytes, at: hostSpeed ?? setup.lineSpeed)
  }

  /// Maximum time from a command to its answer, including queued output of the receiver.
  var answerTime: Interval { setup.ackTimeout + transmission(Patience.queuedBytes) }

  /// Starts the handling of an event: clears effects and command.
  mutating func begin(at now: Instant) {
    self.now = now
    effects = DriverEffects()
    command = .none
  }

  /// Starts a new state, without a command in flight and without a deadline.
  mutating func beginState(endsPulse: Bool) {
    sends = 0
    spent = 0
    part = 0
    due = nil
    // End the wake pulse on every exit from the pulsing state.
    if endsPulse { effects.pin = PinCommand(.receiverWake, .inactive) }
  }
}

// MARK: Commands and answers

extension ReceiverLink {
  /// Sends a part of a command, for the first time or again, and sets the deadline for its answer.
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

  /// Whether the part may be sent again. The limit is three transmissions per part, summed over the whole command.
  var mayRepeat: Bool { spent < Patience.tries * lastSent.parts(for: setup) }

  /// Sends the next part of the command. Returns false if the current part is the last one.
  mutating func sendNextPart() -> Bool {
    guard part + 1 < lastSent.parts(for: setup) else { return false }
    part += 1
    sends = 0
    send(lastSent)
    return true
  }

  /// Whether an answer matches the part in flight. Counts it as arrived if it is a late answer to an earlier command.
  mutating func answersCommand(_ answer: Command.Answer) -> Bool {
    guard answer == lastSent.answer(part: part, for: setup) else { return false }
    return !staleAnswers.takes(answer.kind, at: now)
  }

  /// Completes the part in flight: further answers to its repetitions are late answers.
  mutating func settleAnswers() {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.completed(answer.kind, sends: sends, until: now + answerTime)
  }

  /// Abandons the part in flight: all answers to it are late answers.
  mutating func abandonAnswers() {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.completed(answer.kind, sends: sends + 1, until: now + answerTime)
  }

  /// Sets the baud rate of the host's serial port.
  mutating func use(_ speed: UInt32) {
    guard hostSpeed != speed else { return }
    hostSpeed = speed
    effects.lineSpeed = speed
  }
}

// MARK: Actions on entering a state

extension ReceiverLink {
  /// Powers the receiver off, for at least `DriverTimeouts.minimumOffTime`.
  mutating func cutSupply() {
    effects.pin = PinCommand(.receiverSupply, .inactive)
    restUntil = now + Patience.supplyRest
    wasCut = power == .cut
    attempts.cyclesPower = false
    due = isOffWanted ? now + Patience.switchTime : restUntil
  }

  /// Handles a step while the receiver is off: waits for the minimum off time, or reports that the goal is reached.
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

  /// Waits for the receiver to wake up, after the wake pulse or after the bytes of this command.
  mutating func wake(saying wakeCommand: Command) {
    attempts.wakes += 1
    power = .awake
    if wakeCommand != .none {
      use(setup.lineSpeed)
      command = wakeCommand
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

  /// Sets the deadline for the next attempt to reach a lost receiver.
  mutating func backOff() {
    due = now + Patience.backOff(after: attempts.losses, isStreaming: isStreaming)
  }

  /// Handles that the goal is reached; reports it once for each `.goal` and after each recovery.
  mutating func settle() {
    // Powering off a receiver that streams without answering does not reset its losses.
    let losses = attempts.losses
    attempts.settle(at: now)
    if power == .cut && isStreaming { attempts.losses = losses }
    // A receiver that is powered off has not recovered.
    if isRecovering && power != .cut {
      isRecovering = false
      pending.recovered = true
    }
    guard !isAnnounced else { return }
    isAnnounced = true
    pending.settled = true
  }
}

// MARK: Known state of the receiver

extension ReceiverLink {
  /// Sets a new goal, or the same goal again to have it reported.
  mutating func take(_ new: ReceiverGoal) {
    goal = new
    isAnnounced = false
    pending.settled = false
    attempts.sleepFailures = 0
  }

  /// Counts an epoch that was measured without our configuration.
  mutating func noteUnconfigured() {
    // A receiver that answers but rejects the configuration is not a streaming receiver.
    if !isHeard { heardSpeed = hostSpeed }
    counters.unconfigured.count()
  }

  /// Records that the receiver answered at the line's baud rate.
  mutating func found() {
    heardSpeed = nil
    streamSpeed = nil
    isHeard = true
    attempts.wakes = 0
    attempts.speedChanges = 0
  }

  /// Records a power state in which the receiver may have lost its RAM and our configuration.
  mutating func forget(power: KnownPower) {
    self.power = power
    isHeard = false
    isConfigured = false
  }

  /// Records that the receiver is still awake after a standby command.
  mutating func staysAwake() {
    power = .awake
    isHeard = hostSpeed == setup.lineSpeed
    isConfigured = false
  }

  /// Records that the receiver may have lost our configuration.
  mutating func loseConfiguration() {
    isConfigured = false
    isRecovering = true
    isAnnounced = false
  }

  /// Declares the receiver lost.
  mutating func lose() {
    counters.losses.count()
    attempts.lose()
    loseConfiguration()
    isHeard = false
    power = .unknown
    pending.settled = false
    // After the first loss, only the answers may have been lost; after two, the receiver counts as streaming.
    streamSpeed = attempts.losses > 1 ? heardSpeed : nil
    heardSpeed = nil
    // Its epochs are readable only at this baud rate.
    if let streamSpeed { use(streamSpeed) }
    if !attempts.isTold { pending.lost = true }
    attempts.isTold = true
  }
}
