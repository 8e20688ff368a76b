/// Swift source as a list of tokens, without comments and string literals, to find imports.
struct SwiftText {
  /// Identifiers, numbers and single punctuation marks, in order.
  private(set) var tokens: [String] = []
  /// The strings in double quotes, each with the number of tokens before it.
  private(set) var literals: [(position: Int, text: String)] = []

  init(_ source: String) {
    var scanner = Scanner(characters: Array(source))
    while let character = scanner.current {
      if scanner.skipComment() { continue }
      if let literal = scanner.consumeLiteral() {
        literals.append((tokens.count, literal))
      } else if isWordCharacter(character) {
        tokens.append(scanner.consumeWord())
      } else {
        if !character.isWhitespace { tokens.append(String(character)) }
        scanner.position += 1
      }
    }
  }

  /// All imported modules, in order: `import struct A.B` is `A`.
  ///
  /// `import` is a keyword, so each token `import` is an import, with any attributes and access
  /// levels before it.
  var imports: [String] {
    let kinds: Set = [
      "typealias", "struct", "class", "enum", "protocol", "let", "var", "func", "actor",
    ]
    var modules: [String] = []
    for index in tokens.indices where tokens[index] == "import" {
      guard index == 0 || ![".", "`"].contains(tokens[index - 1]) else { continue }
      let following = tokens[(index + 1)...].drop { kinds.contains($0) || $0 == "`" }
      if let module = following.first { modules.append(module) }
    }
    return modules
  }

  /// The display names in `@Test("…")` and `@Suite("…")`.
  var testNames: [String] {
    literals.compactMap { literal in
      let before = tokens[..<literal.position].suffix(3)
      return before == ["@", "Test", "("] || before == ["@", "Suite", "("] ? literal.text : nil
    }
  }
}

private func isWordCharacter(_ character: Character) -> Bool {
  character.isLetter || character.isNumber || character == "_"
}

private struct Scanner {
  let characters: [Character]
  var position = 0

  init(characters: [Character]) { self.characters = characters }

  var current: Character? { position < characters.count ? characters[position] : nil }

  func starts(with text: String, at offset: Int = 0) -> Bool {
    let begin = position + offset
    let end = begin + text.count
    return end <= characters.count && characters[begin..<end].elementsEqual(text)
  }

  mutating func consumeWord() -> String {
    let begin = position
    while let character = current, isWordCharacter(character) { position += 1 }
    return String(characters[begin..<position])
  }

  /// Skips a comment, including nested ones; false if none begins here.
  mutating func skipComment() -> Bool {
    if starts(with: "//") {
      while let character = current, !character.isNewline { position += 1 }
      return true
    }
    guard starts(with: "/*") else { return false }
    var depth = 0
    repeat {
      if starts(with: "/*") {
        depth += 1
        position += 2
      } else if starts(with: "*/") {
        depth -= 1
        position += 2
      } else {
        position += 1
      }
    } while depth > 0 && position < characters.count
    return true
  }

  /// Consumes a string literal of any form; nil if none begins here.
  mutating func consumeLiteral() -> String? {
    var hashes = 0
    while starts(with: "#", at: hashes) { hashes += 1 }
    guard starts(with: "\"", at: hashes) else { return nil }
    let fence = String(repeating: "#", count: hashes)
    let quote = starts(with: "\"\"\"", at: hashes) ? "\"\"\"" : "\""
    position += hashes + quote.count
    let begin = position
    while position < characters.count, !starts(with: quote + fence) {
      position += hashes == 0 && starts(with: "\\") ? 2 : 1
    }
    let text = String(characters[begin..<min(position, characters.count)])
    position = min(position + quote.count + hashes, characters.count)
    return text
  }
}
