import CCore

/// The probability that the device is farther from the last reported position than the accuracy bound, by the time
/// since that fix.
///
/// A feed-forward network with 31 features (36 with a motion line), two hidden layers of 24 and 16 units (leaky ReLU,
/// slope 0.05) and 24 logistic outputs: the share of time outside the bound within each bin of ``ExitBins``. The bins
/// are in units of `MovementHistory.timeScale`, the time to leave the bound at the recent speed. One evaluation costs
/// 1,512 to 1,632 multiplications. The weights are constants of 6.4 kB, and 6.9 kB with a motion line. Training:
/// Sources/Lab/Training.
@safe enum ExitNetwork {
  /// Number of features without and with a motion line.
  static let featureCount = 31
  static let featureCountWithMotionLine = 36
  private static let firstLayerSize = 24
  private static let secondLayerSize = 16

  /// The probability for each bin of ``ExitBins``, 0 to 1; used by ``MovementModel``.
  ///
  /// - Parameters:
  ///   - features: ``MovementHistory/features``; the last five are used only with a motion line.
  ///   - hasMotionLine: Whether a motion line is used.
  ///   - tuning: Its weights are those of the network for `hasMotionLine`.
  static func probabilities(
    _ features: InlineArray<36, Double>, hasMotionLine: Bool, _ tuning: borrowing MovementTuning
  ) -> InlineArray<24, Double> {
    let count = hasMotionLine ? featureCountWithMotionLine : featureCount
    var weights = unsafe tuning.weights
    var input = InlineArray<36, Float>(repeating: 0)
    for i in 0..<count {
      let scaled = unsafe (Float(features[i]) - weights[i]) * weights[count + i]
      input[i] = min(max(scaled, -4), 4)
    }
    unsafe weights += 2 * count
    let firstSums: InlineArray<24, Float> = unsafe layer(
      input.span, count, firstLayerSize, &weights)
    var firstOutputs = InlineArray<24, Float>(repeating: 0)
    for i in 0..<firstLayerSize {
      firstOutputs[i] = firstSums[i] > 0 ? firstSums[i] : 0.05 * firstSums[i]
    }
    var secondOutputs: InlineArray<24, Float> = unsafe layer(
      firstOutputs.span, firstLayerSize, secondLayerSize, &weights)
    for i in 0..<secondLayerSize where secondOutputs[i] < 0 { secondOutputs[i] *= 0.05 }
    let sums = unsafe layer(secondOutputs.span, secondLayerSize, ExitBins.count, &weights)
    var probabilities = InlineArray<24, Double>(repeating: 0)
    for i in 0..<ExitBins.count { probabilities[i] = 1 / (1 + exp(-Double(sums[i]))) }
    return probabilities
  }

  /// The weighted sums of one layer. Advances `weights` past the rows and biases of that layer.
  ///
  /// The caller guarantees that `weights` points to `inputs * outputs + outputs` values.
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

/// The bins of time for which ``ExitNetwork`` gives a probability, in units of distance ÷ speed.
package enum ExitBins {
  /// Number of bins.
  package static let count = 24

  /// The lower bound of bin `index`, 0 to ``count``; the last bin ends at 80.
  package static func lowerBound(_ index: Int) -> Double {
    let begins: InlineArray<25, Double> = [
      0, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.12, 1.25, 1.4, 1.6, 1.85, 2.2, 2.7, 3.4, 4.5,
      6, 8.5, 12, 18, 28, 45, 80,
    ]
    return begins[index]
  }

  /// The midpoint of bin `index`.
  static func midpoint(_ index: Int) -> Double { 0.5 * (lowerBound(index) + lowerBound(index + 1)) }
}
