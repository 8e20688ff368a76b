import TextFormats

/// An enumeration of another module whose values are transmitted as words. The interface description lists them, and
/// `make methods` writes the conformances.
protocol WireEnum: WireScalar, WireElement, Equatable {
  /// All values with their words.
  static var wireWords: [(Self, StaticString)] { get }
  /// Word of the value.
  var wireWord: StaticString { get }
}

extension WireEnum {
  init?(json: JSONValue) {
    guard let text = json.string else { return nil }
    for (value, word) in Self.wireWords where text == word.description {
      self = value
      return
    }
    return nil
  }

  func write(_ name: StaticString, to json: inout JSONOutput) { json.member(name, word: wireWord) }
  func writeElement(to json: inout JSONOutput) { json.element(word: wireWord) }
}
