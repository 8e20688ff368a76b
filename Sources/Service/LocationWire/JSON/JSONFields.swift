import TextFormats

/// Reads the members of one JSON object by name. A missing or invalid member is an error with its name.
///
/// A member that is `null` counts as missing, because Varlink libraries write missing values that way.
struct JSONFields {
  private var members: [(name: String, value: JSONValue, isRead: Bool)] = []
  /// Prefix of names in errors, for example `center.`; empty at the top level.
  private let path: String

  /// Creates a reader for `value`.
  ///
  /// - Throws: ``WireError/invalidParameter(_:)`` if it is not an object.
  init(_ value: JSONValue, in path: String = "") throws(WireError) {
    self.path = path
    guard let members = value.members else { throw .invalidParameter(String(path.dropLast())) }
    self.members = members.map { ($0.name, $0.value, false) }
  }

  /// Creates a reader without members.
  init() { path = "" }

  /// The value with this name, which then counts as read; nil if it is missing.
  mutating func value(_ name: StaticString) -> JSONValue? {
    for i in members.indices where members[i].name == name.description {
      members[i].isRead = true
      return members[i].value.isNull ? nil : members[i].value
    }
    return nil
  }

  /// The error for an invalid or missing member.
  func invalid(_ name: StaticString) -> WireError { .invalidParameter(path + name.description) }

  /// Throws an error if there are members that were not read. Readers of replies do not call this, so that a newer
  /// service may send more members.
  func rejectUnread() throws(WireError) {
    for member in members where !member.isRead { throw .invalidParameter(path + member.name) }
  }

  /// Whether the object has a member with this name that is not `null`.
  mutating func has(_ name: StaticString) -> Bool { value(name) != nil }

  /// Converts the value with `read`; nil if the member is missing.
  ///
  /// - Throws: ``WireError/invalidParameter(_:)`` if `read` returns nil.
  mutating func optional<T>(
    _ name: StaticString, _ read: (JSONValue) -> T?
  ) throws(WireError) -> T? {
    guard let value = value(name) else { return nil }
    guard let result = read(value) else { throw invalid(name) }
    return result
  }

  /// A reader for an object member; nil if it is missing.
  mutating func object(_ name: StaticString) throws(WireError) -> JSONFields? {
    guard let value = value(name) else { return nil }
    return try JSONFields(value, in: path + name.description + ".")
  }

  /// Readers for the elements of a list of objects; nil if it is missing.
  mutating func objects(_ name: StaticString) throws(WireError) -> [JSONFields]? {
    try optional(name) { $0.elements }?.map { element throws(WireError) in
      try JSONFields(element, in: path + name.description + ".")
    }
  }

  /// A scaled integer from a decimal number: for example millimetres from metres with three decimals.
  mutating func scaled(_ name: StaticString, by scale: Double) throws(WireError) -> Int32? {
    try optional(name) { value in value.double.flatMap { Int32(exactly: ($0 * scale).rounded()) } }
  }
}
