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
  public static let all = [
    FoundInput(
      .ring, "a header's revision at the end of its type: counting on trapped",
      [2, 1, 1, 1, 1, 0, 2, 3, 15, 0, 1, 2] + [UInt8](repeating: 0xFF, count: 11)),
    FoundInput(
      .ubx, "a module's name that begins with a zero was kept, and not written again",
      [0, 0x0A, 0x04, 70, 0] + [UInt8](repeating: 0, count: 40) + Array("MOD=".utf8)
        + [0, 5] + [UInt8](repeating: 0, count: 24)),
  ]
}
