import TextFormats

/// HTML that is also well-formed XML: interpolated strings are escaped, interpolated HTML is not.
struct HTML: ExpressibleByStringInterpolation {
  /// The markup.
  let text: String

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ words: String) { text += XMLText.escaped(words) }
    mutating func appendInterpolation(_ number: Int) { text += String(number) }
    mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
    mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }
  }

  init(stringLiteral: String) { text = stringLiteral }
  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
  /// Markup, a style sheet or JSON, without escaping.
  init(markup: String) { text = markup }

  /// A table with a heading of each column and row.
  static func table(_ heads: [String], _ rows: [(HTML, [String])]) -> HTML {
    let head = heads.map { "<th scope=\"col\">\($0)</th>" as HTML }
    let body = rows.map { head, texts -> HTML in
      let cells = texts.map { "<td>\($0)</td>" as HTML }
      return "<tr><th scope=\"row\">\(head)</th>\(cells)</tr>"
    }
    return "<table><thead><tr>\(head)</tr></thead><tbody>\(body)</tbody></table>"
  }
}
