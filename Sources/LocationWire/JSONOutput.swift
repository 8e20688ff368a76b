/// Writes JSON to the end of a list of bytes that is used again and again.
///
/// Numbers are written straight from scaled integers, without a String on the way. A member without
/// a value is left out; there is no `null`.
public struct JSONOutput: Sendable {
  /// What was written and not yet taken, UTF-8 with a NUL byte behind each frame.
  public private(set) var bytes: [UInt8] = []
  private var isFirst = true

  /// Nothing is written yet.
  public init() {}

  /// Takes the first `count` bytes out, because they were sent.
  ///
  /// - Precondition: there are as many.
  public mutating func removeFirst(_ count: Int) {
    precondition(count >= 0 && count <= bytes.count, "no more was written")
    if count == bytes.count { removeAll() } else { bytes.removeFirst(count) }
  }

  /// Takes everything out and keeps the room.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Takes back what was written after there were `count` bytes.
  mutating func truncate(to count: Int) { bytes.removeLast(bytes.count - count) }

  /// Writes one frame: an object and the NUL byte behind it.
  mutating func frame(_ body: (inout JSONOutput) -> Void) {
    isFirst = true
    nested(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    bytes.append(0)
  }

  /// Writes bytes that are no JSON: records of an upgraded connection.
  mutating func raw(_ body: (inout [UInt8]) -> Void) { body(&bytes) }
}

// MARK: - Members

extension JSONOutput {
  mutating func member(_ name: StaticString, _ value: String) {
    key(name)
    quoted(value)
  }

  mutating func member(_ name: StaticString, word: StaticString) {
    key(name)
    byte("\"")
    add(word)
    byte("\"")
  }

  mutating func member(_ name: StaticString, _ value: Int64) {
    key(name)
    add(value)
  }

  mutating func member(_ name: StaticString, _ value: Bool) {
    key(name)
    add(value ? "true" : "false")
  }

  /// Adds a member with the fewest digits that read back as the same number; what is not finite is
  /// left out.
  mutating func member(_ name: StaticString, _ value: Double) {
    guard value.isFinite else { return }
    key(name)
    number(value)
  }

  /// Adds a member: `value` / 10^`scale`, with as many decimals as it has.
  mutating func member(_ name: StaticString, _ value: Int64, scale: Int) {
    key(name)
    add(value, scale: scale)
  }

  /// Adds a member if there is a value: `value` / 10^`scale`, with as many decimals as it has.
  mutating func member(_ name: StaticString, _ value: Int32?, scale: Int) {
    if let value { member(name, Int64(value), scale: scale) }
  }

  mutating func object(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  /// Adds a member that is a list; `body` calls ``element(_:)``, ``element(word:)`` or
  /// ``element(text:)`` for each of its elements.
  mutating func list(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested(UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  mutating func element(_ body: (inout JSONOutput) -> Void) {
    separate()
    nested(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  mutating func element(word: StaticString) {
    separate()
    byte("\"")
    add(word)
    byte("\"")
  }

  mutating func element(text: String) {
    separate()
    quoted(text)
  }

  private mutating func nested(
    _ open: UInt8, _ close: UInt8, _ body: (inout JSONOutput) -> Void
  ) {
    bytes.append(open)
    isFirst = true
    body(&self)
    isFirst = false
    bytes.append(close)
  }

  private mutating func key(_ name: StaticString) {
    separate()
    byte("\"")
    add(name)
    add("\":")
  }

  private mutating func separate() {
    if !isFirst { byte(",") }
    isFirst = false
  }
}

// MARK: - Values

extension JSONOutput {
  private mutating func byte(_ scalar: Unicode.Scalar) {
    bytes.append(UInt8(truncatingIfNeeded: scalar.value))
  }

  /// Adds text of the source code, which needs no escapes.
  private mutating func add(_ text: StaticString) {
    text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
  }

  private mutating func add(_ value: Int64) {
    if value < 0 { byte("-") }
    digits(value.magnitude, atLeast: 1)
  }

  private mutating func add(_ value: Int64, scale: Int) {
    precondition((0...18).contains(scale), "past what Int64 holds")
    var unit: UInt64 = 1
    for _ in 0..<scale { unit *= 10 }
    if value < 0 { byte("-") }
    let (whole, rest) = value.magnitude.quotientAndRemainder(dividingBy: unit)
    digits(whole, atLeast: 1)
    guard rest > 0 else { return }
    byte(".")
    digits(rest, atLeast: scale)
    while bytes.last == UInt8(ascii: "0") { bytes.removeLast() }
  }

  /// Adds a number with zeros in front up to `width` digits, which are at most 20.
  private mutating func digits(_ value: UInt64, atLeast width: Int) {
    var text = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
    var place = 20
    var rest = value
    while rest > 0 || 20 - place < width {
      place -= 1
      text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    // Copied before the closure ends.
    unsafe text.span.extracting(place..<20).withUnsafeBufferPointer {
      unsafe bytes.append(contentsOf: $0)
    }
  }

  private mutating func number(_ value: Double) { JSONText.append(value, to: &bytes) }

  private mutating func quoted(_ value: String) { JSONText.append(quoted: value, to: &bytes) }
}
