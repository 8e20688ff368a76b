/// One thing wrong with a TOML file, or with the way to it.
///
/// Prints as `FILE:LINE:COLUMN: key: message`, which editors can jump to.
public struct FileProblem: Equatable, Sendable, CustomStringConvertible {
  /// The file, as it was named.
  public var file: String
  /// Line of the key or value, from 1; 0 when the file could not be read at all.
  public var line: Int
  /// Column in characters, from 1; 0 when ``line`` is.
  public var column: Int
  /// The key with its tables, `receiver.power.track_mw`; empty when no key is concerned.
  public var key: String
  /// What is wrong.
  public var problem: String
  /// What should be there; empty when ``problem`` says it all.
  public var expected: String
  /// What was probably meant, or what to do; empty when there is no guess.
  public var suggestion: String
  /// The file is not there, is a folder, or may not be read: nothing is known of what is in it.
  public var isUnreadable = false

  package init(
    file: String, at place: TOMLPlace = .none, key: String = "", _ problem: String,
    expected: String = "", suggestion: String = ""
  ) {
    self.file = file
    line = place.line
    column = place.column
    self.key = printable(key)
    self.problem = problem
    self.expected = expected
    self.suggestion = suggestion
  }

  /// Everything after the place: what is wrong, what was expected, what was meant.
  public var message: String {
    var text = problem
    if !expected.isEmpty { text += "; expected " + expected }
    if !suggestion.isEmpty { text += "; " + suggestion }
    return text
  }

  /// `FILE:LINE:COLUMN: key: message`.
  public var description: String {
    var text = file + ":"
    if line > 0 { text += "\(line):\(column):" }
    if !key.isEmpty { text += " \(key):" }
    return text + " " + message
  }
}

/// All that is wrong with a file, from top to bottom.
public struct FileProblems: Error, Equatable, Sendable, CustomStringConvertible {
  /// What a command that met these should exit with: `EX_CONFIG` of sysexits.h.
  public static let exitCode: Int32 = 78
  /// What such a command should exit with: `EX_NOINPUT` where no file could be read at all, else
  /// `EX_CONFIG`.
  public var exitCode: Int32 {
    problems.allSatisfy(\.isUnreadable) ? 66 : FileProblems.exitCode
  }

  /// The most problems that are listed.
  public static let limit = 20

  /// The first problems, at least one, at most ``limit``.
  public var problems: [FileProblem]
  /// How many more there are.
  public var more: Int

  package init(_ all: [FileProblem]) {
    precondition(!all.isEmpty, "an error without a problem")
    problems = Array(all.prefix(FileProblems.limit))
    more = all.count - problems.count
  }

  /// One line a problem, and one for those not listed.
  public var description: String {
    var lines = problems.map(\.description)
    if more > 0, let last = problems.last { lines.append("\(last.file): and \(more) more") }
    return lines.joined(separator: "\n")
  }
}

/// `text` as it can be shown on a terminal: without control characters, not endless.
package func printable(_ text: String, longest: Int = 80) -> String {
  var shown = ""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if index == longest { return shown + "…" }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      shown += "�"
    default: shown.unicodeScalars.append(scalar)
    }
  }
  return shown
}

extension FileProblems {
  /// All of them, in a stable order from top to bottom: what is wrong at one place stays as found.
  package init(sorting all: [FileProblem]) {
    let order = all.enumerated().sorted { a, b in
      (a.element.line, a.element.column, a.offset) < (b.element.line, b.element.column, b.offset)
    }
    self.init(order.map(\.element))
  }
}
