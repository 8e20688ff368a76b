import LocationTypes

/// The members of one object, taken out by name; a wrong one is an error that names it.
///
/// A member that is `null` counts as absent, as Varlink's libraries write it.
struct JSONFields {
  private var members: [(name: String, value: JSONValue, isTaken: Bool)] = []
  /// What stands before the names in errors: `center.` and the like.
  private let path: String

  /// The members of `value`; it must be an object.
  init(_ value: JSONValue, in path: String = "") throws(WireError) {
    self.path = path
    guard let members = value.members else { throw .invalidParameter(String(path.dropLast())) }
    self.members = members.map { ($0.name, $0.value, false) }
  }

  /// No members at all.
  init() { path = "" }

  /// The value of that name; nil if there is none.
  mutating func value(_ name: StaticString) -> JSONValue? {
    for i in members.indices where members[i].name == name.description {
      members[i].isTaken = true
      return members[i].value.isNull ? nil : members[i].value
    }
    return nil
  }

  /// The error that this member is wrong.
  func wrong(_ name: StaticString) -> WireError { .invalidParameter(path + name.description) }

  /// Refuses members that nobody asked for; whoever reads replies does not, so that a newer service
  /// may tell more.
  func finish() throws(WireError) {
    for member in members where !member.isTaken { throw .invalidParameter(path + member.name) }
  }

  /// Whether there is a member of that name that is not `null`.
  mutating func has(_ name: StaticString) -> Bool { value(name) != nil }

  /// What `read` makes of the value; nil if there is none, an error if `read` makes nothing of it.
  mutating func optional<T>(
    _ name: StaticString, _ read: (JSONValue) -> T?
  ) throws(WireError) -> T? {
    guard let value = value(name) else { return nil }
    guard let result = read(value) else { throw wrong(name) }
    return result
  }

  /// What `read` makes of the value, which must be there.
  mutating func required<T>(
    _ name: StaticString, _ read: (JSONValue) -> T?
  ) throws(WireError) -> T {
    guard let result = try optional(name, read) else { throw wrong(name) }
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

  /// An integer that fits.
  mutating func number<N: FixedWidthInteger>(
    _ name: StaticString, _: N.Type = N.self
  ) throws(WireError) -> N {
    try required(name) { $0.integer.flatMap { N(exactly: $0) } }
  }

  mutating func bool(_ name: StaticString) throws(WireError) -> Bool {
    try required(name) { $0.bool }
  }

  /// A flag that is false when it is not there.
  mutating func flag(_ name: StaticString) throws(WireError) -> Bool {
    try optional(name) { $0.bool } ?? false
  }

  mutating func word<W: WireWord>(_ name: StaticString, _: W.Type = W.self) throws(WireError) -> W {
    try required(name) { $0.string.flatMap { W(wireWord: $0) } }
  }

  mutating func optionalWord<W: WireWord>(
    _ name: StaticString, _: W.Type = W.self
  ) throws(WireError) -> W? {
    try optional(name) { $0.string.flatMap { W(wireWord: $0) } }
  }

  /// An object within, read by `body`; nil if it is not there.
  mutating func object<T>(
    _ name: StaticString, _ body: (inout JSONFields) throws(WireError) -> T
  ) throws(WireError) -> T? {
    guard let value = value(name) else { return nil }
    var inner = try JSONFields(value, in: path + name.description + ".")
    return try body(&inner)
  }

  /// A list of objects, each read by `body`; nil if it is not there.
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

  /// A length as it was written from an integer: metres with three decimals into millimetres.
  mutating func scaled(_ name: StaticString, by scale: Double) throws(WireError) -> Int32? {
    try optional(name) { value in value.double.flatMap { Int32(exactly: ($0 * scale).rounded()) } }
  }

  /// Latitude and longitude, which must lie on the globe.
  mutating func coordinate() throws(WireError) -> Coordinate {
    let latitude = try double("latitude_deg")
    let longitude = try double("longitude_deg")
    guard (-90...90).contains(latitude) else { throw wrong("latitude_deg") }
    guard let place = Coordinate(latitude: latitude, longitude: longitude) else {
      throw wrong("longitude_deg")
    }
    return place
  }
}
