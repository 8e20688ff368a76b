import LocationTypes
import TextFormats

/// Formats numbers with units for human-readable output.
enum HumanFormat {
  /// A duration in one or two units: `300 ms`, `42 s`, `5 min`, `1 h 20 min`, `2 d 3 h`.
  static func duration(_ length: Interval) -> String {
    let microseconds = max(length.microseconds, 0)
    if microseconds < 10_000_000 {
      if microseconds < 1_000_000 { return "\((microseconds + 500) / 1_000) ms" }
      return trimmed((microseconds + 50_000) / 100_000, scale: 1) + " s"
    }
    let seconds = (microseconds + 500_000) / 1_000_000
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return twoUnits(seconds / 60, "min", seconds % 60, "s") }
    let minutes = (seconds + 30) / 60
    if minutes < 1_440 { return twoUnits(minutes / 60, "h", minutes % 60, "min") }
    let hours = (minutes + 30) / 60
    return twoUnits(hours / 24, "d", hours % 24, "h")
  }

  /// A count with thousands separators: `86,400`.
  static func count(_ value: Int) -> String {
    let digits = String(value.magnitude)
    var result = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { result.append(",") }
      result.append(digit)
    }
    return result
  }

  /// A count with its noun, in the plural unless it is 1: `1 epoch`, `86,400 epochs`.
  static func count(_ value: Int, of what: String) -> String {
    "\(count(value)) \(what)\(value == 1 ? "" : "s")"
  }

  /// `value` with exactly `places` decimals; `-` if it is not finite or 10^18 or more after scaling.
  static func decimal(_ value: Double, places: Int) -> String {
    var factor = 1.0
    for _ in 0..<places { factor *= 10 }
    let scaled = (value * factor).rounded()
    guard scaled.isFinite, scaled.magnitude < 1e18 else { return "-" }
    var text = TextBuffer()
    text.add(Int64(scaled), scale: places, places: places)
    return text.string
  }

  /// `value` / 10^`scale` without trailing zeros.
  static func trimmed(_ value: Int64, scale: Int) -> String {
    var text = TextBuffer()
    text.add(trimmed: value, scale: scale)
    return text.string
  }

  /// A power, given in milliwatts: `24.60 mW`.
  static func power(_ milliwatts: Double, places: Int = 2) -> String {
    decimal(milliwatts, places: places) + " mW"
  }

  /// An energy, given in millijoules: `12.30 J`, `4.56 kJ`.
  static func energy(_ millijoules: Double) -> String {
    let joules = millijoules / 1_000
    if joules < 1_000 { return decimal(joules, places: joules < 100 ? 2 : 1) + " J" }
    return decimal(joules / 1_000, places: joules < 100_000 ? 2 : 1) + " kJ"
  }

  /// A distance, given in metres: `500 m`, `2.5 km`; `-` from 10^15 m on.
  static func distance(_ metres: Double) -> String {
    guard metres < 1e15 else { return "-" }
    return metres < 1_000
      ? trimmed(Int64((metres * 10).rounded()), scale: 1) + " m"
      : trimmed(Int64((metres / 10).rounded()), scale: 2) + " km"
  }

  /// A percentage with at most two decimals: `40 %`, `0.5 %`.
  static func percent(_ value: Double) -> String {
    trimmed(Int64((value * 100).rounded()), scale: 2) + " %"
  }

  /// `part` as a percentage of `all` with one decimal: `40.0 %`; `0.0 %` if `all` is 0.
  static func share(_ part: Double, of all: Double) -> String {
    decimal(all > 0 ? part / all * 100 : 0, places: 1) + " %"
  }

  /// Seconds as `08:54:11`; the hours may exceed 24.
  static func clock(_ seconds: Int64) -> String {
    var text = TextBuffer()
    text.add(hoursMinutesSeconds: seconds)
    return text.string
  }

  /// `2026-11-22 09:41:07 UTC`.
  static func dateAndTime(_ utc: UTCTime) -> String {
    var text = TextBuffer()
    text.add(day: utc.date)
    return "\(text.string) \(clock(utc.microsecondsOfDay / 1_000_000)) UTC"
  }

  /// `once`, `twice`, `3 times`.
  static func times(_ count: Int) -> String {
    switch count {
    case 1: "once"
    case 2: "twice"
    case _: "\(self.count(count)) times"
    }
  }

  private static func twoUnits(_ large: Int64, _ a: String, _ small: Int64, _ b: String) -> String {
    small == 0 ? "\(large) \(a)" : "\(large) \(a) \(small) \(b)"
  }
}
