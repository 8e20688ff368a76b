import BoardHardware
import LocationTypes
import TOMLFiles

/// Converts a parsed text into a profile, checks it against ``ProfileSchema`` and ``ProfileRules``, and collects
/// all problems.
struct ProfileReader {
  let text: TOMLText
  var draft = ProfileDraft()
  var problems: ProblemList
  /// Position of each key and table of the text.
  var positions: [String: TOMLPosition] = ["": .start]
  /// Keys and tables that are invalid, missing, or the probable meaning of a misspelt one; they are reported once.
  var failedPaths: Set<String> = []

  init(_ text: TOMLText, file: String) {
    self.text = text
    problems = ProblemList(file: file)
  }

  /// Reads all tables, then applies the rules that concern several keys.
  mutating func read() throws(ProfileErrors) -> BoardProfile {
    readTable("", node: -1)
    reportMissing("")
    for rule in ProfileRules.all where applies(rule) {
      if let violation = rule.check(draft) {
        problems.report(
          violation.key, at: position(of: violation.key), violation.problem,
          expected: violation.expected)
      }
    }
    try problems.check()
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
      problems.report(
        path, at: node.keyPosition, "is \(node.value.typeName)", expected: "one table [\(path)]")
    }
  }

  private mutating func readKey(_ key: ProfileKey, _ index: Int) {
    do throws(InvalidValue) {
      key.put(&draft, try value(for: key, at: index))
    } catch {
      failedPaths.insert(key.path)
      problems.report(
        key.path + error.element, at: error.position, error.problem,
        expected: error.expected ?? key.expectation)
    }
  }

  private mutating func reportUnknown(_ node: TOMLNode, in table: String) {
    let suggestion = ProfileSchema.suggestion(for: node.key, in: table)
    if let suggestion { failedPaths.insert(suggestion.path) }
    problems.report(
      ProfileSchema.joined(table, node.key), at: node.keyPosition,
      node.value == .table ? "no such table" : "unknown key", suggestion: suggestion?.text ?? "")
  }

  /// Reports missing required tables and keys, except those for which a misspelt one was reported.
  private mutating func reportMissing(_ table: String) {
    for key in ProfileSchema.keys(of: table)
    where key.isRequired && positions[key.path] == nil && !failedPaths.contains(key.path) {
      failedPaths.insert(key.path)
      problems.report(
        key.path, at: positions[table] ?? .start, "is missing", expected: key.expectation)
    }
    for inner in ProfileSchema.tables(in: table) {
      if draft.tables.contains(inner.path) {
        reportMissing(inner.path)
      } else if inner.isRequired, !failedPaths.contains(inner.path) {
        failedPaths.insert(inner.path)
        problems.report(
          inner.path, at: positions[table] ?? .start, "is missing",
          expected: "a table [\(inner.path)]")
      }
    }
  }

  private func applies(_ rule: ProfileRule) -> Bool {
    rule.keys.allSatisfy { path in
      draft.hasTable(for: path) && !failedPaths.contains(path)
        && !failedPaths.contains(ProfileSchema.parentPath(of: path))
    }
  }

  private func position(of path: String) -> TOMLPosition {
    var path = path
    // The position of the root is always known.
    while positions[path] == nil, !path.isEmpty { path = ProfileSchema.parentPath(of: path) }
    return positions[path] ?? .start
  }
}

/// Why a value is invalid.
struct InvalidValue: Error {
  var position: TOMLPosition
  var problem: String
  /// Path of the invalid element of a list, `[2].fix_s`; empty for the value itself.
  var element: String
  /// Expected value, if it differs from the key's own expectation.
  var expected: String?

  init(
    _ position: TOMLPosition, _ problem: String, element: String = "", expected: String? = nil
  ) {
    self.position = position
    self.problem = problem
    self.element = element
    self.expected = expected
  }

  /// The value has another type than the key.
  init(typeOf node: TOMLNode, expected: String? = nil) {
    self.init(node.position, "is \(node.value.typeName)", expected: expected)
  }
}

/// Runs `body`; an error is one of the list's element `element`.
private func reading<Value>(
  _ element: String, expected: String? = nil, _ body: () throws(InvalidValue) -> Value
) throws(InvalidValue) -> Value {
  do throws(InvalidValue) { return try body() } catch {
    throw InvalidValue(
      error.position, error.problem, element: element + error.element,
      expected: error.expected ?? expected)
  }
}

extension ProfileReader {
  /// Checks and converts the node at `index` as the value of `key`.
  func value(for key: ProfileKey, at index: Int) throws(InvalidValue) -> ProfileValue {
    let node = text.nodes[index]
    switch (key.constraint, node.value) {
    case (.text(let length), .string(let string)):
      let count = string.unicodeScalars.count
      guard length.contains(count) else {
        throw InvalidValue(node.position, "has \(count) characters")
      }
      guard printable(string, maxLength: count) == string else {
        throw InvalidValue(node.position, "contains characters that cannot be printed on one line")
      }
      return .text(string)
    case (.word(let words), .string): return .text(try readWord(words, index))
    case (.words(let words), .array): return .words(try readWords(words, index))
    case (.boolean, .boolean(let flag)): return .boolean(flag)
    case (.integer(let range), .integer(let whole)):
      if range.contains(whole) { return .integer(whole) }
      throw InvalidValue(node.position, "\(whole) is out of range")
    case (.integerAmong(let numbers), .integer(let whole)):
      if numbers.contains(whole) { return .integer(whole) }
      throw InvalidValue(node.position, "\(whole) is not an allowed value")
    case (.number(let range), _): return .number(try readNumber(range, index))
    case (.points(let range, let most), .array):
      return .points(try readPoints(range, max: most, index))
    case (.text, _), (.word, _), (.words, _), (.boolean, _), (.integer, _), (.integerAmong, _),
      (.points, _):
      throw InvalidValue(typeOf: node)
    }
  }

  private func readWord(_ words: [String], _ index: Int) throws(InvalidValue) -> String {
    let node = text.nodes[index]
    guard case .string(let word) = node.value else { throw InvalidValue(typeOf: node) }
    if words.contains(word) { return word }
    let near = closestMatch(to: word, among: words).map { " (did you mean \"\($0)\"?)" } ?? ""
    throw InvalidValue(node.position, "unknown word \"\(printable(word))\"" + near)
  }

  private func readWords(_ words: [String], _ index: Int) throws(InvalidValue) -> [String] {
    var found: [String] = []
    for child in text.children(of: index) {
      let seen = found
      let word = try reading("[\(found.count)]") { () throws(InvalidValue) in
        let word = try readWord(words, child)
        guard !seen.contains(word) else {
          throw InvalidValue(text.nodes[child].position, "\"\(word)\" is listed twice")
        }
        return word
      }
      found.append(word)
    }
    if found.isEmpty { throw InvalidValue(text.nodes[index].position, "is empty") }
    return found
  }

  private func readNumber(
    _ range: ClosedRange<Double>, _ index: Int
  ) throws(InvalidValue) -> Double {
    let node = text.nodes[index]
    guard let number = node.value.number, number.isFinite else { throw InvalidValue(typeOf: node) }
    if range.contains(number) { return number }
    throw InvalidValue(node.position, "\(decimalText(number)) is out of range")
  }

  private func readPoints(
    _ range: ClosedRange<Double>, max: Int, _ index: Int
  ) throws(InvalidValue) -> [TimeToFix.Point] {
    let children = text.children(of: index)
    guard !children.isEmpty, children.count <= max else {
      throw InvalidValue(text.nodes[index].position, "has \(children.count) pairs")
    }
    var points: [TimeToFix.Point] = []
    for child in children {
      let previous = points
      points.append(
        try reading("[\(points.count)]") { () throws(InvalidValue) in
          let point = try readPoint(range, child)
          try checkOrder(point, after: previous, at: text.nodes[child].position)
          return point
        })
    }
    return points
  }

  private func readPoint(
    _ range: ClosedRange<Double>, _ index: Int
  ) throws(InvalidValue) -> TimeToFix.Point {
    let pair = text.nodes[index]
    let expected =
      "a number of seconds, \(decimalText(range.lowerBound)) to \(decimalText(range.upperBound))"
    guard pair.value == .table else {
      throw InvalidValue(typeOf: pair, expected: "{ off_s = …, fix_s = … }")
    }
    var found: [String: Double] = [:]
    for child in text.children(of: index) {
      let node = text.nodes[child]
      guard node.key == "off_s" || node.key == "fix_s" else {
        let near = closestMatch(to: node.key, among: ["off_s", "fix_s"]).map {
          "; did you mean `\($0)`?"
        }
        throw InvalidValue(
          node.keyPosition, "unknown key", element: "." + node.key,
          expected: "off_s and fix_s, both in seconds" + (near ?? ""))
      }
      found[node.key] = try reading("." + node.key, expected: expected) {
        () throws(InvalidValue) in try readNumber(range, child)
      }
    }
    func seconds(_ name: String) throws(InvalidValue) -> Interval {
      if let seconds = found[name] { return Interval(seconds: seconds) }
      throw InvalidValue(pair.position, "is missing", element: "." + name, expected: expected)
    }
    return TimeToFix.Point(off: try seconds("off_s"), fix: try seconds("fix_s"))
  }

  /// Throws if `point` cannot follow `points`.
  private func checkOrder(
    _ point: TimeToFix.Point, after points: [TimeToFix.Point],
    at position: TOMLPosition
  ) throws(InvalidValue) {
    guard let last = points.last else {
      guard point.off > .zero else { return }
      throw InvalidValue(
        position, "starts at \(decimalText(point.off.seconds)) s",
        expected: "off_s = 0 in the first pair")
    }
    if point.off < last.off || point.fix < last.fix {
      throw InvalidValue(
        position, "is less than the pair before it",
        expected: "off_s and fix_s that do not decrease from pair to pair")
    }
    if points.count > 1, point.off == last.off, points[points.count - 2].off == last.off {
      throw InvalidValue(
        position, "is the third pair with off_s = \(decimalText(point.off.seconds))",
        expected: "the same off_s at most twice, which forms a step")
    }
  }
}
