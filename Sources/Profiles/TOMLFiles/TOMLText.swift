import CTOML

// A parsed TOML text: its nodes with their types, values and positions, or its syntax error.

/// A position in a text: line and column, both from 1; 0:0 if unknown.
package struct TOMLPosition: Equatable, Sendable {
  package var line: Int
  package var column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static let none = TOMLPosition(line: 0, column: 0)
  package static let start = TOMLPosition(line: 1, column: 1)
}

/// Type and value of a node in a TOML text.
package enum TOMLValue: Equatable, Sendable {
  case table
  case array
  case string(String)
  case integer(Int)
  case float(Double)
  case boolean(Bool)
  case datetime

  /// Name of the type, as it follows "is" in messages.
  package var typeName: String {
    switch self {
    case .table: "a table"
    case .array: "a list"
    case .string: "text"
    case .integer: "a whole number"
    case .float(let value):
      value.isNaN ? "not a number" : value.isInfinite ? "infinite" : "a number with a fraction"
    case .boolean: "true or false"
    case .datetime: "a date or time"
    }
  }

  /// The value of a number, whole or with a fraction; nil for other types.
  package var number: Double? {
    switch self {
    case .integer(let whole): Double(whole)
    case .float(let number): number
    case .table, .array, .string, .boolean, .datetime: nil
    }
  }
}

/// One value of a TOML text, with the positions of the value and its key.
package struct TOMLNode: Equatable, Sendable {
  /// Index of the enclosing table or list; -1 for the root table.
  package var parent: Int
  /// Key of the value; empty for an element of a list.
  package var key: String
  package var keyPosition: TOMLPosition
  package var position: TOMLPosition
  package var value: TOMLValue
}

/// A syntax error in a TOML text.
package struct TOMLParseError: Error, Equatable {
  package var position: TOMLPosition
  package var message: String
}

/// The values of a TOML text in order of appearance; a table or list precedes its elements.
package struct TOMLText: Sendable {
  package let nodes: [TOMLNode]

  /// Parses `bytes`, which may be anything.
  ///
  /// - Throws: ``TOMLParseError``; its position is 0:0 only if memory allocation failed.
  package init(_ bytes: [UInt8]) throws(TOMLParseError) {
    let document = unsafe bytes.withUnsafeBytes { raw in
      unsafe ctoml_parse(raw.bindMemory(to: CChar.self).baseAddress, raw.count)
    }
    guard let document = unsafe document else {
      throw TOMLParseError(position: .none, message: "not enough memory to read it")
    }
    defer { unsafe ctoml_free(document) }
    if unsafe ctoml_failed(document) {
      throw unsafe TOMLParseError(
        position: TOMLPosition(ctoml_error_position(document)),
        message: String(ctoml_error_message(document)))
    }
    var nodes: [TOMLNode] = []
    let count = unsafe ctoml_count(document)
    nodes.reserveCapacity(count)
    for index in 0..<count {
      unsafe nodes.append(TOMLNode(ctoml_entry_at(document, index)))
    }
    self.nodes = nodes
  }

  /// Indices of the direct elements of `parent`, in order.
  package func children(of parent: Int) -> [Int] {
    nodes.indices.filter { nodes[$0].parent == parent }
  }
}

extension TOMLPosition {
  init(_ position: ctoml_position) {
    line = Int(position.line)
    column = Int(position.column)
  }
}

extension String {
  fileprivate init(_ text: ctoml_text) {
    guard let bytes = unsafe text.bytes else {
      self = ""
      return
    }
    let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: text.length)
    self = unsafe String(decoding: buffer, as: UTF8.self)
  }
}

extension TOMLNode {
  fileprivate init(_ entry: ctoml_entry) {
    parent = unsafe Int(entry.parent)
    key = unsafe String(entry.key)
    keyPosition = unsafe TOMLPosition(entry.key_position)
    position = unsafe TOMLPosition(entry.value_position)
    value =
      switch unsafe entry.kind {
      case CTOML_TABLE: .table
      case CTOML_ARRAY: .array
      case CTOML_STRING: unsafe .string(String(entry.text))
      case CTOML_INTEGER: unsafe .integer(Int(entry.integer))
      case CTOML_FLOAT: unsafe .float(entry.number)
      case CTOML_BOOLEAN: unsafe .boolean(entry.integer != 0)
      default: .datetime
      }
  }
}
