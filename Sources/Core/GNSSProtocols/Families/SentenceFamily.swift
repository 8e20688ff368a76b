import LocationTypes

/// Command to a receiver with proprietary NMEA sentences; ``SentenceFamily`` encodes it.
@frozen public enum SentenceCommand: Equatable, Sendable {
  /// No command.
  case none
  /// Query that the receiver answers in any state.
  case probe
  /// Bytes or a sentence that wakes the receiver.
  case wakeUp
  /// Set the baud rate.
  case lineSpeed(UInt32)
  /// Restart the receiver so that it applies a new baud rate.
  case restart
  /// Enable RMC, GGA and GSA only, and set the rate; with ``ReceiverCapabilities/configurationInFlash``, read whether
  /// they are so.
  case configuration
  /// Write the configuration to the receiver's flash: a part for each of those of `configuration`, and one to save them.
  case storage
  /// Send GSV with each nth fix, or never for 0; with ``SatelliteOutput/requested``, send it once.
  case satellites(every: UInt8)
  /// Enter standby until woken.
  case standby
}

/// A family with proprietary sentences: how each command is written and how its answer is recognised.
///
/// ``ReceiverFamily`` calls the conforming types by a switch: the core has no existentials, and stored functions would
/// need a heap.
protocol SentenceFamily {
  /// The family's row of the table.
  static var descriptor: FamilyDescriptor { get }
  /// Number of the answer to part `part` of a command; nil if the receiver sends none that can be distinguished.
  static func answer(to command: SentenceCommand, part: UInt8) -> UInt16?
  /// Appends part `part` of a command, at most 128 bytes. Traps if the buffer has too little free space.
  static func append(
    _ command: SentenceCommand, part: UInt8, interval_ms: UInt16, to buffer: inout FrameBuffer)
  /// Decodes an answer or a notice; nil for every other sentence, `.malformed` for invalid content.
  static func decode(_ fields: inout NMEAFields) -> GNSSMessage?
  /// ``CommandResult/value`` in the answer to part `part` of ``SentenceCommand/configuration``; nil if it has none.
  static func expectedValue(part: UInt8, interval_ms: UInt16) -> UInt32?
}

extension SentenceFamily {
  static func expectedValue(part: UInt8, interval_ms: UInt16) -> UInt32? { nil }
}

// MARK: Encoding

extension FrameBuffer {
  /// Appends a command with a number of `digits` digits, and its values up to the first that is nil.
  mutating func appendCommand(
    _ kind: StaticString, _ number: UInt16, digits: Int, _ first: Int64? = nil,
    _ second: Int64? = nil, _ third: Int64? = nil
  ) {
    let start = beginCommand(kind, number, digits: digits)
    if let first { appendField(first) }
    if let second { appendField(second) }
    if let third { appendField(third) }
    endSentence(start)
  }

  mutating func beginCommand(_ kind: StaticString, _ number: UInt16, digits: Int) -> Int {
    let start = beginSentence(kind)
    appendDecimal(Int64(number), decimals: 0, integers: digits)
    return start
  }

  /// Appends bytes of which the first wakes the receiver. The receiver loses the first ones and ignores the others.
  public mutating func appendWakeBytes() {
    for _ in 0..<8 { append(0xFF) }
  }
}

// MARK: Answers

/// Result of a command that was sent as a proprietary sentence.
public struct CommandResult: Equatable, Sendable {
  /// Result of the command.
  @frozen public enum Outcome: UInt8, Sendable {
    /// Done.
    case done = 0
    /// The result follows later.
    case pending = 1
    /// Execution failed.
    case failed = 2
    /// Unsupported by this receiver.
    case unsupported = 3
    /// Invalid parameters.
    case invalid = 4
    /// The receiver is busy; the command may be repeated.
    case busy = 5
  }

  /// Family of the receiver.
  public var family: ReceiverFamily
  /// Number of the answer in the family: 314 for `$PMTK314`.
  public var command: UInt16
  /// Result of the command.
  public var outcome: Outcome
  /// Value of a parameter that the receiver reports; nil for every other answer.
  public var value: UInt32?

  /// Creates a result.
  public init(family: ReceiverFamily, command: UInt16, outcome: Outcome, value: UInt32? = nil) {
    self.family = family
    self.command = command
    self.outcome = outcome
    self.value = value
  }
}

/// Status that a receiver with proprietary sentences sends without a request.
@frozen public enum ReceiverNotice: UInt8, Sendable {
  /// The receiver has started.
  case started = 0
  /// The receiver operates, for example after standby.
  case awake = 1
}

extension NMEAFields {
  /// Whether the address is `text`, with or without fields after it.
  func hasAddress(_ text: StaticString) -> Bool {
    addressEnd == text.utf8CodeUnitCount && hasAddressPrefix(text)
  }

  /// Whether the address begins with `text`.
  func hasAddressPrefix(_ text: StaticString) -> Bool {
    guard addressEnd >= text.utf8CodeUnitCount else { return false }
    return text.withUTF8Buffer { expected in
      for i in expected.indices where unsafe bytes[start + i] != expected[i] { return false }
      return true
    }
  }
}
