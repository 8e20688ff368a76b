import LocationTypes

/// The part of a fix that stay detection uses.
struct VisitMark: Equatable, Sendable {
  var acquired: Instant
  var coordinate: Coordinate
  /// Speed, m/s; nil if the receiver reported none.
  var speed: Double?
  private var utc: UTCTime?

  init(_ fix: Fix) {
    acquired = fix.acquired
    coordinate = fix.coordinate
    speed = fix.speed
    utc = fix.utc
  }

  /// Speed from which the device counts as moving, m/s.
  static let underWay = 1.0
  /// Distance up to which walking is assumed if no speed was reported, metres; the two assumed speeds follow, m/s.
  private static let walkable = 1500.0
  private static let walk = 1.3
  private static let ride = 8.0

  var isUnderWay: Bool {
    guard let speed else { return false }
    return speed >= VisitMark.underWay
  }

  /// Time to travel `metres`, of which this fix is the beginning or the end; at most `most`.
  func time(for metres: Double, atMost most: Interval) -> Interval {
    let assumed = metres <= VisitMark.walkable ? VisitMark.walk : VisitMark.ride
    let speed = isUnderWay ? self.speed ?? assumed : assumed
    return min(most, Interval(seconds: max(0, metres) / speed))
  }

  /// Another time, with the UTC that follows from this fix's UTC.
  func moment(_ instant: Instant) -> VisitMoment {
    VisitMoment(instant: instant, utc: utc.map { $0 + (instant - acquired) })
  }
}

/// A location where the device may be staying: fixes near each other, in constant memory.
///
/// The centre is a running mean. A fix at travelling speed has 5 % of the weight of another one, so that an approach
/// moves the centre little. After many fixes, a fix more than half a radius away moves the centre no more than one at
/// half a radius.
struct VisitStay: Equatable, Sendable {
  /// The last fix before the stay; nil if the service started inside it.
  let before: VisitMark?
  /// The first fix inside.
  let first: VisitMark
  /// The newest fix inside.
  private(set) var last: VisitMark
  /// Centre of the stay.
  private(set) var centre: Coordinate
  /// Mean horizontal accuracy of its fixes, metres.
  private(set) var accuracy: Double
  private var weight: Double

  init(first: VisitMark, accuracy: Double, before: VisitMark?) {
    self.before = before
    self.first = first
    last = first
    centre = first.coordinate
    self.accuracy = accuracy
    weight = VisitStay.weight(of: first)
  }

  /// Weight from which the centre is stable (60 fixes at rest).
  private static let many = 60.0

  /// Share of the radius that counts as near the centre; on a straight pass half of the distance lies farther out.
  private static let middle = 0.25

  private static func weight(of mark: VisitMark) -> Double { mark.isUnderWay ? 0.05 : 1 }

  /// Adds a fix inside; it moves the centre.
  mutating func add(_ mark: VisitMark, accuracy: Double, terms: VisitTerms) {
    let new = VisitStay.weight(of: mark)
    weight += new
    let offset = centre.localOffset(to: mark.coordinate)
    let away = (offset.east * offset.east + offset.north * offset.north).squareRoot()
    let limit = weight > VisitStay.many ? terms.radius / 2 : .infinity
    let pull = new / weight * (away > limit ? limit / away : 1)
    centre = centre.moved(east: offset.east * pull, north: offset.north * pull)
    self.accuracy += (accuracy - self.accuracy) * new / weight
    last = mark
  }

  /// Whether a fix `away` metres from the centre, inside the circle, belongs to the stay. It does not if it belongs to
  /// a slow pass: such a fix is a whole radius away from the first one (VIS-10).
  ///
  /// A fix near the centre always belongs to the stay, however far away the first fix was.
  func holds(_ mark: VisitMark, away: Double, reach: Double) -> Bool {
    away <= reach * VisitStay.middle || first.coordinate.localDistance(to: mark.coordinate) < reach
  }

  /// Adds a fix inside after the arrival was reported: the centre stays as reported (VIS-6).
  mutating func stay(until mark: VisitMark) { last = mark }

  /// When the circle around the centre was entered; nil if the service started inside it.
  ///
  /// Computed from the last fix outside and its speed, and never later than the first fix inside.
  func arrival(terms: VisitTerms) -> VisitMoment? {
    let radius = terms.reach(accuracy: accuracy)
    let early = centre.localDistance(to: first.coordinate) - radius
    if early > 0 {
      let travel = first.time(for: early, atMost: last.acquired - first.acquired)
      return first.moment(first.acquired + travel)
    }
    guard let before else { return nil }
    let outside = centre.localDistance(to: before.coordinate) - radius
    let travel = before.time(for: outside, atMost: first.acquired - before.acquired)
    return first.moment(before.acquired + travel)
  }

  /// When the circle was left, if `mark` is the first fix outside.
  func departure(terms: VisitTerms, outside mark: VisitMark) -> VisitMoment {
    let radius = terms.reach(accuracy: accuracy)
    let travel = mark.time(
      for: centre.localDistance(to: mark.coordinate) - radius,
      atMost: mark.acquired - last.acquired)
    return mark.moment(mark.acquired - travel)
  }

  /// Time from which a fix inside makes this stay a visit; `earliest` is the end of the last visit.
  func ripens(terms: VisitTerms, earliest: Instant) -> Instant {
    let arrived = max(arrival(terms: terms)?.instant ?? first.acquired, earliest)
    return max(first.acquired + terms.shortest, arrived + terms.dwell)
  }
}
