import CCore

/// Seeded pseudo-random numbers that are the same on every machine.
///
/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps per number. Every seed is equally
/// suitable.
public struct SimulationRandom: Sendable {
  private var state: UInt64
  private var storedNormal: Double?

  /// Creates a generator. Different values of `stream` give independent sequences for the same seed.
  public init(seed: UInt64, stream: UInt64 = 0) {
    state = seed &+ stream &* 0xD1B5_4A32_D192_ED03
    storedNormal = nil
    _ = next()
  }

  /// Returns the next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Returns a uniformly distributed number in 0 ..< 1.
  public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a uniformly distributed number between `low` and `high`.
  public mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * uniform()
  }

  /// Returns a number of the standard normal distribution (Box–Muller transform, which produces two numbers at a
  /// time).
  public mutating func normal() -> Double {
    if let ready = storedNormal {
      storedNormal = nil
      return ready
    }
    // 1 − u is in 0 <… 1, so the logarithm is finite.
    let radius = sqrt(-2 * log(1 - uniform()))
    let angle = 2 * 3.141_592_653_589_793 * uniform()
    storedNormal = radius * sin(angle)
    return radius * cos(angle)
  }
}
