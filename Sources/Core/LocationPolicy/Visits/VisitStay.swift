import LocationTypes

/// What a stay needs to know of one fix.
struct VisitMark: Equatable, Sendable {
  var acquired: Instant
  var coordinate: Coordinate
  /// m/s, where the receiver told it.
  var speed: Double?
  private var utc: UTCTime?

  init(_ fix: Fix) {
    acquired = fix.acquired
    coordinate = fix.coordinate
    speed = fix.speed
    utc = fix.utc
  }

  /// From this speed in m/s on somebody is under way.
  static let underWay = 1.0
  /// Up to this distance in metres one walks, where no speed was told; the speeds are in m/s.
  private static let walkable = 1500.0
  private static let walk = 1.3
  private static let ride = 8.0

  var isUnderWay: Bool {
    guard let speed else { return false }
    return speed >= VisitMark.underWay
  }

  /// How long a way of `metres` takes that this fix is the beginning or the end of, at most `most`.
  func time(for metres: Double, atMost most: Interval) -> Interval {
    let assumed = metres <= VisitMark.walkable ? VisitMark.walk : VisitMark.ride
    let speed = isUnderWay ? self.speed ?? assumed : assumed
    return min(most, Interval(seconds: max(0, metres) / speed))
  }

  /// Another moment, with the UTC that follows from this fix's.
  func moment(_ instant: Instant) -> VisitMoment {
    VisitMoment(instant: instant, utc: utc.map { $0 + (instant - acquired) })
  }
}

/// A place where somebody may be staying: fixes near each other, in constant memory.
///
/// The centre is a running mean. A fix taken under way hardly counts: the way to the door moves it
/// little. Once there are many, one farther off than half a radius pulls no harder than that.
struct VisitStay: Equatable, Sendable {
  /// The last fix before the stay, nil when the stay was there first.
  let before: VisitMark?
  /// The first fix inside.
  let first: VisitMark
  /// The newest fix inside.
  private(set) var last: VisitMark
  /// The place.
  private(set) var centre: Coordinate
  /// The mean accuracy of its fixes, metres.
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

  /// So many fixes at rest make a centre that one can trust.
  private static let many = 60.0

  /// So much of the radius is near the centre; on a straight way through one is half of it away.
  private static let middle = 0.25

  private static func weight(of mark: VisitMark) -> Double { mark.isUnderWay ? 0.05 : 1 }

  /// A fix inside; it moves the centre.
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

  /// Whether a fix `away` metres from the centre, inside the circle, belongs to the stay, or is
  /// one on a slow way through: that has come a whole radius from where it began (VIS-10).
  ///
  /// Near the centre somebody has been most of the time, however far off the first fix was.
  func holds(_ mark: VisitMark, away: Double, reach: Double) -> Bool {
    away <= reach * VisitStay.middle || first.coordinate.localDistance(to: mark.coordinate) < reach
  }

  /// A fix inside after the visit was told: the place stays what was told (VIS-6).
  mutating func stay(until mark: VisitMark) { last = mark }

  /// When the circle around the centre was entered; nil when nobody saw it.
  ///
  /// From the last fix outside on at the speed it told, and never later than the first fix inside.
  func arrival(terms: VisitTerms) -> VisitMoment? {
    let radius = terms.reach(accuracy: accuracy)
    let early = centre.localDistance(to: first.coordinate) - radius
    if early > 0 {
      let way = first.time(for: early, atMost: last.acquired - first.acquired)
      return first.moment(first.acquired + way)
    }
    guard let before else { return nil }
    let outside = centre.localDistance(to: before.coordinate) - radius
    let way = before.time(for: outside, atMost: first.acquired - before.acquired)
    return first.moment(before.acquired + way)
  }

  /// When the circle was left, if `mark` is the first fix outside.
  func departure(terms: VisitTerms, outside mark: VisitMark) -> VisitMoment {
    let radius = terms.reach(accuracy: accuracy)
    let way = mark.time(
      for: centre.localDistance(to: mark.coordinate) - radius,
      atMost: mark.acquired - last.acquired)
    return mark.moment(mark.acquired - way)
  }

  /// From when on a fix inside makes this a visit; `earliest` is when the last visit ended.
  func ripens(terms: VisitTerms, earliest: Instant) -> Instant {
    let arrived = max(arrival(terms: terms)?.instant ?? first.acquired, earliest)
    return max(first.acquired + terms.shortest, arrived + terms.dwell)
  }
}
