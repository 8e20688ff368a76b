import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

@Suite("When regions need the next fix")
struct RegionSamplingTests {
  @Test("REG-16: a fix is due (distance to the boundary − accuracy) / speed after the newest one")
  func distance() {
    var bench = RegionBench()
    #expect(bench.wait() == .infinity)
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.add(circle(gate, radius: 3_000)) == nil)
    #expect(bench.wait(at: 7) == 0)
    // 1,900 m to one circle, 1,000 m to the other; 3 m accuracy.
    bench.accept((10, 2_000))
    #expect(abs(bench.wait(at: 10) - 99.7) < 0.01)
    #expect(abs(bench.wait(at: 60) - 49.7) < 0.01)
    #expect(bench.wait(at: 200) == 0)
    #expect(abs(bench.wait(at: 10, fastest: 50) - 19.94) < 0.01)
    #expect(abs(bench.wait(at: 10, fastest: 50, .absent) - 19.94) < 0.01)
    // A fix for which no circle is checked counts too, with its own accuracy.
    bench.accept((20, 1_800), accuracy_mm: 100_000)
    #expect(abs(bench.wait(at: 20) - 70) < 2)
    bench.accept((30, 800))
    #expect(abs(bench.wait(at: 30) - 69.7) < 0.02)
    bench.monitor.remove(home)
    #expect(bench.wait(at: 30) > 100)
  }

  @Test("REG-16: the summary is computed again after a circle was checked")
  func summaryUpdate() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((10, 2_000))
    var wait = bench.monitor.nextFix(at: Instant(seconds: 10), speed: .constant(10), line: .moving)
      .seconds
    #expect(abs(wait - 10 - 189.7) < 0.01)
    // Inside for long enough: 50 m to the boundary, where it was 1,900 m.
    bench.accept((30, 50), (51, 50))
    wait =
      bench.monitor.nextFix(at: Instant(seconds: 51), speed: .constant(10), line: .moving).seconds
    // 4.7 s, so the shortest wait applies.
    #expect(abs(wait - 51 - 5) < 0.02)
    bench.monitor.remove(home)
    #expect(bench.add(circle(gate, radius: 3_000), at: 51) == nil)
    let next = bench.monitor.nextFix(at: Instant(seconds: 51), speed: .constant(10), line: .moving)
    #expect(next.seconds > 60)
  }

  @Test("REG-16: no fix is due sooner than the shortest wait after the newest one")
  func floor() {
    var bench = RegionBench()
    bench.monitor = RegionMonitor(limits: RegionLimits(shortestWait: .seconds(4)))
    #expect(bench.add(circle(home)) == nil)
    bench.accept((10, 101))
    #expect(bench.wait(at: 10) == 4)  // not decided
    #expect(bench.wait(at: 12) == 2)
    #expect(bench.wait(at: 19) == 0)
    bench.accept((20, 104))
    #expect(bench.wait(at: 20) == 4)
    bench.accept((30, 150))
    #expect(abs(bench.wait(at: 30) - 4.7) < 0.01)
    #expect(bench.wait(at: 30, fastest: 1e6) == 4)
  }

  @Test("REG-16: a pending crossing needs a fix when its 20 s are over, moving or not")
  func pending() {
    var bench = RegionBench()
    #expect(bench.add(circle(home)) == nil)
    bench.accept((0, 5_000), (10, 50))
    for line in [MotionLine.absent, .still, .moving] {
      #expect(bench.wait(at: 10, line) == 20)
      #expect(bench.wait(at: 25, line) == 5)
    }
    bench.accept((28, 100))
    #expect(bench.wait(at: 28, .still) == 5)
    bench.accept((40, 100))
    #expect(bench.wait(at: 40, .still) == 5)
    bench.accept((45, 50))
    #expect(bench.events().count == 2)
    #expect(bench.wait(at: 45, .still) == 3_600)
  }

  @Test("REG-16: while the motion line is still the long wait applies")
  func still() {
    var bench = RegionBench()
    bench.monitor = RegionMonitor(limits: RegionLimits(stillWait: .seconds(600)))
    #expect(bench.add(circle(home)) == nil)
    #expect(bench.wait(at: 3, .still) == 0)
    bench.accept((10, 99))
    #expect(bench.wait(at: 10, .still) == 600)
    #expect(bench.wait(at: 10, .absent) == 5)
    #expect(bench.requestState(at: 10) == nil)
    #expect(bench.wait(at: 10, .still) == 5)  // a call waits
    bench.accept((20, 200))
    #expect(bench.wait(at: 20, .still) == 600)
    #expect(bench.wait(at: 120, .still) == 500)
    bench.accept((30, 20_000))
    #expect(bench.wait(at: 30, .still) > 1_980)
  }

  @Test("REG-16: an unchecked circle needs a fix now; a recent fix suffices")
  func added() {
    var bench = RegionBench()
    bench.accept((10, 2_000))
    #expect(bench.add(circle(home), at: 15) == nil)
    #expect(abs(bench.wait(at: 15) - 184.7) < 0.01)
    #expect(bench.add(circle(gate), at: 25) == nil)
    #expect(bench.wait(at: 25) == 0)
    #expect(!bench.events().contains(monitored(.unsatisfied, 10)))
  }

  @Test(
    "REG-16: the check radius is never overestimated, anywhere on the globe",
    arguments: 0..<40 as Range<UInt64>)
  func checkRadius(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var outside = 0
    for _ in 0..<500 {
      var checkRadius = CheckRadius()
      let latitude =
        [
          Double.random(in: -90...90, using: &random), 90, -90, 89.99, 0.001, -60,
        ].randomElement(using: &random) ?? 0
      let longitude =
        [
          Double.random(in: -180...180, using: &random), 180, -180, 179.999,
        ].randomElement(using: &random) ?? 0
      guard let origin = Coordinate(latitude: latitude, longitude: longitude) else { continue }
      _ = checkRadius.move(to: origin)
      let metres = exponent(Double.random(in: 0...6.5, using: &random))
      checkRadius.setRadius(metres)
      let target = origin.destination(
        bearing: Double.random(in: 0...360, using: &random),
        distance: metres * Double.random(in: 0...3, using: &random))
      let distance = origin.distance(to: target)
      if !checkRadius.isExceeded(at: target) {
        #expect(distance < metres, "\(origin) \(target)")
        #expect(checkRadius.metres(to: target) > distance - 1e-3, "\(origin) \(target)")
      } else {
        outside += 1
        // Where meridians are nearly parallel, the distance is underestimated by at most 1.5 %.
        if metres < 10_000 && abs(latitude) <= 70 { #expect(distance > metres * 0.985) }
      }
    }
    #expect(outside > 200 && outside < 480)
  }

  /// Approximately 10 to `power`, with linear interpolation.
  private func exponent(_ power: Double) -> Double {
    var value = 1.0
    for _ in 0..<Int(power) { value *= 10 }
    return value * (1 + 9 * (power - power.rounded(.down)))
  }

  @Test("REG-16: circle distances are correct to 1 cm, near, far, at the antimeridian and at poles")
  func distances() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<2_000 {
      let latitude = Double.random(in: -90...90, using: &random)
      let longitude =
        [180.0, -180, Double.random(in: -180...180, using: &random)]
        .randomElement(using: &random) ?? 0
      guard let origin = Coordinate(latitude: latitude, longitude: longitude) else { continue }
      let target = origin.destination(
        bearing: Double.random(in: 0...360, using: &random),
        distance: exponent(Double.random(in: 0...7, using: &random)))
      #expect(abs(origin.regionDistance(to: target) - origin.distance(to: target)) < 0.01)
    }
  }
}
