import LocationTypes

/// Measures the path travelled, deaf to the noise of a receiver at rest (X3, DEF-20).
///
/// An anchor moves to a fix only when the fix is at least ``gate`` times the horizontal accuracy
/// away from it (the worse accuracy of the two); the moves add up. On a loop it counts each lap, and
/// it lags behind the truth by less than one gate. O(1) a fix.
///
/// The gate alone is not deaf enough: the distance of two fixes at rest goes beyond it once in 3,000
/// independent pairs, which is one hour in ten. So a fix between one gate and two does not count
/// when the receiver's Doppler says that it stands (``standing``); a creep slower than that lags by
/// up to two gates.
public struct PathMeter: Equatable, Sendable {
  /// How many horizontal accuracies a fix must be away to count.
  public static let gate = 4.0
  /// The speed below which a receiver stands, m/s: five times what a good one errs by, a sixth of a
  /// walk.
  static let standing = 0.2
  /// Metres taken for a fix that does not tell its accuracy.
  static let assumedAccuracy = 10.0

  var anchor: Coordinate?
  var anchorAccuracy: Double
  /// Metres travelled since the start.
  public private(set) var length: Double

  /// Starts at `start`, or at the first fix that comes when there is none (DEF-19).
  public init(from start: Fix?) {
    anchor = start?.coordinate
    anchorAccuracy = start?.horizontalAccuracy ?? PathMeter.assumedAccuracy
    length = 0
  }

  /// Takes the next fix into account.
  public mutating func add(_ fix: Fix) {
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    guard let from = anchor else {
      anchor = fix.coordinate
      anchorAccuracy = accuracy
      return
    }
    let step = from.localDistance(to: fix.coordinate)
    let gate = PathMeter.gate * max(accuracy, anchorAccuracy)
    guard step >= gate else { return }
    if step < 2 * gate, let speed = fix.speed, speed < PathMeter.standing { return }
    length += step
    anchor = fix.coordinate
    anchorAccuracy = accuracy
  }
}
