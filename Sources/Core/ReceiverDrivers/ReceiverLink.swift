import GNSSProtocols
import LocationTypes

/// Power state of the receiver, as far as known.
enum KnownPower: UInt8, Sendable {
  case off, unknown, asleep, awake
}

/// Connection to a receiver that accepts commands: the command in flight, retries, and the known state of the receiver.
///
/// Everything here is common to all receiver families. The link has no state machine; ``CommandedDriver`` decides
/// which state comes next.
struct ReceiverLink<Command: ReceiverCommand>: Sendable {
  let setup: ReceiverSetup
  /// Event counters since creation.
  var counters = DriverCounters()
  var goal: ReceiverMode?
  /// Time of the event that is being handled.
  var now = Instant.boot
  /// Deadline of the current state; nil if only events end it.
  var due: Instant?

  // Known state of the receiver, larger fields first to avoid padding.
  /// Time at which the configuration was acknowledged. Epochs from before are not accepted.
  var configuredAt = Instant.boot
  /// Earliest time at which the supply may be switched on again.
  private(set) var offUntil = Instant.boot
  var retryCounters = RetryCounters()
  /// Baud rate of the host's serial port; nil if unknown.
  var hostSpeed: UInt32?
  var power: KnownPower
  /// Whether the receiver has answered at the line's baud rate since its last wake-up.
  var isResponsive = false
  /// Whether the receiver has acknowledged our configuration since then.
  var isConfigured = false
  /// Whether the receiver has acknowledged the last standby command. u-blox receivers never do.
  var isStandbyAcknowledged = false
  /// Baud rate at which epochs arrived since the last answer or loss; nil if none arrived.
  private var receivedSpeed: UInt32?
  /// Baud rate of a receiver that sends epochs but answers no command (PWR-12); nil otherwise. Set when the driver
  /// declares the receiver lost, until the receiver answers or is declared lost without having sent epochs.
  private(set) var streamSpeed: UInt32?
  /// Whether the receiver was already off at the last power-off.
  private(set) var wasAlreadyOff = false

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
  private var totalSends: UInt8 = 0

  // Output to the engine.
  var effects = DriverEffects()
  var pending = PendingObservations()
  /// Whether the driver has reported that the goal is reached.
  var isGoalReported = false
  private var isRecovering = false

  /// Creates a link. The receiver counts as off if it has a supply switch, else its power state is unknown.
  init(_ setup: ReceiverSetup) {
    self.setup = setup
    power = setup.hasSupplySwitch ? .off : .unknown
  }

  /// Whether the receiver sends epochs but answers no command.
  var isStreaming: Bool { streamSpeed != nil }

  /// Whether the goal is to power the receiver off.
  var isPowerOffRequested: Bool { goal == .off && setup.hasSupplySwitch }

  /// Whether the receiver is powered off after the next standby, to stay off or for a power cycle.
  var isPowerOffPending: Bool { isPowerOffRequested || retryCounters.needsPowerCycle }

  /// Transmission time of `bytes` bytes at the current baud rate.
  func transmissionTime(_ bytes: Int64) -> Interval {
    DriverTimeouts.transmissionTime(bytes, at: hostSpeed ?? setup.lineSpeed)
  }

  /// Maximum time from a command to its answer, including queued output of the receiver.
  var answerTimeout: Interval {
    setup.ackTimeout + transmissionTime(DriverTimeouts.outputQueueBytes)
  }

  /// Starts the handling of an event: clears effects and command.
  mutating func beginEvent(at now: Instant) {
    self.now = now
    effects = DriverEffects()
    command = .none
  }

  /// Starts a new state, without a command in flight and without a deadline.
  mutating func beginState(endsPulse: Bool) {
    sends = 0
    totalSends = 0
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
    totalSends += 1
    counters.commands.incrementSaturating()
    isStandbyAcknowledged = false
    due = now + answerTimeout + (new == .standby ? setup.sleepSilence : .zero)
    sentAt = now
    lastSent = new
  }

  mutating func repeatCommand() {
    counters.repeats.incrementSaturating()
    send(lastSent)
  }

  /// Whether the part may be sent again. The limit is three transmissions per part, summed over the whole command.
  var canRepeat: Bool { totalSends < DriverTimeouts.maximumSends * lastSent.partCount(for: setup) }

  /// Sends the next part of the command. Returns false if the current part is the last one.
  mutating func sendNextPart() -> Bool {
    guard part + 1 < lastSent.partCount(for: setup) else { return false }
    part += 1
    sends = 0
    send(lastSent)
    return true
  }

  /// Whether an answer matches the part in flight. Counts it as arrived if it is a late answer to an earlier command.
  mutating func consumeAnswer(_ answer: Command.Answer) -> Bool {
    guard answer == lastSent.answer(part: part, for: setup) else { return false }
    return !staleAnswers.consume(answer.kind, at: now)
  }

  /// Completes the part in flight: further answers to its repetitions are late answers.
  mutating func closeExchange() {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.recordAnswered(answer.kind, sends: sends, until: now + answerTimeout)
  }

  /// Abandons the part in flight: all answers to it are late answers.
  mutating func abandonExchange() {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.recordAnswered(answer.kind, sends: sends + 1, until: now + answerTimeout)
  }

  /// Sets the baud rate of the host's serial port.
  mutating func setHostSpeed(_ speed: UInt32) {
    guard hostSpeed != speed else { return }
    hostSpeed = speed
    effects.lineSpeed = speed
  }
}

// MARK: Actions on entering a state

extension ReceiverLink {
  /// Powers the receiver off, for at least `DriverTimeouts.minimumOffTime`.
  mutating func powerOff() {
    effects.pin = PinCommand(.receiverSupply, .inactive)
    offUntil = now + DriverTimeouts.minimumOffTime
    wasAlreadyOff = power == .off
    retryCounters.needsPowerCycle = false
    due = isPowerOffRequested ? now + DriverTimeouts.switchFaultTime : offUntil
  }

  /// Handles a step while the receiver is off: waits for the minimum off time, or reports that the goal is reached.
  mutating func remainOff() {
    guard isPowerOffRequested else { return due = offUntil }
    due = nil
    reachGoal()
  }

  mutating func powerOn() {
    power = .awake
    effects.pin = PinCommand(.receiverSupply, .active)
    due = now + setup.powerSettle
  }

  mutating func pulse() {
    effects.pin = PinCommand(.receiverWake, .active)
    due = now + setup.wakePulse
  }

  /// Waits for the receiver to wake up, after the wake pulse or after the bytes of this command.
  mutating func wake(sending wakeCommand: Command) {
    retryCounters.wakeUps += 1
    power = .awake
    if wakeCommand != .none {
      setHostSpeed(setup.lineSpeed)
      command = wakeCommand
    }
    due = now + setup.wakeSettle
  }

  mutating func probe(at speed: UInt32) {
    setHostSpeed(speed)
    send(.probe)
  }

  mutating func changeSpeed() {
    retryCounters.speedChanges += 1
    send(.lineSpeed(setup.lineSpeed))
  }

  mutating func sendToSleep() {
    if hostSpeed == nil { setHostSpeed(setup.lineSpeed) }
    send(.standby)
  }

  /// Sets the deadline for the next attempt to reach a lost receiver.
  mutating func backOff() {
    due = now + DriverTimeouts.backOff(after: retryCounters.losses, isStreaming: isStreaming)
  }

  /// Handles that the goal is reached; reports it once for each `.goal` and after each recovery.
  mutating func reachGoal() {
    // Powering off a receiver that streams without answering does not reset its losses.
    let losses = retryCounters.losses
    retryCounters.recordGoalReached(at: now)
    if power == .off && isStreaming { retryCounters.losses = losses }
    // A receiver that is powered off has not recovered.
    if isRecovering && power != .off {
      isRecovering = false
      pending.recovered = true
    }
    guard !isGoalReported else { return }
    isGoalReported = true
    pending.reached = true
  }
}

// MARK: Known state of the receiver

extension ReceiverLink {
  /// Sets a new goal, or the same goal again to have it reported.
  mutating func setGoal(_ new: ReceiverMode) {
    goal = new
    isGoalReported = false
    pending.reached = false
    retryCounters.unexpectedWakes = 0
  }

  /// Counts an epoch that was measured without our configuration.
  mutating func countUnconfigured() {
    // A receiver that answers but rejects the configuration is not a streaming receiver.
    if !isResponsive { receivedSpeed = hostSpeed }
    counters.unconfiguredEpochs.incrementSaturating()
  }

  /// Records that the receiver answered at the line's baud rate.
  mutating func markResponsive() {
    receivedSpeed = nil
    streamSpeed = nil
    isResponsive = true
    retryCounters.wakeUps = 0
    retryCounters.speedChanges = 0
  }

  /// Records a power state in which the receiver may have lost its RAM and our configuration.
  mutating func invalidateVolatileState(power: KnownPower) {
    self.power = power
    isResponsive = false
    isConfigured = false
  }

  /// Records that the receiver is still awake after a standby command.
  mutating func markStillAwake() {
    power = .awake
    isResponsive = hostSpeed == setup.lineSpeed
    isConfigured = false
  }

  /// Records that the receiver may have lost our configuration.
  mutating func markUnconfigured() {
    isConfigured = false
    isRecovering = true
    isGoalReported = false
  }

  /// Declares the receiver lost.
  mutating func declareLost() {
    counters.losses.incrementSaturating()
    retryCounters.recordLoss()
    markUnconfigured()
    isResponsive = false
    power = .unknown
    pending.reached = false
    // After the first loss, only the answers may have been lost; after two, the receiver counts as streaming.
    streamSpeed = retryCounters.losses > 1 ? receivedSpeed : nil
    receivedSpeed = nil
    // Its epochs are readable only at this baud rate.
    if let streamSpeed { setHostSpeed(streamSpeed) }
    if !retryCounters.isLossReported { pending.lost = true }
    retryCounters.isLossReported = true
  }
}
