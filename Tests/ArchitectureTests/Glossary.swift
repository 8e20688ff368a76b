/// The rows of `Docs/Glossary.md`, and the search for the synonyms that it forbids.
struct Glossary {
  /// One term.
  struct Row {
    var term: String
    var definition: String
    var source: String
    /// Words and phrases that must not be used for the term, in lower case.
    var forbidden: [String]
  }

  /// Paths that may contain forbidden words: the glossary, the list of old names, and texts of fixed interfaces.
  static let exemptPaths: Set<String> = [
    "Docs/Glossary.md", "Docs/Renames.md", "Docs/Readability.md",
    "Sources/Service/LocationWire/org.torpor.Location.varlink",
    "Tests/ArchitectureTests/Glossary.swift", "Tests/ArchitectureTests/GlossaryTests.swift",
  ]

  /// Forbidden words that are names of fixed interfaces (keys and values of JSON, columns, options, words of test
  /// programs, terms of a standard), with the paths in which they may occur.
  static let interfaceNames: [String: [String]] = [
    "deaf": ["Sources/Tools/torpor/Receiver/", "Tests/Tools/", "Docs/Reference/torpor.md"],
    "heard": ["Sources/Service/LocationWire/", "Docs/Reference/socket.md"],
    "hearing": ["Sources/Tools/torpor/Receiver/", "Docs/Reference/torpor.md"],
    "news": ["Docs/Explanation/sleep-states.md"],
    "owed": ["Sources/Service/ServiceState/"],
    "owes": ["Sources/Service/ServiceState/", "Tests/Service/ServiceStateTests/"],
    "promise": [
      "Sources/Service/LocationWire/", "Sources/Tools/torpor/Trace/", "Sources/Lab/Training/",
      "Tests/Tools/", "Docs/Reference/t",
    ],
    "remedy": [
      "Sources/Service/LocationWire/", "Sources/Tools/torpor/Doctor/", "Docs/", ".ci/test-clock",
    ],
    "told": [
      "Docs/Reference/t", "Sources/Tools/torpor/Trace/", ".ci/", "Sources/Lab/", "Tests/Tools/",
    ],
  ]

  let rows: [Row]

  /// Reads the table below the heading; each line is `| term | definition | source | do not use |`.
  init(_ text: String) {
    rows = text.split(separator: "\n").compactMap { line in
      guard line.hasPrefix("| ") else { return nil }
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst()
        .dropLast()
        .map { $0.trimmed }
      guard cells.count == 4, cells[0] != "term", !cells[0].hasPrefix("-") else { return nil }
      return Row(
        term: cells[0], definition: cells[1], source: cells[2],
        forbidden: cells[3].split(separator: ",").map { $0.trimmed.lowercased() }
          .filter { $0 != "–" })
    }
  }

  /// All forbidden words and phrases.
  var forbidden: Set<String> { Set(rows.flatMap(\.forbidden)) }

  /// The forbidden words and phrases in a text, each with the number of its line, from 1 on.
  ///
  /// Identifiers are divided at capitals, digits and underscores: `hasHeard` contains "heard". Phrases are also found
  /// across a line break.
  static func violations(in text: String, forbidden: Set<String>) -> [(word: String, line: Int)] {
    let phrases = forbidden.filter { $0.contains(" ") }.map { $0.split(separator: " ") }
    var found: [(word: String, line: Int)] = []
    var recent: [(word: String, line: Int)] = []
    let longest = phrases.map(\.count).max() ?? 1
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      for word in words(in: line) {
        if forbidden.contains(word) { found.append((word, index + 1)) }
        recent.append((word, index + 1))
        if recent.count > longest { recent.removeFirst() }
        for phrase in phrases where recent.count >= phrase.count {
          let end = recent.suffix(phrase.count)
          if zip(end, phrase).allSatisfy({ $0.word == $1 }) {
            found.append((phrase.joined(separator: " "), end.first?.line ?? index + 1))
          }
        }
      }
    }
    return found
  }

  /// Whether the word is the name of an interface in this file.
  static func isInterfaceName(_ word: String, in path: String) -> Bool {
    interfaceNames[word]?.contains { path.hasPrefix($0) } ?? false
  }

  /// The words of a line in lower case.
  static func words(in line: some StringProtocol) -> [String] {
    var result: [String] = []
    let tokens = line.split { !$0.isWordCharacter }
    for token in tokens {
      var word = ""
      var last: Character = "_"
      for character in token {
        let isStart = character.isUppercase && !last.isUppercase
        if isStart || !character.isLetter, !word.isEmpty {
          result.append(word)
          word = ""
        }
        if character.isLetter { word += character.lowercased() }
        last = character
      }
      if !word.isEmpty { result.append(word) }
    }
    return result
  }
}

extension StringProtocol {
  /// Without spaces at both ends.
  fileprivate var trimmed: String {
    var rest = Substring(self)
    while rest.first == " " { rest.removeFirst() }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
