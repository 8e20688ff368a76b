import LocationTypes
import Testing

@testable import LocationPolicy

@Suite("Stillness detection from fixes")
struct StillnessDetectorTests {
  /// A detector with fixes at (0, 0) from 0 s to 100 s.
  static func standing(radius: Double = 50) -> StillnessDetector {
    var detector = StillnessDetector()
    for second in 0...100 {
      #expect(detector.add(fix(at: Double(second)), radius: radius) == .inside)
    }
    #expect(detector.since == .boot)
    return detector
  }

  @Test(
    "PAU-8: a speed is reliable above 1 m/s if its accuracy is at most a third of it",
    arguments: [
      (1.0, 0.1, false), (1.001, 0.1, true), (1.2, 0.4, true), (1.2, 0.401, false),
      (20, 6.666, true), (20, 6.667, false), (0, 0, false), (1.5, 0, true),
    ])
  func reliableSpeed(_ speed: Double, _ deviation: Double, _ isMoving: Bool) {
    var detector = Self.standing()
    let sample = fix(at: 101, speed: speed, deviation: deviation)
    #expect(detector.add(sample, radius: 50) == (isMoving ? .moved : .inside))
    #expect(detector.since == Instant(seconds: isMoving ? 101 : 0))
    var first = StillnessDetector()
    #expect(first.add(sample, radius: 50) == (isMoving ? .moved : .inside))
  }

  @Test(
    "PAU-8: a speed without an accuracy is reliable if positions agree",
    arguments: [
      // Seconds after the reference at 90 s, metres from it, mm/s.
      (20, 20.1, 2_000, true), (20, 19.9, 2_000, false), (20, 20.1, 1_000, false),
      (20, 10.6, 1_001, true), (20, 9.9, 1_001, false),
      (5, 6.1, 2_000, true), (5, 5.9, 2_000, false), (4, 30, 2_000, false),
    ] as [(Int, Double, Int32, Bool)])
  func agreement(_ seconds: Int, _ east: Double, _ speed: Int32, _ isMoving: Bool) {
    var detector = StillnessDetector()
    for second in 0...90 { _ = detector.add(fix(at: Double(second)), radius: 50) }
    let last = fix(at: 90 + Double(seconds), east: east, speed_mmps: speed)
    #expect(detector.add(last, radius: 50) == (isMoving ? .moved : .inside))
  }

  @Test("PAU-8: an unknown accuracy counts as 10 m when positions are compared")
  func agreementWithoutAccuracy() {
    for (east, isMoving) in [(19.9, false), (20.1, true)] {
      var detector = StillnessDetector()
      _ = detector.add(fix(at: 0), radius: 50)
      let last = fix(at: 10, east: east, accuracy_mm: nil, speed_mmps: 1_500)
      #expect(detector.add(last, radius: 50) == (isMoving ? .moved : .inside))
    }
  }

  @Test(
    "PAU-4: movement counts after 2 s beyond the outlier distance, after 30 s beyond the radius")
  func outside() {
    struct Row {
      var radius: Double
      var east: Double
      var after: Double?
    }
    for row in [
      Row(radius: 50, east: 49.9, after: nil), Row(radius: 50, east: 52.9, after: 30),
      Row(radius: 50, east: 53.1, after: 2), Row(radius: 30, east: 29.9, after: nil),
      Row(radius: 30, east: 30.1, after: 30), Row(radius: 30, east: 42.9, after: 30),
      Row(radius: 30, east: 43.1, after: 2), Row(radius: 75, east: 77.9, after: 30),
      Row(radius: 75, east: 78.1, after: 2),
    ] {
      var detector = Self.standing(radius: row.radius)
      var moved: Double?
      for second in 0...40 where moved == nil {
        let finding = detector.add(
          fix(at: 101 + Double(second), east: row.east), radius: row.radius)
        #expect(row.after == nil ? finding == .inside : finding != .inside)
        #expect(detector.needsConfirmation == (finding == .undecided))
        if finding == .moved { moved = Double(second) }
      }
      #expect(moved == row.after, "\(row)")
      if let after = row.after {
        #expect(detector.since == Instant(seconds: 101 + after))
        #expect(detector.centre == fix(at: 0, east: row.east).coordinate)
      }
    }
  }

  @Test("PAU-4: a fix inside the radius ends an unconfirmed movement, and so does clearing it")
  func unconfirmedMovementEnds() {
    var detector = Self.standing()
    #expect(detector.add(fix(at: 101, east: 90), radius: 50) == .undecided)
    #expect(detector.add(fix(at: 102), radius: 50) == .inside)
    #expect(!detector.needsConfirmation)
    #expect(detector.add(fix(at: 103, east: 90), radius: 50) == .undecided)
    detector.clearUnconfirmedMovement()
    #expect(!detector.needsConfirmation)
    #expect(detector.add(fix(at: 104.5, east: 90), radius: 50) == .undecided)
    #expect(detector.add(fix(at: 106.5, east: 90), radius: 50) == .moved)
  }

  @Test("PAU-4: an outlier with a Doppler speed near zero is no movement, nor is an inaccurate fix")
  func explained() {
    var detector = Self.standing(radius: 30)
    for second in 101...300 {
      let outlier = fix(at: Double(second), east: 42, speed: 0.199, deviation: 0.5)
      #expect(detector.add(outlier, radius: 30) == .undecided)
      #expect(!detector.needsConfirmation)
    }
    for second in 301...500 {
      let inaccurate = fix(at: Double(second), east: 90, accuracy_mm: 90_500)
      #expect(detector.add(inaccurate, radius: 30) == .undecided)
      #expect(!detector.needsConfirmation)
    }
    let slow = fix(at: 501, east: 42, speed: 0.2, deviation: 0.5)
    #expect(detector.add(slow, radius: 30) == .undecided)
    #expect(detector.needsConfirmation)
    // Beyond the outlier distance the Doppler speed is ignored.
    detector = Self.standing(radius: 30)
    #expect(
      detector.add(fix(at: 101, east: 44, speed: 0, deviation: 0.1), radius: 30) == .undecided)
    #expect(detector.add(fix(at: 103, east: 44, speed: 0, deviation: 0.1), radius: 30) == .moved)
  }

  @Test("PAU-4: a fix that is not newer is ignored")
  func order() {
    var detector = Self.standing()
    let before = detector
    #expect(detector.add(fix(at: 100, east: 500), radius: 50) == .undecided)
    #expect(
      detector.add(fix(at: 99, east: 0, speed: 9, deviation: 0.1), radius: 50) == .undecided)
    #expect(detector == before)
  }

  @Test("PAU-8: a creep of 0.2 m/s is not stillness, although no fix jumps")
  func creep() {
    var detector = StillnessDetector()
    var longest = 0.0
    for second in 0...7_200 {
      let time = Double(second)
      if detector.add(fix(at: time, east: 0.2 * time), radius: 50) == .inside {
        longest = max(longest, time - detector.since.seconds)
      }
    }
    #expect(longest < 600)
    #expect(longest > 400)
  }

  @Test("PAU-7: the centre converges although the first fix was an outlier")
  func badStart() {
    var detector = StillnessDetector()
    _ = detector.add(fix(at: 0, east: 45), radius: 50)
    for second in 1...99 { _ = detector.add(fix(at: Double(second)), radius: 50) }
    #expect(detector.since == .boot)
    let off = detector.centre?.localOffset(to: equator).east
    #expect(abs((off ?? 0) + 0.45) < 0.01)
  }
}
