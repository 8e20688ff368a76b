/// HTML that is also well-formed XML: interpolated strings are escaped, interpolated HTML is not.
struct HTML: ExpressibleByStringInterpolation {
  /// The markup.
  let text: String

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ words: String) { text += HTML.escaped(words) }
    mutating func appendInterpolation(_ number: Int) { text += String(number) }
    mutating func appendInterpolation(_ html: HTML?) { text += html?.text ?? "" }
    mutating func appendInterpolation(_ parts: [HTML]) { for part in parts { text += part.text } }
  }

  init(stringLiteral: String) { text = stringLiteral }
  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
  /// Markup, a style sheet or a script, without escaping.
  init(markup: String) { text = markup }

  /// A table; the first cell of each row is its heading.
  static func table(_ heads: [String], _ rows: [[HTML]]) -> HTML {
    let head: HTML =
      heads.isEmpty
      ? "" : "<thead><tr>\(heads.map { "<th scope=\"col\">\($0)</th>" as HTML })</tr></thead>"
    let body = rows.map { row in
      "<tr><th scope=\"row\">\(row[0])</th>\(row.dropFirst().map { "<td>\($0)</td>" as HTML })</tr>"
        as HTML
    }
    return "<table>\(head)<tbody>\(body)</tbody></table>"
  }

  /// `words` with markup characters escaped; characters that XML does not allow, and control characters, become
  /// U+FFFD.
  static func escaped(_ words: String) -> String {
    var result = ""
    for scalar in words.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case "\t", "\n": result.unicodeScalars.append(scalar)
      case _ where isInvalid(scalar): result += "\u{FFFD}"
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
