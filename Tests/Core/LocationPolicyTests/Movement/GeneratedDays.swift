import TestSupport

/// Days of one user, generated from a seed: home, work, lunch, shops, errands, walks and drives,
/// with receiver noise outdoors and indoors, and outages indoors.
struct GeneratedDays {
  struct Sample {
    var time: Double
    /// Metres from the origin, with the receiver's noise.
    var east: Double
    var north: Double
    var accuracy: Double
    var speed: Double
    var hasFix: Bool
  }

  struct Stay {
    var start: Double
    var end: Double
    var east: Double
    var north: Double
  }

  struct Place {
    var east: Double
    var north: Double
  }

  /// Longest outage indoors.
  enum Outages {
    case none
    /// Up to 14 minutes: shorter than the reference's gap.
    case short
    /// Up to the whole stay.
    case long
  }

  private(set) var samples: [Sample] = []
  /// Stops of 3 minutes and more.
  private(set) var stays: [Stay] = []
  /// Changes of the motion that a motion sensor detects, with their times, in ascending order.
  private(set) var motion: [(since: Double, moves: Bool)] = []

  private var generator: SplitMix64
  private let interval: Double
  private let outages: Outages
  private var time = 0.0
  private var position = Place(east: 0, north: 0)
  private var error = Place(east: 0, north: 0)

  init(seed: UInt64, days: Int, interval: Double = 1, outages: Outages = .short) {
    generator = SplitMix64(seed: seed)
    self.interval = interval
    self.outages = outages
    samples.reserveCapacity(Int(Double(days) * 86_400 / interval) + 1000)
    let home = position
    let work = far(from: home, 3000...9000)
    for day in 0..<days {
      let midnight = Double(day) * 86_400
      stay(until: midnight + uniform(6.5...8.5) * 3600)
      if day % 7 < 5 { workday(home, work) } else { weekend(home) }
      if outdoors { walk(home) }
      travel(to: home)
    }
    stay(until: Double(days) * 86_400 + 6 * 3600)
  }

  private var outdoors: Bool { mutating get { uniform(0...1) < 0.4 } }

  private mutating func workday(_ home: Place, _ work: Place) {
    travel(to: work)
    stay(minutes: 180...280)
    travel(to: far(from: work, 450...1200))
    stay(minutes: 26...60)
    travel(to: work)
    stay(minutes: 180...260)
    errands(1...2, from: home)
  }

  private mutating func weekend(_ home: Place) {
    errands(2...3, from: home)
    travel(to: home)
    stay(minutes: 60...180)
    errands(1...2, from: home)
  }

  private mutating func errands(_ count: ClosedRange<Int>, from home: Place) {
    for _ in 0..<Int.random(in: count, using: &generator) {
      travel(to: far(from: home, 900...6000))
      if uniform(0...1) < 0.25 { stay(minutes: 6...12) } else { stay(minutes: 25...80) }
    }
  }

  private mutating func walk(_ home: Place) {
    for _ in 0..<4 { travel(to: far(from: home, 300...900)) }
  }

  private mutating func uniform(_ range: ClosedRange<Double>) -> Double {
    Double.random(in: range, using: &generator)
  }

  /// A place in that range of distances, in a random direction.
  private mutating func far(from: Place, _ distance: ClosedRange<Double>) -> Place {
    let length = uniform(distance)
    let east = uniform(-1...1) * length
    let remainder = (length * length - east * east).squareRoot()
    return Place(
      east: from.east + east, north: from.north + (uniform(0...1) < 0.5 ? remainder : -remainder))
  }

  private mutating func travel(to end: Place) {
    let (east, north) = (end.east - position.east, end.north - position.north)
    let length = (east * east + north * north).squareRoot()
    guard length > 0 else { return }
    // Around a corner: streets are not straight.
    let side = uniform(-0.35...0.35)
    let corner = Place(
      east: position.east + east / 2 - north * side,
      north: position.north + north / 2 + east * side)
    let speed = length < 1500 ? 1.3 : (length < 3500 ? 4.5 : 11.0)
    motion.append((time, true))
    straight(to: corner, speed)
    straight(to: end, speed)
  }

  private mutating func straight(to end: Place, _ usual: Double) {
    let start = position
    let (east, north) = (end.east - start.east, end.north - start.north)
    let length = (east * east + north * north).squareRoot()
    var travelled = 0.0
    var untilStop = uniform(300...1500)
    while travelled < length {
      let speed = usual * uniform(0.85...1.1)
      travelled = min(length, travelled + speed * interval)
      position = Place(
        east: start.east + east * travelled / length,
        north: start.north + north * travelled / length)
      emit(speed: speed, deviation: 3, correlation: 60)
      if usual > 2, travelled > untilStop {
        untilStop = travelled + uniform(300...2500)
        let end = time + uniform(15...165)
        while time < end { emit(speed: 0, deviation: 3, correlation: 60) }
      }
    }
  }

  private mutating func stay(minutes: ClosedRange<Double>) {
    stay(until: time + uniform(minutes) * 60)
  }

  private mutating func stay(until end: Double) {
    guard end > time else { return }
    let centre = position
    stays.append(Stay(start: time, end: end, east: centre.east, north: centre.north))
    motion.append((time, false))
    var outage = end...end
    let length = end - time
    if outages != .none, length > 1200, uniform(0...1) < 0.5 {
      let start = time + uniform(20...300)
      let most = outages == .short ? 840 : length - 320
      outage = start...(start + uniform(120...most))
    }
    var target = centre
    var nextMove = time + uniform(60...600)
    while time < end {
      if time > nextMove {
        // Walk indoors, then stay still again.
        target = Place(
          east: centre.east + uniform(-9...9), north: centre.north + uniform(-9...9))
        nextMove = time + uniform(120...2400)
        motion.append((time, true))
        if time + 60 < end { motion.append((time + 60, false)) }
      }
      let (east, north) = (target.east - position.east, target.north - position.north)
      let distance = (east * east + north * north).squareRoot()
      let step = min(distance, 0.7 * interval)
      if distance > 0 {
        position = Place(
          east: position.east + east / distance * step,
          north: position.north + north / distance * step)
      }
      emit(
        speed: step / interval, deviation: 6, correlation: 90, hasFix: !outage.contains(time))
    }
  }

  private mutating func emit(
    speed: Double, deviation: Double, correlation: Double, hasFix: Bool = true
  ) {
    let keep = 1 - interval / correlation
    // Uniform steps: their sum over the correlation time is nearly normal.
    let step = deviation * (3 * (1 - keep * keep)).squareRoot()
    error.east = error.east * keep + uniform(-step...step)
    error.north = error.north * keep + uniform(-step...step)
    samples.append(
      Sample(
        time: time, east: position.east + error.east, north: position.north + error.north,
        accuracy: deviation * 1.4, speed: speed + deviation / 40 * uniform(0...1),
        hasFix: hasFix))
    time += interval
  }
}
