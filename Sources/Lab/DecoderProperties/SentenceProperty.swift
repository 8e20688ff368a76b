import GNSSProtocols
import LocationTypes

/// Each line decodes to one message, and an encoded message decodes to the same message.
///
/// Input: one byte of options; then lines, each the part of a sentence between `$` and `*`.
enum SentenceProperty {
  /// Longest body of a sentence in bytes, without `$`, `*` and the checksum.
  private static let bodyLimit = 508

  static func check(_ input: [UInt8], _ trial: inout PropertyResult) {
    var reader = InputReader(input)
    let options = EpochOptions(fuzzed: reader.byte())
    let lines = reader.remainingBytes().split(separator: UInt8(ascii: "\n"))
    let stream = lines.flatMap { sentence($0.prefix(bodyLimit)) }
    let decoded = StreamProperty.decode(stream, nil)
    trial.require(decoded.counters.sentences == UInt32(lines.count), "a sentence was not decoded")
    trial.require(
      decoded.messages.count == lines.count, "not one message per sentence")
    trial.require(decoded.counters.skippedBytes == 0, "a byte of a sentence was skipped")
    for message in decoded.messages where message.isDecoded {
      trial.countDecoded()
      expectRoundTrip(message, &trial)
    }
    EpochProperty.check(decoded.messages, options, .milliseconds(20), &trial)
  }

  /// A sentence with this body; characters that NMEA does not allow there become commas.
  static func sentence(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let body = line.map { byte in
      let isPlain = byte >= 0x20 && byte <= 0x7E
      let isMark = byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*")
      return isPlain && !isMark ? byte : UInt8(ascii: ",")
    }
    let digits = Array("0123456789ABCDEF".utf8)
    let parity = body.reduce(0) { $0 ^ $1 }
    let checksum = [UInt8(ascii: "*"), digits[Int(parity >> 4)], digits[Int(parity & 15)]]
    return [UInt8(ascii: "$")] + body + checksum + [0x0D, 0x0A]
  }

  private static func expectRoundTrip(_ message: GNSSMessage, _ trial: inout PropertyResult) {
    var buffer = FrameBuffer()
    switch message {
    case .rmc(let m): buffer.append(m, format: .finest)
    case .gga(let m): buffer.append(m, format: .finest)
    case .gsa(let m): buffer.append(m)
    case .gsv(let m): buffer.append(m)
    case .gst(let m): buffer.append(m, format: .finest)
    case .vtg(let m): buffer.append(m, format: .finest)
    case .zda(let m): buffer.append(m, format: .finest)
    case .gll(let m): buffer.append(m, format: .finest)
    // No encoder exists for the others.
    case _: return
    }
    let again = StreamProperty.decode(buffer.bytes, nil)
    trial.require(
      again.messages == [message.normalised],
      "\(message) was encoded and decoded to \(again.messages)")
  }
}

extension GNSSMessage {
  /// The message as the encoder writes it: a course of 360° becomes 0°.
  fileprivate var normalised: GNSSMessage {
    switch self {
    case .rmc(var m) where m.course_e4 == 3_600_000:
      m.course_e4 = 0
      return .rmc(m)
    case .vtg(var m) where m.course_e4 == 3_600_000:
      m.course_e4 = 0
      return .vtg(m)
    case _: return self
    }
  }
}

extension FrameBuffer {
  /// A copy of the buffer's bytes.
  var bytes: [UInt8] { (0..<count).map { self[$0] } }
}

extension GNSSMessage {
  /// Whether the decoder supports the message and its fields are valid.
  var isDecoded: Bool {
    switch self {
    case .unknown, .malformed: false
    case _: true
    }
  }
}
