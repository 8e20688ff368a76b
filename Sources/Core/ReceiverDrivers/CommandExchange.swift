import LocationTypes

/// Record of the last command: what was sent, how often, and which answers match it.
///
/// Problem. A receiver answers each part of a command, late or not at all, and an answer names only the type of its
/// message. The exchange counts transmissions, so that the driver can repeat a part or give it up, and keeps late answers
/// to earlier commands apart from the answer to this one.
///
/// The exchange has no states: whether an answer is awaited follows from the state of the driver. `command` is the
/// output of the current step. `lastSent` stays matchable until the next `send`, also after `close` and in the next
/// state of the driver. `close` records how many answers may still arrive late (`StaleAnswers`).
///
/// Invariants. `sends` counts the transmissions of part `part`, or of the last message after `resetSends`. `totalSends`
/// counts those of all parts. `beginState` sets `part`, `sends` and `totalSends` to 0; `selectNextPart` and
/// `resetSends` set only `sends` to 0.
///
/// Ownership. Only ``ReceiverLink`` and the drivers call the methods; only the methods write the properties. Depends on
/// `LocationTypes`.
struct CommandExchange<Command: ReceiverCommand>: Sendable {
  /// Command to write in this step; `none` if nothing is to be written.
  private(set) var command = Command.none
  /// Last command that was sent with `send`; `none` before the first one.
  private(set) var lastSent = Command.none
  /// Index of the part that is sent and matched.
  private(set) var part: UInt8 = 0
  /// Number of transmissions of that part.
  private(set) var sends: UInt8 = 0
  private var totalSends: UInt8 = 0
  private(set) var sentAt = Instant.boot
  /// Whether the receiver has acknowledged the last standby command; cleared by the next command. u-blox: always false.
  private(set) var isStandbyAcknowledged = false
  private var staleAnswers = StaleAnswers()

  /// Clears the command to write: a step begins, or the engine's caller writes the command.
  mutating func clearCommand() { command = .none }

  /// Starts a new state, without a command in flight.
  mutating func beginState() {
    sends = 0
    totalSends = 0
    part = 0
  }

  /// Counts transmissions from 0 again, for a further message of the same state.
  mutating func resetSends() { sends = 0 }

  /// Writes a command to which no answer is expected.
  mutating func write(_ new: Command) { command = new }

  /// Sends a part of a command, for the first time or again.
  mutating func send(_ new: Command, at now: Instant) {
    command = new
    lastSent = new
    sends += 1
    totalSends += 1
    sentAt = now
    isStandbyAcknowledged = false
  }

  mutating func acknowledgeStandby() { isStandbyAcknowledged = true }

  /// Whether the part may be sent again. The limit is three transmissions per part, summed over the whole command.
  func canRepeat(for setup: ReceiverSetup) -> Bool {
    totalSends < DriverTimeouts.maximumSends * lastSent.partCount(for: setup)
  }

  /// Selects the next part of the command. Returns false if the current part is the last one.
  mutating func selectNextPart(for setup: ReceiverSetup) -> Bool {
    guard part + 1 < lastSent.partCount(for: setup) else { return false }
    part += 1
    sends = 0
    return true
  }

  /// Whether an answer matches the part in flight. Counts it as arrived if it is a late answer to an earlier command.
  mutating func consume(
    _ answer: Command.Answer, for setup: ReceiverSetup, at now: Instant
  ) -> Bool {
    guard answer == lastSent.answer(part: part, for: setup) else { return false }
    return !staleAnswers.consume(answer.kind, at: now)
  }

  /// Completes the part in flight, answered or not: answers that arrive until `until` are late.
  mutating func close(isAnswered: Bool, for setup: ReceiverSetup, until: Instant) {
    guard let answer = lastSent.answer(part: part, for: setup) else { return }
    staleAnswers.recordAnswered(answer.kind, sends: isAnswered ? sends : sends + 1, until: until)
  }
}
