import CCore

/// Seeded pseudo-random numbers: the same seed gives the same run, on every machine.
///
/// SplitMix64 (Steele, Lea, Flood 2014): one addition and three mixing steps a number, and any seed
/// is as good as any other.
public struct SimulationRandom: Sendable {
  private var state: UInt64
  private var spare: Double?

  /// Creates a generator; `stream` keeps numbers for one purpose apart from those for another.
  public init(seed: UInt64, stream: UInt64 = 0) {
    state = seed &+ stream &* 0xD1B5_4A32_D192_ED03
    spare = nil
    _ = next()
  }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// A number in 0 ..< 1, evenly spread.
  public mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number between `low` and `high`, evenly spread.
  public mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * uniform()
  }

  /// A number of the standard normal distribution (Box and Muller; two come of one draw).
  public mutating func normal() -> Double {
    if let ready = spare {
      spare = nil
      return ready
    }
    // 1 − u lies in 0 <… 1, so that the logarithm is finite.
    let radius = sqrt(-2 * log(1 - uniform()))
    let angle = 2 * 3.141_592_653_589_793 * uniform()
    spare = radius * sin(angle)
    return radius * cos(angle)
  }
}
