import Foundation
import LocationTypes
import TestSupport
import Testing

@testable import LocationPolicy

/// A receiver's error: a first-order Gauss–Markov process on each axis, a little white noise, and
/// noise of the Doppler speed.
struct Noise {
  var random: SplitMix64
  let sigma: Double
  let keep: Double
  var east = 0.0
  var north = 0.0

  init(seed: UInt64, accuracy: Double = 3, correlation: Double = 90) {
    random = SplitMix64(seed: seed)
    sigma = accuracy / 2.0.squareRoot()
    keep = exp(-1 / correlation)
    (east, north) = (random.normal(), random.normal())
  }

  /// The fix of that second at the true position.
  mutating func fix(
    at second: Int, east trueEast: Double, north trueNorth: Double, speed: Double,
    reportsSpeed: Bool = true, accuracy_mm: Int32 = 3_000
  ) -> Fix {
    let renew = (1 - keep * keep).squareRoot()
    east = keep * east + renew * random.normal()
    north = keep * north + renew * random.normal()
    let doppler = hypot(speed + 0.04 * random.normal(), 0.04 * random.normal())
    return LocationPolicyTests.fix(
      at: Double(second), east: trueEast + sigma * east + 0.1 * random.normal(),
      north: trueNorth + sigma * north + 0.1 * random.normal(), accuracy_mm: accuracy_mm,
      speed_mmps: reportsSpeed ? Int32(doppler * 1_000) : nil)
  }
}

@Suite("The path travelled")
struct PathMeterTests {
  @Test(
    "DEF-20: an hour at standstill measures 0 m with any noise", arguments: 0..<12 as Range<UInt64>)
  func standstill(_ seed: UInt64) {
    for correlation in [20.0, 90, 300] {
      var noise = Noise(seed: seed, correlation: correlation)
      var meter = PathMeter(from: noise.fix(at: 0, east: 0, north: 0, speed: 0))
      for second in 1...3_600 {
        meter.add(noise.fix(at: second, east: 0, north: 0, speed: 0))
      }
      #expect(meter.length == 0)
    }
  }

  @Test(
    "DEF-20: at most 1 % off on a 5 km walk, straight or on a 400 m loop, DEF-21: with a lag below 4 accuracies",
    arguments: 100..<112 as Range<UInt64>)
  func walk(_ seed: UInt64) {
    let radius = 400 / (2 * Double.pi)
    for isLoop in [false, true] {
      var noise = Noise(seed: seed)
      var meter = PathMeter(from: nil)
      let last = Int(5_000 / 1.4)
      for second in 0...last {
        let path = Double(second) * 1.4
        let (east, north) =
          isLoop ? (radius * cos(path / radius), radius * sin(path / radius)) : (path, 0)
        meter.add(noise.fix(at: second, east: east, north: north, speed: 1.4))
      }
      let truth = Double(last) * 1.4
      #expect(abs(meter.length - truth) <= 0.01 * truth, "loop \(isLoop): \(meter.length)")
    }
  }

  /// The recorders' accuracy is unknown. The assumed accuracy determines the gate, and with it how
  /// much of the path is cut short.
  @Test(
    "DEF-20: a recorded trip measures its fixes' polyline minus what the gate cuts short",
    .enabled(if: RecordedData.isPresent, RecordedData.missing),
    arguments: [(3_000, 0.025), (5_000, 0.045), (10_000, 0.09)] as [(Int32, Double)])
  func recorded(_ accuracy_mm: Int32, _ short: Double) throws {
    var (counted, all) = (0.0, 0.0)
    for track in try RecordedTrack.all() {
      var meter = PathMeter(from: nil)
      for var fix in track.fixes {
        fix.horizontalAccuracy_mm = accuracy_mm
        meter.add(fix)
      }
      let length = track.length
      #expect(meter.length <= length, "\(track.name): \(meter.length) of \(length)")
      #expect(meter.length >= (1 - short) * length, "\(track.name): \(meter.length) of \(length)")
      counted += meter.length
      all += length
    }
    #expect(counted >= (1 - short / 2) * all)
  }

  @Test("DEF-21: without noise the lag is below a gate, and a fast fix counts immediately")
  func lag() {
    var meter = PathMeter(from: fix(at: 0))
    for step in 1...500 {
      let path = Double(step) * 1.4
      meter.add(fix(at: Double(step), east: path, speed_mmps: 1_400))
      #expect(meter.length <= path + 1e-3)
      #expect(path - meter.length < PathMeter.gate * 3)
    }
    var fast = PathMeter(from: fix(at: 0))
    for step in 1...50 {
      fast.add(fix(at: Double(step), east: Double(step) * 30, speed_mmps: 30_000))
      #expect(abs(fast.length - Double(step) * 30) < 1e-5 * Double(step) * 30)
    }
  }

  @Test("DEF-20: the gate is 4 times the worse accuracy, inclusive")
  func gate() {
    func length(_ east: Double, _ first: Int32?, _ second: Int32?) -> Double {
      var meter = PathMeter(from: fix(at: 0, accuracy_mm: first))
      meter.add(fix(at: 1, east: east, accuracy_mm: second))
      return meter.length
    }
    #expect(length(11.99, 3_000, 3_000) == 0)
    #expect(length(12.01, 3_000, 3_000) > 12)
    #expect(length(12.01, 3_000, 1_000) > 12)
    #expect(length(11.99, 3_000, 1_000) == 0)
    #expect(length(11.99, 1_000, 3_000) == 0)
    #expect(length(12.01, 1_000, 3_000) > 12)
    #expect(length(4.01, 1_000, 1_000) > 4)
    #expect(length(39.9, nil, 1_000) == 0)
    #expect(length(40.1, nil, 1_000) > 40)
    #expect(length(39.9, 1_000, nil) == 0)
    #expect(length(40.1, 1_000, nil) > 40)
    // Zero accuracy: no movement still measures 0 m.
    #expect(length(0, 0, 0) == 0)
    #expect(length(0.01, 0, 0) > 0)
    // Exactly on the gate: the distance from the meter's own formula.
    let atGate = fix(at: 1, east: 12)
    let exact = equator.localDistance(to: atGate.coordinate)
    for (millimetres, counts) in [(3_000, exact >= 12), (2_999, true), (3_001, false)] {
      var meter = PathMeter(from: fix(at: 0, accuracy_mm: Int32(millimetres)))
      meter.add(atGate)
      #expect((meter.length > 0) == counts)
    }
  }

  @Test("DEF-20: the anchor moves to each counted fix and keeps that fix's accuracy")
  func anchor() {
    var meter = PathMeter(from: fix(at: 0, accuracy_mm: 1_000))
    meter.add(fix(at: 1, east: 20, accuracy_mm: 4_000))
    #expect(abs(meter.length - 20) < 0.01)
    meter.add(fix(at: 2, east: 30, accuracy_mm: 1_000))
    #expect(abs(meter.length - 20) < 0.01)
    meter.add(fix(at: 3, east: 37, accuracy_mm: 1_000))
    #expect(abs(meter.length - 37) < 0.01)
    meter.add(fix(at: 4, east: 42, accuracy_mm: 1_000))
    #expect(abs(meter.length - 42) < 0.01)
    meter.add(fix(at: 5, east: 30, accuracy_mm: 1_000))
    #expect(abs(meter.length - 54) < 0.01)
  }

  @Test("DEF-19: without a start the first fix is the anchor, with its accuracy")
  func firstFix() {
    var meter = PathMeter(from: nil)
    meter.add(fix(at: 1, east: 500, accuracy_mm: 5_000))
    #expect(meter.length == 0)
    meter.add(fix(at: 2, east: 519, accuracy_mm: 1_000))
    #expect(meter.length == 0)
    meter.add(fix(at: 3, east: 521, accuracy_mm: 1_000))
    #expect(abs(meter.length - 21) < 0.01)
  }

  @Test(
    "DEF-20: between one and two gates, a Doppler speed near zero prevents counting",
    arguments: [
      (13.0, 199, false), (13, 200, true), (13, 0, false), (23.9, 0, false), (24.1, 0, true),
      (13, 1_400, true), (13, nil, true), (500, 0, true),
    ] as [(Double, Int32?, Bool)])
  func standing(_ east: Double, _ speed: Int32?, _ counts: Bool) {
    var meter = PathMeter(from: fix(at: 0))
    meter.add(fix(at: 1, east: east, speed_mmps: speed))
    #expect((meter.length > 0) == counts)
  }
}
