import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import DeferralCache

/// The bytes of a slot in memory order.
private func bytes(_ slot: Slot) -> [UInt8] {
  [slot.w0, slot.w1, slot.w2, slot.w3, slot.w4, slot.w5, slot.w6, slot.w7].flatMap { word in
    (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
  }
}

private func slot(_ bytes: [UInt8]) -> Slot {
  func word(_ i: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(bytes[8 * i + $1]) << (8 * $1) }
  }
  return Slot(
    w0: word(0), w1: word(1), w2: word(2), w3: word(3), w4: word(4), w5: word(5), w6: word(6),
    w7: word(7))
}

private func checksum(_ bytes: [UInt8]) -> UInt32 {
  var sum = SlotChecksum()
  for i in stride(from: 0, to: bytes.count, by: 4) {
    sum.add((0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[i + $1]) << (8 * $1) })
  }
  return sum.value
}

@Suite("Slots") struct SlotTests {
  @Test("checksums equal the published ones (RFC 3720, B.4)")
  func publishedChecksums() {
    #expect(checksum([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(checksum([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(checksum([UInt8](0..<32)) == 0x46DD_794E)
    #expect(checksum([UInt8]((0..<32).reversed())) == 0x113F_DB5C)
  }

  @Test("the table matches the polynomial")
  func table() {
    for i in 0..<16 {
      var register = UInt32(i)
      for _ in 0..<4 { register = register >> 1 ^ (register & 1 == 1 ? 0x82F6_3B78 : 0) }
      #expect(SlotChecksum.table[i] == register)
    }
  }

  @Test("a slot returns the fix and name that were stored")
  func roundTrip() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<20_000 {
      let fix = randomFix(&random)
      let name = FixName(
        generation: UInt32.random(in: 0 ... .max, using: &random),
        sequence: UInt64.random(in: 0..<1 << 40, using: &random))
      let written = Slot(fix, named: name)
      let read = slot(bytes(written))
      #expect(read.fix == fix)
      #expect(read.name == name)
    }
  }

  @Test(
    "a slot stores each field at its limits and unknown, with the other fields unknown",
    arguments: [0, 1, 2])
  func fieldsAlone(which: Int) {
    func check(_ change: (inout Fix) -> Void) {
      var fix = Fix(acquired: .boot, coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
      change(&fix)
      let name = FixName(generation: 1, sequence: 1)
      #expect(slot(bytes(Slot(fix, named: name))).fix == fix)
    }
    func value(_ low: Int32, _ high: Int32) -> Int32? { [low, high, nil][which] }
    let limit: Int64 = (1 << 55) - 1
    let utc: [Int64?] = [-limit, limit, nil]
    check { $0.utc = utc[which].map { UTCTime(microseconds: $0) } }
    check { $0.acquired = Instant(microseconds: which == 0 ? -limit : limit) }
    check { $0.altitude_mm = value(.min + 1, .max) }
    check { $0.ellipsoidalAltitude_mm = value(.min + 1, .max) }
    check { $0.speed_mmps = value(0, Fix.speedLimit_mmps) }
    check { $0.course_e4 = value(0, 3_599_999) }
    check { $0.horizontalAccuracy_mm = value(0, Fix.accuracyLimit_mm) }
    check { $0.verticalAccuracy_mm = value(0, Fix.accuracyLimit_mm) }
    check { $0.speedAccuracy_mmps = value(0, Fix.speedAccuracyLimit_mmps) }
    check { $0.courseAccuracy_e2 = value(0, Fix.courseAccuracyLimit_e2) }
    check { $0.satellites = [0, 254, nil][which] }
    check { $0.mode = which == 0 ? .twoDimensional : .threeDimensional }
    check { $0.isDateUncertain = which == 0 }
    check { $0.isSimulated = which == 0 }
    check { $0.isFromAccessory = which == 0 }
    for raw in 0..<10 as Range<UInt8> { check { $0.quality = FixQuality(rawValue: raw)! } }
  }

  @Test("UTC outside of 56 bits is stored as unknown", arguments: [1, -1] as [Int64])
  func distantDates(sign: Int64) {
    for distance in [1 << 55, (1 << 55) + 1, Int64.max] as [Int64] {
      var original = fix(1)
      original.utc = UTCTime(microseconds: sign * distance)
      var expected = original
      expected.utc = nil
      #expect(Slot(original, named: FixName(generation: 1, sequence: 1)).fix == expected)
    }
  }

  @Test("a boot time outside of 56 bits is stored as the nearest value", arguments: [1, -1])
  func distantBoot(sign: Int64) {
    let end: Int64 = (1 << 55) - 1
    for distance in [end - 1, end, end + 1, end + 2, Int64.max] as [Int64] {
      var original = fix(1)
      original.acquired = Instant(microseconds: sign * distance)
      var expected = original
      expected.acquired = Instant(microseconds: sign * min(distance, end))
      #expect(Slot(original, named: FixName(generation: 1, sequence: 1)).fix == expected)
    }
    var original = fix(1)
    original.acquired = Instant(microseconds: .min)
    let stored = Slot(original, named: FixName(generation: 1, sequence: 1)).fix
    #expect(stored?.acquired == Instant(microseconds: -end))
  }

  @Test("a slot with any one bit flipped is invalid; a blank slot is invalid")
  func flippedBits() {
    let whole = bytes(Slot(fix(7), named: FixName(generation: 3, sequence: 9)))
    #expect(slot(whole).fix == fix(7))
    for bit in 0..<512 {
      var damaged = whole
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(slot(damaged).fix == nil)
    }
    #expect(slot([UInt8](repeating: 0, count: 64)).fix == nil)
    #expect(slot([UInt8](repeating: 0xFF, count: 64)).fix == nil)
  }

  @Test("a slot with a correct checksum but invalid content is invalid")
  func wrongContent() {
    func forged(_ change: (inout Slot) -> Void) -> Fix? {
      var changed = Slot(fix(7), named: FixName(generation: 3, sequence: 9))
      change(&changed)
      changed.w7 = changed.w7 & 0xFFFF_FFFF | UInt64(changed.computedChecksum) << 32
      return changed.fix
    }
    #expect(forged { _ in } == fix(7))
    #expect(forged { $0.w0 = $0.w0 & ~0xFF | 2 } == nil)  // format 2
    #expect(forged { $0.w0 |= 1 << 14 | 7 << 9 } == nil)  // quality 15
    #expect(forged { $0.w4 = 90_000_000_001 } == nil)  // beyond the pole
    #expect(forged { $0.w5 = 180_000_000_001 } == nil)
  }

  @Test("a slot equals the worked example of ring-format.md")
  func workedExample() throws {
    var example = Fix(
      acquired: Instant(microseconds: 123_456_789_012),
      coordinate: Coordinate(latitude_e9: 52_516_274_500, longitude_e9: -13_377_704_100))
    example.utc = UTCTime(microseconds: 1_767_225_600_250_000)
    example.ellipsoidalAltitude_mm = 77_123
    example.altitude_mm = -1_500
    example.speed_mmps = 13_890
    example.course_e4 = 3_141_592
    example.horizontalAccuracy_mm = 2_500
    example.verticalAccuracy_mm = nil
    example.speedAccuracy_mmps = 400
    example.courseAccuracy_e2 = 1_250
    example.satellites = 17
    example.quality = .differential
    example.isSimulated = true
    let name = FixName(generation: 0x0102_0304, sequence: 0x0A_0B0C_0D0E)
    let text = bytes(Slot(example, named: name)).map { byte in
      let digits = String(byte, radix: 16, uppercase: true)
      return digits.count == 1 ? "0" + digits : digits
    }
    let lines = stride(from: 0, to: 64, by: 16).map { text[$0..<$0 + 16].joined(separator: " ") }
    #expect(lines == WorkedExample.lines)
    let page = URL(filePath: "\(packageRoot)/Docs/Reference/ring-format.md")
    #expect(try String(contentsOf: page, encoding: .utf8).contains(lines.joined(separator: "\n")))
  }
}
