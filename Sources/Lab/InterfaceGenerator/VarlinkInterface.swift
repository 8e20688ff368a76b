/// A Varlink interface description with the annotations of its declarations.
///
/// An annotation is a line that begins with ``mark``. Comments and annotations belong to the declaration below them.
struct VarlinkInterface {
  /// Beginning of a line that clients do not see.
  static let mark = "#@"

  /// A member of a call, a reply or an error.
  struct Member: Equatable {
    var name: String
    var isOptional = false
  }

  /// A type, a method or an error.
  struct Declaration {
    var keyword: String
    var name: String
    /// Text of the comment, in one line.
    var comment: String
    /// Annotations without their mark.
    var annotations: [String]
    /// Text between the first parentheses, in one line.
    var body: String
    /// Members of the call or error.
    var members: [Member] = []
    /// Members of the reply.
    var results: [Member] = []

    /// The rest of the annotation that begins with `word`; nil if there is none.
    func annotation(_ word: String) -> String? {
      annotations.first { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }
  }

  /// Name of the interface.
  private(set) var name = ""
  private(set) var declarations: [Declaration] = []

  /// Parses a description.
  init(_ text: String) throws(GeneratorError) {
    var comment: [String] = []
    var annotations: [String] = []
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix(VarlinkInterface.mark) {
        annotations.append(trimmed(line.dropFirst(VarlinkInterface.mark.count)))
        continue
      }
      if line.hasPrefix("#") {
        comment.append(trimmed(line.dropFirst()))
        continue
      }
      if line.hasPrefix("interface ") {
        name = trimmed(line.dropFirst("interface ".count))
      } else if !line.isEmpty {
        lines.append(trimmed(line))
      }
      let declaration = lines.joined(separator: " ")
      guard depth(of: declaration) == 0 else { continue }
      if !declaration.isEmpty {
        declarations.append(
          try VarlinkInterface.parsed(declaration, comment.joined(separator: " "), annotations))
      }
      (comment, annotations, lines) = ([], [], [])
    }
  }

  private static func parsed(
    _ text: String, _ comment: String, _ annotations: [String]
  ) throws(GeneratorError) -> Declaration {
    if let match = text.wholeMatch(of: /method (\w+)\((.*)\) -> \((.*)\)/) {
      return Declaration(
        keyword: "method", name: String(match.1), comment: comment, annotations: annotations,
        body: String(match.2), members: try members(match.2), results: try members(match.3))
    }
    guard let match = text.wholeMatch(of: /(type|error) (\w+) \((.*)\)/) else {
      throw GeneratorError(reason: "'\(text)' is not a declaration")
    }
    return Declaration(
      keyword: String(match.1), name: String(match.2), comment: comment, annotations: annotations,
      body: String(match.3), members: match.1 == "error" ? try members(match.3) : [])
  }

  private static func members(_ list: Substring) throws(GeneratorError) -> [Member] {
    try parts(of: list).map { part throws(GeneratorError) in
      guard let match = part.wholeMatch(of: /(\w+): (\?)?.+/) else {
        throw GeneratorError(reason: "'\(part)' is not a member")
      }
      return Member(name: String(match.1), isOptional: match.2 != nil)
    }
  }
}

/// Why the generator cannot process an interface.
struct GeneratorError: Error, Equatable {
  var reason: String
}

// MARK: - Text

/// `text` without spaces at both ends.
func trimmed(_ text: Substring) -> String {
  var text = text.drop { $0 == " " }
  while text.last == " " { text.removeLast() }
  return String(text)
}

/// Number of parentheses that are open at the end of `text`.
func depth(of text: some StringProtocol) -> Int {
  text.reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) }
}

/// Parts of a list, separated by commas outside of parentheses.
func parts(of list: Substring) -> [String] {
  var parts: [String] = []
  for piece in list.split(separator: ",") {
    if let last = parts.last, depth(of: last) > 0 {
      parts[parts.count - 1] = last + "," + piece
    } else {
      parts.append(String(piece))
    }
  }
  return parts.map { trimmed($0[...]) }.filter { !$0.isEmpty }
}
