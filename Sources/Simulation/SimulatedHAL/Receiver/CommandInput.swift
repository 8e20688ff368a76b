import GNSSProtocols
import LocationTypes

/// Bytes from the host in transit to the receiver.
struct IncomingBytes: Sendable {
  /// Arrival time of the last byte.
  var due: Instant
  var bytes: [UInt8]
  var speed: UInt32
}

/// A received command that the receiver executes after its latency.
struct PendingCommand: Sendable {
  /// The command, by protocol.
  enum Command: Sendable {
    /// With the bytes of the whole frame for an entry of the navigation database, otherwise empty.
    case ubx(UBXCommand, frame: [UInt8])
    /// Fields of a sentence.
    case sentence([String])
  }

  /// Time of its execution.
  var due: Instant
  var command: Command
}

/// Input of the simulated receiver: bytes in transit, the decoders, and decoded commands until their execution.
///
/// Sentences are parsed independently of the product's decoder, so that the drivers' output is checked by separate
/// code.
///
/// Owner: ``SimulatedReceiver``. It decides whether bytes that have arrived are received, and executes the commands. A
/// receiver that stops loses decoders and commands, but not the bytes in transit; those are lost with the power only.
struct CommandInput: Sendable {
  private var decoder = UBXCommandDecoder()
  /// Beginning of an incomplete sentence.
  private var partialSentence: [UInt8] = []
  private var inTransit: [IncomingBytes] = []
  private var commands: [PendingCommand] = []

  /// Time at which the next bytes have arrived; `.distantFuture` for none.
  var nextArrival: Instant { inTransit.first?.due ?? .distantFuture }

  /// Time at which the next command is executed; `.distantFuture` for none.
  var nextExecution: Instant { commands.first?.due ?? .distantFuture }

  /// Adds bytes of the host, the last of which arrives at `due`.
  mutating func append(_ bytes: Span<UInt8>, due: Instant, speed: UInt32) {
    let copy = bytes.indices.map { bytes[$0] }
    inTransit.append(IncomingBytes(due: due, bytes: copy, speed: speed))
  }

  /// Removes and returns the bytes that arrive first.
  mutating func removeArrival() -> IncomingBytes { inTransit.removeFirst() }

  /// Removes and returns the command that is executed first.
  mutating func removeCommand() -> PendingCommand { commands.removeFirst() }

  /// Decodes UBX frames to commands that are executed at `time`.
  mutating func decodeUBX(_ bytes: [UInt8], executedAt time: Instant) {
    var offset = 0
    while let command = decoder.next(bytes.span, &offset) {
      var frame: [UInt8] = []
      if case .aidingEntry(let entry) = command {
        let copy = decoder.frame(of: entry)
        let span = copy.span
        frame = span.indices.map { span[$0] }
      }
      commands.append(PendingCommand(due: time, command: .ubx(command, frame: frame)))
    }
  }

  /// Decodes sentences to commands that are executed at `time`.
  mutating func decodeSentences(_ bytes: [UInt8], executedAt time: Instant) {
    for byte in bytes {
      if byte == UInt8(ascii: "$") { partialSentence.removeAll() }
      partialSentence.append(byte)
      guard byte == 0x0A else { continue }
      if let fields = CommandInput.fields(of: partialSentence) {
        commands.append(PendingCommand(due: time, command: .sentence(fields)))
      }
      partialSentence.removeAll()
    }
  }

  /// Returns the fields of a sentence; nil if its checksum is wrong.
  private static func fields(of bytes: [UInt8]) -> [String]? {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.hasPrefix("$"), text.hasSuffix("\r\n"), let star = text.lastIndex(of: "*") else {
      return nil
    }
    let body = text[text.index(after: text.startIndex)..<star]
    let sum = UInt8(text[text.index(after: star)...].dropLast(), radix: 16)
    guard sum == body.utf8.reduce(0, ^) else { return nil }
    return body.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  // MARK: Discarding

  /// Discards commands and incomplete frames, because the receiver stops or restarts.
  mutating func discardCommands() {
    decoder = UBXCommandDecoder()
    partialSentence.removeAll()
    commands.removeAll()
  }

  /// Discards the bytes in transit, because the receiver has lost its power.
  mutating func discardTransit() { inTransit.removeAll() }

  // MARK: Standby requests

  /// Whether a standby request is in transit or waits for its execution.
  func containsStandbyRequest(to family: ReceiverFamily) -> Bool {
    let sentences = family.simulatedSentences
    return commands.contains {
      switch $0.command {
      case .ubx(.powerRequest, _): true
      case .ubx: false
      case .sentence(let fields): fields.first == sentences?.standbyRequest
      }
    } || inTransit.contains { CommandInput.containsStandbyRequest($0.bytes, sentences) }
  }

  private static func containsStandbyRequest(
    _ bytes: [UInt8], _ sentences: SimulatedSentences?
  ) -> Bool {
    if let sentences {
      return String(decoding: bytes, as: UTF8.self).hasPrefix("$" + sentences.standbyRequest)
    }
    return bytes.indices.contains { bytes[$0...].starts(with: [0xB5, 0x62, 0x02, 0x41]) }
  }
}
