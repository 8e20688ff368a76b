import Foundation
import LocationTypes
import TestSupport

@testable import LocationPolicy

/// Converts metres around a point in the middle latitudes to degrees on the reference's sphere.
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
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      preconditionFailure("the coordinate is valid")
    }
    return coordinate
  }

  static func fix(_ s: GeneratedDays.Sample) -> Fix {
    let position = sample(s)
    var fix = Fix(
      acquired: Instant(seconds: s.time),
      coordinate: coordinate(latitude: position.latitude, longitude: position.longitude))
    fix.horizontalAccuracy_mm = Int32(s.accuracy * 1000)
    fix.speed_mmps = Int32(s.speed * 1000)
    return fix
  }
}

extension VisitParameters {
  /// The reference's thresholds: 200 m and 20 minutes.
  static var reference: VisitParameters {
    var parameters = VisitParameters()
    parameters.minimumRadius = 200
    parameters.departureFactor = 1
    parameters.dwell = .seconds(1200)
    return parameters
  }
}

/// Reports of a visit monitor that gets every fix of generated days, or the requested fixes only.
struct VisitRun {
  /// Reported events with the times of the fixes that caused them.
  var reports: [(at: Double, outcome: VisitMonitor.Outcome)] = []
  /// Number of acquisitions of the receiver.
  var acquisitions = 0
  var failures = 0

  /// Visits with a departure; an unknown arrival counts as the start of the run.
  var stays: [SlidingStayPoints.Stay] {
    reports.compactMap { _, outcome in
      switch outcome {
      case .nothing, .arrived: nil
      case .departed(let visit):
        SlidingStayPoints.Stay(
          start: visit.arrival?.acquired.seconds ?? 0, end: visit.departure?.acquired.seconds ?? 0)
      }
    }
  }

  static func everyFix(_ days: GeneratedDays, _ parameters: VisitParameters = VisitParameters())
    -> VisitRun
  {
    var run = VisitRun()
    var monitor = VisitMonitor(parameters: parameters)
    _ = monitor.start(at: .boot)
    for sample in days.samples where sample.hasFix {
      let outcome = monitor.accept(Sphere.fix(sample))
      if outcome != .nothing { run.reports.append((sample.time, outcome)) }
    }
    return run
  }

  /// Passes only the requested fixes, each `delay` seconds after the request; an acquisition ends
  /// after a minute. `hasLine`: the board has a motion line, which reports stillness 30 s late.
  static func onDemand(
    _ days: GeneratedDays, _ parameters: VisitParameters = VisitParameters(), seed: UInt64 = 1,
    delay: ClosedRange<Double> = 3...30, hasLine: Bool = false
  ) -> VisitRun {
    var run = VisitRun()
    var monitor = VisitMonitor(parameters: parameters)
    _ = monitor.start(at: .boot)
    run.acquisitions = OnDemandReceiver(days, seed: seed, delay: delay, hasLine: hasLine).run(
      next: { monitor.nextFix(at: $0, speed: .constant(40), line: $1) },
      lineChanged: { monitor.motionLineChanged($0, at: $1) },
      accept: { sample in
        guard let sample else {
          run.failures += 1
          return
        }
        let outcome = monitor.accept(Sphere.fix(sample))
        if outcome != .nothing { run.reports.append((sample.time, outcome)) }
      },
      failed: { monitor.acquisitionFailed(at: $0) })
    return run
  }
}

/// Simulates the receiver for a service that requests single fixes.
struct OnDemandReceiver {
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

  /// Runs to the end of the days and returns the number of acquisitions.
  func run(
    next: (Instant, MotionLine) -> Instant,
    lineChanged: (MotionLine, Instant) -> Void,
    accept: (GeneratedDays.Sample?) -> Void, failed: (Instant) -> Void
  ) -> Int {
    var generator = generator
    var acquisitions = 0
    var now = 0.0
    var change = 0
    let interval = days.samples[1].time - days.samples[0].time
    func index(_ time: Double) -> Int { Int((time / interval).rounded(.up)) }
    var line: MotionLine { hasLine ? (days.motion[change].moves ? .moving : .still) : .absent }
    func nextLineChange() -> Double? {
      guard hasLine, change + 1 < days.motion.count else { return nil }
      let next = days.motion[change + 1]
      return next.moves ? next.since : next.since + 30
    }
    func reportLineChanges(until time: Double) {
      while let next = nextLineChange(), next <= time {
        change += 1
        lineChanged(line, Instant(seconds: next))
      }
    }
    if hasLine { lineChanged(line, .boot) }
    while index(now + 61) < days.samples.count {
      reportLineChanges(until: now)
      let requested = max(now, next(Instant(seconds: now), line).seconds)
      if let change = nextLineChange(), change < requested {
        now = change
        continue
      }
      guard index(requested + 61) < days.samples.count else { break }
      acquisitions += 1
      reportLineChanges(until: requested)
      let ready = requested + Double.random(in: delay, using: &generator)
      let found = (index(ready)...index(requested + 60)).first { days.samples[$0].hasFix }
      if let found {
        now = max(days.samples[found].time, ready)
        accept(days.samples[found])
      } else {
        now = requested + 60
        accept(nil)
        failed(Instant(seconds: now))
      }
    }
    return acquisitions
  }
}
