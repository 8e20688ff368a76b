/// Sebastiano Vigna's SplitMix64: a small generator, the same numbers for a seed anywhere.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator with a seed.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number in 0 ..< `bound`; `bound` is at least 1.
  public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// A number in 0 ..< 1.
  public mutating func fraction() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }

  /// An approximately normal number, mean 0 and deviation 1: the sum of twelve uniform ones.
  public mutating func normal() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += fraction() }
    return sum
  }
}
