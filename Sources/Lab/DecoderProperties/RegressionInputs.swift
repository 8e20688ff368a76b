/// An input that once violated a property; the tests check it on every run.
public struct RegressionInput: Sendable, CustomStringConvertible {
  /// The property that failed.
  public var property: DecoderProperty
  /// The defect, as a sentence.
  public var defect: String
  /// The input, reduced to the smallest that failed.
  public var bytes: [UInt8]
  /// The property and its defect, for a test's argument list.
  public var description: String { "\(property.rawValue): \(defect)" }

  init(_ property: DecoderProperty, _ what: String, _ bytes: [UInt8]) {
    self.property = property
    self.defect = what
    self.bytes = bytes
  }

  /// All failures that `make fuzz` has found. Add a new one together with its correction.
  public static let all = [
    RegressionInput(
      .nmea, "a ZDA whose year has two digits: written without its date",
      [0] + Array("GPZDA,".utf8) + [0xD4] + Array("25.464,1,09".utf8) + [0, 0]
        + Array(",9198-,00".utf8)),
    RegressionInput(
      .ring, "incrementing a header revision that was the largest value of its type trapped",
      [2, 1, 1, 1, 1, 0, 2, 3, 15, 0, 1, 2] + [UInt8](repeating: 0xFF, count: 11)),
    RegressionInput(
      .ring, "a fix stored before its generation started was delivered before older fixes",
      [2, 1] + [UInt8](repeating: 0, count: 8) + [1] + littleEndian(UInt32(3))
        + littleEndian(UInt64(5)) + littleEndian(UInt64(4)) + [2] + start(of: 1, at: 0)
        + start(of: 2, at: 3) + [0] + slot(0, generation: 2) + slot(2, generation: 1)),
    RegressionInput(
      .ubx, "a module name with a leading zero byte was accepted and not encoded again",
      [0, 0x0A, 0x04, 70, 0] + [UInt8](repeating: 0, count: 40) + Array("MOD=".utf8)
        + [0, 5] + [UInt8](repeating: 0, count: 24)),
    RegressionInput(
      .nmea, "a speed in range in knots was out of range in km/h",
      [0] + Array("GPVTG,054.7,034.013,1405299.2".utf8)),
  ]

  /// An entry of a header's list of generation starts, as ``RingImageBuilder`` reads it.
  private static func start(of generation: UInt32, at sequence: UInt64) -> [UInt8] {
    littleEndian(sequence) + littleEndian(generation)
  }

  /// A slot of a ring with capacity 4, as ``RingImageBuilder`` reads it.
  private static func slot(_ sequence: UInt32, generation: UInt32) -> [UInt8] {
    [UInt8(sequence % 4), 0, 0, 0] + littleEndian(sequence) + littleEndian(generation)
      + [UInt8](repeating: 0, count: 48)
  }
}
