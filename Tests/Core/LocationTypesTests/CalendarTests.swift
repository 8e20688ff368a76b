import LocationTypes
import Testing

@Suite("Calendar dates")
struct CalendarTests {
  /// The Gregorian rule, written differently from the code.
  static func isLeap(_ year: Int) -> Bool {
    if year % 400 == 0 { return true }
    if year % 100 == 0 { return false }
    return year % 4 == 0
  }

  static let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  @Test("STD-7: each date of 1900 to 2200 converts to its day number and back")
  func everyDay() throws {
    var number = -25_567  // 1900-01-01
    for year in 1900...2200 {
      for month in 1...12 {
        let length = Self.lengths[month - 1] + (month == 2 && Self.isLeap(year) ? 1 : 0)
        try #require(CalendarDate.days(inMonth: month, of: year) == length)
        try #require(CalendarDate(year: year, month: month, day: length + 1) == nil)
        for day in 1...length {
          let date = try #require(CalendarDate(year: year, month: month, day: day))
          let back = CalendarDate(daysSince1970: number)
          guard date.daysSince1970 == number, back == date else {
            Issue.record("\(year)-\(month)-\(day) is not day \(number)")
            return
          }
          number += 1
        }
      }
    }
    #expect(number == 84_371)  // 2201-01-01
  }

  @Test("the first and last dates and 1970-01-01 have their day numbers")
  func ends() throws {
    #expect(try #require(CalendarDate(year: 1970, month: 1, day: 1)).daysSince1970 == 0)
    let first = try #require(CalendarDate(year: 1, month: 1, day: 1))
    #expect(first.daysSince1970 == -719_162)
    #expect(CalendarDate(daysSince1970: -719_162) == first)
    let last = try #require(CalendarDate(year: 9999, month: 12, day: 31))
    #expect(last.daysSince1970 == 2_932_896)
    #expect(CalendarDate(daysSince1970: 2_932_896) == last)
    // Day numbers before year 1 are valid, although no such date can be created.
    let before = CalendarDate(daysSince1970: -719_163)
    #expect((before.year, before.month, before.day) == (0, 12, 31))
    #expect(before.daysSince1970 == -719_163)
    let longBefore = CalendarDate(daysSince1970: -1_000_000)
    #expect(longBefore.daysSince1970 == -1_000_000)
    #expect(longBefore.year == -768)
  }

  @Test(
    "invalid dates are refused",
    arguments: [
      (0, 1, 1), (10_000, 1, 1), (-4, 2, 1), (2024, 0, 1), (2024, 13, 1), (2024, 1, 0),
      (2024, 1, 32), (2023, 2, 29), (2024, 2, 30), (1900, 2, 29), (2100, 2, 29), (2024, 4, 31),
      (2024, 6, 31), (2024, 9, 31), (2024, 11, 31),
    ])
  func refuses(_ year: Int, _ month: Int, _ day: Int) {
    #expect(CalendarDate(year: year, month: month, day: day) == nil)
  }

  @Test("leap days are valid", arguments: [2000, 2024, 2400, 1904])
  func leapDays(_ year: Int) throws {
    let date = try #require(CalendarDate(year: year, month: 2, day: 29))
    #expect(CalendarDate(daysSince1970: date.daysSince1970 + 1).month == 3)
  }

  @Test("dates are ordered by day")
  func compares() throws {
    let a = try #require(CalendarDate(year: 2023, month: 12, day: 31))
    let b = try #require(CalendarDate(year: 2024, month: 1, day: 1))
    #expect(a < b)
    #expect(!(b < a))
    #expect(!(a < a))
  }

  @Test(
    "a UTC time splits into its date and time of day",
    arguments: [
      (0, 0, 0), (1, 0, 1), (86_399_999_999, 0, 86_399_999_999), (86_400_000_000, 1, 0),
      (-1, -1, 86_399_999_999), (-86_400_000_000, -1, 0), (-86_400_000_001, -2, 86_399_999_999),
      (1_709_208_000_000_000, 19_782, 43_200_000_000),
    ] as [(Int64, Int, Int64)])
  func splits(_ microseconds: Int64, _ day: Int, _ time: Int64) {
    let utc = UTCTime(microseconds: microseconds)
    #expect(utc.date.daysSince1970 == day)
    #expect(utc.microsecondsOfDay == time)
    #expect((utc.date.start + Interval(microseconds: time)) == utc)
  }
}
