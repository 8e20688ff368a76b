import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

/// Frames of the skipped formats, computed independently of the decoder.
enum Foreign {
  static func allystar(_ payload: [UInt8]) -> [UInt8] {
    [0xF1, 0xD9] + ubx(0x01, 0x02, payload).dropFirst(2)
  }

  /// Length, class and identifier, payload; checksum: the sum of all 32-bit words.
  static func casic(_ payload: [UInt8]) -> [UInt8] {
    let inner = [UInt8(payload.count & 255), UInt8(payload.count >> 8), 0x01, 0x03] + payload
    var sum: UInt32 = 0
    for i in stride(from: 0, to: inner.count, by: 4) {
      sum &+= (0..<4).reduce(0) { $0 | UInt32(inner[i + $1]) << UInt32(8 * $1) }
    }
    return [0xBA, 0xCE] + inner + (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
  }

  static func sirf(_ payload: [UInt8]) -> [UInt8] {
    let sum = payload.reduce(0) { ($0 + Int($1)) & 0x7FFF }
    return [0xA0, 0xA2, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
      + [UInt8(sum >> 8), UInt8(sum & 255), 0xB0, 0xB3]
  }

  static func skyTraq(_ payload: [UInt8]) -> [UInt8] {
    [0xA0, 0xA1, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
      + [payload.reduce(0, ^), 0x0D, 0x0A]
  }

  /// The CRC remainder by bitwise long division over all bits.
  static func rtcm3(_ payload: [UInt8]) -> [UInt8] {
    let inner = [0xD3, UInt8(payload.count >> 8), UInt8(payload.count & 255)] + payload
    var remainder: UInt32 = 0
    for byte in inner + [0, 0, 0] {
      for bit in (0..<8).reversed() {
        remainder = remainder << 1 | UInt32(byte >> bit & 1)
        if remainder & 0x100_0000 != 0 { remainder ^= 0x186_4CFB }
      }
    }
    return inner + [UInt8(remainder >> 16), UInt8(remainder >> 8 & 255), UInt8(remainder & 255)]
  }

  static let all: [@Sendable ([UInt8]) -> [UInt8]] = [allystar, casic, sirf, skyTraq, rtcm3]
}

@Suite("Binary frames of other formats") struct BinaryFrameTests {
  static let line = sentence("GPVTG,,T,,M,0.0,N,0.0,K,A")
  /// A payload that contains a sentence; its length is a multiple of four bytes.
  static let payload: [UInt8] = {
    let inner = [1, 2, 3] + line + Array("$GP".utf8)
    return inner + [UInt8](repeating: 7, count: (4 - inner.count % 4) % 4)
  }()

  @Test("a sentence inside a frame is not decoded", arguments: Foreign.all.indices)
  func skipped(index: Int) {
    let frame = Foreign.all[index](Self.payload)
    for size in [0, 1, 3, 7, 64] {
      let decoded = decode(Self.line + frame + Self.line, chunk: size)
      #expect(decoded.counters.sentences == 2 && decoded.counters.otherFrames == 1)
      #expect(decoded.counters.skippedBytes == 0 && decoded.counters.checksumErrors == 0)
      #expect(decoded.messages.count == 2)
    }
  }

  @Test("a frame with an invalid checksum hides no sentence", arguments: Foreign.all.indices)
  func wrong(index: Int) {
    let frame = Foreign.all[index](Self.payload)
    // Any corrupted byte from the payload on: the sentences inside and after the frame are decoded.
    for i in [6 + 3 + Self.line.count, frame.count - 1, frame.count - 2, frame.count - 3] {
      var broken = frame
      broken[i] ^= 0x40
      let decoded = decode(broken + Self.line)
      #expect(decoded.counters.otherFrames == 0 && decoded.counters.checksumErrors >= 1)
      #expect(decoded.counters.sentences == 2, "format \(index), byte \(i)")
    }
  }

  @Test("published frames: RTCM 3 message 1005, SiRF's and SkyTraq's examples")
  func published() {
    // RTCM 10403.1, 4.2: example of message type 1005.
    let rtcm: [UInt8] = [
      0xD3, 0x00, 0x13, 0x3E, 0xD7, 0xD3, 0x02, 0x02, 0x98, 0x0E, 0xDE, 0xEF, 0x34, 0xB4, 0xBD,
      0x62, 0xAC, 0x09, 0x41, 0x98, 0x6F, 0x33, 0x36, 0x0B, 0x98,
    ]
    // SiRF binary protocol reference: poll of the software version, message 132.
    let sirf: [UInt8] = [0xA0, 0xA2, 0x00, 0x02, 0x84, 0x00, 0x00, 0x84, 0xB0, 0xB3]
    // SkyTraq AN0003: factory reset, message 4.
    let skyTraq: [UInt8] = [0xA0, 0xA1, 0x00, 0x02, 0x04, 0x01, 0x05, 0x0D, 0x0A]
    for frame in [rtcm, sirf, skyTraq] {
      #expect(decode(frame).counters.otherFrames == 1)
      #expect(decode(frame).counters.skippedBytes == 0)
    }
  }

  @Test("invalid lengths are false starts")
  func lengths() {
    for start: [UInt8] in [
      [0xBA, 0xCE, 6, 0, 1, 1], [0xBA, 0xCE, 4, 0x10, 1, 1], [0xA0, 0xA2, 0, 0],
      [0xA0, 0xA2, 4, 0], [0xA0, 0xA1, 0, 0], [0xA0, 0xA1, 0x10, 1], [0xF1, 0xD9, 1, 1, 1, 0x10],
    ] {
      let decoded = decode(start + Self.line, finish: false)
      #expect(decoded.messages.count == 1 && decoded.counters.overlong == 1, "\(start)")
    }
    // Reserved bits in RTCM 3, and invalid start bytes.
    for start: [UInt8] in [
      [0xD3, 4, 0], [0xA0, 0xA0], [0xBA, 0xBA], [0xF1, 0xF1], [0xD3, 0xD3],
    ] {
      #expect(decode(start + Self.line, finish: false).messages.count == 1, "\(start)")
    }
    // The longest lengths that are accepted.
    let most = [UInt8](repeating: 0x55, count: 4_096)
    for frame in [Foreign.casic(most), Foreign.skyTraq(most), Foreign.allystar(most)] {
      #expect(decode(frame, chunk: 100).counters.otherFrames == 1)
    }
    #expect(decode(Foreign.rtcm3(Array(most.prefix(1_023)))).counters.otherFrames == 1)
    #expect(decode(Foreign.rtcm3([])).counters.otherFrames == 1)
    #expect(decode(Foreign.sirf(Array(most.prefix(1_023)))).counters.otherFrames == 1)
    // The shortest frames, and a checksum truncated to 15 bits.
    for frame in [Foreign.sirf([7]), Foreign.skyTraq([7])] {
      #expect(decode(frame).counters.otherFrames == 1)
    }
    let full = [UInt8](repeating: 0xFF, count: 200)
    #expect(decode(Foreign.sirf(full)).counters.otherFrames == 1)
  }

  @Test(
    "frames, sentences, noise and corruption: any chunk size gives the same result",
    arguments: 1...12 as ClosedRange<UInt64>)
  func chunks(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var all: [UInt8] = []
    var frames: UInt32 = 0
    var sentences: UInt32 = 0
    for _ in 0..<60 {
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        all += Self.line
        sentences += 1
      case 1:
        let count = 4 * Int.random(in: 1..<60, using: &random)
        let payload = (0..<count).map { _ in random.bits(UInt8.self) }
        all += Foreign.all.randomElement(using: &random)!(payload)
        frames += 1
      default: all += Array("noise".utf8)
      }
    }
    #expect(decode(all).counters.otherFrames == frames)
    #expect(decode(all).counters.sentences == sentences)
    for _ in 0..<(Int(seed) * 6) {
      let i = Int.random(in: 0..<all.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: all[i] = random.bits(UInt8.self)
      case 1: all.remove(at: i)
      case 2: all.insert([0xD3, 0xA0, 0xBA, 0xF1][Int.random(in: 0..<4, using: &random)], at: i)
      default: all.insert(contentsOf: [0xD3, 0, 0xFF], at: i)
      }
    }
    let whole = decode(all)
    for size in [1, 2, 7, 64, 128, 1_033] {
      let part = decode(all, chunk: size)
      #expect(part.messages == whole.messages && part.counters == whole.counters)
    }
  }

  @Test("a false start hides no frame after it")
  func falseStarts() {
    for good in Foreign.all.map({ $0(Self.payload) }) {
      for start: [UInt8] in [
        [0xD3], [0xD3, 0], [0xD3, 0, 200], [0xD3, 3, 0xFF], [0xA0], [0xA0, 0xA1, 0, 90],
        [0xA0, 0xA2, 3, 0xFF], [0xBA], [0xBA, 0xCE, 0, 4, 0, 0], [0xF1, 0xD9, 1, 1, 0, 4],
        [0xB5, 0x62, 1, 7, 0, 8], Array("$GPGGA,".utf8), good.dropLast(1),
      ].map({ Array($0) }) {
        let decoded = decode(start + good + Self.line + good)
        #expect(decoded.counters.otherFrames == 2, "after \(start)")
        #expect(decoded.counters.sentences >= 1)
      }
    }
  }
}

@Suite("Sentences without checksum") struct MissingChecksumTests {
  private func counters(_ text: String, isAllowed: Bool = true) -> DecoderCounters {
    var options = DecoderOptions()
    options.allowsMissingChecksum = isAllowed
    var decoder = GNSSDecoder(options)
    var offset = 0
    let bytes = Array(text.utf8)
    while decoder.next(bytes.span, &offset) != nil {}
    while decoder.finish() != nil {}
    return decoder.counters
  }

  @Test("they are accepted if the options allow it and a line end follows")
  func allowed() {
    let text = "$GPGLL,4527.458,S,16709.165,E,225309,A\r\n"
    #expect(counters(text).withoutChecksum == 1 && counters(text).sentences == 0)
    #expect(counters(text).skippedBytes == 0)
    #expect(counters(text, isAllowed: false).withoutChecksum == 0)
    #expect(counters(text, isAllowed: false).truncated == 1)
    #expect(counters("$GPGLL,4527.458,S,16709.165,E,225309,A\n$").withoutChecksum == 1)
    // Without a line end the sentence may continue.
    #expect(counters("$GPGLL,4527.458,S,16709.165,E,225309,A").withoutChecksum == 0)
    #expect(counters("$GPGLL,4527.458,S,167$GPGLL,,,,,,V,N*64\r\n").withoutChecksum == 0)
    #expect(counters("$\r\n$\n").withoutChecksum == 0)
    #expect(counters("$G\r\n").withoutChecksum == 1 && counters("$G\r\n").unknown == 1)
  }

  @Test("an invalid checksum is still rejected, and a valid one does not count as missing")
  func wrong() {
    #expect(counters("$GPGLL,,,,,,V,N*65\r\n").withoutChecksum == 0)
    #expect(counters("$GPGLL,,,,,,V,N*65\r\n").checksumErrors == 1)
    #expect(counters("$GPGLL,,,,,,V,N*6\r\n").withoutChecksum == 0)
    #expect(counters("$GPGLL,,,,,,V,N*\r\n").withoutChecksum == 0)
    #expect(counters("$GPGLL,,,,,,V,N*64\r\n").sentences == 1)
    #expect(counters("$GPGLL,,,,,,V,N*64\r\n").withoutChecksum == 0)
  }

  @Test("all fields are decoded, in chunks of any size")
  func fields() {
    let body = "GPRMC,225308,A,4527.458,S,16709.165,E,000.0,094.5,060601,024.1,E"
    var options = DecoderOptions()
    options.allowsMissingChecksum = true
    let text = Array("$\(body)\r\n$GPGLL,4527.458,S,16709.165,E,225309,A\r\n".utf8)
    for size in 1...text.count {
      var decoder = GNSSDecoder(options)
      var messages: [GNSSMessage] = []
      for begin in stride(from: 0, to: text.count, by: size) {
        let chunk = Array(text[begin..<min(begin + size, text.count)])
        var offset = 0
        while let message = decoder.next(chunk.span, &offset) { messages.append(message) }
      }
      #expect(messages.first == decode(sentence(body)).messages.first)
      #expect(messages.count == 2 && decoder.counters.withoutChecksum == 2)
    }
  }
}
