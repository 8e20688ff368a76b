import LocationTypes

// The geometry of the visits service: one possible stay (``VisitStay``), its centre, and its times of arrival and
// departure, which lie between two fixes. ``VisitMonitor`` uses it to detect visits. Pure: no I/O, no clock, no heap.

/// The part of a fix that stay detection uses.
struct VisitSample: Equatable, Sendable {
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
  static let movingSpeed = 1.0
  /// Distance up to which walking is assumed, metres, and the speeds assumed up to it and beyond it, m/s. Used if the
  /// fix reports no speed, or one below ``movingSpeed``.
  private static let walkingDistance = 1500.0
  private static let walkingSpeed = 1.3
  private static let vehicleSpeed = 8.0

  var isMoving: Bool {
    speed.map { $0 >= VisitSample.movingSpeed } ?? false
  }

  /// Time to travel `metres` from or to this fix, at its speed if it is moving, else at an assumed one; at most `most`.
  func travelTime(for metres: Double, atMost most: Interval) -> Interval {
    let assumed =
      metres <= VisitSample.walkingDistance ? VisitSample.walkingSpeed : VisitSample.vehicleSpeed
    let speed = isMoving ? self.speed ?? assumed : assumed
    return min(most, Interval(seconds: max(0, metres) / speed))
  }

  /// `instant` with its UTC, computed from this fix's UTC; without UTC if this fix has none.
  func time(_ instant: Instant) -> FixTime {
    FixTime(acquired: instant, utc: utc.map { $0 + (instant - acquired) })
  }
}

/// A location where the device may be staying: fixes near each other, in constant memory.
///
/// The centre is a running mean. A fix at travelling speed has 5 % of the weight of another one, so that an approach
/// moves the centre little. After many fixes, a fix more than half a radius away moves the centre no more than one at
/// half a radius.
struct VisitStay: Equatable, Sendable {
  /// The last fix before the stay; nil if the service started inside it.
  let before: VisitSample?
  /// The first fix inside.
  let first: VisitSample
  /// The newest fix inside.
  private(set) var last: VisitSample
  /// Centre of the stay.
  private(set) var centre: Coordinate
  /// Mean horizontal accuracy of its fixes, metres.
  private(set) var accuracy: Double
  private var weight: Double

  init(first: VisitSample, accuracy: Double, before: VisitSample?) {
    self.before = before
    self.first = first
    last = first
    centre = first.coordinate
    self.accuracy = accuracy
    weight = VisitStay.weight(of: first)
  }

  /// Weight from which the centre is stable (60 stationary fixes).
  private static let stableWeight = 60.0

  /// Share of the radius that counts as near the centre. On a straight pass the centre, a running mean, is half a
  /// radius away from a fix that is a whole radius from the first one.
  private static let centreShare = 0.25

  private static func weight(of sample: VisitSample) -> Double { sample.isMoving ? 0.05 : 1 }

  /// Adds a fix inside; it moves the centre.
  mutating func add(_ sample: VisitSample, accuracy: Double, parameters: VisitParameters) {
    let newWeight = VisitStay.weight(of: sample)
    weight += newWeight
    let offset = centre.localOffset(to: sample.coordinate)
    let distance = (offset.east * offset.east + offset.north * offset.north).squareRoot()
    let limit = weight > VisitStay.stableWeight ? parameters.minimumRadius / 2 : .infinity
    let share = newWeight / weight * (distance > limit ? limit / distance : 1)
    centre = centre.moved(east: offset.east * share, north: offset.north * share)
    self.accuracy += (accuracy - self.accuracy) * newWeight / weight
    last = sample
  }

  /// Whether a fix `away` metres from the centre, inside the circle, belongs to the stay. It does not if it belongs to
  /// a slow pass: such a fix is a whole radius away from the first one (VIS-10).
  ///
  /// A fix near the centre always belongs to the stay, however far away the first fix was.
  func includes(_ sample: VisitSample, away: Double, reach: Double) -> Bool {
    away <= reach * VisitStay.centreShare
      || first.coordinate.localDistance(to: sample.coordinate) < reach
  }

  /// Adds a fix inside after the arrival was reported: the centre stays as reported (VIS-6).
  mutating func extend(to sample: VisitSample) { last = sample }

  /// When the circle around the centre was entered; nil if the service started inside it.
  ///
  /// Computed from the last fix outside and its speed, and never later than the first fix inside.
  func arrival(parameters: VisitParameters) -> FixTime? {
    let radius = parameters.radius(accuracy: accuracy)
    let excess = centre.localDistance(to: first.coordinate) - radius
    if excess > 0 {
      let travel = first.travelTime(for: excess, atMost: last.acquired - first.acquired)
      return first.time(first.acquired + travel)
    }
    guard let before else { return nil }
    let outside = centre.localDistance(to: before.coordinate) - radius
    let travel = before.travelTime(for: outside, atMost: first.acquired - before.acquired)
    return first.time(before.acquired + travel)
  }

  /// When the circle was left, if `sample` is the first fix outside.
  func departure(parameters: VisitParameters, outside sample: VisitSample) -> FixTime {
    let radius = parameters.radius(accuracy: accuracy)
    let travel = sample.travelTime(
      for: centre.localDistance(to: sample.coordinate) - radius,
      atMost: sample.acquired - last.acquired)
    return sample.time(sample.acquired - travel)
  }

  /// Time from which a fix inside makes this stay a visit; `earliest` is the end of the last visit.
  func visitDue(parameters: VisitParameters, earliest: Instant) -> Instant {
    let arrived = max(arrival(parameters: parameters)?.acquired ?? first.acquired, earliest)
    return max(first.acquired + parameters.minimumSpan, arrived + parameters.dwell)
  }
}
