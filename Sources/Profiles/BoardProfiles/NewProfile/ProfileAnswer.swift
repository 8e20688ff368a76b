import LocationTypes
import TOMLFiles

// Converts the text that a user types, or passes to an option, into a value of a key.

extension ProfileKey {
  /// Converts `answer` into a value; an error describes the problem as ``ProfileReader`` does.
  ///
  /// Text needs no quotes, a list needs no brackets, and `y` and `n` mean true and false.
  func value(of answer: String) throws(InvalidValue) -> ProfileValue {
    if let literal = constraint.literal(of: answer),
      let text = try? TOMLText(Array("\(name) = \(literal)\n".utf8)),
      text.nodes.first?.parent == -1, text.children(of: -1).count == 1
    {
      return try ProfileReader(text, file: "").value(for: self, at: 0)
    }
    throw InvalidValue(.start, "\"\(printable(answer))\" is not \(constraint.typeName)")
  }
}

extension ValueConstraint {
  /// Name of the type, as it follows "is not" in messages.
  fileprivate var typeName: String {
    switch self {
    case .text: "text"
    case .word: "a word"
    case .words: "a list of words"
    case .boolean: "yes or no"
    case .integer, .integerAmong: "a whole number"
    case .number: "a number"
    case .points: "a list of pairs"
    }
  }

  /// `answer` in TOML syntax; nil if it cannot be a value of this type.
  fileprivate func literal(of answer: String) -> String? {
    switch self {
    case .text, .word: return quoted(unquoted(answer))
    case .words:
      let elements = answer.filter { $0 != "[" && $0 != "]" }
      let words = elements.split { $0 == "," || $0 == " " || $0 == "\t" }
      return "[" + words.map { quoted(unquoted(String($0))) }.joined(separator: ", ") + "]"
    case .boolean: return yesOrNo(answer).map { $0 ? "true" : "false" } ?? answer
    case .integer, .integerAmong, .number: return answer.contains("#") ? nil : answer
    case .points: return answer
    }
  }
}

/// True for `y`, `yes` and `true`, false for `n`, `no` and `false`, in upper or lower case; nil otherwise.
func yesOrNo(_ answer: String) -> Bool? {
  switch answer.lowercased() {
  case "y", "yes", "true": true
  case "n", "no", "false": false
  default: nil
  }
}

/// `text` without surrounding quotes, which users may type as in TOML.
private func unquoted(_ text: String) -> String {
  guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
  return String(text.dropFirst().dropLast())
}
