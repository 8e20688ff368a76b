import LocationTypes
import Testing

@testable import LocationPolicy

extension PlausibleSpeed {
  /// A speed that does not decay, m/s.
  static func constant(_ speed: Double) -> PlausibleSpeed {
    PlausibleSpeed(limit: speed, minimum: speed)
  }
}

struct PlausibleSpeedTests {
  /// 20 m/s measured at 0 s, on a board that is carried with 50 m/s at most: 26 m/s are plausible.
  static let car: PlausibleSpeed = {
    var speed = PlausibleSpeed(limit: 50)
    speed.accept(fix(at: 0, speed_mmps: 20_000))
    return speed
  }()

  static func seconds(
    _ speed: PlausibleSpeed, _ metres: Double, after start: Double
  ) -> Double {
    speed.shortestTime(toTravel: metres, after: Instant(seconds: start)).seconds
  }

  @Test("REG-16, SLC-6: without fixes the plausible speed is that of a bicycle")
  func unknown() {
    #expect(Self.seconds(PlausibleSpeed(limit: 50), 100, after: 0) == 20)
    #expect(Self.seconds(PlausibleSpeed(limit: 2), 100, after: 0) == 50, "the board is slower")
    #expect(Self.seconds(PlausibleSpeed(limit: 50), 0, after: 0) == 0)
  }

  @Test(
    "REG-16: a distance is travelled at the speed that is plausible at its end",
    // The speed halves in 300 s: 26 m/s after 0 s, 13 m/s after 300 s, 5 m/s from 1,260 s.
    arguments: [
      (0, 0, 0), (0, 3_900, 300), (0, 5_200, 600), (300, 1_560, 150),
      (0, 6_300, 1_260), (0, 10_000, 2_000), (0, 7_800, 1_560), (5_000, 100, 20),
    ] as [(Double, Double, Double)])
  func decay(start: Double, metres: Double, expected: Double) {
    #expect(abs(Self.seconds(Self.car, metres, after: start) - expected) < 1e-3)
  }

  @Test("A start before the last rise counts as at the rise")
  func beforePeak() {
    var speed = PlausibleSpeed(limit: 50)
    speed.accept(fix(at: 1_000, speed_mmps: 20_000))
    #expect(abs(Self.seconds(speed, 3_900, after: 0) - 300) < 1e-3)
  }

  @Test("The plausible speed follows a rise at once, also one between two fixes, up to the limit")
  func rise() {
    var speed = Self.car
    speed.accept(fix(at: 10, east: 600, speed_mmps: nil))
    #expect(Self.seconds(speed, 500, after: 10) == 10, "50 of 78 m/s")
    speed.accept(fix(at: 20, speed_mmps: 1_000))
    #expect(Self.seconds(speed, 500, after: 20) == 10, "a slow fix does not lower it")
  }
}
