import LocationWire

/// Writes JSON objects, each on its own line (JSON Lines; RFC 8259).
///
/// A numeric member that is not finite is omitted, as JSON has no NaN and no infinity; ``null(_:)`` writes a `null`.
struct JSONWriter {
  /// Lines written so far.
  private(set) var text = TextBuffer()
  private var isFirst = true

  init() {}

  /// Removes all lines and keeps the capacity.
  mutating func removeAll() { text.removeAll() }

  /// Begins an object, on a line of its own.
  mutating func begin() {
    text.add(byte: UInt8(ascii: "{"))
    isFirst = true
  }

  /// Ends the object and its line.
  mutating func end() { text.add("}\n") }

  /// Adds a string member.
  mutating func member(_ name: String, _ value: String) {
    key(name)
    quoted(value)
  }

  /// Adds an integer member.
  mutating func member(_ name: String, _ value: Int64) {
    key(name)
    text.add(value)
  }

  /// Adds a Boolean member.
  mutating func member(_ name: String, _ value: Bool) {
    key(name)
    text.add(value ? "true" : "false")
  }

  /// Adds a number with the fewest digits that read back as the same value; omits it if it is not finite.
  mutating func member(_ name: String, _ value: Double) {
    guard value.isFinite else { return }
    key(name)
    number(value)
  }

  /// Adds `value` / 10^`scale` as a number with exactly `places` decimals.
  mutating func member(_ name: String, _ value: Int64, scale: Int, places: Int) {
    key(name)
    text.add(value, scale: scale, places: places)
  }

  /// Adds `value` / 10^`scale` as a number without trailing zeros.
  mutating func member(_ name: String, trimmed value: Int64, scale: Int) {
    key(name)
    text.add(trimmed: value, scale: scale)
  }

  /// Adds a member whose value is already JSON.
  mutating func member(_ name: String, json: String) {
    key(name)
    text.add(json)
  }

  /// Adds a member with the value `null`.
  mutating func null(_ name: String) {
    key(name)
    text.add("null")
  }

  /// Adds a string member that `body` writes, for example a time stamp; `body` must write no character that needs
  /// escaping.
  mutating func string(_ name: String, _ body: (inout TextBuffer) -> Void) {
    key(name)
    text.add(byte: UInt8(ascii: "\""))
    body(&text)
    text.add(byte: UInt8(ascii: "\""))
  }

  /// Adds a member that is an object; `body` adds its members.
  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nested("{", "}", body)
  }

  /// Adds a member that is an array; `body` calls ``element(_:)`` for each element.
  mutating func list(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nested("[", "]", body)
  }

  /// Adds an object to the array.
  mutating func element(_ body: (inout JSONWriter) -> Void) {
    separate()
    nested("{", "}", body)
  }

  private mutating func nested(
    _ open: String, _ close: String, _ body: (inout JSONWriter) -> Void
  ) {
    text.add(open)
    isFirst = true
    body(&self)
    isFirst = false
    text.add(close)
  }

  private mutating func key(_ name: String) {
    separate()
    quoted(name)
    text.add(byte: UInt8(ascii: ":"))
  }

  private mutating func separate() {
    if !isFirst { text.add(byte: UInt8(ascii: ",")) }
    isFirst = false
  }

  private mutating func number(_ value: Double) {
    // Adding 0 turns -0 into 0.
    text.append { JSONText.append(value + 0.0, to: &$0) }
  }

  private mutating func quoted(_ value: String) {
    text.append { JSONText.append(quoted: value, to: &$0) }
  }
}
