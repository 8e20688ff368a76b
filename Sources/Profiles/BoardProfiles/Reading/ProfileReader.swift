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
  var places: [String: TOMLPlace] = ["": .start]
  /// Keys and tables that are invalid, missing, or the probable meaning of a misspelt one; they are reported once.
  var failed: Set<String> = []

  init(_ text: TOMLText, file: String) {
    self.text = text
    self.file = file
  }

  /// Reads all tables, then applies the rules that concern several keys.
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

  /// Reports missing required tables and keys, except those for which a misspelt one was reported.
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

/// Why a value is invalid.
struct Refusal: Error {
  var place: TOMLPlace
  var problem: String
  /// Path of the invalid element of a list, `[2].fix_s`; empty for the value itself.
  var element = ""
  /// Expected value, if it differs from the key's own expectation.
  var expected: String?
}

extension ProfileReader {
  /// Checks and converts the node at `index` as the value of `key`.
  func accepted(_ key: ProfileKey, _ index: Int) -> Result<ProfileValue, Refusal> {
    let node = text.nodes[index]
    switch (key.form, node.value) {
    case (.text(let length), .string(let string)):
      return accept(string, length, at: node.place)
    case (.word(let words), .string(let string)):
      if words.contains(string) { return .success(.text(string)) }
      return .failure(unknownWord(string, words, at: node.place))
    case (.words(let words), .array):
      return acceptWords(words, index)
    case (.flag, .boolean(let flag)):
      return .success(.flag(flag))
    case (.whole(let range), .integer(let whole)):
      if range.contains(whole) { return .success(.whole(whole)) }
      return .failure(Refusal(place: node.place, problem: "\(whole) is out of range"))
    case (.oneOf(let numbers), .integer(let whole)):
      if numbers.contains(whole) { return .success(.whole(whole)) }
      return .failure(Refusal(place: node.place, problem: "\(whole) is not an allowed value"))
    case (.number(let range), _):
      return number(node, in: range).map { .number($0) }
    case (.points(let range, let most), .array):
      return acceptPoints(range, most: most, index)
    case (.text, _), (.word, _), (.words, _), (.flag, _), (.whole, _), (.oneOf, _), (.points, _):
      return .failure(Refusal(place: node.place, problem: "is \(node.value.kind)"))
    }
  }

  private func accept(
    _ string: String, _ length: ClosedRange<Int>, at place: TOMLPlace
  ) -> Result<ProfileValue, Refusal> {
    let count = string.unicodeScalars.count
    if !length.contains(count) {
      return .failure(Refusal(place: place, problem: "has \(count) characters"))
    }
    if printable(string, longest: count) != string {
      return .failure(
        Refusal(place: place, problem: "contains characters that cannot be printed on one line"))
    }
    return .success(.text(string))
  }

  private func unknownWord(_ word: String, _ words: [String], at place: TOMLPlace) -> Refusal {
    let near = nearest(word, among: words).map { " (did you mean \"\($0)\"?)" } ?? ""
    return Refusal(place: place, problem: "unknown word \"\(printable(word))\"" + near)
  }

  private func acceptWords(_ words: [String], _ index: Int) -> Result<ProfileValue, Refusal> {
    var given: [String] = []
    for (count, child) in text.children(of: index).enumerated() {
      let node = text.nodes[child]
      let element = "[\(count)]"
      guard case .string(let word) = node.value else {
        return .failure(
          Refusal(place: node.place, problem: "is \(node.value.kind)", element: element))
      }
      guard words.contains(word) else {
        var refusal = unknownWord(word, words, at: node.place)
        refusal.element = element
        return .failure(refusal)
      }
      guard !given.contains(word) else {
        return .failure(
          Refusal(place: node.place, problem: "\"\(word)\" is listed twice", element: element))
      }
      given.append(word)
    }
    if given.isEmpty {
      return .failure(Refusal(place: text.nodes[index].place, problem: "is empty"))
    }
    return .success(.words(given))
  }

  private func number(
    _ node: TOMLNode, in range: ClosedRange<Double>
  ) -> Result<Double, Refusal> {
    let number: Double
    switch node.value {
    case .integer(let whole): number = Double(whole)
    case .float(let float) where float.isFinite: number = float
    case .float, .table, .array, .string, .boolean, .datetime:
      return .failure(Refusal(place: node.place, problem: "is \(node.value.kind)"))
    }
    guard range.contains(number) else {
      return .failure(Refusal(place: node.place, problem: "\(shown(number)) is out of range"))
    }
    return .success(number)
  }

  private func acceptPoints(
    _ range: ClosedRange<Double>, most: Int, _ index: Int
  ) -> Result<ProfileValue, Refusal> {
    let children = text.children(of: index)
    guard !children.isEmpty, children.count <= most else {
      return .failure(
        Refusal(place: text.nodes[index].place, problem: "has \(children.count) pairs"))
    }
    var points: [BoardProfile.TimeToFixPoint] = []
    for (count, child) in children.enumerated() {
      switch point(child, range) {
      case .failure(var refusal):
        refusal.element = "[\(count)]" + refusal.element
        return .failure(refusal)
      case .success(let point):
        if let refusal = misplaced(point, after: points, at: text.nodes[child].place) {
          return .failure(refusal)
        }
        points.append(point)
      }
    }
    return .success(.points(points))
  }

  private func point(
    _ index: Int, _ range: ClosedRange<Double>
  ) -> Result<BoardProfile.TimeToFixPoint, Refusal> {
    let pair = text.nodes[index]
    let expectation =
      "a number of seconds, \(shown(range.lowerBound)) to \(shown(range.upperBound))"
    guard pair.value == .table else {
      return .failure(
        Refusal(
          place: pair.place, problem: "is \(pair.value.kind)",
          expected: "{ off_s = …, fix_s = … }"))
    }
    var found: [String: Double] = [:]
    for child in text.children(of: index) {
      let node = text.nodes[child]
      guard node.key == "off_s" || node.key == "fix_s" else {
        let near = nearest(node.key, among: ["off_s", "fix_s"]).map { "; did you mean `\($0)`?" }
        return .failure(
          Refusal(
            place: node.keyPlace, problem: "unknown key", element: "." + node.key,
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
        Refusal(
          place: pair.place, problem: "is missing", element: "." + name, expected: expectation))
    }
    return .success(
      BoardProfile.TimeToFixPoint(
        off: Interval(seconds: found["off_s"] ?? 0), fix: Interval(seconds: found["fix_s"] ?? 0)))
  }

  /// Why `point` cannot follow `points`; nil if it can.
  private func misplaced(
    _ point: BoardProfile.TimeToFixPoint, after points: [BoardProfile.TimeToFixPoint],
    at place: TOMLPlace
  ) -> Refusal? {
    let element = "[\(points.count)]"
    guard let last = points.last else {
      guard point.off > .zero else { return nil }
      return Refusal(
        place: place, problem: "starts at \(shown(point.off.seconds)) s", element: element,
        expected: "off_s = 0 in the first pair")
    }
    if point.off < last.off || point.fix < last.fix {
      return Refusal(
        place: place, problem: "is less than the pair before it", element: element,
        expected: "off_s and fix_s that do not decrease from pair to pair")
    }
    if points.count > 1, point.off == last.off, points[points.count - 2].off == last.off {
      return Refusal(
        place: place, problem: "is the third pair with off_s = \(shown(point.off.seconds))",
        element: element, expected: "the same off_s at most twice, which forms a step")
    }
    return nil
  }
}
