import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// A hike generated from a seed: winding paths at 0.4–1.5 m/s for 2–25 minutes, stops of
/// 1–90 minutes, and receiver noise of 4 m per axis, correlated over a minute.
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
      let isStop = Double.random(in: 0...1, using: &random) < 0.35
      let length =
        isStop
        ? 60 * exp(Double.random(in: 0...log(90), using: &random))
        : Double.random(in: 120...1500, using: &random)
      let speed = isStop ? 0 : exp(Double.random(in: log(0.4)...log(1.5), using: &random))
      let end = time + length
      while time < end {
        heading += 0.25 * random.normal()
        east += speed * interval * cos(heading)
        north += speed * interval * sin(heading)
        error.east = keep * error.east + renew * random.normal()
        error.north = keep * error.north + renew * random.normal()
        let sample = SlidingStayPoints.Sample(
          time: time, latitude: Sphere.latitude + (north + error.north) / Sphere.degree,
          longitude: Sphere.longitude + (east + error.east) / Sphere.parallel)
        samples.append(sample)
        var fix = Fix(
          acquired: Instant(seconds: time),
          coordinate: Sphere.coordinate(latitude: sample.latitude, longitude: sample.longitude))
        fix.horizontalAccuracy_mm = 6_000
        fix.speed_mmps = Int32(1000 * abs(speed + 0.1 * random.normal()))
        fixes.append(fix)
        time += interval
      }
    }
  }

  func stays(_ parameters: VisitParameters) -> [SlidingStayPoints.Stay] {
    var monitor = VisitMonitor.started(parameters)
    return fixes.compactMap { monitor.accept($0).departure }.map {
      SlidingStayPoints.Stay(
        start: $0.arrival?.acquired.seconds ?? 0, end: $0.departure?.acquired.seconds ?? 0)
    }
  }
}

@Suite("Slow travel is not a visit")
struct VisitSlowTravelTests {
  @Test("VIS-10: an hour at 0.3 m/s is not a visit; standing at its end is one")
  func slowPath() {
    for interval in [1.0, 10, 60] {
      var monitor = VisitMonitor.started()
      var time = 0.0
      while time < 3600 {
        #expect(monitor.accept(fix(at: time, east: 0.3 * time, speed_mmps: 300)) == .nothing)
        time += interval
      }
      var reported: Double?
      while reported == nil, time < 4800 {
        if monitor.accept(fix(at: time, east: 1080, speed_mmps: 0)).arrival != nil {
          reported = time
        }
        time += interval
      }
      #expect((reported ?? .infinity) <= 3600 + 600)
    }
  }

  @Test("VIS-10: a fix one radius from the first fix restarts the stay unless near the centre")
  func restartDistance() {
    // Time at which the arrival is reported after a path of `east` metres.
    func reported(_ first: Int32, _ middle: Double, _ east: Double) -> Double? {
      var monitor = VisitMonitor.started()
      for (time, position) in [(0.0, 0.0), (100, middle), (200, east), (221, east)] {
        let speed = time == 0 ? first : 0
        #expect(monitor.accept(fix(at: time, east: position, speed_mmps: speed)) == .nothing)
      }
      return [310, 399.9, 400].first {
        monitor.accept(fix(at: $0, east: east, speed_mmps: 0)).arrival != nil
      }
    }
    // The centre lies halfway between the fixes at 60 m and at 0 m.
    #expect(reported(0, 60, 69.9) == 310)
    #expect(reported(0, 60, 70.1) == 400)
    // The first fix has little weight: the centre is at 68 m / 1.05 = 64.8 m.
    #expect(reported(1_000, 68, 64.76 + 17.4) == 310)
    #expect(reported(1_000, 68, 64.76 + 17.6) == 400)
  }

  @Test("VIS-10: a single outlier does not restart the stay")
  func outlier() {
    var monitor = VisitMonitor.started()
    for (time, east) in [(0.0, 0.0), (100, 5), (200, 75), (210, 5)] {
      #expect(monitor.accept(fix(at: time, east: east)) == .nothing)
    }
    #expect(monitor.accept(fix(at: 300, east: 5)).arrival != nil)
  }

  @Test("VIS-10: generated hikes give the reference's stays with few extra visits")
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
