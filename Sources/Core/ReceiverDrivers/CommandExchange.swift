import LocationTypes

/// The command in flight: what was sent, how often, and which answers are expected.
///
/// Problem. A receiver answers each part of a command, late or not at all, and an answer names only the type of its
/// message. The exchange counts transmissions, so that the driver can repeat a part or give it up, and keeps late answers
/// to earlier commands apart from the answer to this one.
///
/// ```
///              send                  answer, further part: sendNextPart
///   no command ────▶ part in flight ──┐ no answer: send again, while canRepeat
///       ▲                │    ▲       │
///       │                │    └───────┘
///       └────────────────┘ close: answered, or abandon: given up; further answers are late (`StaleAnswers`)
/// ```
///
/// Invariants. At most one part is in flight. `sends` counts the transmissions of this part, `totalSends` those of all
/// parts of the command; both start at 0 in each state of the driver.
///
/// Ownership. Only ``ReceiverLink`` and the drivers call the methods; only the methods write the properties. Depends on
/// `LocationTypes`.
struct CommandExchange<Command: ReceiverCommand>: Sendable {
  /// Command to write in this step; `none` if nothing is to be written.
  private(set) var command = Command.none
  private(set) var lastSent = Command.none
  /// Index of the part in flight.
  private(set) var part: UInt8 = 0
  /// Number of transmissions of that part.
  private(set) var sends: UInt8 = 0
  private var totalSends: UInt8 = 0
  private(set) var sentAt = Instant.boot
  /// Whether the receiver has acknowledged the last command, a standby. u-blox receivers never do.
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
