import LocationTypes

extension VisitMonitor {
  /// When the service needs the next fix: the moment at which a search should begin.
  ///
  /// Under way every 4 minutes, and when a stay's dwell time would be over; during a visit every
  /// 8 minutes, 20 s after a first fix outside. While the motion line says that nothing moves, a
  /// visit is looked at every hour; when it turns, within a minute. `.distantFuture` when not
  /// started.
  ///
  /// - Parameters:
  ///   - fastest: The plausible speed until then, m/s; one that is not above 0 is not used. A
  ///     visit is not looked at before its circle can have been left at that speed.
  ///   - line: What the motion line says now.
  public func nextFix(at now: Instant, fastest: Double, line: MotionLine) -> Instant {
    guard let look else { return state == .idle ? .distantFuture : now }
    switch state {
    case .idle: return .distantFuture
    case .underWay: return underWayNext(after: look, line: line)
    case .visiting: return visitingNext(after: look, fastest: fastest, line: line)
    }
  }

  private func underWayNext(after look: Instant, line: MotionLine) -> Instant {
    let isStill = line == .still
    // It has come to rest since: the fix now says where, and nearly when.
    if isStill, self.line == .still, since > look { return max(look + terms.alert, since) }
    guard let here = outside ?? stay else { return look + retry(terms.underWay) }
    // On the way nobody is about to stay.
    if here.last.isUnderWay && here.first == here.last && !isStill {
      return look + retry(terms.underWay)
    }
    let ripe = here.ripens(terms: terms, earliest: earliest)
    if ripe <= look { return look + (misses > 0 ? retry(terms.underWay) : terms.confirmation) }
    return isStill ? ripe : min(ripe, look + retry(terms.underWay))
  }

  private func visitingNext(after look: Instant, fastest: Double, line: MotionLine) -> Instant {
    if outside != nil { return look + (misses > 0 ? retry(terms.resting) : terms.confirmation) }
    switch line {
    case .absent:
      let gap = min(terms.resting, doubled(terms.alert, looksInside))
      return look + max(gap, shortestWayOut(fastest: fastest))
    case .moving:
      let need = motionNeeded - moved
      // Before a minute is over, one could not see whether somebody walks out.
      guard self.line == .moving, since > look else { return look + max(.zero, need) }
      return since + max(terms.alert, need)
    case .still:
      // There was motion enough, and nobody looked.
      return moved >= motionNeeded ? max(look, since) : look + terms.still
    }
  }

  /// Less and less eager: somebody who moves about the house has not left each time.
  /// At the edge of the circle a few steps are enough.
  private var motionNeeded: Interval {
    let first = isAtEdge ? terms.confirmation : terms.motion
    return min(terms.resting, doubled(first, looksInside))
  }

  /// How long it takes to leave the circle at that speed.
  private func shortestWayOut(fastest: Double) -> Interval {
    guard fastest > 0, let stay else { return .zero }
    let left = terms.departure * terms.reach(accuracy: stay.accuracy) - away
    return Interval(seconds: left / fastest)
  }

  /// After searches in vain: a minute, two, four, at most `most`.
  private func retry(_ most: Interval) -> Interval {
    misses > 0 ? min(most, doubled(terms.alert, misses - 1)) : most
  }

  private func doubled(_ gap: Interval, _ times: Int) -> Interval {
    gap * (1 << Int64(min(times, 8)))
  }
}
