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
      .nmea, "a ZDA whose year has two digits: written without its date",
      [0] + Array("GPZDA,".utf8) + [0xD4] + Array("25.464,1,09".utf8) + [0, 0]
        + Array(",9198-,00".utf8)),
    FoundInput(
      .ring, "a header's revision at the end of its type: counting on trapped",
      [2, 1, 1, 1, 1, 0, 2, 3, 15, 0, 1, 2] + [UInt8](repeating: 0xFF, count: 11)),
    FoundInput(
      .ring, "a fix of a generation from before it began was served before older ones",
      [2, 1] + [UInt8](repeating: 0, count: 8) + [1] + littleEndian(UInt32(3))
        + littleEndian(UInt64(5)) + littleEndian(UInt64(4)) + [2] + start(of: 1, at: 0)
        + start(of: 2, at: 3) + [0] + slot(0, generation: 2) + slot(2, generation: 1)),
    FoundInput(
      .ubx, "a module's name that begins with a zero was kept, and not written again",
      [0, 0x0A, 0x04, 70, 0] + [UInt8](repeating: 0, count: 40) + Array("MOD=".utf8)
        + [0, 5] + [UInt8](repeating: 0, count: 24)),
    FoundInput(
      .nmea, "a speed that could be read in knots could not in km/h",
      [0] + Array("GPVTG,054.7,034.013,1405299.2".utf8)),
  ]

  /// An entry of a header's record, as ``RingDraft`` reads it.
  private static func start(of generation: UInt32, at sequence: UInt64) -> [UInt8] {
    littleEndian(sequence) + littleEndian(generation)
  }

  /// A slot of a ring of four, as ``RingDraft`` reads it.
  private static func slot(_ sequence: UInt32, generation: UInt32) -> [UInt8] {
    [UInt8(sequence % 4), 0, 0, 0] + littleEndian(sequence) + littleEndian(generation)
      + [UInt8](repeating: 0, count: 48)
  }
}
