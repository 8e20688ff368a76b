import LocationTypes

// From columns to values and back. What comes from disk is checked here: a file can be edited.

extension StateValue {
  static func number(_ value: some FixedWidthInteger) -> StateValue { .integer(Int64(value)) }

  static func flag(_ value: Bool) -> StateValue { .integer(value ? 1 : 0) }

  static func name(_ value: FixName?) -> [StateValue] {
    guard let value else { return [.null, .null] }
    return [.number(value.generation), .number(value.sequence)]
  }
}

extension StoredColumns {
  /// The most bytes of a name.
  static let longestText = 255

  /// A whole number of that type; nil if the column holds anything else.
  func whole<Number: FixedWidthInteger>(_ column: Int, _ type: Number.Type) -> Number? {
    guard case .integer(let number) = values[column] else { return nil }
    return Number(exactly: number)
  }

  func flag(_ column: Int) -> Bool? {
    switch values[column] {
    case .integer(0): false
    case .integer(1): true
    case .integer, .null, .real, .text, .other: nil
    }
  }

  /// A number that is one; SQLite may keep a whole one as an integer.
  func real(_ column: Int) -> Double? {
    switch values[column] {
    case .real(let number): number.isNaN ? nil : number
    case .integer(let number): Double(number)
    case .null, .text, .other: nil
    }
  }

  /// Text of 1 to so many bytes, without control characters.
  func text(_ column: Int, upTo length: Int = longestText) -> String? {
    guard case .text(let text) = values[column], StoredColumns.isText(text, upTo: length)
    else { return nil }
    return text
  }

  func isNull(_ column: Int) -> Bool { values[column] == .null }

  /// A value that may be absent: nil if it is there and not to be taken.
  func optional<Value>(_ column: Int, _ read: (Int) -> Value?) -> Value?? {
    if isNull(column) { return .some(nil) }
    guard let value = read(column) else { return nil }
    return .some(value)
  }

  /// A name of a fix in two columns.
  func name(_ column: Int) -> FixName?? {
    if isNull(column), isNull(column + 1) { return .some(nil) }
    guard let generation = whole(column, UInt32.self), generation > 0,
      let sequence = whole(column + 1, UInt64.self), sequence < 1 << 40
    else { return nil }
    return .some(FixName(generation: generation, sequence: sequence))
  }

  /// Whether a text may be kept.
  static func isText(_ text: String, upTo length: Int = longestText) -> Bool {
    !text.isEmpty && text.utf8.count <= length
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
  }
}
