import LocationTypes
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

  /// Converts the value of a required member with `read`.
  ///
  /// - Throws: ``WireError/invalidParameter(_:)`` if the member is missing or `read` returns nil.
  mutating func required<T>(
    _ name: StaticString, _ read: (JSONValue) -> T?
  ) throws(WireError) -> T {
    guard let result = try optional(name, read) else { throw invalid(name) }
    return result
  }

  mutating func string(_ name: StaticString) throws(WireError) -> String {
    try required(name) { $0.string }
  }

  mutating func double(_ name: StaticString) throws(WireError) -> Double {
    try required(name) { $0.double }
  }

  mutating func integer(_ name: StaticString) throws(WireError) -> Int64 {
    try required(name) { $0.integer }
  }

  /// An integer in the range of its type.
  mutating func number<N: FixedWidthInteger>(
    _ name: StaticString, _: N.Type = N.self
  ) throws(WireError) -> N {
    try required(name) { $0.integer.flatMap { N(exactly: $0) } }
  }

  mutating func bool(_ name: StaticString) throws(WireError) -> Bool {
    try required(name) { $0.bool }
  }

  /// A Boolean that is false if the member is missing.
  mutating func flag(_ name: StaticString) throws(WireError) -> Bool {
    try optional(name) { $0.bool } ?? false
  }

  mutating func word<W: WireEnum>(_ name: StaticString, _: W.Type = W.self) throws(WireError) -> W {
    try required(name) { $0.string.flatMap { W(wireWord: $0) } }
  }

  mutating func optionalWord<W: WireEnum>(
    _ name: StaticString, _: W.Type = W.self
  ) throws(WireError) -> W? {
    try optional(name) { $0.string.flatMap { W(wireWord: $0) } }
  }

  /// Decodes an object member with `body`; nil if it is missing.
  mutating func object<T>(
    _ name: StaticString, _ body: (inout JSONFields) throws(WireError) -> T
  ) throws(WireError) -> T? {
    guard let value = value(name) else { return nil }
    var inner = try JSONFields(value, in: path + name.description + ".")
    return try body(&inner)
  }

  /// Decodes a list of objects, each with `body`; nil if the member is missing.
  mutating func objects<T>(
    _ name: StaticString, _ body: (inout JSONFields) throws(WireError) -> T
  ) throws(WireError) -> [T]? {
    guard let elements = try optional(name, { $0.elements }) else { return nil }
    var all: [T] = []
    all.reserveCapacity(elements.count)
    for element in elements {
      var inner = try JSONFields(element, in: path + name.description + ".")
      all.append(try body(&inner))
    }
    return all
  }

  /// A scaled integer from a decimal number: for example millimetres from metres with three decimals.
  mutating func scaled(_ name: StaticString, by scale: Double) throws(WireError) -> Int32? {
    try optional(name) { value in value.double.flatMap { Int32(exactly: ($0 * scale).rounded()) } }
  }

  /// Latitude and longitude, checked against their ranges.
  mutating func coordinate() throws(WireError) -> Coordinate {
    let latitude = try double("latitude_deg")
    let longitude = try double("longitude_deg")
    guard (-90...90).contains(latitude) else { throw invalid("latitude_deg") }
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw invalid("longitude_deg")
    }
    return coordinate
  }
}
