/// Swift source as a list of tokens, without comments and string literals, to find imports and
/// properties.
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
      } else if character.isWordCharacter {
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

/// A stored property that code outside its file can set.
struct WritableProperty: Equatable {
  /// The types that contain it, from the outermost: `A.B`.
  var type: String
  var name: String
}

extension SwiftText {
  /// The stored `var` properties that code outside their file can set: neither they nor their setters nor a type
  /// that contains them is `private` or `fileprivate`, and they are not local.
  ///
  /// A property is computed if a brace follows its name and type, unless the brace begins with an observer.
  var writableProperties: [WritableProperty] {
    var found: [WritableProperty] = []
    var scopes: [Scope] = []
    for index in tokens.indices {
      switch tokens[index] {
      case "{": scopes.append(scope(openedAt: index))
      case "}": if !scopes.isEmpty { scopes.removeLast() }
      case "var":
        let names = scopes.compactMap(\.typeName)
        guard !names.isEmpty, names.count == scopes.count, isDeclaration(at: index),
          isStored(variableAt: index), !modifiers(before: index).limitsSetter
        else { continue }
        found.append(
          WritableProperty(type: names.joined(separator: "."), name: tokens[index + 1]))
      default: break
      }
    }
    return found
  }

  /// What a brace opens.
  private enum Scope {
    /// A type that code outside the file can use, or an extension of it.
    case type(String)
    /// Code, or a type that only its file can use.
    case other

    var typeName: String? {
      switch self {
      case .type(let name): name
      case .other: nil
      }
    }
  }

  private static let typeKeywords: Set<String> = [
    "struct", "class", "enum", "extension", "actor", "protocol",
  ]

  /// Keywords that begin a declaration or statement with a brace, apart from types.
  private static let otherKeywords: Set<String> = [
    "func", "init", "deinit", "subscript", "var", "let", "get", "set", "didSet", "willSet", "if",
    "guard", "for", "while", "switch", "do", "repeat", "defer", "catch", "else", "case",
  ]

  private static let accessLevels: Set<String> = [
    "private", "fileprivate", "internal", "package", "public", "open",
  ]

  private static let otherModifiers: Set<String> = [
    "static", "class", "final", "lazy", "weak", "unowned", "override", "nonisolated", "unsafe",
    "safe", "indirect", "frozen", "usableFromInline",
  ]

  /// Whether a keyword is used as one, and not as a member's name.
  private func isDeclaration(at index: Int) -> Bool {
    index == 0 || ![".", "`"].contains(tokens[index - 1])
  }

  /// The scope of a brace: the nearest keyword before it decides, up to the preceding brace.
  private func scope(openedAt brace: Int) -> Scope {
    var index = brace - 1
    while index >= 0, tokens[index] != "{", tokens[index] != "}" {
      let token = tokens[index]
      let isModifier = token == "class" && ["func", "var", "let"].contains(tokens[index + 1])
      if isDeclaration(at: index), !isModifier {
        if SwiftText.otherKeywords.contains(token) { return .other }
        if SwiftText.typeKeywords.contains(token) {
          guard !modifiers(before: index).isPrivate else { return .other }
          return .type(typeName(after: index))
        }
      }
      index -= 1
    }
    return .other
  }

  /// The name of a type after its keyword, with dots.
  private func typeName(after keyword: Int) -> String {
    var name = tokens[keyword + 1]
    var index = keyword + 2
    while index + 1 < tokens.count, tokens[index] == "." {
      name += "." + tokens[index + 1]
      index += 2
    }
    return name
  }

  /// Access levels before a declaration: of the declaration, and of its setter.
  private struct Modifiers {
    var isPrivate = false
    var limitsSetter = false
  }

  private func modifiers(before declaration: Int) -> Modifiers {
    var modifiers = Modifiers()
    var index = declaration - 1
    while index >= 0 {
      let token = tokens[index]
      let isSetter = index >= 3 && tokens[(index - 2)...index] == ["(", "set", ")"]
      let level = isSetter ? tokens[index - 3] : token
      guard
        SwiftText.accessLevels.contains(level) || SwiftText.otherModifiers.contains(token)
          || token == "@"
      else { break }
      if level == "private" || level == "fileprivate" {
        modifiers.limitsSetter = true
        if !isSetter { modifiers.isPrivate = true }
      }
      index -= isSetter ? 4 : 1
    }
    return modifiers
  }

  /// Whether a variable is stored: its declaration has a value, observers, or no brace.
  private func isStored(variableAt keyword: Int) -> Bool {
    var depth = 0
    var index = keyword + 2
    while index < tokens.count {
      let token = tokens[index]
      switch token {
      case "(", "[": depth += 1
      case ")", "]": depth -= 1
      case "=" where depth == 0: return true
      case "{" where depth == 0:
        return index + 1 < tokens.count && ["didSet", "willSet"].contains(tokens[index + 1])
      case "@" where depth == 0 && [":", ">"].contains(tokens[index - 1]): index += 1
      case _ where depth == 0 && endsDeclaration(token): return true
      default: break
      }
      index += 1
    }
    return true
  }

  /// Whether a token after a variable's type begins the next declaration.
  private func endsDeclaration(_ token: String) -> Bool {
    ["}", "@", "#", "import", "typealias", "mutating", "nonmutating", "borrowing", "consuming"]
      .contains(token) || SwiftText.accessLevels.contains(token)
      || SwiftText.otherModifiers.contains(token) || SwiftText.typeKeywords.contains(token)
      || SwiftText.otherKeywords.contains(token)
  }
}

extension Character {
  /// Whether identifiers and numbers contain it.
  var isWordCharacter: Bool { isLetter || isNumber || self == "_" }
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
    while let character = current, character.isWordCharacter { position += 1 }
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
