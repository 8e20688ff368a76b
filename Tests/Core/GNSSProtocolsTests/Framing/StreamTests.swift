import LocationTypes
import TestSupport
import Testing

@testable import GNSSProtocols

@Suite("Stream decoder") struct StreamTests {
  /// A stream of messages, separated by noise that cannot start a frame.
  private func stream(_ random: inout SplitMix64, count: Int) -> ([UInt8], [GNSSMessage]) {
    var all: [UInt8] = []
    var messages: [GNSSMessage] = []
    for _ in 0..<count {
      var buffer = FrameBuffer()
      messages.append(random.message(&buffer))
      all += bytes(buffer)
      if Int.random(in: 0..<3, using: &random) == 0 {
        let noise = (0..<Int.random(in: 1..<40, using: &random)).map { _ in random.bits(UInt8.self)
        }
        all += noise.filter {
          !BinaryFormat.canBegin(with: $0) && $0 != UInt8(ascii: "$") && $0 != UInt8(ascii: "!")
        }
      }
    }
    return (all, messages)
  }

  @Test("encoded messages decode to the same messages", arguments: 1...20 as ClosedRange<UInt64>)
  func roundTrip(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      var buffer = FrameBuffer()
      let message = random.message(&buffer)
      let decoded = decode(bytes(buffer))
      #expect(decoded.messages == [message])
      #expect(decoded.counters.skippedBytes == 0 && decoded.counters.malformed == 0)
    }
  }

  @Test(
    "any chunk size gives the same messages and counters", arguments: 1...12 as ClosedRange<UInt64>)
  func chunks(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var (all, messages) = stream(&random, count: 120)
    #expect(decode(all).messages == messages)
    // Then with corruption: a byte changed, dropped or duplicated.
    for _ in 0..<(Int(seed) * 10) {
      let i = Int.random(in: 0..<all.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: all[i] = random.bits(UInt8.self)
      case 1: all.remove(at: i)
      case 2: all.insert([0xB5, 0x62, 0x24, 0x2A][Int.random(in: 0..<4, using: &random)], at: i)
      default: all.insert(contentsOf: [0xB5, 0x62, 1, 7, 0xFF, 3], at: i)
      }
    }
    let whole = decode(all)
    for size in [1, 2, 3, 7, 64, 128, 511, 1_033] {
      let part = decode(all, chunk: size)
      #expect(part.messages == whole.messages)
      #expect(part.counters == whole.counters)
    }
  }

  @Test(
    "random bytes never trap, and all bytes are counted",
    arguments: 1...20 as ClosedRange<UInt64>)
  func anyBytes(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // Bytes that occur in frames are more likely.
    let likely: [UInt8] =
      Array("$!*,.-+0123456789ANSEWGPRMCV\r\n".utf8) + [0xB5, 0x62, 1, 7, 0, 92]
    let all = (0..<20_000).map { _ in
      Bool.random(using: &random) ? likely.randomElement(using: &random)! : random.bits(UInt8.self)
    }
    let whole = decode(all)
    let part = decode(all, chunk: Int.random(in: 1..<300, using: &random))
    #expect(part.messages == whole.messages && part.counters == whole.counters)
    #expect(whole.counters.skippedBytes <= UInt64(all.count))
    var assembler = EpochAssembler()
    for message in whole.messages { _ = assembler.add(message, at: .boot) }
  }

  @Test(
    "sentences with any field contents and a valid checksum never trap",
    arguments: 1...20 as ClosedRange<UInt64>)
  func anyFields(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let kinds = [
      "GNRMC", "GNGGA", "GNGSA", "GNGSV", "GNGST", "GNVTG", "GNZDA", "GNGLL", "GNGNS", "GNGBS",
      "PUBX,00", "PGRME", "PGRMZ", "PMTK001", "PAIR001",
    ]
    let pieces = [
      "", "0", "9", "-1", "+", "-", ".", "5.", ".5", "99999999999999999999", "A", "V", "N", "S",
      "E",
      "W", "235959.999999", "240000", "9000.0000", "18000.0", "0.0000000000000000001", "x", "1e9",
      "311299", "000000", "9223372036854775807", "123456789.123456789", "-0.0", "65536", "255",
      "256",
      "2147483.648", "-2147483.648",
    ]
    var assembler = EpochAssembler()
    var count = 0
    for _ in 0..<2_000 {
      var text = kinds.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 0..<24, using: &random) {
        text += "," + pieces.randomElement(using: &random)!
      }
      let decoded = decode(sentence(text))
      count += decoded.messages.count
      for message in decoded.messages { _ = assembler.add(message, at: .boot) }
    }
    _ = assembler.close()
    #expect(count == 2_000)
  }

  @Test("a false start hides no frame after it")
  func falseStarts() {
    var buffer = FrameBuffer()
    buffer.appendAcknowledgement(of: .cfgVALSET)
    let frame = bytes(buffer)
    let line = sentence("GPVTG,,T,,M,0.0,N,0.0,K,A")
    let starts: [[UInt8]] = [
      [0xB5], [0xB5, 0x62], [0xB5, 0x62, 1], [0xB5, 0x62, 1, 7, 10, 0], [0xB5, 0x62, 1, 7, 0, 4],
      [0xB5, 0x62, 1, 7, 1, 4], [0xB5, 0x62, 1, 7, 0xFF, 0xFF], Array("$GPGGA,12".utf8),
      Array("$".utf8),
      Array("!AIVDM,1".utf8), Array("$GPGGA,1*4".utf8), Array("$GPGGA,1*".utf8), Array("$*".utf8),
      Array("$GPGGA*00".utf8), frame.dropLast(1), line.dropLast(4),
      [UInt8](repeating: 0x24, count: 600),
      Array("$".utf8) + [UInt8](repeating: 0x41, count: 600), [UInt8](repeating: 0xB5, count: 50),
    ].map { Array($0) }
    for start in starts {
      for good in [frame + line, line + frame] {
        let decoded = decode(start + good)
        #expect(decoded.messages.count == 2, "after \(start)")
        #expect(decode(start + good, chunk: 1).messages == decoded.messages)
      }
    }
  }

  @Test("bytes held back by an incomplete frame are released once at the end")
  func finish() {
    let line = sentence("GPVTG,,T,,M,0.0,N,0.0,K,A")
    let held = [0xB5, 0x62, 1, 7, 0, 4] + line + line
    #expect(decode(held, finish: false).messages.isEmpty)
    #expect(decode(held).messages.count == 2)
    #expect(decode(held).counters.skippedBytes == 6)
    var decoder = GNSSDecoder()
    var offset = 0
    #expect(decoder.next(held.span, &offset) == nil && offset == held.count)
    #expect(decoder.finish() != nil && decoder.finish() != nil && decoder.finish() == nil)
    offset = 0
    #expect(decoder.next(line.span, &offset) != nil)
  }

  @Test("sentences need a valid checksum in either case, and no line end")
  func checksums() {
    func one(_ text: String) -> DecoderCounters { decode(Array(text.utf8)).counters }
    #expect(one("$GPGLL,,,,,,V,N*64\r\n").sentences == 1)
    #expect(one("$GPGLL,,,,,,V,N*64").sentences == 1)
    #expect(one("$$GPGLL,,,,,,V,N*64\n").sentences == 1)
    #expect(one("$GPGLL,,,,,,V,N*65\r\n").checksumErrors == 1)
    #expect(one("$GPGLL,,,,,,V,N\r\n").truncated == 1)
    #expect(one("$GPGLL,,,,,,V,N*6G\r\n").truncated == 1)
    #expect(one("$GNGLL,,,,,,V,N*7A\r\n").sentences == 1)
    #expect(one("$GNGLL,,,,,,V,N*7a").sentences == 1)
    #expect(one("# a comment, $5 or so\r\nno sentence\r\n").sentences == 0)
    #expect(one("# Date: 2020-01-01\n$GPGLL,,,,,,V,N*64").sentences == 1)
  }

  @Test("sentences up to 512 characters are decoded, longer ones are rejected")
  func lengths() {
    func line(_ length: Int) -> [UInt8] {
      Array(sentence("GPTXT," + String(repeating: "x", count: length - 10)).dropLast(2))
    }
    #expect(line(512).count == 512)
    #expect(decode(line(512)).counters.unknown == 1)
    #expect(decode(line(513)).counters.unknown == 0)
    #expect(decode(line(513)).counters.overlong == 1)
    for size in 500...513 {
      #expect(decode(line(size), chunk: 1).counters == decode(line(size)).counters)
    }
  }

  @Test("payloads up to 4,096 bytes are decoded, longer ones are rejected")
  func payloads() {
    for (length, frames) in [(0, 1), (1_025, 1), (4_095, 1), (4_096, 1), (4_097, 0)] {
      let frame = ubx(0x13, 0x40, [UInt8](repeating: 0x55, count: length))
      #expect(decode(frame).counters.frames == UInt32(frames))
      #expect(decode(frame, chunk: 100).counters == decode(frame).counters)
    }
  }

  @Test("the Fletcher checksum is correct for any length")
  func checksum() {
    var random = SplitMix64(seed: 5)
    for length in 0..<80 {
      let all = (0..<length).map { _ in random.bits(UInt8.self) }
      let sum = UBXChecksum(of: all.span)
      let expected = fletcher(all)
      #expect(sum.a == expected.0 && sum.b == expected.1)
    }
    let most = [UInt8](repeating: 0xFF, count: 4_100)
    #expect(UBXChecksum(of: most.span).b == fletcher(most).1)
  }
}

/// A sentence with checksum and line end, computed independently of the encoder.
func sentence(_ text: String) -> [UInt8] {
  let parity = text.utf8.reduce(0) { $0 ^ $1 }
  let digits = String(parity, radix: 16, uppercase: true)
  return Array("$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
}

/// A frame with checksum, computed independently of the encoder.
func ubx(_ messageClass: UInt8, _ messageID: UInt8, _ payload: [UInt8]) -> [UInt8] {
  let inner =
    [messageClass, messageID, UInt8(payload.count & 255), UInt8(payload.count >> 8)] + payload
  let sum = fletcher(inner)
  return [0xB5, 0x62] + inner + [sum.0, sum.1]
}

func fletcher(_ bytes: [UInt8]) -> (UInt8, UInt8) {
  bytes.reduce((0, 0)) { ($0.0 &+ $1, $0.1 &+ ($0.0 &+ $1)) }
}
