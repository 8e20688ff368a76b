/// Makes external text safe for a log and a terminal: names of programs, paths, texts from a receiver or another
/// program.
public enum LogText {
  /// `text` as one line with only visible characters. Control characters, line and paragraph separators, marks that
  /// change the writing direction, and characters without width are escaped as `\u{202E}`; other UTF-8 is kept.
  ///
  /// - Complexity: O(length).
  public static func cleaned(_ text: some StringProtocol) -> String {
    var cleaned = ""
    for scalar in text.unicodeScalars {
      if isSafe(scalar) {
        cleaned.unicodeScalars.append(scalar)
      } else {
        cleaned += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      }
    }
    return cleaned
  }

  /// The lines of `text` for a log, each cleaned. Lines after the first are indented, so that they cannot be mistaken
  /// for separate log entries.
  static func lines(_ text: String) -> [String] {
    // Other separators of lines are only found in external text: they are escaped.
    let lines = text.split(separator: "\n")
    return lines.enumerated().map { ($0.offset > 0 ? "    " : "") + cleaned($0.element) }
  }

  private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      return false
    default: return !properties.isDefaultIgnorableCodePoint
    }
  }
}
