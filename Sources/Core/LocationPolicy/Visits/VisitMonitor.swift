import LocationTypes

/// The machine of the visits service for one client: `idle → underWay ⇄ visiting`.
///
/// It takes every fix there is, or only those it asked for by ``nextFix(at:fastest:line:)``. An
/// arrival is told when a stay has lasted its dwell time, a departure after two fixes outside; time
/// without fixes changes nothing (VIS-11). It owns no receiver and tells nobody; its owner does
/// what the outcome says. O(1) in time and memory.
public struct VisitMonitor: Equatable, Sendable {
  /// Where the service stands.
  public enum State: UInt8, Sendable {
    /// Not started.
    case idle = 0
    /// No visit is going on, as far as one knows.
    case underWay = 1
    /// An arrival was told, its departure was not.
    case visiting = 2
  }

  /// What the owner has to do.
  public enum Outcome: Equatable, Sendable {
    /// Nothing.
    case nothing
    /// Tell a visit without departure (VIS-5).
    case arrived(Visit)
    /// Tell the same visit with its departure.
    case departed(Visit)
  }

  /// What makes a visit.
  public let terms: VisitTerms
  /// Where it stands.
  public private(set) var state = State.idle
  /// The visit that was told and lasts; it can be kept for a later start (VIS-7).
  public private(set) var visit: Visit?
  /// Where somebody is, or may be about to stay.
  var stay: VisitStay?
  /// The first of the newest fixes in a row that are outside of ``stay``, and what came before.
  var outside: VisitStay?
  /// The newest fix.
  private var newest: VisitMark?
  /// When the last visit ended: the next cannot have begun before.
  var earliest = Instant.boot
  /// The last look, with or without a fix; nil before the first.
  var look: Instant?
  /// Looks in a row without a fix.
  var misses = 0
  /// What the motion line says, since when, and how long it told motion since the last look.
  var line = MotionLine.absent
  var since = Instant.boot
  var moved = Interval.zero
  /// Looks since something hinted at a departure; at most ``calm``.
  var looksInside = VisitMonitor.calm
  /// How far from the centre the newest fix was, metres.
  var away = 0.0
  /// At the last look somebody was beyond the radius, or walked towards it, and had not left.
  var isAtEdge = false

  /// The visit that lasted when the service was stopped, and when that was (VIS-7).
  private var cached: Visit?
  private var stoppedAt = Instant.boot

  /// How long after a stop the visit that lasted is reported to a new start.
  public static let recent = Interval.seconds(300)
  /// So many looks after a hint one looks as seldom as without one.
  static let calm = 3

  /// Not started.
  public init(terms: VisitTerms = VisitTerms()) { self.terms = terms }

  /// Starts the service; does nothing when it is started.
  ///
  /// - Parameter cached: A visit that lasted when the service stopped a short while ago, with its
  ///   arrival on this boot's clock; where none is given, the one that lasted at ``stop(at:)``, at most
  ///   ``recent`` ago. It is reported again at once (VIS-7), and its departure later.
  public mutating func start(at now: Instant, cached given: Visit? = nil) -> Outcome {
    #if REACHED
      reach(0)
    #endif
    guard state == .idle else { return .nothing }
    state = .underWay
    let lasting = now - stoppedAt <= VisitMonitor.recent ? self.cached : nil
    self.cached = nil
    guard var cached = given ?? lasting, cached.coordinate.isValid else { return .nothing }
    cached.departure = nil
    // Nobody knows where the wearer was meanwhile: it cannot have ended before now.
    var place = Fix(acquired: now, coordinate: cached.coordinate)
    if let arrival = cached.arrival, let utc = arrival.utc {
      place.utc = utc + (now - arrival.instant)
    }
    if let arrival = cached.arrival, arrival.instant > now { cached.arrival = nil }
    stay = VisitStay(
      first: VisitMark(place), accuracy: max(0, cached.horizontalAccuracy), before: nil)
    visit = cached
    state = .visiting
    return .arrived(cached)
  }

  /// Stops the service and forgets all but a visit that lasts, which a start soon after reports again; an
  /// arrival that was told gets no departure.
  public mutating func stop(at now: Instant) {
    #if REACHED
      reach(1)
    #endif
    guard state != .idle else { return }
    let lasting = visit
    self = VisitMonitor(terms: terms)
    cached = lasting
    stoppedAt = now
  }

  /// Stops the service and forgets all: the client may not have visits any more (RNG-6).
  public mutating func forget() { self = VisitMonitor(terms: terms) }

  /// Takes a fix, from whatever source, in the order of acquisition; an older one is ignored.
  public mutating func take(_ fix: Fix) -> Outcome {
    #if REACHED
      reach(2)
    #endif
    guard state != .idle else { return .nothing }
    if let newest, fix.acquired <= newest.acquired { return .nothing }
    let accuracy = fix.horizontalAccuracy ?? PathMeter.assumedAccuracy
    guard accuracy <= terms.worstAccuracy else {
      miss(at: fix.acquired)
      return .nothing
    }
    let mark = VisitMark(fix)
    let before = newest
    newest = mark
    misses = 0
    let next = VisitStay(first: mark, accuracy: accuracy, before: before)
    let outcome = step(mark, accuracy: accuracy, next)
    noteLook(at: fix.acquired)
    noteEdge(of: terms.reach(accuracy: accuracy), mark)
    return outcome
  }

  /// A search of the receiver that began for this service ended without a fix. It says nothing
  /// about the wearer (VIS-11).
  public mutating func miss(at now: Instant) {
    #if REACHED
      reach(3)
    #endif
    guard state != .idle else { return }
    misses = min(misses + 1, 8)
    looksInside = min(looksInside + 1, VisitMonitor.calm)
    noteLook(at: now)
  }

  /// The motion line turned. It moves nobody by itself, but it says when to look.
  public mutating func turn(_ line: MotionLine, at now: Instant) {
    #if REACHED
      reach(4)
    #endif
    guard state != .idle, line != self.line else { return }
    switch self.line {
    case .moving: moved = moved + max(.zero, now - max(since, look ?? since))
    case .absent, .still: break
    }
    switch line {
    case .moving: looksInside = 0
    case .absent, .still: break
    }
    self.line = line
    since = now
  }

  /// `next` is a stay that would begin with this fix.
  private mutating func step(_ mark: VisitMark, accuracy: Double, _ next: VisitStay) -> Outcome {
    guard let here = stay else {
      stay = next
      return .nothing
    }
    away = here.centre.localDistance(to: mark.coordinate)
    let reach = terms.reach(accuracy: accuracy)
    switch state {
    case .idle: return .nothing
    case .underWay:
      if away <= reach, here.holds(mark, away: away, reach: reach) {
        stay?.add(mark, accuracy: accuracy, terms: terms)
        outside = nil
        return open()
      }
      guard let gone = left(mark, next) else { return .nothing }
      settle(in: gone, mark, accuracy: accuracy, next)
      return open()
    case .visiting:
      if away <= terms.departure * reach {
        stay?.stay(until: mark)
        outside = nil
        return .nothing
      }
      guard let gone = left(mark, next) else { return .nothing }
      settle(in: gone, mark, accuracy: accuracy, next)
      // One outcome a fix: an arrival at the next place waits for the next look.
      return close(here, outside: gone.first)
    }
  }

  /// A fix outside: the stay that began with the first of them, once they are two (VIS-9).
  private mutating func left(_ mark: VisitMark, _ next: VisitStay) -> VisitStay? {
    guard let first = outside else {
      outside = next
      return nil
    }
    guard mark.acquired - first.first.acquired >= terms.confirmation else { return nil }
    return first
  }

  /// Begins ``stay`` anew; the fix is in it, or outside again.
  private mutating func settle(
    in place: VisitStay, _ mark: VisitMark, accuracy: Double, _ next: VisitStay
  ) {
    stay = place
    outside = nil
    away = place.centre.localDistance(to: mark.coordinate)
    if away <= terms.reach(accuracy: accuracy) {
      stay?.add(mark, accuracy: accuracy, terms: terms)
    } else {
      outside = next
    }
  }

  private mutating func open() -> Outcome {
    guard let here = stay,
      here.last.acquired >= here.ripens(terms: terms, earliest: earliest)
    else { return .nothing }
    var arrival = here.arrival(terms: terms)
    if let seen = arrival, seen.instant < earliest { arrival = here.first.moment(earliest) }
    let opened = Visit(
      coordinate: here.centre, horizontalAccuracy: here.accuracy, arrival: arrival)
    visit = opened
    state = .visiting
    looksInside = VisitMonitor.calm
    return .arrived(opened)
  }

  private mutating func close(_ here: VisitStay, outside mark: VisitMark) -> Outcome {
    guard var closed = visit else { return .nothing }
    var departure = here.departure(terms: terms, outside: mark)
    // It was left in the motion that still goes on, not before.
    if line == .moving, since > departure.instant, since <= mark.acquired {
      departure = mark.moment(since)
    }
    if let arrival = closed.arrival, departure.instant < arrival.instant { departure = arrival }
    closed.departure = departure
    earliest = departure.instant
    visit = nil
    state = .underWay
    return .departed(closed)
  }

  private mutating func noteLook(at time: Instant) {
    look = max(look ?? time, time)
    moved = .zero
  }

  /// Counts the looks since the last hint: that the wearer comes to the edge of the circle.
  private mutating func noteEdge(of reach: Double, _ mark: VisitMark) {
    let wasAtEdge = isAtEdge
    isAtEdge = away > (mark.isUnderWay ? reach / 2 : reach)
    looksInside = isAtEdge && !wasAtEdge ? 0 : min(looksInside + 1, VisitMonitor.calm)
  }
}

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

#if REACHED
  extension VisitMonitor {
    static let machine = Machine(
      "VisitMonitor", states: "idle underWay visiting", events: "start stop fix miss line")

    func reach(_ event: Int) { VisitMonitor.machine.reach(Int(state.rawValue), event) }
  }
#endif
