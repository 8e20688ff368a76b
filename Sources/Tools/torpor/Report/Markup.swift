/// A document of elements in the making: what is opened is closed, what is said is escaped.
///
/// It is HTML, and well-formed XML too, so that any reader of either can look at it.
struct Markup {
  /// What was written so far, UTF-8.
  private(set) var text = TextBuffer()

  init() {}

  /// Adds an element with what `body` puts into it.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:],
    _ body: (inout Markup) -> Void
  ) {
    begin(name, attributes)
    text.add(">")
    body(&self)
    text.add("</\(name)>")
  }

  /// Adds an element that says `words`.
  mutating func element(_ name: String, _ words: String) { element(name, [:], words) }

  /// Adds an element that says `words`.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String>, _ words: String
  ) {
    element(name, attributes) { $0.say(words) }
  }

  /// Adds an element that holds nothing: one of SVG, or one that HTML lets be empty.
  mutating func leaf(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
    begin(name, attributes)
    text.add("/>")
  }

  /// Adds words.
  mutating func say(_ words: String) { text.add(Markup.escaped(words)) }

  /// Adds what is markup already, or a sheet of styles without any mark of it.
  mutating func add(markup: String) { text.add(markup) }

  /// Begins a new line, for people who read the source.
  mutating func newLine() { text.add("\n") }

  private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    text.add("<\(name)")
    for (key, value) in attributes { text.add(" \(key)=\"\(Markup.escaped(value))\"") }
  }

  /// `words` without anything that means something in a document; what XML cannot hold at all,
  /// control characters above all, becomes U+FFFD.
  static func escaped(_ words: String) -> String {
    var result = ""
    result.unicodeScalars.reserveCapacity(words.utf8.count)
    for scalar in words.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\t", "\n": result.unicodeScalars.append(scalar)
      case _ where isUnfit(scalar): result.unicodeScalars.append("\u{FFFD}")
      case _: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      || (0xFDD0...0xFDEF).contains(scalar.value) || scalar.value & 0xFFFE == 0xFFFE
  }
}

/// The data of an SVG path, in whole units.
struct PathData {
  private var text = TextBuffer()

  /// Nothing was drawn.
  var isEmpty: Bool { text.bytes.isEmpty }
  /// As an attribute's value.
  var string: String { text.string }

  /// Goes to a place without drawing.
  mutating func move(_ x: Int, _ y: Int) { add("M", x, y) }
  /// Draws a straight line.
  mutating func line(_ x: Int, _ y: Int) { add("L", x, y) }
  /// Draws a line of this way from where it is.
  mutating func step(_ dx: Int, _ dy: Int) { add("l", dx, dy) }
  /// Draws a dot: round line ends make it one.
  mutating func dot(_ x: Int, _ y: Int) {
    add("M", x, y)
    text.add("h0")
  }

  /// Draws along.
  mutating func across(to x: Int) {
    text.add("H")
    text.add(Int64(x))
  }

  /// Draws up or down.
  mutating func upright(to y: Int) {
    text.add("V")
    text.add(Int64(y))
  }

  /// Closes what was begun.
  mutating func close() { text.add("Z") }

  private mutating func add(_ word: String, _ x: Int, _ y: Int) {
    text.add(word)
    text.add(Int64(x))
    text.add(y < 0 ? "" : " ")
    text.add(Int64(y))
  }
}
