import BoardHardware

/// One problem in a TOML file, or in opening it.
///
/// Prints as `FILE:LINE:COLUMN: key: message`, a format that editors can jump to.
public struct FileProblem: Equatable, Sendable, CustomStringConvertible {
  /// Path of the file, as the caller gave it.
  public var file: String
  /// Line of the key or value, from 1; 0 if the file could not be read.
  public var line: Int
  /// Column in characters, from 1; 0 if ``line`` is 0.
  public var column: Int
  /// Full path of the key, `receiver.power.track_mw`; empty if the problem concerns no key.
  public var key: String
  /// Description of the problem.
  public var problem: String
  /// Expected value; empty if ``problem`` is sufficient.
  public var expected: String
  /// Probably intended name, or how to fix the problem; empty if none is known.
  public var suggestion: String
  /// Whether the file is missing, is a folder or cannot be read, so that its contents were not checked.
  public var isUnreadable = false

  package init(
    file: String, at position: TOMLPosition = .none, key: String = "", _ problem: String,
    expected: String = "", suggestion: String = ""
  ) {
    self.file = file
    line = position.line
    column = position.column
    self.key = printable(key)
    self.problem = problem
    self.expected = expected
    self.suggestion = suggestion
  }

  /// The text after the position: problem, expected value, suggestion.
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

/// All problems of a file, from top to bottom.
public struct FileProblems: Error, Equatable, Sendable, CustomStringConvertible {
  /// Exit status of a command that found problems: `EX_CONFIG` of sysexits.h.
  public static let exitCode: Int32 = 78
  /// Exit status for these problems: `EX_NOINPUT` if no file could be read, otherwise `EX_CONFIG`.
  public var exitCode: Int32 {
    problems.allSatisfy(\.isUnreadable) ? 66 : FileProblems.exitCode
  }

  /// Maximum number of listed problems.
  public static let maxListed = 20

  /// The first problems, at least one, at most ``maxListed``.
  public var problems: [FileProblem]
  /// Number of problems that are not listed.
  public var unlistedCount: Int

  package init(_ all: [FileProblem]) {
    precondition(!all.isEmpty, "the list of problems is empty")
    problems = Array(all.prefix(FileProblems.maxListed))
    unlistedCount = all.count - problems.count
  }

  /// One line per problem, then one line with the number of unlisted problems.
  public var description: String {
    var lines = problems.map(\.description)
    if unlistedCount > 0, let last = problems.last {
      lines.append(
        "\(last.file): and \(unlistedCount) more")
    }
    return lines.joined(separator: "\n")
  }
}

/// Collects the problems of one file while it is read.
package struct ProblemList: Sendable {
  private let file: String
  /// The problems in the order in which they were found.
  package private(set) var problems: [FileProblem] = []

  /// Creates an empty list for a file.
  package init(file: String) { self.file = file }

  /// Number of problems.
  package var count: Int { problems.count }

  /// Whether there are none.
  package var isEmpty: Bool { problems.isEmpty }

  /// Whether a problem concerns this key.
  package func contains(_ key: String) -> Bool { problems.contains { $0.key == key } }

  /// Adds a problem; the parameters are the properties of ``FileProblem``.
  package mutating func report(
    _ key: String, at position: TOMLPosition, _ problem: String, expected: String = "",
    suggestion: String = ""
  ) {
    problems.append(
      FileProblem(
        file: file, at: position, key: key, problem, expected: expected, suggestion: suggestion))
  }

  /// Adds the problem that a table has no such key or table, with the key that was probably meant, or with all `keys`.
  package mutating func reportUnknown(_ node: TOMLNode, path: String, among keys: [String]) {
    let closest = closestMatch(to: node.key, among: keys)
    report(
      path, at: node.keyPosition, node.value == .table ? "no such table" : "unknown key",
      expected: closest == nil ? keys.joined(separator: ", ") : "",
      suggestion: closest.map { "did you mean `\($0)`?" } ?? "")
  }

  /// Throws all problems, sorted by position; does nothing if there are none.
  package func check() throws(FileProblems) {
    if !problems.isEmpty { throw FileProblems(sorting: problems) }
  }
}

// The value of a node; nil if it has another type or is out of range, which is added as a problem of the key `path`.
extension ProblemList {
  /// True or false.
  package mutating func flag(_ node: TOMLNode, _ path: String) -> Bool? {
    if case .boolean(let flag) = node.value { return flag }
    report(path, at: node.position, "is \(node.value.typeName)", expected: "true or false")
    return nil
  }

  /// Text; `expected` describes it in the message.
  package mutating func string(_ node: TOMLNode, _ path: String, expected: String) -> String? {
    if case .string(let string) = node.value { return string }
    report(path, at: node.position, "is \(node.value.typeName)", expected: expected)
    return nil
  }

  /// A number in `range`, whose bounds are whole; the message names `unit` unless it is empty.
  package mutating func number(
    _ node: TOMLNode, _ path: String, _ range: ClosedRange<Double>, unit: String = ""
  ) -> Double? {
    let number = node.value.number
    if let number, range.contains(number) { return number }
    report(
      path, at: node.position, number == nil ? "is \(node.value.typeName)" : "is out of range",
      expected: (unit.isEmpty ? "" : "a number of \(unit), ")
        + "\(Int(range.lowerBound)) to \(Int(range.upperBound))")
    return nil
  }
}

/// `text` in a form that is safe on a terminal: control characters replaced, at most `maxLength` characters.
package func printable(_ text: String, maxLength: Int = 80) -> String {
  var result = ""
  for (index, scalar) in text.unicodeScalars.enumerated() {
    if index == maxLength { return result + "…" }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned,
      .privateUse:
      result += "�"
    default: result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// `a, b or c`.
package func joinedWithOr(_ words: [String]) -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " or " + last
}

extension FileProblems {
  /// Sorts the problems by position; problems at the same position keep their order.
  package init(sorting all: [FileProblem]) {
    let order = all.enumerated().sorted { a, b in
      (a.element.line, a.element.column, a.offset) < (b.element.line, b.element.column, b.offset)
    }
    self.init(order.map(\.element))
  }
}
