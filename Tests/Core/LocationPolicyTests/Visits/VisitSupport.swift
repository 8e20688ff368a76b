import Foundation
import LocationTypes
import TestSupport

@testable import LocationPolicy

/// Degrees on the reference's sphere for metres around a place in the middle latitudes.
enum Sphere {
  static let radius = 6_371_000.0
  static let latitude = 47.0
  static let longitude = 8.0
  static let degree = radius * .pi / 180
  static let parallel = degree * cos(latitude * .pi / 180)

  static func sample(_ s: GeneratedDays.Sample) -> SlidingStayPoints.Sample {
    SlidingStayPoints.Sample(
      time: s.time, latitude: latitude + s.north / degree, longitude: longitude + s.east / parallel)
  }

  static func haversine(_ a: SlidingStayPoints.Sample, _ b: SlidingStayPoints.Sample) -> Double {
    let phi1 = a.latitude * .pi / 180
    let phi2 = b.latitude * .pi / 180
    let s1 = sin((phi2 - phi1) / 2)
    let s2 = sin((b.longitude - a.longitude) * .pi / 360)
    let h = s1 * s1 + cos(phi1) * cos(phi2) * s2 * s2
    return 2 * radius * atan2(h.squareRoot(), (1 - h).squareRoot())
  }

  static func coordinate(latitude: Double, longitude: Double) -> Coordinate {
    guard let made = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("a place on the globe")
    }
    return made
  }

  static func fix(_ s: GeneratedDays.Sample) -> Fix {
    let place = sample(s)
    var fix = Fix(
      acquired: Instant(seconds: s.time),
      coordinate: coordinate(latitude: place.latitude, longitude: place.longitude))
    fix.horizontalAccuracy_mm = Int32(s.accuracy * 1000)
    fix.speed_mmps = Int32(s.speed * 1000)
    return fix
  }
}

extension VisitParameters {
  /// The reference's thresholds: 200 m from the place, 20 minutes.
  static var reference: VisitParameters {
    var terms = VisitParameters()
    terms.minimumRadius = 200
    terms.departureFactor = 1
    terms.dwell = .seconds(1200)
    return terms
  }
}

/// A day fed to machines: every fix, or those they ask for.
struct VisitRun {
  /// What was told, and when.
  var told: [(at: Double, outcome: VisitMonitor.Outcome)] = []
  /// Searches of the receiver.
  var looks = 0
  var misses = 0

  /// Visits with a departure; an unknown arrival counts as the start of the run.
  var stays: [SlidingStayPoints.Stay] {
    told.compactMap { _, outcome in
      switch outcome {
      case .nothing, .arrived: nil
      case .departed(let visit):
        SlidingStayPoints.Stay(
          start: visit.arrival?.instant.seconds ?? 0, end: visit.departure?.instant.seconds ?? 0)
      }
    }
  }

  static func everyFix(_ days: GeneratedDays, _ terms: VisitParameters = VisitParameters())
    -> VisitRun
  {
    var run = VisitRun()
    var monitor = VisitMonitor(parameters: terms)
    _ = monitor.start(at: .boot)
    for sample in days.samples where sample.hasFix {
      let outcome = monitor.accept(Sphere.fix(sample))
      if outcome != .nothing { run.told.append((sample.time, outcome)) }
    }
    return run
  }

  /// Only the fixes asked for, each `delay` seconds after it was asked for; a search ends after a
  /// minute. `hasLine`: the board has a motion line, 30 s behind when it falls still.
  static func asked(
    _ days: GeneratedDays, _ terms: VisitParameters = VisitParameters(), seed: UInt64 = 1,
    delay: ClosedRange<Double> = 3...30, hasLine: Bool = false
  ) -> VisitRun {
    var run = VisitRun()
    var monitor = VisitMonitor(parameters: terms)
    _ = monitor.start(at: .boot)
    run.looks = Searches(days, seed: seed, delay: delay, hasLine: hasLine).run(
      next: { monitor.nextFix(at: $0, fastest: 40, line: $1) },
      turn: { monitor.motionLineChanged($0, at: $1) },
      take: { sample in
        guard let sample else {
          run.misses += 1
          return
        }
        let outcome = monitor.accept(Sphere.fix(sample))
        if outcome != .nothing { run.told.append((sample.time, outcome)) }
      },
      miss: { monitor.acquisitionFailed(at: $0) })
    return run
  }
}

/// Plays the receiver for a service that asks for single fixes.
struct Searches {
  private let days: GeneratedDays
  private let delay: ClosedRange<Double>
  private let hasLine: Bool
  private var generator: SplitMix64

  init(_ days: GeneratedDays, seed: UInt64, delay: ClosedRange<Double>, hasLine: Bool) {
    self.days = days
    self.delay = delay
    self.hasLine = hasLine
    generator = SplitMix64(seed: seed)
  }

  /// Runs to the end of the days and gives the number of searches.
  func run(
    next: (Instant, MotionLine) -> Instant,
    turn: (MotionLine, Instant) -> Void,
    take: (GeneratedDays.Sample?) -> Void, miss: (Instant) -> Void
  ) -> Int {
    var generator = generator
    var looks = 0
    var now = 0.0
    var change = 0
    let interval = days.samples[1].time - days.samples[0].time
    func index(_ time: Double) -> Int { Int((time / interval).rounded(.up)) }
    var line: MotionLine { hasLine ? (days.motion[change].moves ? .moving : .still) : .absent }
    func turns() -> Double? {
      guard hasLine, change + 1 < days.motion.count else { return nil }
      let next = days.motion[change + 1]
      return next.moves ? next.since : next.since + 30
    }
    func pass(until time: Double) {
      while let next = turns(), next <= time {
        change += 1
        turn(line, Instant(seconds: next))
      }
    }
    if hasLine { turn(line, .boot) }
    while index(now + 61) < days.samples.count {
      pass(until: now)
      let asked = max(now, next(Instant(seconds: now), line).seconds)
      if let turn = turns(), turn < asked {
        now = turn
        continue
      }
      guard index(asked + 61) < days.samples.count else { break }
      looks += 1
      pass(until: asked)
      let ready = asked + Double.random(in: delay, using: &generator)
      let found = (index(ready)...index(asked + 60)).first { days.samples[$0].hasFix }
      if let found {
        now = max(days.samples[found].time, ready)
        take(days.samples[found])
      } else {
        now = asked + 60
        take(nil)
        miss(Instant(seconds: now))
      }
    }
    return looks
  }
}
