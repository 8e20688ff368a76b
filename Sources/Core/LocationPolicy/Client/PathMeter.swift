import LocationTypes

/// Measures the length of the path travelled, gated against the noise of a stationary receiver (X3, DEF-20).
///
/// An anchor moves to a fix only if the fix is at least ``gate`` times the horizontal accuracy (the worse accuracy of
/// the two) away from it; the moves are added up. On a loop each lap counts. The measured length lags behind the true
/// one by less than one gate. O(1) per fix.
///
/// The gate alone is not sufficient: of independent pairs of fixes of a stationary device, one in 3,000 is farther
/// apart, and one simulated hour in ten has such a pair (Docs/Explanation/deferral.md). A fix between one and two gates
/// away therefore does not count if the receiver's Doppler speed is below ``standingSpeed``; slower movement lags by up
/// to two gates.
public struct PathMeter: Equatable, Sendable {
  /// Distance from the anchor, in horizontal accuracies, from which a fix counts.
  public static let gate = 4.0
  /// Speed below which the receiver counts as stationary, m/s: five times the speed error of a good receiver, a sixth
  /// of walking speed.
  static let standingSpeed = 0.2
  /// Accuracy assumed for a fix that reports none, metres.
  static let assumedAccuracy = 10.0

  private(set) var anchor: Coordinate?
  private(set) var anchorAccuracy: Double
  /// Path length since the start, metres.
  public private(set) var length = 0.0

  /// Starts at `start`, or at the first fix added if `start` is nil (DEF-19).
  public init(from start: Fix?) {
    anchor = start?.coordinate
    anchorAccuracy = start?.horizontalAccuracy ?? PathMeter.assumedAccuracy
  }

  /// Adds the next fix.
  public mutating func add(_ fix: Fix) {
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    guard let oldAnchor = anchor else {
      anchor = fix.coordinate
      anchorAccuracy = accuracy
      return
    }
    let step = oldAnchor.localDistance(to: fix.coordinate)
    let gate = PathMeter.gate * max(accuracy, anchorAccuracy)
    guard step >= gate else { return }
    if step < 2 * gate, let speed = fix.speed, speed < PathMeter.standingSpeed { return }
    length += step
    anchor = fix.coordinate
    anchorAccuracy = accuracy
  }
}
