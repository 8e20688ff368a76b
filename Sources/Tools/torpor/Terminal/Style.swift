import Glibc

/// Colours of text output: used on a terminal unless NO_COLOR is set (no-color.org).
struct Style: Equatable {
  /// Meaning of a colour.
  enum Tone { case plain, strong, good, bad }

  private let isColoured: Bool

  /// Creates a style with or without colours.
  init(isColoured: Bool) { self.isColoured = isColoured }

  /// Style for standard output: colours on a terminal, unless NO_COLOR is set or TERM is `dumb`.
  static var ofStandardOutput: Style {
    let isDisabled = POSIX.environment("NO_COLOR").map { !$0.isEmpty } ?? false
    let isDumb = POSIX.environment("TERM") == "dumb"
    return Style(isColoured: POSIX.isTerminal(STDOUT_FILENO) && !isDisabled && !isDumb)
  }

  /// `text` in the colour of `tone`.
  func paint(_ text: String, _ tone: Tone) -> String {
    guard isColoured else { return text }
    return switch tone {
    case .plain: text
    case .strong: "\u{1B}[1m\(text)\u{1B}[0m"
    case .good: "\u{1B}[32m\(text)\u{1B}[0m"
    case .bad: "\u{1B}[31m\(text)\u{1B}[0m"
    }
  }
}
