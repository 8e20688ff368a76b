import LocationTypes
import Testing

@testable import torpor

@Suite("Numbers with units as text")
struct HumanFormatTests {
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
