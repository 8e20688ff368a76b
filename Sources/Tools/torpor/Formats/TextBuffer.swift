/// A buffer of UTF-8 text. Numbers are formatted from scaled integers, without floating point, so that no conversion
/// changes a decoded digit.
struct TextBuffer {
  /// Text written so far, UTF-8.
  private(set) var bytes: [UInt8] = []

  init() {}

  /// The text as a string.
  var string: String { String(decoding: bytes, as: UTF8.self) }
  /// Removes all text and keeps the capacity.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Adds `text`.
  mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// Adds the text of `other`.
  mutating func add(_ other: TextBuffer) { bytes.append(contentsOf: other.bytes) }

  /// Adds `more`, which must be UTF-8.
  mutating func add(bytes more: [UInt8]) { bytes.append(contentsOf: more) }

  /// Calls `body` with the bytes to append to; it must append UTF-8.
  mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

  /// Adds one byte.
  mutating func add(byte: UInt8) { bytes.append(byte) }

  /// Adds an integer, padded with leading zeros to `width` digits (20 at most).
  mutating func add(_ value: Int64, width: Int = 1) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    addDigits(value.magnitude, width: width)
  }

  /// Adds `value` / 10^`scale` with exactly `places` decimals, halves rounded away from zero.
  ///
  /// A negative value that rounds to 0 is printed without a sign.
  ///
  /// - Precondition: 0 ≤ `scale` ≤ 18 and 0 ≤ `places` ≤ 18.
  mutating func add(_ value: Int64, scale: Int, places: Int) {
    precondition((0...18).contains(scale) && (0...18).contains(places), "at most 18 decimals")
    let decimals = min(scale, places)
    let divisor = TextBuffer.power(scale - decimals)
    let rounded =
      value.magnitude / divisor
      + (value.magnitude % divisor >= divisor - divisor / 2 && divisor > 1 ? 1 : 0)
    if value < 0, rounded > 0 { bytes.append(UInt8(ascii: "-")) }
    let unit = TextBuffer.power(decimals)
    addDigits(rounded / unit, width: 1)
    guard places > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    if decimals > 0 { addDigits(rounded % unit, width: decimals) }
    for _ in decimals..<places { bytes.append(UInt8(ascii: "0")) }
  }

  /// Adds `value` / 10^`scale` without trailing zeros.
  mutating func add(trimmed value: Int64, scale: Int) {
    add(value, scale: scale, places: scale)
    guard scale > 0 else { return }
    while bytes.last == UInt8(ascii: "0") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
  }

  private mutating func addDigits(_ value: UInt64, width: Int) {
    var digits: InlineArray<20, UInt8> = InlineArray(repeating: UInt8(ascii: "0"))
    var remainder = value
    var count = 0
    repeat {
      digits[count] = UInt8(ascii: "0") + UInt8(remainder % 10)
      remainder /= 10
      count += 1
    } while remainder > 0
    for index in (0..<max(count, min(width, 20))).reversed() { bytes.append(digits[index]) }
  }

  private static func power(_ exponent: Int) -> UInt64 {
    var result: UInt64 = 1
    for _ in 0..<exponent { result *= 10 }
    return result
  }
}
