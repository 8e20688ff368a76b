import BoardHardware
import LocationTypes
import TOMLFiles

/// Converts a parsed text into a profile, checks it against ``ProfileSchema`` and ``ProfileRules``, and collects
/// all problems.
struct ProfileReader {
  let file: String
  let text: TOMLText
  var draft = ProfileDraft()
  var problems: [ProfileError] = []
  /// Position of each key and table of the text.
  var positions: [String: TOMLPosition] = ["": .start]
  /// Keys and tables that are invalid, missing, or the probable meaning of a misspelt one; they are reported once.
  var failedPaths: Set<String> = []

  init(_ text: TOMLText, file: String) {
    self.text = text
    self.file = file
  }

  /// Reads all tables, then applies the rules that concern several keys.
  mutating func read() throws(ProfileErrors) -> BoardProfile {
    readTable("", node: -1)
    reportMissing("")
    for rule in ProfileRules.all where applies(rule) {
      if let violation = rule.check(draft) {
        report(
          violation.key, at: position(of: violation.key), violation.problem,
          expected: violation.expected)
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
        positions[path] = child.position
        readKey(key, index)
      } else if inner.contains(where: { $0.path == path }) {
        positions[path] = child.keyPosition
        readSubtable(path, index)
      } else {
        reportUnknown(child, in: table)
      }
    }
  }

  private mutating func readSubtable(_ path: String, _ index: Int) {
    let node = text.nodes[index]
    if node.value == .table {
      readTable(path, node: index)
    } else {
      failedPaths.insert(path)
      report(
        path, at: node.keyPosition, "is \(node.value.typeName)", expected: "one table [\(path)]")
    }
  }

  private mutating func readKey(_ key: ProfileKey, _ index: Int) {
    switch value(for: key, at: index) {
    case .success(let value): key.put(&draft, value)
    case .failure(let refusal):
      failedPaths.insert(key.path)
      report(
        key.path + refusal.element, at: refusal.position, refusal.problem,
        expected: refusal.expected ?? key.expectation)
    }
  }

  private mutating func reportUnknown(_ node: TOMLNode, in table: String) {
    let suggestion = ProfileSchema.suggestion(for: node.key, in: table)
    if let suggestion { failedPaths.insert(suggestion.path) }
    report(
      ProfileSchema.joined(table, node.key), at: node.keyPosition,
      node.value == .table ? "no such table" : "unknown key", suggestion: suggestion?.text ?? "")
  }

  /// Reports missing required tables and keys, except those for which a misspelt one was reported.
  private mutating func reportMissing(_ table: String) {
    for key in ProfileSchema.keys(of: table)
    where key.isRequired && positions[key.path] == nil && !failedPaths.contains(key.path) {
      failedPaths.insert(key.path)
      report(
        key.path, at: positions[table] ?? .start, "is missing", expected: key.expectation)
    }
    for inner in ProfileSchema.tables(in: table) {
      if draft.tables.contains(inner.path) {
        reportMissing(inner.path)
      } else if inner.isRequired, !failedPaths.contains(inner.path) {
        failedPaths.insert(inner.path)
        report(
          inner.path, at: positions[table] ?? .start, "is missing",
          expected: "a table [\(inner.path)]")
      }
    }
  }

  private func applies(_ rule: ProfileRule) -> Bool {
    rule.keys.allSatisfy { path in
      let table = ProfileSchema.parentPath(of: path)
      let isKey = ProfileSchema.keys.contains { $0.path == path }
      return !failedPaths.contains(path) && draft.tables.contains(isKey ? table : path)
        && !failedPaths.contains(table)
    }
  }

  private func position(of path: String) -> TOMLPosition {
    var path = path
    while true {
      if let position = positions[path] { return position }
      if path.isEmpty { return .start }
      path = ProfileSchema.parentPath(of: path)
    }
  }

  private mutating func report(
    _ key: String, at position: TOMLPosition, _ problem: String, expected: String = "",
    suggestion: String = ""
  ) {
    problems.append(
      ProfileError(
        file: file, at: position, key: key, problem, expected: expected, suggestion: suggestion))
  }
}

/// Why a value is invalid.
struct InvalidValue: Error {
  var position: TOMLPosition
  var problem: String
  /// Path of the invalid element of a list, `[2].fix_s`; empty for the value itself.
  var element = ""
  /// Expected value, if it differs from the key's own expectation.
  var expected: String?
}

extension ProfileReader {
  /// Checks and converts the node at `index` as the value of `key`.
  func value(for key: ProfileKey, at index: Int) -> Result<ProfileValue, InvalidValue> {
    let node = text.nodes[index]
    switch (key.constraint, node.value) {
    case (.text(let length), .string(let string)):
      return checkText(string, length, at: node.position)
    case (.word(let words), .string(let string)):
      if words.contains(string) { return .success(.text(string)) }
      return .failure(unknownWord(string, words, at: node.position))
    case (.words(let words), .array):
      return readWords(words, index)
    case (.boolean, .boolean(let flag)):
      return .success(.boolean(flag))
    case (.integer(let range), .integer(let whole)):
      if range.contains(whole) { return .success(.integer(whole)) }
      return .failure(InvalidValue(position: node.position, problem: "\(whole) is out of range"))
    case (.integerAmong(let numbers), .integer(let whole)):
      if numbers.contains(whole) { return .success(.integer(whole)) }
      return .failure(
        InvalidValue(
          position: node.position,
          problem: "\(whole) is not an allowed value"))
    case (.number(let range), _):
      return number(node, in: range).map { .number($0) }
    case (.points(let range, let most), .array):
      return readPoints(range, max: most, index)
    case (.text, _), (.word, _), (.words, _), (.boolean, _), (.integer, _), (.integerAmong, _),
      (.points, _):
      return .failure(InvalidValue(position: node.position, problem: "is \(node.value.typeName)"))
    }
  }

  private func checkText(
    _ string: String, _ length: ClosedRange<Int>, at position: TOMLPosition
  ) -> Result<ProfileValue, InvalidValue> {
    let count = string.unicodeScalars.count
    if !length.contains(count) {
      return .failure(InvalidValue(position: position, problem: "has \(count) characters"))
    }
    if printable(string, maxLength: count) != string {
      return .failure(
        InvalidValue(
          position: position,
          problem: "contains characters that cannot be printed on one line"))
    }
    return .success(.text(string))
  }

  private func unknownWord(_ word: String, _ words: [String], at position: TOMLPosition)
    -> InvalidValue
  {
    let near = closestMatch(to: word, among: words).map { " (did you mean \"\($0)\"?)" } ?? ""
    return InvalidValue(position: position, problem: "unknown word \"\(printable(word))\"" + near)
  }

  private func readWords(_ words: [String], _ index: Int) -> Result<ProfileValue, InvalidValue> {
    var found: [String] = []
    for (count, child) in text.children(of: index).enumerated() {
      let node = text.nodes[child]
      let element = "[\(count)]"
      guard case .string(let word) = node.value else {
        return .failure(
          InvalidValue(
            position: node.position, problem: "is \(node.value.typeName)", element: element))
      }
      guard words.contains(word) else {
        var refusal = unknownWord(word, words, at: node.position)
        refusal.element = element
        return .failure(refusal)
      }
      guard !found.contains(word) else {
        return .failure(
          InvalidValue(
            position: node.position,
            problem: "\"\(word)\" is listed twice", element: element))
      }
      found.append(word)
    }
    if found.isEmpty {
      return .failure(InvalidValue(position: text.nodes[index].position, problem: "is empty"))
    }
    return .success(.words(found))
  }

  private func number(
    _ node: TOMLNode, in range: ClosedRange<Double>
  ) -> Result<Double, InvalidValue> {
    let number: Double
    switch node.value {
    case .integer(let whole): number = Double(whole)
    case .float(let float) where float.isFinite: number = float
    case .float, .table, .array, .string, .boolean, .datetime:
      return .failure(InvalidValue(position: node.position, problem: "is \(node.value.typeName)"))
    }
    guard range.contains(number) else {
      return .failure(
        InvalidValue(position: node.position, problem: "\(decimalText(number)) is out of range"))
    }
    return .success(number)
  }

  private func readPoints(
    _ range: ClosedRange<Double>, max: Int, _ index: Int
  ) -> Result<ProfileValue, InvalidValue> {
    let children = text.children(of: index)
    guard !children.isEmpty, children.count <= max else {
      return .failure(
        InvalidValue(position: text.nodes[index].position, problem: "has \(children.count) pairs"))
    }
    var points: [BoardProfile.TimeToFixPoint] = []
    for (count, child) in children.enumerated() {
      switch point(child, range) {
      case .failure(var refusal):
        refusal.element = "[\(count)]" + refusal.element
        return .failure(refusal)
      case .success(let point):
        if let refusal = orderError(point, after: points, at: text.nodes[child].position) {
          return .failure(refusal)
        }
        points.append(point)
      }
    }
    return .success(.points(points))
  }

  private func point(
    _ index: Int, _ range: ClosedRange<Double>
  ) -> Result<BoardProfile.TimeToFixPoint, InvalidValue> {
    let pair = text.nodes[index]
    let expectation =
      "a number of seconds, \(decimalText(range.lowerBound)) to \(decimalText(range.upperBound))"
    guard pair.value == .table else {
      return .failure(
        InvalidValue(
          position: pair.position, problem: "is \(pair.value.typeName)",
          expected: "{ off_s = …, fix_s = … }"))
    }
    var found: [String: Double] = [:]
    for child in text.children(of: index) {
      let node = text.nodes[child]
      guard node.key == "off_s" || node.key == "fix_s" else {
        let near = closestMatch(to: node.key, among: ["off_s", "fix_s"]).map {
          "; did you mean `\($0)`?"
        }
        return .failure(
          InvalidValue(
            position: node.keyPosition, problem: "unknown key", element: "." + node.key,
            expected: "off_s and fix_s, both in seconds" + (near ?? "")))
      }
      switch number(node, in: range) {
      case .success(let number): found[node.key] = number
      case .failure(var refusal):
        refusal.element = "." + node.key
        refusal.expected = expectation
        return .failure(refusal)
      }
    }
    for name in ["off_s", "fix_s"] where found[name] == nil {
      return .failure(
        InvalidValue(
          position: pair.position, problem: "is missing", element: "." + name, expected: expectation
        ))
    }
    return .success(
      BoardProfile.TimeToFixPoint(
        off: Interval(seconds: found["off_s"] ?? 0), fix: Interval(seconds: found["fix_s"] ?? 0)))
  }

  /// Why `point` cannot follow `points`; nil if it can.
  private func orderError(
    _ point: BoardProfile.TimeToFixPoint, after points: [BoardProfile.TimeToFixPoint],
    at position: TOMLPosition
  ) -> InvalidValue? {
    let element = "[\(points.count)]"
    guard let last = points.last else {
      guard point.off > .zero else { return nil }
      return InvalidValue(
        position: position, problem: "starts at \(decimalText(point.off.seconds)) s",
        element: element,
        expected: "off_s = 0 in the first pair")
    }
    if point.off < last.off || point.fix < last.fix {
      return InvalidValue(
        position: position, problem: "is less than the pair before it", element: element,
        expected: "off_s and fix_s that do not decrease from pair to pair")
    }
    if points.count > 1, point.off == last.off, points[points.count - 2].off == last.off {
      return InvalidValue(
        position: position,
        problem: "is the third pair with off_s = \(decimalText(point.off.seconds))",
        element: element, expected: "the same off_s at most twice, which forms a step")
    }
    return nil
  }
}
