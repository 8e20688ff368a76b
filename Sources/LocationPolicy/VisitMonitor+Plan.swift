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
    guard state != .idle else { return .distantFuture }
    guard let look else { return now }
    switch state {
    case .idle: return .distantFuture
    case .underWay: return look + underWayGap(after: look, line: line)
    case .visiting: return look + visitingGap(fastest: fastest, line: line)
    }
  }

  private func underWayGap(after look: Instant, line: MotionLine) -> Interval {
    // It has come to rest since: the fix now says where, and nearly when.
    if line == .still && lineThen != .still { return terms.alert }
    guard let here = outside ?? stay else { return retry(terms.underWay) }
    // On the way nobody is about to stay.
    if here.last.isUnderWay && here.first == here.last && line != .still {
      return retry(terms.underWay)
    }
    let ripe = here.ripens(terms: terms, earliest: earliest)
    if ripe <= look { return misses > 0 ? retry(terms.underWay) : terms.confirmation }
    if misses > 0 && line != .still { return min(ripe - look, retry(terms.underWay)) }
    return line == .still ? ripe - look : min(ripe - look, terms.underWay)
  }

  private func visitingGap(fastest: Double, line: MotionLine) -> Interval {
    if outside != nil { return misses > 0 ? retry(terms.resting) : terms.confirmation }
    if line == .still && lineThen == .still { return terms.still }
    if line == .moving && lineThen == .still { return terms.alert }
    let gap = min(terms.resting, doubled(looksInside))
    guard fastest > 0, let stay else { return gap }
    let left = terms.departure * terms.reach(accuracy: stay.accuracy) - away
    return max(gap, Interval(seconds: left / fastest))
  }

  /// After searches in vain: a minute, two, four, at most `most`.
  private func retry(_ most: Interval) -> Interval {
    misses > 0 ? min(most, doubled(misses - 1)) : most
  }

  private func doubled(_ times: Int) -> Interval { terms.alert * (1 << Int64(min(times, 8))) }
}
