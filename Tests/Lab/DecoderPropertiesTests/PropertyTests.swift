import TestSupport
import Testing

@testable import DecoderProperties

@Suite("Properties for any input (RNG-7 and every decoder)") struct PropertyTests {
  @Test("every seed passes, and a third is decoded", arguments: DecoderProperty.allCases)
  func seeds(property: DecoderProperty) {
    var reached = 0
    for (i, seed) in property.seeds.enumerated() {
      let trial = property.check(seed)
      #expect(trial.violation == nil, "seed \(i)")
      if trial.decodedCount > 0 { reached += 1 }
    }
    // Seeds with unsupported or erroneous messages need not be decoded.
    #expect(reached * 3 >= property.seeds.count, "\(reached) of \(property.seeds.count)")
  }

  @Test("every regression input passes", arguments: RegressionInput.all)
  func found(input: RegressionInput) {
    #expect(input.property.check(input.bytes).violation == nil)
  }

  @Test("empty and random input pass", arguments: DecoderProperty.allCases)
  func noise(property: DecoderProperty) {
    #expect(property.check([]).violation == nil)
    var random = SplitMix64(seed: 1)
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      #expect(property.check(bytes).violation == nil, "\(bytes)")
    }
  }

  @Test("mutated seeds pass", arguments: DecoderProperty.allCases)
  func mutations(property: DecoderProperty) {
    var random = SplitMix64(seed: 2)
    for seed in property.seeds {
      for _ in 0..<40 {
        var bytes = seed
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let i = Int.random(in: 0..<bytes.count, using: &random)
          switch Int.random(in: 0..<4, using: &random) {
          case 0: bytes[i] = UInt8(truncatingIfNeeded: random.next())
          case 1: bytes[i] ^= 1 << UInt8.random(in: 0..<8, using: &random)
          case 2 where bytes.count > 1: bytes.remove(at: i)
          case _: bytes.insert(bytes.randomElement(using: &random) ?? 0, at: i)
          }
        }
        #expect(property.check(bytes).violation == nil, "\(bytes)")
      }
    }
  }

  @Test("a result keeps the first violation")
  func trial() {
    var trial = PropertyResult()
    trial.require(true, "no")
    #expect(trial.violation == nil)
    trial.require(false, "first")
    trial.require(false, "second")
    #expect(trial.violation == "first")
  }

  @Test("the checksum for test images is CRC-32C")
  func checksum() {
    #expect(crc32c("123456789".utf8) == 0xE306_9283)
  }

  @Test("chunks of every length occur, and none is empty")
  func chunks() {
    for seed in 0...UInt8.max {
      var lengths = ChunkLengths(seed)
      let drawn = (0..<100).map { _ in lengths.next() }
      #expect(drawn.allSatisfy { $0 >= 1 && $0 <= 256 })
      #expect(seed < 128 ? drawn.allSatisfy { $0 == Int(seed) + 1 } : Set(drawn).count > 10)
    }
  }
}
