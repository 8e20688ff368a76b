import CCore
import TestSupport
import Testing

@testable import GNSSProtocols

@Suite("the scan of a sentence") struct SentenceScanTests {
  /// What a scan has to find, byte by byte: where the sentence ends, parity, commas and its end.
  private func expected(_ body: [UInt8]) -> (end: Int, parity: UInt8, places: [Int]) {
    var parity: UInt8 = 0
    var places: [Int] = []
    for (place, byte) in body.enumerated() {
      if byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "*") {
        return (place, parity, Array((places + [place]).prefix(25)))
      }
      parity ^= byte
      if byte == UInt8(ascii: ",") { places.append(place) }
    }
    return (body.count, parity, [])
  }

  /// Scans what is behind `before` bytes, as far as `lengths` tell one after the other.
  private func found(_ body: [UInt8], behind before: Int, _ lengths: [Int]) -> (
    end: Int, parity: UInt8, places: [Int]
  ) {
    // What lies behind the limit must not matter: it ends no sentence and is full of commas.
    let rest = [UInt8](repeating: UInt8(ascii: ","), count: SentenceScan.margin)
    var scan = SentenceScan()
    var end = 0
    for length in lengths {
      let bytes = [UInt8](repeating: 0x41, count: before) + body.prefix(length) + rest
      end = scan.run(bytes.span, before, upTo: before + length) - before
      if end < length { break }
    }
    if end == body.count { return (end, 0, []) }
    scan.close()
    let places = scan.fieldOffsets
    return (end, scan.parity, places.indices.map { Int(places[$0]) })
  }

  @Test(
    "it finds end, parity and commas as one byte after the other does, wherever it is cut",
    arguments: 1...8 as ClosedRange<UInt64>)
  func bytesOneByOne(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    // Bytes on both sides of what is told apart: the comma, the tilde, control characters.
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

  @Test("without an end it stands at the limit, and goes on from there byte by byte")
  func goesOn() {
    let body = [UInt8]("GNRMC,120300.00,A,4807.10000,N,01131.20000,E,12.345,084.40*".utf8)
    #expect(found(body, behind: 1, Array(0...body.count)) == expected(body))
    #expect(found(Array(body.dropLast()), behind: 1, [body.count - 1]).end == body.count - 1)
  }

  @Test("vectors and words see the same of sixteen bytes, whatever they are")
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

  @Test("vectors and words add up sixteen bytes alike, and rightly")
  func sums() {
    var random = SplitMix64(seed: 4)
    for i in 0..<4_096 {
      // Among others those of which many are as large as can be.
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
