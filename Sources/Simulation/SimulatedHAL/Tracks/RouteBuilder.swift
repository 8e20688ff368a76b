import CCore
import LocationTypes

// Generates the tracks of ``Scenario``: routes of legs, and the movement along them.

/// A point on the local plane of a generated town; metres from the origin, ``Scenario/home``.
struct RoutePoint: Equatable, Sendable {
  var east: Double
  var north: Double

  func distance(to other: RoutePoint) -> Double {
    let e = other.east - east
    let n = other.north - north
    return sqrt(e * e + n * n)
  }
}

/// Speeds, acceleration and stops of one mode of travel.
struct TravelMode: Sendable {
  /// Speed on a straight line, m/s.
  var cruiseSpeed: Double
  /// Speed around a right-angled corner, m/s.
  var cornerSpeed: Double
  /// Acceleration, m/s².
  var acceleration: Double
  /// Probability of a stop at a corner, 0 to 1, and its duration, s.
  var stopChance: Double
  var stopDuration: ClosedRange<Double>
  /// Standard deviation of the cruise speed, relative to it.
  var speedVariation: Double

  static let walking = TravelMode(
    cruiseSpeed: 1.4, cornerSpeed: 1.1, acceleration: 0.7, stopChance: 0.12, stopDuration: 8...40,
    speedVariation: 0.06)
  static let running = TravelMode(
    cruiseSpeed: 2.8, cornerSpeed: 2.4, acceleration: 1, stopChance: 0, stopDuration: 0...0,
    speedVariation: 0.04)
  static let driving = TravelMode(
    cruiseSpeed: 13.5, cornerSpeed: 5, acceleration: 1.8, stopChance: 0.35, stopDuration: 10...60,
    speedVariation: 0.05)
  static let fastRoad = TravelMode(
    cruiseSpeed: 21, cornerSpeed: 5, acceleration: 1.6, stopChance: 0.15, stopDuration: 15...60,
    speedVariation: 0.04)
  static let motorway = TravelMode(
    cruiseSpeed: 31, cornerSpeed: 6, acceleration: 1.5, stopChance: 0, stopDuration: 0...0,
    speedVariation: 0.03)
}

/// A polyline with a mode of travel for each leg.
struct Route: Sendable {
  /// A straight line from the previous corner to `to`.
  struct Leg: Sendable {
    var to: RoutePoint
    var travelMode: TravelMode
  }

  var start: RoutePoint
  var legs: [Leg] = []

  /// End point.
  var end: RoutePoint { legs.last?.to ?? start }

  /// The route in the opposite direction.
  var reversed: Route {
    var result = Route(start: end)
    for i in legs.indices.reversed() {
      result.legs.append(Leg(to: i > 0 ? legs[i - 1].to : start, travelMode: legs[i].travelMode))
    }
    return result
  }
}

/// Builds the track of a scenario leg by leg: one point per second of movement, and one at the end of a stay.
struct RouteBuilder {
  var random: SimulationRandom
  private(set) var position = RoutePoint(east: 0, north: 0)
  private(set) var time_s = 0.0
  private let end_s: Double
  private var points: [TrackPoint] = []
  private var heading: (east: Double, north: Double) = (0, 1)
  private var commute: Route?

  init(seed: UInt64, until end: Interval) {
    random = SimulationRandom(seed: seed, stream: 7)
    end_s = end.seconds
    appendPoint(speed: 0)
  }

  /// Whether the duration has been reached.
  var isDone: Bool { time_s >= end_s }

  // MARK: Routes

  /// Returns a route without legs that starts at the present position.
  func emptyRoute() -> Route { Route(start: position) }

  /// Appends blocks of a street grid: each continues straight or turns by a right angle, left or right.
  mutating func addStreets(
    to route: inout Route, count: Int, length: ClosedRange<Double>, straight: Double,
    _ mode: TravelMode
  ) {
    var corner = route.end
    for _ in 0..<count {
      if random.uniform() >= straight {
        let left = random.uniform() < 0.5
        heading = left ? (-heading.north, heading.east) : (heading.north, -heading.east)
      }
      let block = random.uniform(length.lowerBound, length.upperBound)
      corner.east += heading.east * block
      corner.north += heading.north * block
      route.legs.append(Route.Leg(to: corner, travelMode: mode))
    }
  }

  /// Appends a winding road whose parts deviate by at most `turn` degrees from its direction.
  mutating func addBends(
    to route: inout Route, count: Int, length: ClosedRange<Double>, turn: Double, _ mode: TravelMode
  ) {
    var corner = route.end
    for _ in 0..<count {
      let angle = random.uniform(-turn, turn) * 3.141_592_653_589_793 / 180
      let part = random.uniform(length.lowerBound, length.upperBound)
      corner.east += (heading.east * cos(angle) + heading.north * sin(angle)) * part
      corner.north += (heading.north * cos(angle) - heading.east * sin(angle)) * part
      route.legs.append(Route.Leg(to: corner, travelMode: mode))
    }
  }

  /// Returns the route from home to work: streets, a fast road, streets. It is the same on every day of a track.
  mutating func commuteRoute() -> Route {
    if let commute { return commute }
    var route = emptyRoute()
    addStreets(to: &route, count: 8, length: 100...350, straight: 0.5, .driving)
    addBends(to: &route, count: 9, length: 500...1_100, turn: 12, .fastRoad)
    addStreets(to: &route, count: 8, length: 100...350, straight: 0.5, .driving)
    commute = route
    return route
  }

  // MARK: Movement

  /// Stays at the present position for a number of seconds.
  mutating func stay(_ seconds: Double) {
    stay(until: time_s + seconds)
  }

  /// Stays at the present position until a time; does nothing if it has passed.
  mutating func stay(until end: Double) {
    guard !isDone, end > time_s else { return }
    time_s = min(end, end_s)
    appendPoint(speed: 0)
  }

  /// Moves along a route and stops at its end.
  ///
  /// - Precondition: The route starts at the present position.
  mutating func move(along route: Route) {
    if isDone { return }
    precondition(
      position.distance(to: route.start) < 0.01,
      "the route starts at the present position")
    var v = 0.0
    for i in route.legs.indices {
      if isDone { return }
      let leg = route.legs[i]
      let next = i + 1 < route.legs.count ? route.legs[i + 1].to : nil
      let stops = next == nil || random.uniform() < leg.travelMode.stopChance
      let exit = stops ? 0 : exitSpeed(from: position, over: leg.to, to: next, leg.travelMode)
      v = moveStraight(to: leg.to, from: v, exit: exit, leg.travelMode)
      if stops, next != nil {
        stay(
          random.uniform(
            leg.travelMode.stopDuration.lowerBound, leg.travelMode.stopDuration.upperBound))
        v = 0
      }
    }
  }

  /// Returns the speed at the end of a leg: full speed straight on, corner speed at a right angle, less for a turn
  /// back.
  private func exitSpeed(
    from a: RoutePoint, over b: RoutePoint, to c: RoutePoint?, _ mode: TravelMode
  ) -> Double {
    guard let c else { return 0 }
    let ab = max(a.distance(to: b), 1e-6)
    let bc = max(b.distance(to: c), 1e-6)
    let cosine =
      ((b.east - a.east) * (c.east - b.east) + (b.north - a.north) * (c.north - b.north))
      / (ab * bc)
    return cosine >= 0
      ? mode.cornerSpeed + (mode.cruiseSpeed - mode.cornerSpeed) * cosine
      : mode.cornerSpeed * (1 + cosine)
  }

  /// Moves to `target` in steps of one second; returns the speed at arrival.
  private mutating func moveStraight(
    to target: RoutePoint, from speed: Double, exit: Double, _ mode: TravelMode
  ) -> Double {
    let total = position.distance(to: target)
    guard total > 0 else { return speed }
    let east = (target.east - position.east) / total
    let north = (target.north - position.north) / total
    var v = speed
    var remaining = total
    while !isDone {
      let cruise = mode.cruiseSpeed * (1 + mode.speedVariation * random.normal())
      // The highest speed that can be kept for one second and then be reduced to `exit` within the remaining distance.
      let a = mode.acceleration
      let braking = sqrt(a * a + exit * exit + 2 * a * remaining) - a
      let targetSpeed = max(min(cruise, braking), 0.3)
      v += min(max(targetSpeed - v, -2 * a), a)
      v = max(v, 0.3)
      // The last step is shorter than a second, so that every leg ends exactly on its corner.
      let step = min(1, remaining / v)
      remaining -= v * step
      time_s = min(time_s + max(step, 0.05), end_s)
      position =
        remaining < 1e-9
        ? target
        : RoutePoint(east: target.east - east * remaining, north: target.north - north * remaining)
      if remaining < 1e-9 { break }
      appendPoint(speed: v)
    }
    appendPoint(speed: exit == 0 && remaining < 1e-9 ? 0 : v)
    return min(v, max(exit, 0.3))
  }

  private mutating func appendPoint(speed: Double) {
    let offset = Interval(seconds: time_s)
    if let last = points.last, last.offset >= offset { return }
    // Gentle hills, on average 40 m above sea level.
    let altitude = 40 + 12 * sin(position.east / 900) * cos(position.north / 700)
    points.append(
      TrackPoint(
        offset: offset,
        coordinate: Scenario.home.moved(east: position.east, north: position.north),
        altitude_mm: Int32((altitude * 1e3).rounded()),
        speed_mmps: Int32((speed * 1e3).rounded())))
  }

  /// Returns the track. Stays do not count as gaps.
  func track(start: UTCTime) -> Track {
    Track(start: start, points: points, gapLimit: .unlimited)
  }
}
