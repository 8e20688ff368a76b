/// 64-bit FNV-1a hash, deterministic across machines and runs.
///
/// For digests and identifiers; not cryptographic. Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic
/// Hash Algorithm" (RFC 9923), section 2. One multiplication per byte.
public struct FNV1a: Equatable, Sendable {
  /// Hash of all bytes added so far.
  public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  /// Creates the hash of an empty byte sequence (the FNV offset basis).
  public init() {}

  /// Adds one byte.
  public mutating func add(_ byte: UInt8) {
    value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
  }

  /// Adds the eight bytes of a number in little-endian order.
  public mutating func add(_ number: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      add(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
