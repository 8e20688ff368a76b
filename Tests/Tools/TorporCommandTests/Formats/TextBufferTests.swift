import LocationTypes
import Testing

@testable import torpor

@Suite("Numbers and times as text")
struct TextBufferTests {
  func text(_ body: (inout TextBuffer) -> Void) -> String {
    var text = TextBuffer()
    body(&text)
    return text.string
  }

  @Test(
    "scaled integers are written with fixed decimals, halves rounded away from zero",
    arguments: [
      (0, 9, 9, "0.000000000"), (-37_784_788_333, 9, 9, "-37.784788333"), (5, 1, 0, "1"),
      (4, 1, 0, "0"), (-4, 1, 0, "0"), (-5, 1, 0, "-1"), (83_600, 3, 4, "83.6000"),
      (1_499, 3, 2, "1.50"), (1_494, 3, 2, "1.49"), (1_495, 3, 2, "1.50"),
      (-1, 9, 9, "-0.000000001"),
      (-1, 9, 3, "0.000"), (7, 0, 2, "7.00"), (Int64.max, 0, 0, "9223372036854775807"),
      (Int64.min, 0, 0, "-9223372036854775808"), (15, 2, 1, "0.2"), (999, 3, 2, "1.00"),
    ] as [(Int64, Int, Int, String)])
  func fixedDecimals(value: Int64, scale: Int, places: Int, expected: String) {
    #expect(text { $0.add(value, scale: scale, places: places) } == expected)
  }

  @Test(
    "scaled integers are written without trailing zeros",
    arguments: [
      (0, 9, "0"), (1_500_000, 6, "1.5"), (100, 0, "100"), (-200_000_000, 9, "-0.2"),
      (10_000_000, 6, "10"), (1, 6, "0.000001"),
    ] as [(Int64, Int, String)])
  func trimmed(value: Int64, scale: Int, expected: String) {
    #expect(text { $0.add(trimmed: value, scale: scale) } == expected)
  }

  @Test("a time is rounded to the nearest millisecond, as in gpsd")
  func times() {
    let start = UTCTime(microseconds: 1_396_515_251_000_000)
    #expect(text { $0.add(iso8601: start) } == "2014-04-03T08:54:11.000Z")
    let before = UTCTime(microseconds: start.microseconds - 499)
    #expect(text { $0.add(iso8601: before) } == "2014-04-03T08:54:11.000Z")
    let after = UTCTime(microseconds: start.microseconds + 500)
    #expect(text { $0.add(iso8601: after) } == "2014-04-03T08:54:11.001Z")
    let newYear = UTCTime(microseconds: -1)
    #expect(text { $0.add(iso8601: newYear) } == "1970-01-01T00:00:00.000Z")
    let old = UTCTime(microseconds: -1_500)
    #expect(text { $0.add(iso8601: old) } == "1969-12-31T23:59:59.999Z")
  }

  @Test(
    "durations are written with at most two units",
    arguments: [
      (0, "0 ms"), (300_000, "300 ms"), (1_500_000, "1.5 s"), (42_000_000, "42 s"),
      (300_000_000, "5 min"), (330_000_000, "5 min 30 s"), (4_800_000_000, "1 h 20 min"),
      (183_600_000_000, "2 d 3 h"), (-5, "0 ms"), (3_599_600_000, "1 h"),
    ] as [(Int64, String)])
  func durations(microseconds: Int64, expected: String) {
    #expect(HumanFormat.duration(Interval(microseconds: microseconds)) == expected)
  }

  @Test("counts are written with separators, energy with a unit, and NaN as a dash")
  func words() {
    #expect(HumanFormat.count(0) == "0")
    #expect(HumanFormat.count(999) == "999")
    #expect(HumanFormat.count(86_400) == "86,400")
    #expect(HumanFormat.count(-1_234_567) == "-1,234,567")
    #expect(HumanFormat.decimal(1.25, places: 1) == "1.3")
    #expect(HumanFormat.decimal(.nan, places: 1) == "-")
    #expect(HumanFormat.decimal(-.infinity, places: 1) == "-")
    #expect(HumanFormat.energy(1_234) == "1.23 J")
    #expect(HumanFormat.energy(2_160_000) == "2.16 kJ")
  }
}
