import LocationTypes

/// An upper estimate of the device's speed in the next minutes, from the speeds of the last ones.
///
/// Services that need few fixes (significant change, regions, a pause) use it to compute when the next fix is due:
/// ``shortestTime(toTravel:after:)``. It is never below the speed of a bicycle, because a stationary device may start to
/// move. It follows a rise immediately and decays slowly.
public struct PlausibleSpeed: Equatable, Sendable {
  /// Smallest estimate, m/s, unless the board's limit is lower.
  public static let minimum = 5.0
  /// Factor by which the speed may exceed the highest recent one.
  static let increaseFactor = 1.3
  /// Seconds in which the peak falls to half.
  static let halfLife = 300.0

  private let limit: Double
  private let minimum: Double
  private var peak = 0.0
  private var peakTime = Instant.boot
  private var last: Fix?

  /// Creates an estimate without fixes.
  ///
  /// - Parameters:
  ///   - limit: The fastest that this board is ever carried, m/s; above 0.
  ///   - minimum: Smallest estimate, m/s; above 0. Both are equal for a constant speed.
  public init(limit: Double, minimum: Double = PlausibleSpeed.minimum) {
    precondition(limit > 0 && minimum > 0, "a speed of 0 reaches nothing")
    self.limit = limit
    self.minimum = minimum
  }

  /// Adds a fix. O(1).
  public mutating func accept(_ fix: Fix) {
    var speed = fix.speed ?? 0
    if let last, fix.acquired > last.acquired {
      let step = last.coordinate.localDistance(to: fix.coordinate)
      speed = max(speed, step / max((fix.acquired - last.acquired).seconds, 1))
    }
    last = fix
    if speed >= decayedPeak(at: fix.acquired) {
      peak = speed
      peakTime = fix.acquired
    }
  }

  /// The time t in which the device travels `metres` after `start` at the plausible speed of `start + t`. O(1).
  ///
  /// It depends on no other time: a due time that followed the decay from step to step would move while the board sleeps
  /// until it, and each move would wake the board once more.
  ///
  /// - Parameter metres: At least 0.
  func shortestTime(toTravel metres: Double, after start: Instant) -> Interval {
    // t × peak / (1 + (age + t) / halfLife) = metres, solved for t
    let age = max((start - peakTime).seconds, 0)
    let speed = PlausibleSpeed.increaseFactor * peak - metres / PlausibleSpeed.halfLife
    let decaying =
      speed > 0 ? metres * (1 + age / PlausibleSpeed.halfLife) / speed : .infinity
    return Interval(seconds: max(metres / limit, min(metres / minimum, decaying)))
  }

  /// The peak after hyperbolic decay: 1, 1/2, 1/3 … of it after 0, 1, 2 … times ``halfLife``.
  private func decayedPeak(at now: Instant) -> Double {
    peak / (1 + max((now - peakTime).seconds, 0) / PlausibleSpeed.halfLife)
  }
}
