import LocationTypes
import TextFormats

// Text forms of core types, because the core itself has no strings.

extension UTCTime: CustomStringConvertible {
  /// ISO 8601 with milliseconds, `2026-11-22T09:41:07.250Z`.
  public var description: String {
    var text = TextBuffer()
    text.add(day: date)
    text.add("T")
    text.add(clock: microsecondsOfDay / 1_000)
    text.add("Z")
    return text.string
  }
}

extension Interval: CustomStringConvertible {
  /// Seconds with milliseconds, `12.250 s`.
  public var description: String {
    var text = TextBuffer()
    text.add(microseconds / 1_000, scale: 3, places: 3)
    return "\(text.string) s"
  }
}

extension Instant: CustomStringConvertible {
  /// `12.250 s after boot`.
  public var description: String { "\(self - .boot) after boot" }
}

extension FixTime: CustomStringConvertible {
  /// UTC where it is known, else the time after boot.
  public var description: String { utc.map { "\($0)" } ?? "\(acquired)" }
}

extension Coordinate: CustomStringConvertible {
  /// Degrees north and east, `52.5163, 13.3777`.
  public var description: String { "\(latitude), \(longitude)" }
}
