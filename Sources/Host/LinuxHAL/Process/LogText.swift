/// Text from outside made safe for a log and for a terminal: names that programs give themselves, paths, what a
/// receiver or another program says.
public enum LogText {
  /// One line of `text` in which every character is seen: controls, separators of lines and paragraphs, marks that
  /// change the direction of what follows, and characters without width are written as `\u{202E}`; other UTF-8 stays
  /// as it is.
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

  /// The lines of `text` for a log, each cleaned. Lines after the first are indented, so that none of them can be taken
  /// for a line of the service's own.
  static func lines(_ text: String) -> [String] {
    let lines = text.split { $0.isNewline }
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
