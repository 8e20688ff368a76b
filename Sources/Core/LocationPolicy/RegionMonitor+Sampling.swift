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
  /// Never sooner than ``RegionLimits/shortestWait`` after the newest fix. O(capacity) the first time
  /// after a circle was looked at, else O(1). It is `mutating` for what it finds it keeps.
  ///
  /// - Parameters:
  ///   - now: The time; what is overdue is needed now.
  ///   - fastest: The speed in m/s that is plausible until then, above 0.
  ///   - line: ``MotionLine/still`` only if it said so ever since the newest fix.
  public mutating func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    precondition(fastest > 0, "a fix is asked for because something may move")
    guard count > 0, !isResting else { return .distantFuture }
    guard let newest else { return now }
    let outlook = lookAhead()
    guard !outlook.isUnseen else { return now }
    let soonest = newest.acquired + limits.shortestWait
    let rested = line == .still ? max(soonest, newest.acquired + limits.stillWait) : soonest
    var next = Instant.distantFuture
    if outlook.dwellsUntil < next { next = max(soonest, outlook.dwellsUntil) }
    if outlook.isUndecided { next = min(next, deadline < .distantFuture ? soonest : rested) }
    guard outlook.nearest < .infinity else { return max(now, next) }
    let gap = outlook.nearest - reach.metres(to: newest.coordinate) - accuracy(of: newest)
    let wait = Interval(seconds: max(gap, 0) / fastest)
    return max(now, min(next, max(rested, newest.acquired + wait)))
  }

  private mutating func lookAhead() -> RegionOutlook {
    if let outlook { return outlook }
    var outlook = RegionOutlook()
    for i in 0..<RegionMonitor.capacity where slots[i].use == .live {
      slots[i].add(to: &outlook, changesAt: changesAt[i])
    }
    outlook.nearest -= travelled
    self.outlook = outlook
    return outlook
  }
}

/// What ``RegionMonitor/nextFix(at:fastest:line:)`` must know of all circles.
struct RegionOutlook: Sendable {
  /// Metres from the origin to the nearest boundary; ∞ if no state is known.
  var nearest = Double.infinity
  /// When the first crossing under way has kept the far side long enough.
  var dwellsUntil = Instant.distantFuture
  /// A fix was looked at, and decided nothing.
  var isUndecided = false
  /// No fix was looked at for some circle.
  var isUnseen = false
}

extension RegionSlot {
  /// Has this circle taken into account; `mutating` so that it is looked at in place.
  mutating func add(to outlook: inout RegionOutlook, changesAt: Double) {
    if changesAt == -.infinity { outlook.isUnseen = true }
    if crossing.pendingSince != nil {
      outlook.dwellsUntil = min(outlook.dwellsUntil, dwellsUntil)
    } else if crossing.state == .unknown {
      outlook.isUndecided = true
    } else {
      // At its boundary, at least.
      let margin = RegionPlace.leastMargin(radius: region.radius)
      outlook.nearest = min(outlook.nearest, changesAt - margin)
    }
  }
}
