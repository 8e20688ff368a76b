/// Writes JSON (RFC 8259) into a buffer that is reused.
///
/// Writes numbers directly from scaled integers and keys directly from static strings. A member without a value is
/// omitted, also a number that is not finite, because JSON has no NaN and no infinity.
public struct JSONOutput: ~Copyable {
  /// The text written and not yet removed.
  public var text = TextBuffer()
  private var isFirst = true

  /// Creates an empty buffer without allocating memory.
  public init() {}

  /// Copy of the bytes written and not yet removed.
  public var bytes: [UInt8] { text.bytes }

  /// Removes all text.
  public mutating func removeAll() { text.removeAll() }

  /// Appends an object.
  public mutating func object(_ body: (inout JSONOutput) -> Void) { nested("{", "}", body) }

  /// Appends one frame of the socket: an object and a NUL byte.
  public mutating func frame(_ body: (inout JSONOutput) -> Void) {
    object(body)
    byte("\0")
  }

  /// Appends the start of an object whose last member is a list with each element on a line of its own. The list may be
  /// written in parts: ``listLine(_:)`` for each element, then ``endListLines()``.
  public mutating func beginListLines(
    _ name: StaticString, after members: (inout JSONOutput) -> Void
  ) {
    byte("{")
    isFirst = true
    members(&self)
    key(name)
    byte("[")
    byte("\n")
    isFirst = true
  }

  /// Appends an object to a list with lines.
  public mutating func listLine(_ body: (inout JSONOutput) -> Void) {
    if !isFirst { text.add(word: ",\n") }
    nested("{", "}", body)
  }

  /// Appends the end of a list with lines and of its object.
  public mutating func endListLines() { text.add(word: "\n]}\n") }

  /// Appends an object on a line of its own (JSON Lines).
  public mutating func line(_ body: (inout JSONOutput) -> Void) {
    object(body)
    byte("\n")
  }
}

// MARK: - Members

extension JSONOutput {
  /// Appends a string member.
  public mutating func member(_ name: StaticString, _ value: String) {
    key(name)
    quoted(value)
  }

  /// Appends a string member that needs no escapes.
  public mutating func member(_ name: StaticString, word: StaticString) {
    key(name)
    quoted(word: word)
  }

  /// Appends a string member that `body` writes, for example a time; `body` must write no character that needs
  /// escapes.
  public mutating func string(_ name: StaticString, _ body: (inout TextBuffer) -> Void) {
    key(name)
    byte("\"")
    body(&text)
    byte("\"")
  }

  /// Appends an integer member.
  public mutating func member(_ name: StaticString, _ value: Int64) {
    key(name)
    text.add(value)
  }

  /// Appends a member with the value `value` / 10^`scale`, without trailing zeros, whose name is not static.
  public mutating func member(name: String, _ value: Int64, scale: Int = 0) {
    separate()
    quoted(name)
    byte(":")
    text.add(trimmed: value, scale: scale)
  }

  /// Appends a Boolean member.
  public mutating func member(_ name: StaticString, _ value: Bool) {
    key(name)
    text.add(word: value ? "true" : "false")
  }

  /// Appends a number member with the fewest digits that convert back to the same value; nothing if the value is not
  /// finite.
  public mutating func member(_ name: StaticString, _ value: Double) {
    guard value.isFinite else { return }
    key(name)
    decimal(value)
  }

  /// Appends a member with the value `value` / 10^`scale`, without trailing zeros.
  public mutating func member(_ name: StaticString, _ value: Int64, scale: Int) {
    key(name)
    text.add(trimmed: value, scale: scale)
  }

  /// Appends a member with the value `value` / 10^`scale`, without trailing zeros; nothing if `value` is nil.
  public mutating func member(_ name: StaticString, _ value: Int32?, scale: Int) {
    if let value { member(name, Int64(value), scale: scale) }
  }

  /// Appends a member with the value `value` / 10^`scale` and exactly `places` decimals.
  public mutating func member(_ name: StaticString, _ value: Int64, scale: Int, places: Int) {
    key(name)
    text.add(value, scale: scale, places: places)
  }

  /// Appends a member whose value is already JSON.
  public mutating func member(_ name: StaticString, json: String) {
    key(name)
    text.add(json)
  }

  /// Appends a member that is an object; `body` appends its members.
  public mutating func object(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested("{", "}", body)
  }

  /// Appends a list member; `body` calls an `element` method for each element.
  public mutating func list(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
    key(name)
    nested("[", "]", body)
  }
}

// MARK: - Elements of a list

extension JSONOutput {
  /// Appends an object to the list.
  public mutating func element(_ body: (inout JSONOutput) -> Void) {
    separate()
    nested("{", "}", body)
  }

  /// Appends a string that needs no escapes.
  public mutating func element(word: StaticString) {
    separate()
    quoted(word: word)
  }

  /// Appends a string.
  public mutating func element(text: String) {
    separate()
    quoted(text)
  }

  /// Appends `value` / 10^`scale` without trailing zeros.
  public mutating func element(_ value: Int64, scale: Int) {
    separate()
    text.add(trimmed: value, scale: scale)
  }
}

// MARK: - Values

extension JSONOutput {
  private mutating func nested(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONOutput) -> Void
  ) {
    byte(open)
    isFirst = true
    body(&self)
    isFirst = false
    byte(close)
  }

  private mutating func key(_ name: StaticString) {
    separate()
    quoted(word: name)
    byte(":")
  }

  private mutating func separate() {
    if !isFirst { byte(",") }
    isFirst = false
  }

  private mutating func byte(_ scalar: Unicode.Scalar) {
    text.add(byte: UInt8(truncatingIfNeeded: scalar.value))
  }

  private mutating func quoted(word: StaticString) {
    byte("\"")
    text.add(word: word)
    byte("\"")
  }

  /// Appends a string in quotation marks. Escapes quotation marks, backslashes and control characters below U+0020, so
  /// that the output contains no NUL byte.
  private mutating func quoted(_ value: String) {
    byte("\"")
    for unit in value.utf8 {
      switch unit {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): escape(unit)
      case 0x08: escape(UInt8(ascii: "b"))
      case 0x09: escape(UInt8(ascii: "t"))
      case 0x0A: escape(UInt8(ascii: "n"))
      case 0x0C: escape(UInt8(ascii: "f"))
      case 0x0D: escape(UInt8(ascii: "r"))
      case 0..<0x20:
        escape(UInt8(ascii: "u"))
        for nibble in [0, 0, unit >> 4, unit & 0x0F] {
          text.add(byte: nibble + (nibble < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        }
      default: text.add(byte: unit)
      }
    }
    byte("\"")
  }

  private mutating func escape(_ letter: UInt8) {
    byte("\\")
    text.add(byte: letter)
  }

  private mutating func decimal(_ value: Double) {
    // An integer needs no ".0". For others, Swift's description is the shortest that converts back.
    let isWhole =
      value == value.rounded() && value.magnitude < 1e15 && !(value == 0 && value.sign == .minus)
    if isWhole { text.add(Int64(value)) } else { text.add(value.description) }
  }
}
