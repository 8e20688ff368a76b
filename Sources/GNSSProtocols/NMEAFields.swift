import LocationTypes

/// Walks through the fields of a sentence, from the comma before a field to the one after it.
///
/// Every reader consumes one field and gives nil for an empty or missing one. A field that is not
/// what it should be sets ``isBroken``, and the sentence is given up.
struct NMEAFields {
  /// Of the next field's first byte; past the end when there is none.
  private var position: Int
  /// A field could not be read.
  private(set) var isBroken = false

  /// Starts behind the address, whose five characters and comma are there.
  init(after address: Int) { position = address + 1 }

  /// Whether all fields have been read.
  func isAtEnd(_ s: Span<UInt8>) -> Bool { position > s.count }

  /// Passes over one field.
  mutating func skip(_ s: Span<UInt8>) {
    while position < s.count, s[position] != UInt8(ascii: ",") { position += 1 }
    position += 1
  }

  /// The byte of a field of one; nil when empty. Longer ones give their first byte.
  mutating func letter(_ s: Span<UInt8>) -> UInt8? {
    guard position < s.count, s[position] != UInt8(ascii: ",") else {
      position += 1
      return nil
    }
    let byte = s[position]
    skip(s)
    return byte
  }

  /// A decimal number times 10^`decimals`, rounded half away from zero.
  ///
  /// Before the point it takes `18 - decimals` digits: more would pass the end of the type.
  mutating func decimal(_ s: Span<UInt8>, _ decimals: Int) -> Int64? {
    var i = position
    let end = s.count
    guard i < end, s[i] != UInt8(ascii: ",") else {
      position = i + 1
      return nil
    }
    let isNegative = s[i] == UInt8(ascii: "-")
    if isNegative || s[i] == UInt8(ascii: "+") { i += 1 }
    var value: Int64 = 0
    let first = i
    NMEAFields.digits(s, &i, upTo: end, &value)
    var digits = i - first
    if digits > 18 - decimals { return broken(s, i) }
    var places = 0
    var roundsUp = false
    if i < end, s[i] == UInt8(ascii: ".") {
      i += 1
      let point = i
      NMEAFields.digits(s, &i, upTo: min(end, point &+ decimals), &value)
      places = i - point
      if i < end, places == decimals { roundsUp = s[i] &- UInt8(ascii: "5") <= 4 }
      // What is finer than that only has to be digits.
      while i < end, s[i] &- UInt8(ascii: "0") <= 9 { i += 1 }
      digits += i - point
    }
    if digits == 0 || (i < end && s[i] != UInt8(ascii: ",")) { return broken(s, i) }
    while places < decimals {
      value = value &* 10
      places += 1
    }
    position = i + 1
    if roundsUp { value &+= 1 }
    return isNegative ? -value : value
  }

  /// Takes digits on to the end of `value`; one that gets too long wraps.
  @inline(__always) private static func digits(
    _ s: Span<UInt8>, _ i: inout Int, upTo end: Int, _ value: inout Int64
  ) {
    while i < end {
      // The hottest line of all; no caller's `end` passes the span's.
      let digit = unsafe s[unchecked: i] &- UInt8(ascii: "0")
      if digit > 9 { return }
      value = value &* 10 &+ Int64(digit)
      i &+= 1
    }
  }

  /// A decimal number times 10^`decimals` as that type; one beyond its range breaks the sentence.
  mutating func decimal<Value: FixedWidthInteger>(
    _ s: Span<UInt8>, _ decimals: Int, as type: Value.Type
  ) -> Value? {
    guard let wide = decimal(s, decimals) else { return nil }
    guard let value = Value(exactly: wide) else {
      isBroken = true
      return nil
    }
    return value
  }

  /// Whether the field from `start`, which was just read, has six digits and then its end or a point.
  ///
  /// With fewer, hours or days were taken from the wrong digits; gpsd refuses these as well.
  private func isOfSix(_ s: Span<UInt8>, from start: Int) -> Bool {
    let end = position - 1
    if s[start] == UInt8(ascii: "+") { return false }
    return end == start + 6 || (end > start + 6 && s[start + 6] == UInt8(ascii: "."))
  }

  /// `hhmmss` with any fraction: microseconds of the day, up to second 60.
  mutating func time(_ s: Span<UInt8>) -> Int64? {
    let start = position
    guard let value = decimal(s, 6) else { return nil }
    let clock = value / 1_000_000
    let seconds = clock % 100
    let minutes = clock / 100 % 100
    let hours = clock / 10_000
    if value < 0 || hours > 23 || minutes > 59 || seconds > 60 || !isOfSix(s, from: start) {
      isBroken = true
      return nil
    }
    let whole = hours * 3_600 + minutes * 60 + seconds
    return whole * 1_000_000 + value % 1_000_000
  }

  /// `ddmmyy`; nil when no calendar has it.
  mutating func date(_ s: Span<UInt8>) -> ShortDate? {
    let start = position
    guard let value = decimal(s, 0), value >= 0, value <= 311_299 else { return nil }
    guard position - 1 == start + 6, isOfSix(s, from: start) else { return nil }
    let date = ShortDate(
      year: UInt8(value % 100), month: UInt8(value / 100 % 100), day: UInt8(value / 10_000))
    guard date.month >= 1, date.month <= 12, date.day >= 1, date.day <= 31 else { return nil }
    return date
  }

  /// Latitude, hemisphere, longitude, hemisphere; nil when one of the four is empty.
  mutating func coordinate(_ s: Span<UInt8>) -> Coordinate? {
    let latitude = decimal(s, 9)
    let northSouth = letter(s)
    let longitude = decimal(s, 9)
    let eastWest = letter(s)
    guard let latitude, let northSouth, let longitude, let eastWest else { return nil }
    let isSouth = northSouth == UInt8(ascii: "S")
    let isWest = eastWest == UInt8(ascii: "W")
    guard isSouth || northSouth == UInt8(ascii: "N"), isWest || eastWest == UInt8(ascii: "E"),
      let y = NMEAFields.degrees_e9(latitude), let x = NMEAFields.degrees_e9(longitude)
    else {
      isBroken = true
      return nil
    }
    let place = Coordinate(latitude_e9: isSouth ? -y : y, longitude_e9: isWest ? -x : x)
    if !place.isValid {
      isBroken = true
      return nil
    }
    return place
  }

  /// From degrees × 100 + minutes, times 1e9, to degrees × 1e9, rounded.
  private static func degrees_e9(_ value: Int64) -> Int64? {
    let minutes = value % 100_000_000_000
    if value < 0 || minutes >= 60_000_000_000 { return nil }
    return value / 100_000_000_000 * 1_000_000_000 + (minutes + 30) / 60
  }

  /// A speed in knots as mm/s, rounded; negative ones break the sentence.
  mutating func knots(_ s: Span<UInt8>) -> Int32? {
    guard let value = decimal(s, 6) else { return nil }
    // 1 knot is 1,852 m an hour.
    return speed(of: value, numerator: 463, denominator: 900_000)
  }

  /// A speed in km/h as mm/s, rounded; negative ones break the sentence.
  mutating func kilometresPerHour(_ s: Span<UInt8>) -> Int32? {
    guard let value = decimal(s, 6) else { return nil }
    return speed(of: value, numerator: 1, denominator: 3_600)
  }

  private mutating func speed(of value: Int64, numerator: Int64, denominator: Int64) -> Int32? {
    // Beyond two million, knots or km/h, nothing is meant, and the result would not fit.
    if value < 0 || value > 2_000_000_000_000 {
      isBroken = true
      return nil
    }
    return Int32((value * numerator + denominator / 2) / denominator)
  }

  /// A course in degrees, 0 to 360, times 1e4; what is outside is no course.
  mutating func course(_ s: Span<UInt8>) -> Int32? {
    guard let value = decimal(s, 4), value >= 0, value <= 3_600_000 else { return nil }
    return Int32(value)
  }

  /// A mode indicator; nil when empty or not known.
  mutating func mode(_ s: Span<UInt8>) -> NMEAMode? {
    letter(s).flatMap { NMEAMode(rawValue: $0) }
  }

  private mutating func broken(_ s: Span<UInt8>, _ i: Int) -> Int64? {
    isBroken = true
    position = i
    skip(s)
    return nil
  }
}
