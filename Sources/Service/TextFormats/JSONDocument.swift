// A parsed JSON text with its values, limits and errors. ``JSONScanner`` parses it.

/// Why bytes are not acceptable JSON (RFC 8259, with additional limits).
@frozen public enum JSONProblem: UInt8, Error, Sendable {
  /// Invalid JSON syntax.
  case syntax = 0
  /// A string that is not UTF-8 or contains an unpaired surrogate.
  case encoding = 1
  /// Deeper nesting than ``JSONLimits/depth``.
  case tooDeep = 2
  /// More values, members of an object, or bytes in a name than permitted.
  case tooMany = 3
  /// Two members of an object have the same name.
  case duplicateName = 4
  /// A number with more characters than ``JSONLimits/numberLength``.
  case longNumber = 5
}

/// Limits of a JSON text.
public struct JSONLimits: Sendable {
  /// Maximum nesting depth of objects and lists.
  public var depth: Int
  /// Maximum number of members in an object.
  public var members: Int
  /// Maximum total number of values and names.
  public var nodes: Int
  /// Maximum length of a member's name as written, bytes.
  public var nameLength: Int
  /// Maximum length of a number, characters.
  public var numberLength: Int

  /// Creates limits.
  public init(
    depth: Int = 16, members: Int = 64, nodes: Int, nameLength: Int = 64, numberLength: Int = 64
  ) {
    precondition(depth > 0 && members > 0 && nodes > 0, "limits must be positive")
    precondition(nameLength > 0 && numberLength > 0, "limits must be positive")
    self.depth = depth
    self.members = members
    self.nodes = nodes
    self.nameLength = nameLength
    self.numberLength = numberLength
  }
}

/// A JSON text, parsed into a flat list of its values.
///
/// Values are converted on access only, so integers stay exact and no unused string is created. Parsing is linear in
/// the number of bytes; ``JSONLimits/members`` bounds the check for duplicate names.
public struct JSONDocument: Sendable {
  enum Kind: UInt8, Sendable {
    case object, list, string, number, trueLiteral, falseLiteral, null
  }

  /// A value: the range of its text, and the index of the node after it and its contents.
  struct Node: Sendable {
    var kind: Kind
    /// For a string, whether it contains escapes; for a number, whether it has neither fraction nor exponent.
    var hasEscapesOrIsInteger = false
    var start: Int32
    var end: Int32
    var next: Int32
  }

  let bytes: [UInt8]
  let nodes: [Node]

  /// Parses `bytes`, which must be one JSON value with optional white space around it.
  public init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONProblem) {
    var scanner = JSONScanner(bytes, limits)
    try scanner.scan()
    self.bytes = bytes
    nodes = scanner.nodes
  }

  /// The outermost value.
  public var root: JSONValue { JSONValue(document: self, index: 0) }
}

/// A value in a ``JSONDocument``.
public struct JSONValue: Sendable {
  let document: JSONDocument
  let index: Int

  private var node: JSONDocument.Node { document.nodes[index] }

  /// Whether the value is `null`.
  public var isNull: Bool { node.kind == .null }
  /// Whether the value is an object.
  public var isObject: Bool { node.kind == .object }

  /// The Boolean value; nil if it is not a Boolean.
  public var bool: Bool? {
    switch node.kind {
    case .trueLiteral: true
    case .falseLiteral: false
    case .object, .list, .string, .number, .null: nil
    }
  }

  /// The integer; nil if the value is not written as an integer or does not fit into 64 bits.
  public var integer: Int64? {
    guard node.kind == .number, node.hasEscapesOrIsInteger else { return nil }
    let isNegative = document.bytes[Int(node.start)] == UInt8(ascii: "-")
    var value: Int64 = 0
    for byte in document.bytes[Int(node.start) + (isNegative ? 1 : 0)..<Int(node.end)] {
      let digit = Int64(byte - UInt8(ascii: "0"))
      let (tens, hasTensOverflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, hasSumOverflow) = tens.addingReportingOverflow(isNegative ? -digit : digit)
      guard !hasTensOverflow, !hasSumOverflow else { return nil }
      value = sum
    }
    return value
  }

  /// The nearest Double; nil if the value is not a number or is out of range.
  public var double: Double? {
    guard node.kind == .number else { return nil }
    let text = String(decoding: document.bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The string; nil if the value is not a string.
  public var string: String? {
    guard node.kind == .string else { return nil }
    let raw = document.bytes[Int(node.start)..<Int(node.end)]
    return String(
      decoding: node.hasEscapesOrIsInteger ? JSONScanner.unescaped(raw) : Array(raw), as: UTF8.self)
  }

  /// The elements of a list; nil if the value is not a list.
  public var elements: [JSONValue]? {
    guard node.kind == .list else { return nil }
    var all: [JSONValue] = []
    var slot = index + 1
    while slot < Int(node.next) {
      all.append(JSONValue(document: document, index: slot))
      slot = Int(document.nodes[slot].next)
    }
    return all
  }

  /// Names and values of an object in text order; nil if the value is not an object.
  public var members: [(name: String, value: JSONValue)]? {
    guard node.kind == .object else { return nil }
    var all: [(name: String, value: JSONValue)] = []
    var slot = index + 1
    while slot < Int(node.next) {
      let name = JSONValue(document: document, index: slot).string ?? ""
      all.append((name, JSONValue(document: document, index: slot + 1)))
      slot = Int(document.nodes[slot + 1].next)
    }
    return all
  }

  /// The member of an object with this name; nil if there is none or the value is not an object.
  public subscript(name: String) -> JSONValue? { members?.first { $0.name == name }?.value }
}
