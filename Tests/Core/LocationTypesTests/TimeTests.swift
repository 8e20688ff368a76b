import LocationTypes
import Testing

@Suite("Intervals and instants")
struct TimeTests {
  @Test(
    "DEF-22: any number of seconds converts to an interval without a trap",
    arguments: [
      (1.5, 1_500_000), (-1.5, -1_500_000), (0.000_000_4, 0), (0.000_000_6, 1), (-0.000_000_6, -1),
      (.nan, 0), (-.nan, 0), (.signalingNaN, 0),
      (.infinity, Int64.max / 4), (-.infinity, -(Int64.max / 4)),
      (.greatestFiniteMagnitude, Int64.max / 4), (-.greatestFiniteMagnitude, -(Int64.max / 4)),
      (1e18, Int64.max / 4), (-1e18, -(Int64.max / 4)), (2e12, 2_000_000_000_000_000_000),
      (-2e12, -2_000_000_000_000_000_000), (.leastNonzeroMagnitude, 0),
    ] as [(Double, Int64)])
  func clamps(_ seconds: Double, _ microseconds: Int64) {
    #expect(Interval(seconds: seconds).microseconds == microseconds)
    #expect(Instant(seconds: seconds).microseconds == microseconds)
  }

  @Test("the units are consistent")
  func units() {
    #expect(Interval.seconds(3) == Interval.milliseconds(3_000))
    #expect(Interval.milliseconds(3) == Interval(microseconds: 3_000))
    #expect(Interval.seconds(-2).seconds == -2)
    #expect(Instant(microseconds: 2_500_000).seconds == 2.5)
    #expect(UTCTime(microseconds: -500_000).seconds == -0.5)
    #expect(Interval.zero.microseconds == 0)
    #expect(Instant.boot.microseconds == 0)
  }

  @Test("intervals support addition, subtraction, multiplication and comparison")
  func arithmetic() {
    let (a, b) = (Interval(microseconds: 7), Interval(microseconds: 3))
    #expect((a + b).microseconds == 10)
    #expect((a - b).microseconds == 4)
    #expect((b - a).microseconds == -4)
    #expect((a * 3).microseconds == 21)
    #expect(b < a)
    #expect(!(a < b))
    #expect(!(a < a))
  }

  @Test("adding an interval moves an instant, and instants differ by an interval")
  func instants() {
    let t = Instant(microseconds: 100)
    #expect((t + Interval(microseconds: 5)).microseconds == 105)
    #expect((t - Interval(microseconds: 5)).microseconds == 95)
    #expect((t - Instant(microseconds: 40)).microseconds == 60)
    #expect((Instant(microseconds: 40) - t).microseconds == -60)
    #expect(Instant.boot < t)
    #expect(!(t < t))
  }

  @Test("DEF-22: adding any interval to an instant never exceeds distantFuture")
  func instantClamps() {
    let far = Instant.distantFuture
    #expect(far + .unlimited == far)
    #expect(far + Interval(microseconds: 1) == far)
    #expect(far + Interval(microseconds: .max) == far)
    #expect(Instant(microseconds: 5) + Interval(microseconds: .max) == far)
    #expect((far + Interval(microseconds: -1)).microseconds == far.microseconds - 1)
    #expect(
      (Instant(microseconds: -5) + Interval(microseconds: .min)).microseconds == Int64.min / 2)
    #expect(Instant.boot + .unlimited < far)
  }

  @Test("adding an interval moves a UTC time, and UTC times differ by an interval")
  func utc() {
    let t = UTCTime(microseconds: 100)
    #expect((t + Interval(microseconds: 5)).microseconds == 105)
    #expect((t - Interval(microseconds: 5)).microseconds == 95)
    #expect((t - UTCTime(microseconds: 40)).microseconds == 60)
    #expect(UTCTime(microseconds: 99) < t)
    #expect(!(t < t))
  }
}
