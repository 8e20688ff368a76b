import LocationTypes
import TOMLFiles

/// Reads a parsed text against ``ProfileSchema`` and collects everything that is wrong.
struct ProfileReader {
  let file: String
  let text: TOMLText
  var draft = ProfileDraft()
  var problems: [ProfileError] = []
  /// Where each key and table of the text stands.
  var places: [String: TOMLPlace] = ["": .start]
  /// Keys that were wrong, missing or probably meant by a misspelt one.
  var failed: Set<String> = []

  init(_ text: TOMLText, file: String) {
    self.text = text
    self.file = file
  }

  /// Reads all tables, then applies the rules between keys.
  mutating func read() throws(ProfileErrors) -> BoardProfile {
    readTable("", node: -1)
    reportMissing("")
    for rule in ProfileRules.all where applies(rule) {
      if let broken = rule.check(draft) {
        report(
          broken.key, at: nearestPlace(of: broken.key), broken.problem, expected: broken.expected)
      }
    }
    guard problems.isEmpty else {
      throw ProfileErrors(sorting: problems)
    }
    return draft.profile
  }

  private mutating func readTable(_ table: String, node: Int) {
    draft.tables.insert(table)
    let keys = ProfileSchema.keys(of: table)
    let inner = ProfileSchema.tables(in: table)
    for index in text.children(of: node) {
      let child = text.nodes[index]
      let path = ProfileSchema.joined(table, child.key)
      if let key = keys.first(where: { $0.name == child.key }) {
        places[path] = child.place
        readKey(key, index)
      } else if inner.contains(where: { $0.path == path }) {
        places[path] = child.keyPlace
        readInner(path, index)
      } else {
        reportUnknown(child, in: table)
      }
    }
  }

  private mutating func readInner(_ path: String, _ index: Int) {
    let node = text.nodes[index]
    if node.value == .table {
      readTable(path, node: index)
    } else {
      failed.insert(path)
      report(
        path, at: node.keyPlace, "is \(node.value.kind)", expected: "one table [\(path)]")
    }
  }

  private mutating func readKey(_ key: ProfileKey, _ index: Int) {
    switch accepted(key, index) {
    case .success(let value): key.put(&draft, value)
    case .failure(let refusal):
      failed.insert(key.path)
      report(
        key.path + refusal.element, at: refusal.place, refusal.problem,
        expected: refusal.expected ?? key.expectation)
    }
  }

  private mutating func reportUnknown(_ node: TOMLNode, in table: String) {
    let guess = ProfileSchema.guess(node.key, in: table)
    if let guess { failed.insert(guess.path) }
    report(
      ProfileSchema.joined(table, node.key), at: node.keyPlace,
      node.value == .table ? "no such table" : "unknown key", suggestion: guess?.text ?? "")
  }

  /// Reports required tables and keys that are missing, unless a misspelt one explains them.
  private mutating func reportMissing(_ table: String) {
    for key in ProfileSchema.keys(of: table)
    where key.isRequired && places[key.path] == nil && !failed.contains(key.path) {
      failed.insert(key.path)
      report(
        key.path, at: places[table] ?? .start, "is missing", expected: key.expectation)
    }
    for inner in ProfileSchema.tables(in: table) {
      if draft.tables.contains(inner.path) {
        reportMissing(inner.path)
      } else if inner.isRequired, !failed.contains(inner.path) {
        failed.insert(inner.path)
        report(
          inner.path, at: places[table] ?? .start, "is missing",
          expected: "a table [\(inner.path)]")
      }
    }
  }

  private func applies(_ rule: ProfileRule) -> Bool {
    rule.keys.allSatisfy { path in
      let table = ProfileSchema.outer(path)
      let isKey = ProfileSchema.keys.contains { $0.path == path }
      return !failed.contains(path) && draft.tables.contains(isKey ? table : path)
        && !failed.contains(table)
    }
  }

  private func nearestPlace(of path: String) -> TOMLPlace {
    var path = path
    while true {
      if let place = places[path] { return place }
      if path.isEmpty { return .start }
      path = ProfileSchema.outer(path)
    }
  }

  private mutating func report(
    _ key: String, at place: TOMLPlace, _ problem: String, expected: String = "",
    suggestion: String = ""
  ) {
    problems.append(
      ProfileError(
        file: file, at: place, key: key, problem, expected: expected, suggestion: suggestion))
  }
}
