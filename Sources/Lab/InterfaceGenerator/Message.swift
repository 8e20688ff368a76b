/// A call, reply or error as a case of a Swift enumeration.
struct Message: Equatable {
  /// A value of the case.
  struct Value: Equatable {
    /// Name of the value in Swift.
    var name: String
    /// Whether the value has its name as a label.
    var isLabelled = true
    /// Type, with the sign of an optional.
    var type: String
    /// Name of the member; nil for a type that encodes several members itself.
    var member: String?
    /// Value of an omitted member.
    var fallback: String?
    /// Whether the member is omitted if it has that value.
    var isOmitted = false
    /// Function that accepts valid values; nil if all are valid.
    var condition: String?

    var isOptional: Bool { type.hasSuffix("?") }
  }

  /// Name of the case.
  var name: String
  var values: [Value] = []

  /// Parses the declaration of a case in an annotation:
  ///
  ///     name(label member: Type = default where condition, …)
  ///
  /// Label and member are as in Swift: `_` for no label, and a single word is the member, with a label in camel case. A
  /// type that encodes several members ends with `...`, and the name is then any word. With `= default` the member may
  /// be omitted and is omitted if it has that value, with `?? default` it is always written.
  init(_ signature: String, members: [VarlinkInterface.Member]) throws(GeneratorError) {
    guard let match = signature.wholeMatch(of: /(\w+)\((.*)\)/) else {
      throw GeneratorError(reason: "'\(signature)' is not a case")
    }
    name = String(match.1)
    for part in parts(of: match.2) { values.append(try Message.value(part, members)) }
    guard values.allSatisfy({ $0.member != nil }) else { return }
    for member in members where !values.contains(where: { $0.member == member.name }) {
      throw GeneratorError(reason: "'\(signature)' lacks '\(member.name)'")
    }
  }

  private static func value(
    _ part: String, _ members: [VarlinkInterface.Member]
  ) throws(GeneratorError) -> Value {
    guard
      let match = part.wholeMatch(
        of: /(?:(\w+) )?(\w+): ([^ ]+)(?: (=|\?\?) (.+?))?(?: where (.+))?/)
    else { throw GeneratorError(reason: "'\(part)' is not a value") }
    var value = Value(
      name: camelCase(match.2), isLabelled: match.1 != "_", type: String(match.3),
      fallback: match.5.map(String.init), isOmitted: match.4 == "=",
      condition: match.6.map(String.init))
    if let label = match.1, value.isLabelled { value.name = String(label) }
    if value.type.hasSuffix("...") {
      value.type.removeLast(3)
      return value
    }
    guard let member = members.first(where: { $0.name == match.2 }) else {
      throw GeneratorError(reason: "'\(match.2)' is no member")
    }
    guard member.isOptional == (value.isOptional || value.fallback != nil) else {
      throw GeneratorError(reason: "'\(match.2)' must be optional in both declarations or in none")
    }
    value.member = member.name
    return value
  }
}

// MARK: - Swift

extension Message {
  /// `name(label: value, …)`, for each value the text that `body` returns; `name` without values.
  func text(_ body: (Value) -> String) -> String {
    let list = values.map { ($0.isLabelled ? $0.name + ": " : "") + body($0) }
    return list.isEmpty ? name : "\(name)(\(list.joined(separator: ", ")))"
  }

  /// The declaration of the case.
  var declaration: String {
    text { value in
      let fallback = value.isLabelled && value.isOmitted ? value.fallback : nil
      return value.type + (fallback.map { " = " + $0 } ?? "")
    }
  }

  /// A pattern that binds all values.
  var pattern: String {
    let names = values.map { "let " + $0.name }
    return "." + name + (names.isEmpty ? "" : "(\(names.joined(separator: ", ")))")
  }

  /// The expression that decodes the message from `fields`.
  var decoding: String {
    "."
      + text { value in
        guard let member = value.member else { return "try \(value.type)(&fields)" }
        let other =
          value.fallback.map { ", else: " + $0 } ?? value.condition.map { ", where: " + $0 } ?? ""
        return "try fields.read(\"\(member)\"\(other))"
      }
  }

  /// The statements that encode the values to `json`.
  var encoding: [String] {
    values.map { value in
      guard let member = value.member else { return "\(value.name).write(to: &json)" }
      let omitted = value.isOmitted ? ", unless: " + (value.fallback ?? "") : ""
      return "json.write(\"\(member)\", \(value.name)\(omitted))"
    }
  }
}

/// `explicit_sessions` as `explicitSessions`, `GetStatus` as `getStatus`.
func camelCase(_ name: some StringProtocol) -> String {
  let words = name.split(separator: "_")
  return words.enumerated().map { index, word in
    (index == 0 ? word.prefix(1).lowercased() : word.prefix(1).uppercased()) + word.dropFirst()
  }.joined()
}
