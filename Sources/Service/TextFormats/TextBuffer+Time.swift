import LocationTypes

extension TextBuffer {
  /// Appends a time in UTC as ISO 8601 with milliseconds: `2014-04-03T08:54:11.000Z`.
  ///
  /// Rounds to the nearest millisecond, as gpsd does.
  public mutating func add(iso8601 moment: UTCTime) {
    let remainder = moment.microseconds % 1_000
    let lower = moment.microseconds - (remainder < 0 ? remainder + 1_000 : remainder)
    let rounded = UTCTime(microseconds: moment.microseconds - lower >= 500 ? lower + 1_000 : lower)
    add(day: rounded.date)
    add("T")
    add(clock: rounded.microsecondsOfDay / 1_000)
    add("Z")
  }

  /// Appends a date: `2014-04-03`.
  public mutating func add(day: CalendarDate) {
    add(Int64(day.year), width: 4)
    add("-")
    add(Int64(day.month), width: 2)
    add("-")
    add(Int64(day.day), width: 2)
  }

  /// Appends milliseconds of the day as `08:54:11.000`.
  public mutating func add(clock milliseconds: Int64) {
    add(hoursMinutesSeconds: milliseconds / 1_000)
    add(".")
    add(milliseconds % 1_000, width: 3)
  }

  /// Appends seconds as `08:54:11`; the hours may exceed 24.
  public mutating func add(hoursMinutesSeconds seconds: Int64) {
    add(seconds / 3_600, width: 2)
    add(":")
    add(seconds / 60 % 60, width: 2)
    add(":")
    add(seconds % 60, width: 2)
  }
}
