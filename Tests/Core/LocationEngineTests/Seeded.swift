import TestSupport

typealias Seeded = SplitMix64

extension SplitMix64 {
  init(_ seed: UInt64) { self.init(seed: seed &* 0x9E37_79B9_7F4A_7C15) }

  /// 0 ..< 1.
  mutating func part() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

  /// About normal, mean 0, deviation 1.
  mutating func noise() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += part() }
    return sum
  }
}
