import TextFormats

/// An enumeration of another module whose values are transmitted as words. The interface description lists them, and
/// `make methods` writes the conformances.
protocol WireEnum: WireScalar, WireElement, Equatable {
  /// All values, in the order of the interface description.
  static var wireValues: [Self] { get }
  /// Word of the value.
  var wireWord: StaticString { get }
}

extension WireEnum {
  init?(json: JSONValue) {
    guard let text = json.string,
      let value = Self.wireValues.first(where: { $0.wireWord.description == text })
    else { return nil }
    self = value
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, word: wireWord) }
  func writeElement(to json: inout JSONOutput) { json.element(word: wireWord) }
}
