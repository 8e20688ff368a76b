/// SplitMix64: the same numbers for the same seed, everywhere.
struct Seeded {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// 0 ..< bound.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// 0 ..< 1.
  mutating func part() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

  /// About normal, mean 0, deviation 1.
  mutating func noise() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += part() }
    return sum
  }
}
