/// Why bytes are no JSON that is taken (RFC 8259, and bounds of our own).
@frozen public enum JSONProblem: UInt8, Error, Sendable {
  /// Not JSON.
  case syntax = 0
  /// A string that is not UTF-8, or half a pair of surrogates.
  case encoding = 1
  /// More values inside each other than ``JSONLimits/depth``.
  case tooDeep = 2
  /// More values, or members of one object, than allowed.
  case tooMany = 3
  /// A member's name comes twice in one object.
  case duplicateName = 4
  /// A number of more characters than anyone needs.
  case longNumber = 5
}

/// Bounds of a JSON text.
public struct JSONLimits: Sendable {
  /// Objects and lists inside each other.
  public var depth: Int
  /// Members of one object.
  public var members: Int
  /// Values and names in all.
  public var nodes: Int
  /// Bytes of a member's name, as it is written.
  public var nameLength: Int
  /// Characters of a number.
  public var numberLength: Int

  /// Creates bounds.
  public init(
    depth: Int = 16, members: Int = 64, nodes: Int, nameLength: Int = 64, numberLength: Int = 64
  ) {
    precondition(depth > 0 && members > 0 && nodes > 0, "bounds are above 0")
    precondition(nameLength > 0 && numberLength > 0, "bounds are above 0")
    self.depth = depth
    self.members = members
    self.nodes = nodes
    self.nameLength = nameLength
    self.numberLength = numberLength
  }

  /// For what a client sends.
  public static let call = JSONLimits(nodes: 512)
  /// For what the service sends: as many values as fit into its frames.
  public static let reply = JSONLimits(nodes: WireLimits.replyFrame)
}

/// One JSON text, read into a flat list of its values.
///
/// Nothing is converted before it is asked for, so an integer stays exact and a string is made only
/// once it is wanted. Time is linear in the bytes; ``JSONLimits/members`` bounds the search for
/// names that come twice.
public struct JSONDocument: Sendable {
  enum Kind: UInt8, Sendable {
    case object, list, string, number, yes, no, null
  }

  /// A value: where its text lies, and which node comes behind it and all within it.
  struct Node: Sendable {
    var kind: Kind
    /// Of a string: has escapes. Of a number: has no fraction and no exponent.
    var mark = false
    var start: Int32
    var end: Int32
    var next: Int32
  }

  let bytes: [UInt8]
  let nodes: [Node]

  /// Reads `bytes`, which must be one JSON value with nothing but white space around it.
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

  /// Whether it is `null`.
  public var isNull: Bool { node.kind == .null }
  /// Whether it is an object.
  public var isObject: Bool { node.kind == .object }

  /// True or false; nil if it is neither.
  public var bool: Bool? {
    switch node.kind {
    case .yes: true
    case .no: false
    case .object, .list, .string, .number, .null: nil
    }
  }

  /// The integer, if it is written as one and fits 64 bits.
  public var integer: Int64? {
    guard node.kind == .number, node.mark else { return nil }
    var magnitude: UInt64 = 0
    var isNegative = false
    for place in Int(node.start)..<Int(node.end) {
      let byte = document.bytes[place]
      guard byte != UInt8(ascii: "-") else {
        isNegative = true
        continue
      }
      let (tens, over) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, past) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      guard !over, !past else { return nil }
      magnitude = sum
    }
    if isNegative { return magnitude <= 1 << 63 ? 0 &- Int64(truncatingIfNeeded: magnitude) : nil }
    return Int64(exactly: magnitude)
  }

  /// The number nearest to what is written; nil if it is none or beyond what a Double holds.
  public var double: Double? {
    guard node.kind == .number else { return nil }
    let text = String(decoding: document.bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The text, if it is a string.
  public var string: String? {
    guard node.kind == .string else { return nil }
    let raw = document.bytes[Int(node.start)..<Int(node.end)]
    return String(decoding: node.mark ? JSONScanner.unescaped(raw) : Array(raw), as: UTF8.self)
  }

  /// Whether it is the string `text`, which has no characters that JSON escapes.
  func equals(_ text: StaticString) -> Bool {
    node.kind == .string && string == text.description
  }

  /// The elements of a list; nil if it is none.
  public var elements: [JSONValue]? {
    guard node.kind == .list else { return nil }
    var all: [JSONValue] = []
    var place = index + 1
    while place < Int(node.next) {
      all.append(JSONValue(document: document, index: place))
      place = Int(document.nodes[place].next)
    }
    return all
  }

  /// Names and values of an object in the order in which they are written; nil if it is none.
  public var members: [(name: String, value: JSONValue)]? {
    guard node.kind == .object else { return nil }
    var all: [(name: String, value: JSONValue)] = []
    var place = index + 1
    while place < Int(node.next) {
      let name = JSONValue(document: document, index: place).string ?? ""
      all.append((name, JSONValue(document: document, index: place + 1)))
      place = Int(document.nodes[place + 1].next)
    }
    return all
  }
}
