import LocationTypes

/// Predicts the time to first fix: the table of the profile, multiplied by a factor that follows this receiver's
/// measured times.
///
/// Datasheets state times for an open sky. Under trees a receiver takes longer, and it will probably take longer the
/// next time as well.
public struct TimeToFixPredictor: Equatable, Sendable {
  /// The factor is an exponential average: each new acquisition has weight 1 / this.
  static let averagingCount = 8.0
  /// Largest factor; its inverse is the smallest.
  static let maximumScale = 4.0

  /// Measured time to fix as a multiple of the table's.
  public private(set) var scale = 1.0
  private var isFirstAcquisition = true

  /// Creates a predictor that uses the table unchanged.
  public init() {}

  /// The expected time from the wake command to the first fix, without start-up.
  ///
  /// - Parameter off: Time since the sleep command; nil if unknown, which gives the cold start. Start-up counts as
  ///   time off.
  public func expected(after off: Interval?, _ receiver: ReceiverParameters) -> Interval {
    guard let off else { return receiver.timeToFix.cold }
    let median = receiver.timeToFix.expected(after: off + receiver.startUp)
    return Interval(seconds: median.seconds * scale)
  }

  /// Updates the factor from a successful acquisition after `off`; failed ones must not be passed (PWR-7). The very
  /// first one is ignored, and so are those after an unknown time off.
  mutating func update(off: Interval?, acquisition: Interval, _ receiver: ReceiverParameters) {
    guard !isFirstAcquisition, let off else {
      isFirstAcquisition = false
      return
    }
    let expected = max(receiver.timeToFix.expected(after: off + receiver.startUp).seconds, 0.1)
    // Epochs come once per second, so the measured time may be up to 1 s too long.
    let measured =
      acquisition.seconds > expected
      ? max(acquisition.seconds - 1, expected) : acquisition.seconds
    let ratio = min(
      max(measured / expected, 1 / TimeToFixPredictor.maximumScale),
      TimeToFixPredictor.maximumScale)
    scale += (ratio - scale) / TimeToFixPredictor.averagingCount
  }
}
