/// CRC-32C (Castagnoli) of a slot or a header, four bytes at a step.
///
/// Polynomial 0x1EDC6F41, reflected; register starts and ends inverted (RFC 3720, appendix B.4).
/// Finds every burst of up to 32 bits and, over a slot or a header, every five flipped bits.
struct SlotChecksum {
  /// The register, inverted.
  private var register: UInt32 = .max

  /// Takes in four bytes, the first in the lowest bits.
  @inline(__always)
  mutating func add(_ bytes: UInt32) {
    let x = register ^ bytes
    let byte0 = Int(truncatingIfNeeded: x & 0xFF)
    let byte1 = Int(truncatingIfNeeded: (x >> 8) & 0xFF)
    let byte2 = Int(truncatingIfNeeded: (x >> 16) & 0xFF)
    let byte3 = Int(truncatingIfNeeded: x >> 24)
    register =
      SlotChecksum.table[768 + byte0] ^ SlotChecksum.table[512 + byte1]
      ^ SlotChecksum.table[256 + byte2] ^ SlotChecksum.table[byte3]
  }

  /// Takes in eight bytes, the first in the lowest bits.
  @inline(__always)
  mutating func add(_ bytes: UInt64) {
    add(UInt32(truncatingIfNeeded: bytes))
    add(UInt32(truncatingIfNeeded: bytes >> 32))
  }

  /// The checksum of all taken in.
  var value: UInt32 { ~register }
}
