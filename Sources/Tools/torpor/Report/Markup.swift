import TextFormats

/// Builder of an HTML document that closes each element and escapes all text.
///
/// The result is also well-formed XML, so that XML parsers can read it.
struct Markup: ~Copyable {
  /// Text written so far, UTF-8.
  private(set) var text = TextBuffer()

  init() {}

  /// Adds an element with the content that `body` adds.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:],
    _ body: (inout Markup) -> Void
  ) {
    begin(name, attributes)
    text.add(">")
    body(&self)
    text.add("</\(name)>")
  }

  /// Adds an element that contains the text `words`.
  mutating func element(_ name: String, _ words: String) { element(name, [:], words) }

  /// Adds an element with attributes that contains the text `words`.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String>, _ words: String
  ) {
    element(name, attributes) { $0.addText(words) }
  }

  /// Adds an empty element: an SVG element, or a void element of HTML.
  mutating func emptyElement(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
    begin(name, attributes)
    text.add("/>")
  }

  /// Adds escaped text.
  mutating func addText(_ words: String) { text.add(Markup.escaped(words)) }

  /// Adds text without escaping: markup, or a style sheet that needs no escaping.
  mutating func add(markup: String) { text.add(markup) }

  /// Adds a line break, which makes the source readable.
  mutating func newLine() { text.add("\n") }

  private mutating func begin(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    text.add("<\(name)")
    for (key, value) in attributes { text.add(" \(key)=\"\(Markup.escaped(value))\"") }
  }

  /// `words` with markup characters escaped; characters that XML does not allow, and control characters, become
  /// U+FFFD.
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
      case _ where isInvalid(scalar): result.unicodeScalars.append("\u{FFFD}")
      case _: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isInvalid(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
      || (0xFDD0...0xFDEF).contains(scalar.value) || scalar.value & 0xFFFE == 0xFFFE
  }
}

/// Builder of the data of an SVG path (`d` attribute) with integer coordinates.
struct PathData {
  /// Value of the `d` attribute.
  private(set) var string = ""

  /// Whether the path has no command.
  var isEmpty: Bool { string.isEmpty }

  /// Moves the current point without drawing.
  mutating func move(_ x: Int, _ y: Int) { add("M", x, y) }
  /// Draws a line to an absolute position.
  mutating func line(_ x: Int, _ y: Int) { add("L", x, y) }
  /// Draws a line to a position relative to the current point.
  mutating func step(_ dx: Int, _ dy: Int) { add("l", dx, dy) }
  /// Draws a dot: a line of length 0, visible with round line caps.
  mutating func dot(_ x: Int, _ y: Int) {
    add("M", x, y)
    string += "h0"
  }

  /// Draws a horizontal line.
  mutating func horizontalLine(to x: Int) {
    string += "H\(x)"
  }

  /// Draws a vertical line.
  mutating func verticalLine(to y: Int) {
    string += "V\(y)"
  }

  /// Closes the subpath.
  mutating func close() { string += "Z" }

  private mutating func add(_ word: String, _ x: Int, _ y: Int) {
    string += "\(word)\(x)\(y < 0 ? "" : " ")\(y)"
  }
}
