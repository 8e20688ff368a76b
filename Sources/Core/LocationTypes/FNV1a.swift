/// The hash FNV-1a of 64 bits: the same bytes give the same number on every machine and in every run.
///
/// For digests and identifiers, not against an adversary. Source: Fowler, Noll, Vo, Eastlake,
/// "The FNV Non-Cryptographic Hash Algorithm" (RFC 9923), section 2. One multiplication for each byte.
public struct FNV1a: Equatable, Sendable {
  /// The hash of all bytes so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of no byte.
  public init() {}

  /// Adds one byte.
  public mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  /// Adds the eight bytes of a number, the lowest first.
  public mutating func add(_ number: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      add(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
