import LocationTypes

extension RegionMonitor {
  /// When the next fix is needed (REG-16); the far future when nothing is monitored.
  ///
  /// - A circle whose state is known: (distance to its boundary − accuracy) / `fastest` after the
  ///   newest fix; not sooner than ``RegionLimits/stillWait`` after it while nothing moves.
  /// - A crossing under way: when its 20 s are over, moving or not.
  /// - An unknown state: as soon as may be; while nothing moves and nobody waits for an answer, as
  ///   if it were known. Now, if no fix was looked at yet.
  ///
  /// Never sooner than ``RegionLimits/shortestWait`` after the newest fix. O(capacity).
  ///
  /// - Parameters:
  ///   - now: The time; what is overdue is needed now.
  ///   - fastest: The speed in m/s that is plausible until then, above 0.
  ///   - line: ``MotionLine/still`` only if it said so ever since the newest fix.
  public func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    precondition(fastest > 0, "a fix is asked for because something may move")
    guard count > 0, !isResting else { return .distantFuture }
    guard let newest else { return now }
    let moved = reach.metres(to: newest.coordinate)
    var next = Instant.distantFuture
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      guard slots[i].slack > -.infinity else { return now }
      next = min(next, wanted(i, after: newest, moved: moved, fastest: fastest, line: line))
    }
    return max(now, next)
  }

  private func wanted(
    _ i: Int, after fix: Newest, moved: Double, fastest: Double, line: MotionLine
  ) -> Instant {
    let soonest = fix.acquired + limits.shortestWait
    if let since = slots[i].crossing.pendingSince {
      return max(soonest, since + RegionCrossing.dwell)
    }
    let rested = max(soonest, line == .still ? fix.acquired + limits.stillWait : soonest)
    if slots[i].state == .unknown { return slots[i].requests > 0 ? soonest : rested }
    let seconds = (slots[i].gap(after: moved) - fix.accuracy) / fastest
    guard seconds > 0 else { return rested }
    return max(rested, fix.acquired + Interval(seconds: seconds))
  }
}
