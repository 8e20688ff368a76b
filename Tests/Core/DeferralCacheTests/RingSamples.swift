import DeferralCache
import LocationTypes
import TestSupport

/// Fix number `n` of a test; its content identifies it.
func fix(_ n: Int) -> Fix {
  var fix = Fix(
    acquired: Instant(microseconds: Int64(n) * 1_000_000),
    coordinate: Coordinate(latitude_e9: 50_000_000_000 + Int64(n), longitude_e9: -Int64(n)))
  fix.utc = UTCTime(microseconds: 1_700_000_000_000_000 + Int64(n) * 1_000_000)
  return fix
}

func time(_ n: Int) -> FixTime { FixTime(acquired: fix(n).acquired, utc: fix(n).utc) }

/// A fix with random fields, often at their limits or unknown.
func randomFix(_ random: inout SplitMix64) -> Fix {
  var fix = Fix(
    acquired: Instant(microseconds: pick(-(1 << 55) + 1, (1 << 55) - 1, &random)),
    coordinate: Coordinate(
      latitude_e9: pick(-90_000_000_000, 90_000_000_000, &random),
      longitude_e9: pick(-180_000_000_000, 180_000_000_000, &random)),
    mode: Bool.random(using: &random) ? .twoDimensional : .threeDimensional)
  func some(_ low: Int64, _ high: Int64) -> Int32? {
    Int.random(in: 0..<4, using: &random) == 0 ? nil : Int32(pick(low, high, &random))
  }
  if Int.random(in: 0..<4, using: &random) > 0 {
    fix.utc = UTCTime(microseconds: pick(-(1 << 55) + 1, (1 << 55) - 1, &random))
  }
  fix.ellipsoidalAltitude_mm = some(Int64(Int32.min) + 1, Int64(Int32.max))
  fix.altitude_mm = some(Int64(Int32.min) + 1, Int64(Int32.max))
  fix.speed_mmps = some(0, Int64(Fix.speedLimit_mmps))
  fix.course_e4 = some(0, 3_599_999)
  fix.horizontalAccuracy_mm = some(0, Int64(Fix.accuracyLimit_mm))
  fix.verticalAccuracy_mm = some(0, Int64(Fix.accuracyLimit_mm))
  fix.speedAccuracy_mmps = some(0, Int64(Fix.speedAccuracyLimit_mmps))
  fix.courseAccuracy_e2 = some(0, Int64(Fix.courseAccuracyLimit_e2))
  fix.satellites = some(0, 254).map { Int16($0) }
  fix.quality = FixQuality(rawValue: UInt8.random(in: 0...9, using: &random)) ?? .unknown
  fix.isDateUncertain = Bool.random(using: &random)
  fix.isSimulated = Bool.random(using: &random)
  fix.isFromAccessory = Bool.random(using: &random)
  return fix
}

/// A number in the range; with probability 1/4 one of its ends, with 1/8 next to zero.
private func pick(_ low: Int64, _ high: Int64, _ random: inout SplitMix64) -> Int64 {
  switch Int.random(in: 0..<8, using: &random) {
  case 0: return low
  case 1: return high
  case 2: return min(max(Int64.random(in: -1...1, using: &random), low), high)
  default: return Int64.random(in: low...high, using: &random)
  }
}

extension FixName {
  /// Order of names: by generation, then by sequence.
  var order: (UInt32, UInt64) { (generation, sequence) }
}

/// All items of the ring in the range.
func walk(_ ring: borrowing FixRing, from start: UInt64 = 0, to end: UInt64? = nil) -> [RingItem] {
  var sequence = start
  var items: [RingItem] = []
  while let item = ring.next(at: &sequence, before: end ?? ring.head) { items.append(item) }
  return items
}

extension [RingItem] {
  var fixes: [StoredFix] {
    compactMap { if case .fix(let stored) = $0 { stored } else { nil } }
  }

  var gaps: [Gap] {
    compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
  }
}
