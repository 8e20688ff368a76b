import GNSSProtocols
import LocationTypes

/// Every line becomes one message, and a message written again is read as the same.
///
/// Input: options; then lines, each what stands between `$` and `*`.
enum SentenceProperty {
  /// What a sentence holds beside `$`, `*` and the checksum.
  private static let bodyLimit = 508

  static func check(_ input: [UInt8], _ trial: inout Trial) {
    var reader = InputReader(input)
    let options = EpochOptions(fuzzed: reader.byte())
    let lines = reader.rest().split(separator: UInt8(ascii: "\n"))
    let stream = lines.flatMap { sentence($0.prefix(bodyLimit)) }
    let decoded = StreamProperty.decode(stream, nil)
    trial.require(decoded.counters.sentences == UInt32(lines.count), "a sentence was not taken")
    trial.require(decoded.messages.count == lines.count, "not one message for each sentence")
    trial.require(decoded.counters.skippedBytes == 0, "a byte of a sentence was skipped")
    for message in decoded.messages where message.isRead {
      trial.reach()
      writeAgain(message, &trial)
    }
    EpochProperty.check(decoded.messages, options, .milliseconds(20), &trial)
  }

  /// A sentence of these characters; what cannot stand in one becomes a comma.
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

  private static func writeAgain(_ message: GNSSMessage, _ trial: inout Trial) {
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
    // What there is no encoder for.
    case _: return
    }
    let again = StreamProperty.decode(buffer.bytes, nil)
    trial.require(
      again.messages == [message.wherePossible],
      "written again: \(message) became \(again.messages)")
  }
}

extension GNSSMessage {
  /// As the encoder can write it: a course of 360° is written as 0°.
  fileprivate var wherePossible: GNSSMessage {
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
  /// A copy of what it holds.
  var bytes: [UInt8] { (0..<count).map { self[$0] } }
}

extension GNSSMessage {
  /// Whether its content was understood.
  var isRead: Bool {
    switch self {
    case .unread, .other: false
    case _: true
    }
  }
}
