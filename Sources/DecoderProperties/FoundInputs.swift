/// An input that once broke a property.
public struct FoundInput: Sendable, CustomStringConvertible {
  /// Which one.
  public var property: DecoderProperty
  /// What was wrong.
  public var what: String
  /// The input, as small as it could be made.
  public var bytes: [UInt8]
  /// What was wrong, for a test's list.
  public var description: String { "\(property.rawValue): \(what)" }

  init(_ property: DecoderProperty, _ what: String, _ bytes: [UInt8]) {
    self.property = property
    self.what = what
    self.bytes = bytes
  }

  /// All that `make fuzz` has found; the tests try them for ever.
  ///
  /// One that is found next goes in here, with the mending.
  public static let all: [FoundInput] = []
}
