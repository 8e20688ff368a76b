import TestSupport
import Testing

@testable import GNSSProtocols

@Suite("Sentence scan") struct SentenceScanTests {
  /// The expected scan result, found byte by byte: end of sentence, parity and commas.
  private func expected(_ body: [UInt8]) -> (end: Int, parity: UInt8, offsets: [Int]) {
    var parity: UInt8 = 0
    var offsets: [Int] = []
    for (offset, byte) in body.enumerated() {
      if byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*") {
        return (offset, parity, Array((offsets + [offset]).prefix(25)))
      }
      parity ^= byte
      if byte == UInt8(ascii: ",") { offsets.append(offset) }
    }
    return (body.count, parity, [])
  }

  /// Scans `body` behind `before` other bytes; one call for each of `lengths`, up to that length.
  private func found(_ body: [UInt8], behind before: Int, _ lengths: [Int]) -> (
    end: Int, parity: UInt8, offsets: [Int]
  ) {
    // Bytes after the limit must not matter: they end no sentence and are full of commas.
    let filler = [UInt8](repeating: UInt8(ascii: ","), count: 16)
    var scan = SentenceScan()
    var end = 0
    for length in lengths {
      let bytes = [UInt8](repeating: 0x41, count: before) + body.prefix(length) + filler
      end = scan.run(bytes.span, before, upTo: before + length) - before
      if end < length { break }
    }
    if end == body.count { return (end, 0, []) }
    let parity = scan.parity
    let offsets = scan.fieldOffsets()
    return (end, parity, offsets.indices.map { Int(offsets[$0]) })
  }

  @Test(
    "the scan finds end, parity and commas like a bytewise scan, for any split",
    arguments: 1...8 as ClosedRange<UInt64>)
  func bytesOneByOne(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // Bytes on both sides of each special byte: the comma, the tilde, control characters.
    let likely: [UInt8] =
      seed.isMultiple(of: 2) ? Array("0123456789.-,,,,A~}".utf8) : Array(",+- !0/~".utf8)
    let ends: [UInt8] = [0x00, 0x0A, 0x1F, 0x24, 0x2A, 0x7F, 0x80, 0xAC, 0xFF]
    for _ in 0..<400 {
      var body = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
        likely.randomElement(using: &random)!
      }
      body.append(ends.randomElement(using: &random)!)
      body.append(contentsOf: [0x2C, 0x2C, 0x2A])
      let cuts = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
        Int.random(in: 0...body.count, using: &random)
      }
      let found = found(
        body, behind: Int.random(in: 0..<9, using: &random), cuts.sorted() + [body.count])
      #expect(found == expected(body))
    }
  }

  @Test("without an end the scan stops at the limit and continues from there bytewise")
  func continuesAtLimit() {
    let body = [UInt8]("GNRMC,120300.00,A,4807.10000,N,01131.20000,E,12.345,084.40*".utf8)
    #expect(found(body, behind: 1, Array(0...body.count)) == expected(body))
    #expect(found(Array(body.dropLast()), behind: 1, [body.count - 1]).end == body.count - 1)
  }

  @Test("the checksum of UBX is the sum of all bytes, and of all sums, for any length")
  func ubxChecksum() {
    var random = SplitMix64(seed: 4)
    for length in 0..<400 {
      // Includes inputs with many maximum values.
      let least = UInt8(truncatingIfNeeded: length)
      let bytes = (0..<length).map { _ in UInt8.random(in: least ... .max, using: &random) }
      var expected: (a: UInt8, b: UInt8) = (0, 0)
      for byte in bytes {
        expected.a &+= byte
        expected.b &+= expected.a
      }
      let checksum = UBXChecksum(of: bytes.span)
      #expect(checksum.a == expected.a && checksum.b == expected.b, "\(length) bytes")
    }
  }
}
