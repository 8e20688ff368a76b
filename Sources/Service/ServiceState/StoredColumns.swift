import LocationTypes

// Conversion between column values and Swift types. Values from disk are validated, because a file can be edited.

extension StateValue {
  static func number(_ value: some FixedWidthInteger) -> StateValue { .integer(Int64(value)) }

  static func flag(_ value: Bool) -> StateValue { .integer(value ? 1 : 0) }

  static func fixName(_ value: FixName?) -> [StateValue] {
    guard let value else { return [.null, .null] }
    return [.number(value.generation), .number(value.sequence)]
  }
}

extension StoredColumns {
  /// Maximum length of a name in bytes.
  static let longestText = 255

  /// An integer of the given type; nil if the column holds anything else.
  func integer<Number: FixedWidthInteger>(_ column: Int, _ type: Number.Type) -> Number? {
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

  /// A number other than NaN. SQLite may store an integral value as an integer.
  func real(_ column: Int) -> Double? {
    switch values[column] {
    case .real(let number): number.isNaN ? nil : number
    case .integer(let number): Double(number)
    case .null, .text, .other: nil
    }
  }

  /// Text of 1 to `length` bytes without control characters.
  func text(_ column: Int, upTo length: Int = longestText) -> String? {
    guard case .text(let text) = values[column], StoredColumns.isValidText(text, upTo: length)
    else { return nil }
    return text
  }

  func isNull(_ column: Int) -> Bool { values[column] == .null }

  /// An optional value: `.some(nil)` for NULL, nil for an invalid value.
  func optional<Value>(_ column: Int, _ read: (Int) -> Value?) -> Value?? {
    if isNull(column) { return .some(nil) }
    guard let value = read(column) else { return nil }
    return .some(value)
  }

  /// A fix name in two columns, generation and sequence number.
  func fixName(_ column: Int) -> FixName?? {
    if isNull(column), isNull(column + 1) { return .some(nil) }
    guard let generation = integer(column, UInt32.self), generation > 0,
      let sequence = integer(column + 1, UInt64.self), sequence < FixName.sequenceLimit
    else { return nil }
    return .some(FixName(generation: generation, sequence: sequence))
  }

  /// Whether a text is valid: 1 to `length` bytes, no control characters.
  static func isValidText(_ text: String, upTo length: Int = longestText) -> Bool {
    !text.isEmpty && text.utf8.count <= length
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
  }
}
