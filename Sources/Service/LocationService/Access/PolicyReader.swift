import BoardHardware
import GPSDProtocol
import LocationPolicy
import LocationWire
import TOMLFiles

/// Converts a parsed policy file into a policy and collects all errors.
struct PolicyReader {
  let text: TOMLText
  let users: (String) -> UInt32?
  private var problems: ProblemList

  static let rootKeys = ["default", "default_reduced", "administrators", "rule"]
  static let ruleKeys = [
    "user", "client", "access", "reduced", "background", "relaunch", "interval_s", "accuracy_m",
    "defer_s", "stale_after_s",
  ]
  /// Values of `access` and `default`.
  static let accessValues: [(word: String, authorization: Authorization)] = [
    ("ask", .notDetermined), ("always", .always), ("when-in-use", .whenInUse), ("deny", .denied),
  ]
  static let longestUnit = 255
  static let rulesLimit = 1_000

  init(text: TOMLText, file: String, users: @escaping (String) -> UInt32?) {
    self.text = text
    problems = ProblemList(file: file)
    self.users = users
  }

  mutating func read() throws(FileProblems) -> AccessPolicy {
    var defaultRights = AccessRights(authorization: .notDetermined)
    var administrators: Set<UInt32> = []
    var rules: [AccessRule] = []
    for index in text.children(of: -1) {
      let node = text.nodes[index]
      switch node.key {
      case "default":
        defaultRights.authorization = accessValue(node, "default") ?? .notDetermined
      case "default_reduced":
        defaultRights.isReduced = problems.flag(node, "default_reduced") ?? false
      case "administrators": administrators = readUsers(index, "administrators")
      case "rule": rules = readRules(index)
      default: problems.reportUnknown(node, path: node.key, among: PolicyReader.rootKeys)
      }
    }
    try problems.check()
    return AccessPolicy(
      defaultRights: defaultRights, rules: rules, administrators: administrators)
  }

  // MARK: Rules

  private mutating func readRules(_ index: Int) -> [AccessRule] {
    let node = text.nodes[index]
    guard node.value == .array else {
      problems.report(
        "rule", at: node.keyPosition, "is \(node.value.typeName)", expected: "tables [[rule]]")
      return []
    }
    var rules: [AccessRule] = []
    for (number, child) in text.children(of: index).enumerated() {
      let path = "rule[\(number)]"
      guard number < PolicyReader.rulesLimit else {
        problems.report(
          path, at: text.nodes[child].position,
          "there are more than \(PolicyReader.rulesLimit) rules")
        break
      }
      guard let rule = readRule(child, path) else { continue }
      if let first = rules.first(where: { $0.subject == rule.subject }) {
        problems.report(
          path, at: text.nodes[child].position,
          "has the same user and client as the rule at line \(first.line)",
          suggestion: "keep one of them")
      } else {
        rules.append(rule)
      }
    }
    return rules
  }

  /// Reads one rule; nil if it has errors.
  private mutating func readRule(_ index: Int, _ path: String) -> AccessRule? {
    let node = text.nodes[index]
    guard node.value == .table else {
      problems.report(
        path, at: node.position, "is \(node.value.typeName)", expected: "a table [[rule]]")
      return nil
    }
    let before = problems.count
    var subject = AccessSubject()
    var rights = AccessRights(authorization: .denied)
    var keys: Set<String> = []
    for child in text.children(of: index) {
      let entry = text.nodes[child]
      let inner = path + "." + entry.key
      keys.insert(entry.key)
      switch entry.key {
      case "user": subject.uid = user(entry, inner)
      case "client": subject.client = name(entry, inner)
      case "access": rights.authorization = accessValue(entry, inner) ?? .denied
      case "reduced": rights.isReduced = problems.flag(entry, inner) ?? true
      case "background": rights.mayUseBackground = problems.flag(entry, inner)
      case "relaunch": rights.relaunch = relaunch(child, inner)
      case "interval_s":
        rights.gpsd.saving.interval_s = problems.number(entry, inner, GPSDSaving.times_s)
      case "accuracy_m":
        rights.gpsd.saving.accuracy_m = problems.number(entry, inner, GPSDSaving.accuracies_m)
      case "defer_s":
        rights.gpsd.saving.defer_s = problems.number(entry, inner, GPSDSaving.times_s)
      case "stale_after_s":
        rights.gpsd.staleAfter_s = problems.number(entry, inner, GPSDSaving.times_s)
      default: problems.reportUnknown(entry, path: inner, among: PolicyReader.ruleKeys)
      }
    }
    guard problems.count == before else { return nil }
    check(keys, path, at: node.position)
    return problems.count == before ? AccessRule(subject, rights, line: node.position.line) : nil
  }

  /// Checks required keys, and keys that require others.
  private mutating func check(_ keys: Set<String>, _ path: String, at position: TOMLPosition) {
    if !keys.contains("access") {
      problems.report(
        path + ".access", at: position, "is missing", expected: PolicyReader.expectedAccessValues)
    }
    if !keys.contains("user"), !keys.contains("client") {
      problems.report(
        path, at: position, "names no user and no client", expected: "user, client or both",
        suggestion: "use `default` for all other clients")
    }
    if keys.contains("relaunch"), !keys.contains("client") {
      problems.report(
        path + ".relaunch", at: position, "starts one client, and the rule does not name one",
        expected: "client")
    }
  }

  // MARK: Values

  static let expectedAccessValues = joinedWithOr(accessValues.map { "\"\($0.word)\"" })

  private mutating func accessValue(_ node: TOMLNode, _ path: String) -> Authorization? {
    let expected = PolicyReader.expectedAccessValues
    guard let word = problems.string(node, path, expected: expected) else { return nil }
    if let match = PolicyReader.accessValues.first(where: { $0.word == word }) {
      return match.authorization
    }
    let closest = closestMatch(to: word, among: PolicyReader.accessValues.map(\.word))
    problems.report(
      path, at: node.position, "unknown word \"\(printable(word))\"", expected: expected,
      suggestion: closest.map { "did you mean \"\($0)\"?" } ?? "")
    return nil
  }

  /// A user ID from a name or number.
  private mutating func user(_ node: TOMLNode, _ path: String) -> UInt32? {
    switch node.value {
    case .integer(let number):
      // The highest ID means "no user" to the kernel.
      if let uid = UInt32(exactly: number), uid < .max { return uid }
      problems.report(
        path, at: node.position, "\(number) is out of range", expected: "0 to 4294967294")
    case .string(let name):
      if let uid = users(name) { return uid }
      let isNumber = !name.isEmpty && name.utf8.allSatisfy { (48...57).contains($0) }
      problems.report(
        path, at: node.position, "no user is named \"\(printable(name))\" on this system",
        suggestion: isNumber
          ? "write a number without quotes"
          : "create the user or correct the name (`getent passwd`)")
    case .table, .array, .float, .boolean, .datetime:
      problems.report(
        path, at: node.position, "is \(node.value.typeName)",
        expected: "the name of a user or its number")
    }
    return nil
  }

  private mutating func readUsers(_ index: Int, _ path: String) -> Set<UInt32> {
    let node = text.nodes[index]
    guard node.value == .array else {
      problems.report(
        path, at: node.position, "is \(node.value.typeName)", expected: "a list of users")
      return []
    }
    var ids: Set<UInt32> = []
    for (number, child) in text.children(of: index).enumerated() {
      let inner = "\(path)[\(number)]"
      guard let uid = user(text.nodes[child], inner) else { continue }
      if !ids.insert(uid).inserted {
        problems.report(inner, at: text.nodes[child].position, "is listed twice")
      }
    }
    return ids
  }

  private mutating func name(_ node: TOMLNode, _ path: String) -> String? {
    let expected = "text of 1 to \(WireLimits.clientName) bytes, on one line"
    guard let name = problems.string(node, path, expected: expected) else { return nil }
    guard (1...WireLimits.clientName).contains(name.utf8.count),
      printable(name, maxLength: WireLimits.clientName) == name
    else {
      problems.report(path, at: node.position, "cannot be the name of a client", expected: expected)
      return nil
    }
    return name
  }

  private mutating func relaunch(_ index: Int, _ path: String) -> Relaunch? {
    let node = text.nodes[index]
    let expected = "the name of a unit, \"tracker.service\", or a list, [\"/usr/bin/tracker\", …]"
    switch node.value {
    case .string(let unit):
      let isUnit = unit.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "/") }
      if isUnit, unit.utf8.count <= PolicyReader.longestUnit, unit.contains("."), unit.first != "-"
      {
        return .unit(unit)
      }
      problems.report(
        path, at: node.position, "is not the name of a unit", expected: expected,
        suggestion: unit.first == "/" ? "put the command into a list" : "")
    case .array:
      var words: [String] = []
      for child in text.children(of: index) {
        if case .string(let word) = text.nodes[child].value, !word.utf8.contains(0) {
          words.append(word)
        } else {
          problems.report(path, at: text.nodes[child].position, "is not text", expected: expected)
          return nil
        }
      }
      if words.first?.first == "/" { return .command(words) }
      problems.report(
        path, at: node.position, "does not begin with an absolute path", expected: expected)
    case .table, .integer, .float, .boolean, .datetime:
      problems.report(path, at: node.position, "is \(node.value.typeName)", expected: expected)
    }
    return nil
  }
}
