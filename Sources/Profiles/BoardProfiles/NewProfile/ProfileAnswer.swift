import LocationTypes
import TOMLFiles

// A value as a person types it when asked, or gives it to an option.

extension ProfileKey {
  /// The value that `answer` stands for; a failure says what is wrong in the words of a profile's
  /// own errors.
  ///
  /// Text needs no quotes, a list no brackets, and `y` and `n` stand for true and false.
  func value(of answer: String) -> Result<ProfileValue, Refusal> {
    let unread = Refusal(
      place: .start, problem: "\"\(printable(answer))\" is not \(form.noun)")
    guard let literal = form.literal(of: answer) else { return .failure(unread) }
    do throws(TOMLFault) {
      let text = try TOMLText(Array("\(name) = \(literal)\n".utf8))
      guard text.nodes.first?.parent == -1, text.children(of: -1).count == 1 else {
        return .failure(unread)
      }
      return ProfileReader(text, file: "").accepted(self, 0)
    } catch {
      return .failure(unread)
    }
  }
}

extension ProfileForm {
  /// What it is, for "is not …".
  fileprivate var noun: String {
    switch self {
    case .text: "text"
    case .word: "a word"
    case .words: "a list of words"
    case .flag: "yes or no"
    case .whole, .oneOf: "a whole number"
    case .number: "a number"
    case .points: "a list of pairs"
    }
  }

  /// `answer` as a profile would write it; nil for what can be none of it.
  fileprivate func literal(of answer: String) -> String? {
    switch self {
    case .text, .word: return quoted(unquoted(answer))
    case .words:
      let inside = answer.filter { $0 != "[" && $0 != "]" }
      let words = inside.split { $0 == "," || $0 == " " || $0 == "\t" }
      return "[" + words.map { quoted(unquoted(String($0))) }.joined(separator: ", ") + "]"
    case .flag: return yesOrNo(answer).map { $0 ? "true" : "false" } ?? answer
    case .whole, .oneOf, .number: return answer.contains("#") ? nil : answer
    case .points: return answer
    }
  }
}

/// What `y`, `yes`, `true` and their opposites mean, in any case; nil for anything else.
func yesOrNo(_ answer: String) -> Bool? {
  switch answer.lowercased() {
  case "y", "yes", "true": true
  case "n", "no", "false": false
  default: nil
  }
}

/// `text` without the quotes that somebody who knows TOML puts around it.
private func unquoted(_ text: String) -> String {
  guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
  return String(text.dropFirst().dropLast())
}
