import LocationTypes
import Testing

@testable import LocationService

@Suite("The offset of UTC")
struct UTCOffsetTests {
  @Test("the UTC offset follows only fixes with a certain date")
  func utcOffset() {
    var offset = UTCOffset()
    var fix = Fix(
      acquired: .boot + .seconds(10), coordinate: Coordinate(latitude_e9: 0, longitude_e9: 0))
    offset.update(from: fix)
    #expect(offset.utc(.boot) == nil)
    fix.utc = UTCTime(microseconds: 1_750_000_010_000_000)
    offset.update(from: fix)
    #expect(offset.utc(.boot) == UTCTime(microseconds: 1_750_000_000_000_000))
    fix.isDateUncertain = true
    fix.utc = UTCTime(microseconds: 0)
    offset.update(from: fix)
    #expect(offset.utc(.boot) == UTCTime(microseconds: 1_750_000_000_000_000))
  }
}
