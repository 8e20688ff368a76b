import LocationWire

/// Writes one JSON object after another, each on its own line (JSON Lines, RFC 8259).
///
/// A member without a value is left out: there is no `null` but where ``null(_:)`` is called, no
/// NaN and no infinity, which JSON does not know.
struct JSONWriter {
  /// The lines so far.
  private(set) var text = TextBuffer()
  private var isFirst = true

  init() {}

  /// Takes the lines out.
  mutating func removeAll() { text.removeAll() }

  /// Begins an object, on a line of its own.
  mutating func begin() {
    text.add(byte: UInt8(ascii: "{"))
    isFirst = true
  }

  /// Ends the object and its line.
  mutating func end() { text.add("}\n") }

  /// Adds a member that is text.
  mutating func member(_ name: String, _ value: String) {
    key(name)
    quoted(value)
  }

  /// Adds a member that is a whole number.
  mutating func member(_ name: String, _ value: Int64) {
    key(name)
    text.add(value)
  }

  /// Adds a member that is true or false.
  mutating func member(_ name: String, _ value: Bool) {
    key(name)
    text.add(value ? "true" : "false")
  }

  /// Adds a member with the fewest digits that read back as the same number.
  ///
  /// What is not finite is left out.
  mutating func member(_ name: String, _ value: Double) {
    guard value.isFinite else { return }
    key(name)
    number(value)
  }

  /// Adds a member of exactly `places` decimals: `value` / 10^`scale`.
  mutating func member(_ name: String, _ value: Int64, scale: Int, places: Int) {
    key(name)
    text.add(value, scale: scale, places: places)
  }

  /// Adds a member of as many decimals as it has: `value` / 10^`scale`.
  mutating func member(_ name: String, trimmed value: Int64, scale: Int) {
    key(name)
    text.add(trimmed: value, scale: scale)
  }

  /// Adds a member whose value is JSON already.
  mutating func member(_ name: String, json: String) {
    key(name)
    text.add(json)
  }

  /// Adds a member that says there is none.
  mutating func null(_ name: String) {
    key(name)
    text.add("null")
  }

  /// Adds a member that `body` writes: time stamps and the like.
  mutating func string(_ name: String, _ body: (inout TextBuffer) -> Void) {
    key(name)
    text.add(byte: UInt8(ascii: "\""))
    body(&text)
    text.add(byte: UInt8(ascii: "\""))
  }

  /// Adds a member that is an object of its own.
  mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nested("{", "}", body)
  }

  /// Adds a member that is a list; `body` calls ``element(_:)`` for each.
  mutating func list(_ name: String, _ body: (inout JSONWriter) -> Void) {
    key(name)
    nested("[", "]", body)
  }

  /// Adds an object to the list.
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
    // Nought has no sign for people.
    text.append { JSONText.append(value + 0.0, to: &$0) }
  }

  private mutating func quoted(_ value: String) {
    text.append { JSONText.append(quoted: value, to: &$0) }
  }
}
