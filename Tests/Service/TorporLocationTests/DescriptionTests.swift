import LocationClient
import LocationTypes
import Testing

@Suite("Text of times and coordinates")
struct DescriptionTests {
  @Test("a time is printed as a date if UTC is known, otherwise as seconds after boot")
  func times() {
    let utc = UTCTime(microseconds: 1_763_770_472_050_900)
    #expect("\(utc)" == "2025-11-22T00:14:32.050Z")
    #expect("\(FixTime(acquired: .boot, utc: utc))" == "2025-11-22T00:14:32.050Z")
    let boot = Instant.boot + .milliseconds(12_007)
    #expect("\(FixTime(acquired: boot, utc: nil))" == "12.007 s after boot")
    #expect("\(Interval.milliseconds(-1_250))" == "-1.250 s" && "\(Interval.zero)" == "0.000 s")
    let position = Coordinate(latitude_e9: 52_500_000_000, longitude_e9: -1_250_000_000)
    #expect("\(position)" == "52.5, -1.25")
  }
}
