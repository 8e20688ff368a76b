import LocationTypes

/// How fast the wearer may be in the next minutes, judged by the last ones.
///
/// Services that look seldom (significant change, regions, a pause) reckon with it. It is never below
/// a bicycle's speed, for who stands may set off; it follows a rise at once and forgets it slowly.
public struct PlausiblePace: Equatable, Sendable {
  /// What is thought of one who has stood for long, m/s.
  static let setOff = 5.0
  /// How much faster than seen one may become.
  static let rise = 1.3
  /// How long until a high speed counts for half.
  static let halfLife = 300.0

  private let most: Double
  private var peak = 0.0
  private var peakAt = Instant.boot
  private var last: Fix?

  /// Nothing is known; `most` is the fastest this board is ever carried, m/s.
  public init(most: Double) { self.most = most }

  /// Takes a fix into account.
  public mutating func take(_ fix: Fix) {
    var speed = fix.speed ?? 0
    if let last, fix.acquired > last.acquired {
      let step = last.coordinate.localDistance(to: fix.coordinate)
      speed = max(speed, step / max((fix.acquired - last.acquired).seconds, 1))
    }
    last = fix
    if speed >= faded(at: fix.acquired) {
      peak = speed
      peakAt = fix.acquired
    }
  }

  /// The fastest that is plausible at `now`, m/s; above 0.
  public func fastest(at now: Instant) -> Double {
    min(most, max(PlausiblePace.setOff, PlausiblePace.rise * faded(at: now)))
  }

  /// The peak loses half in each ``halfLife``, in straight lines: 1, 1/2, 1/3 …
  private func faded(at now: Instant) -> Double {
    peak / (1 + max((now - peakAt).seconds, 0) / PlausiblePace.halfLife)
  }
}
