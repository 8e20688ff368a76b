import CMath
import LocationTypes

/// When the next fix is needed for the last one to stay within a distance of the truth.
public struct MovementPlanner: Equatable, Sendable {
  private var last: Fix?

  /// Nothing is known of the wearer.
  public init() {}

  /// Takes a fix that is told, and says when the next one must be there.
  public mutating func nextFix(
    after fix: Fix, within bound: Double, _ figures: PlannerFigures, line: MotionLine,
    timeToFix: TimeToFixPredictor, at now: Instant
  ) -> Instant {
    var speed = fix.speed ?? 0
    if let last {
      let time = (fix.acquired - last.acquired).seconds
      let far = last.coordinate.localDistance(to: fix.coordinate)
      if time > 0.5 { speed = max(speed, far / time) }
    }
    last = fix
    speed = max(speed * 1.3, 1.5)
    return now + Interval(seconds: min(max((bound - 5) / speed, 0), 120))
  }
}
