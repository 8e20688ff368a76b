import LocationTypes

// Text forms of core types, because the core itself has no strings.

extension UTCTime: CustomStringConvertible {
  /// ISO 8601 with milliseconds, `2026-11-22T09:41:07.250Z`.
  public var description: String {
    let date = date
    let milliseconds = microsecondsOfDay / 1_000
    let seconds = milliseconds / 1_000
    return
      "\(padded(Int64(date.year), 4))-\(padded(Int64(date.month), 2))-\(padded(Int64(date.day), 2))"
      + "T\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
      + ".\(padded(milliseconds % 1_000, 3))Z"
  }

  private func padded(_ number: Int64, _ width: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}

extension Interval: CustomStringConvertible {
  /// Seconds with milliseconds, `12.250 s`.
  public var description: String {
    let milliseconds = microseconds / 1_000
    let fraction = "\(milliseconds.magnitude % 1_000)"
    let zeros = String(repeating: "0", count: 3 - fraction.utf8.count)
    return "\(milliseconds < 0 ? "-" : "")\(milliseconds.magnitude / 1_000).\(zeros)\(fraction) s"
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
