import CCore

/// The chance of being too far from the last reported place, by the time since it was reported.
///
/// A network of 31 features (36 with a motion line), 24 and 16 hidden units (leaky by 0.05) and 24
/// outputs: the share of time outside within each bin of ``ExitBins``, whose unit is the time in which
/// the distance would be left at the speed of late. 1,512 to 1,632 multiplications; the weights are 6.4
/// and 6.9 kB of constants. How it was trained: Sources/Lab/Training.
@safe enum ExitNetwork {
  /// Features on a board without a motion line, and with one.
  static let plainFeatures = 31
  static let mostFeatures = 36
  private static let first = 24
  private static let second = 16

  /// The chances for `features`, of which those of the line count only where there is one.
  static func chances(
    _ features: InlineArray<36, Double>, hasLine: Bool
  ) -> InlineArray<24, Double> {
    let count = hasLine ? mostFeatures : plainFeatures
    var weights = unsafe torpor_exit_weights(hasLine ? 1 : 0)!
    var input = InlineArray<36, Float>(repeating: 0)
    for i in 0..<count {
      let scaled = unsafe (Float(features[i]) - weights[i]) * weights[count + i]
      input[i] = min(max(scaled, -4), 4)
    }
    unsafe weights += 2 * count
    let a: InlineArray<24, Float> = unsafe layer(input.span, count, first, &weights)
    var low = InlineArray<24, Float>(repeating: 0)
    for i in 0..<first { low[i] = a[i] > 0 ? a[i] : 0.05 * a[i] }
    var b: InlineArray<24, Float> = unsafe layer(low.span, first, second, &weights)
    for i in 0..<second where b[i] < 0 { b[i] *= 0.05 }
    let out = unsafe layer(b.span, second, ExitBins.count, &weights)
    var chances = InlineArray<24, Double>(repeating: 0)
    for i in 0..<ExitBins.count { chances[i] = 1 / (1 + exp(-Double(out[i]))) }
    return chances
  }

  /// One layer's sums; moves `weights` past its rows and biases, which the caller knows are there.
  @unsafe private static func layer(
    _ input: Span<Float>, _ inputs: Int, _ outputs: Int, _ weights: inout UnsafePointer<Float>
  ) -> InlineArray<24, Float> {
    var sums = InlineArray<24, Float>(repeating: 0)
    let biases = unsafe weights + inputs * outputs
    for j in 0..<outputs {
      var sum = unsafe biases[j]
      for i in 0..<inputs { sum += unsafe weights[j * inputs + i] * input[i] }
      sums[j] = sum
    }
    unsafe weights = biases + outputs
    return sums
  }
}

/// The bins of time for which ``ExitNetwork`` tells a chance, in units of distance ÷ speed.
enum ExitBins {
  /// How many there are.
  static let count = 24

  /// Where bin `index` begins; the one after the last ends at 80.
  static func begin(_ index: Int) -> Double {
    let begins: InlineArray<25, Double> = [
      0, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.12, 1.25, 1.4, 1.6, 1.85, 2.2, 2.7, 3.4, 4.5,
      6, 8.5, 12, 18, 28, 45, 80,
    ]
    return begins[index]
  }

  /// The middle of bin `index`.
  static func middle(_ index: Int) -> Double { 0.5 * (begin(index) + begin(index + 1)) }
}
