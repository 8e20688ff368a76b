import CCore
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
    let filler = [UInt8](repeating: UInt8(ascii: ","), count: SentenceScan.margin)
    var scan = SentenceScan()
    var end = 0
    for length in lengths {
      let bytes = [UInt8](repeating: 0x41, count: before) + body.prefix(length) + filler
      end = scan.run(bytes.span, before, upTo: before + length) - before
      if end < length { break }
    }
    if end == body.count { return (end, 0, []) }
    scan.close()
    let offsets = scan.fieldOffsets
    return (end, scan.parity, offsets.indices.map { Int(offsets[$0]) })
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

  @Test("the vector and word versions find the same bytes in any sixteen bytes")
  func vectorsAndWords() {
    var random = SplitMix64(seed: 3)
    for byte in UInt8.min...UInt8.max {
      for _ in 0..<32 {
        var bytes = SIMD16<UInt8>.random(in: 0x28...0x30, using: &random)
        bytes[Int.random(in: 0..<16, using: &random)] = byte
        bytes[Int.random(in: 0..<16, using: &random)] = .random(in: .min ... .max, using: &random)
        #expect(bytes16_commas(bytes) == bits(bytes) { $0 == 0x2C }, "\(bytes)")
        #expect(bytes16_commas_by_words(bytes) == bytes16_commas(bytes), "\(bytes)")
        let ends = bits(bytes) { $0 < 0x20 || $0 > 0x7E || $0 == 0x24 || $0 == 0x2A }
        #expect(bytes16_delimiters(bytes) == ends, "\(bytes)")
        #expect(bytes16_delimiters_by_words(bytes) == ends, "\(bytes)")
      }
    }
  }

  @Test("the vector and word versions give the same correct sum of sixteen bytes")
  func sums() {
    var random = SplitMix64(seed: 4)
    for i in 0..<4_096 {
      // Includes inputs with many maximum values.
      let least = UInt8(truncatingIfNeeded: i % 256)
      let bytes = SIMD16<UInt8>.random(in: least ... .max, using: &random)
      let others = SIMD16<UInt8>.random(in: least ... .max, using: &random)
      let sum = (0..<16).reduce(0) { $0 + UInt32(bytes[$1]) }
      let weighted = (0..<16).reduce(0) {
        $0 + UInt32(16 - $1) * UInt32(bytes[$1]) + 16 * UInt32(others[$1])
      }
      #expect(bytes16_sum(bytes) == sum % 256, "\(bytes)")
      #expect(bytes16_sum_by_words(bytes) == sum % 256, "\(bytes)")
      #expect(bytes16_weighted_sum(bytes, others) == weighted % 256, "\(bytes) \(others)")
      #expect(bytes16_weighted_sum_by_words(bytes, others) == weighted % 256, "\(bytes) \(others)")
    }
  }

  private func bits(_ bytes: SIMD16<UInt8>, _ isMeant: (UInt8) -> Bool) -> UInt32 {
    (0..<16).reduce(0) { isMeant(bytes[$1]) ? $0 | 1 << UInt32($1) : $0 }
  }
}
