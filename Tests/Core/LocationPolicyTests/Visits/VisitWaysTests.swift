import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// A hike, from a seed: winding ways at 0.4–1.5 m/s for 2–25 minutes, rests of 1–90 minutes, and a
/// receiver's noise of 4 m an axis, correlated over a minute.
struct GeneratedHike {
  private(set) var samples: [SlidingStayPoints.Sample] = []
  private(set) var fixes: [Fix] = []

  init(seed: UInt64, hours: Double, interval: Double = 5) {
    var random = SplitMix64(seed: seed)
    var (east, north, heading, time) = (0.0, 0.0, 0.0, 0.0)
    var error = (east: 0.0, north: 0.0)
    let keep = exp(-interval / 60)
    let renew = 4 * (1 - keep * keep).squareRoot()
    while time < hours * 3600 {
      let rests = Double.random(in: 0...1, using: &random) < 0.35
      let length =
        rests
        ? 60 * exp(Double.random(in: 0...log(90), using: &random))
        : Double.random(in: 120...1500, using: &random)
      let pace = rests ? 0 : exp(Double.random(in: log(0.4)...log(1.5), using: &random))
      let end = time + length
      while time < end {
        heading += 0.25 * random.normal()
        east += pace * interval * cos(heading)
        north += pace * interval * sin(heading)
        error.east = keep * error.east + renew * random.normal()
        error.north = keep * error.north + renew * random.normal()
        let place = SlidingStayPoints.Sample(
          time: time, latitude: Sphere.latitude + (north + error.north) / Sphere.degree,
          longitude: Sphere.longitude + (east + error.east) / Sphere.parallel)
        samples.append(place)
        var fix = Fix(
          acquired: Instant(seconds: time),
          coordinate: Sphere.coordinate(latitude: place.latitude, longitude: place.longitude))
        fix.horizontalAccuracy_mm = 6_000
        fix.speed_mmps = Int32(1000 * abs(pace + 0.1 * random.normal()))
        fixes.append(fix)
        time += interval
      }
    }
  }

  func stays(_ terms: VisitParameters) -> [SlidingStayPoints.Stay] {
    var monitor = VisitMonitor.started(terms)
    return fixes.compactMap { monitor.accept($0).departure }.map {
      SlidingStayPoints.Stay(
        start: $0.arrival?.instant.seconds ?? 0, end: $0.departure?.instant.seconds ?? 0)
    }
  }
}

@Suite("Slow ways are no visits")
struct VisitWaysTests {
  @Test("VIS-10: a way of an hour at 0.3 m/s is no visit, standing at its end is one")
  func slowWay() {
    for interval in [1.0, 10, 60] {
      var monitor = VisitMonitor.started()
      var time = 0.0
      while time < 3600 {
        #expect(monitor.accept(fix(at: time, east: 0.3 * time, speed_mmps: 300)) == .nothing)
        time += interval
      }
      var told: Double?
      while told == nil, time < 4800 {
        if monitor.accept(fix(at: time, east: 1080, speed_mmps: 0)).arrival != nil { told = time }
        time += interval
      }
      #expect((told ?? .infinity) <= 3600 + 600)
    }
  }

  @Test("VIS-10: a radius from the first fix the stay begins anew, unless it is near the centre")
  func begun() {
    // The way of `east` metres: when it is told that somebody is there.
    func told(_ first: Int32, _ middle: Double, _ east: Double) -> Double? {
      var monitor = VisitMonitor.started()
      for (time, place) in [(0.0, 0.0), (100, middle), (200, east), (221, east)] {
        let speed = time == 0 ? first : 0
        #expect(monitor.accept(fix(at: time, east: place, speed_mmps: speed)) == .nothing)
      }
      return [310, 399.9, 400].first {
        monitor.accept(fix(at: $0, east: east, speed_mmps: 0)).arrival != nil
      }
    }
    // The centre is at half of the way there: 60 m and 0 m.
    #expect(told(0, 60, 69.9) == 310)
    #expect(told(0, 60, 70.1) == 400)
    // The first fix hardly counts, and the centre is at 68 m / 1.05 = 64.8 m.
    #expect(told(1_000, 68, 64.76 + 17.4) == 310)
    #expect(told(1_000, 68, 64.76 + 17.6) == 400)
  }

  @Test("VIS-10: one bad fix begins no stay anew")
  func badFix() {
    var monitor = VisitMonitor.started()
    for (time, east) in [(0.0, 0.0), (100, 5), (200, 75), (210, 5)] {
      #expect(monitor.accept(fix(at: time, east: east)) == .nothing)
    }
    #expect(monitor.accept(fix(at: 300, east: 5)).arrival != nil)
  }

  @Test("VIS-10: on generated hikes few visits beside the reference's stays")
  func hikes() {
    var score = VisitReferenceTests.Score()
    for seed in 1...12 as ClosedRange<UInt64> {
      let hike = GeneratedHike(seed: seed, hours: 24)
      let expected = SlidingStayPoints.find(hike.samples, haversine: Sphere.haversine)
      score.add(hike.stays(.reference), expected)
    }
    #expect(score.expected >= 100)
    #expect(score.precision >= 0.85 && score.recall >= 0.85)
  }
}
