import GNSSProtocols
import LocationTypes

/// Connection to a receiver that accepts commands.
///
/// Everything here is common to all receiver families. The link has no state machine; ``CommandedDriver`` decides
/// which state comes next, and the link executes what the states have in common: it sends commands, switches supply and
/// wake pin, sets the deadline, and reports goal and loss.
///
/// | part | content |
/// |---|---|
/// | ``CommandExchange`` | the command in flight, its repetitions and answers |
/// | ``KnownReceiver`` | power, configuration and baud rate of the receiver, as far as known |
/// | `RetryCounters` | failed attempts, which limit retries |
/// | ``SatelliteWatch`` | output of satellites in view |
/// | ``SleepTrust`` | what shows that the receiver executes its standby command |
///
/// Invariants. Each event begins with `beginEvent(at:)`, which clears effects and command; each state with
/// `beginState(endsPulse:)`, which clears the deadline. A supply that was switched off stays off until `offUntil`. A goal
/// is reported once each time it is set, and again after each recovery and each repeated standby attempt.
///
/// Ownership. The properties that are not `private(set)` have two writers, the link and the driver that stores it
/// (``CommandedDriver`` and its conforming type):
///
/// | property | the driver writes it | the link writes it |
/// |---|---|---|
/// | `now` | on admission of an epoch | at the start of an event |
/// | `due` | for the deadlines of its own states | for commands and shared states |
/// | `effects` | observation and aiding | pin and baud rate; clears all at the start of an event |
/// | `pending` | a drained buffer, a loss that ends a drain; removes what it reports | goal, recovery, loss |
/// | `counters` | its own events | commands, repetitions, losses, epochs without our configuration |
/// | `retryCounters` | `needsPowerCycle`; calls its methods | all others, and clears `needsPowerCycle` |
/// | `exchange`, `receiver`, `satellites` | by their methods only | by their methods only |
///
/// Every action is O(1), without heap.
struct ReceiverLink<Command: ReceiverCommand>: Sendable {
  private(set) var setup: ReceiverSetup
  /// Event counters since creation.
  var counters = DriverCounters()
  private(set) var goal: ReceiverMode?
  /// Time of the event or of the epoch that is being handled.
  var now = Instant.boot
  /// Deadline of the current state; nil if only events end it.
  var due: Instant?

  var exchange = CommandExchange<Command>()
  var receiver: KnownReceiver
  var retryCounters = RetryCounters()
  var satellites = SatelliteWatch()
  /// Baud rate of the host's serial port; nil if unknown.
  private(set) var hostSpeed: UInt32?
  /// What shows that the receiver executes its standby command.
  private var sleep = SleepTrust()
  /// Earliest time at which the supply may be switched on again.
  private(set) var offUntil = Instant.boot
  /// Whether the receiver was already off at the last power-off.
  private(set) var wasAlreadyOff = false

  // Output to the engine.
  var effects = DriverEffects()
  var pending = PendingObservations()
  /// Whether the driver has reported that the goal is reached.
  private(set) var isGoalReported = false
  private var isRecovering = false

  /// Creates a link. The receiver counts as off if it has a supply switch, else its power state is unknown.
  init(_ setup: ReceiverSetup) {
    self.setup = setup
    receiver = KnownReceiver(power: setup.hasSupplySwitch ? .off : .unknown)
  }

  /// Whether the receiver sends epochs but answers no command.
  var isStreaming: Bool { receiver.streamSpeed != nil }

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
    setup.ackTimeout + transmissionTime(outputQueueBytes)
  }

  /// Maximum number of bytes in the receiver's output queue.
  private var outputQueueBytes: Int64 {
    setup.outputQueueBytes
      + (satellites.output == .off ? 0 : DriverTimeouts.satelliteBytes)
  }

  /// Starts the handling of an event: clears effects and command.
  mutating func beginEvent(at now: Instant) {
    self.now = now
    effects = DriverEffects()
    exchange.clearCommand()
  }

  /// Starts a new state, without a command in flight and without a deadline.
  mutating func beginState(endsPulse: Bool) {
    exchange.beginState()
    due = nil
    // End the wake pulse on every exit from the pulsing state.
    if endsPulse { effects.pin = PinCommand(.receiverWake, .inactive) }
  }
}

// MARK: Commands and answers

extension ReceiverLink {
  /// Sends a part of a command, for the first time or again, and sets the deadline for its answer.
  mutating func send(_ new: Command) {
    exchange.send(new, at: now)
    counters.commands.incrementSaturating()
    due = now + answerTimeout
    guard new == .standby else { return }
    sleep.begin(mayTrust: setup.trustsSleep && !isPowerOffPending, at: now)
    due = sleepEntryEnd
  }

  /// Whether the receiver is trusted to fall asleep after the standby command, so that the board may sleep immediately:
  /// silence was observed recently, and the supply stays on.
  var isSleepTrusted: Bool { sleep.isTrusted && !isPowerOffPending }

  /// Whether a receiver that was trusted to sleep is to be powered off before its standby command has timed out (PWR-5).
  var mustAwaitSleep: Bool { isPowerOffRequested && sleep.isTrusted && now < sleepEntryEnd }

  /// Time at which the receiver counts as asleep, if it is silent until then.
  var sleepEntryEnd: Instant {
    sleep.start
      + (isSleepTrusted
        ? DriverTimeouts.sleepEntryTime + transmissionTime(outputQueueBytes)
        : observationTime)
  }

  /// Silence that shows that the receiver sleeps: after a command, its queued output comes first.
  private var observationTime: Interval {
    sleep.isChecking ? setup.sleepSilence : answerTimeout + setup.sleepSilence
  }

  /// Time at which the board must be awake to observe a receiver that was trusted to sleep; nil if that is not
  /// necessary.
  var sleepCheck: Instant? { sleep.checkTime }

  /// Records that the receiver counts as asleep.
  mutating func recordSleep() {
    sleep.finish(
      after: observationTime, isAcknowledged: exchange.isStandbyAcknowledged, at: now)
  }

  /// Begins to observe a receiver that was trusted to sleep: the next ``beginSleepEntry()`` sends no command.
  mutating func checkSleep() { sleep.beginCheck(at: now) }

  /// Records that the receiver did not fall asleep, or woke by itself: its next standby is observed.
  mutating func recordFailedSleep() {
    sleep.fail()
    counters.failedStandbys.incrementSaturating()
  }

  mutating func repeatCommand() {
    counters.repeats.incrementSaturating()
    send(exchange.lastSent)
  }

  /// Whether the part in flight may be sent again.
  var canRepeat: Bool { exchange.canRepeat(for: setup) }

  /// Sends the next part of the command. Returns false if the current part is the last one.
  mutating func sendNextPart() -> Bool {
    guard exchange.selectNextPart(for: setup) else { return false }
    send(exchange.lastSent)
    return true
  }

  /// Whether an answer matches the part in flight. Counts it as arrived if it is a late answer to an earlier command.
  mutating func consumeAnswer(_ answer: Command.Answer) -> Bool {
    exchange.consume(answer, for: setup, at: now)
  }

  /// Completes the part in flight: further answers to its repetitions are late answers.
  mutating func closeExchange() {
    exchange.close(isAnswered: true, for: setup, until: now + answerTimeout)
  }

  /// Abandons the part in flight: all answers to it are late answers.
  mutating func abandonExchange() {
    exchange.close(isAnswered: false, for: setup, until: now + answerTimeout)
  }

  /// Sets the baud rate of the host's serial port.
  mutating func setHostSpeed(_ speed: UInt32) {
    guard hostSpeed != speed else { return }
    hostSpeed = speed
    effects.lineSpeed = speed
  }

  /// Records a disconnected line, whose baud rate is then unknown.
  mutating func invalidateHostSpeed() { hostSpeed = nil }
}

// MARK: Actions on entering a state

extension ReceiverLink {
  /// Powers the receiver off, for at least `DriverTimeouts.minimumOffTime`.
  mutating func powerOff() {
    effects.pin = PinCommand(.receiverSupply, .inactive)
    offUntil = now + DriverTimeouts.minimumOffTime
    wasAlreadyOff = receiver.power == .off
    sleep.reset()
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
    receiver.assumePower(.awake)
    sleep.reset()
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
    receiver.assumePower(.awake)
    sleep.reset()
    if wakeCommand != .none {
      setHostSpeed(setup.lineSpeed)
      exchange.write(wakeCommand)
    }
    due = now + setup.wakeSettle
  }

  /// Sends a query at this baud rate.
  mutating func probe(at speed: UInt32, with query: Command = .probe) {
    setHostSpeed(speed)
    send(query)
  }

  mutating func changeSpeed() {
    retryCounters.speedChanges += 1
    send(.lineSpeed(setup.lineSpeed))
  }

  /// Uses the baud rate of an unconfigured receiver, at which the receiver has answered, as that of the line, and the
  /// line's as the one to try after it.
  mutating func keepDefaultSpeed() {
    (setup.lineSpeed, setup.defaultLineSpeed) = (setup.defaultLineSpeed, setup.lineSpeed)
    markResponsive()
  }

  /// Sends the standby command, or only waits for the silence of a receiver that was trusted to sleep.
  mutating func beginSleepEntry() {
    if sleep.isChecking || sleep.isTrusted { return due = sleepEntryEnd }
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
    if receiver.power == .off && isStreaming { retryCounters.losses = losses }
    // A receiver that is powered off has not recovered.
    if isRecovering && receiver.power != .off {
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

  /// Requests that the reached goal is reported again.
  mutating func repeatGoalReport() { isGoalReported = false }

  /// Counts an epoch that was measured without our configuration.
  mutating func countUnconfigured() {
    receiver.recordStream(at: hostSpeed)
    counters.unconfiguredEpochs.incrementSaturating()
  }

  /// Records that the receiver answered at the line's baud rate.
  mutating func markResponsive() {
    receiver.markResponsive()
    retryCounters.wakeUps = 0
    retryCounters.speedChanges = 0
  }

  /// Records a power state in which the receiver may have lost its RAM and our configuration.
  mutating func invalidateVolatileState(power: KnownPower) {
    receiver.assumePower(power)
    receiver.markSilent()
    satellites.reset()
  }

  /// Records that the receiver is still awake after a standby command.
  mutating func markStillAwake() {
    receiver.markAwake(isResponsive: hostSpeed == setup.lineSpeed)
    receiver.markUnconfigured()
  }

  /// Records that the receiver may have lost our configuration.
  mutating func markUnconfigured() {
    receiver.markUnconfigured()
    isRecovering = true
    isGoalReported = false
  }

  /// Declares the receiver lost.
  mutating func declareLost() {
    counters.losses.incrementSaturating()
    sleep.fail()
    retryCounters.recordLoss()
    markUnconfigured()
    pending.reached = false
    // After the first loss, only the answers may have been lost; after two, the receiver counts as streaming.
    receiver.markLost(mayStream: retryCounters.losses > 1)
    // Its epochs are readable only at this baud rate.
    if let speed = receiver.streamSpeed { setHostSpeed(speed) }
    if !retryCounters.isLossReported { pending.lost = true }
    retryCounters.isLossReported = true
  }
}
