import TextFormats

/// A value of a member of a message.
protocol WireValue {
  /// Decodes the member with this name; nil if it is missing.
  ///
  /// - Throws: ``WireError/invalidParameter(_:)`` if it is invalid.
  static func read(_ name: StaticString, _ fields: inout JSONFields) throws(WireError) -> Self?
  /// Encodes a member with this name.
  func write(_ name: StaticString, to json: inout JSONOutput)
}

/// A value that may be an element of a list.
protocol WireElement: WireValue {
  /// Decodes a list.
  static func readList(_ name: StaticString, _ fields: inout JSONFields) throws(WireError)
    -> [Self]?
  /// Encodes an element of a list.
  func writeElement(to json: inout JSONOutput)
}

/// A value that consists of several members: an object, or a part of one.
protocol WireObject: WireElement {
  /// Decodes the members.
  init(_ fields: inout JSONFields) throws(WireError)
  /// Encodes the members.
  func write(to json: inout JSONOutput)
}

/// An object whose members are listed once, for both directions.
protocol WireRecord: WireObject {
  /// Creates a value to decode into.
  init()
  /// Passes each member to `coder`, in the order of the encoded members.
  mutating func code<Coder: WireCoder & ~Copyable>(_ coder: inout Coder) throws(Coder.Failure)
}

/// Decodes or encodes the members of a ``WireRecord``.
protocol WireCoder: ~Copyable {
  associatedtype Failure: Error
  mutating func code<Value: WireValue>(_ name: StaticString, _ value: inout Value) throws(Failure)
  /// The members of an object, as members of the record.
  mutating func code<Object: WireObject>(membersOf object: inout Object) throws(Failure)
}

extension WireRecord {
  init(_ fields: inout JSONFields) throws(WireError) {
    self.init()
    try code(&fields)
  }

  func write(to json: inout JSONOutput) {
    var copy = self
    copy.code(&json)
  }
}

// MARK: - Decoding and encoding

extension JSONFields: WireCoder {
  /// Decodes a required member.
  mutating func read<Value: WireValue>(_ name: StaticString) throws(WireError) -> Value {
    guard let value = try Value.read(name, &self) else { throw invalid(name) }
    return value
  }

  /// Decodes a member; `other` if it is omitted.
  mutating func read<Value: WireScalar>(
    _ name: StaticString, else other: Value
  ) throws(WireError) -> Value {
    try Value.read(name, &self) ?? other
  }

  /// Decodes a required member whose value must be valid.
  mutating func read<Value: WireScalar>(
    _ name: StaticString, where isValid: (Value) -> Bool
  ) throws(WireError) -> Value {
    let value: Value = try read(name)
    guard isValid(value) else { throw invalid(name) }
    return value
  }

  mutating func code<Value: WireValue>(
    _ name: StaticString, _ value: inout Value
  ) throws(WireError) {
    value = try read(name)
  }

  mutating func code<Object: WireObject>(membersOf object: inout Object) throws(WireError) {
    object = try Object(&self)
  }
}

extension JSONOutput: WireCoder {
  mutating func write(_ name: StaticString, _ value: some WireValue) {
    value.write(name, to: &self)
  }

  /// Appends a member unless it has the value of an omitted one.
  mutating func write<Value: WireValue & Equatable>(
    _ name: StaticString, _ value: Value, unless omitted: Value
  ) {
    if value != omitted { value.write(name, to: &self) }
  }

  mutating func code<Value: WireValue>(_ name: StaticString, _ value: inout Value) throws(Never) {
    write(name, value)
  }

  mutating func code<Object: WireObject>(membersOf object: inout Object) throws(Never) {
    object.write(to: &self)
  }
}

// MARK: - Objects and lists

extension WireObject {
  static func read(_ name: StaticString, _ fields: inout JSONFields) throws(WireError) -> Self? {
    guard var object = try fields.object(name) else { return nil }
    return try Self(&object)
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    json.object(name) { write(to: &$0) }
  }

  /// Decodes a list; a missing one is empty.
  static func readList(_ name: StaticString, _ fields: inout JSONFields) throws(WireError)
    -> [Self]?
  {
    try fields.objects(name)?.map { object throws(WireError) in
      var object = object
      return try Self(&object)
    } ?? []
  }

  func writeElement(to json: inout JSONOutput) { json.element { write(to: &$0) } }
}

extension Array: WireValue where Element: WireElement {
  static func read(_ name: StaticString, _ fields: inout JSONFields) throws(WireError) -> [Element]?
  {
    try Element.readList(name, &fields)
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    json.list(name) { json in
      for element in self { element.writeElement(to: &json) }
    }
  }
}

/// A value that may be missing.
extension Optional: WireValue where Wrapped: WireValue {
  static func read(_ name: StaticString, _ fields: inout JSONFields) throws(WireError) -> Wrapped??
  {
    .some(try Wrapped.read(name, &fields))
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    if let value = self { value.write(name, to: &json) }
  }
}

// MARK: - Single values

/// A value without members.
protocol WireScalar: WireValue {
  /// Converts a value of JSON; nil if it has another type or is out of range.
  init?(json: JSONValue)
}

extension WireScalar {
  static func read(_ name: StaticString, _ fields: inout JSONFields) throws(WireError) -> Self? {
    try fields.optional(name) { Self(json: $0) }
  }

  static func readList(_ name: StaticString, _ fields: inout JSONFields) throws(WireError)
    -> [Self]?
  {
    try fields.optional(name) { $0.elements }?.map { element throws(WireError) in
      guard let value = Self(json: element) else { throw fields.invalid(name) }
      return value
    }
  }
}

extension WireScalar where Self: FixedWidthInteger {
  init?(json: JSONValue) {
    guard let integer = json.integer else { return nil }
    self.init(exactly: integer)
  }

  func write(_ name: StaticString, to json: inout JSONOutput) {
    json.member(name, Int64(clamping: self))
  }
}

extension Int: WireScalar {}
extension Int16: WireScalar {}
extension Int64: WireScalar {}
extension UInt8: WireScalar {}
extension UInt16: WireScalar {}
extension UInt32: WireScalar {}
extension UInt64: WireScalar {}

extension Double: WireScalar {
  init?(json: JSONValue) {
    guard let double = json.double else { return nil }
    self = double
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, self) }
}

extension Bool: WireScalar {
  init?(json: JSONValue) {
    guard let bool = json.bool else { return nil }
    self = bool
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, self) }
}

extension String: WireScalar, WireElement {
  init?(json: JSONValue) {
    guard let string = json.string else { return nil }
    self = string
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, self) }
  func writeElement(to json: inout JSONOutput) { json.element(text: self) }
}

/// An enumeration of this module, whose raw values are the transmitted words.
protocol WireWord: WireScalar, WireElement, RawRepresentable where RawValue == String {}

extension WireWord {
  init?(json: JSONValue) {
    guard let word = json.string else { return nil }
    self.init(rawValue: word)
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, rawValue) }
  func writeElement(to json: inout JSONOutput) { json.element(text: rawValue) }
}
