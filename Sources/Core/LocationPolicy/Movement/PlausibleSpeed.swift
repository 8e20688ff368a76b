import LocationTypes

/// An upper estimate of the device's speed in the next minutes, from the speeds of the last ones.
///
/// Services that need few fixes (significant change, regions, a pause) use it to compute when the next fix is due. It
/// is never below the speed of a bicycle, because a stationary device may start to move. It follows a rise immediately
/// and decays slowly.
public struct PlausibleSpeed: Equatable, Sendable {
  /// Smallest estimate, m/s.
  static let minimum = 5.0
  /// Factor by which the speed may exceed the highest recent one.
  static let increaseFactor = 1.3
  /// Seconds in which the peak falls to half.
  static let halfLife = 300.0

  private let limit: Double
  private var peak = 0.0
  private var peakTime = Instant.boot
  private var last: Fix?

  /// Creates an estimate without fixes.
  ///
  /// - Parameter limit: The fastest that this board is ever carried, m/s.
  public init(limit: Double) { self.limit = limit }

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

  /// The highest plausible speed at `now`, m/s; above 0.
  public func maximum(at now: Instant) -> Double {
    min(limit, max(PlausibleSpeed.minimum, PlausibleSpeed.increaseFactor * decayedPeak(at: now)))
  }

  /// The peak after hyperbolic decay: 1, 1/2, 1/3 … of it after 0, 1, 2 … times ``halfLife``.
  private func decayedPeak(at now: Instant) -> Double {
    peak / (1 + max((now - peakTime).seconds, 0) / PlausibleSpeed.halfLife)
  }
}
