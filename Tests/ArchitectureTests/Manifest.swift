/// The targets of a Package.swift with what they depend on, read as text.
///
/// Asking the package manager would start it a second time inside the test run; our manifest is
/// plain enough to be read: each target is written out with its name and its dependencies.
struct Manifest {
  /// Rooms by name, with the rooms they depend on.
  private(set) var targets: [String: Set<String>] = [:]
  /// Rooms by name, with the products of packages they depend on.
  private(set) var products: [String: Set<String>] = [:]

  init(_ source: String) {
    let text = SwiftText(source)
    let kinds: Set = ["target", "executableTarget"]
    for index in text.tokens.indices
    where kinds.contains(text.tokens[index]) && index > 0 && text.tokens[index - 1] == "." {
      read(text, from: index + 1)
    }
  }

  private mutating func read(_ text: SwiftText, from open: Int) {
    guard open < text.tokens.count, text.tokens[open] == "(" else { return }
    let close = Manifest.end(of: text.tokens, from: open)
    let name = Manifest.argument("name", text, open...close)
    guard let name, let label = Manifest.label("dependencies", text, open..<close) else {
      if let name { targets[name] = [] }
      return
    }
    let list = (label + 2)..<Manifest.end(of: text.tokens, from: label + 2)
    var rooms: Set<String> = []
    var packages: Set<String> = []
    for literal in text.literals where literal.position > list.lowerBound {
      guard literal.position <= list.upperBound else { break }
      let before = text.tokens[..<literal.position].suffix(2)
      if before == ["package", ":"] { continue }
      let isProduct =
        text.tokens[..<literal.position].suffix(5) == [".", "product", "(", "name", ":"]
      if isProduct { packages.insert(literal.text) } else { rooms.insert(literal.text) }
    }
    targets[name] = rooms
    products[name] = packages
  }

  /// Index of the mark that closes what opens at `open`.
  private static func end(of tokens: [String], from open: Int) -> Int {
    var depth = 0
    for index in open..<tokens.count {
      if ["(", "["].contains(tokens[index]) { depth += 1 }
      if [")", "]"].contains(tokens[index]) { depth -= 1 }
      if depth == 0 { return index }
    }
    return tokens.count
  }

  private static func label(_ name: String, _ text: SwiftText, _ range: Range<Int>) -> Int? {
    range.first { index in
      text.tokens[index] == name && index + 2 < text.tokens.count
        && text.tokens[index + 1] == ":" && text.tokens[index + 2] == "["
    }
  }

  private static func argument(
    _ label: String, _ text: SwiftText, _ range: ClosedRange<Int>
  ) -> String? {
    text.literals.first { literal in
      range.contains(literal.position)
        && text.tokens[..<literal.position].suffix(2) == [label, ":"]
    }?.text
  }
}
