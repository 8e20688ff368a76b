// Speeds, directions and modes.

extension NMEAFields {
  /// Field `i`, a speed in knots, as mm/s, rounded; negative ones break the sentence.
  @inline(__always) mutating func knots(_ i: Int) -> Int32? {
    guard let value = decimal(i, 6) else { return nil }
    if !isSpeed(value, most: 2_000_000_000_000) { return nil }
    // 1 knot is 1,852 m an hour.
    return Int32(truncatingIfNeeded: (value &* 463 &+ 450_000) / 900_000)
  }

  /// Field `i`, a speed in km/h, as mm/s, rounded; negative ones break the sentence.
  @inline(__always) mutating func kilometresPerHour(_ i: Int) -> Int32? {
    guard let value = decimal(i, 6) else { return nil }
    if !isSpeed(value, most: 3_704_000_000_000) { return nil }
    return Int32(truncatingIfNeeded: (value &+ 1_800) / 3_600)
  }

  /// Beyond two million knots, in whatever unit, nothing is meant, and the result would not fit.
  @inline(__always) private mutating func isSpeed(_ value: Int64, most: Int64) -> Bool {
    if value >= 0 && value <= most { return true }
    isBroken = true
    return false
  }

  /// Field `i`, a course in degrees, 0 to 360, times 1e4; what is outside is no course.
  @inline(__always) mutating func course(_ i: Int) -> Int32? {
    guard let value = decimal(i, 4), value >= 0, value <= 3_600_000 else { return nil }
    return Int32(truncatingIfNeeded: value)
  }

  /// Field `i`, a mode indicator; nil when empty or not known.
  @inline(__always) func mode(_ i: Int) -> NMEAMode? {
    letter(i).flatMap { NMEAMode(rawValue: $0) }
  }
}
