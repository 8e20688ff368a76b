import LocationTypes

/// The fields of a sentence, read by index; index 0 is the first one after the address.
///
/// Each accessor returns nil for an empty or missing field. A field with invalid content sets
/// ``isMalformed``, and ``NMEADecoding`` then rejects the sentence, except where an accessor documents
/// that invalid content is nil. Fields of usual length are read eight characters at a time (SWAR); fields
/// of any other length go through ``longDecimal(_:_:_:)``.
/// Eight bytes may be loaded at the start of any field, because a margin follows the sentence. Depends
/// on `LocationTypes`; borrows the decoder's buffer.
struct NMEAFields: ~Escapable {
  /// Number of bytes after the last one that may be loaded with it; their content has no effect.
  static var margin: Int { 8 }

  let bytes: Span<UInt8>
  /// Index of the address, after the `$`.
  let start: Int
  // Offsets of the commas from `start`, and of the end of the last field.
  private let fieldOffsets: Span<UInt16>
  /// Number of fields after the address, at most 24.
  let count: Int
  /// Whether a field had invalid content.
  private(set) var isMalformed = false

  /// Creates the fields of the sentence whose address begins at `start`, with the offsets of its scan.
  ///
  /// - Precondition: ``margin`` bytes follow the sentence.
  @_lifetime(copy bytes, copy offsets)
  @inline(__always) init(_ bytes: Span<UInt8>, at start: Int, _ offsets: Span<UInt16>) {
    count = offsets.count &- 1
    precondition(
      count >= 0 && start >= 0
        && start &+ Int(offsets[count]) <= bytes.count &- NMEAFields.margin,
      "a margin follows the sentence")
    self.bytes = bytes
    self.start = start
    self.fieldOffsets = offsets
  }

  /// Number of characters of the address; 0 if no comma follows it.
  @inline(__always) var addressLength: Int { count == 0 ? 0 : Int(fieldOffsets[0]) }

  /// Number of characters of the address, with or without fields after it.
  var addressEnd: Int { Int(fieldOffsets[0]) }

  /// The first eight bytes after the `$`; those after the end of the sentence are undefined.
  @inline(__always) var head: UInt64 { load(start) }

  /// The first eight characters of the address, the first in the lowest byte, padded with zeros.
  var address: UInt64 {
    let length = addressLength
    return length < 8 ? head & (1 &<< UInt64(8 * length) &- 1) : head
  }

  /// Index and length of field `i`; length 0 if it is missing.
  @inline(__always) private func location(_ i: Int) -> (begin: Int, length: Int) {
    if i >= count { return (0, 0) }
    // There is one offset more than there are fields.
    let comma = Int(unsafe fieldOffsets[unchecked: i])
    return (start &+ comma &+ 1, Int(unsafe fieldOffsets[unchecked: i &+ 1]) &- comma &- 1)
  }

  /// Number of characters of field `i`.
  @inline(__always) func length(_ i: Int) -> Int { location(i).length }

  /// Byte `offset` of field `i`; nil after its end.
  func byte(_ offset: Int, ofField i: Int) -> UInt8? {
    let (begin, length) = location(i)
    return offset < length ? bytes[begin + offset] : nil
  }

  /// The first byte of field `i`; nil when empty.
  @inline(__always) func letter(_ i: Int) -> UInt8? {
    let (begin, length) = location(i)
    return length == 0 ? nil : bytes[begin]
  }
}

// MARK: Eight digits at a time

extension NMEAFields {
  private static var asciiZeros: UInt64 { 0x3030_3030_3030_3030 }
  private static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  /// Eight bytes from `i` on, which must lie in the span.
  @inline(__always) private func load(_ i: Int) -> UInt64 {
    // `i` is not negative and at most the end of the sentence, which a margin follows.
    let bits = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
    return UInt64(littleEndian: bits)
  }

  /// The high bit of each byte that is not a digit; `x` has characters XOR `0`, none above 0x7F.
  @inline(__always) private static func nonDigitMask(_ x: UInt64) -> UInt64 {
    (x &+ 0x7676_7676_7676_7676) & highBits
  }

  /// The number formed by eight digits, the first in the lowest byte.
  @inline(__always) private static func number(_ digits: UInt64) -> UInt64 {
    let pairs = (digits &* 10 &+ digits &>> 8) & 0x00FF_00FF_00FF_00FF
    let fours = (pairs &* 100 &+ pairs &>> 16) & 0x0000_FFFF_0000_FFFF
    return (fours &* 10_000 &+ fours &>> 32) & 0xFFFF_FFFF
  }

  @inline(__always) private static func power(_ exponent: Int) -> UInt64 {
    switch exponent {
    case 0: 1
    case 1: 10
    case 2: 100
    case 3: 1_000
    case 4: 10_000
    case 5: 100_000
    case 6: 1_000_000
    case 7: 10_000_000
    case 8: 100_000_000
    case _: 1_000_000_000
    }
  }

  /// A decimal number of up to eight characters without sign, times 10^`decimals`; nil for anything
  /// else, including longer numbers.
  @inline(__always)
  private func shortDecimal(_ begin: Int, _ length: Int, _ decimals: Int) -> Int64? {
    if length > 8 { return nil }
    // Leading zeros pad the word.
    let x = (load(begin) ^ NMEAFields.asciiZeros) &<< UInt64(64 &- 8 &* length)
    let nonDigits = NMEAFields.nonDigitMask(x)
    if nonDigits == 0 { return Int64(NMEAFields.number(x) &* NMEAFields.power(decimals)) }
    let bit = UInt64(nonDigits.trailingZeroBitCount &- 7)
    let places = 7 &- Int(bit &>> 3)
    guard nonDigits & (nonDigits &- 1) == 0, UInt8(truncatingIfNeeded: x &>> bit) == 0x1E,
      length > 1, places <= decimals
    else { return nil }
    // Shift the digits before the point by one byte, over the point.
    let before = (1 &<< bit) &- 1
    let digits = (x & before) &<< 8 | x & ~(before &<< 8 | 0xFF)
    return Int64(NMEAFields.number(digits) &* NMEAFields.power(decimals &- places))
  }

  /// The number formed by the `length` digits from `begin` on, 1 to 8, times 10^(`places` − `length`);
  /// nil if any is not a digit.
  @inline(__always)
  private func fraction(_ begin: Int, _ length: Int, _ places: Int) -> UInt64? {
    if length < 1 || length > 8 || length > places { return nil }
    let x = (load(begin) ^ NMEAFields.asciiZeros) &<< UInt64(64 &- 8 &* length)
    if NMEAFields.nonDigitMask(x) != 0 { return nil }
    return NMEAFields.number(x) &* NMEAFields.power(places &- length)
  }

  /// The three two-digit numbers at the start of a field; nil if it does not begin with six digits.
  @inline(__always)
  private func digitPairs(_ begin: Int, _ length: Int) -> (UInt64, UInt64, UInt64)? {
    if length < 6 { return nil }
    let x = (load(begin) ^ NMEAFields.asciiZeros) & 0xFFFF_FFFF_FFFF
    if NMEAFields.nonDigitMask(x) != 0 { return nil }
    let pairs = x &* 10 &+ x &>> 8
    return (pairs & 0xFF, pairs &>> 16 & 0xFF, pairs &>> 32 & 0xFF)
  }
}

// MARK: Numbers

extension NMEAFields {
  /// Field `i` as a decimal number times 10^`decimals`, rounded half away from zero.
  ///
  /// At most `18 - decimals` digits before the point: more would overflow.
  @inline(__always) mutating func decimal(_ i: Int, _ decimals: Int) -> Int64? {
    let (begin, length) = location(i)
    if length == 0 { return nil }
    return shortDecimal(begin, length, decimals) ?? longDecimal(begin, length, decimals)
  }

  /// Field `i` as an integer: fast for up to four digits, which most fields have; otherwise rounded
  /// like any number.
  @inline(__always) mutating func whole(_ i: Int) -> Int64? {
    let (begin, length) = location(i)
    if length == 0 { return nil }
    if length <= 4 {
      // As in `load`.
      let bits = unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: begin, as: UInt32.self)
      let x = (UInt32(littleEndian: bits) ^ 0x3030_3030) &<< UInt32(32 &- 8 &* length)
      if (x &+ 0x7676_7676) & 0x8080_8080 == 0 {
        let pairs = (x &* 10 &+ x &>> 8) & 0x00FF_00FF
        return Int64((pairs &* 100 &+ pairs &>> 16) & 0xFFFF)
      }
    }
    return longDecimal(begin, length, 0)
  }

  /// A number of any length, with any sign and number of decimals.
  @inline(never)
  private mutating func longDecimal(_ begin: Int, _ length: Int, _ decimals: Int) -> Int64? {
    var i = begin
    let end = begin + length
    let isNegative = bytes[i] == UInt8(ascii: "-")
    if isNegative || bytes[i] == UInt8(ascii: "+") { i += 1 }
    var value: Int64 = 0
    let first = i
    appendDigits(&i, upTo: end, &value)
    var digits = i - first
    if digits > 18 - decimals { return markMalformed() }
    var places = 0
    var roundsUp = false
    if i < end, bytes[i] == UInt8(ascii: ".") {
      i += 1
      let point = i
      appendDigits(&i, upTo: min(end, point &+ decimals), &value)
      places = i - point
      if i < end, places == decimals { roundsUp = bytes[i] &- UInt8(ascii: "5") <= 4 }
      // Further decimals must only be digits.
      while i < end, bytes[i] &- UInt8(ascii: "0") <= 9 { i += 1 }
      digits += i - point
    }
    if digits == 0 || i < end { return markMalformed() }
    while places < decimals {
      value = value &* 10
      places += 1
    }
    if roundsUp { value &+= 1 }
    return isNegative ? -value : value
  }

  /// Appends digits to `value`; a number that is too long wraps.
  private func appendDigits(_ i: inout Int, upTo end: Int, _ value: inout Int64) {
    while i < end {
      let digit = bytes[i] &- UInt8(ascii: "0")
      if digit > 9 { return }
      value = value &* 10 &+ Int64(digit)
      i &+= 1
    }
  }

  private mutating func markMalformed() -> Int64? {
    isMalformed = true
    return nil
  }

  /// Field `i` times 1,000, as metres in mm or seconds in ms; a value out of range makes the sentence
  /// malformed.
  @inline(never) mutating func thousandths(_ i: Int) -> Int32? {
    guard let wide = decimal(i, 3) else { return nil }
    return narrow(wide)
  }

  /// Field `i`, rounded to an integer, as the given type; a value out of range makes the sentence
  /// malformed.
  @inline(__always) mutating func whole<Value: FixedWidthInteger>(
    _ i: Int, as type: Value.Type
  ) -> Value? {
    guard let wide = whole(i) else { return nil }
    return narrow(wide)
  }

  /// Field `i` as a number; nil for any other content, because a station identifier may be any text.
  @inline(__always) mutating func stationNumber(_ i: Int) -> UInt16? {
    let wasMalformed = isMalformed
    defer { isMalformed = wasMalformed }
    return whole(i, as: UInt16.self)
  }

  @inline(__always) private mutating func narrow<Value: FixedWidthInteger>(
    _ wide: Int64
  ) -> Value? {
    guard let value = Value(exactly: wide) else {
      isMalformed = true
      return nil
    }
    return value
  }
}

// MARK: Times and positions

extension NMEAFields {
  /// `hhmmss` with any fraction, as microseconds of the day, up to second 60.
  @inline(never) mutating func time(_ i: Int) -> Int64? {
    let (begin, length) = location(i)
    if length == 0 { return nil }
    if let (hours, minutes, seconds) = digitPairs(begin, length), hours <= 23, minutes <= 59,
      seconds <= 60
    {
      let whole = Int64((hours &* 3_600 &+ minutes &* 60 &+ seconds) &* 1_000_000)
      if length == 6 { return whole }
      if bytes[begin &+ 6] == UInt8(ascii: "."),
        let remainder = fraction(begin &+ 7, length &- 7, 6)
      {
        return whole &+ Int64(remainder)
      }
    }
    return longTime(begin, length)
  }

  @inline(never) private mutating func longTime(_ begin: Int, _ length: Int) -> Int64? {
    guard let value = longDecimal(begin, length, 6) else { return nil }
    let clock = value / 1_000_000
    let seconds = clock % 100
    let minutes = clock / 100 % 100
    let hours = clock / 10_000
    if hours > 23 || minutes > 59 || seconds > 60 || !hasSixDigits(begin, length) {
      return markMalformed()
    }
    let whole = hours * 3_600 + minutes * 60 + seconds
    return whole * 1_000_000 + value % 1_000_000
  }

  /// Whether the field has six digits, followed by its end or a point.
  ///
  /// With fewer, the hours or days would be read from the wrong digits; gpsd rejects them as well.
  private func hasSixDigits(_ begin: Int, _ length: Int) -> Bool {
    guard length >= 6 else { return false }
    for i in begin..<begin + 6 where bytes[i] &- UInt8(ascii: "0") > 9 { return false }
    return length == 6 || bytes[begin + 6] == UInt8(ascii: ".")
  }

  /// `ddmmyy`; nil for an impossible date, or for a number that has not exactly six digits.
  @inline(__always) mutating func date(_ i: Int) -> ShortDate? {
    let (begin, length) = location(i)
    if length == 0 { return nil }
    var (day, month, year): (UInt64, UInt64, UInt64)
    if length == 6, let pairs = digitPairs(begin, length) {
      (day, month, year) = pairs
    } else {
      // With another length the days would be read from the wrong digits, but it must be a number.
      guard let value = longDecimal(begin, length, 0), hasSixDigits(begin, length), length == 6
      else {
        return nil
      }
      (day, month, year) = (
        UInt64(value / 10_000), UInt64(value / 100 % 100), UInt64(value % 100)
      )
    }
    guard month >= 1, month <= 12, day >= 1, day <= 31 else { return nil }
    return ShortDate(year: UInt8(year), month: UInt8(month), day: UInt8(day))
  }

  /// Latitude, hemisphere, longitude and hemisphere from field `i` on; nil if one is empty.
  @inline(never) mutating func coordinate(_ i: Int) -> Coordinate? {
    let latitude = angle_e9(i)
    let northSouth = letter(i &+ 1)
    let longitude = angle_e9(i &+ 2)
    let eastWest = letter(i &+ 3)
    guard let latitude, let northSouth, let longitude, let eastWest else { return nil }
    let isSouth = northSouth == UInt8(ascii: "S")
    let isWest = eastWest == UInt8(ascii: "W")
    guard isSouth || northSouth == UInt8(ascii: "N"), isWest || eastWest == UInt8(ascii: "E")
    else {
      isMalformed = true
      return nil
    }
    let coordinate = Coordinate(
      latitude_e9: isSouth ? -latitude : latitude, longitude_e9: isWest ? -longitude : longitude)
    if !coordinate.isValid {
      isMalformed = true
      return nil
    }
    return coordinate
  }

  /// Degrees and minutes `dddmm.mmmm` as degrees × 1e9, rounded.
  @inline(__always) private mutating func angle_e9(_ i: Int) -> Int64? {
    let (begin, length) = location(i)
    if length == 0 { return nil }
    let x = load(begin) ^ NMEAFields.asciiZeros
    let nonDigits = NMEAFields.nonDigitMask(x)
    // The first byte that is not a digit: the point, after one to seven digits.
    let bit = UInt64((nonDigits | 1 &<< 63).trailingZeroBitCount &- 7)
    let digits = Int(bit &>> 3)
    if digits > 0, UInt8(truncatingIfNeeded: x &>> bit) == 0x1E,
      let fraction = fraction(begin &+ digits &+ 1, length &- digits &- 1, 9)
    {
      let whole = NMEAFields.number(x &<< (64 &- bit))
      return degrees_e9(Int64(whole), Int64(fraction))
    }
    guard let value = longDecimal(begin, length, 9) else { return nil }
    if value < 0 { return markMalformed() }
    return degrees_e9(value / 1_000_000_000, value % 1_000_000_000)
  }

  /// Degrees × 1e9 from degrees × 100 + minutes, and billionths of a minute.
  @inline(__always)
  private mutating func degrees_e9(_ whole: Int64, _ fraction: Int64) -> Int64? {
    let degrees = whole / 100
    let minutes = whole &- degrees &* 100
    if minutes > 59 { return markMalformed() }
    return degrees &* 1_000_000_000 &+ (minutes &* 1_000_000_000 &+ fraction &+ 30) / 60
  }
}

// Speeds, directions and modes.

extension NMEAFields {
  /// Field `i`, a speed in knots, as mm/s, rounded; a negative one makes the sentence malformed.
  @inline(never) mutating func knots(_ i: Int) -> Int32? {
    guard let value = decimal(i, 6) else { return nil }
    if !isSpeed(value, most: 2_000_000_000_000) { return nil }
    // 1 knot is 1,852 m an hour.
    return Int32(truncatingIfNeeded: (value &* 463 &+ 450_000) / 900_000)
  }

  /// Field `i`, a speed in km/h, as mm/s, rounded; a negative one makes the sentence malformed.
  @inline(never) mutating func kilometresPerHour(_ i: Int) -> Int32? {
    guard let value = decimal(i, 6) else { return nil }
    if !isSpeed(value, most: 3_704_000_000_000) { return nil }
    return Int32(truncatingIfNeeded: (value &+ 1_800) / 3_600)
  }

  /// Whether a speed is 0 to `most`: the limit of two million knots keeps the result within 32 bits.
  private mutating func isSpeed(_ value: Int64, most: Int64) -> Bool {
    if value >= 0 && value <= most { return true }
    isMalformed = true
    return false
  }

  /// Field `i`, a course in degrees, times 1e4; nil outside 0 to 360.
  @inline(never) mutating func course(_ i: Int) -> Int32? {
    guard let value = decimal(i, 4), value >= 0, value <= 3_600_000 else { return nil }
    return Int32(truncatingIfNeeded: value)
  }

  /// Field `i`, a mode indicator; nil when empty or unknown.
  @inline(__always) func mode(_ i: Int) -> NMEAMode? {
    letter(i).flatMap { NMEAMode(rawValue: $0) }
  }
}
